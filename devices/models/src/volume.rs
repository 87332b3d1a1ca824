//! A cloud volume: storage behind a network, whose provider limits I/Os and bytes a second.
//!
//! Each limit is one or two token buckets: the provisioned rate, in which credit for bursts is
//! saved, and the rate of bursts. A command of up to `io_bytes` is one I/O, a larger one several.
//! Commands pass the limits in the order in which they come, then the storage serves all of them at
//! once: a fixed time there and back, and an exponential one that varies; a few commands meet a slow
//! part of the storage, and take another exponential time.

use crate::limits::{LimitParams, Limits};
use crate::{Fault, Port};
use raidlab_kernel::{IoId, Nanos, Op, Part, Served, Spells, Stream, Time};
use serde::Deserialize;

const MILLION: u32 = 1_000_000;

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
    /// Commands in a million that meet a slow part of the storage besides.
    #[serde(default)]
    pub slow_ppm: u32,
    /// Mean of what those take on top.
    #[serde(default)]
    pub slow_ns: Nanos,
    /// Most bytes that count as one I/O.
    pub io_bytes: u64,
    /// All of them are passed.
    pub limits: Vec<LimitParams>,
    /// True if all credit is spent when the run begins.
    pub spent: bool,
}

/// A volume in a run.
#[derive(Debug)]
pub struct Volume {
    params: VolumeParams,
    limits: Limits,
    draws: Stream,
    /// Which commands are slow, and how slow.
    slow: Stream,
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
        if params.slow_ppm > MILLION {
            let found = u64::from(params.slow_ppm);
            return Err(vec![Fault::new("slow_ppm", found, "at most 1000000")]);
        }
        Ok(Volume {
            limits: match params.spent {
                true => Limits::spent(&params.limits),
                false => Limits::new(&params.limits),
            },
            draws: Stream::new(seed, name, "service time"),
            slow: Stream::new(seed, name, "slow commands"),
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
            Op::Read | Op::Write => {
                let ios = bytes.div_ceil(self.params.io_bytes).max(1);
                self.limits.pass(ios, bytes, port.now())
            }
            Op::Trim | Op::Flush => port.now(),
        };
        let [least, varies] = match op {
            Op::Read => self.params.read_ns,
            Op::Write | Op::Trim | Op::Flush => self.params.write_ns,
        };
        let end = start + least + self.draws.exponential(varies) + self.slow_part();
        let served = Served { start, end };
        port.io(io).charge_stay(Part::Queue, Part::Service, served);
        port.done(io, end, Nanos::ZERO);
    }

    /// What a command takes on top: nothing, but for a few.
    #[inline]
    fn slow_part(&mut self) -> Nanos {
        let rare = u64::from(self.params.slow_ppm);
        if rare > 0 && self.slow.below(u64::from(MILLION)) < rare {
            self.slow.exponential(self.params.slow_ns)
        } else {
            Nanos::ZERO
        }
    }

    /// When its credit for bursts was spent and held commands up; one for each limit with credit.
    pub fn spells(&self) -> impl Iterator<Item = &Spells> {
        self.limits.spells()
    }

    /// Bytes that it holds.
    pub fn capacity_bytes(&self) -> u64 {
        self.params.capacity_bytes
    }

    /// For how long the limit that is used most was used up to `now`.
    pub fn busy_until(&self, now: Time) -> (Nanos, usize) {
        (self.limits.most_used_until(now), 1)
    }
}
