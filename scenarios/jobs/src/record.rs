//! What is recorded of a thread, as fio's JSON has it.

use crate::plan::JobPlan;
use raidlab_io::Op;
use raidlab_kernel::{Histogram, Nanos, Time};
use schemars::JsonSchema;
use serde::Serialize;

/// Upper ends of fio's coarse classes of latencies, in their unit; the last class has no end.
const NS_CLASSES: [u64; 9] = [2, 4, 10, 20, 50, 100, 250, 500, 750];
const MS_CLASSES: [u64; 11] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000];

/// Direction of an operation: read, write, trim.
pub(crate) fn direction(op: Op) -> usize {
    match op {
        Op::Read => 0,
        Op::Write | Op::Flush => 1,
        Op::Trim => 2,
    }
}

/// Numbers of which mean and deviation are wanted.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct Samples {
    /// Number of samples.
    pub count: u64,
    /// Sum.
    pub sum: f64,
    /// Sum of squares.
    pub squares: f64,
    /// Least.
    pub min: f64,
    /// Greatest.
    pub max: f64,
}

impl Samples {
    fn add(&mut self, value: f64) {
        self.min = if self.count == 0 {
            value
        } else {
            self.min.min(value)
        };
        self.max = self.max.max(value);
        self.count += 1;
        self.sum += value;
        self.squares += value * value;
    }
}

/// A distribution of latencies.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Latencies {
    /// Number of I/Os.
    pub count: u64,
    /// Least, in ns.
    pub min: u64,
    /// Greatest, in ns.
    pub max: u64,
    /// Mean, in ns.
    pub mean: f64,
    /// Standard deviation of the population, in ns.
    pub deviation: f64,
    /// Non-empty buckets: nanoseconds, count.
    #[schemars(with = "Vec<[u64; 2]>")]
    pub bins: Vec<(u64, u64)>,
}

impl Latencies {
    fn of(histogram: Option<&Histogram>) -> Option<Latencies> {
        let histogram = histogram?;
        Some(Latencies {
            count: histogram.count(),
            min: histogram.min()?.0,
            max: histogram.max()?.0,
            mean: histogram.mean()?,
            deviation: histogram.deviation()?,
            bins: histogram.bins().map(|(at, n)| (at.0, n)).collect(),
        })
    }
}

#[derive(Debug, Default)]
struct Side {
    ios: u64,
    bytes: u64,
    submission: Option<Box<Histogram>>,
    completion: Option<Box<Histogram>>,
    total: Option<Box<Histogram>>,
    runtime: Nanos,
    bandwidth: Samples,
    rate: Samples,
    /// Since the last sample.
    sampled: (u64, u64),
}

fn count(histogram: &mut Option<Box<Histogram>>, value: Nanos) {
    histogram.get_or_insert_default().record(value);
}

/// The record of one thread.
#[derive(Debug)]
pub struct Record {
    sides: [Side; 3],
    syncs: Option<Box<Histogram>>,
    depths: [u64; 7],
    submits: [u64; 7],
    completes: [u64; 7],
    ns: [u64; 10],
    us: [u64; 10],
    ms: [u64; 12],
    step: Nanos,
    /// The last sample was taken then.
    sampled_at: Time,
    synchronous: bool,
}

/// One direction of a thread.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SideResult {
    /// I/Os.
    pub ios: u64,
    /// Bytes.
    pub bytes: u64,
    /// Time in which it ran.
    pub runtime_ns: u64,
    /// From the draw of an I/O to its hand-over.
    pub submission: Option<Latencies>,
    /// From there to its completion.
    pub completion: Option<Latencies>,
    /// Both.
    pub total: Option<Latencies>,
    /// Samples of KiB/s.
    pub bandwidth: Samples,
    /// Samples of IO/s.
    pub rate: Samples,
}

/// What a thread did.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ThreadResult {
    /// fio's number of the thread.
    pub number: u32,
    /// The error that ended it; 0 for none.
    pub error: u32,
    /// When it began and ended.
    pub began_ns: u64,
    /// See `began_ns`.
    pub ended_ns: u64,
    /// From the end of its ramp to its end.
    pub runtime_ns: u64,
    /// Reads, writes, trims.
    pub sides: [SideResult; 3],
    /// Times of `fsync`.
    pub syncs: Option<Latencies>,
    /// I/Os by depth 1, 2, 4 ... 64, when they were handed in.
    pub depths: [u64; 7],
    /// Submissions of 0, up to 4, 8, 16, 32, 64 and more I/Os.
    pub submits: [u64; 7],
    /// Completions likewise.
    pub completes: [u64; 7],
    /// I/Os by latency: below 1 us, below 1 ms, from there on.
    pub latency_ns: [u64; 10],
    /// See `latency_ns`.
    pub latency_us: [u64; 10],
    /// See `latency_ns`.
    pub latency_ms: [u64; 12],
    /// Depth that `latency_target` found; 0 without one.
    pub latency_depth: u32,
}

