//! Every kind of device behind one static dispatch.

use crate::hdd::{Hdd, HddModel, HddParams};
use crate::measured::{Measured, MeasuredParams};
use crate::ssd::{
    Direct, DriveState, EraseBlocks, HostFtl, PastScatter, ReadUnits, Ssd, SsdParams, Written,
};
use crate::station::{FixedStation, StationParams};
use crate::volume::{Volume, VolumeParams};
use crate::xpoint::{Xpoint, XpointParams};
use crate::{Fault, Port};
use raidlab_io::{ByteRange, IoId};
use raidlab_kernel::{Nanos, Spells, Time};
use schemars::JsonSchema;
use serde::Deserialize;

/// A device model in the plan: its kind and that kind's parameters.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DeviceParams {
    /// A service time and nothing else.
    Station(StationParams),
    /// A cloud volume.
    Volume(VolumeParams),
    /// Latencies as they were measured.
    Table(MeasuredParams),
    /// A drive of 3D XPoint.
    Xpoint(XpointParams),
    /// A hard disk.
    Hdd(#[schemars(with = "HddParams")] Box<HddModel>),
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
    /// A cloud volume.
    Volume(Box<Volume>),
    /// Latencies as they were measured.
    Table(Box<Measured>),
    /// A drive of 3D XPoint.
    Xpoint(Box<Xpoint>),
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
        /// What its completions show of it.
        seen: Completions,
    },
}

/// What the completions of a device show of its speed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Completions {
    last: Option<Time>,
    each: Nanos,
}

impl Completions {
    /// Divisor of the latest completion's share of the mean, as in TCP's estimate of the
    /// round-trip time (Jacobson, Congestion avoidance and control, 1988).
    const MEMORY: u64 = 8;

    /// A command that arrived at `arrived` completes at `now`. It took the device the time since
    /// its arrival or the last completion, whichever was later: of a device that serves one at a
    /// time that is the service time, of one that serves several their mean gap.
    fn add(&mut self, arrived: Time, now: Time) {
        let took = now.since(self.last.map_or(arrived, |last| last.max(arrived)));
        self.each = match self.last {
            None => took,
            Some(_) => Nanos((self.each.0 * (Self::MEMORY - 1) + took.0) / Self::MEMORY),
        };
        self.last = Some(now);
    }
}

