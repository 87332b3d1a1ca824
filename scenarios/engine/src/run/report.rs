//! The result of a run as plain data, in the shapes that the Python side passes on.

use crate::ids::ArrayId;
use crate::integrity::DataReport;
use crate::plan::Plan;
use crate::run::cache_report::CacheReport;
use crate::run::intervals::{Ends, Latency, LatencyIntervals, as_map};
use crate::run::io_trace::life::Life;
use crate::run::io_trace::report::TracedIo;
use crate::run::meets::Met;
use crate::run::past::{Kept, LoadPast, SIDES};
use crate::run::system::System;
use crate::run::tail_report::{self, MapReport, SlowIo};
use crate::run::trace_report::TraceReport;
use crate::state::backlog::Arrived;
use crate::state::log::LogEntry;
use crate::state::measure::{Meter, rate_interval};
use crate::state::records::Workload;
use raidlab_io::{Part, Parts};
use raidlab_jobs::ThreadResult;
use raidlab_kernel::{self as kernel, Batches, Nanos, Spells, Time};
use raidlab_models::{ReadUnits, Written};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Reads or writes of a workload.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Side {
    ios: u64,
    bytes: u64,
    iops: f64,
    mib_per_s: f64,
    latency_us: Option<Latency>,
    #[serde(flatten)]
    intervals: LatencyIntervals,
    /// Non-empty histogram buckets: nanoseconds that stand for the bucket, count.
    #[schemars(with = "Vec<[u64; 2]>")]
    bins: Vec<(u64, u64)>,
    /// Latencies over time, if the plan asks for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    latency_map: Option<MapReport>,
}

impl Side {
    fn new(meter: &Meter, side: kernel::Side, seconds: f64) -> Side {
        let (histogram, bytes) = match side {
            kernel::Side::Reads => (&meter.reads, meter.bytes[0]),
            _ => (&meter.writes, meter.bytes[1]),
        };
        let rate = |n: u64| {
            if seconds > 0.0 {
                n as f64 / seconds
            } else {
                0.0
            }
        };
        Side {
            ios: histogram.count(),
            bytes,
            iops: rate(histogram.count()),
            mib_per_s: rate(bytes) / f64::from(1 << 20),
            latency_us: Latency::of(histogram),
            intervals: LatencyIntervals::of(&meter.batches, side, histogram),
            bins: histogram.bins().map(|(at, count)| (at.0, count)).collect(),
            latency_map: None,
        }
    }
}

/// The timeline of a workload.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Timeline {
    t_s: Vec<f64>,
    iops: Vec<f64>,
    latency_us: Vec<Option<f64>>,
}

/// A workload from one event to the next.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PeriodResult {
    /// What began it.
    pub what: String,
    /// Its begin, in seconds of simulated time.
    pub from_s: f64,
    /// Its end.
    pub to_s: f64,
    /// I/Os recorded.
    pub ios: u64,
    /// I/Os a second.
    pub iops: f64,
    /// Their latencies.
    pub latency_us: Option<Latency>,
}

fn periods(meter: &Meter, until: Time, plan: &Plan) -> Vec<PeriodResult> {
    let begins = meter.periods.iter().map(|period| period.from);
    let ends = begins.skip(1).chain([until]);
    let length = |from: Time, to: Time| to.since(from.max(meter.from())).seconds();
    meter
        .periods
        .iter()
        .zip(ends)
        .map(|(period, to)| {
            let ios = period.latencies.count();
            let seconds = length(period.from, to);
            PeriodResult {
                what: period.what.clone(),
                from_s: plan.lapsed(period.from.since(Time::ZERO).seconds()),
                to_s: plan.lapsed(to.since(Time::ZERO).seconds()),
                ios,
                iops: if seconds > 0.0 {
                    ios as f64 / seconds
                } else {
                    0.0
                },
                latency_us: Latency::of(&period.latencies),
            }
        })
        .collect()
}

