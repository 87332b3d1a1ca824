//! A volume: storage behind a network or a hypervisor, whose provider limits I/Os and bytes a second.
//!
//! Each limit is one or two token buckets: the provisioned rate, in which credit for bursts is
//! saved, and the rate of bursts. A command of up to `io_bytes` is one I/O, a larger one several.
//! Commands pass the limits in the order in which they come. Where the volume has servers (the
//! thread of a hypervisor that emulates a virtual disk), they take each command in turn, for a time
//! of its own and one for its bytes; reads and writes share them, or each have their own (the two
//! directions of a link). Where a CPU copies the bytes, they take longer when those of all commands in
//! flight are more than its cache. Then the storage serves all of
//! them at once: a fixed time there and back, and an exponential one that varies; a few commands meet
//! a slow part of the storage, and take another exponential time.
//! docs/explanation/virtual-disks.md has the equations.

use crate::limits::{LimitParams, Limits};
use crate::{Fault, Port};
use raidlab_io::{IoId, Op, Part};
use raidlab_kernel::{Nanos, Served, Spells, Stations, Stream, Time};
use schemars::JsonSchema;
use serde::Deserialize;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const MILLION: u32 = 1_000_000;
/// Bytes of which a server's time is stated.
const MIB: u64 = 1 << 20;

/// What serves the commands of a volume one after the other. Pairs are of reads and of writes.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerParams {
    /// Servers working in parallel, at least one.
    pub servers: u32,
    /// Mean time of a command, whatever its size.
    pub command_ns: [Nanos; 2],
    /// Mean time of a mebibyte besides.
    pub mib_ns: [Nanos; 2],
    /// Share of a command's time that varies exponentially; the rest is the same for all.
    pub spread: f64,
    /// Share of its time that a command takes which continues an earlier one: data that were read
    /// ahead, writes that are gathered.
    pub continued: [f64; 2],
    /// True if reads have as many servers of their own, and writes others.
    #[serde(default)]
    pub apart: bool,
    /// The cache of the CPU that copies the bytes; none if it makes no difference.
    #[serde(default)]
    pub cache: Option<CopyCacheParams>,
}

/// A CPU's cache through which a server copies.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CopyCacheParams {
    /// Bytes of commands in flight that it holds.
    pub bytes: u64,
    /// Times as long that a byte takes which it does not hold, in thousandths.
    pub outside_milli: u64,
}

/// A volume in the plan.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VolumeParams {
    /// Bytes that it holds.
    pub capacity_bytes: u64,
    /// Least time of a read, and the mean of what comes on top.
    pub read_ns: [Nanos; 2],
    /// Least time of a write, and the mean of what comes on top.
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
    /// What serves commands behind the limits; none if nothing but its latency takes time.
    #[serde(default)]
    pub server: Option<ServerParams>,
}

/// Places at which recent commands of a direction ended.
const STREAMS: usize = 32;

/// The servers of a volume in a run.
#[derive(Debug)]
struct Server {
    params: ServerParams,
    /// Of both directions, or of reads and of writes.
    stations: Vec<Stations>,
    /// Where recent commands ended, by direction; each place is replaced in turn.
    ends: [[u64; STREAMS]; 2],
    oldest: [usize; 2],
    in_flight: InFlight,
}

/// Bytes of the commands in the volume, by when they leave.
#[derive(Debug, Default)]
struct InFlight {
    leaving: BinaryHeap<Reverse<(Time, u64)>>,
    bytes: u64,
}

impl InFlight {
    /// The bytes of those that are still there, and of one that comes.
    fn with(&mut self, now: Time, bytes: u64) -> u64 {
        while let Some(&Reverse((end, gone))) = self.leaving.peek() {
            if end > now {
                break;
            }
            self.leaving.pop();
            self.bytes -= gone;
        }
        self.bytes + bytes
    }

    fn enter(&mut self, end: Time, bytes: u64) {
        self.leaving.push(Reverse((end, bytes)));
        self.bytes += bytes;
    }
}

impl CopyCacheParams {
    /// What a time of copying becomes while `held` bytes are in flight: the share of them that the
    /// cache does not hold takes longer.
    fn copied(&self, time: u128, held: u64) -> u128 {
        let outside = u128::from(held.saturating_sub(self.bytes));
        let more = u128::from(self.outside_milli.saturating_sub(1000));
        time + time * more * outside / (1000 * u128::from(held.max(1)))
    }
}

