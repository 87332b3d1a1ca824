//! Data from NAND for a read: one operation for each page set.

use crate::ssd::buffer::read_buffer::Arrival;
use crate::ssd::ids::{NandSlot, UnitId};
use crate::ssd::nand::{Pages, ReadTimes};
use crate::ssd::store::Store;
use raidlab_io::{Io, Part};
use raidlab_kernel::Time;

/// When the data of a read are in memory, and the operation that brings the last of them.
pub(crate) struct Gathered {
    pub(super) first: Time,
    pub(crate) last: Time,
    critical: Option<ReadTimes>,
}

impl Gathered {
    /// Data that were in memory before.
    #[inline]
    pub(super) fn buffered(arrival: Arrival) -> Gathered {
        Gathered {
            first: arrival.first,
            last: arrival.last,
            critical: None,
        }
    }

    /// These data from NAND, and those in memory.
    #[inline]
    pub(super) fn with_buffered(mut self, buffered: Arrival) -> Gathered {
        self.first = self.first.min(buffered.first);
        if self.last < buffered.last {
            self.last = buffered.last;
            self.critical = None;
        }
        self
    }

    #[inline]
    fn add(&mut self, times: ReadTimes) {
        self.first = self.first.min(times.end);
        if times.end > self.last {
            self.last = times.end;
            self.critical = Some(times);
        }
    }

    /// Charges a command with its time up to the last of its data.
    #[inline]
    pub(super) fn charge(&self, io: &mut Io) {
        if let Some(times) = self.critical {
            io.charge(Part::Queue, times.reads_before);
            let wait = if times.behind_collection {
                Part::GarbageCollection
            } else {
                Part::NandProgram
            };
            io.charge(wait, times.start);
            io.charge(Part::NandRead, times.sensed);
            io.channel_wait = times.transfer_start.since(io.mark);
            io.charge(Part::Queue, times.transfer_start);
            io.charge(Part::Transfer, times.end);
        }
        io.charge(Part::Cache, self.last);
    }
}

/// Bytes that error correction takes together: a part of a page is read in as many of them as hold
/// it. Assumed; those of drives lie between 1 and 4 KiB.
const CODEWORD: u64 = 4096;

/// Bytes of a command's first and last unit that stay in the dies' registers.
#[derive(Clone, Copy, Default)]
pub(crate) struct Spared {
    pub(super) head: u32,
    pub(super) tail: u32,
}

impl Spared {
    /// What the host has not asked for of the units that it reads, of `unit` bytes each.
    #[inline]
    pub(super) fn of(io: &Io, unit: u64) -> Spared {
        if unit <= CODEWORD {
            return Spared::default();
        }
        let end = io.offset + io.bytes;
        let whole = |bytes: u64| (bytes / CODEWORD * CODEWORD) as u32;
        Spared {
            head: whole(io.offset % unit),
            tail: whole((unit - end % unit) % unit),
        }
    }
}

impl Store {
    /// Reads units from NAND, or from the write buffer what is not in NAND yet.
    #[inline(always)]
    pub(crate) fn gather(
        &mut self,
        first: UnitId,
        count: u32,
        spared: Spared,
        at: Time,
    ) -> Gathered {
        match count {
            1 => self.gather_unit(first, spared, at),
            _ => self.gather_units(first, count, spared, at),
        }
    }

    /// Reads one unit, as most random reads ask for: it needs no set put together.
    #[inline(always)]
    fn gather_unit(&mut self, unit: UnitId, spared: Spared, at: Time) -> Gathered {
        let in_memory = Gathered::buffered(Arrival {
            first: at,
            last: at,
        });
        if unit.number() >= self.translation.map.units() {
            return in_memory;
        }
        let slot = self.translation.map.find(unit).slot;
        if slot == NandSlot::NONE {
            self.read_units.unwritten_units += 1;
            return in_memory;
        }
        let set = self.translation.space.set(slot);
        let (die, within) = self.translation.space.locate(set);
        if self.is_buffered(die, set) {
            return in_memory;
        }
        let per_set = self.translation.space.shape().units_per_set;
        let place = slot.since(self.translation.space.slots(set).start);
        let pages = Pages {
            die,
            set: within,
            whole_set: Some(set),
            planes: self.nand.planes_of(place, place, per_set),
        };
        let left_out = spared.head + spared.tail;
        let times = self.nand.read(pages, 1, left_out, at);
        Gathered {
            first: times.end,
            last: times.end,
            critical: Some(times),
        }
    }

    fn gather_units(&mut self, first: UnitId, count: u32, spared: Spared, at: Time) -> Gathered {
        let mut gathered = Gathered::buffered(Arrival::of_nothing(at));
        let per_set = self.translation.space.shape().units_per_set;
        let end = UnitId::new((first.number() + count).min(self.translation.map.units()));
        let mut unit = first;
        while unit < end {
            let most = end.since(unit).min(per_set);
            let (found, in_a_row) = self.translation.map.find_row(unit, most);
            let slot = found.slot;
            let mut left_out = if unit == first { spared.head } else { 0 };
            if slot == NandSlot::NONE {
                unit = unit.plus(1);
                self.read_units.unwritten_units += 1;
                gathered.first = gathered.first.min(at);
                continue;
            }
            let set = self.translation.space.set(slot);
            let slots = self.translation.space.slots(set);
            let mut together = in_a_row.min(slots.end.since(slot));
            let mut last = slot.plus(together - 1);
            unit = unit.plus(together);
            while unit < end && together < per_set {
                let next = self.translation.map.find(unit).slot;
                if !slots.contains(&next) {
                    break;
                }
                last = next;
                together += 1;
                unit = unit.plus(1);
            }
            let (die, within) = self.translation.space.locate(set);
            if self.is_buffered(die, set) {
                gathered.first = gathered.first.min(at);
                continue;
            }
            if unit == end {
                left_out += spared.tail;
            }
            let within_set = |slot: NandSlot| slot.since(slots.start);
            let planes = self
                .nand
                .planes_of(within_set(slot), within_set(last), per_set);
            let pages = Pages {
                die,
                set: within,
                whole_set: Some(set),
                planes,
            };
            gathered.add(self.nand.read(pages, together, left_out, at));
        }
        gathered.first = gathered.first.min(gathered.last);
        gathered
    }
}
