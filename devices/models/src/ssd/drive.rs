//! The parts of a drive, and what several kinds of command ask of them.

use crate::Port;
use crate::ssd::buffer::Buffer;
use crate::ssd::buffer::prefetch::Prefetch;
use crate::ssd::buffer::prefilled::Prefilled;
use crate::ssd::buffer::programs::Programs;
use crate::ssd::firmware::Firmware;
use crate::ssd::firmware::streams::Streams;
use crate::ssd::front::Front;
use crate::ssd::map::demand::DemandMap;
use crate::ssd::map::slot::NONE;
use crate::ssd::nand::Nand;
use crate::ssd::nand::temperature::Temperature;
use crate::ssd::params::SsdParams;
use crate::ssd::translation::Translation;
use crate::ssd::translation::background::Background;
use raidlab_kernel::{IoId, Nanos, Time};

/// A solid-state drive in a run, behind the front `F`.
#[derive(Debug)]
pub struct Ssd<F> {
    pub(in crate::ssd) params: SsdParams,
    /// Binary logarithm of a mapping unit's bytes, if that is whole.
    pub(in crate::ssd) unit_shift: Option<u32>,
    pub(in crate::ssd) front: F,
    pub(in crate::ssd) firmware: Firmware,
    pub(in crate::ssd) translation: Translation,
    pub(in crate::ssd) nand: Nand,
    pub(in crate::ssd) buffer: Buffer,
    pub(in crate::ssd) programs: Programs,
    pub(in crate::ssd) prefetch: Option<Prefetch>,
    pub(in crate::ssd) temperature: Option<Temperature>,
    pub(in crate::ssd) background: Option<Background>,
    /// What loads have left in the buffer; none once the first write of the run has come.
    pub(in crate::ssd) prefilled: Option<Box<Prefilled>>,
    /// The map, if only a part of it is in memory.
    pub(in crate::ssd) demand_map: Option<Box<DemandMap>>,
    /// Byte after the last read.
    pub(in crate::ssd) next_byte: u64,
    pub(in crate::ssd) read_streams: Streams,
    pub(in crate::ssd) write_streams: Streams,
    /// When the last command so far is done.
    pub(in crate::ssd) last_done: Time,
    pub(in crate::ssd) host_bytes: u64,
    pub(in crate::ssd) read_bytes: u64,
}

impl<F: Front> Ssd<F> {
    /// The units of a byte range: (first, count).
    #[inline]
    pub(in crate::ssd) fn units(&self, offset: u64, bytes: u64) -> (u32, u32) {
        let (first, _) = self.unit_of(offset);
        let (last, _) = self.unit_of(offset + bytes.max(1) - 1);
        let count = self.front.units(last - first + 1, bytes);
        (first as u32, count as u32)
    }

    /// The unit of a byte, and the byte's place in it.
    #[inline]
    pub(in crate::ssd) fn unit_of(&self, byte: u64) -> (u64, u64) {
        match self.unit_shift {
            Some(shift) => (byte >> shift, byte & ((1 << shift) - 1)),
            None => {
                let unit = u64::from(self.params.unit_bytes);
                (byte / unit, byte % unit)
            }
        }
    }

    /// The page set, die and place on it where a unit is read; none if it was never written, or the
    /// buffer has it.
    pub(in crate::ssd) fn in_nand(&self, unit: u32) -> Option<(u32, u32, u32)> {
        let slot = self.translation.map.find(unit).slot;
        if slot == NONE {
            return None;
        }
        let set = self.translation.set(slot);
        let (die, within) = self.translation.locate(set);
        (!self.is_buffered(die, set)).then_some((set, die, within))
    }

    /// True if the buffer has the data of a page set: NAND does not have all of them yet.
    #[inline]
    pub(in crate::ssd) fn is_buffered(&self, die: u32, set: u32) -> bool {
        if self.buffer.used() == 0 {
            return false;
        }
        self.programs.are_pending(die, set) || self.translation.open_set(die) == set
    }

    /// True if writes are acknowledged while only the buffer has them, and the buffer loses its
    /// content when the power fails.
    pub(in crate::ssd) fn is_volatile(&self) -> bool {
        let buffer = &self.params.buffer;
        !buffer.protected && !buffer.write_through
    }

    /// A command is done at `at`; a read's data have flowed to the link from `at - lead` on.
    #[inline]
    pub(in crate::ssd) fn finish<P: Port>(
        &mut self,
        port: &mut P,
        io: IoId,
        at: Time,
        lead: Nanos,
    ) {
        self.last_done = self.last_done.max(at);
        port.done(io, at, lead);
    }
}
