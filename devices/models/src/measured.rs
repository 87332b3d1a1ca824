//! A device that is known by its latencies alone: those of a table, by direction, block size and
//! commands in the device.
//!
//! A command takes a latency that is drawn from the table's distribution for the commands that are
//! in the device when it arrives, itself included. Under a closed load of `n` commands each arrival
//! finds `n`, so the rate is `n / mean(n)` by Little's law: the table's own. It is the device that is
//! equivalent to its measured throughput at each population (Chandy, Herzog and Woo, Parametric
//! analysis of queuing networks, IBM J. Res. Dev. 19, 1975). docs/explanation/tables.md has the
//! equations.
//!
//! Reads and writes that wait for one bottleneck count alike. Where each direction has its own (the
//! two directions of a link, the cache of writes and the medium), a command waits with those of its
//! own direction and with the share `shared` of the others.
//!
//! Between two sizes and two populations latencies are taken linearly: those of a saturated server
//! grow linearly with both. Beyond the greatest population the rate stays.

use crate::{Fault, Port};
use raidlab_io::{IoId, Op, Part};
use raidlab_kernel::{Nanos, Stream, Time};
use schemars::JsonSchema;
use serde::Deserialize;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The latencies of a direction at one block size and one population.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LatencyParams {
    /// Bytes of a command.
    pub block_bytes: u64,
    /// Commands in the device.
    pub outstanding: f64,
    /// Latencies at the table's `shares`, rising.
    pub quantiles_ns: Vec<f64>,
}

/// A table in the plan.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeasuredParams {
    /// Bytes that it holds.
    pub capacity_bytes: u64,
    /// Shares of commands, from 0 to 1, that are no slower than the quantiles say.
    pub shares: Vec<f64>,
    /// Of reads and of writes, by size and then by population, both rising.
    pub latencies: [Vec<LatencyParams>; 2],
    /// Share of the commands of the other direction that a command waits with, from 0 to 1.
    #[serde(default = "all")]
    pub shared: f64,
}

fn all() -> f64 {
    1.0
}

/// Latencies of one block size, by population.
#[derive(Debug)]
struct Curve {
    block_bytes: u64,
    /// Populations, rising, and the quantiles at each.
    outstanding: Vec<f64>,
    quantiles_ns: Vec<Vec<f64>>,
    means_ns: Vec<f64>,
}

/// Two neighbours on a scale, and the share of the second; the same twice at an end.
type Between = (usize, usize, f64);

impl Curve {
    /// A latency at a population, between the quantiles that `drawn` says.
    fn latency(&self, outstanding: f64, drawn: Between) -> f64 {
        let scale = &self.outstanding;
        let (low, high, share) = between(scale, outstanding);
        let of = |at: usize| mixed(&self.quantiles_ns[at], drawn);
        (of(low) + (of(high) - of(low)) * share) * self.beyond(outstanding)
    }

    /// The mean latency at a population.
    fn mean(&self, outstanding: f64) -> f64 {
        mixed(&self.means_ns, between(&self.outstanding, outstanding)) * self.beyond(outstanding)
    }

    /// What latencies are taken times beyond the greatest population, so that the rate stays.
    fn beyond(&self, outstanding: f64) -> f64 {
        (outstanding / self.outstanding[self.outstanding.len() - 1]).max(1.0)
    }
}

fn between(scale: &[f64], value: f64) -> Between {
    let above = scale.partition_point(|&each| each <= value);
    if above == 0 || above == scale.len() {
        let end = above.saturating_sub(1);
        return (end, end, 0.0);
    }
    let (low, high) = (scale[above - 1], scale[above]);
    (above - 1, above, (value - low) / (high - low))
}

fn mixed(values: &[f64], (low, high, share): Between) -> f64 {
    values[low] + (values[high] - values[low]) * share
}

/// A device of measured latencies in a run.
#[derive(Debug)]
pub struct Measured {
    params: MeasuredParams,
    curves: [Vec<Curve>; 2],
    /// When the commands in the device end, by direction.
    ends: [BinaryHeap<Reverse<Time>>; 2],
    /// When the last of them ends, and for how long some were in the device until then.
    last: Time,
    used: Nanos,
    draws: Stream,
}

