//! The sizes of a drive's address spaces, and what is counted there.

use crate::ssd::ids::{BlockId, DieId};
use serde::{Deserialize, Serialize};

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

    /// Blocks of all dies.
    pub(crate) fn blocks(&self) -> u32 {
        self.dies * self.blocks_per_die
    }

    /// The first block of a die.
    pub(crate) fn first_block(&self, die: DieId) -> BlockId {
        BlockId::new(die.number() * self.blocks_per_die)
    }

    /// The blocks of a die.
    pub(crate) fn blocks_of(&self, die: DieId) -> impl DoubleEndedIterator<Item = BlockId> + Clone {
        self.first_block(die).row(self.blocks_per_die)
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