impl Record {
    pub(crate) fn new(plan: &JobPlan, now: Time) -> Record {
        Record {
            sides: Default::default(),
            syncs: None,
            depths: [0; 7],
            submits: [0; 7],
            completes: [0; 7],
            ns: [0; 10],
            us: [0; 10],
            ms: [0; 12],
            step: plan.sample_ns,
            sampled_at: now,
            synchronous: plan.synchronous,
        }
    }

    pub(crate) fn submitted(&mut self, ios: usize, depth: usize) {
        let class = (usize::BITS - 1 - depth.max(1).leading_zeros()) as usize;
        self.depths[class.min(6)] += ios as u64;
        self.submits[Record::class(ios)] += 1;
    }

    pub(crate) fn reaped(&mut self, ios: usize) {
        self.completes[Record::class(ios)] += 1;
    }

    fn class(ios: usize) -> usize {
        [0, 4, 8, 16, 32, 64]
            .iter()
            .position(|&most| ios <= most)
            .unwrap_or(6)
    }

    pub(crate) fn completed(
        &mut self,
        op: Op,
        bytes: u64,
        (started, issued, now): (Time, Time, Time),
    ) {
        self.sample(now);
        let side = &mut self.sides[direction(op)];
        side.ios += 1;
        side.bytes += bytes;
        side.sampled.0 += bytes;
        side.sampled.1 += 1;
        let total = now.since(started);
        if !self.synchronous {
            count(&mut side.submission, issued.since(started));
        }
        count(&mut side.completion, now.since(issued));
        count(&mut side.total, total);
        match total.0 {
            ns @ 0..1_000 => self.ns[NS_CLASSES.partition_point(|&end| end <= ns)] += 1,
            ns @ 0..1_000_000 => {
                self.us[NS_CLASSES.partition_point(|&end| end <= ns / 1_000)] += 1;
            }
            ns => self.ms[MS_CLASSES.partition_point(|&end| end <= ns / 1_000_000)] += 1,
        }
    }

    pub(crate) fn synced(&mut self, took: Nanos) {
        count(&mut self.syncs, took);
    }

    /// Takes the samples that were due up to `now`.
    fn sample(&mut self, now: Time) {
        if self.step == Nanos::ZERO {
            return;
        }
        let steps = now.since(self.sampled_at).0 / self.step.0;
        if steps == 0 {
            return;
        }
        let seconds = self.step.seconds();
        for side in self.sides.iter_mut().filter(|side| side.ios > 0) {
            let (bytes, ios) = std::mem::take(&mut side.sampled);
            side.bandwidth.add(bytes as f64 / 1024.0 / seconds);
            side.rate.add(ios as f64 / seconds);
            for _ in 1..steps.min(1 << 20) {
                side.bandwidth.add(0.0);
                side.rate.add(0.0);
            }
        }
        self.sampled_at = self.sampled_at + Nanos(self.step.0 * steps);
    }

    /// A pass is over: those of its directions that had I/Os ran since `began`.
    pub(crate) fn ran(&mut self, directions: [bool; 3], began: Time, now: Time) {
        let ran = self.sides.iter_mut().zip(directions);
        for (side, _) in ran.filter(|(side, of_pass)| *of_pass && side.ios > 0) {
            side.runtime += now.since(began);
        }
    }

    pub(crate) fn result(&self, number: u32) -> ThreadResult {
        let side = |side: &Side| SideResult {
            ios: side.ios,
            bytes: side.bytes,
            runtime_ns: side.runtime.0,
            submission: Latencies::of(side.submission.as_deref()),
            completion: Latencies::of(side.completion.as_deref()),
            total: Latencies::of(side.total.as_deref()),
            bandwidth: side.bandwidth,
            rate: side.rate,
        };
        ThreadResult {
            number,
            error: 0,
            began_ns: 0,
            ended_ns: 0,
            runtime_ns: 0,
            sides: [&self.sides[0], &self.sides[1], &self.sides[2]].map(side),
            syncs: Latencies::of(self.syncs.as_deref()),
            depths: self.depths,
            submits: self.submits,
            completes: self.completes,
            latency_ns: self.ns,
            latency_us: self.us,
            latency_ms: self.ms,
            latency_depth: 0,
        }
    }
}
