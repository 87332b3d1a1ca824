//! The page map: where each mapping unit lies, and which unit each slot holds.
//!
//! A slot is the place of one mapping unit in NAND; slots are numbered block by block. What a
//! history before the run has left is not in tables: it is the [`Layout`] of one small tile,
//! repeated over the drive, and the tables say what changed since. So a drive of terabytes starts
//! in the time of a small one.
//!
//! The tables number a unit by its *home*. Homes follow the slots in which the layout has put the
//! units. Garbage collection empties slots in their order, so it changes entries that lie side by
//! side, and reads and writes memory in long runs.

use crate::ssd::ids::BlockId;
use crate::ssd::map::layout::Layout;
use crate::ssd::map::marks::Marks;
use crate::ssd::map::overlay::{Changes, Overlay, UNCHANGED};
use crate::ssd::map::slot::{Found, NONE};
use crate::ssd::translation::shape::Shape;
use prefetch_index::prefetch_index;
use raidlab_kernel::{Bits, Divider, Table};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

/// An entry of the forward table that says: nowhere.
const UNMAPPED: u32 = 1;
/// Added to a slot to make an entry.
const BIAS: u32 = 2;

/// How much of the layout holds for a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockState {
    /// All of it.
    AsLaid,
    /// What is not in `marks`.
    Marked,
    /// Nothing: its slots are in `reverse`.
    Rewritten,
}

/// Both directions of the map, and which slots hold valid data.
#[derive(Debug)]
pub(crate) struct Mapping {
    units: u32,
    /// Home to slot, where that has changed since the start.
    forward: Overlay,
    /// Slot to home, in blocks that were written since the start.
    reverse: Vec<u32>,
    /// How much of the layout holds, by block.
    states: Table<BlockId, BlockState>,
    /// Of a rewritten block: the slot holds valid data. Of any other block: it no longer does,
    /// although the layout says so.
    marks: Marks,
    layout: Layout,
    block_of: Divider,
}

/// What has changed since the start, and how it was at the start.
#[derive(Deserialize)]
pub(crate) struct SavedMapping {
    units: u32,
    forward: Changes,
    per_block: u32,
    blocks: u32,
    /// Blocks written since the start, and the homes of the units in all their slots.
    rewritten: Vec<BlockId>,
    homes: Vec<u32>,
    marks: Bits,
    layout: Layout,
}

impl Serialize for Mapping {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let blocks = self.states.len() as u32;
        let written = self.states.ids();
        let rewritten: Vec<BlockId> = written.filter(|&at| self.is_rewritten(at)).collect();
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
        saved.serialize_field("marks", &self.marks.all(|slot| self.has_layout(slot)))?;
        saved.serialize_field("layout", &self.layout)?;
        saved.end()
    }
}

impl SavedMapping {
    /// The map of a drive of this shape.
    ///
    /// # Errors
    /// Says what does not agree.
    pub(crate) fn restore(self, shape: Shape) -> Result<Mapping, String> {
        let blocks = shape.blocks();
        let per_block = shape.units_per_block();
        if (self.units, self.blocks, self.per_block) != (shape.units, blocks, per_block) {
            return Err("its map is that of another drive".into());
        }
        self.layout.agrees(shape)?;
        let slots = blocks * per_block;
        let homes = self.layout.homes(self.units);
        let rewritten = self.rewritten.iter().all(|&block| block.number() < blocks);
        let in_all = self.rewritten.len() * per_block as usize;
        let within = self.homes.iter().all(|&home| (home as usize) < homes);
        let marked = self.marks.are(slots as usize);
        if !rewritten || self.homes.len() != in_all || !within || !marked {
            return Err("its map goes beyond the drive".into());
        }
        let mut map = Mapping::new(self.units, blocks, per_block, self.layout);
        let forward = self.forward.restore(homes, slots - 1 + BIAS);
        map.forward = forward.ok_or("its map goes beyond the drive")?;
        map.marks = Marks::from(self.marks);
        map.states.iter_mut().for_each(|state| *state = BlockState::Marked);
        let homes = self.homes.chunks_exact(per_block as usize);
        for (block, homes) in self.rewritten.into_iter().zip(homes) {
            map.states[block] = BlockState::Rewritten;
            let slots = map.slots_of(block);
            map.reverse[slots].copy_from_slice(homes);
        }
        Ok(map)
    }
}