/// One workload's result.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WorkloadResult {
    /// The workload.
    pub name: String,
    /// The array that it loaded.
    pub target: String,
    /// I/Os recorded.
    pub ios: u64,
    /// I/Os that were refused because data are lost, or cut off because the power failed.
    pub errors: u64,
    /// I/Os a second.
    pub iops: f64,
    /// 95 % interval of the rate, by batch means; none where they are too few to say.
    pub iops_ci95: Ends,
    /// What of its half the one past of the flash drives adds, in I/Os a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iops_past_half_width: Option<f64>,
    /// MiB (2^20) a second.
    pub mib_per_s: f64,
    /// MB (10^6) a second.
    pub mb_per_s: f64,
    /// Latencies of all I/Os.
    pub latency_us: Option<Latency>,
    /// Their 95 % intervals.
    #[serde(flatten)]
    pub intervals: LatencyIntervals,
    /// Number of independent batches that would say as much of the rate as the run's own; none where
    /// they are too few to say.
    pub independent_batches: Option<f64>,
    /// Whether what was recorded had a steady state; none if that cannot be said.
    pub steady: Option<bool>,
    /// What arrived in the recorded time, of a load that does not wait for its own I/Os.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrived: Option<Arrived>,
    /// Reads.
    pub read: Side,
    /// Writes.
    pub write: Side,
    /// Mean time of an I/O by part; the parts add up to the mean latency.
    pub breakdown_us: BTreeMap<&'static str, f64>,
    /// From event to event, in a run in which something happens.
    pub periods: Vec<PeriodResult>,
    /// Rate and latency over time.
    pub timeline: Timeline,
    /// The stages of single I/Os, if the plan asks for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traced_ios: Option<Vec<TracedIo>>,
    /// The slowest I/Os, if the plan asks for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slowest: Option<Vec<SlowIo>>,
    /// What a trace gives besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Box<TraceReport>>,
}

/// Name under which I/Os of an outside caller are reported.
const OUTSIDE: &str = "processes";

impl WorkloadResult {
    fn new(system: &System, workload: &Workload, until: Time, plan: &Plan) -> WorkloadResult {
        let name = (workload.name.as_str(), workload.array);
        // Jobs of fio may take longer to end than the load is recorded.
        let until = until.min(workload.meter.end());
        let found = WorkloadResult::of(system, name, &workload.meter, until, plan);
        let open = workload.is_open() && system.layers.loads.records().has_other_backlog();
        let trace = workload.trace();
        WorkloadResult {
            // A trace has no steady state to be found.
            steady: found
                .steady
                .filter(|_| trace.is_none())
                .map(|steady| steady && !open),
            trace: trace.map(|trace| Box::new(TraceReport::of(trace))),
            arrived: workload.is_open().then(|| workload.backlog.report()),
            ..found
        }
    }

    /// Widens its intervals by what its drives' past may add.
    pub(crate) fn heed_past(&mut self, kept: &Kept, past: &LoadPast) {
        self.iops_ci95 = rate_ends(&kept.batches, past.rate, self.iops);
        self.iops_past_half_width = Some(past.rate * self.iops);
        let each = [
            &mut self.intervals,
            &mut self.read.intervals,
            &mut self.write.intervals,
        ];
        for (at, intervals) in each.into_iter().enumerate() {
            let (batches, histogram) = (&kept.batches, &kept.histograms[at]);
            let past = Some(&past.sides[at]);
            *intervals = LatencyIntervals::with_past(batches, SIDES[at], histogram, past);
        }
    }

    /// One for each load of fio's jobs, up to its end.
    pub(crate) fn of_jobs(
        system: &System,
        plan: &Plan,
        ends: &[(ArrayId, Time)],
    ) -> Vec<WorkloadResult> {
        let Some(jobs) = &plan.jobs else {
            return Vec::new();
        };
        let meters = system.layers.loads.records().outside().meters().iter();
        let of = |((name, meter), &(array, end)): ((&String, &Meter), &(ArrayId, Time))| {
            let found = WorkloadResult::of(system, (name, array), meter, end, plan);
            // A job has no steady state to be found.
            WorkloadResult {
                steady: None,
                ..found
            }
        };
        jobs.loads.iter().zip(meters).zip(ends).map(of).collect()
    }

