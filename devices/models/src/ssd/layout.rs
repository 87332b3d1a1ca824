//! What a drive holds when a run starts, in a form that does not grow with the drive.
//!
//! A drive's dies are alike, and under any load that is spread over them so is what the load
//! leaves on each. So one die, or an equal part of one (a *tile*), is simulated through the
//! drive's history, and every tile of the drive starts as that one ended. Consecutive chunks of
//! the address space go to consecutive tiles, so an area of the drive is the same share of
//! every tile, and neighbours in a chunk stay neighbours.

use super::allocation::Frontier;
use super::divider::Divider;
use super::mapping::NONE;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Where everything lies at the start.
#[derive(Debug, Deserialize, Serialize)]
pub(super) enum Layout {
    /// Nothing was ever written.
    Empty,
    /// Every tile as the simulated one.
    Tiled(Box<Tiles>),
}

/// The simulated tile, and how tiles make up the drive.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Tiles {
    /// Units of the drive.
    pub(super) units: u32,
    /// Dies of the drive; tile t belongs to die t % dies.
    pub(super) dies: u32,
    /// All blocks of a die.
    pub(super) blocks_per_die: u32,
    /// Blocks of a tile that are in use; they stand one tile after the other in a die.
    pub(super) blocks: u32,
    /// Units of a block.
    pub(super) units_per_block: Divider,
    /// Consecutive units that stay together in a tile.
    pub(super) chunk: Divider,
    /// Tiles in the drive: a multiple of the dies.
    pub(super) tiles: Divider,
    /// The simulated tile; drives with the same past share it.
    pub(super) end: Arc<TileEnd>,
}

impl Layout {
    #[inline]
    pub(super) fn slot(&self, unit: u32) -> u32 {
        match self {
            Layout::Empty => NONE,
            Layout::Tiled(tiles) => tiles.slot(unit),
        }
    }

    #[inline]
    pub(super) fn unit(&self, slot: u32) -> u32 {
        match self {
            Layout::Empty => NONE,
            Layout::Tiled(tiles) => tiles.unit(slot),
        }
    }
}

impl Tiles {
    #[inline]
    fn slot(&self, unit: u32) -> u32 {
        let (chunk, within) = self.chunk.split(unit);
        let (row, tile) = self.tiles.split(chunk);
        let local = row * self.chunk.get() + within;
        let slot = if self.end.in_order {
            local
        } else {
            self.end.forward[local as usize]
        };
        if slot == NONE {
            return NONE;
        }
        slot + self.first_block(tile) * self.units_per_block.get()
    }

    /// The first block of `tile` in the drive's numbering.
    #[inline]
    pub(super) fn first_block(&self, tile: u32) -> u32 {
        let (layer, die) = (tile / self.dies, tile % self.dies);
        die * self.blocks_per_die + layer * self.blocks
    }

    fn unit(&self, slot: u32) -> u32 {
        let (block, offset) = self.units_per_block.split(slot);
        let (die, block) = (block / self.blocks_per_die, block % self.blocks_per_die);
        let (layer, block) = (block / self.blocks, block % self.blocks);
        let tile = layer * self.dies + die;
        if tile >= self.tiles.get() {
            return NONE;
        }
        let local = self.end.reverse[(block * self.units_per_block.get() + offset) as usize];
        if local == NONE {
            return NONE;
        }
        self.drive_unit(tile, local).unwrap_or(NONE)
    }

    /// The drive's unit that is unit `local` of `tile`; none beyond the end of the drive,
    /// which cuts the last chunks off.
    pub(super) fn drive_unit(&self, tile: u32, local: u32) -> Option<u32> {
        let (row, within) = self.chunk.split(local);
        let chunk = u64::from(row) * u64::from(self.tiles.get()) + u64::from(tile);
        let unit = chunk * u64::from(self.chunk.get()) + u64::from(within);
        (unit < u64::from(self.units)).then_some(unit as u32)
    }

    /// Slots of `tile` that hold units beyond the drive's end, which cuts the last row of chunks.
    pub(super) fn beyond_end(&self, tile: u32) -> Vec<u32> {
        let last_row = self.end.forward.len() - self.chunk.get() as usize;
        (last_row..self.end.forward.len())
            .filter(|&local| self.drive_unit(tile, local as u32).is_none())
            .map(|local| self.end.forward[local])
            .filter(|&slot| slot != NONE)
            .collect()
    }
}

/// What a block in use holds when a history ends.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct TileBlock {
    pub(super) valid: u32,
    /// Order of closing.
    pub(super) closed: u32,
    pub(super) erases: u32,
}

/// A tile at the end of its history, free blocks left out.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct TileEnd {
    /// Unit of a tile to slot of a tile.
    pub(super) forward: Box<[u32]>,
    /// Slot of a tile to unit of a tile; [`NONE`] where the slot holds nothing valid.
    pub(super) reverse: Box<[u32]>,
    /// True if the unit of a tile is its slot: filled in order and not touched since.
    pub(super) in_order: bool,
    pub(super) blocks: Vec<TileBlock>,
    /// The open blocks, by index into `blocks`.
    pub(super) frontiers: [Frontier; 2],
    /// True if garbage collection came to a point where it could free nothing.
    #[serde(skip)]
    pub(super) stuck: bool,
}

impl TileEnd {
    /// Memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        4 * (self.forward.len() + self.reverse.len()) + 12 * self.blocks.len()
    }
}
