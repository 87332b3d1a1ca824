//! Where writes go: free blocks, open blocks and the blocks' books.
//!
//! Every die has its own free blocks and write frontiers, one for the host and one for what
//! garbage collection moves; a policy may let both use the same one.

use super::layout::TileBlock;
use super::mapping::NONE;
use prefetch_index::prefetch_index;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Marks a block that cannot be a victim: free, or a frontier.
const NOT_CLOSED: u32 = 1 << 31;

/// Whose data a frontier takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Data from the host.
    Host,
    /// Data that garbage collection moves.
    Collection,
}

/// An open block and its next free slot.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Frontier {
    pub(super) block: u32,
    pub(super) next: u32,
}

impl Frontier {
    pub(super) const CLOSED: Frontier = Frontier {
        block: NONE,
        next: 0,
    };
}

/// The block that a die is emptying.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Victim {
    pub(super) block: u32,
    /// Next page set to look at.
    pub(super) next_set: u32,
    /// Units that the host may write until the block must be empty: as many as it frees.
    pub(super) budget: u32,
    /// Units that the host has written since the block was chosen.
    pub(super) written: u32,
}

/// A die's own books.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Die {
    /// In the order in which they will be opened.
    pub(super) free: VecDeque<u32>,
    pub(super) frontiers: [Frontier; 2],
    pub(super) victim: Option<Victim>,
    /// What its victims freed lately, in units: a mean over some ten of them.
    pub(super) usual_budget: u32,
    /// Valid units on the die.
    pub(super) valid: u32,
}

/// The blocks' books: one entry a block, in one array for each question that is asked of all.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Blocks {
    /// Valid units, marked while the block cannot be a victim.
    valid: Vec<u32>,
    /// Order in which blocks were closed.
    closed: Vec<u32>,
    erases: Vec<u32>,
    closings: u32,
}

impl Blocks {
    /// `count` free blocks.
    pub(super) fn new(count: usize) -> Blocks {
        Blocks {
            valid: vec![NOT_CLOSED; count],
            closed: vec![0; count],
            erases: vec![0; count],
            closings: 0,
        }
    }

    pub(super) fn count(&self) -> u32 {
        self.valid.len() as u32
    }

    /// Valid units of a block.
    #[inline]
    pub(super) fn valid(&self, block: u32) -> u32 {
        self.valid[block as usize] & !NOT_CLOSED
    }

    /// Asks for a block's memory ahead.
    #[inline]
    pub(super) fn touch(&self, block: u32) {
        prefetch_index(&self.valid, block as usize);
    }

    #[inline]
    pub(super) fn add_valid(&mut self, block: u32, units: u32) {
        self.valid[block as usize] += units;
    }

    #[inline]
    pub(super) fn drop_valid(&mut self, block: u32, units: u32) {
        debug_assert!(
            self.valid(block) >= units,
            "block {block} has less than {units} units to lose"
        );
        self.valid[block as usize] -= units;
    }

    /// The block takes no more data: from now on it may be a victim.
    pub(super) fn close(&mut self, block: u32) {
        self.valid[block as usize] &= !NOT_CLOSED;
        self.closed[block as usize] = self.closings;
        self.closings += 1;
    }

    /// The block is being emptied: it cannot be chosen again.
    pub(super) fn take(&mut self, block: u32) {
        self.valid[block as usize] |= NOT_CLOSED;
    }

    /// The block is erased and free.
    pub(super) fn erase(&mut self, block: u32) {
        debug_assert_eq!(self.valid(block), 0, "block {block} erased with data in it");
        self.valid[block as usize] = NOT_CLOSED;
        self.erases[block as usize] += 1;
    }

    #[inline]
    pub(super) fn is_closed(&self, block: u32) -> bool {
        self.valid[block as usize] & NOT_CLOSED == 0
    }

    /// Valid counts of a range of blocks, larger than any real count where not closed.
    pub(super) fn candidates(&self, first: u32, count: u32) -> &[u32] {
        &self.valid[first as usize..(first + count) as usize]
    }

    /// How many blocks were closed since this one was.
    pub(super) fn age(&self, block: u32) -> u32 {
        self.closings - self.closed[block as usize]
    }

    pub(super) fn erases(&self, block: u32) -> u32 {
        self.erases[block as usize]
    }

    /// Puts a block into the state that a history has left: closed.
    pub(super) fn restore(&mut self, block: u32, left: &TileBlock) {
        self.valid[block as usize] = left.valid;
        self.closed[block as usize] = left.closed;
        self.erases[block as usize] = left.erases;
        self.closings = self.closings.max(left.closed + 1);
    }

    /// Number of closings so far.
    pub(super) fn closings(&self) -> u32 {
        self.closings
    }

    /// When the block was closed, in the order of closings.
    pub(super) fn closed_at(&self, block: u32) -> u32 {
        self.closed[block as usize]
    }
}

impl Die {
    /// Lets an erased block be opened again: after all that are no more worn if `level_wear`, else
    /// after all.
    pub(super) fn add_free(&mut self, block: u32, blocks: &Blocks, level_wear: bool) {
        let wear = blocks.erases(block);
        let goes_behind = |&other: &u32| !level_wear || blocks.erases(other) <= wear;
        let before = self.free.iter().rposition(goes_behind);
        self.free.insert(before.map_or(0, |at| at + 1), block);
    }
}
