//! A tier of SSDs as a cache of an array: which lines of the array are on the SSDs, and which
//! deserve to be.
//!
//! Lines that are not on the SSDs have a heat, the number of accesses that they have had, halved
//! now and then. An access that brings the heat to the mark makes a line hot: it may be copied
//! to the SSDs, into a free slot or into that of the clean line that was used longest ago.
//! Dirty lines are newer than the array; they are written back from the one that was used
//! longest ago on, while more of them than the mark are dirty or no clean line is left. A slot
//! that is read or written, *pinned*, is neither given to another line nor written back.
//! See docs/models/cache-tier.md.

mod entries;
mod recency;
#[cfg(test)]
mod tests;

use super::Busy;
use entries::Entries;
use recency::List;
use std::hint::black_box;

/// What a tier is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct TierParams {
    /// Lines that fit on the SSDs.
    pub slots: u32,
    /// Lines of the array.
    pub lines: u64,
    /// Accesses that make a line hot.
    pub promote_after: u32,
    /// Share of the slots above which dirty lines are written back.
    pub dirty_share: f64,
}

/// Heats are below this; from here on an entry is the number of a slot.
const SLOTS: u32 = 256;
/// The most accesses that can make a line hot.
pub const PROMOTE_AFTER_MAX: u32 = SLOTS - 1;

/// Slots that may be read or written at once before memory must grow.
const PINS: usize = 2048;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Free,
    /// Being copied to the SSDs; not to be read there.
    Coming,
    /// The same, but out of date before it is there.
    Spoiled,
    Clean,
    Dirty,
    /// Dirty, and being written back.
    Leaving,
    /// The same, and newer than what is being written back.
    Renewed,
}

/// What an access meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heat {
    /// The line is on the SSDs.
    Here,
    /// It is not, and deserves to be.
    Hot,
    /// It is not, or is on its way.
    Cold,
}

/// What a slot holds.
#[derive(Clone, Copy, Debug)]
struct Held {
    line: u32,
    state: State,
}

const NOTHING: Held = Held {
    line: 0,
    state: State::Free,
};

/// The lines of an array on a tier.
#[derive(Clone, Debug)]
pub struct Tier {
    /// By line of the array: its heat, or its slot.
    entries: Entries,
    held: Vec<Held>,
    order: recency::Order,
    clean: List,
    dirty: List,
    free: Vec<u32>,
    /// Slots from here on have never been used.
    fresh: u32,
    promote_after: u32,
    dirty_max: u32,
    /// Slots that are read or written.
    pins: Busy,
    counts: Counts,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    coming: u32,
    leaving: u32,
    /// Slots without a line that are not free before they have been read.
    dropped: u32,
}

impl Tier {
    /// An empty tier.
    ///
    /// # Errors
    /// Says that the array has more lines than can be numbered.
    pub fn new(params: &TierParams) -> Result<Tier, String> {
        let most = u64::from(u32::MAX - SLOTS);
        if params.lines > most || u64::from(params.slots) > most {
            return Err(format!("{} lines; at most {most}", params.lines));
        }
        let slots = params.slots as usize;
        Ok(Tier {
            entries: Entries::new(params.lines as usize),
            held: vec![NOTHING; slots],
            order: recency::Order::new(slots),
            clean: List::default(),
            dirty: List::default(),
            free: Vec::with_capacity(1024.min(slots)),
            fresh: 0,
            promote_after: params.promote_after.clamp(1, PROMOTE_AFTER_MAX),
            dirty_max: (f64::from(params.slots) * params.dirty_share) as u32,
            pins: Busy::with_capacity(PINS),
            counts: Counts::default(),
        })
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
        self.held.len() as u32
    }

    /// Lines that are newer than the array.
    pub fn dirty(&self) -> u32 {
        self.dirty.len() + self.counts.leaving
    }

    /// The line that a slot holds.
    pub fn line(&self, slot: u32) -> u64 {
        u64::from(self.held[slot as usize].line)
    }

    /// The slot where a line can be read.
    #[inline]
    pub fn slot(&self, line: u64) -> Option<u32> {
        let slot = self.entries.get(line).checked_sub(SLOTS)?;
        match self.held[slot as usize].state {
            State::Clean | State::Dirty | State::Leaving | State::Renewed => Some(slot),
            State::Free | State::Coming | State::Spoiled => None,
        }
    }