    /// One for each array, if the caller asked for records.
    fn of_outside(system: &System, until: Time, plan: &Plan) -> Vec<WorkloadResult> {
        let meters = system
            .layers
            .loads
            .records()
            .outside()
            .meters()
            .iter()
            .enumerate();
        meters
            .map(|(array, meter)| {
                let array = ArrayId::new((array % system.layers.path.arrays.len()) as u32);
                WorkloadResult::of(system, (OUTSIDE, array), meter, until, plan)
            })
            .collect()
    }

    fn of(
        system: &System,
        (name, array): (&str, ArrayId),
        meter: &Meter,
        until: Time,
        plan: &Plan,
    ) -> WorkloadResult {
        let seconds = until.since(meter.from()).seconds();
        let mut all = meter.reads.clone();
        all.merge(&meter.writes);
        let rate = |n: f64| if seconds > 0.0 { n / seconds } else { 0.0 };
        let bytes = (meter.bytes[0] + meter.bytes[1]) as f64;
        WorkloadResult {
            name: name.to_owned(),
            target: system.layers.path.arrays[array].name.clone(),
            ios: all.count(),
            errors: meter.errors,
            iops: rate(all.count() as f64),
            iops_ci95: rate_ends(&meter.batches, 0.0, rate(all.count() as f64)),
            iops_past_half_width: None,
            mib_per_s: rate(bytes) / f64::from(1 << 20),
            mb_per_s: rate(bytes) / 1e6,
            latency_us: Latency::of(&all),
            intervals: LatencyIntervals::of(&meter.batches, kernel::Side::All, &all),
            independent_batches: meter.batches.gap().map(|gap| gap.independent),
            steady: meter.is_steady(until).filter(|_| plan.time_lapse <= 1),
            arrived: None,
            read: Side::new(meter, kernel::Side::Reads, seconds),
            write: Side::new(meter, kernel::Side::Writes, seconds),
            breakdown_us: breakdown(&meter.parts, all.count()),
            periods: periods(meter, until, plan),
            timeline: timeline(meter, until, plan),
            traced_ios: None,
            slowest: None,
            trace: None,
        }
    }
}

/// The 95 % interval of a rate, to whose half width the drives' past adds a share.
fn rate_ends(batches: &Batches, past: f64, rate: f64) -> Ends {
    let ends = rate_interval(batches, past);
    ends.map_or([None; 2], |ends| ends.map(|end| Some(end * rate)))
}

fn breakdown(parts: &Parts, ios: u64) -> BTreeMap<&'static str, f64> {
    let mean = |sum: Nanos| {
        if ios > 0 {
            sum.0 as f64 / ios as f64 / 1e3
        } else {
            0.0
        }
    };
    Part::ALL
        .into_iter()
        .filter(|&part| parts[part] > Nanos::ZERO)
        .map(|part| (part.name(), mean(parts[part])))
        .collect()
}

fn timeline(meter: &Meter, until: Time, plan: &Plan) -> Timeline {
    let mut line = Timeline::default();
    let step = meter.step();
    let mut steps = meter.timeline.iter().enumerate().peekable();
    while let Some((index, &(mut taken))) = steps.next() {
        let from = step * index as u64;
        if from.0 >= until.0 {
            break;
        }
        let mut length = step.min(Nanos(until.0 - from.0));
        // What is left at the end belongs to the step before it, if it is short: one I/O in no
        // time is no rate.
        let left = Nanos(until.0.saturating_sub((from + length).0));
        if left > Nanos::ZERO
            && left.0 < step.0 / 2
            && let Some((_, last)) = steps.next()
        {
            taken.ios += last.ios;
            taken.latency += last.latency;
            length += left;
        }
        line.t_s.push(plan.lapsed((from + length).seconds()));
        line.iops.push(taken.ios as f64 / length.seconds());
        let mean = (taken.ios > 0).then(|| taken.latency as f64 / taken.ios as f64 / 1e3);
        line.latency_us.push(mean);
    }
    line
}

