//! A hard disk, by mechanism: geometry, seek curve, rotation, buffer, write cache, scheduling,
//! interface. See docs/explanation/hard-disk.md for the equations and their sources.

mod buffer;
mod counts;
mod geometry;
mod ids;
mod link_front;
mod mechanics;
mod media_op;
mod model;
mod params;
mod positioning;
mod rotation;
mod scheduler;
mod scsi_bus;
mod search;
mod sector_range;
mod seek;
mod seek_bounds;
mod shingled;
mod slips;
mod tables;
mod write_bins;
mod write_cache;

pub use model::HddModel;
pub use params::{
    AfterParams, BufferParams, CurveParams, ExtraDisconnectParams, GeometryParams, HddParams,
    HeadOrder, InterfaceParams, LinkFrontParams, ReadAhead, SchedulerParams, ScsiBusParams,
    SeekParams, ShingledParams, Sparing, WriteCacheParams, WriteOrder, ZoneParams,
};

use crate::{Fault, Port};
use link_front::LinkFront;
use mechanics::Arm;
use model::Model;
use params::SECTOR_BYTES;
use raidlab_io::IoId;
use raidlab_kernel::{Nanos, Spells, Stream, Time};
use rotation::Rotation;
use scsi_bus::ScsiFront;
use shingled::ShingledFront;
use std::sync::Arc;

/// A hard disk in a run.
#[derive(Debug)]
pub struct Hdd {
    model: Arc<Model>,
    front: Front,
}

/// The firmware between the commands and the arm.
#[derive(Debug)]
enum Front {
    Link(Box<LinkFront>),
    Shingled(Box<ShingledFront>),
    ScsiBus(Box<ScsiFront>),
}

impl Hdd {
    /// A drive in its initial state: arm over cylinder 0, buffer empty, platter at a random
    /// angle unless the entry fixes it.
    ///
    /// # Errors
    /// Names every parameter that is out of its range.
    pub fn new(entry: &HddModel, seed: u64, name: &str) -> Result<Hdd, Vec<Fault>> {
        let model = entry.model()?;
        let phase = match model.initial_angle {
            Some(part) => (part * 18_446_744_073_709_551_616.0) as u64,
            None => Stream::new(seed, name, "spindle").bits(),
        };
        let part = Stream::new(seed, name, "spindle speed").bits() as f64 / (1u64 << 63) as f64;
        let deviation = model.speed_tolerance * (part - 1.0);
        let arm = Arm {
            phase,
            rotation: Rotation::new(model.rpm, deviation),
            ..Arm::default()
        };
        let lateness = Stream::new(seed, name, "settling");
        let front = match (&model.interface, &model.shingled) {
            (InterfaceParams::Link(link), Some(shingled)) => Front::Shingled(Box::new(
                ShingledFront::new(&model, link, shingled, arm, lateness),
            )),
            (InterfaceParams::Link(link), None) => {
                Front::Link(Box::new(LinkFront::new(&model, link, arm, lateness)))
            }
            (InterfaceParams::ScsiBus(bus), _) => {
                Front::ScsiBus(Box::new(ScsiFront::new(&model, bus, arm)))
            }
        };
        Ok(Hdd { model, front })
    }

    /// A command arrives now, with its data if it is a write.
    #[inline]
    pub fn submit<P: Port>(&mut self, port: &mut P, io: IoId) {
        match &mut self.front {
            Front::Link(front) => front.submit(&self.model, port, io),
            Front::Shingled(front) => front.submit(&self.model, port, io),
            Front::ScsiBus(front) => {
                if let InterfaceParams::ScsiBus(bus) = &self.model.interface {
                    front.submit(&self.model, bus, port, io);
                }
            }
        }
    }

    /// An event that the drive asked for is due now.
    #[inline]
    pub fn event<P: Port>(&mut self, port: &mut P, token: u32) {
        match &mut self.front {
            Front::Link(front) => front.event(&self.model, port, token),
            Front::Shingled(front) => front.event(&self.model, port, token),
            Front::ScsiBus(front) => {
                if let InterfaceParams::ScsiBus(bus) = &self.model.interface {
                    front.event(&self.model, bus, port);
                }
            }
        }
    }

