//! The device that is only a service time: for tests, teaching and closed forms.
//!
//! With `servers` equal servers, first come first served, and a fixed or exponential service
//! time it is the `/M/c` or `/D/c` of queueing theory; with a service time of zero it is the
//! null device, which takes no time at all.

use crate::{Fault, Port};
use raidlab_io::{ByteRange, IoId, Op, Part};
use raidlab_kernel::{Nanos, Stations, Stream, Time};
use schemars::JsonSchema;
use serde::Deserialize;

/// How service times are drawn.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum ServiceTime {
    /// Always the mean.
    Fixed,
    /// Exponential with the mean.
    Exponential,
}

/// A station in the plan.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StationParams {
    /// Bytes that it holds.
    pub capacity_bytes: u64,
    /// Mean service time of a command.
    pub service_ns: Nanos,
    /// Distribution of the service time.
    pub distribution: ServiceTime,
    /// Servers working in parallel, at least one.
    pub servers: u32,
    /// How long after its end a write is still in volatile memory only; 0 for never.
    #[serde(default)]
    pub settle_ns: Nanos,
}

/// A first-come station with a service time and nothing else.
#[derive(Debug)]
pub struct FixedStation {
    params: StationParams,
    servers: Stations,
    draws: Stream,
    /// When all writes acknowledged so far are on the medium.
    settled: Time,
}

impl FixedStation {
    /// The mean service time.
    pub fn read_time(&self) -> Nanos {
        self.params.service_ns
    }

    /// An idle station.
    ///
    /// # Errors
    /// Names every parameter that is out of its range.
    pub fn new(params: &StationParams, seed: u64, name: &str) -> Result<Self, Vec<Fault>> {
        if params.servers == 0 {
            return Err(vec![Fault::new("servers", 0, "1 or more")]);
        }
        Ok(FixedStation {
            servers: Stations::new(params.servers as usize),
            draws: Stream::new(seed, name, "service time"),
            settled: Time::ZERO,
            params: params.clone(),
        })
    }

    /// Takes a command that arrives now.
    #[inline]
    pub fn submit<P: Port>(&mut self, port: &mut P, io: IoId) {
        let service = match self.params.distribution {
            ServiceTime::Fixed => self.params.service_ns,
            ServiceTime::Exponential => self.draws.exponential(self.params.service_ns),
        };
        let served = self.servers.serve(port.now(), service);
        let record = port.io(io);
        record.charge_stay(Part::Queue, Part::Service, served);
        let (op, offset, bytes) = (record.op, record.offset, record.bytes);
        let mut end = served.end;
        if self.params.settle_ns > Nanos::ZERO {
            match op {
                Op::Write => {
                    let at = served.end + self.params.settle_ns;
                    self.settled = self.settled.max(at);
                    port.holds(io);
                    port.settles(ByteRange { offset, bytes }, at);
                }
                Op::Flush => {
                    end = end.max(self.settled);
                    port.io(io).charge(Part::CacheWait, end);
                }
                Op::Read | Op::Trim => {}
            }
        }
        port.done(io, end, Nanos::ZERO);
    }

    /// Bytes that it holds.
    pub fn capacity_bytes(&self) -> u64 {
        self.params.capacity_bytes
    }

    /// Work done up to `now`, and the number of servers that share it.
    pub fn busy_until(&self, now: Time) -> (Nanos, usize) {
        (self.servers.busy_until(now), self.servers.count())
    }
}