/// One component's share of the result.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Component {
    /// The component.
    pub name: String,
    /// cpu, host (a thread), controller, queue, parity, memory, link, drive, firmware, channels,
    /// compressor, collection or bitmap.
    pub kind: &'static str,
    /// Who can meet it.
    #[serde(flatten)]
    pub met: Met,
    /// Share of the recorded time that it worked; of a queue, that requests waited for a place in it.
    pub utilization: f64,
    /// Mean number of I/Os there, waiting or in work, where it has a queue.
    pub queue_mean: Option<f64>,
    /// Commands that a drive takes at once, where that is limited: further ones wait before it.
    pub queue_depth: Option<u32>,
    /// What was written in the recorded time, of drives that know of NAND.
    pub written: Option<Written>,
    /// What reads asked for in the recorded time, of the same drives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_units: Option<ReadUnits>,
    /// What it drew in the recorded time, if its data sheet says what it draws.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power: Option<Power>,
    /// When something held that changes in time, such as an empty bucket of credit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spells: Vec<SpellReport>,
    /// The model's own figures, over the whole run.
    #[serde(serialize_with = "as_map")]
    #[schemars(with = "BTreeMap<String, f64>")]
    pub figures: Vec<(&'static str, f64)>,
}

/// A time in which something held at a component: a limit that changes in time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SpellReport {
    /// What, by its name in the result: `burst-credits`.
    pub kind: &'static str,
    /// Its begin, in seconds of simulated time; warm-up included.
    pub from_s: f64,
    /// Its end, or that of the run.
    pub to_s: f64,
}

impl SpellReport {
    /// All of a kind up to `until`.
    pub(crate) fn of(kind: &'static str, spells: &Spells, until: Time) -> Vec<SpellReport> {
        let seconds = |at: Time| at.since(Time::ZERO).seconds();
        let report = |(from, to)| SpellReport {
            kind,
            from_s: seconds(from),
            to_s: seconds(to),
        };
        spells.until(until).map(report).collect()
    }
}

/// What a component drew in the recorded time.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Power {
    /// Joules.
    pub joules: f64,
    /// Mean watts.
    pub watts: f64,
}

impl Power {
    pub(crate) fn new(joules: f64, span: Nanos) -> Power {
        let seconds = span.seconds();
        let watts = if seconds > 0.0 { joules / seconds } else { 0.0 };
        Power { joules, watts }
    }
}

/// A run's result.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunResult {
    /// Simulated seconds before anything was recorded.
    pub warm_up_s: f64,
    /// Simulated seconds recorded.
    pub duration_s: f64,
    /// Events handled, for the curious and the benchmarks.
    pub events: u64,
    /// Each workload's result.
    pub workloads: Vec<WorkloadResult>,
    /// Each component's work.
    pub components: Vec<Component>,
    /// Each cache's work: the controllers' memories, then SSD caches.
    pub caches: Vec<CacheReport>,
    /// What happened during the run.
    pub log: Vec<LogEntry>,
    /// Rebuilds that were not done at the end: what share of the array's rows was.
    pub rebuilding: Vec<f64>,
    /// Rebuilds under way when recording began: what share of the array's rows was done.
    pub rebuilding_before: Vec<f64>,
    /// Requests refused because data are lost, and cut off because the power failed.
    pub refused: u64,
    /// See `refused`.
    pub abandoned: u64,
    /// What became of the data, if the run followed them.
    pub data: Option<DataReport>,
    /// Breaches of what must hold: bugs.
    pub breaches: Vec<String>,
    /// Why the state that was to be saved could not be.
    pub unsaved: Option<String>,
    /// What each thread of fio's jobs did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<ThreadResult>,
}

