//! The blocks of all dies: which are free, open, closed or being emptied, and how much of each is
//! valid; and where page sets and slots lie in them.

use super::Shape;
use crate::ssd::ids::{BlockId, DieId, NandSlot, SetId, SetInBlock};
use crate::ssd::map::slot::Frontier;
use crate::ssd::translation::blocks::{Blocks, Die, Origin, Victim};
use raidlab_kernel::{Divider, Table};
use std::ops::Range;

/// Free blocks that a die reserves for the frontiers; it can spare any others.
const FRONTIER_RESERVE: usize = 2;

/// The blocks of a drive.
#[derive(Debug)]
pub(crate) struct Space {
    pub(super) shape: Shape,
    /// The host and collection have a frontier each.
    pub(super) separate: bool,
    pub(super) blocks: Blocks,
    pub(super) dies: Table<DieId, Die>,
    /// Divide slots into blocks, blocks into dies, slots into page sets, sets into blocks.
    pub(super) block_of: Divider,
    pub(super) die_of: Divider,
    pub(super) set_of: Divider,
    pub(super) sets_of: Divider,
}

impl Space {
    /// All blocks are free.
    pub(super) fn new(shape: Shape, separate: bool) -> Space {
        let dies = (0..shape.dies)
            .map(|die| Die {
                free: shape.blocks_of(DieId::new(die)).collect(),
                frontiers: [Frontier::CLOSED; 2],
                victim: None,
                usual_budget: 0,
                valid: 0,
            })
            .collect();
        Space {
            shape,
            separate,
            blocks: Blocks::new(shape.blocks() as usize),
            dies,
            block_of: Divider::new(shape.units_per_block()),
            die_of: Divider::new(shape.blocks_per_die),
            set_of: Divider::new(shape.units_per_set),
            sets_of: Divider::new(shape.sets_per_block),
        }
    }

    /// The numbers that make it up.
    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    /// Units in page sets that are open: placed, and not programmed yet.
    pub(crate) fn units_in_open_sets(&self) -> u64 {
        let frontiers = self.dies.iter().flat_map(|die| &die.frontiers);
        let open = frontiers.filter(|frontier| frontier.is_open());
        open.map(|frontier| u64::from(self.set_of.split(frontier.next).1))
            .sum()
    }

    /// The page set of a slot, sets numbered over the whole drive.
    #[inline]
    pub(crate) fn set(&self, slot: NandSlot) -> SetId {
        SetId::new(self.set_of.quotient(slot.number()))
    }

    /// The block of a slot.
    #[inline]
    pub(super) fn block(&self, slot: NandSlot) -> BlockId {
        BlockId::new(self.block_of.quotient(slot.number()))
    }

    /// The die of a block.
    #[inline]
    pub(super) fn die(&self, block: BlockId) -> DieId {
        DieId::new(self.die_of.quotient(block.number()))
    }

    /// The slots of a page set.
    #[inline]
    pub(crate) fn slots(&self, set: SetId) -> Range<NandSlot> {
        let first = NandSlot::new(set.number() * self.shape.units_per_set);
        first..first.plus(self.shape.units_per_set)
    }

    /// The first slot of a block.
    #[inline]
    pub(super) fn start(&self, block: BlockId) -> NandSlot {
        NandSlot::new(block.number() * self.block_of.get())
    }

    /// The die of a page set, and the set's place in its block.
    #[inline]
    pub(crate) fn locate(&self, set: SetId) -> (DieId, SetInBlock) {
        let (block, within) = self.sets_of.split(set.number());
        (self.die(BlockId::new(block)), SetInBlock::new(within))
    }

    /// The page set that the host is filling; none if the next write opens a block or set.
    #[inline]
    pub(crate) fn open_set(&self, die: DieId) -> SetId {
        let frontier = self.dies[die].frontiers[Origin::Host as usize];
        if !frontier.is_open() || self.set_of.split(frontier.next).1 == 0 {
            return SetId::NONE;
        }
        self.set(self.start(frontier.block).plus(frontier.next))
    }

    /// The page set before a frontier.
    pub(super) fn last_set(&self, die: DieId, origin: Origin) -> SetId {
        let Frontier { block, next } = self.dies[die].frontiers[self.stream(origin)];
        self.set(self.start(block).plus(next - 1))
    }

    /// Units that still fit into the page set at a frontier; as many as it holds if that is a new
    /// one.
    #[inline]
    pub(crate) fn room_in_set(&self, die: DieId, origin: Origin) -> u32 {
        let next = self.dies[die].frontiers[self.stream(origin)].next;
        self.shape.units_per_set - self.set_of.split(next).1
    }

    /// The index of the frontier that takes data of this origin.
    #[inline]
    pub(super) fn stream(&self, origin: Origin) -> usize {
        if self.separate {
            origin as usize
        } else {
            Origin::Host as usize
        }
    }

