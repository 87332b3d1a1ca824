//! Every kind of device behind one static dispatch.

use crate::hdd::{Hdd, HddModel};
use crate::ssd::{Direct, DriveState, HostFtl, Ssd, SsdParams, Written};
use crate::station::{FixedStation, StationParams};
use crate::{Fault, Port};
use raidlab_kernel::{IoId, Nanos, Time};
use serde::Deserialize;

/// A device model in the plan: its kind and that kind's parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DeviceParams {
    /// A service time and nothing else.
    Station(StationParams),
    /// A hard disk.
    Hdd(Box<HddModel>),
    /// A solid-state drive.
    Ssd(Box<SsdParams>),
    /// Served by the caller's own code (a SimPy process), not by the engine.
    External {
        /// Bytes that it holds.
        capacity_bytes: u64,
    },
}

/// A drive in a run.
#[derive(Debug)]
pub enum Device {
    /// A service time and nothing else.
    Station(FixedStation),
    /// A hard disk.
    Hdd(Hdd),
    /// A solid-state drive.
    Ssd(Box<Ssd<Direct>>),
    /// A solid-state drive whose map is in host memory.
    HostFtl(Box<Ssd<HostFtl>>),
    /// Served outside: the engine hands its commands out and takes completions in.
    External {
        /// Bytes that it holds.
        capacity_bytes: u64,
    },
}

impl Device {
    /// A device in its initial state; `name` seeds its random streams.
    ///
    /// # Errors
    /// Names every parameter that is out of its range.
    pub fn new(params: &DeviceParams, seed: u64, name: &str) -> Result<Device, Vec<Fault>> {
        Ok(match params {
            DeviceParams::Station(params) => {
                Device::Station(FixedStation::new(params, seed, name)?)
            }
            DeviceParams::Hdd(params) => Device::Hdd(Hdd::new(params, seed, name)?),
            DeviceParams::Ssd(params) if params.has_host_ftl() => {
                Device::HostFtl(Box::new(Ssd::new(params, seed, name)?))
            }
            DeviceParams::Ssd(params) => Device::Ssd(Box::new(Ssd::new(params, seed, name)?)),
            DeviceParams::External { capacity_bytes } => Device::External {
                capacity_bytes: *capacity_bytes,
            },
        })
    }

    /// Prefetches the tables that a command for these bytes will read. It changes no state.
    #[inline]
    pub fn prefetch_tables(&self, offset: u64, bytes: u64) {
        match self {
            Device::Ssd(ssd) => ssd.prefetch_tables(offset, bytes),
            Device::HostFtl(ssd) => ssd.prefetch_tables(offset, bytes),
            Device::Station(_) | Device::Hdd(_) | Device::External { .. } => {}
        }
    }

    /// Prefetches the state that an event of the device will change.
    #[inline]
    pub fn prefetch_state(&self) {
        if let Device::Hdd(hdd) = self {
            hdd.prefetch_state();
        }
    }

    /// A command arrives now, with its data if it is a write.
    #[inline]
    pub fn submit<P: Port>(&mut self, port: &mut P, io: IoId) {
        match self {
            Device::Station(station) => station.submit(port, io),
            Device::Hdd(hdd) => hdd.submit(port, io),
            Device::Ssd(ssd) => ssd.submit(port, io),
            Device::HostFtl(ssd) => ssd.submit(port, io),
            Device::External { .. } => unreachable!("the engine serves external devices itself"),
        }
    }

    /// An event that the device asked for with `Port::wake` is due now.
    #[inline]
    pub fn event<P: Port>(&mut self, port: &mut P, token: u32) {
        match self {
            Device::Hdd(hdd) => hdd.event(port, token),
            Device::Ssd(ssd) => ssd.event(port, token),
            Device::HostFtl(ssd) => ssd.event(port, token),
            Device::Station(_) | Device::External { .. } => {
                unreachable!("this device asks for no events, yet got {token}")
            }
        }
    }

    /// The power fails: volatile memory loses its content. Commands in flight still complete,
    /// because the engine waits for their end.
    pub fn power_cut<P: Port>(&mut self, port: &mut P) {
        if let Device::Hdd(hdd) = self {
            hdd.power_cut(port);
        }
    }

