//! The page map: where each mapping unit lies, and which unit each slot holds.
//!
//! A slot is the place of one mapping unit in NAND; slots are numbered block by block. What a
//! history before the run has left behind is not written into tables: it is the [`Layout`] of
//! one small area, repeated over the drive, and the tables only say what changed since. So a
//! drive of terabytes starts in the time of a small one.
//!
//! Inside, a unit goes by its *home*, a number that follows the slots in which the layout has
//! put the units. Garbage collection, which empties slots in their order, then changes entries
//! that stand side by side, and the memory that it touches is read and written in long runs.

use super::bits::Bits;
use super::divider::Divider;
use super::layout::Layout;
use super::overlay::{Overlay, UNCHANGED};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

/// No slot, or no unit.
pub(super) const NONE: u32 = u32::MAX;

/// An entry of the forward table that says: nowhere.
const UNMAPPED: u32 = 1;
/// Added to a slot to make an entry.
const BIAS: u32 = 2;

/// A unit as the map knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The number by which the tables know it.
    pub(super) home: u32,
    /// Where it lies; [`NONE`] if it holds nothing.
    pub(super) slot: u32,
}

/// Both directions of the map, and which slots hold what a unit still has there.
#[derive(Debug, Deserialize)]
#[serde(from = "SavedMapping")]
pub(super) struct Mapping {
    units: u32,
    /// Home to slot, where that has changed since the start.
    forward: Overlay,
    /// Slot to home, in blocks that were written since the start.
    reverse: Vec<u32>,
    /// True for a block whose slots are in `reverse`; the others are as laid out.
    rewritten: Vec<bool>,
    /// Of a rewritten block: the slot holds valid data. Of a block that is as laid out: it no
    /// longer does, although the layout says so.
    marks: Bits,
    layout: Layout,
    block_of: Divider,
}

/// What has changed since the start, and how it was at the start.
#[derive(Deserialize)]
struct SavedMapping {
    units: u32,
    forward: Overlay,
    per_block: u32,
    blocks: u32,
    /// Blocks written since the start, and the homes of the units in all their slots.
    rewritten: Vec<u32>,
    homes: Vec<u32>,
    marks: Bits,
    layout: Layout,
}

impl Serialize for Mapping {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let blocks = self.rewritten.len() as u32;
        let rewritten: Vec<u32> = (0..blocks).filter(|&at| self.is_rewritten(at)).collect();
        let homes: Vec<u32> = rewritten
            .iter()
            .flat_map(|&block| &self.reverse[self.slots_of(block)])
            .copied()
            .collect();
        let mut saved = serializer.serialize_struct("SavedMapping", 8)?;
        saved.serialize_field("units", &self.units)?;
        saved.serialize_field("forward", &self.forward)?;
        saved.serialize_field("per_block", &self.block_of)?;
        saved.serialize_field("blocks", &blocks)?;
        saved.serialize_field("rewritten", &rewritten)?;
        saved.serialize_field("homes", &homes)?;
        saved.serialize_field("marks", &self.marks)?;
        saved.serialize_field("layout", &self.layout)?;
        saved.end()
    }
}

impl From<SavedMapping> for Mapping {
    fn from(saved: SavedMapping) -> Mapping {
        let mut map = Mapping::new(saved.units, saved.blocks, saved.per_block, saved.layout);
        map.forward = saved.forward;
        map.marks = saved.marks;
        let homes = saved.homes.chunks_exact(saved.per_block.max(1) as usize);
        for (block, homes) in saved.rewritten.into_iter().zip(homes) {
            map.rewritten[block as usize] = true;
            let slots = map.slots_of(block);
            map.reverse[slots].copy_from_slice(homes);
        }
        map
    }
}

impl Mapping {
    /// Units and blocks as `layout` leaves them.
    pub(super) fn new(units: u32, blocks: u32, per_block: u32, layout: Layout) -> Mapping {
        let slots = blocks as usize * per_block as usize;
        Mapping {
            units,
            forward: Overlay::new(layout.homes(units)),
            reverse: vec![0; slots],
            rewritten: vec![false; blocks as usize],
            marks: Bits::new(slots),
            layout,
            block_of: Divider::new(per_block),
        }
    }

