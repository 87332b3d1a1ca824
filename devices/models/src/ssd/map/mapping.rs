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

use crate::ssd::ids::{BlockId, HomeId, NandSlot, UnitId};
use crate::ssd::map::layout::Layout;
use crate::ssd::map::marks::Marks;
use crate::ssd::map::overlay::{Changes, Overlay, UNCHANGED};
use crate::ssd::map::slot::Found;
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
    /// Slot to the number of a home, in blocks that were written since the start.
    reverse: Table<NandSlot, u32>,
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
            .flat_map(|&block| self.reverse.row(self.start(block), self.block_of.get()))
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
        map.states
            .iter_mut()
            .for_each(|state| *state = BlockState::Marked);
        let homes = self.homes.chunks_exact(per_block as usize);
        for (block, homes) in self.rewritten.into_iter().zip(homes) {
            map.states[block] = BlockState::Rewritten;
            let first = map.start(block);
            map.reverse.row_mut(first, per_block).copy_from_slice(homes);
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
            reverse: vec![0; slots].into(),
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
    fn block(&self, slot: NandSlot) -> BlockId {
        BlockId::new(self.block_of.quotient(slot.number()))
    }

    /// The first slot of a block.
    fn start(&self, block: BlockId) -> NandSlot {
        NandSlot::new(block.number() * self.block_of.get())
    }

    /// The slot's place in its block.
    #[inline]
    fn within(&self, slot: NandSlot) -> u32 {
        self.block_of.split(slot.number()).1
    }

    #[inline]
    fn home_at(&self, slot: NandSlot) -> HomeId {
        HomeId::new(self.reverse[slot])
    }

    /// Where `unit` lies.
    #[inline]
    pub(crate) fn find(&self, unit: UnitId) -> Found {
        self.now(self.layout.find(unit))
    }

    /// Where `unit` lies, and how many units from it on, at most `most`, are known to lie in the
    /// slots from there on: all those of a block that is as a drive filled in order has it.
    #[inline]
    pub(crate) fn find_row(&self, unit: UnitId, most: u32) -> (Found, u32) {
        let laid = self.layout.find(unit);
        let in_a_row = self.layout.in_a_row(unit, most);
        if in_a_row > 1 && laid.slot != NandSlot::NONE {
            let (block, within) = self.block_of.split(laid.slot.number());
            if self.states[BlockId::new(block)] == BlockState::AsLaid {
                return (laid, in_a_row.min(self.block_of.get() - within));
            }
        }
        (self.now(laid), 1)
    }

    /// Where the unit with this home lies.
    #[inline]
    pub(crate) fn at(&self, home: HomeId) -> Found {
        self.now(self.layout.at(home))
    }

    /// Where a unit lies that the layout has put where it was `laid`.
    #[inline]
    fn now(&self, laid: Found) -> Found {
        if laid.slot != NandSlot::NONE {
            match self.states[self.block(laid.slot)] {
                BlockState::AsLaid => return laid,
                BlockState::Marked if !self.marks.is_gone(laid.slot) => return laid,
                BlockState::Marked | BlockState::Rewritten => {}
            }
        }
        let slot = match self.forward.get(laid.home.number()) {
            UNCHANGED | UNMAPPED => NandSlot::NONE,
            entry => NandSlot::new(entry - BIAS),
        };
        Found { slot, ..laid }
    }

    /// Prefetches what [`Mapping::find`] and [`Mapping::put`] need of a unit where it was `laid`.
    #[inline]
    pub(crate) fn prefetch(&self, laid: Found) {
        if laid.slot != NandSlot::NONE {
            self.marks.touch(laid.slot);
            prefetch_index(self.states.as_slice(), self.block(laid.slot).index());
        }
        self.forward.prefetch(laid.home.number());
    }

    /// The unit that was put into `slot` of `block`; [`UnitId::NONE`] if none ever was.
    ///
    /// It is still there only if [`Mapping::is_valid`] says so.
    pub(crate) fn unit(&self, block: BlockId, slot: NandSlot) -> UnitId {
        if self.is_rewritten(block) {
            return self.layout.unit(self.home_at(slot));
        }
        match self.layout.block(block) {
            Some(laid) => self.layout.unit(laid.home.plus(self.within(slot))),
            None => UnitId::NONE,
        }
    }

    /// Which of `count` slots of `block`, at most 64, from `first` on hold valid data.
    #[inline]
    pub(crate) fn valid(&self, block: BlockId, first: NandSlot, count: u32) -> u64 {
        match (self.states[block], self.layout.block(block)) {
            (BlockState::Rewritten, _) => self.marks.valid(first, count),
            (_, None) => 0,
            (BlockState::AsLaid, Some(laid)) => laid.laid(self.within(first), count),
            (BlockState::Marked, Some(laid)) => {
                laid.laid(self.within(first), count) & !self.marks.gone(first, count)
            }
        }
    }

    /// True if `slot` of `block` holds valid data.
    pub(crate) fn is_valid(&self, block: BlockId, slot: NandSlot) -> bool {
        self.valid(block, slot, 1) == 1
    }

    /// Takes the valid data out of `count` slots of `block` from `first` on, to be put elsewhere
    /// at once. `homes` receives the homes of their units.
    pub(crate) fn take_out(
        &mut self,
        block: BlockId,
        first: NandSlot,
        count: u32,
        homes: &mut Vec<HomeId>,
    ) {
        let laid = self.layout.block(block);
        let laid = laid.map(|laid| laid.home.plus(self.within(first)));
        let laid = laid.filter(|_| !self.is_rewritten(block));
        if let Some(home) = laid {
            self.forward.expect(home.number(), count);
        }
        for start in (0..count).step_by(64) {
            let mut valid = self.valid(block, first.plus(start), 64.min(count - start));
            self.change(block, first.plus(start), valid);
            while valid != 0 {
                let at = start + valid.trailing_zeros();
                homes.push(match laid {
                    Some(home) => home.plus(at),
                    None => self.home_at(first.plus(at)),
                });
                valid &= valid - 1;
            }
        }
        if laid.is_none() {
            homes
                .iter()
                .for_each(|home| self.forward.prefetch(home.number()));
        }
    }

    /// The unit with this home.
    pub(crate) fn unit_of(&self, home: HomeId) -> UnitId {
        self.layout.unit(home)
    }

    /// Puts the units with these homes side by side into the slots from `first` on.
    #[inline]
    pub(crate) fn put(&mut self, homes: &[HomeId], first: NandSlot) {
        self.put_each(homes.iter().copied(), homes.len() as u32, first);
    }

    /// As `put`, of `count` homes.
    #[inline]
    fn put_each(&mut self, homes: impl Iterator<Item = HomeId>, count: u32, first: NandSlot) {
        // Mostly few: a loop takes less time than a copy of them all.
        let there = self.reverse.row_mut(first, count);
        for ((home, there), entry) in homes.zip(there).zip(first.number() + BIAS..) {
            *there = home.number();
            self.forward.set(home.number(), entry);
        }
        self.marks.put(first, count);
    }

    /// The data in `slot` of `block` are valid no longer.
    #[inline]
    pub(crate) fn invalidate(&mut self, block: BlockId, slot: NandSlot) {
        self.change(block, slot, 1);
    }

    /// The data in the slots of `which` from `first` on are valid no longer.
    #[inline]
    fn change(&mut self, block: BlockId, first: NandSlot, which: u64) {
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
    fn crowd(&mut self, first: NandSlot, which: u64) {
        let mut bits = self.marks.all(|slot| self.has_layout(slot));
        let new = (0..u64::BITS).filter(|at| which >> at & 1 == 1);
        new.for_each(|at| bits.set(first.number() + at));
        self.marks = Marks::from(bits);
    }

    /// True if the layout says what is in a slot, but for its mark.
    fn has_layout(&self, slot: NandSlot) -> bool {
        !self.is_rewritten(self.block(slot))
    }

    /// The unit with this home holds nothing from now on.
    #[inline]
    pub(crate) fn clear(&mut self, home: HomeId) {
        self.forward.set(home.number(), UNMAPPED);
    }

    /// The slots of `block` are in the table from now on and hold nothing, whatever the layout
    /// says.
    pub(crate) fn rewrite(&mut self, block: BlockId) {
        if !self.is_rewritten(block) {
            let per_block = self.block_of.get();
            self.marks.begin(self.start(block), per_block);
            self.states[block] = BlockState::Rewritten;
        }
    }

    /// A block that a history left open, `filled` up to here, is written on: its slots are in the
    /// table from now on.
    #[cold]
    pub(crate) fn reopen(&mut self, block: BlockId, filled: u32) {
        let Some(home) = self.layout.block(block).map(|laid| laid.home) else {
            return self.rewrite(block);
        };
        let (start, per_block) = (self.start(block), self.block_of.get());
        self.forward.expect(home.number(), filled);
        for at in (0..per_block).step_by(64) {
            let count = 64.min(per_block - at);
            let mut valid = self.valid(block, start.plus(at), count);
            // Its marks say now what is valid, no longer what is not.
            self.marks.begin(start.plus(at), count);
            while valid != 0 {
                let hole = valid.trailing_zeros();
                let row = (valid >> hole).trailing_ones();
                let homes = home.plus(at + hole).row(row);
                self.put_each(homes, row, start.plus(at + hole));
                valid &= u64::MAX.checked_shl(hole + row).unwrap_or(0);
            }
        }
        self.states[block] = BlockState::Rewritten;
    }

    /// True if the slots of `block` are in the table, false if they are as laid out.
    #[inline]
    pub(crate) fn is_rewritten(&self, block: BlockId) -> bool {
        self.states[block] == BlockState::Rewritten
    }
}