    /// Bytes that the device holds.
    pub fn capacity_bytes(&self) -> u64 {
        match self {
            Device::Station(station) => station.capacity_bytes(),
            Device::Hdd(hdd) => hdd.capacity_bytes(),
            Device::Ssd(ssd) => ssd.capacity_bytes(),
            Device::HostFtl(ssd) => ssd.capacity_bytes(),
            Device::External { capacity_bytes } => *capacity_bytes,
        }
    }

    /// How long the device would take to get to `offset` if it were free now. A mirror chooses a
    /// copy by it. Zero for a device without moving parts.
    pub fn positioning(&self, now: Time, offset: u64) -> Nanos {
        match self {
            Device::Hdd(hdd) => hdd.positioning(now, offset),
            Device::Station(_) | Device::Ssd(_) | Device::HostFtl(_) | Device::External { .. } => {
                Nanos::ZERO
            }
        }
    }

    /// About how long a small read takes on a device that has nothing else to do. A mirror of
    /// unequal drives weighs its copies by it. Zero for a device outside, of which nothing is known.
    pub fn read_time(&self) -> Nanos {
        match self {
            Device::Hdd(hdd) => hdd.read_time(),
            Device::Station(station) => station.read_time(),
            Device::Ssd(ssd) => ssd.read_time(),
            Device::HostFtl(ssd) => ssd.read_time(),
            Device::External { .. } => Nanos::ZERO,
        }
    }

    /// Work done up to `now` and the number of servers that share it, for the utilisation.
    pub fn busy_until(&self, now: Time) -> (Nanos, usize) {
        match self {
            Device::Station(station) => station.busy_until(now),
            Device::Hdd(hdd) => hdd.busy_until(now),
            Device::Ssd(ssd) => ssd.busy_until(now),
            Device::HostFtl(ssd) => ssd.busy_until(now),
            Device::External { .. } => (Nanos::ZERO, 1),
        }
    }

    /// The same of other resources of the device, by kind.
    pub fn parts_busy_until(&self, now: Time) -> Vec<(&'static str, Nanos, usize)> {
        match self {
            Device::Ssd(ssd) => ssd.parts_busy_until(now),
            Device::HostFtl(ssd) => ssd.parts_busy_until(now),
            Device::Hdd(_) | Device::Station(_) | Device::External { .. } => Vec::new(),
        }
    }

    /// The device's state for a file; only SSDs have one.
    pub fn state(&self, name: &str) -> Option<DriveState> {
        match self {
            Device::Ssd(ssd) => Some(ssd.state(name)),
            Device::HostFtl(ssd) => Some(ssd.state(name)),
            Device::Hdd(_) | Device::Station(_) | Device::External { .. } => None,
        }
    }

    /// Why the device cannot continue and what to change, if it reported `Port::fails`.
    pub fn failure(&self) -> Option<Fault> {
        match self {
            Device::Ssd(ssd) => ssd.failure(),
            Device::HostFtl(ssd) => ssd.failure(),
            Device::Hdd(_) | Device::Station(_) | Device::External { .. } => None,
        }
    }

    /// What must hold inside the device at the end of a run; a breach is a bug.
    ///
    /// # Errors
    /// Says which invariant does not hold.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Device::Hdd(hdd) => hdd.check(),
            Device::Ssd(ssd) => ssd.check(),
            Device::HostFtl(ssd) => ssd.check(),
            Device::Station(_) | Device::External { .. } => Ok(()),
        }
    }

    /// What was written so far; only SSDs count it.
    pub fn written(&self) -> Option<Written> {
        match self {
            Device::Ssd(ssd) => Some(ssd.written()),
            Device::HostFtl(ssd) => Some(ssd.written()),
            Device::Hdd(_) | Device::Station(_) | Device::External { .. } => None,
        }
    }

    /// Named figures for the report, beyond utilisation: hits, moves, wear.
    pub fn figures(&self) -> Vec<(&'static str, f64)> {
        match self {
            Device::Hdd(hdd) => hdd.figures(),
            Device::Ssd(ssd) => ssd.figures(),
            Device::HostFtl(ssd) => ssd.figures(),
            Device::Station(_) | Device::External { .. } => Vec::new(),
        }
    }
}
