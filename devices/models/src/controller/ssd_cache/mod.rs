//! An SSD cache of an array: which lines of the array are on the SSDs, and which should be.
//!
//! A line that is not on the SSDs has an access count, which is halved at intervals. An access
//! that raises the count to the threshold makes the line hot: it may be copied to the SSDs, into
//! a free slot or into that of the least recently used clean line. Dirty lines are newer than the
//! array. They are written back, the least recently used first, while there are more of them than
//! the limit or no clean line is left. A slot that is being read or written is *pinned*: it is
//! neither given to another line nor written back. See docs/explanation/ssd-cache.md.

mod entries;
mod mark;
mod oldest;
#[cfg(test)]
mod tests;

use super::{ArrayLine, ReferenceCounts};
use crate::Memory;
use entries::Entries;
use mark::{Clock, Mark, State};
use oldest::Oldest;
use prefetch_index::prefetch_index;
use raidlab_kernel::{Table, ids};

ids! {
    /// A slot of an SSD cache: where a line may lie on the SSDs.
    SlotId;
}

/// What an SSD cache is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct SsdCacheParams {
    /// Lines that fit on the SSDs.
    pub slots: u32,
    /// Lines of the array.
    pub lines: u64,
    /// Accesses that make a line hot.
    pub promote_after: u32,
    /// Share of the slots above which dirty lines are written back.
    pub dirty_share: f64,
}

/// Access counts are below this; from here on an entry is the number of a slot.
const SLOTS: u32 = 256;
/// The most accesses that can make a line hot.
pub const PROMOTE_AFTER_MAX: u32 = SLOTS - 1;

/// Slots that may be read or written at once before memory must grow.
const PINS: usize = 2048;

/// Bytes of a slot: its line and its mark.
const BYTES: usize = size_of::<ArrayLine>() + size_of::<Mark>();

/// What an access finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The line is on the SSDs.
    Hit,
    /// It is not, and is accessed often enough to be copied there.
    Hot,
    /// It is not, or is being copied.
    Cold,
}

/// How a copy to the SSDs, or a write-back to the array, ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyEnd {
    /// The whole line was copied.
    Whole,
    /// A part of it could not be read or written.
    Failed,
}

/// The lines of an array on its SSD cache.
#[derive(Clone, Debug)]
pub struct SsdCache {
    /// By line of the array: its access count, or its slot.
    entries: Entries,
    /// The line that each slot holds. Of slots that were ever used: what is never used takes no
    /// memory.
    lines: Table<SlotId, ArrayLine>,
    /// The state and the last use of each of these slots.
    marks: Table<SlotId, Mark>,
    clock: Clock,
    clean: Oldest,
    dirty: Oldest,
    free: Vec<SlotId>,
    /// Slots that there are.
    size: u32,
    /// Slots from here on have not been used since all was lost.
    fresh: SlotId,
    promote_after: u32,
    dirty_max: u32,
    /// Slots that are being read or written.
    pins: ReferenceCounts<SlotId>,
    counts: Counts,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    coming: u32,
    leaving: u32,
    /// Slots without a line that are not free before their readers are done.
    dropped: u32,
}

impl SsdCache {
    /// An empty cache.
    ///
    /// # Errors
    /// Says that the array has more lines than can be numbered.
    pub fn new(params: &SsdCacheParams) -> Result<SsdCache, String> {
        let most = u64::from(u32::MAX - SLOTS);
        if params.lines > most || u64::from(params.slots) > most {
            return Err(format!("{} lines; at most {most}", params.lines));
        }
        let slots = params.slots as usize;
        Ok(SsdCache {
            entries: Entries::new(params.lines as usize),
            lines: Vec::with_capacity(slots).into(),
            marks: Vec::with_capacity(slots).into(),
            clock: Clock::default(),
            clean: Oldest::new(State::Clean, params.slots),
            dirty: Oldest::new(State::Dirty, params.slots),
            free: Vec::with_capacity(1024.min(slots)),
            size: params.slots,
            fresh: SlotId::new(0),
            promote_after: params.promote_after.clamp(1, PROMOTE_AFTER_MAX),
            dirty_max: (f64::from(params.slots) * params.dirty_share) as u32,
            pins: ReferenceCounts::with_capacity(PINS),
            counts: Counts::default(),
        })
    }

