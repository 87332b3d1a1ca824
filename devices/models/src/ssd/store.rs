//! The flash with what stands before it: the map, the dies, the write buffer, and what is on its way
//! from one to the other.

use crate::port::Port;
use crate::ssd::buffer::programs::Programs;
use crate::ssd::buffer::{Buffer, WaitingWrite};
use crate::ssd::ids::{DieId, NandSlot, SetId, SetInBlock, UnitId};
use crate::ssd::nand::{Nand, Pages};
use crate::ssd::translation::Translation;
use crate::ssd::written::ReadUnits;
use raidlab_io::{ByteRange, Part};
use raidlab_kernel::{Nanos, Time};

/// Where each unit lies: in the buffer, on its way to a die, or in NAND.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) translation: Translation,
    pub(crate) nand: Nand,
    pub(crate) buffer: Buffer,
    pub(crate) programs: Programs,
    pub(crate) read_units: ReadUnits,
}

impl Store {
    /// Array time of all dies up to `now`, and the number of dies.
    pub(crate) fn busy_until(&self, now: Time) -> (Nanos, usize) {
        (self.nand.busy_until(now), self.nand.dies())
    }

    /// Where a unit of the drive lies.
    pub(crate) fn slot(&self, unit: u64) -> NandSlot {
        self.translation.map.find(UnitId::new(unit as u32)).slot
    }

    /// The page set, die and place on it where a unit is read; none if it was never written, or the
    /// buffer has it.
    pub(crate) fn in_nand(&self, unit: UnitId) -> Option<(SetId, DieId, SetInBlock)> {
        let slot = self.translation.map.find(unit).slot;
        if slot == NandSlot::NONE {
            return None;
        }
        let set = self.translation.space.set(slot);
        let (die, within) = self.translation.space.locate(set);
        (!self.is_buffered(die, set)).then_some((set, die, within))
    }

    /// True if the buffer has the data of a page set: NAND does not have all of them yet.
    #[inline]
    pub(crate) fn is_buffered(&self, die: DieId, set: SetId) -> bool {
        if self.buffer.used() == 0 {
            return false;
        }
        self.programs.are_pending(die, set) || self.translation.space.open_set(die) == set
    }

    /// Counts units that a command takes from a read buffer and that were never written.
    #[cold]
    pub(crate) fn count_unwritten(&mut self, first: UnitId, count: u32) {
        let map = &self.translation.map;
        let first = first.number();
        let units = (first..(first + count).min(map.units())).map(UnitId::new);
        let unwritten = units
            .filter(|&unit| map.find(unit).slot == NandSlot::NONE)
            .count();
        self.read_units.unwritten_units += unwritten as u64;
    }

    /// Reads the rest of the units that a write covers only in part. The die works for it; the
    /// write itself does not wait, as its data are in the buffer.
    pub(crate) fn read_partial_units(
        &mut self,
        (head, tail): (Option<u64>, Option<u64>),
        now: Time,
    ) {
        let tail = tail.filter(|&unit| Some(unit) != head);
        for unit in head.into_iter().chain(tail) {
            if unit >= u64::from(self.translation.map.units()) {
                continue;
            }
            if let Some((set, die, within)) = self.in_nand(UnitId::new(unit as u32)) {
                let pages = Pages {
                    die,
                    set: within,
                    whole_set: Some(set),
                    planes: self.nand.all_planes(),
                };
                self.nand.read(pages, 1, 0, now);
                self.programs.partial_reads += 1;
            }
        }
    }

    /// Charges the wait of a write that the buffer takes now.
    #[inline]
    pub(crate) fn charge_wait<P: Port>(&self, port: &mut P, write: &WaitingWrite, now: Time) {
        let all = self.nand.work.all - write.before.all;
        let collection = self.nand.work.collection - write.before.collection;
        let io = port.io(write.io);
        let wait = now.since(io.mark);
        if all > Nanos::ZERO {
            let share = u128::from(wait.0) * u128::from(collection.0) / u128::from(all.0);
            io.charge(Part::GarbageCollection, io.mark + Nanos(share as u64));
        }
        io.charge(Part::NandProgram, now);
    }

    /// The oldest page set in flight to a die is in NAND; units of `settles` bytes that lose their
    /// place in a volatile buffer by it settle there.
    #[inline]
    pub(crate) fn set_is_durable<P: Port>(
        &mut self,
        port: &mut P,
        die: DieId,
        settles: Option<u64>,
        now: Time,
    ) {
        let set = self.programs.pending[die].pop_front();
        if let (Some(set), Some(bytes)) = (set, settles) {
            for unit in self.translation.units_of(set) {
                port.settles(ByteRange::new(u64::from(unit.number()) * bytes, bytes), now);
            }
        }
    }

    /// What must hold inside the drive at the end of a run; a breach is a bug.
    ///
    /// # Errors
    /// Says which counts do not agree.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.translation.check()?;
        let counts = self.translation.counts();
        let written = counts.host + counts.moved + counts.padded;
        let per_set = u64::from(self.translation.space.shape().units_per_set);
        let open = self.translation.space.units_in_open_sets();
        if self.programs.issued * per_set + open != written + self.translation.units_open_at_start()
        {
            return Err(format!(
                "{} page sets were programmed for {written} units, {open} of them still open",
                self.programs.issued
            ));
        }
        let Programs {
            taken, overwritten, ..
        } = self.programs;
        if taken != counts.host + overwritten {
            return Err(format!(
                "the buffer took {taken} units, of which {overwritten} replaced others, and {} were \
                 placed",
                counts.host
            ));
        }
        Ok(())
    }

    /// Bytes programmed or about to be: what the host wrote, as it is stored, what collection
    /// moved, parity, and changed pages of a map that is in NAND; a unit takes `unit_bytes`.
    pub(crate) fn nand_bytes(&self, map_sets: u64, unit_bytes: u32) -> u64 {
        let counts = self.translation.counts();
        let units_per_set = u64::from(self.translation.space.shape().units_per_set);
        let units = counts.host + counts.moved + counts.padded;
        let parity = self.programs.parities * units_per_set;
        let map = map_sets * units_per_set;
        let folded = self.nand.slc_sets().map_or(0, |(folded, _)| folded) * units_per_set;
        (units + parity + map + folded) * u64::from(unit_bytes)
    }
}
