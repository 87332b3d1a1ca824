//! A drive of 3D XPoint: a medium that is written in place, about as fast as it is read.
//!
//! A command passes the controller's cores, then the medium's channels, which share each command's
//! bytes among them and so are one server of their common rate, then a fixed time. Nothing is
//! collected, nothing is erased, no buffer holds what was written: a write is complete when it is on
//! the medium. docs/explanation/xpoint.md has the equations.

use crate::{Fault, Port};
use raidlab_io::{IoId, Op, Part};
use raidlab_kernel::{Nanos, Stations, Time};
use schemars::JsonSchema;
use serde::Deserialize;

/// Power of such a drive in the plan.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct BytePowerParams {
    /// Without activity.
    pub idle_w: f64,
    /// Energy of a byte that is read, and of one that is written.
    pub byte_nj: [f64; 2],
}

/// A drive of 3D XPoint in the plan. Pairs are of reads and of writes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct XpointParams {
    /// Bytes that it holds.
    pub capacity_bytes: u64,
    /// Cores that work on commands in parallel.
    pub cores: u32,
    /// Core time of a command.
    pub command_ns: [Nanos; 2],
    /// Rate of all channels of the medium together.
    pub bytes_per_s: [u64; 2],
    /// What a command waits for besides.
    pub latency_ns: [Nanos; 2],
    /// What it draws.
    #[serde(default)]
    pub power: Option<BytePowerParams>,
}

/// A drive of 3D XPoint in a run.
#[derive(Debug)]
pub struct Xpoint {
    params: XpointParams,
    cores: Stations,
    medium: Stations,
    /// Bytes read and written.
    moved: [u64; 2],
}

impl Xpoint {
    /// An idle drive.
    ///
    /// # Errors
    /// Names every parameter that is out of its range.
    pub fn new(params: &XpointParams) -> Result<Xpoint, Vec<Fault>> {
        let mut faults = Vec::new();
        if params.cores == 0 {
            faults.push(Fault::new("cores", 0, "1 or more"));
        }
        if params.bytes_per_s.contains(&0) {
            faults.push(Fault::new("bytes_per_s", 0, "1 or more"));
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Xpoint {
            cores: Stations::new(params.cores as usize),
            medium: Stations::new(1),
            moved: [0; 2],
            params: params.clone(),
        })
    }

    /// Takes a command that arrives now.
    #[inline]
    pub fn submit<P: Port>(&mut self, port: &mut P, io: IoId) {
        let now = port.now();
        let record = port.io(io);
        let direction = match record.op {
            Op::Read => 0,
            Op::Write | Op::Trim | Op::Flush => 1,
        };
        let core = self.cores.serve(now, self.params.command_ns[direction]);
        record.charge_stay(Part::Queue, Part::Overhead, core);
        if matches!(record.op, Op::Trim | Op::Flush) {
            return port.done(io, core.end, Nanos::ZERO);
        }
        let time = self.transfer(record.bytes, direction);
        let medium = self.medium.serve(core.end, time);
        record.charge_stay(Part::Queue, Part::Service, medium);
        let end = medium.end + self.params.latency_ns[direction];
        record.charge(Part::Overhead, end);
        self.moved[direction] += record.bytes;
        port.done(io, end, time);
    }

    fn transfer(&self, bytes: u64, direction: usize) -> Nanos {
        let ns = u128::from(bytes) * 1_000_000_000 / u128::from(self.params.bytes_per_s[direction]);
        Nanos(ns as u64)
    }

    /// About how long a small read takes on an idle drive.
    pub fn read_time(&self) -> Nanos {
        self.params.command_ns[0] + self.transfer(4096, 0) + self.params.latency_ns[0]
    }

    /// Bytes that it holds.
    pub fn capacity_bytes(&self) -> u64 {
        self.params.capacity_bytes
    }

    /// Work of the medium up to `now`; it is one.
    pub fn busy_until(&self, now: Time) -> (Nanos, usize) {
        (self.medium.busy_until(now), 1)
    }

    /// Work of the cores up to `now`, and how many there are.
    pub fn cores_busy_until(&self, now: Time) -> (Nanos, usize) {
        (self.cores.busy_until(now), self.cores.count())
    }

    /// Joules up to `now`; none if its power is not known.
    pub fn joules(&self, now: Time) -> Option<f64> {
        let power = self.params.power?;
        let nj: f64 = (power.byte_nj.iter().zip(self.moved))
            .map(|(cost, bytes)| cost * bytes as f64)
            .sum();
        Some(power.idle_w * now.since(Time::ZERO).seconds() + nj * 1e-9)
    }
}
