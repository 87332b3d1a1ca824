//! The translation layer without time: what a write does to the map, and which NAND operations
//! it causes, in their order. The device gives each operation its time; a test or a history
//! before the run only counts them.

use super::allocation::{Blocks, Die, Frontier, Origin, Victim};
use super::bits::Bits;
use super::collection::{self, CollectionParams};
use super::divider::Divider;
use super::layout::{Layout, TileBlock, TileEnd, Tiles};
use super::mapping::{Mapping, NONE};
use raidlab_kernel::Stream;

/// Takes the NAND operations that the translation layer causes, in order.
pub(super) trait Work {
    /// A page set is full and is programmed; sets are numbered over the whole drive.
    fn program(&mut self, die: u32, origin: Origin, set: u32);
    /// `units` of a page set are read to be moved.
    fn collect_read(&mut self, die: u32, set: u32, units: u32);
    /// A block is erased.
    fn erase(&mut self, die: u32);
}

/// Lets every operation pass without effect.
pub(super) struct Untimed;

impl Work for Untimed {
    fn program(&mut self, _die: u32, _origin: Origin, _set: u32) {}
    fn collect_read(&mut self, _die: u32, _set: u32, _units: u32) {}
    fn erase(&mut self, _die: u32) {}
}

/// The numbers that make up a drive's address spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Mapping units that the host can address.
    pub(super) units: u32,
    /// Dies.
    pub(super) dies: u32,
    /// Blocks of a die; a block spans all planes.
    pub(super) blocks_per_die: u32,
    /// Page sets of a block: one page of every plane.
    pub(super) sets_per_block: u32,
    /// Mapping units of a page set.
    pub(super) units_per_set: u32,
}

impl Shape {
    pub(super) fn units_per_block(&self) -> u32 {
        self.sets_per_block * self.units_per_set
    }

    pub(super) fn units_per_die(&self) -> u32 {
        self.blocks_per_die * self.units_per_block()
    }
}

/// What was done, in mapping units unless the name says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Written by the host.
    pub(super) host: u64,
    /// Moved by garbage collection.
    pub(super) moved: u64,
    /// Left empty because a page set was programmed before it was full.
    pub(super) padded: u64,
    /// Blocks erased.
    pub(super) erases: u64,
}

impl Counts {
    /// NAND writes for each write of the host; 1 if there were none.
    pub(super) fn write_amplification(&self) -> f64 {
        if self.host == 0 {
            return 1.0;
        }
        (self.host + self.moved) as f64 / self.host as f64
    }
}

/// Map, blocks, frontiers and garbage collection of one drive.
#[derive(Debug)]
pub(super) struct Translation {
    shape: Shape,
    params: CollectionParams,
    pub(super) map: Mapping,
    blocks: Blocks,
    valid: Bits,
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
    /// Units on the move and their slots, kept so that collection allocates nothing.
    moving: Vec<(u32, u32)>,
}

/// Blocks of a die that never hold data: the one that garbage collection fills last, one that
/// the host may open meanwhile, and the two frontiers.
pub(super) const WORKING_BLOCKS: u32 = 4;