impl Measured {
    /// An idle device.
    ///
    /// # Errors
    /// Names every parameter that is out of its range.
    pub fn new(params: &MeasuredParams, seed: u64, name: &str) -> Result<Self, Vec<Fault>> {
        let faults = faults(params);
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Measured {
            curves: [0, 1].map(|direction| curves(&params.latencies[direction], &params.shares)),
            ends: [BinaryHeap::new(), BinaryHeap::new()],
            last: Time::ZERO,
            used: Nanos::ZERO,
            draws: Stream::new(seed, name, "latency"),
            params: params.clone(),
        })
    }

    /// Takes a command that arrives now.
    #[inline]
    pub fn submit<P: Port>(&mut self, port: &mut P, io: IoId) {
        let now = port.now();
        let record = port.io(io);
        let (op, bytes) = (record.op, record.bytes);
        for ends in &mut self.ends {
            while ends.peek().is_some_and(|end| end.0 <= now) {
                ends.pop();
            }
        }
        let took = match op {
            Op::Read | Op::Write => self.latency(usize::from(op.is_write()), bytes),
            Op::Trim | Op::Flush => Nanos::ZERO,
        };
        let end = now + took;
        self.ends[usize::from(op.is_write())].push(Reverse(end));
        if end > self.last {
            self.used += end.since(self.last.max(now));
            self.last = end;
        }
        port.io(io).charge(Part::Service, end);
        port.done(io, end, Nanos::ZERO);
    }

    /// The latency of a command that joins those in the device.
    fn latency(&mut self, direction: usize, bytes: u64) -> Nanos {
        let drawn = between(&self.params.shares, self.draws.unit());
        // What has no curve of its own takes what the other direction does.
        let own = &self.curves[direction];
        let of = if own.is_empty() {
            &self.curves[1 - direction]
        } else {
            own
        };
        let [own, other] = [direction, 1 - direction].map(|at| self.ends[at].len() as f64);
        let outstanding = own + other * self.params.shared + 1.0;
        let above = of.partition_point(|curve| curve.block_bytes <= bytes);
        if above == 0 || of.len() == 1 {
            return Nanos(of[0].latency(outstanding, drawn) as u64);
        }
        // Beyond the largest block latencies go on as between the two largest.
        let high = above.min(of.len() - 1);
        let (small, large) = (&of[high - 1], &of[high]);
        let span = (large.block_bytes - small.block_bytes) as f64;
        let share = (bytes - small.block_bytes) as f64 / span;
        let (low, high) = (
            small.latency(outstanding, drawn),
            large.latency(outstanding, drawn),
        );
        if share <= 1.0 {
            return Nanos((low + (high - low) * share) as u64);
        }
        let grows = 1.0 - small.mean(outstanding) / large.mean(outstanding);
        Nanos((high * (1.0 + grows.max(0.0) * (share - 1.0))) as u64)
    }

    /// About how long a small read takes on an idle device.
    pub fn read_time(&self) -> Nanos {
        let of = if self.curves[0].is_empty() {
            &self.curves[1]
        } else {
            &self.curves[0]
        };
        Nanos(of[0].latency(1.0, between(&self.params.shares, 0.5)) as u64)
    }

    /// Bytes that it holds.
    pub fn capacity_bytes(&self) -> u64 {
        self.params.capacity_bytes
    }

    /// For how long up to `now` it had a command at all.
    pub fn busy_until(&self, now: Time) -> (Nanos, usize) {
        (
            self.used
                .saturating_sub(self.last.since(now.min(self.last))),
            1,
        )
    }
}

/// The mean of a distribution whose quantiles go straight between the shares.
fn mean_of(quantiles: &[f64], shares: &[f64]) -> f64 {
    let steps = shares.windows(2).zip(quantiles.windows(2));
    steps
        .map(|(of, at)| (of[1] - of[0]) * (at[0] + at[1]) / 2.0)
        .sum()
}

fn curves(all: &[LatencyParams], shares: &[f64]) -> Vec<Curve> {
    let mut found: Vec<Curve> = Vec::new();
    for each in all {
        if found
            .last()
            .is_none_or(|curve| curve.block_bytes != each.block_bytes)
        {
            found.push(Curve {
                block_bytes: each.block_bytes,
                outstanding: Vec::new(),
                quantiles_ns: Vec::new(),
                means_ns: Vec::new(),
            });
        }
        let last = found.len() - 1;
        found[last].outstanding.push(each.outstanding);
        found[last].quantiles_ns.push(each.quantiles_ns.clone());
        found[last]
            .means_ns
            .push(mean_of(&each.quantiles_ns, shares));
    }
    found
}

fn rise(values: &[f64]) -> bool {
    values
        .iter()
        .all(|value| value.is_finite() && *value >= 0.0)
        && values.windows(2).all(|pair| pair[0] <= pair[1])
}