    /// The memory of a cache of `slots` slots for an array of `lines` lines.
    pub fn memory(slots: u64, lines: u64) -> Memory {
        let oldest = Oldest::bytes_of(slots).saturating_mul(2);
        Memory {
            resident: slots.saturating_mul(BYTES as u64).saturating_add(oldest),
            reserved: lines.saturating_mul(4),
            addresses: lines.saturating_mul(4),
        }
    }

    /// Lines on the SSDs that can be read there.
    pub fn len(&self) -> u32 {
        self.clean.len() + self.dirty.len() + self.counts.leaving
    }

    /// True if no line can be read on the SSDs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Lines that fit on the SSDs.
    pub fn slots(&self) -> u32 {
        self.size
    }

    /// Lines that are newer than the array.
    pub fn dirty(&self) -> u32 {
        self.dirty.len() + self.counts.leaving
    }

    /// The line that a slot holds.
    pub fn line(&self, slot: SlotId) -> ArrayLine {
        self.lines[slot]
    }

    /// The slot that a line's entry names.
    #[inline]
    fn named(&self, line: ArrayLine) -> Option<SlotId> {
        let slot = self.entries.get(line).checked_sub(SLOTS);
        slot.map(SlotId::new)
    }

    #[inline]
    fn state(&self, slot: SlotId) -> State {
        self.marks[slot].state()
    }

    /// A slot is in this state, of which no order is asked for.
    fn put(&mut self, slot: SlotId, state: State) {
        self.marks[slot] = Mark::apart(state);
    }

    /// A slot is used now, and is clean or dirty from now on.
    #[inline]
    fn use_now(&mut self, slot: SlotId, state: State) {
        self.marks[slot] = self.clock.next(state);
    }

    /// The slot where a line can be read.
    #[inline]
    pub fn slot(&self, line: ArrayLine) -> Option<SlotId> {
        let slot = self.named(line)?;
        match self.state(slot) {
            State::Clean | State::Dirty | State::Leaving | State::Renewed => Some(slot),
            State::Free | State::Coming | State::Spoiled => None,
        }
    }

    /// Prefetches what accesses to these lines read, one step after the other for all of them: the
    /// lines' entries, the marks of the slots that these name.
    pub fn fetch(&self, lines: impl Iterator<Item = ArrayLine> + Clone) {
        for line in lines.clone() {
            self.entries.prefetch(line);
        }
        for slot in lines.filter_map(|line| self.named(line)) {
            prefetch_index(self.marks.as_slice(), slot.index());
        }
    }

    /// Bytes of memory that are used.
    pub fn bytes(&self) -> usize {
        self.entries.bytes() + self.fresh.index() * BYTES
    }

    /// Counts an access to a line.
    #[inline]
    pub fn access(&mut self, line: ArrayLine) -> Lookup {
        let Some(slot) = self.named(line) else {
            let count = self.entries.at(line);
            *count = (*count + 1).min(PROMOTE_AFTER_MAX);
            return if *count >= self.promote_after {
                Lookup::Hot
            } else {
                Lookup::Cold
            };
        };
        match self.state(slot) {
            state @ (State::Clean | State::Dirty) => self.use_now(slot, state),
            State::Leaving | State::Renewed => {}
            State::Free | State::Coming | State::Spoiled => return Lookup::Cold,
        }
        Lookup::Hit
    }

    /// Begins to copy a line to the SSDs; gives its slot, if one is free or holds a clean line.
    pub fn begin(&mut self, line: ArrayLine) -> Option<SlotId> {
        debug_assert!(self.entries.get(line) < SLOTS);
        let slot = self.free.pop().or_else(|| self.unused()).or_else(|| {
            let slot = self.clean.at_rest(&self.marks, &self.pins)?;
            self.clean.left();
            *self.entries.at(self.line(slot)) = 0;
            Some(slot)
        })?;
        *self.entries.at(line) = slot.number() + SLOTS;
        self.lines[slot] = line;
        self.put(slot, State::Coming);
        self.counts.coming += 1;
        Some(slot)
    }