    /// Brings near the processor what accesses to these lines look at: asked for at once, several
    /// look-ups wait for memory beside each other.
    pub fn fetch(&self, lines: impl Iterator<Item = u64> + Clone) {
        let entries = lines.clone().map(|line| self.entries.get(line));
        black_box(entries.fold(0, |seen, entry| seen ^ entry));
        let slots = lines.filter_map(|line| self.entries.get(line).checked_sub(SLOTS));
        let held = slots.clone().map(|slot| self.held[slot as usize].line);
        black_box(held.fold(0, |seen, line| seen ^ line));
        self.order.fetch(slots);
    }

    /// Bytes of memory that are used.
    pub fn bytes(&self) -> usize {
        let slot = size_of::<Held>() + recency::LINK_BYTES;
        self.entries.bytes() + self.fresh as usize * slot
    }

    /// Counts an access to a line.
    #[inline]
    pub fn access(&mut self, line: u64) -> Heat {
        let Some(slot) = self.entries.get(line).checked_sub(SLOTS) else {
            let heat = self.entries.at(line);
            *heat = (*heat + 1).min(PROMOTE_AFTER_MAX);
            return if *heat >= self.promote_after {
                Heat::Hot
            } else {
                Heat::Cold
            };
        };
        match self.held[slot as usize].state {
            State::Clean => self.order.touch(&mut self.clean, slot),
            State::Dirty => self.order.touch(&mut self.dirty, slot),
            State::Leaving | State::Renewed => {}
            State::Free | State::Coming | State::Spoiled => return Heat::Cold,
        }
        Heat::Here
    }

    /// Begins to copy a line to the SSDs; gives its slot, if one is free or holds a clean line.
    pub fn begin(&mut self, line: u64) -> Option<u32> {
        debug_assert!(self.entries.get(line) < SLOTS);
        let slot = self.free.pop().or_else(|| self.unused()).or_else(|| {
            let slot = self.oldest_at_rest(&self.clean)?;
            self.order.unlink(&mut self.clean, slot);
            *self.entries.at(self.line(slot)) = 0;
            Some(slot)
        })?;
        *self.entries.at(line) = slot + SLOTS;
        self.held[slot as usize] = Held {
            line: line as u32,
            state: State::Coming,
        };
        self.counts.coming += 1;
        Some(slot)
    }

    /// The slot of a list that was used longest ago, of those that nobody reads or writes.
    fn oldest_at_rest(&self, list: &List) -> Option<u32> {
        let mut slots = self.order.oldest_first(list);
        slots.find(|&slot| !self.pins.at(slot.into()))
    }

    /// Somebody begins to read or write a slot.
    pub fn pin(&mut self, slot: u32) {
        self.pins.begin(slot.into());
    }

    /// Somebody who began to read or write a slot is done.
    pub fn unpin(&mut self, slot: u32) {
        let last = self.pins.end(slot.into());
        if last && self.held[slot as usize].state == State::Free {
            self.counts.dropped -= 1;
            self.free.push(slot);
        }
    }

    fn unused(&mut self) -> Option<u32> {
        let slot = self.fresh;
        ((slot as usize) < self.held.len()).then(|| {
            self.fresh += 1;
            slot
        })
    }

    /// A line has been copied; false if it was written past the tier meanwhile, or if the copy
    /// failed: it is not there then.
    pub fn arrived(&mut self, slot: u32, whole: bool) -> bool {
        self.counts.coming -= 1;
        if whole && self.held[slot as usize].state == State::Coming {
            self.held[slot as usize].state = State::Clean;
            self.order.link_newest(&mut self.clean, slot);
            return true;
        }
        self.release(slot);
        false
    }

    fn release(&mut self, slot: u32) {
        *self.entries.at(self.line(slot)) = 0;
        self.held[slot as usize].state = State::Free;
        if self.pins.at(slot.into()) {
            self.counts.dropped += 1;
        } else {
            self.free.push(slot);
        }
    }

    /// A slot that can be read no more loses its line, unless that is on its way back; true if the
    /// line was dirty.
    pub fn drop_line(&mut self, slot: u32) -> Option<bool> {
        let dirty = match self.held[slot as usize].state {
            State::Clean => false,
            State::Dirty => true,
            _ => return None,
        };
        let list = if dirty {
            &mut self.dirty
        } else {
            &mut self.clean
        };
        self.order.unlink(list, slot);
        self.release(slot);
        Some(dirty)
    }