impl Mapping {
    /// Units and blocks as `layout` leaves them.
    pub(crate) fn new(units: u32, blocks: u32, per_block: u32, layout: Layout) -> Mapping {
        let slots = blocks as usize * per_block as usize;
        Mapping {
            units,
            forward: Overlay::new(layout.homes(units), slots as u32 - 1 + BIAS),
            reverse: vec![0; slots],
            states: vec![BlockState::AsLaid; blocks as usize].into(),
            marks: Marks::new(slots),
            layout,
            block_of: Divider::new(per_block),
        }
    }

    /// Where everything lay at the start.
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Number of units.
    pub(crate) fn units(&self) -> u32 {
        self.units
    }

    #[inline]
    fn block(&self, slot: u32) -> BlockId {
        BlockId::new(self.block_of.quotient(slot))
    }

    fn slots_of(&self, block: BlockId) -> std::ops::Range<usize> {
        let per_block = self.block_of.get() as usize;
        block.index() * per_block..(block.index() + 1) * per_block
    }

    /// Where `unit` lies.
    #[inline]
    pub(crate) fn find(&self, unit: u32) -> Found {
        self.now(self.layout.find(unit))
    }

    /// Where `unit` lies, and how many units from it on, at most `most`, are known to lie in the
    /// slots from there on: all those of a block that is as a drive filled in order has it.
    #[inline]
    pub(crate) fn find_row(&self, unit: u32, most: u32) -> (Found, u32) {
        let laid = self.layout.find(unit);
        let in_a_row = self.layout.in_a_row(unit, most);
        if in_a_row > 1 && laid.slot != NONE {
            let (block, within) = self.block_of.split(laid.slot);
            if self.states[BlockId::new(block)] == BlockState::AsLaid {
                return (laid, in_a_row.min(self.block_of.get() - within));
            }
        }
        (self.now(laid), 1)
    }

    /// Where the unit with this home lies.
    #[inline]
    pub(crate) fn at(&self, home: u32) -> Found {
        self.now(self.layout.at(home))
    }

    /// Where a unit lies that the layout has put where it was `laid`.
    #[inline]
    fn now(&self, laid: Found) -> Found {
        if laid.slot != NONE {
            match self.states[self.block(laid.slot)] {
                BlockState::AsLaid => return laid,
                BlockState::Marked if !self.marks.is_gone(laid.slot) => return laid,
                BlockState::Marked | BlockState::Rewritten => {}
            }
        }
        let slot = match self.forward.get(laid.home) {
            UNCHANGED | UNMAPPED => NONE,
            entry => entry - BIAS,
        };
        Found { slot, ..laid }
    }

    /// Prefetches what [`Mapping::find`] and [`Mapping::put`] need of a unit where it was `laid`.
    #[inline]
    pub(crate) fn prefetch(&self, laid: Found) {
        if laid.slot != NONE {
            self.marks.touch(laid.slot);
            prefetch_index(self.states.as_slice(), self.block(laid.slot).index());
        }
        self.forward.prefetch(laid.home);
    }

    /// The unit that was put into `slot` of `block`; [`NONE`] if none ever was.
    ///
    /// It is still there only if [`Mapping::is_valid`] says so.
    pub(crate) fn unit(&self, block: BlockId, slot: u32) -> u32 {
        if self.is_rewritten(block) {
            return self.layout.unit(self.reverse[slot as usize]);
        }
        match self.layout.block(block) {
            Some(laid) => self.layout.unit(laid.home + self.block_of.split(slot).1),
            None => NONE,
        }
    }

    /// Which of `count` slots of `block`, at most 64, from `first` on hold valid data.
    #[inline]
    pub(crate) fn valid(&self, block: BlockId, first: u32, count: u32) -> u64 {
        match (self.states[block], self.layout.block(block)) {
            (BlockState::Rewritten, _) => self.marks.valid(first, count),
            (_, None) => 0,
            (BlockState::AsLaid, Some(laid)) => laid.laid(self.block_of.split(first).1, count),
            (BlockState::Marked, Some(laid)) => {
                laid.laid(self.block_of.split(first).1, count) & !self.marks.gone(first, count)
            }
        }
    }