impl RunResult {
    /// The stages of I/Os of loads, each with its load.
    pub(crate) fn add_ios(&mut self, system: &System, lives: &[Life]) {
        for load in &mut self.workloads {
            load.traced_ios = Some(Vec::new());
        }
        for life in lives {
            let load =
                system
                    .layers
                    .loads
                    .records()
                    .load_of(&system.layers.path, life.owner, life.array);
            let Some(load) = load.and_then(|at| self.workloads.get_mut(at)) else {
                continue;
            };
            let ios = load.traced_ios.get_or_insert_default();
            ios.push(TracedIo::new(system, life));
        }
    }

    /// This result with the loads of fio's jobs in place of an outside caller's I/Os.
    pub(crate) fn with_jobs(
        mut self,
        loads: Vec<WorkloadResult>,
        threads: Vec<ThreadResult>,
    ) -> RunResult {
        let own = self.workloads.len() - loads.len();
        self.workloads.truncate(own);
        self.workloads.extend(loads);
        self.threads = threads;
        self
    }

    /// The recorded time and the rebuilds at its start; loads know the time themselves.
    pub(crate) fn add_start(&mut self, from: Time, until: Time, rebuilding: Vec<f64>) {
        self.rebuilding_before = rebuilding;
        if self.workloads.is_empty() {
            self.warm_up_s = from.since(Time::ZERO).seconds();
            self.duration_s = until.since(from).seconds();
        }
    }

    /// What loads and outside callers recorded of their tails, if the plan asks for it.
    pub(crate) fn add_tails(&mut self, system: &mut System, plan: &Plan) {
        for (at, load) in self.workloads.iter_mut().enumerate() {
            let meter = system.layers.loads.records().meter(at);
            let asked = meter.filter(|meter| meter.slowest.is_asked());
            load.slowest = asked.map(|meter| tail_report::slowest(system, meter));
            if let Some(meter) = system.layers.loads.records_mut().meter_mut(at)
                && plan.details.latency_map
            {
                let [reads, writes] = tail_report::maps(meter, plan);
                (load.read.latency_map, load.write.latency_map) = (Some(reads), Some(writes));
            }
        }
    }

    pub(crate) fn new(
        plan: &Plan,
        system: &mut System,
        until: Time,
        components: Vec<Component>,
        caches: Vec<CacheReport>,
        breaches: Vec<String>,
        unsaved: Option<String>,
    ) -> RunResult {
        system.note_log();
        let from = system
            .layers
            .loads
            .records()
            .workloads()
            .iter()
            .next()
            .map(|w| w.meter.from());
        let from = from.unwrap_or(Time::ZERO);
        RunResult {
            warm_up_s: from.since(Time::ZERO).seconds(),
            duration_s: until.since(from).seconds(),
            events: system.layers.path.calendar.scheduled()
                - system.layers.path.calendar.len() as u64,
            workloads: system
                .layers
                .loads
                .records()
                .workloads()
                .iter()
                .map(|workload| WorkloadResult::new(system, workload, until, plan))
                .chain(WorkloadResult::of_outside(system, until, plan))
                .collect(),
            components,
            caches,
            log: system
                .layers
                .path
                .log
                .entries()
                .iter()
                .map(|entry| LogEntry {
                    t_s: plan.lapsed(entry.t_s),
                    ..entry.clone()
                })
                .collect(),
            rebuilding: system
                .layers
                .raid
                .background()
                .rebuilding(system.layers.raid.stripes()),
            rebuilding_before: Vec::new(),
            refused: system.layers.raid.stripes().state().refused(),
            abandoned: system.layers.loads.records().tally().abandoned,
            data: system.data_report(),
            breaches,
            unsaved,
            threads: Vec::new(),
        }
    }
}
