//! The parts of a drive, and what several kinds of command ask of them.

use crate::idle_states::IdleStates;
use crate::port::Port;
use crate::ssd::buffer::Buffer;
use crate::ssd::buffer::flushes::Flushes;
use crate::ssd::buffer::prefetch::Prefetch;
use crate::ssd::buffer::prefilled::Prefilled;
use crate::ssd::buffer::programs::Programs;
use crate::ssd::firmware::Firmware;
use crate::ssd::firmware::back_end::BackEnd;
use crate::ssd::firmware::streams::Streams;
use crate::ssd::front::Front;
use crate::ssd::map::demand::DemandMap;
use crate::ssd::map::slot::NONE;
use crate::ssd::nand::Nand;
use crate::ssd::nand::temperature::Temperature;
use crate::ssd::params::SsdParams;
use crate::ssd::translation::Translation;
use crate::ssd::translation::background::Background;
use crate::ssd::written::ReadUnits;
use raidlab_io::IoId;
use raidlab_kernel::{Nanos, Time};

/// How a byte's mapping unit is found.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Addressing {
    /// By the binary logarithm of its bytes.
    Shift(u32),
    /// Its bytes are no power of two.
    Divide,
    /// In a slice that all addresses share.
    Slices,
}

impl Addressing {
    pub(crate) fn of(params: &SsdParams) -> Addressing {
        match params.unit_bytes {
            _ if params.slices > 1 => Addressing::Slices,
            unit if unit.is_power_of_two() => Addressing::Shift(unit.trailing_zeros()),
            _ => Addressing::Divide,
        }
    }
}

/// A solid-state drive in a run, behind the front `F`.
#[derive(Debug)]
pub struct Ssd<F> {
    pub(crate) params: SsdParams,
    pub(crate) addressing: Addressing,
    pub(crate) front: F,
    pub(crate) firmware: Firmware,
    pub(crate) translation: Translation,
    pub(crate) nand: Nand,
    pub(crate) buffer: Buffer,
    pub(crate) programs: Programs,
    pub(crate) flushes: Flushes,
    pub(crate) prefetch: Option<Prefetch>,
    pub(crate) temperature: Option<Temperature>,
    pub(crate) idle_states: Option<Box<IdleStates>>,
    /// The back end, if it sleeps.
    pub(crate) back_end: Option<Box<BackEnd>>,
    pub(crate) background: Option<Background>,
    /// What loads have left in the buffer; none once the first write of the run has come.
    pub(crate) prefilled: Option<Box<Prefilled>>,
    /// The map, if only a part of it is in memory.
    pub(crate) demand_map: Option<Box<DemandMap>>,
    /// Byte after the last read.
    pub(crate) next_byte: u64,
    pub(crate) read_streams: Streams,
    pub(crate) write_streams: Streams,
    /// When the last command so far is done.
    pub(crate) last_done: Time,
    pub(crate) host_bytes: u64,
    pub(crate) read_bytes: u64,
    pub(crate) read_units: ReadUnits,
    /// Something was read ahead that was never written.
    pub(crate) unwritten_ahead: bool,
}

impl<F: Front> Ssd<F> {
    /// The units of a byte range: (first, count).
    #[inline]
    pub(crate) fn units(&self, offset: u64, bytes: u64) -> (u32, u32) {
        let (first, _) = self.unit_of(offset);
        let (last, _) = self.unit_of(offset + bytes.max(1) - 1);
        // A command over the end of a slice is cut there.
        let count = self.front.units(last.max(first) - first + 1, bytes);
        (first as u32, count as u32)
    }

    /// The unit of a byte, and the byte's place in it.
    #[inline]
    pub(crate) fn unit_of(&self, byte: u64) -> (u64, u64) {
        match self.addressing {
            Addressing::Shift(shift) => (byte >> shift, byte & ((1 << shift) - 1)),
            Addressing::Divide => {
                let unit = u64::from(self.params.unit_bytes);
                (byte / unit, byte % unit)
            }
            Addressing::Slices => {
                let unit = u64::from(self.params.unit_bytes);
                (byte % self.params.capacity_bytes / unit, byte % unit)
            }
        }
    }

    /// The page set, die and place on it where a unit is read; none if it was never written, or the
    /// buffer has it.
    pub(crate) fn in_nand(&self, unit: u32) -> Option<(u32, u32, u32)> {
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
    pub(crate) fn is_buffered(&self, die: u32, set: u32) -> bool {
        if self.buffer.used() == 0 {
            return false;
        }
        self.programs.are_pending(die, set) || self.translation.open_set(die) == set
    }

    /// True if writes are acknowledged while only the buffer has them, and the buffer loses its
    /// content when the power fails.
    pub(crate) fn is_volatile(&self) -> bool {
        let buffer = &self.params.buffer;
        !buffer.protected && !buffer.write_through
    }

    /// True if a command that comes now finds no other.
    #[inline]
    pub(crate) fn is_alone(&self, now: Time) -> bool {
        self.last_done <= now && !self.buffer.makes_wait()
    }

    /// A command that comes now needs channels and map from `ready` on: when it goes on.
    #[inline]
    pub(crate) fn back_end_needed(&mut self, now: Time, ready: Time) -> Time {
        match self.back_end {
            None => ready,
            Some(_) => self.sleeping_back_end_needed(now, ready),
        }
    }

    #[cold]
    fn sleeping_back_end_needed(&mut self, now: Time, ready: Time) -> Time {
        let idle = self
            .is_alone(now)
            .then(|| self.nand.idle_since(now))
            .flatten();
        let since = idle.map(|nand| nand.max(self.last_done));
        match &mut self.back_end {
            None => ready,
            Some(back_end) => back_end.needed(since, now, ready),
        }
    }

    /// A command is done at `at`; a read's data have flowed to the link from `at - lead` on.
    #[inline]
    pub(crate) fn finish<P: Port>(&mut self, port: &mut P, io: IoId, at: Time, lead: Nanos) {
        self.last_done = self.last_done.max(at);
        port.done(io, at, lead);
    }
}