    /// Prefetches the state that an event will change.
    #[inline]
    pub fn prefetch_state(&self) {
        if let Front::Link(front) = &self.front {
            front.prefetch();
        }
    }

    /// Prefetches the lists among which an event may choose. The fields of the state should be near.
    #[inline]
    pub fn prefetch_lists(&self) {
        if let Front::Link(front) = &self.front {
            front.prefetch_lists();
        }
    }

    /// The power fails: the write cache loses its content.
    pub fn power_cut<P: Port>(&mut self, port: &mut P) {
        match &mut self.front {
            Front::Link(front) => front.power_cut(&self.model, port),
            Front::Shingled(front) => front.power_cut(&self.model, port),
            Front::ScsiBus(_) => {}
        }
    }

    /// Bytes that the drive offers.
    pub fn capacity_bytes(&self) -> u64 {
        self.model.sectors * SECTOR_BYTES
    }

    /// How long the arm would take to get to `offset` after its present work.
    pub fn positioning(&self, now: Time, offset: u64) -> Nanos {
        let lbn = (offset / SECTOR_BYTES).min(self.model.sectors - 1);
        match &self.front {
            Front::Link(front) => front.positioning(&self.model, now, lbn),
            Front::Shingled(front) => front.positioning(&self.model, now, lbn),
            Front::ScsiBus(front) => front.positioning(&self.model, now, lbn),
        }
    }

    /// About how long a small read takes besides the positioning of the arm: half a revolution (30 s / rpm).
    pub fn read_time(&self) -> Nanos {
        Nanos((3e10 / self.model.rpm) as u64)
    }

    /// Time that the arm worked for commands up to `now`; there is one. On a SCSI bus it is the time
    /// that a command was in service, too: the drive serves one at a time.
    pub fn busy_until(&self, now: Time) -> (Nanos, usize) {
        match &self.front {
            Front::Link(front) => (front.busy_until(now), 1),
            Front::Shingled(front) => (front.busy_until(now), 1),
            Front::ScsiBus(front) => (front.busy_until(now), 1),
        }
    }

    /// Time that the firmware processed commands up to `now`, where it does so beside the arm.
    pub fn firmware_busy_until(&self, now: Time) -> Option<Nanos> {
        match &self.front {
            Front::Link(front) => Some(front.firmware.busy_until(now)),
            Front::Shingled(front) => Some(front.firmware.busy_until(now)),
            Front::ScsiBus(_) => None,
        }
    }

    /// Joules up to `now`; none if its power is not known.
    pub fn joules(&self, now: Time) -> Option<f64> {
        let moves = match &self.front {
            Front::Link(front) => front.arm_until(now),
            Front::Shingled(front) => front.busy_until(now),
            Front::ScsiBus(front) => front.arm_until(now),
        };
        self.model.power.map(|power| power.joules(moves, now))
    }

    /// What must hold inside the drive at the end of a run.
    ///
    /// # Errors
    /// Says which invariant does not hold.
    pub fn check(&self) -> Result<(), String> {
        match &self.front {
            Front::Link(front) => front.check(),
            Front::Shingled(front) => front.check(),
            Front::ScsiBus(_) => Ok(()),
        }
    }

    /// When something held that changes in time, by its name in the result.
    pub fn spells(&self) -> impl Iterator<Item = (&'static str, &Spells)> {
        let full = match &self.front {
            Front::Shingled(front) => Some(("media-cache-full", front.full())),
            _ => None,
        };
        full.into_iter()
    }

    /// Named figures for the report.
    pub fn figures(&self) -> Vec<(&'static str, f64)> {
        let counts = match &self.front {
            Front::Link(front) => front.counts,
            Front::Shingled(front) => front.counts,
            Front::ScsiBus(front) => front.counts,
        };
        let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
        let mut figures = vec![
            ("read_hit_ratio", share(counts.read_hits, counts.reads)),
            (
                "write_hit_ratio",
                share(counts.cached_writes, counts.writes),
            ),
            ("destaged_runs", counts.destaged as f64),
            ("mean_seek_us", share(counts.seek.0, counts.accesses) / 1e3),
            (
                "mean_rotation_us",
                share(counts.rotation.0, counts.accesses) / 1e3,
            ),
        ];
        if let Front::Shingled(front) = &self.front {
            figures.extend(front.figures());
        }
        figures
    }
}
