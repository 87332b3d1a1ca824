//! How a drive is divided into tiles.

use crate::ssd::translation::policy::CollectionParams;
use crate::ssd::translation::{Shape, WORKING_BLOCKS};

/// Units in a tile below which a larger one does not take noticeable time.
const TILE_UNITS: u32 = 1 << 18;
/// Blocks that a tile has at least, so that victims are chosen from many.
const TILE_BLOCKS: u32 = 128;

/// Flash of a tile, in units, however little of it holds data: all of it is written once and more
/// before anything has settled.
const TILE_SPACE: u32 = 1 << 20;
/// Blocks of a tile at the most, as a victim is searched for among them all.
const MOST_BLOCKS: u32 = 1 << 14;

/// How a drive is divided into tiles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tiling {
    /// Tiles of a die.
    pub(super) layers: u32,
    /// Tiles of the drive.
    pub(super) count: u32,
    /// Blocks of a tile without its reserve.
    pub(super) blocks_each: u32,
    /// Of the simulated tile.
    pub(super) shape: Shape,
}

impl Tiling {
    /// Tiles of the usual size, or of at least `tile_units` if that is not 0.
    pub(super) fn new(shape: Shape, params: &CollectionParams, tile_units: u32) -> Tiling {
        let tile_units = if tile_units == 0 {
            TILE_UNITS
        } else {
            tile_units
        };
        // A tile has as many free blocks as a die; the rest is divided, with as few blocks over as
        // possible.
        let reserve = params.start_free_blocks.max(1);
        let to_divide = shape.blocks_per_die - reserve;
        let chunks = shape.units.div_ceil(shape.units_per_set);
        // A tile needs all the blocks that never hold data.
        let fits = |layers: &u32| {
            let blocks = to_divide / layers + reserve - WORKING_BLOCKS;
            let units = chunks.div_ceil(layers * shape.dies) * shape.units_per_set;
            units <= blocks * shape.units_per_block()
        };
        let by_units = shape.units / shape.dies / tile_units;
        let by_space = shape.units_per_die() / TILE_SPACE;
        let by_blocks = shape.blocks_per_die / MOST_BLOCKS;
        let most = by_units.max(by_space).max(by_blocks);
        let most = most.min(shape.blocks_per_die / TILE_BLOCKS);
        let most = most.min(chunks / shape.dies).max(1);
        let most = (1..=most).rev().find(fits).unwrap_or(1);
        let layers = (most.div_ceil(2)..=most)
            .filter(fits)
            .min_by_key(|layers| (to_divide % layers, most - layers))
            .unwrap_or(1);
        let count = layers * shape.dies;
        let blocks = to_divide / layers + reserve;
        Tiling {
            layers,
            count,
            blocks_each: blocks - reserve,
            shape: Shape {
                units: chunks.div_ceil(count) * shape.units_per_set,
                dies: 1,
                blocks_per_die: blocks,
                ..shape
            },
        }
    }
}