    /// A read or write of a slot begins.
    pub fn pin(&mut self, slot: SlotId) {
        self.pins.acquire(slot);
    }

    /// A read or write of a slot ends.
    pub fn unpin(&mut self, slot: SlotId) {
        let last = self.pins.release(slot);
        if last && self.state(slot) == State::Free {
            self.counts.dropped -= 1;
            self.free.push(slot);
        }
    }

    fn unused(&mut self) -> Option<SlotId> {
        let slot = self.fresh;
        (slot.number() < self.size).then(|| {
            if slot.index() == self.marks.len() {
                self.lines.push(ArrayLine::new(0));
                self.marks.push(Mark::apart(State::Free));
            }
            self.fresh = slot.plus(1);
            slot
        })
    }

    /// A line has been copied. False if the copy failed, or if the line was written around the SSDs
    /// meanwhile: then it is not on the SSDs.
    pub fn arrived(&mut self, slot: SlotId, end: CopyEnd) -> bool {
        self.counts.coming -= 1;
        if end == CopyEnd::Whole && self.state(slot) == State::Coming {
            self.clean.joined();
            self.use_now(slot, State::Clean);
            return true;
        }
        self.release(slot);
        false
    }

    fn release(&mut self, slot: SlotId) {
        *self.entries.at(self.line(slot)) = 0;
        self.put(slot, State::Free);
        if self.pins.contains(slot) {
            self.counts.dropped += 1;
        } else {
            self.free.push(slot);
        }
    }

    /// A slot that became unreadable loses its line, unless that is being written back. True if the
    /// line was dirty.
    pub fn drop_line(&mut self, slot: SlotId) -> Option<bool> {
        let dirty = match self.state(slot) {
            State::Clean => false,
            State::Dirty => true,
            _ => return None,
        };
        let of_state = if dirty {
            &mut self.dirty
        } else {
            &mut self.clean
        };
        of_state.left();
        self.release(slot);
        Some(dirty)
    }

    /// True if a slot holds a line that is newer than the array.
    pub fn is_dirty(&self, slot: SlotId) -> bool {
        let state = self.state(slot);
        matches!(state, State::Dirty | State::Leaving | State::Renewed)
    }

    /// True if a slot's line is being written back and has not changed since.
    pub fn is_leaving(&self, slot: SlotId) -> bool {
        self.state(slot) == State::Leaving
    }

