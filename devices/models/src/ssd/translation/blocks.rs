//! Where writes go: free blocks, open blocks, and the counters of the blocks.
//!
//! Every die has its own free blocks and write frontiers, one for the host and one for what
//! garbage collection moves; a policy may let both use the same one.

use crate::ssd::ids::BlockId;
use crate::ssd::map::layout::TileBlock;
use crate::ssd::map::slot::Frontier;
use prefetch_index::prefetch_index;
use raidlab_kernel::Table;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Marks a block that cannot be a victim: free, or a frontier.
const NOT_CLOSED: u32 = 1 << 31;

/// Whose data a frontier takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Data from the host.
    Host,
    /// Data that garbage collection moves.
    Collection,
}

/// The block that a die is emptying.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct Victim {
    pub(crate) block: BlockId,
    /// Next page set to look at.
    pub(crate) next_set: u32,
    /// Units that the host may write until the block must be empty: as many as it frees.
    pub(crate) budget: u32,
    /// Units that the host has written since the block was chosen.
    pub(crate) written: u32,
}

/// The blocks of a die that have a part in writing.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Die {
    /// In the order in which they will be opened.
    pub(crate) free: VecDeque<BlockId>,
    pub(crate) frontiers: [Frontier; 2],
    pub(crate) victim: Option<Victim>,
    /// Units that its last victims freed: a mean over some ten of them.
    pub(crate) usual_budget: u32,
    /// Valid units on the die.
    pub(crate) valid: u32,
}

/// The counters of the blocks, each in an array of its own, as some are read of all blocks.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Blocks {
    /// Valid units, marked while the block cannot be a victim.
    valid: Table<BlockId, u32>,
    /// Order in which blocks were closed.
    closed: Table<BlockId, u32>,
    erases: Table<BlockId, u32>,
    closings: u32,
}

impl Blocks {
    /// `count` free blocks.
    pub(crate) fn new(count: usize) -> Blocks {
        Blocks {
            valid: vec![NOT_CLOSED; count].into(),
            closed: vec![0; count].into(),
            erases: vec![0; count].into(),
            closings: 0,
        }
    }

    /// Checks what a file says: `count` blocks of `per_block` units, counters below `most`.
    ///
    /// # Errors
    /// Says which do not agree.
    pub(crate) fn agree(&self, count: u32, per_block: u32, most: u32) -> Result<(), String> {
        let count = count as usize;
        let lengths = [self.valid.len(), self.closed.len(), self.erases.len()];
        if lengths != [count; 3] {
            return Err(format!("it has counters of {lengths:?} blocks"));
        }
        let wrong = |&block: &BlockId| {
            self.valid(block) > per_block
                || self.closed[block] > self.closings
                || self.erases[block] > most
        };
        match self.ids().find(wrong) {
            Some(block) => Err(format!("the counters of block {block} are too large")),
            None if self.closings > most => Err("it has closed too many blocks".into()),
            None => Ok(()),
        }
    }

    pub(crate) fn count(&self) -> u32 {
        self.valid.len() as u32
    }

    /// All of them.
    pub(crate) fn ids(&self) -> impl DoubleEndedIterator<Item = BlockId> + use<> {
        self.valid.ids()
    }

    /// Valid units of a block.
    #[inline]
    pub(crate) fn valid(&self, block: BlockId) -> u32 {
        self.valid[block] & !NOT_CLOSED
    }

    /// Prefetches a block's count of valid units.
    #[inline]
    pub(crate) fn prefetch(&self, block: BlockId) {
        prefetch_index(self.valid.as_slice(), block.index());
    }

    #[inline]
    pub(crate) fn add_valid(&mut self, block: BlockId, units: u32) {
        self.valid[block] += units;
    }

    #[inline]
    pub(crate) fn drop_valid(&mut self, block: BlockId, units: u32) {
        debug_assert!(
            self.valid(block) >= units,
            "block {block} has less than {units} units to lose"
        );
        self.valid[block] -= units;
    }

    /// When a block was closed; a block that is still open counts as closed last.
    pub(crate) fn closing_order(&self, block: BlockId) -> u32 {
        if self.is_closed(block) {
            self.closed_at(block)
        } else {
            self.closings()
        }
    }

    /// The block takes no more data: from now on it may be a victim.
    pub(crate) fn close(&mut self, block: BlockId) {
        self.valid[block] &= !NOT_CLOSED;
        self.closed[block] = self.closings;
        self.closings += 1;
    }

    /// The block is being emptied: it cannot be chosen again.
    pub(crate) fn take(&mut self, block: BlockId) {
        self.valid[block] |= NOT_CLOSED;
    }

    /// The block is erased and free.
    pub(crate) fn erase(&mut self, block: BlockId) {
        debug_assert_eq!(self.valid(block), 0, "block {block} erased with data in it");
        self.valid[block] = NOT_CLOSED;
        self.erases[block] += 1;
    }

    #[inline]
    pub(crate) fn is_closed(&self, block: BlockId) -> bool {
        self.valid[block] & NOT_CLOSED == 0
    }

    /// Valid counts of a range of blocks, larger than any real count where not closed.
    pub(crate) fn candidates(&self, first: BlockId, count: u32) -> &[u32] {
        &self.valid.as_slice()[first.index()..][..count as usize]
    }

    /// Valid units of a range of blocks.
    pub(crate) fn valid_in(&self, first: BlockId, count: u32) -> u32 {
        let valid = self.candidates(first, count).iter();
        valid.map(|units| units & !NOT_CLOSED).sum()
    }

    /// How many blocks were closed since this one was.
    pub(crate) fn age(&self, block: BlockId) -> u32 {
        self.closings - self.closed[block]
    }

    pub(crate) fn erases(&self, block: BlockId) -> u32 {
        self.erases[block]
    }

    /// Erases of all blocks.
    pub(crate) fn all_erases(&self) -> &[u32] {
        self.erases.as_slice()
    }

    /// Puts a block into the state that a history has left, closed.
    pub(crate) fn restore(&mut self, block: BlockId, left: &TileBlock) {
        self.valid[block] = left.valid;
        self.closed[block] = left.closed;
        self.erases[block] = left.erases;
        self.closings = self.closings.max(left.closed + 1);
    }

    /// Number of closings so far.
    pub(crate) fn closings(&self) -> u32 {
        self.closings
    }

    /// When the block was closed, in the order of closings.
    pub(crate) fn closed_at(&self, block: BlockId) -> u32 {
        self.closed[block]
    }
}

/// The order in which free blocks are opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FreeOrder {
    /// As they were erased.
    Arrival,
    /// By their erases.
    Wear,
}

impl Die {
    /// Adds an erased block to the free ones: at its place in their order.
    pub(crate) fn add_free(&mut self, block: BlockId, blocks: &Blocks, order: FreeOrder) {
        let wear = blocks.erases(block);
        let by_arrival = order == FreeOrder::Arrival;
        let goes_behind = |&other: &BlockId| by_arrival || blocks.erases(other) <= wear;
        let before = self.free.iter().rposition(goes_behind);
        self.free.insert(before.map_or(0, |at| at + 1), block);
    }
}
