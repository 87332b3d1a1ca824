//! Preconditioning: the state of a drive after the loads before the run.
//!
//! The history is simulated on one tile of the drive (see `map::layout`) with the same share of
//! spare space, the same pages per block and the same policy, and every tile starts as that one
//! ended. Write amplification depends on those and not on the number of blocks. So a drive of
//! terabytes is brought to steady state in the time of about a million mapping units.

pub mod load;
mod log_order;
mod memo;
pub(crate) mod pace;
mod settle;
mod tile;
mod tiling;
mod writer;

use crate::ssd::map::layout::{Layout, Tiles};
use crate::ssd::translation::policy::{CollectionParams, Placement};
use crate::ssd::translation::{Shape, Translation};
use load::{HistoryAccess, HistoryLoad, groups};
use raidlab_kernel::Stream;
use tile::TileHistory;
use tiling::Tiling;
use writer::Area;

/// Flash of a tile, in units, that is too much to write several times: some ten seconds.
const TOO_MUCH: u32 = 1 << 26;

/// What the random streams of a history depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names<'a> {
    pub(crate) seed: u64,
    /// The drive's.
    pub(crate) name: &'a str,
    /// True for another end that the same history could have had.
    pub(crate) another: bool,
}

impl<'a> From<(u64, &'a str)> for Names<'a> {
    fn from((seed, name): (u64, &'a str)) -> Names<'a> {
        Names {
            seed,
            name,
            another: false,
        }
    }
}

/// The drive after `history`. `tile_units` bounds the size of the simulated tile, 0 for the
/// usual one.
pub(crate) fn prepare<'a>(
    shape: Shape,
    params: CollectionParams,
    history: &[HistoryLoad],
    unit_bytes: u64,
    tile_units: u32,
    names: impl Into<Names<'a>>,
) -> Translation {
    let Names {
        seed,
        name,
        another,
    } = names.into();
    let draws = Stream::new(seed, name, "victims");
    if history.is_empty() {
        return Translation::new(shape, params, Layout::Empty, draws);
    }
    let tiling = Tiling::new(shape, &params, tile_units);
    // The few blocks over would be spare space that the simulated tile did not have.
    let reserve = tiling.shape.blocks_per_die - tiling.blocks_each;
    let shape = Shape {
        blocks_per_die: tiling.blocks_each * tiling.layers + reserve,
        ..shape
    };
    let end = memo::end_of(&TileHistory {
        tiling,
        params,
        loads: history.to_vec(),
        unit_bytes,
        seed,
        another,
    });
    let log_order = match params.placement {
        Placement::Log => log_order::after(history, shape.units, unit_bytes, seed),
        Placement::Address => None,
    };
    let tiles = Tiles::of(shape, tiling.count, log_order, end);
    debug_assert!(tiles.blocks.get() * tiling.layers <= shape.blocks_per_die);
    // Once collection has worked, dies that were written at random are out of step.
    let collected = tiles.end.blocks.iter().any(|block| block.erases > 0);
    let mut drive = Translation::from_tiles(shape, params, tiles, draws);
    let at_random = |load: &&HistoryLoad| load.access == HistoryAccess::Random && collected;
    let last = groups(history).next_back().unwrap_or_default();
    if let Some(load) = last.iter().rev().find(at_random) {
        let area = Area::of(load, tiling, unit_bytes);
        let units = area.first as u32..(area.first + area.units) as u32;
        drive.stagger(&units, &mut Stream::new(seed, name, "phases of the dies"));
    }
    drive
}

/// True if a history of such a drive takes longer than anybody waits for: a few blocks, each of
/// them huge.
pub(crate) fn is_too_much(shape: Shape, params: &CollectionParams) -> bool {
    Tiling::new(shape, params, 0).shape.units_per_die() > TOO_MUCH
}

#[cfg(test)]
mod tests;
