//! Places in NAND: slots, and the frontiers that fill them.

use crate::ssd::ids::{BlockId, HomeId, NandSlot};
use serde::{Deserialize, Serialize};

/// A mapping unit in the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The number by which the tables know it.
    pub(crate) home: HomeId,
    /// Where it lies; [`NandSlot::NONE`] if it holds nothing.
    pub(crate) slot: NandSlot,
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