    /// Slots with lines that are newer than the array.
    pub fn dirty_slots(&self) -> impl Iterator<Item = SlotId> + '_ {
        let used = SlotId::first(self.fresh.number());
        used.filter(|&slot| self.is_dirty(slot))
    }

    /// All lines and access counts are lost.
    pub fn clear(&mut self) {
        self.entries.change(|entry| *entry = 0);
        self.marks.as_mut_slice().fill(Mark::apart(State::Free));
        self.clean.clear();
        self.dirty.clear();
        self.free.clear();
        self.fresh = SlotId::new(0);
        self.pins.clear();
        self.counts = Counts::default();
    }

    /// The power fails. The SSDs also record which lines their slots hold; copies in flight and
    /// access counts are lost.
    pub fn power_fails(&mut self) {
        self.pins.clear();
        self.free.clear();
        self.counts.dropped = 0;
        for slot in SlotId::first(self.fresh.number()) {
            match self.state(slot) {
                State::Coming | State::Spoiled => {
                    self.arrived(slot, CopyEnd::Failed);
                }
                State::Leaving | State::Renewed => self.cleaned(slot, CopyEnd::Failed),
                State::Free => self.free.push(slot),
                State::Clean | State::Dirty => {}
            }
        }
        self.entries.change(|entry| {
            if *entry < SLOTS {
                *entry = 0;
            }
        });
    }

    /// New data for a line go to the SSDs: gives the slot, if the line is there.
    pub fn write(&mut self, line: ArrayLine) -> Option<SlotId> {
        let slot = self.slot(line)?;
        match self.state(slot) {
            State::Clean => {
                self.clean.left();
                self.dirty.joined();
                self.use_now(slot, State::Dirty);
            }
            State::Leaving => self.put(slot, State::Renewed),
            _ => {}
        }
        Some(slot)
    }

    /// New data for all of a line that has no slot go to the SSDs: gives the slot, if one is free or
    /// holds a clean line. The line is dirty.
    pub fn write_new(&mut self, line: ArrayLine) -> Option<SlotId> {
        if self.entries.get(line) >= SLOTS {
            return None;
        }
        let slot = self.begin(line)?;
        self.counts.coming -= 1;
        self.dirty.joined();
        self.use_now(slot, State::Dirty);
        Some(slot)
    }

    /// New data for a line go to the array and to the SSDs: gives the slot of a clean line, which
    /// stays clean. A copy that is on its way is out of date.
    pub fn write_through(&mut self, line: ArrayLine) -> Option<SlotId> {
        let slot = self.slot(line).filter(|&slot| !self.is_dirty(slot));
        match slot {
            Some(slot) => self.use_now(slot, State::Clean),
            None => self.written_around(line),
        }
        slot
    }

    /// New data for a line go to the array, not to the SSDs: a copy of the line is out of date.
    pub fn written_around(&mut self, line: ArrayLine) {
        let Some(slot) = self.named(line) else {
            return;
        };
        match self.state(slot) {
            State::Coming => self.put(slot, State::Spoiled),
            State::Clean => {
                self.clean.left();
                self.release(slot);
            }
            // Dirty lines take new data themselves.
            _ => {}
        }
    }

    /// The next line to write back, if one should be: its slot.
    pub fn next_to_clean(&mut self) -> Option<SlotId> {
        let full = self.free.is_empty() && self.fresh.number() == self.size;
        let needed = full && self.clean.len() == 0 && self.counts.leaving == 0;
        if self.dirty.len() <= self.dirty_max && !needed {
            return None;
        }
        let slot = self.dirty.at_rest(&self.marks, &self.pins)?;
        self.dirty.left();
        self.put(slot, State::Leaving);
        self.counts.leaving += 1;
        Some(slot)
    }

    /// A line has been written back (or could not be).
    pub fn cleaned(&mut self, slot: SlotId, end: CopyEnd) {
        self.counts.leaving -= 1;
        if end == CopyEnd::Whole && self.state(slot) == State::Leaving {
            // It was the least recently used line, and still is.
            let mark = self.clock.before_all(State::Clean);
            self.marks[slot] = mark;
            self.clean.joined_as_oldest(slot, mark);
        } else {
            self.dirty.joined();
            self.use_now(slot, State::Dirty);
        }
    }

    /// The access counts of all lines that are not on the SSDs are halved.
    pub fn halve_counts(&mut self) {
        self.entries.change(|entry| {
            if *entry < SLOTS {
                *entry >>= 1;
            }
        });
    }

    /// What must hold; a breach is a bug.
    ///
    /// # Errors
    /// Says which count is wrong.
    pub fn check(&self) -> Result<(), String> {
        let mut placed = 0u32;
        for (line, entry) in self.entries.iter() {
            let Some(slot) = entry.checked_sub(SLOTS).map(SlotId::new) else {
                continue;
            };
            placed += 1;
            if self.line(slot) != line {
                return Err(format!("SSD cache: slot {slot} is not line {line}'s"));
            }
        }
        let counted = self.len() + self.counts.coming;
        let used = self.fresh.number() - self.free.len() as u32 - self.counts.dropped;
        if placed != counted || used != placed {
            return Err(format!(
                "SSD cache: {placed} lines have slots, {counted} are counted, {used} slots are used"
            ));
        }
        Ok(())
    }
}