    /// Number of units.
    pub(super) fn units(&self) -> u32 {
        self.units
    }

    fn slots_of(&self, block: u32) -> std::ops::Range<usize> {
        let per_block = self.block_of.get() as usize;
        block as usize * per_block..(block as usize + 1) * per_block
    }

    /// Where `unit` lies.
    #[inline]
    pub(super) fn find(&self, unit: u32) -> Found {
        let home = self.layout.home(unit);
        Found {
            home,
            slot: self.slot_of(home),
        }
    }

    /// The slot of the unit with this home; [`NONE`] if it holds nothing.
    #[inline]
    pub(super) fn slot_of(&self, home: u32) -> u32 {
        if let Some(slot) = self.layout.slot(home) {
            let block = self.block_of.quotient(slot);
            if !self.rewritten[block as usize] && !self.marks.get(slot) {
                return slot;
            }
        }
        match self.forward.get(home) {
            UNCHANGED | UNMAPPED => NONE,
            entry => entry - BIAS,
        }
    }

    /// The unit that was put into `slot` of `block`; [`NONE`] if none ever was.
    ///
    /// It is still there only if [`Mapping::is_valid`] says so.
    pub(super) fn unit(&self, block: u32, slot: u32) -> u32 {
        if self.is_rewritten(block) {
            return self.layout.unit(self.reverse[slot as usize]);
        }
        match self.layout.block(block) {
            Some(laid) => self.layout.unit(laid.home + self.block_of.split(slot).1),
            None => NONE,
        }
    }

    /// True if `slot` of `block` holds data that a unit still has there.
    #[inline]
    pub(super) fn is_valid(&self, block: u32, slot: u32) -> bool {
        if self.is_rewritten(block) {
            return self.marks.get(slot);
        }
        let laid = self.layout.block(block);
        laid.is_some_and(|laid| laid.holds(self.block_of.split(slot).1)) && !self.marks.get(slot)
    }

    /// The (home, slot) of all valid data in `count` slots of `block` from `first` on, which
    /// are about to be put elsewhere.
    #[inline]
    pub(super) fn take_up(
        &mut self,
        block: u32,
        first: u32,
        count: u32,
        taken: &mut Vec<(u32, u32)>,
    ) {
        if self.is_rewritten(block) {
            let valid = (first..first + count).filter(|&slot| self.marks.get(slot));
            taken.extend(valid.map(|slot| (self.reverse[slot as usize], slot)));
            for &(home, _) in &*taken {
                self.forward.touch(home);
            }
            return;
        }
        let Some(laid) = self.layout.block(block) else {
            return;
        };
        let start = self.block_of.split(first).1;
        let valid = (0..count)
            .filter(|at| laid.holds(start + at) && !self.marks.get(first + at))
            .map(|at| (laid.home + start + at, first + at));
        taken.extend(valid);
        self.forward.expect(laid.home + start, count);
    }

    /// The unit with this home.
    pub(super) fn unit_of(&self, home: u32) -> u32 {
        self.layout.unit(home)
    }

    /// Puts the unit with this home into `slot`.
    #[inline]
    pub(super) fn put(&mut self, home: u32, slot: u32) {
        self.forward.set(home, slot + BIAS);
        self.reverse[slot as usize] = home;
        self.marks.set(slot);
    }

    /// `slot` of `block` no longer holds what its unit has.
    #[inline]
    pub(super) fn invalidate(&mut self, block: u32, slot: u32) {
        self.marks.put(slot, !self.rewritten[block as usize]);
    }

    /// The unit with this home holds nothing from now on.
    #[inline]
    pub(super) fn clear(&mut self, home: u32) {
        self.forward.set(home, UNMAPPED);
    }

    /// The slots of `block` are in the table from now on and hold nothing, whatever the layout
    /// says.
    pub(super) fn rewrite(&mut self, block: u32) {
        if !self.is_rewritten(block) {
            let per_block = self.block_of.get();
            self.marks.clear_range(block * per_block, per_block);
            self.rewritten[block as usize] = true;
        }
    }

    /// True if the slots of `block` are in the table, false if they are as laid out.
    #[inline]
    fn is_rewritten(&self, block: u32) -> bool {
        self.rewritten[block as usize]
    }
}