    /// Whether a slot holds a line that is newer than the array.
    pub fn is_dirty(&self, slot: u32) -> bool {
        let state = self.held[slot as usize].state;
        matches!(state, State::Dirty | State::Leaving | State::Renewed)
    }

    /// Whether a slot's line is on its way back as it is.
    pub fn is_leaving(&self, slot: u32) -> bool {
        self.held[slot as usize].state == State::Leaving
    }

    /// Slots with lines that are newer than the array.
    pub fn dirty_slots(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.fresh).filter(|&slot| self.is_dirty(slot))
    }

    /// All lines are lost, and all heat.
    pub fn clear(&mut self) {
        self.entries.change(|entry| *entry = 0);
        self.held.fill(NOTHING);
        (self.clean, self.dirty) = (List::default(), List::default());
        self.free.clear();
        self.fresh = 0;
        self.pins.clear();
        self.counts = Counts::default();
    }

    /// The power fails: which lines the slots hold is kept beside them; copies that were under way
    /// are not, and heat is forgotten.
    pub fn power_fails(&mut self) {
        self.pins.clear();
        self.free.clear();
        self.counts.dropped = 0;
        for slot in 0..self.fresh {
            match self.held[slot as usize].state {
                State::Coming | State::Spoiled => {
                    self.arrived(slot, false);
                }
                State::Leaving | State::Renewed => self.cleaned(slot, false),
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
    pub fn write(&mut self, line: u64) -> Option<u32> {
        let slot = self.slot(line)?;
        match self.held[slot as usize].state {
            State::Clean => {
                self.order.unlink(&mut self.clean, slot);
                self.order.link_newest(&mut self.dirty, slot);
                self.held[slot as usize].state = State::Dirty;
            }
            State::Leaving => self.held[slot as usize].state = State::Renewed,
            _ => {}
        }
        Some(slot)
    }

    /// New data for a line go past the SSDs: what is there or on its way is out of date.
    pub fn written_past(&mut self, line: u64) {
        let Some(slot) = self.entries.get(line).checked_sub(SLOTS) else {
            return;
        };
        match self.held[slot as usize].state {
            State::Coming => self.held[slot as usize].state = State::Spoiled,
            State::Clean => {
                self.order.unlink(&mut self.clean, slot);
                self.release(slot);
            }
            // Dirty lines take new data themselves.
            _ => {}
        }
    }

    /// The next line to write back, if one should be: its slot.
    pub fn next_to_clean(&mut self) -> Option<u32> {
        let full = self.free.is_empty() && self.fresh as usize == self.held.len();
        let needed = full && self.clean.len() == 0 && self.counts.leaving == 0;
        if self.dirty.len() <= self.dirty_max && !needed {
            return None;
        }
        let slot = self.oldest_at_rest(&self.dirty)?;
        self.order.unlink(&mut self.dirty, slot);
        self.held[slot as usize].state = State::Leaving;
        self.counts.leaving += 1;
        Some(slot)
    }

    /// A line has been written back (or could not be).
    pub fn cleaned(&mut self, slot: u32, whole: bool) {
        self.counts.leaving -= 1;
        let clean = whole && self.held[slot as usize].state == State::Leaving;
        let (state, list) = if clean {
            (State::Clean, &mut self.clean)
        } else {
            (State::Dirty, &mut self.dirty)
        };
        self.held[slot as usize].state = state;
        if clean {
            // It was the one used longest ago, and still is.
            self.order.link_oldest(list, slot);
        } else {
            self.order.link_newest(list, slot);
        }
    }

    /// All lines that are not on the SSDs lose half of their heat.
    pub fn cool_down(&mut self) {
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
            let Some(slot) = entry.checked_sub(SLOTS) else {
                continue;
            };
            placed += 1;
            if self.line(slot) != line {
                return Err(format!("tier: slot {slot} is not line {line}'s"));
            }
        }
        let counted = self.len() + self.counts.coming;
        let used = self.fresh - self.free.len() as u32 - self.counts.dropped;
        if placed != counted || used != placed {
            return Err(format!(
                "tier: {placed} lines have slots, {counted} are counted, {used} slots are used"
            ));
        }
        Ok(())
    }
}
