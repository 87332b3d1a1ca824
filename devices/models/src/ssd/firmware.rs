//! Command processing: the drive's cores, and what every command waits for besides.
//!
//! A command holds a core for its processing and for looking up each of its mapping units; that
//! bounds the rate. What it waits for without holding a core (doorbells, descriptor fetches,
//! interrupts, error correction of a page) is latency and bounds nothing. A drive whose map the
//! host keeps (ioDrive) has one core here for each driver thread: the host's.

use raidlab_kernel::{Nanos, Op, Served, Stations, Time};
use serde::{Deserialize, Serialize};

/// Firmware in the plan.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct FirmwareParams {
    /// Cores that work on commands in parallel.
    pub cores: u32,
    /// Core time of a read command.
    pub read_ns: Nanos,
    /// Core time of a write command.
    pub write_ns: Nanos,
    /// Core time of each mapping unit of a command beyond the first.
    pub unit_ns: Nanos,
    /// Latency of a read that holds no core.
    pub read_latency_ns: Nanos,
    /// Latency of a write that holds no core.
    pub write_latency_ns: Nanos,
    /// Core time of a trim or flush command.
    pub other_ns: Nanos,
}

/// The cores in a run.
#[derive(Debug)]
pub(super) struct Firmware {
    params: FirmwareParams,
    cores: Stations,
}

impl Firmware {
    pub(super) fn new(params: &FirmwareParams) -> Firmware {
        Firmware {
            params: *params,
            cores: Stations::new(params.cores as usize),
        }
    }

    /// A command of `units` arrives: when a core takes it up and is done with it.
    #[inline]
    pub(super) fn process(&mut self, op: Op, units: u32, now: Time) -> Served {
        let command = match op {
            Op::Read => self.params.read_ns,
            Op::Write => self.params.write_ns,
            Op::Trim | Op::Flush => self.params.other_ns,
        };
        let lookups = match op {
            Op::Read | Op::Write => self.params.unit_ns * u64::from(units.saturating_sub(1)),
            Op::Trim | Op::Flush => Nanos::ZERO,
        };
        self.cores.serve(now, command + lookups)
    }

    /// What a command waits for besides.
    #[inline]
    pub(super) fn latency(&self, op: Op) -> Nanos {
        match op {
            Op::Read => self.params.read_latency_ns,
            Op::Write => self.params.write_latency_ns,
            Op::Trim | Op::Flush => Nanos::ZERO,
        }
    }
}