/// What a solid-state drive answers, wherever its map is, and what every other device does.
macro_rules! of_ssd {
    ($device:expr, $ssd:ident => $answer:expr, else $others:expr) => {
        match $device {
            Device::Ssd($ssd) => $answer,
            Device::HostFtl($ssd) => $answer,
            Device::Hdd(_)
            | Device::Station(_)
            | Device::Volume(_)
            | Device::Table(_)
            | Device::Xpoint(_)
            | Device::External { .. } => $others,
        }
    };
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
            DeviceParams::Volume(params) => {
                Device::Volume(Box::new(Volume::new(params, seed, name)?))
            }
            DeviceParams::Table(params) => {
                Device::Table(Box::new(Measured::new(params, seed, name)?))
            }
            DeviceParams::Xpoint(params) => Device::Xpoint(Box::new(Xpoint::new(params)?)),
            DeviceParams::Hdd(params) => Device::Hdd(Hdd::new(params, seed, name)?),
            DeviceParams::Ssd(params) if params.has_host_ftl() => {
                Device::HostFtl(Box::new(Ssd::new(params, seed, name)?))
            }
            DeviceParams::Ssd(params) => Device::Ssd(Box::new(Ssd::new(params, seed, name)?)),
            DeviceParams::External { capacity_bytes } => Device::External {
                capacity_bytes: *capacity_bytes,
                seen: Completions::default(),
            },
        })
    }

    /// True if the device has a command that says which data are not needed any more. Hard disks
    /// have none, nor do shingled ones as modelled.
    pub fn takes_trim(&self) -> bool {
        !matches!(self, Device::Hdd(_))
    }

    /// Prefetches the tables that a command for these bytes will read. It changes no state.
    #[inline]
    pub fn prefetch_tables(&self, range: ByteRange) {
        match self {
            Device::Ssd(ssd) => ssd.prefetch_tables(range),
            Device::HostFtl(ssd) => ssd.prefetch_tables(range),
            Device::Station(_)
            | Device::Volume(_)
            | Device::Table(_)
            | Device::Xpoint(_)
            | Device::Hdd(_)
            | Device::External { .. } => {}
        }
    }

    /// Prefetches the state that an event of the device will change.
    #[inline]
    pub fn prefetch_state(&self) {
        if let Device::Hdd(hdd) = self {
            hdd.prefetch_state();
        }
    }

    /// Prefetches the lists among which an event may choose.
    #[inline]
    pub fn prefetch_lists(&self) {
        if let Device::Hdd(hdd) = self {
            hdd.prefetch_lists();
        }
    }

    /// A command arrives now, with its data if it is a write.
    #[inline]
    pub fn submit<P: Port>(&mut self, port: &mut P, io: IoId) {
        match self {
            Device::Station(station) => station.submit(port, io),
            Device::Volume(volume) => volume.submit(port, io),
            Device::Table(table) => table.submit(port, io),
            Device::Xpoint(drive) => drive.submit(port, io),
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
            Device::Station(_)
            | Device::Volume(_)
            | Device::Table(_)
            | Device::Xpoint(_)
            | Device::External { .. } => {
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
            Device::Volume(volume) => volume.capacity_bytes(),
            Device::Table(table) => table.capacity_bytes(),
            Device::Xpoint(drive) => drive.capacity_bytes(),
            Device::Hdd(hdd) => hdd.capacity_bytes(),
            Device::Ssd(ssd) => ssd.params.addressable_bytes(),
            Device::HostFtl(ssd) => ssd.params.addressable_bytes(),
            Device::External { capacity_bytes, .. } => *capacity_bytes,
        }
    }

    /// How long the device would take to get to `offset` if it were free now. A mirror chooses a
    /// copy by it. Zero for a device without moving parts.
    pub fn positioning(&self, now: Time, offset: u64) -> Nanos {
        match self {
            Device::Hdd(hdd) => hdd.positioning(now, offset),
            Device::Station(_)
            | Device::Volume(_)
            | Device::Table(_)
            | Device::Xpoint(_)
            | Device::Ssd(_)
            | Device::HostFtl(_)
            | Device::External { .. } => Nanos::ZERO,
        }
    }

    /// True if its medium turns, so that the arm's way to the data counts.
    pub fn rotates(&self) -> bool {
        matches!(self, Device::Hdd(_))
    }

    /// About how long a small read takes on a device that has nothing else to do. A mirror of
    /// unequal drives weighs its copies by it. A device outside is known by its own completions: before
    /// the first one it is zero, so that it is tried.
    pub fn read_time(&self) -> Nanos {
        match self {
            Device::Hdd(hdd) => hdd.read_time(),
            Device::Station(station) => station.read_time(),
            Device::Volume(volume) => volume.read_time(),
            Device::Table(table) => table.read_time(),
            Device::Xpoint(drive) => drive.read_time(),
            Device::Ssd(ssd) => ssd.params.read_time(),
            Device::HostFtl(ssd) => ssd.params.read_time(),
            Device::External { seen, .. } => seen.each,
        }
    }

    /// A command that arrived at `arrived` was served outside, now.
    pub fn served(&mut self, arrived: Time, now: Time) {
        if let Device::External { seen, .. } = self {
            seen.add(arrived, now);
        }
    }

    /// Work done up to `now` and the number of servers that share it, for the utilisation.
    pub fn busy_until(&self, now: Time) -> (Nanos, usize) {
        match self {
            Device::Station(station) => station.busy_until(now),
            Device::Volume(volume) => volume.busy_until(now),
            Device::Table(table) => table.busy_until(now),
            Device::Xpoint(drive) => drive.busy_until(now),
            Device::Hdd(hdd) => hdd.busy_until(now),
            Device::Ssd(ssd) => ssd.store.busy_until(now),
            Device::HostFtl(ssd) => ssd.store.busy_until(now),
            Device::External { .. } => (Nanos::ZERO, 1),
        }
    }

    /// Joules up to `now`; none of a device whose power is not known.
    pub fn joules(&self, now: Time) -> Option<f64> {
        match self {
            Device::Hdd(hdd) => hdd.joules(now),
            Device::Ssd(ssd) => ssd.joules(now),
            Device::HostFtl(ssd) => ssd.joules(now),
            Device::Xpoint(drive) => drive.joules(now),
            Device::Station(_) | Device::Volume(_) | Device::Table(_) | Device::External { .. } => {
                None
            }
        }
    }

    /// Busy time of other resources of the device up to `now`, by kind, and how many there are.
    pub fn parts_busy_until(&self, now: Time) -> Vec<(&'static str, Nanos, usize)> {
        match self {
            Device::Ssd(ssd) => ssd.parts_busy_until(now),
            Device::HostFtl(ssd) => ssd.parts_busy_until(now),
            Device::Xpoint(drive) => {
                let (busy, cores) = drive.cores_busy_until(now);
                vec![("firmware", busy, cores)]
            }
            Device::Hdd(hdd) => {
                let busy = hdd.firmware_busy_until(now);
                Vec::from_iter(busy.map(|busy| ("firmware", busy, 1)))
            }
            Device::Station(_) | Device::Volume(_) | Device::Table(_) | Device::External { .. } => {
                Vec::new()
            }
        }
    }

    /// The device's state for a file; only SSDs have one.
    pub fn state(&self, name: &str) -> Option<DriveState> {
        of_ssd!(self, ssd => Some(ssd.state(name)), else None)
    }

    /// The device's erase blocks as they are now; only SSDs have any.
    pub fn erase_blocks(&self) -> Option<EraseBlocks> {
        of_ssd!(self, ssd => Some(ssd.store.translation.space.erase_blocks()), else None)
    }

    /// Why the device cannot continue and what to change, if it reported `Port::fails`.
    pub fn failure(&self) -> Option<Fault> {
        of_ssd!(self, ssd => ssd.store.translation.failure(ssd.params.capacity_bytes), else None)
    }

    /// What must hold inside the device at the end of a run; a breach is a bug.
    ///
    /// # Errors
    /// Says which invariant does not hold.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Device::Hdd(hdd) => hdd.check(),
            Device::Ssd(ssd) => ssd.store.check(),
            Device::HostFtl(ssd) => ssd.store.check(),
            Device::Station(_)
            | Device::Volume(_)
            | Device::Table(_)
            | Device::Xpoint(_)
            | Device::External { .. } => Ok(()),
        }
    }

    /// What was written so far; only SSDs count it.
    pub fn written(&self) -> Option<Written> {
        of_ssd!(self, ssd => Some(ssd.written()), else None)
    }

    /// How far write amplification over `host_units` differs between drives with the same history;
    /// none of what has no such history.
    pub fn past_scatter(&self, host_units: u64) -> Option<PastScatter> {
        of_ssd!(self, ssd => ssd.store.translation.map.layout().past_scatter(host_units), else None)
    }

    /// What reads asked for so far; only SSDs count it.
    pub fn read_units(&self) -> Option<ReadUnits> {
        of_ssd!(self, ssd => Some(ssd.store.read_units), else None)
    }

    /// Seconds for which temperature has slowed it down, and the highest one in degrees Celsius.
    pub fn throttled(&self) -> Option<(f64, f64)> {
        of_ssd!(self, ssd => ssd.power.throttled(), else None)
    }

    /// When something held that changes in time, by its name in the result.
    pub fn spells(&self) -> impl Iterator<Item = (&'static str, &Spells)> {
        let found: Vec<(&'static str, &Spells)> = match self {
            Device::Volume(volume) => volume.spells().map(|it| ("burst-credits", it)).collect(),
            Device::Ssd(ssd) => ssd.spells().collect(),
            Device::HostFtl(ssd) => ssd.spells().collect(),
            Device::Hdd(hdd) => hdd.spells().collect(),
            Device::Station(_) | Device::Table(_) | Device::Xpoint(_) | Device::External { .. } => {
                Vec::new()
            }
        };
        found.into_iter()
    }

    /// Named figures for the report, beyond utilisation: hits, moves, wear.
    pub fn figures(&self) -> Vec<(&'static str, f64)> {
        match self {
            Device::Hdd(hdd) => hdd.figures(),
            Device::Ssd(ssd) => ssd.figures(),
            Device::HostFtl(ssd) => ssd.figures(),
            Device::Station(_)
            | Device::Volume(_)
            | Device::Table(_)
            | Device::Xpoint(_)
            | Device::External { .. } => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, in ns: alone 100; the next two arrive at 200 and are served one after the other,
    /// 100 each; then 180, of which an eighth of the 80 more counts.
    #[test]
    fn completions_show_the_time_of_a_command() {
        let mut seen = Completions::default();
        assert_eq!(seen.each, Nanos::ZERO);
        for (arrived, now) in [(0, 100), (200, 300), (200, 400)] {
            seen.add(Time(arrived), Time(now));
            assert_eq!(seen.each, Nanos(100));
        }
        seen.add(Time(1000), Time(1180));
        assert_eq!(seen.each, Nanos(110));
    }
}