    /// True if a frontier of `die` has no room left.
    #[inline]
    pub(super) fn needs_block(&self, die: DieId, origin: Origin) -> bool {
        let frontier = self.dies[die].frontiers[self.stream(origin)];
        !frontier.is_open() || frontier.next == self.block_of.get()
    }

    /// Units that the host may write until the victim must be empty. A bad victim frees little. It
    /// may take as long as a usual one while the die can spare free blocks; else all writes would
    /// wait for that die.
    pub(super) fn budget(&self, die: DieId, victim: Victim) -> u32 {
        let state = &self.dies[die];
        if state.free.len() > FRONTIER_RESERVE {
            victim.budget.max(state.usual_budget)
        } else {
            victim.budget
        }
    }

    /// Units that hold the host's data.
    pub(crate) fn valid_units(&self) -> u64 {
        self.dies.iter().map(|die| u64::from(die.valid)).sum()
    }

    /// Valid units as a share of all that the NAND could hold.
    pub(crate) fn mapped_share(&self) -> f64 {
        let room = u64::from(self.shape.dies) * u64::from(self.shape.units_per_die());
        self.valid_units() as f64 / room as f64
    }

    /// True if the host writes to the block into which the victim is being moved and there is no
    /// other: the victim is then emptied before the host goes on, which could fill the block.
    pub(super) fn shares_last_block(&self, die: DieId) -> bool {
        !self.separate && self.dies[die].free.is_empty()
    }

    /// Begins to empty a block, until the host has written `budget` units.
    pub(super) fn empty(&mut self, die: DieId, block: BlockId, budget: u32) {
        self.blocks.take(block);
        self.dies[die].victim = Some(Victim {
            block,
            next_set: 0,
            budget,
            written: 0,
        });
    }

    /// True if the host's next unit on a die opens a block.
    pub(crate) fn at_block_boundary(&self, die: DieId) -> bool {
        let frontier = self.dies[die].frontiers[Origin::Host as usize];
        !frontier.is_open() || frontier.next == self.block_of.get()
    }

    /// Units that still fit into the block of a die that the host's data go to, or into the next one
    /// where that is full.
    pub(crate) fn room_for_host(&self, die: DieId) -> u32 {
        let frontier = self.dies[die].frontiers[Origin::Host as usize];
        match self.at_block_boundary(die) {
            true => self.block_of.get(),
            false => self.block_of.get() - frontier.next,
        }
    }

    /// Units that still fit into the block of a die that moved data go to.
    pub(crate) fn room_for_collection(&self, die: DieId) -> u32 {
        let frontier = self.dies[die].frontiers[Origin::Collection as usize];
        match frontier.is_open() {
            true => self.block_of.get() - frontier.next,
            false => 0,
        }
    }

    /// Erases of the most and of the least worn block.
    pub(crate) fn wear(&self) -> (u32, u32) {
        let erases = self.blocks.all_erases();
        let most = erases.iter().max().copied();
        let least = erases.iter().min().copied();
        (most.unwrap_or(0), least.unwrap_or(u32::MAX))
    }

    pub(super) fn check_dies(&self) -> Result<(), String> {
        for (index, die) in self.dies.entries() {
            let first = self.shape.first_block(index);
            let valid = self.blocks.valid_in(first, self.shape.blocks_per_die);
            if valid != die.valid {
                return Err(format!(
                    "die {index} holds {valid} valid units, its counter says {}",
                    die.valid
                ));
            }
        }
        Ok(())
    }

    /// Write amplification of the victims that come next on the first die: of as many of its
    /// emptiest closed blocks.
    pub(crate) fn amplification_ahead(&self, victims: usize) -> f64 {
        let mut valid = self.valid_of_emptiest();
        valid.truncate(victims);
        let valid_units: u32 = valid.iter().sum();
        let units = valid.len() as u32 * self.block_of.get();
        f64::from(units) / f64::from((units - valid_units).max(1))
    }

    /// Units that the next 1, 2, 4 ... victims of the first die free together, up to an eighth of its
    /// blocks: those with the fewest valid units.
    pub(super) fn freed_ahead(&self) -> Box<[u32]> {
        let valid = self.valid_of_emptiest();
        let mut freed = Vec::new();
        let (mut victims, mut sum) = (0, 0);
        for valid in valid.iter().take(self.shape.blocks_per_die as usize / 8) {
            victims += 1_u32;
            sum += self.block_of.get() - valid;
            if victims.is_power_of_two() {
                freed.push(sum);
            }
        }
        freed.into()
    }

    /// Valid units of the first die's closed blocks, the emptiest first.
    fn valid_of_emptiest(&self) -> Vec<u32> {
        let blocks = self.shape.blocks_of(DieId::new(0));
        let closed = blocks.filter(|&block| self.blocks.is_closed(block));
        let mut valid: Vec<u32> = closed.map(|block| self.blocks.valid(block)).collect();
        valid.sort_unstable();
        valid
    }
}
