//! A cloud volume: storage behind a network, whose provider limits I/Os and bytes a second.
//!
//! Each limit is one or two token buckets: the provisioned rate, in which credit for bursts is
//! saved, and the rate of bursts. A command of up to `io_bytes` is one I/O, a larger one several.
//! Commands pass the limits in the order in which they come, then the storage serves all of them at
//! once: a fixed time there and back, and an exponential one that varies.

use crate::limits::{LimitParams, Limits};
use crate::{Fault, Port};
use raidlab_kernel::{IoId, Nanos, Op, Part, Served, Spells, Stream, Time};
use serde::Deserialize;

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

/// A volume in a run.
#[derive(Debug)]
pub struct Volume {
    params: VolumeParams,
    limits: Limits,
    draws: Stream,
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
        Ok(Volume {
            limits: match params.spent {
                true => Limits::spent(&params.limits),
                false => Limits::new(&params.limits),
            },
            draws: Stream::new(seed, name, "service time"),
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
        let end = start + least + self.draws.exponential(varies);
        let served = Served { start, end };
        port.io(io).charge_stay(Part::Queue, Part::Service, served);
        port.done(io, end, Nanos::ZERO);
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
