//! The translation layer without time: what a write does to the map, and which NAND operations
//! follow from it, in their order. The drive gives each operation its time. A test, or a history
//! before the run, only counts them.

mod audit;
pub mod background;
pub mod blocks;
mod emptying;
pub mod erase_blocks;
pub mod policy;
mod restore;
pub mod shape;
pub mod space;
mod tiles;

use crate::ssd::ids::{DieId, HomeId, NandSlot, SetId, UnitId};
use crate::ssd::map::layout::Layout;
use crate::ssd::map::mapping::Mapping;
use crate::ssd::map::slot::{Found, Frontier};
use blocks::Origin;
use policy::CollectionParams;
use raidlab_kernel::Stream;
pub(crate) use restore::SavedTranslation;
pub(crate) use shape::{Counts, Shape};
use space::Space;

/// Takes the NAND operations that the translation layer causes, in order.
pub(crate) trait Work {
    /// A page set is full and is programmed; sets are numbered over the whole drive.
    fn program(&mut self, die: DieId, origin: Origin, set: SetId);
    /// `units` of a page set are read to be moved.
    fn collect_read(&mut self, die: DieId, set: SetId, units: u32);
    /// A block is erased.
    fn erase(&mut self, die: DieId);
    /// True if `moved` has an effect.
    fn follows_map(&self) -> bool {
        false
    }
    /// True if a die's share of the write buffer has room for another page set of the host's.
    fn has_share(&self, _die: DieId) -> bool {
        true
    }
    /// The map changes for a unit that is moved.
    fn moved(&mut self, _unit: UnitId) {}
}

/// Lets every operation pass without effect.
pub(crate) struct Untimed;

impl Work for Untimed {
    fn program(&mut self, _die: DieId, _origin: Origin, _set: SetId) {}
    fn collect_read(&mut self, _die: DieId, _set: SetId, _units: u32) {}
    fn erase(&mut self, _die: DieId) {}
}

/// Map, blocks, frontiers and garbage collection of one drive.
#[derive(Debug)]
pub(crate) struct Translation {
    params: CollectionParams,
    pub(crate) map: Mapping,
    pub(crate) space: Space,
    /// The die whose page set the host is filling.
    current: DieId,
    /// Units that a die may hold so that collection can always free a block.
    die_limit: u32,
    draws: Stream,
    counts: Counts,
    open_at_start: u64,
    /// Of all units that a history's last load at random had NAND write, those that were moved.
    moved_share: f64,
    /// The die on which nothing can be freed any more.
    stuck: Option<DieId>,
    /// Homes of units on the move; a field, so that collection allocates nothing.
    moving: Vec<HomeId>,
}

/// Blocks of a die that never hold data: the one that garbage collection fills last, one that
/// the host may open meanwhile, and the two frontiers.
pub(crate) const WORKING_BLOCKS: u32 = 4;

impl Translation {
    /// A drive as `layout` describes it; `draws` decides the random policies.
    pub(crate) fn new(
        shape: Shape,
        params: CollectionParams,
        layout: Layout,
        draws: Stream,
    ) -> Translation {
        let per_block = shape.units_per_block();
        Translation {
            params,
            map: Mapping::new(shape.units, shape.blocks(), per_block, layout),
            space: Space::new(shape, params.separate_frontiers),
            current: DieId::new(0),
            die_limit: shape.units_per_die() - WORKING_BLOCKS * per_block,
            draws,
            counts: Counts::default(),
            open_at_start: 0,
            moved_share: 0.0,
            stuck: None,
            moving: Vec::with_capacity(shape.units_per_set as usize),
        }
    }

    /// Share of the units that lie where collection has moved them and not where the host has
    /// written them: of what a history's last load at random had NAND write.
    pub(crate) fn moved_share(&self) -> f64 {
        self.moved_share
    }

    /// Units that a history left in open page sets.
    pub(crate) fn units_open_at_start(&self) -> u64 {
        self.open_at_start
    }

    /// True if nothing can be freed any more on one of the dies.
    #[inline]
    pub(crate) fn is_stuck(&self) -> bool {
        self.stuck.is_some()
    }

    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    /// Makes the layer ready for a run after it was read from a file.
    pub(crate) fn resume(&mut self) {
        self.moving.reserve(self.space.shape.units_per_set as usize);
        self.reset_counts();
    }

    /// Starts counting anew, as at the end of a warm-up.
    pub(crate) fn reset_counts(&mut self) {
        self.counts = Counts::default();
        self.open_at_start = self.space.units_in_open_sets();
    }