    /// True if `slot` of `block` holds valid data.
    pub(crate) fn is_valid(&self, block: BlockId, slot: u32) -> bool {
        self.valid(block, slot, 1) == 1
    }

    /// Takes the valid data out of `count` slots of `block` from `first` on, to be put elsewhere
    /// at once. `homes` receives the homes of their units.
    pub(crate) fn take_out(&mut self, block: BlockId, first: u32, count: u32, homes: &mut Vec<u32>) {
        let laid = self.layout.block(block);
        let laid = laid.map(|laid| laid.home + self.block_of.split(first).1);
        let laid = laid.filter(|_| !self.is_rewritten(block));
        if let Some(home) = laid {
            self.forward.expect(home, count);
        }
        for start in (0..count).step_by(64) {
            let mut valid = self.valid(block, first + start, 64.min(count - start));
            self.change(block, first + start, valid);
            while valid != 0 {
                let at = start + valid.trailing_zeros();
                homes.push(match laid {
                    Some(home) => home + at,
                    None => self.reverse[(first + at) as usize],
                });
                valid &= valid - 1;
            }
        }
        if laid.is_none() {
            homes.iter().for_each(|&home| self.forward.prefetch(home));
        }
    }

    /// The unit with this home.
    pub(crate) fn unit_of(&self, home: u32) -> u32 {
        self.layout.unit(home)
    }

    /// Puts the units with these homes side by side into the slots from `first` on.
    #[inline]
    pub(crate) fn put(&mut self, homes: &[u32], first: u32) {
        // Mostly few: a loop takes less time than a copy of them all.
        let start = first as usize;
        let there = &mut self.reverse[start..start + homes.len()];
        for ((&home, there), slot) in homes.iter().zip(there).zip(first..) {
            *there = home;
            self.forward.set(home, slot + BIAS);
        }
        self.marks.put(first, homes.len() as u32);
    }

    /// The data in `slot` of `block` are valid no longer.
    #[inline]
    pub(crate) fn invalidate(&mut self, block: BlockId, slot: u32) {
        self.change(block, slot, 1);
    }

    /// The data in the slots of `which` from `first` on are valid no longer.
    #[inline]
    fn change(&mut self, block: BlockId, first: u32, which: u64) {
        match self.states[block] {
            BlockState::Rewritten => return self.marks.take(first, which),
            BlockState::AsLaid => self.states[block] = BlockState::Marked,
            BlockState::Marked => {}
        }
        if !self.marks.note(first, which) {
            self.crowd(first, which);
        }
    }

    /// As `change`, where marks are too many for a table of scattered ones.
    #[cold]
    fn crowd(&mut self, first: u32, which: u64) {
        let mut bits = self.marks.all(|slot| self.has_layout(slot));
        let new = (0..u64::BITS).filter(|at| which >> at & 1 == 1);
        new.for_each(|at| bits.set(first + at));
        self.marks = Marks::from(bits);
    }

    /// True if the layout says what is in a slot, but for its mark.
    fn has_layout(&self, slot: u32) -> bool {
        !self.is_rewritten(self.block(slot))
    }

    /// The unit with this home holds nothing from now on.
    #[inline]
    pub(crate) fn clear(&mut self, home: u32) {
        self.forward.set(home, UNMAPPED);
    }

    /// The slots of `block` are in the table from now on and hold nothing, whatever the layout
    /// says.
    pub(crate) fn rewrite(&mut self, block: BlockId) {
        if !self.is_rewritten(block) {
            let per_block = self.block_of.get();
            self.marks.begin(block.number() * per_block, per_block);
            self.states[block] = BlockState::Rewritten;
        }
    }

    /// True if the slots of `block` are in the table, false if they are as laid out.
    #[inline]
    fn is_rewritten(&self, block: BlockId) -> bool {
        self.states[block] == BlockState::Rewritten
    }
}
