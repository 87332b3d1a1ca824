//! The slowest I/Os and latencies over time as plain data.

use crate::plan::Plan;
use crate::run::intervals::as_map;
use crate::run::io_trace::life::BELOW;
use crate::run::io_trace::report::op_name;
use crate::run::system::System;
use crate::state::measure::Meter;
use crate::state::slowest::{Beside, Slow};
use raidlab_io::{Part, Parts};
use raidlab_kernel::{Histogram, Nanos, Time};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// One of the slowest I/Os.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SlowIo {
    /// read, write, trim or flush.
    pub op: &'static str,
    /// First byte: on the array, or on its drive if it is one command.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// When it was issued, in nanoseconds of simulated time.
    pub issued_ns: u64,
    /// Its latency.
    pub latency_us: f64,
    /// Its time by part; the parts add up to the latency.
    #[serde(serialize_with = "as_map")]
    #[schemars(with = "BTreeMap<String, f64>")]
    pub breakdown_us: Vec<(&'static str, f64)>,
    /// The drive of the last of its commands, if its time was spent there.
    pub drive: Option<String>,
    /// What was in work while it was, besides the load: rebuild, destage ...
    pub beside: Vec<&'static str>,
}

/// The slowest I/Os of a record, the slowest first.
pub(crate) fn slowest(system: &System, meter: &Meter) -> Vec<SlowIo> {
    let drives = &system.layers.path.drives;
    let of = |slow: &Slow| {
        let was_there = BELOW.iter().any(|&part| slow.parts[part] > Nanos::ZERO);
        let beside = Beside::ALL.into_iter();
        SlowIo {
            op: op_name(slow.op),
            offset: slow.offset,
            bytes: slow.bytes,
            issued_ns: slow.issued.since(Time::ZERO).0,
            latency_us: slow.latency.micros(),
            breakdown_us: named(&slow.parts),
            drive: was_there.then(|| drives[slow.drive].name.clone()),
            beside: beside
                .filter(|(each, _)| slow.beside & each.bit() != 0)
                .map(|(_, name)| name)
                .collect(),
        }
    };
    meter.slowest.in_order().into_iter().map(of).collect()
}

fn named(parts: &Parts) -> Vec<(&'static str, f64)> {
    let all = Part::ALL.into_iter();
    all.filter(|&part| parts[part] > Nanos::ZERO)
        .map(|part| (part.name(), parts[part].micros()))
        .collect()
}

/// Latencies of reads, or of writes, over time.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MapReport {
    /// The end of each column, in seconds.
    t_s: Vec<f64>,
    /// By column: the nanoseconds at which a bin begins, and how many I/Os it counts.
    #[schemars(with = "Vec<Vec<[u64; 2]>>")]
    columns: Vec<Vec<(u64, u64)>>,
}

/// Those of reads and of writes.
pub(crate) fn maps(meter: &mut Meter, plan: &Plan) -> [MapReport; 2] {
    let from = meter.from();
    let (step, columns) = meter.map.columns(&meter.reads, &meter.writes);
    let end = |column: usize| from + step * (column as u64 + 1);
    let t_s: Vec<f64> = (0..columns.len())
        .map(|column| plan.lapsed(end(column).since(Time::ZERO).seconds()))
        .collect();
    [0, 1].map(|side| MapReport {
        t_s: t_s.clone(),
        columns: columns
            .iter()
            .map(|column| {
                let bins = column[side].iter();
                bins.map(|&(bin, count)| (Histogram::coarse_begin(bin as usize).0, count))
                    .collect()
            })
            .collect(),
    })
}
