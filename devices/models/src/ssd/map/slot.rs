//! Places in NAND: slots, and the frontiers that fill them.

use serde::{Deserialize, Serialize};

/// No slot, no unit or no block.
pub const NONE: u32 = u32::MAX;

/// A mapping unit in the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The number by which the tables know it.
    pub home: u32,
    /// Where it lies; [`NONE`] if it holds nothing.
    pub slot: u32,
}

/// An open block and its next free slot.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Frontier {
    pub block: u32,
    pub next: u32,
}

impl Frontier {
    pub const CLOSED: Frontier = Frontier {
        block: NONE,
        next: 0,
    };
}