fn faults(params: &MeasuredParams) -> Vec<Fault> {
    let mut faults = Vec::new();
    let shares = &params.shares;
    if shares.len() < 2 || !rise(shares) || shares.windows(2).any(|pair| pair[0] == pair[1]) {
        faults.push(Fault::new("shares", shares.len(), "two or more that rise"));
    }
    let all = params.latencies.iter().flatten();
    if params.latencies.iter().all(Vec::is_empty) {
        faults.push(Fault::new("latencies", 0, "one or more"));
    }
    for each in all {
        if each.quantiles_ns.len() != shares.len() || !rise(&each.quantiles_ns) {
            let allowed = "one that rises for each of the shares";
            faults.push(Fault::new("quantiles_ns", each.quantiles_ns.len(), allowed));
        }
        if !(each.outstanding.is_finite() && each.outstanding > 0.0) {
            faults.push(Fault::new("outstanding", each.outstanding, "more than 0"));
        }
    }
    if !(0.0..=1.0).contains(&params.shared) {
        faults.push(Fault::new("shared", params.shared, "0 to 1"));
    }
    for of in &params.latencies {
        let place = |each: &LatencyParams| (each.block_bytes, each.outstanding);
        if of.windows(2).any(|pair| place(&pair[0]) >= place(&pair[1])) {
            faults.push(Fault::new(
                "latencies",
                of.len(),
                "by size, then by population, rising",
            ));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(block_bytes: u64, outstanding: f64, quantiles_ns: [f64; 2]) -> LatencyParams {
        LatencyParams {
            block_bytes,
            outstanding,
            quantiles_ns: quantiles_ns.into(),
        }
    }

    /// By hand: 100 us alone and 400 us among four is 200 us among two; 8 KiB, half-way to 12 KiB
    /// of 300 us, takes 200 us alone. Among eight it takes twice what it does among four.
    #[test]
    fn latencies_are_linear_between_rows_and_rates_stay_beyond() {
        let params = MeasuredParams {
            capacity_bytes: 1 << 30,
            shares: vec![0.0, 1.0],
            latencies: [
                vec![
                    at(4096, 1.0, [100e3; 2]),
                    at(4096, 4.0, [400e3; 2]),
                    at(12_288, 1.0, [300e3; 2]),
                ],
                vec![],
            ],
            shared: 1.0,
        };
        let table = Measured::new(&params, 1, "drive").unwrap();
        let of = |at: usize, outstanding| table.curves[0][at].latency(outstanding, (0, 0, 0.0));
        assert_eq!(of(0, 2.0), 200e3);
        assert_eq!(of(0, 8.0), 800e3);
        let mut table = table;
        assert_eq!(table.latency(0, 8192), Nanos(200_000));
        assert_eq!(table.latency(0, 512), Nanos(100_000));
        assert_eq!(table.latency(1, 4096), Nanos(100_000));
        assert_eq!(table.latency(0, 20_480), Nanos(500_000));
    }

    /// By hand: 100 us alone, 400 us among four. A read beside one read and four writes is among
    /// two if directions are apart, among six if they are not, and among four half-way.
    #[test]
    fn a_command_waits_with_a_share_of_the_other_direction() {
        for (shared, took) in [(0.0, 200), (0.5, 400), (1.0, 600)] {
            let rows = vec![at(4096, 1.0, [100e3; 2]), at(4096, 4.0, [400e3; 2])];
            let params = MeasuredParams {
                capacity_bytes: 1 << 30,
                shares: vec![0.0, 1.0],
                latencies: [rows.clone(), rows],
                shared,
            };
            let mut table = Measured::new(&params, 1, "drive").unwrap();
            table.ends[0].push(Reverse(Time::ZERO));
            (0..4).for_each(|_| table.ends[1].push(Reverse(Time::ZERO)));
            assert_eq!(table.latency(0, 4096), Nanos(took * 1000), "{shared}");
        }
    }

    /// By hand: half of the commands take 0 to 100 us, half 100 to 300 us: the mean is 125 us.
    #[test]
    fn the_mean_is_that_of_the_quantiles() {
        let params = MeasuredParams {
            capacity_bytes: 1 << 30,
            shares: vec![0.0, 0.5, 1.0],
            latencies: [
                vec![LatencyParams {
                    block_bytes: 4096,
                    outstanding: 1.0,
                    quantiles_ns: vec![0.0, 100e3, 300e3],
                }],
                vec![],
            ],
            shared: 1.0,
        };
        let mut table = Measured::new(&params, 1, "drive").unwrap();
        let sum: u64 = (0..100_000).map(|_| table.latency(0, 4096).0).sum();
        assert!((sum as f64 / 1e5 - 125e3).abs() < 1e3, "{sum}");
    }

    #[test]
    fn every_fault_is_named() {
        let params = MeasuredParams {
            capacity_bytes: 0,
            shares: vec![0.0, 1.0],
            latencies: [
                vec![at(4096, 2.0, [2.0, 1.0]), at(4096, 1.0, [1.0, 2.0])],
                vec![],
            ],
            shared: 1.0,
        };
        let found = Measured::new(&params, 1, "drive").unwrap_err();
        assert_eq!(found.len(), 2, "{found:?}");
    }
}
