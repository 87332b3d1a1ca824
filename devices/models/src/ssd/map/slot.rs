//! Places in NAND: slots, and the frontiers that fill them.

use crate::ssd::ids::BlockId;
use serde::{Deserialize, Serialize};

/// No slot or no unit.
pub const NONE: u32 = u32::MAX;

/// A mapping unit in the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The number by which the tables know it.
    pub home: u32,
    /// Where it lies; [`NONE`] if it holds nothing.
    pub slot: u32,
}

/// An open block, and how far it is filled.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct Frontier {
    pub(crate) block: BlockId,
    /// Slots of the block that are filled.
    pub(crate) next: u32,
}

impl Frontier {
    pub(crate) const CLOSED: Frontier = Frontier {
        block: BlockId::NONE,
        next: 0,
    };

    /// True if it has a block.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.block != BlockId::NONE
    }
}