impl Translation {
    /// A drive as `layout` describes it; `draws` decides the random policies.
    pub(super) fn new(
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
                valid: 0,
            })
            .collect();
        Translation {
            shape,
            params,
            map: Mapping::new(shape.units, count, per_block, layout),
            blocks: Blocks::new(count as usize),
            valid: Bits::new(count as usize * per_block as usize),
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
            moving: Vec::with_capacity(shape.units_per_set as usize),
        }
    }

    /// A drive on which every tile is as `tiles` says; `source` is the simulated tile.
    pub(super) fn from_tiles(
        shape: Shape,
        params: CollectionParams,
        tiles: Tiles,
        source: &TileEnd,
        draws: Stream,
    ) -> Translation {
        let (count, used) = (tiles.tiles.get(), tiles.blocks);
        let first_blocks: Vec<u32> = (0..count).map(|tile| tiles.first_block(tile)).collect();
        let missing: Vec<Vec<u32>> = (0..count).map(|tile| tiles.beyond_end(tile)).collect();
        let tile_valid = tiles.valid();
        let mut drive = Translation::new(shape, params, Layout::Tiled(Box::new(tiles)), draws);
        for (tile, &first) in first_blocks.iter().enumerate() {
            let die = (first / shape.blocks_per_die) as usize;
            for (index, block) in source.blocks.iter().enumerate() {
                let id = first + index as u32;
                drive
                    .blocks
                    .restore(id, block.valid, block.closed, block.erases);
                drive.dies[die].valid += block.valid;
            }
            let slots = used * shape.units_per_block();
            let start = first * shape.units_per_block();
            drive.valid.copy(&tile_valid, slots, start);
            for &slot in &missing[tile] {
                drive.invalidate(start + slot);
            }
            drive.dies[die]
                .free
                .retain(|&block| block < first || block >= first + used);
            // The frontiers of a die's first tile stay open; those of the others are closed.
            if tile < shape.dies as usize {
                for (stream, &frontier) in source.frontiers.iter().enumerate() {
                    if frontier.block != NONE {
                        let block = first + frontier.block;
                        drive.resume_frontier(die, stream, block, frontier.next);
                    }
                }
            }
        }
        drive.open_at_start = drive.units_in_open_sets();
        drive
    }

    /// Goes on writing a block that a history left open.
    fn resume_frontier(&mut self, die: usize, stream: usize, block: u32, next: u32) {
        let per_block = self.block_of.get();
        for slot in block * per_block..(block + 1) * per_block {
            self.map.copy_from_layout(block, slot);
        }
        self.map.rewrite(block);
        self.blocks.take(block);
        self.dies[die].frontiers[stream] = Frontier { block, next };
    }

    /// Collects until every die has `target` free blocks, or as many as can be had.
    pub(super) fn collect_to<W: Work>(&mut self, target: u32, work: &mut W) {
        for die in 0..self.shape.dies {
            for _ in 0..self.shape.blocks_per_die {
                if self.dies[die as usize].free.len() >= target as usize {
                    break;
                }
                if self.dies[die as usize].victim.is_none() && !self.choose_victim(die) {
                    break;
                }
                while self.dies[die as usize].victim.is_some() {
                    self.collect_set(die, work);
                }
            }
        }
    }

    /// Units in page sets that are open: placed, and not programmed yet.
    pub(super) fn units_in_open_sets(&self) -> u64 {
        let frontiers = self.dies.iter().flat_map(|die| &die.frontiers);
        let open = frontiers.filter(|frontier| frontier.block != NONE);
        open.map(|frontier| u64::from(self.set_of.split(frontier.next).1))
            .sum()
    }

    /// Units that a history left in open page sets.
    pub(super) fn units_open_at_start(&self) -> u64 {
        self.open_at_start
    }

    /// True if the next unit of the host opens a block on the die in turn.
    pub(super) fn at_block_boundary(&self) -> bool {
        let frontier = self.dies[self.current as usize].frontiers[Origin::Host as usize];
        frontier.block == NONE || frontier.next == self.block_of.get()
    }

    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    /// Starts counting anew, as at the end of a warm-up.
    pub(super) fn reset_counts(&mut self) {
        self.counts = Counts::default();
    }

    /// The page set of a slot, sets numbered over the whole drive.
    #[inline]
    pub(super) fn set(&self, slot: u32) -> u32 {
        self.set_of.quotient(slot)
    }

    /// The units that lie in a page set.
    pub(super) fn units_of(&self, set: u32) -> impl Iterator<Item = u32> + '_ {
        let first = set * self.shape.units_per_set;
        let here = move |slot: &u32| self.valid.get(*slot);
        let slots = (first..first + self.shape.units_per_set).filter(here);
        slots.map(|slot| self.map.unit(self.block_of.quotient(slot), slot))
    }

    /// (die of a page set, number of the set in its block)
    #[inline]
    pub(super) fn locate(&self, set: u32) -> (u32, u32) {
        let (block, within) = self.sets_of.split(set);
        (self.die_of.quotient(block), within)
    }

    /// The die whose page set the host is filling.
    #[inline]
    pub(super) fn current_die(&self) -> u32 {
        self.current
    }

    /// The page set that the host is filling; none if the next write opens a block or set.
    #[inline]
    pub(super) fn open_set(&self, die: u32) -> u32 {
        let frontier = self.dies[die as usize].frontiers[Origin::Host as usize];
        if frontier.block == NONE || self.set_of.split(frontier.next).1 == 0 {
            return NONE;
        }
        self.set(frontier.block * self.block_of.get() + frontier.next)
    }

    /// Units that still fit into the page set that the host is filling.
    pub(super) fn room_in_set(&self) -> u32 {
        let frontier = self.dies[self.current as usize].frontiers[Origin::Host as usize];
        self.shape.units_per_set - self.set_of.split(frontier.next).1
    }

    /// The host writes `unit`.
    #[inline]
    pub(super) fn write<W: Work>(&mut self, unit: u32, work: &mut W) {
        let old = self.map.slot(unit);
        self.write_over(unit, old, work);
    }

    /// The host writes `unit`, which lies in slot `old` or, as [`NONE`] says, nowhere.
    #[inline]
    pub(super) fn write_over<W: Work>(&mut self, unit: u32, old: u32, work: &mut W) {
        let die = self.current;
        self.counts.host += 1;
        self.place(die, Origin::Host, unit, old, work);
        if self.set_is_full(die, Origin::Host) {
            self.finish_set(work);
        }
    }

    /// Programs the page set that the host is filling, as full as it is.
    pub(super) fn pad<W: Work>(&mut self, work: &mut W) {
        let room = self.room_in_set();
        if room == self.shape.units_per_set {
            return;
        }
        let frontier = &mut self.dies[self.current as usize].frontiers[Origin::Host as usize];
        frontier.next += room;
        self.counts.padded += u64::from(room);
        self.finish_set(work);
    }

    /// The range of units from `first` on holds nothing any more.
    pub(super) fn trim(&mut self, first: u32, count: u32) {
        for unit in first..first + count {
            let slot = self.map.slot(unit);
            if slot != NONE {
                self.invalidate(slot);
                self.map.clear(unit);
            }
        }
    }

    /// The page set before a frontier.
    fn last_set(&self, die: u32, origin: Origin) -> u32 {
        let Frontier { block, next } = self.dies[die as usize].frontiers[self.stream(origin)];
        self.set(block * self.block_of.get() + next - 1)
    }

    fn set_is_full(&self, die: u32, origin: Origin) -> bool {
        let next = self.dies[die as usize].frontiers[self.stream(origin)].next;
        self.set_of.split(next).1 == 0
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

    /// The host's page set is full: program it, let collection keep pace, go to the next die.
    fn finish_set<W: Work>(&mut self, work: &mut W) {
        let die = self.current;
        work.program(die, Origin::Host, self.last_set(die, Origin::Host));
        self.pace(die, self.shape.units_per_set, work);
        self.current = self.next_die();
    }

    /// The next die in turn that can hold another page set.
    fn next_die(&self) -> u32 {
        let mut die = self.current;
        for _ in 0..self.shape.dies {
            die = if die + 1 == self.shape.dies {
                0
            } else {
                die + 1
            };
            if self.dies[die as usize].valid + self.shape.units_per_set <= self.die_limit {
                break;
            }
        }
        die
    }

    /// Writes `unit`, which lies in slot `old`, at a frontier of `die`.
    #[inline]
    fn place<W: Work>(&mut self, die: u32, origin: Origin, unit: u32, old: u32, work: &mut W) {
        let mut old = old;
        let stream = self.stream(origin);
        let mut frontier = self.dies[die as usize].frontiers[stream];
        if frontier.block == NONE || frontier.next == self.block_of.get() {
            self.open(die, origin, work);
            frontier = self.dies[die as usize].frontiers[stream];
            // Making room may have moved the unit itself.
            old = self.map.slot(unit);
        }
        if old != NONE {
            self.invalidate(old);
        }
        let slot = frontier.block * self.block_of.get() + frontier.next;
        self.map.set(unit, slot);
        self.valid.set(slot);
        self.blocks.add_valid(frontier.block);
        let books = &mut self.dies[die as usize];
        books.valid += 1;
        books.frontiers[stream].next += 1;
    }

    #[inline]
    fn invalidate(&mut self, slot: u32) {
        let block = self.block_of.quotient(slot);
        self.valid.clear(slot);
        self.blocks.drop_valid(block);
        self.dies[self.die_of.quotient(block) as usize].valid -= 1;
    }

    /// Closes the frontier's block and opens a free one.
    fn open<W: Work>(&mut self, die: u32, origin: Origin, work: &mut W) {
        let stream = self.stream(origin);
        // The last free block belongs to collection, which could free nothing without it.
        if origin == Origin::Host {
            self.make_room(die, work);
            // Collection may have opened a block for both.
            let frontier = self.dies[die as usize].frontiers[stream];
            if frontier.block != NONE && frontier.next < self.block_of.get() {
                return;
            }
        }
        let books = &mut self.dies[die as usize];
        let full = books.frontiers[stream].block;
        if full != NONE {
            self.blocks.close(full);
        }
        let block = books
            .take_free(&self.blocks, self.params.level_wear)
            .expect("a die keeps a free block for garbage collection");
        self.map.rewrite(block);
        books.frontiers[stream] = Frontier { block, next: 0 };
    }

    /// Collects until the host may open a block: the write waits for all of it.
    fn make_room<W: Work>(&mut self, die: u32, work: &mut W) {
        let mut tries = 0;
        while self.dies[die as usize].free.len() < 2 {
            tries += 1;
            assert!(
                tries <= 4 * self.shape.blocks_per_die,
                "garbage collection frees nothing on die {die}: every block is full of valid data"
            );
            if self.dies[die as usize].victim.is_none() && !self.choose_victim(die) {
                panic!("die {die} has neither free blocks nor blocks to collect");
            }
            while self.dies[die as usize].victim.is_some() {
                self.collect_set(die, work);
            }
        }
    }

    /// Lets collection on `die` keep pace with `units` that the host has written there.
    fn pace<W: Work>(&mut self, die: u32, units: u32, work: &mut W) {
        let start = self.params.start_free_blocks as usize;
        let books = &mut self.dies[die as usize];
        if books.victim.is_none() && (books.free.len() >= start || !self.choose_victim(die)) {
            return;
        }
        if let Some(victim) = &mut self.dies[die as usize].victim {
            victim.written += units;
        }
        while let Some(victim) = self.dies[die as usize].victim {
            let due = u64::from(victim.written) * u64::from(self.shape.sets_per_block);
            if u64::from(victim.next_set) * u64::from(victim.budget) >= due && victim.budget > 0 {
                break;
            }
            self.collect_set(die, work);
        }
    }

    /// One step of collection on a die that has nothing else to do, until it has
    /// `background_free_blocks`; false if there is nothing to do.
    pub(super) fn collect_in_background<W: Work>(&mut self, die: u32, work: &mut W) -> bool {
        let target = self.params.background_free_blocks as usize;
        let books = &self.dies[die as usize];
        if books.victim.is_none() {
            if books.free.len() >= target || !self.choose_victim(die) {
                return false;
            }
            let victim = self.dies[die as usize].victim.expect("just chosen");
            // A full block frees nothing: idle time is not spent on it.
            if victim.budget == 0 {
                self.blocks.close(victim.block);
                self.dies[die as usize].victim = None;
                return false;
            }
        }
        self.collect_set(die, work);
        true
    }

    fn choose_victim(&mut self, die: u32) -> bool {
        let range = (die * self.shape.blocks_per_die, self.shape.blocks_per_die);
        let per_block = self.block_of.get();
        let chosen = collection::victim(
            &self.params,
            &self.blocks,
            range,
            per_block,
            &mut self.draws,
        );
        let Some(block) = chosen else { return false };
        let budget = per_block - self.blocks.valid(block);
        self.blocks.take(block);
        self.dies[die as usize].victim = Some(Victim {
            block,
            next_set: 0,
            budget,
            written: 0,
        });
        true
    }

    /// Moves what is valid in the victim's next page set; erases the block after the last one.
    fn collect_set<W: Work>(&mut self, die: u32, work: &mut W) {
        let Some(mut victim) = self.dies[die as usize].victim else {
            return;
        };
        let per_set = self.shape.units_per_set;
        let first = victim.block * self.block_of.get() + victim.next_set * per_set;
        if self.blocks.valid(victim.block) == 0 {
            victim.next_set = self.shape.sets_per_block - 1;
        } else {
            let mut moving = std::mem::take(&mut self.moving);
            moving.clear();
            for slot in first..first + per_set {
                if self.valid.get(slot) {
                    moving.push((self.map.unit(victim.block, slot), slot));
                }
            }
            if !moving.is_empty() {
                work.collect_read(die, self.set(first), moving.len() as u32);
            }
            for &(unit, slot) in &moving {
                self.place(die, Origin::Collection, unit, slot, work);
                if self.set_is_full(die, Origin::Collection) {
                    let set = self.last_set(die, Origin::Collection);
                    work.program(die, Origin::Collection, set);
                }
            }
            self.counts.moved += moving.len() as u64;
            self.moving = moving;
        }
        victim.next_set += 1;
        let books = &mut self.dies[die as usize];
        if victim.next_set < self.shape.sets_per_block {
            books.victim = Some(victim);
            return;
        }
        books.victim = None;
        self.blocks.erase(victim.block);
        books.free.push_back(victim.block);
        self.counts.erases += 1;
        work.erase(die);
    }

    /// The state in which a tile ends: tables and blocks in use, free blocks left out.
    pub(super) fn into_tile(self) -> TileEnd {
        let per_block = self.block_of.get();
        let free: Vec<bool> = {
            let mut free = vec![false; self.blocks.count() as usize];
            for &block in self.dies.iter().flat_map(|die| &die.free) {
                free[block as usize] = true;
            }
            free
        };
        let (mut forward, slots) = self.map.tables(per_block);
        let mut reverse = Vec::new();
        let mut blocks = Vec::new();
        let mut moved_down = vec![NONE; free.len()];
        for block in (0..self.blocks.count()).filter(|&block| !free[block as usize]) {
            moved_down[block as usize] = blocks.len() as u32;
            let start = (block * per_block) as usize;
            reverse.extend_from_slice(&slots[start..start + per_block as usize]);
            blocks.push(TileBlock {
                valid: self.blocks.valid(block),
                closed: self.closing_order(block),
                erases: self.blocks.erases(block),
            });
        }
        for slot in forward.iter_mut().filter(|slot| **slot != NONE) {
            let (block, offset) = self.block_of.split(*slot);
            *slot = moved_down[block as usize] * per_block + offset;
        }
        for (slot, unit) in reverse.iter_mut().enumerate() {
            if *unit != NONE && forward.get(*unit as usize) != Some(&(slot as u32)) {
                *unit = NONE;
            }
        }
        let mut frontiers = self.dies[0].frontiers;
        for frontier in frontiers.iter_mut().filter(|open| open.block != NONE) {
            frontier.block = moved_down[frontier.block as usize];
        }
        TileEnd {
            forward,
            reverse,
            blocks,
            frontiers,
        }
    }

    /// When a block was closed; a block that is still open counts as closed last.
    fn closing_order(&self, block: u32) -> u32 {
        if self.blocks.is_closed(block) {
            self.blocks.closed_at(block)
        } else {
            self.blocks.closings()
        }
    }

    /// Erases of the most and of the least worn block.
    pub(super) fn wear(&self) -> (u32, u32) {
        let erases = (0..self.blocks.count()).map(|block| self.blocks.erases(block));
        let (mut most, mut least) = (0, u32::MAX);
        for n in erases {
            (most, least) = (most.max(n), least.min(n));
        }
        (most, least)
    }

    /// Recounts the books: every mapped unit lies in the slot that names it, and valid counts
    /// agree. Of a large drive a sample of some hundred blocks is recounted.
    ///
    /// # Errors
    /// Says which books do not agree.
    pub(super) fn check(&self) -> Result<(), String> {
        let per_block = self.block_of.get();
        let small = u64::from(self.blocks.count()) * u64::from(per_block) <= 1 << 20;
        let stride = if small {
            1
        } else {
            (self.blocks.count() / 200).max(1)
        };
        for block in (0..self.blocks.count()).step_by(stride as usize) {
            let slots = block * per_block..(block + 1) * per_block;
            let mut marks_agree = true;
            let found = slots
                .filter(|&slot| {
                    let unit = self.map.unit(block, slot);
                    let holds = unit < self.shape.units && self.map.slot(unit) == slot;
                    marks_agree &= holds == self.valid.get(slot);
                    holds
                })
                .count() as u32;
            if !marks_agree {
                return Err(format!(
                    "valid marks of block {block} disagree with the map"
                ));
            }
            if found != self.blocks.valid(block) {
                return Err(format!(
                    "block {block} holds {found} valid units, its books say {}",
                    self.blocks.valid(block)
                ));
            }
        }
        let unit_stride = if small {
            1
        } else {
            (self.shape.units / 100_000).max(1)
        };
        for unit in (0..self.shape.units).step_by(unit_stride as usize) {
            let slot = self.map.slot(unit);
            if slot != NONE && self.map.unit(self.block_of.quotient(slot), slot) != unit {
                return Err(format!(
                    "unit {unit} is not in slot {slot} where the map says"
                ));
            }
        }
        self.check_dies()
    }

    fn check_dies(&self) -> Result<(), String> {
        for (index, die) in self.dies.iter().enumerate() {
            let first = index as u32 * self.shape.blocks_per_die;
            let valid: u32 = (first..first + self.shape.blocks_per_die)
                .map(|block| self.blocks.valid(block))
                .sum();
            if valid != die.valid {
                return Err(format!(
                    "die {index} holds {valid} valid units, its books say {}",
                    die.valid
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "translation_tests.rs"]
mod tests;