    /// The units that lie in a page set.
    pub(crate) fn units_of(&self, set: SetId) -> impl Iterator<Item = UnitId> + '_ {
        let slots = self.space.slots(set);
        let block = self.space.block(slots.start);
        let slots = slots.start.row(self.space.shape.units_per_set);
        let here = slots.filter(move |&slot| self.map.is_valid(block, slot));
        here.map(move |slot| self.map.unit(block, slot))
    }

    /// The die whose page set the host is filling.
    #[inline]
    pub(crate) fn current_die(&self) -> DieId {
        self.current
    }

    /// Prefetches what a write of `unit` needs; nothing for a unit beyond the end.
    #[inline]
    pub(crate) fn prefetch(&self, unit: UnitId) {
        if unit.number() < self.space.shape.units {
            let laid = self.map.layout().find(unit);
            self.map.prefetch(laid);
            if laid.slot != NandSlot::NONE {
                self.space.blocks.prefetch(self.space.block(laid.slot));
            }
        }
    }

    /// Prefetches what [`Translation::prefetch`] needs.
    #[inline]
    pub(crate) fn prefetch_layout(&self, unit: UnitId) {
        if unit.number() < self.space.shape.units {
            self.map.layout().prefetch(unit);
        }
    }

    /// The host writes `unit`.
    #[inline]
    pub(crate) fn write<W: Work>(&mut self, unit: UnitId, work: &mut W) {
        self.write_over(self.map.find(unit), work);
    }

    /// The host writes a unit that was found in the map.
    #[inline]
    pub(crate) fn write_over<W: Work>(&mut self, unit: Found, work: &mut W) {
        let die = self.current;
        self.counts.host += 1;
        let Found { home, mut slot } = unit;
        if self.space.needs_block(die, Origin::Host) {
            if !self.open(die, Origin::Host, work) {
                return;
            }
            // Making room may have moved the unit itself.
            slot = self.map.at(home).slot;
        }
        if slot != NandSlot::NONE {
            self.invalidate(slot);
        }
        if self.append(die, Origin::Host, &[home]) {
            self.finish_set(work);
        }
    }

    /// Programs the page set that the host is filling, as full as it is.
    pub(crate) fn pad<W: Work>(&mut self, work: &mut W) {
        let room = self.space.room_in_set(self.current, Origin::Host);
        if room == self.space.shape.units_per_set {
            return;
        }
        let frontier = &mut self.space.dies[self.current].frontiers[Origin::Host as usize];
        frontier.next += room;
        self.counts.padded += u64::from(room);
        self.finish_set(work);
    }

    /// The range of units from `first` on holds nothing any more.
    pub(crate) fn trim(&mut self, first: UnitId, count: u32) {
        for unit in first.row(count) {
            let Found { home, slot } = self.map.find(unit);
            if slot != NandSlot::NONE {
                self.invalidate(slot);
                self.map.clear(home);
            }
        }
    }

    /// The host's page set is full: program it, collect in step, go to the next die.
    fn finish_set<W: Work>(&mut self, work: &mut W) {
        let die = self.current;
        work.program(die, Origin::Host, self.space.last_set(die, Origin::Host));
        self.collect_in_step(die, self.space.shape.units_per_set, work);
        self.current = self.next_die(work);
    }

    /// The next die, in their order, that can hold another page set and has room for it in its share
    /// of the buffer; if none has room, the next one that can hold it.
    ///
    /// So a die that is slow for a while, as its victims free little, gets less to write. Blind to
    /// that, the others would wait for it once all of the buffer waits for it, and it would stay
    /// slow: data that are overwritten in the buffer keep their place there, so a die with much of
    /// the buffer loses less than others by overwriting, and collects more.
    fn next_die<W: Work>(&self, work: &W) -> DieId {
        let after = |die: DieId| {
            if die.number() + 1 == self.space.shape.dies {
                DieId::new(0)
            } else {
                die.plus(1)
            }
        };
        let can_hold = |die: DieId| {
            self.space.dies[die].valid + self.space.shape.units_per_set <= self.die_limit
        };
        let mut die = self.current;
        let mut first = None;
        for _ in 0..self.space.shape.dies {
            die = after(die);
            if can_hold(die) {
                if work.has_share(die) {
                    return die;
                }
                first = first.or(Some(die));
            }
        }
        first.unwrap_or(die)
    }

    /// Writes the units with these homes at a frontier of `die` whose page set has room for them;
    /// true if it has no more.
    #[inline]
    fn append(&mut self, die: DieId, origin: Origin, homes: &[HomeId]) -> bool {
        let count = homes.len() as u32;
        let stream = self.space.stream(origin);
        let state = &mut self.space.dies[die];
        let frontier = &mut state.frontiers[stream];
        let (block, before) = (frontier.block, frontier.next);
        frontier.next += count;
        let is_full = self.space.set_of.split(frontier.next).1 == 0;
        state.valid += count;
        self.space.blocks.add_valid(block, count);
        if !self.map.is_rewritten(block) {
            self.map.reopen(block, before);
        }
        self.map.put(homes, self.space.start(block).plus(before));
        is_full
    }

    #[inline]
    fn invalidate(&mut self, slot: NandSlot) {
        let block = self.space.block(slot);
        self.map.invalidate(block, slot);
        self.space.blocks.drop_valid(block, 1);
        let die = self.space.die(block);
        self.space.dies[die].valid -= 1;
    }

    /// Closes the frontier's block and opens a free one; false if none can be had.
    fn open<W: Work>(&mut self, die: DieId, origin: Origin, work: &mut W) -> bool {
        let stream = self.space.stream(origin);
        // The last free block belongs to collection, which could free nothing without it.
        if origin == Origin::Host {
            if !self.make_room(die, work) {
                return false;
            }
            // Collection may have opened a block for both.
            let frontier = self.space.dies[die].frontiers[stream];
            if frontier.is_open() && frontier.next < self.space.block_of.get() {
                return true;
            }
        }
        let state = &mut self.space.dies[die];
        let full = state.frontiers[stream];
        if full.is_open() {
            self.space.blocks.close(full.block);
        }
        // With wear levelling they are in the order of wear. Moved data are cold, so they go to a
        // worn block.
        let block = if self.params.level_wear && origin == Origin::Collection {
            state.free.pop_back()
        } else {
            state.free.pop_front()
        };
        let block = block.expect("a die reserves a free block for garbage collection");
        self.map.rewrite(block);
        state.frontiers[stream] = Frontier { block, next: 0 };
        true
    }
}

#[cfg(test)]
mod tests;
