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
mod tiles;

use crate::ssd::map::layout::Layout;
use crate::ssd::map::mapping::Mapping;
use crate::ssd::map::slot::{Found, Frontier, NONE};
use blocks::{Blocks, Die, Origin};
use policy::CollectionParams;
use raidlab_kernel::Divider;
use raidlab_kernel::Stream;
pub(crate) use restore::SavedTranslation;
use serde::{Deserialize, Serialize};

/// Takes the NAND operations that the translation layer causes, in order.
pub(crate) trait Work {
    /// A page set is full and is programmed; sets are numbered over the whole drive.
    fn program(&mut self, die: u32, origin: Origin, set: u32);
    /// `units` of a page set are read to be moved.
    fn collect_read(&mut self, die: u32, set: u32, units: u32);
    /// A block is erased.
    fn erase(&mut self, die: u32);
    /// True if `moved` has an effect.
    fn follows_map(&self) -> bool {
        false
    }
    /// True if a die's share of the write buffer has room for another page set of the host's.
    fn has_share(&self, _die: u32) -> bool {
        true
    }
    /// The map changes for a unit that is moved.
    fn moved(&mut self, _unit: u32) {}
}

/// Lets every operation pass without effect.
pub(crate) struct Untimed;

impl Work for Untimed {
    fn program(&mut self, _die: u32, _origin: Origin, _set: u32) {}
    fn collect_read(&mut self, _die: u32, _set: u32, _units: u32) {}
    fn erase(&mut self, _die: u32) {}
}

/// The numbers that make up a drive's address spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Shape {
    /// Mapping units that the host can address.
    pub(crate) units: u32,
    /// Dies.
    pub(crate) dies: u32,
    /// Blocks of a die; a block spans all planes.
    pub(crate) blocks_per_die: u32,
    /// Page sets of a block: one page of every plane.
    pub(crate) sets_per_block: u32,
    /// Mapping units of a page set.
    pub(crate) units_per_set: u32,
}

impl Shape {
    pub(crate) fn units_per_block(&self) -> u32 {
        self.sets_per_block * self.units_per_set
    }

    pub(crate) fn units_per_die(&self) -> u32 {
        self.blocks_per_die * self.units_per_block()
    }
}

/// What was done, in mapping units unless the name says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Counts {
    /// Written by the host.
    pub(crate) host: u64,
    /// Moved by garbage collection.
    pub(crate) moved: u64,
    /// Left empty because a page set was programmed before it was full.
    pub(crate) padded: u64,
    /// Blocks erased.
    pub(crate) erases: u64,
}

impl Counts {
    /// NAND writes for each write of the host; 1 if there were none.
    pub(crate) fn write_amplification(&self) -> f64 {
        if self.host == 0 {
            return 1.0;
        }
        (self.host + self.moved) as f64 / self.host as f64
    }

    /// Units moved as a share of all that NAND has written; 0 if there were none.
    pub(crate) fn moved_share(&self) -> f64 {
        self.moved as f64 / (self.host + self.moved).max(1) as f64
    }
}