impl Server {
    fn new(params: &ServerParams) -> Server {
        Server {
            params: *params,
            stations: vec![
                Stations::new(params.servers as usize);
                if params.apart { 2 } else { 1 }
            ],
            ends: [[u64::MAX; STREAMS]; 2],
            oldest: [0; 2],
            in_flight: InFlight::default(),
        }
    }

    /// What serves a direction.
    fn of(&mut self, direction: usize) -> &mut Stations {
        let at = if self.params.apart { direction } else { 0 };
        &mut self.stations[at]
    }

    /// For how long the busiest of them worked up to `now`, and how many work in parallel.
    fn busy_until(&self, now: Time) -> (Nanos, usize) {
        let worked = self.stations.iter().map(|of| of.busy_until(now)).max();
        (worked.unwrap_or(Nanos::ZERO), self.params.servers as usize)
    }

    /// Mean time of a command that arrives now and begins at `offset`; remembers where it ends.
    fn time(&mut self, now: Time, direction: usize, offset: u64, bytes: u64) -> Nanos {
        let ends = &mut self.ends[direction];
        let known = ends.iter().position(|&end| end == offset);
        let at = known.unwrap_or_else(|| {
            self.oldest[direction] = (self.oldest[direction] + 1) % STREAMS;
            self.oldest[direction]
        });
        ends[at] = offset + bytes;
        let of = &self.params;
        let mut moved = u128::from(of.mib_ns[direction].0) * u128::from(bytes) / u128::from(MIB);
        if let Some(cache) = &of.cache {
            moved = cache.copied(moved, self.in_flight.with(now, bytes));
        }
        let time = of.command_ns[direction] + Nanos(moved as u64);
        if known.is_some() {
            Nanos((time.0 as f64 * of.continued[direction]) as u64)
        } else {
            time
        }
    }

    /// A command leaves the volume at `end`.
    fn leaves(&mut self, end: Time, bytes: u64) {
        if self.params.cache.is_some() {
            self.in_flight.enter(end, bytes);
        }
    }
}

/// A volume in a run.
#[derive(Debug)]
pub struct Volume {
    params: VolumeParams,
    limits: Limits,
    server: Option<Server>,
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
        let mut faults = Vec::new();
        if params.io_bytes == 0 {
            faults.push(Fault::new("io_bytes", 0, "1 or more"));
        }
        if params.server.is_some_and(|server| server.servers == 0) {
            faults.push(Fault::new("server.servers", 0, "1 or more"));
        }
        if params.slow_ppm > MILLION {
            let found = u64::from(params.slow_ppm);
            faults.push(Fault::new("slow_ppm", found, "at most 1000000"));
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Volume {
            limits: match params.spent {
                true => Limits::spent(&params.limits),
                false => Limits::new(&params.limits),
            },
            server: params.server.as_ref().map(Server::new),
            draws: Stream::new(seed, name, "service time"),
            slow: Stream::new(seed, name, "slow commands"),
            params: params.clone(),
        })
    }

    /// The mean time of a read, without its bytes.
    pub fn read_time(&self) -> Nanos {
        let served = self
            .params
            .server
            .map_or(Nanos::ZERO, |of| of.command_ns[0]);
        self.params.read_ns[0] + self.params.read_ns[1] + served
    }

    /// Takes a command that arrives now.
    #[inline]
    pub fn submit<P: Port>(&mut self, port: &mut P, io: IoId) {
        let record = port.io(io);
        let (op, offset, bytes) = (record.op, record.offset, record.bytes);
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
        let mut served = Served { start, end: start };
        if let (Some(server), Op::Read | Op::Write) = (&mut self.server, op) {
            let direction = usize::from(op.is_write());
            let time = server.time(port.now(), direction, offset, bytes);
            let time = self.draws.varied(time, server.params.spread);
            served = server.of(direction).serve(start, time);
        }
        served.end = served.end + least + self.draws.exponential(varies) + self.slow_part();
        if let Some(server) = &mut self.server {
            server.leaves(served.end, bytes);
        }
        port.io(io).charge_stay(Part::Queue, Part::Service, served);
        port.done(io, served.end, Nanos::ZERO);
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

    /// For how long the limit that is used most, or the servers, worked up to `now`, and how many
    /// of them there are.
    pub fn busy_until(&self, now: Time) -> (Nanos, usize) {
        let limited = self.limits.most_used_until(now);
        let Some(server) = &self.server else {
            return (limited, 1);
        };
        let (worked, count) = server.busy_until(now);
        match Nanos(limited.0 * count as u64) > worked {
            true => (limited, 1),
            false => (worked, count),
        }
    }
}
