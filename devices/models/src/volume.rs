//! A cloud volume: storage behind a network, whose provider limits I/Os and bytes a second.
//!
//! Each limit is one or two token buckets: the provisioned rate, in which credit for bursts is
//! saved, and the rate of bursts. A command of up to `io_bytes` is one I/O, a larger one several.
//! Commands pass the limits in the order in which they come, then the storage serves all of them at
//! once: a fixed time there and back, and an exponential one that varies.

use crate::{Fault, Port};
use raidlab_kernel::{IoId, Nanos, Op, Part, Served, Stream, Time, TokenBucket};
use serde::Deserialize;

/// A bucket that holds more than what flows in within this time saves credit.
const CREDIT: Nanos = Nanos(1_000_000_000);

/// What a limit counts.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Counts {
    /// I/Os: a command has one for every `io_bytes` begun.
    Ios,
    /// Bytes.
    Bytes,
}

/// A token bucket of a volume.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitParams {
    /// What it counts.
    pub counts: Counts,
    /// Thousandths a second.
    pub milli_per_s: u64,
    /// Its capacity: what flows in within this time.
    pub burst_ns: Nanos,
}

impl LimitParams {
    /// Whole tokens in a full bucket.
    fn capacity(&self) -> u64 {
        let tokens = u128::from(self.milli_per_s) * u128::from(self.burst_ns.0) / 1_000_000_000_000;
        u64::try_from(tokens).unwrap_or(u64::MAX)
    }
}

/// A volume in the plan.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VolumeParams {
    /// Bytes that it holds.
    pub capacity_bytes: u64,
    /// Least time of a read, and the mean of what comes on top.
    pub read_ns: [Nanos; 2],
    /// The same of a write.
    pub write_ns: [Nanos; 2],
    /// Most bytes that count as one I/O.
    pub io_bytes: u64,
    /// All of them are passed.
    pub limits: Vec<LimitParams>,
    /// True if all credit is spent when the run begins.
    pub spent: bool,
}

/// A limit in a run.
#[derive(Debug)]
struct Limit {
    counts: Counts,
    bucket: TokenBucket,
    /// True if it saves credit: while there is some, it holds nothing up.
    saves: bool,
    /// For how long commands were held up by it.
    held: Nanos,
}

impl Limit {
    fn new(params: &LimitParams, spent: bool) -> Limit {
        let mut bucket = TokenBucket::new(params.milli_per_s, params.burst_ns);
        if spent {
            bucket.take(params.capacity(), Time::ZERO);
        }
        Limit {
            counts: params.counts,
            bucket,
            saves: params.burst_ns > CREDIT,
            held: Nanos::ZERO,
        }
    }
}

/// A volume in a run.
#[derive(Debug)]
pub struct Volume {
    params: VolumeParams,
    limits: Vec<Limit>,
    draws: Stream,
    /// When the last command passed the limits.
    passed: Time,
}

impl Volume {
    /// A volume whose buckets are full, or empty.
    ///
    /// # Errors
    /// Names every parameter that is out of its range.
    pub fn new(params: &VolumeParams, seed: u64, name: &str) -> Result<Self, Vec<Fault>> {
        if params.io_bytes == 0 {
            return Err(vec![Fault::new("io_bytes", 0, "1 or more")]);
        }
        let limit = |limit| Limit::new(limit, params.spent);
        Ok(Volume {
            limits: params.limits.iter().map(limit).collect(),
            draws: Stream::new(seed, name, "service time"),
            passed: Time::ZERO,
            params: params.clone(),
        })
    }

    /// The mean time of a read.
    pub fn read_time(&self) -> Nanos {
        self.params.read_ns[0] + self.params.read_ns[1]
    }

    /// Takes a command that arrives now.
    #[inline]
    pub fn submit<P: Port>(&mut self, port: &mut P, io: IoId) {
        let record = port.io(io);
        let (op, bytes) = (record.op, record.bytes);
        let start = match op {
            Op::Read | Op::Write => self.pass(bytes, port.now()),
            Op::Trim | Op::Flush => port.now(),
        };
        let [least, varies] = match op {
            Op::Read => self.params.read_ns,
            Op::Write | Op::Trim | Op::Flush => self.params.write_ns,
        };
        let end = start + least + self.draws.exponential(varies);
        let served = Served { start, end };
        port.io(io).charge_stay(Part::Queue, Part::Service, served);
        port.done(io, end, Nanos::ZERO);
    }

    /// When a command of so many bytes passes all limits.
    fn pass(&mut self, bytes: u64, now: Time) -> Time {
        let ios = bytes.div_ceil(self.params.io_bytes).max(1);
        let tokens = |counts| match counts {
            Counts::Ios => ios,
            Counts::Bytes => bytes,
        };
        let mut at = now.max(self.passed);
        for limit in &mut self.limits {
            let ready = limit.bucket.ready(tokens(limit.counts), at);
            limit.held += ready - at;
            at = ready;
        }
        for limit in &mut self.limits {
            limit.bucket.take(tokens(limit.counts), at);
        }
        self.passed = at;
        at
    }

    /// Bytes that it holds.
    pub fn capacity_bytes(&self) -> u64 {
        self.params.capacity_bytes
    }

    /// For how long the limit that is used most was used up to `now`. One that saves credit was
    /// while it held commands up.
    pub fn busy_until(&self, now: Time) -> (Nanos, usize) {
        let ahead = self.passed.since(self.passed.min(now));
        let busy = |limit: &Limit| match limit.saves {
            true => limit.held.saturating_sub(ahead),
            false => limit.bucket.busy_until(now),
        };
        let most = self.limits.iter().map(busy).max();
        (most.unwrap_or(Nanos::ZERO), 1)
    }
}