/// Map, blocks, frontiers and garbage collection of one drive.
#[derive(Debug, Serialize)]
pub(crate) struct Translation {
    shape: Shape,
    params: CollectionParams,
    pub(crate) map: Mapping,
    blocks: Blocks,
    dies: Vec<Die>,
    /// Divide slots into blocks, blocks into dies, slots into page sets, sets into blocks.
    block_of: Divider,
    die_of: Divider,
    set_of: Divider,
    sets_of: Divider,
    /// The die whose page set the host is filling.
    current: u32,
    /// Units that a die may hold so that collection can always free a block.
    die_limit: u32,
    draws: Stream,
    counts: Counts,
    open_at_start: u64,
    /// Of all units that a history's last load at random had NAND write, those that were moved.
    moved_share: f64,
    /// The die on which nothing can be freed any more.
    #[serde(skip)]
    stuck: Option<u32>,
    /// Homes of units on the move; a field, so that collection allocates nothing.
    #[serde(skip)]
    moving: Vec<u32>,
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
        let count = shape.dies * shape.blocks_per_die;
        let dies = (0..shape.dies)
            .map(|die| Die {
                free: (die * shape.blocks_per_die..(die + 1) * shape.blocks_per_die).collect(),
                frontiers: [Frontier::CLOSED; 2],
                victim: None,
                usual_budget: 0,
                valid: 0,
            })
            .collect();
        Translation {
            shape,
            params,
            map: Mapping::new(shape.units, count, per_block, layout),
            blocks: Blocks::new(count as usize),
            dies,
            block_of: Divider::new(per_block),
            die_of: Divider::new(shape.blocks_per_die),
            set_of: Divider::new(shape.units_per_set),
            sets_of: Divider::new(shape.sets_per_block),
            current: 0,
            die_limit: shape.units_per_die() - WORKING_BLOCKS * per_block,
            draws,
            counts: Counts::default(),
            open_at_start: 0,
            moved_share: 0.0,
            stuck: None,
            moving: Vec::with_capacity(shape.units_per_set as usize),
        }
    }

    /// Units in page sets that are open: placed, and not programmed yet.
    pub(crate) fn units_in_open_sets(&self) -> u64 {
        let frontiers = self.dies.iter().flat_map(|die| &die.frontiers);
        let open = frontiers.filter(|frontier| frontier.block != NONE);
        open.map(|frontier| u64::from(self.set_of.split(frontier.next).1))
            .sum()
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

    /// True if the next unit of the host opens a block.
    pub(crate) fn at_block_boundary(&self) -> bool {
        let frontier = self.dies[self.current as usize].frontiers[Origin::Host as usize];
        frontier.block == NONE || frontier.next == self.block_of.get()
    }

    /// Units that still fit into the block that moved data go to.
    pub(crate) fn room_for_collection(&self) -> u32 {
        let frontier = self.dies[self.current as usize].frontiers[Origin::Collection as usize];
        match frontier.block {
            NONE => 0,
            _ => self.block_of.get() - frontier.next,
        }
    }

    /// True if nothing can be freed any more on one of the dies.
    #[inline]
    pub(crate) fn is_stuck(&self) -> bool {
        self.stuck.is_some()
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    /// Makes the layer ready for a run after it was read from a file.
    pub(crate) fn resume(&mut self) {
        self.moving.reserve(self.shape.units_per_set as usize);
        self.reset_counts();
    }

    /// Starts counting anew, as at the end of a warm-up.
    pub(crate) fn reset_counts(&mut self) {
        self.counts = Counts::default();
        self.open_at_start = self.units_in_open_sets();
    }

    /// The page set of a slot, sets numbered over the whole drive.
    #[inline]
    pub(crate) fn set(&self, slot: u32) -> u32 {
        self.set_of.quotient(slot)
    }

    /// The units that lie in a page set.
    pub(crate) fn units_of(&self, set: u32) -> impl Iterator<Item = u32> + '_ {
        let first = set * self.shape.units_per_set;
        let block = self.block_of.quotient(first);
        let slots = first..first + self.shape.units_per_set;
        let here = slots.filter(move |&slot| self.map.is_valid(block, slot));
        here.map(move |slot| self.map.unit(block, slot))
    }

    /// (die of a page set, number of the set in its block)
    #[inline]
    pub(crate) fn locate(&self, set: u32) -> (u32, u32) {
        let (block, within) = self.sets_of.split(set);
        (self.die_of.quotient(block), within)
    }

    /// The die whose page set the host is filling.
    #[inline]
    pub(crate) fn current_die(&self) -> u32 {
        self.current
    }

    /// The page set that the host is filling; none if the next write opens a block or set.
    #[inline]
    pub(crate) fn open_set(&self, die: u32) -> u32 {
        let frontier = self.dies[die as usize].frontiers[Origin::Host as usize];
        if frontier.block == NONE || self.set_of.split(frontier.next).1 == 0 {
            return NONE;
        }
        self.set(frontier.block * self.block_of.get() + frontier.next)
    }

    /// Prefetches what a write of `unit` needs; nothing for a unit beyond the end.
    #[inline]
    pub(crate) fn prefetch(&self, unit: u32) {
        if unit < self.shape.units {
            let laid = self.map.layout().find(unit);
            self.map.prefetch(laid);
            if laid.slot != NONE {
                self.blocks.prefetch(self.block_of.quotient(laid.slot));
            }
        }
    }

    /// Prefetches what [`Translation::prefetch`] needs.
    #[inline]
    pub(crate) fn prefetch_layout(&self, unit: u32) {
        if unit < self.shape.units {
            self.map.layout().prefetch(unit);
        }
    }

    /// The host writes `unit`.
    #[inline]
    pub(crate) fn write<W: Work>(&mut self, unit: u32, work: &mut W) {
        self.write_over(self.map.find(unit), work);
    }

    /// The host writes a unit that was found in the map.
    #[inline]
    pub(crate) fn write_over<W: Work>(&mut self, unit: Found, work: &mut W) {
        let die = self.current;
        self.counts.host += 1;
        let Found { home, mut slot } = unit;
        if self.needs_block(die, Origin::Host) {
            if !self.open(die, Origin::Host, work) {
                return;
            }
            // Making room may have moved the unit itself.
            slot = self.map.at(home).slot;
        }
        if slot != NONE {
            self.invalidate(slot);
        }
        if self.append(die, Origin::Host, &[home]) {
            self.finish_set(work);
        }
    }

    /// Programs the page set that the host is filling, as full as it is.
    pub(crate) fn pad<W: Work>(&mut self, work: &mut W) {
        let room = self.room_in_set(self.current, Origin::Host);
        if room == self.shape.units_per_set {
            return;
        }
        let frontier = &mut self.dies[self.current as usize].frontiers[Origin::Host as usize];
        frontier.next += room;
        self.counts.padded += u64::from(room);
        self.finish_set(work);
    }

    /// The range of units from `first` on holds nothing any more.
    pub(crate) fn trim(&mut self, first: u32, count: u32) {
        for unit in first..first + count {
            let Found { home, slot } = self.map.find(unit);
            if slot != NONE {
                self.invalidate(slot);
                self.map.clear(home);
            }
        }
    }

    /// The page set before a frontier.
    fn last_set(&self, die: u32, origin: Origin) -> u32 {
        let Frontier { block, next } = self.dies[die as usize].frontiers[self.stream(origin)];
        self.set(block * self.block_of.get() + next - 1)
    }

    /// Units that still fit into the page set at a frontier; as many as it holds if that is a new
    /// one.
    #[inline]
    pub(crate) fn room_in_set(&self, die: u32, origin: Origin) -> u32 {
        let next = self.dies[die as usize].frontiers[self.stream(origin)].next;
        self.shape.units_per_set - self.set_of.split(next).1
    }

    /// The index of the frontier that takes data of this origin.
    #[inline]
    fn stream(&self, origin: Origin) -> usize {
        if self.params.separate_frontiers {
            origin as usize
        } else {
            Origin::Host as usize
        }
    }

    /// The host's page set is full: program it, collect in step, go to the next die.
    fn finish_set<W: Work>(&mut self, work: &mut W) {
        let die = self.current;
        work.program(die, Origin::Host, self.last_set(die, Origin::Host));
        self.collect_in_step(die, self.shape.units_per_set, work);
        self.current = self.next_die(work);
    }

    /// The next die, in their order, that can hold another page set and has room for it in its share
    /// of the buffer; if none has room, the next one that can hold it.
    ///
    /// So a die that is slow for a while, as its victims free little, gets less to write. Blind to
    /// that, the others would wait for it once all of the buffer waits for it, and it would stay
    /// slow: data that are overwritten in the buffer keep their place there, so a die with much of
    /// the buffer loses less than others by overwriting, and collects more.
    fn next_die<W: Work>(&self, work: &W) -> u32 {
        let after = |die| {
            if die + 1 == self.shape.dies {
                0
            } else {
                die + 1
            }
        };
        let can_hold =
            |die: u32| self.dies[die as usize].valid + self.shape.units_per_set <= self.die_limit;
        let mut die = self.current;
        let mut first = None;
        for _ in 0..self.shape.dies {
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

    /// True if a frontier of `die` has no room left.
    #[inline]
    fn needs_block(&self, die: u32, origin: Origin) -> bool {
        let frontier = self.dies[die as usize].frontiers[self.stream(origin)];
        frontier.block == NONE || frontier.next == self.block_of.get()
    }

    /// Writes the units with these homes at a frontier of `die` whose page set has room for them;
    /// true if it has no more.
    #[inline]
    fn append(&mut self, die: u32, origin: Origin, homes: &[u32]) -> bool {
        let count = homes.len() as u32;
        let stream = self.stream(origin);
        let state = &mut self.dies[die as usize];
        let frontier = &mut state.frontiers[stream];
        let (block, slot) = (
            frontier.block,
            frontier.block * self.block_of.get() + frontier.next,
        );
        frontier.next += count;
        let is_full = self.set_of.split(frontier.next).1 == 0;
        state.valid += count;
        self.blocks.add_valid(block, count);
        self.map.put(homes, slot);
        is_full
    }

    #[inline]
    fn invalidate(&mut self, slot: u32) {
        let block = self.block_of.quotient(slot);
        self.map.invalidate(block, slot);
        self.blocks.drop_valid(block, 1);
        self.dies[self.die_of.quotient(block) as usize].valid -= 1;
    }

    /// Closes the frontier's block and opens a free one; false if none can be had.
    fn open<W: Work>(&mut self, die: u32, origin: Origin, work: &mut W) -> bool {
        let stream = self.stream(origin);
        // The last free block belongs to collection, which could free nothing without it.
        if origin == Origin::Host {
            if !self.make_room(die, work) {
                return false;
            }
            // Collection may have opened a block for both.
            let frontier = self.dies[die as usize].frontiers[stream];
            if frontier.block != NONE && frontier.next < self.block_of.get() {
                return true;
            }
        }
        let state = &mut self.dies[die as usize];
        let full = state.frontiers[stream].block;
        if full != NONE {
            self.blocks.close(full);
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
