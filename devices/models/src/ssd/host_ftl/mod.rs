//! A translation layer that runs on the host's CPU, as that of the Fusion-io cards.
//!
//! The host's driver has the map in memory, writes one log, and works on every command and on every
//! unit that garbage collection moves. What such a card has beside a drive with a controller of its
//! own:
//!
//! | file | mechanism |
//! |---|---|
//! | `directions` | reads and writes in batches, with a turnaround between them |
//! | `booked_core` | one core that also works when a read's data have come |
//! | `map_times` | look-up and insert times by the share of units that collection has moved |
//! | `moves` | moves in batches on the core |
//! | `gc_throttle` | writes that wait for a collector of few blocks at a time |
//! | this file | the descent from the root of the map; the map of sectors |

mod booked_core;
mod directions;
mod gc_throttle;
mod map_times;
mod moves;

use crate::ssd::firmware::cores::Cores;
use crate::ssd::firmware::params::FirmwareParams;
use crate::ssd::front::{Condition, Front, Release};
use crate::ssd::ids::SetInBlock;
use crate::ssd::nand::Nand;
use crate::ssd::params::SsdParams;
use booked_core::BookedCore;
use directions::Directions;
use gc_throttle::GcThrottle;
use moves::MoveBatches;
use raidlab_io::{IoId, Op};
use raidlab_kernel::{Nanos, Served, Stream, Time};

/// The front of a card with its map in the host. Each part is there if the card has it.
#[derive(Debug)]
pub struct HostFtl {
    directions: Option<Directions>,
    core: Option<BookedCore>,
    descent: Nanos,
    moves: MoveBatches,
    throttle: Option<GcThrottle>,
    /// The throttle while the buffer is filled with what was written before the run.
    suspended_throttle: Option<GcThrottle>,
    /// Bytes of a unit, if the map resolves sectors.
    sectors_of: Option<u64>,
}

impl HostFtl {
    #[inline]
    fn work(&mut self, cores: &mut Cores, now: Time, time: Nanos) -> Served {
        match &mut self.core {
            Some(core) => core.serve(now, time),
            None => cores.serve(now, time),
        }
    }
}

impl Front for HostFtl {
    fn new(
        params: &SsdParams,
        moved: f64,
        nand: &Nand,
        draws: &mut Stream,
    ) -> (HostFtl, FirmwareParams) {
        let times = map_times::at_share(&params.firmware, moved);
        let blocks = params.collection.blocks_at_once;
        let throttle = (blocks > 0).then(|| {
            let lag = nand.moving_time(SetInBlock::new(0), 1) * u64::from(times.move_batch);
            GcThrottle::new(blocks, lag)
        });
        let front = HostFtl {
            directions: times.turnaround_ns.map(Directions::new),
            core: BookedCore::of(&times),
            descent: times.descent_ns,
            moves: MoveBatches::new(times.move_unit_ns, times.move_batch, draws),
            throttle,
            suspended_throttle: None,
            sectors_of: params
                .sector_mapping
                .then_some(u64::from(params.unit_bytes)),
        };
        (front, times)
    }

    #[inline]
    fn admit(&mut self, io: IoId, op: Op, now: Time) -> bool {
        match &mut self.directions {
            Some(directions) => directions.admit(io, op, now),
            None => true,
        }
    }

    #[inline]
    fn release(&mut self, drive: Condition) -> Release {
        match &mut self.directions {
            Some(directions) => directions.release(drive),
            None => Release::Nothing,
        }
    }

    #[inline]
    fn next(&mut self) -> Option<IoId> {
        self.directions.as_mut()?.next()
    }

    /// Where the map resolves sectors, a range costs its own bytes, wherever it begins.
    #[inline]
    fn units(&self, touched: u64, bytes: u64) -> u64 {
        match self.sectors_of {
            Some(unit) => touched.min(bytes.div_ceil(unit)).max(1),
            None => touched,
        }
    }

    #[inline]
    fn maps_sectors(&self) -> bool {
        self.sectors_of.is_some()
    }

    #[inline]
    fn descent(&self) -> Nanos {
        self.descent
    }

    #[inline]
    fn serve(&mut self, cores: &mut Cores, now: Time, time: Nanos) -> Served {
        self.work(cores, now, time)
    }

    #[inline]
    fn finish_read(&mut self, units: u32, at: Time) -> Option<Served> {
        Some(self.core.as_mut()?.finish_read(units, at))
    }

    #[inline]
    fn collects(&mut self, cores: &mut Cores, nand: &Nand, moved: (SetInBlock, u32), now: Time) {
        let (set, units) = moved;
        if let Some(time) = self.moves.gather(units) {
            self.work(cores, now, time);
        }
        if let Some(throttle) = &mut self.throttle {
            throttle.move_set(nand.moving_time(set, units), now);
        }
    }

    #[inline]
    fn throttled(&self, taken: Time) -> Option<Time> {
        Some(self.throttle.as_ref()?.completes(taken))
    }

    /// NAND has these writes still to program; the core and the collector were done with them
    /// before.
    fn prefill_begins(&mut self) {
        self.suspended_throttle = self.throttle.take();
    }

    fn prefill_ends(&mut self) {
        self.throttle = self.suspended_throttle.take();
        if let Some(core) = &mut self.core {
            core.set_free();
        }
    }

    fn cores_busy_until(&self, cores: &Cores, now: Time) -> (Nanos, usize) {
        match &self.core {
            Some(core) => (core.busy_until(now), 1),
            None => cores.busy_until(now),
        }
    }

    fn collection_busy_until(&self, now: Time) -> Option<Nanos> {
        Some(self.throttle.as_ref()?.busy_until(now))
    }
}

#[cfg(test)]
mod tests;
