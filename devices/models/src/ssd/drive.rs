//! The parts of a drive, and what several kinds of command ask of them.

use crate::port::Port;
use crate::ssd::addressing::Addressing;
use crate::ssd::ahead::ReadAhead;
use crate::ssd::buffer::flushes::Flushes;
use crate::ssd::buffer::prefilled::Prefilled;
use crate::ssd::firmware::Firmware;
use crate::ssd::firmware::streams::Streams;
use crate::ssd::front::Front;
use crate::ssd::ids::UnitId;
use crate::ssd::map::demand::DemandMap;
use crate::ssd::params::SsdParams;
use crate::ssd::power_states::PowerStates;
use crate::ssd::store::Store;
use crate::ssd::translation::background::Background;
use raidlab_io::{ByteRange, IoId};
use raidlab_kernel::{Nanos, Time};

/// A solid-state drive in a run, behind the front `F`.
#[derive(Debug)]
pub struct Ssd<F> {
    pub(crate) params: SsdParams,
    pub(crate) addressing: Addressing,
    pub(crate) front: F,
    pub(crate) firmware: Firmware,
    pub(crate) store: Store,
    pub(crate) flushes: Flushes,
    pub(crate) ahead: ReadAhead,
    pub(crate) power: PowerStates,
    pub(crate) background: Option<Background>,
    /// What loads have left in the buffer; none once the first write of the run has come.
    pub(crate) prefilled: Option<Box<Prefilled>>,
    /// The map, if only a part of it is in memory.
    pub(crate) demand_map: Option<Box<DemandMap>>,
    pub(crate) write_streams: Streams,
    /// When the last command so far is done.
    pub(crate) last_done: Time,
    pub(crate) host_bytes: u64,
    pub(crate) read_bytes: u64,
}

impl<F: Front> Ssd<F> {
    /// The units of a byte range: (first, count).
    #[inline]
    pub(crate) fn units(&self, range: ByteRange) -> (UnitId, u32) {
        let ByteRange { offset, bytes } = range;
        let (first, _) = self.addressing.unit_of(offset);
        let (last, _) = self.addressing.unit_of(offset + bytes.max(1) - 1);
        // A command over the end of a slice is cut there.
        let count = self.front.units(last.max(first) - first + 1, bytes);
        (UnitId::new(first as u32), count as u32)
    }

    /// True if a command that comes now finds no other.
    #[inline]
    pub(crate) fn is_alone(&self, now: Time) -> bool {
        self.last_done <= now && !self.store.buffer.makes_wait()
    }

    /// A command that comes now needs channels and map from `ready` on: when it goes on.
    #[inline]
    pub(crate) fn back_end_needed(&mut self, now: Time, ready: Time) -> Time {
        let alone = self.is_alone(now);
        let (nand, last_done) = (&self.store.nand, self.last_done);
        let idle_since = || {
            let idle = alone.then(|| nand.idle_since(now)).flatten();
            idle.map(|nand| nand.max(last_done))
        };
        self.power.back_end_needed(idle_since, now, ready)
    }

    /// A command is done at `at`; a read's data have flowed to the link from `at - lead` on.
    #[inline]
    pub(crate) fn finish<P: Port>(&mut self, port: &mut P, io: IoId, at: Time, lead: Nanos) {
        self.last_done = self.last_done.max(at);
        port.done(io, at, lead);
    }
}
