//! What a drive has been through before the run.
//!
//! The history is simulated on one tile of the drive (see `layout`) with the same share of
//! spare space, the same pages per block and the same policy, and every tile starts as that one
//! ended. Write amplification depends on those and not on the number of blocks, so a drive of
//! terabytes is brought to steady state in the time of about a million mapping units.

use super::collection::CollectionParams;
use super::layout::{Layout, TileEnd, Tiles};
use super::past;
use super::translation::{Shape, Translation, Untimed, WORKING_BLOCKS};
use raidlab_kernel::{Divider, Stream};
use serde::{Deserialize, Serialize};

/// Order of a past load's offsets.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum PastAccess {
    /// Ascending, from the start of the area, starting again at its end.
    Sequential,
    /// Uniform over the area.
    Random,
}

/// Writes that a drive has seen before the run.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct PastLoad {
    /// Order of the offsets.
    pub access: PastAccess,
    /// First byte of the area.
    pub start_bytes: u64,
    /// Bytes of the area.
    pub area_bytes: u64,
    /// Bytes of each write.
    pub block_bytes: u64,
    /// Bytes written altogether; 0 to go on until write amplification has settled.
    pub written_bytes: u64,
    /// True if the load goes on until the run begins: what it wrote last still fills the buffer.
    /// Neighbours in a history that go on do so together.
    #[serde(default)]
    pub ongoing: bool,
    /// Its part of the bytes that loads which go on together write.
    #[serde(default = "one")]
    pub weight: u32,
    /// True if the drive then had some minutes for collection in the background.
    #[serde(default)]
    pub then_rests: bool,
}

fn one() -> u32 {
    1
}

/// The loads of a history that follow each other, those together that go on together.
fn one_after_the_other(history: &[PastLoad]) -> impl DoubleEndedIterator<Item = &[PastLoad]> {
    history.chunk_by(|load, next| load.ongoing && next.ongoing)
}

/// Units in a tile below which a larger one does not take noticeable time.
const TILE_UNITS: u32 = 1 << 18;
/// Blocks that a tile has at least, so that victims are chosen from many.
const TILE_BLOCKS: u32 = 128;
/// Write amplification has settled when two successive rounds differ by less than this share.
const SETTLED: f64 = 0.004;
/// Rounds after which a load that does not settle is taken as it is.
const MOST_ROUNDS: u64 = 24;
/// Writes after which loads that seldom write an area are taken as they are, in spaces of the tile.
const MOST_WRITES: u64 = 256;
/// Blocks of the host's that may be filled to end where collection's block is full as well.
const MOST_BLOCKS_MORE: u32 = 64;

/// Share of the drive, inverted, that collection in the background has moved since the last load:
/// some minutes' work, enough to reclaim what is nearly empty and not what is nearly full.
const MOVED_AT_LEISURE: u64 = 20;

/// How a drive is divided into tiles.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Tiling {
    /// Tiles of a die.
    layers: u32,
    /// Tiles of the drive.
    count: u32,
    /// Blocks of a tile without its reserve.
    blocks_each: u32,
    shape: Shape,
}

impl Tiling {
    fn new(shape: Shape, params: &CollectionParams, tile_units: u32) -> Tiling {
        // A tile keeps as many free blocks as a die does; what is left is divided, with as few
        // blocks over as can be.
        let reserve = params.start_free_blocks.max(1);
        let to_divide = shape.blocks_per_die - reserve;
        let chunks = shape.units.div_ceil(shape.units_per_set);
        // A tile needs the blocks that never hold data all to itself.
        let fits = |layers: &u32| {
            let blocks = to_divide / layers + reserve - WORKING_BLOCKS;
            let units = chunks.div_ceil(layers * shape.dies) * shape.units_per_set;
            units <= blocks * shape.units_per_block()
        };
        let by_units = shape.units / shape.dies / tile_units;
        let most = by_units.min(shape.blocks_per_die / TILE_BLOCKS).max(1);
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

/// The drive after `history`. `tile_units` bounds the size of the simulated tile, 0 for the
/// usual one.
pub(super) fn prepare(
    shape: Shape,
    params: CollectionParams,
    history: &[PastLoad],
    unit_bytes: u64,
    tile_units: u32,
    (seed, name): (u64, &str),
) -> Translation {
    let draws = Stream::new(seed, name, "victims");
    if history.is_empty() {
        return Translation::new(shape, params, Layout::Empty, draws);
    }
    let bound = if tile_units == 0 {
        TILE_UNITS
    } else {
        tile_units
    };
    let tiling = Tiling::new(shape, &params, bound);
    // The few blocks over would be spare space that the simulated tile did not have.
    let reserve = tiling.shape.blocks_per_die - tiling.blocks_each;
    let shape = Shape {
        blocks_per_die: tiling.blocks_each * tiling.layers + reserve,
        ..shape
    };
    let end = past::end_of(&Past {
        tiling,
        params,
        history: history.to_vec(),
        unit_bytes,
        seed,
    });
    let tiles = Tiles {
        units: shape.units,
        dies: Divider::new(shape.dies),
        blocks_per_die: Divider::new(shape.blocks_per_die),
        blocks: Divider::new(end.blocks.len() as u32),
        units_per_block: shape.units_per_block(),
        homes: Divider::new(end.units.len() as u32),
        chunk: Divider::new(shape.units_per_set),
        tiles: Divider::new(tiling.count),
        end,
    };
    debug_assert!(tiles.blocks.get() * tiling.layers <= shape.blocks_per_die);
    // Once collection has worked, dies that were written at random are not in step.
    let collected = tiles.end.blocks.iter().any(|block| block.erases > 0);
    let mut drive = Translation::from_tiles(shape, params, tiles, draws);
    let at_random = |load: &&PastLoad| load.access == PastAccess::Random && collected;
    let last = one_after_the_other(history).next_back().unwrap_or_default();
    if let Some(load) = last.iter().rev().find(at_random) {
        let area = Area::of(load, tiling, unit_bytes);
        let units = area.first as u32..(area.first + area.units) as u32;
        drive.stagger(&units, &mut Stream::new(seed, name, "phases of the dies"));
    }
    drive
}

/// All that the end of a tile depends on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Past {
    tiling: Tiling,
    params: CollectionParams,
    history: Vec<PastLoad>,
    unit_bytes: u64,
    seed: u64,
}

impl Past {
    /// Simulates the tile.
    pub(super) fn end(&self) -> TileEnd {
        // Of no drive in particular: drives of one model with one past begin alike.
        let draws = Stream::new(self.seed, "tile", "victims of the past");
        let mut tile = Translation::new(self.tiling.shape, self.params, Layout::Empty, draws);
        let mut load_draws = Stream::new(self.seed, "tile", "past load");
        for loads in one_after_the_other(&self.history) {
            undergo(
                &mut tile,
                loads,
                self.tiling,
                self.unit_bytes,
                &mut load_draws,
            );
            if loads.iter().any(|load| load.then_rests) {
                self.rest(&mut tile);
            }
        }
        // All tiles of a die together have as many free blocks as the die keeps.
        let reserve = self.params.start_free_blocks.max(1);
        let ahead = tile.collect_to(0, reserve, &mut Untimed).unwrap_or(0);
        tile.into_tile(ahead)
    }
}

impl Past {
    /// Some minutes without a load, in which collection goes on.
    fn rest(&self, tile: &mut Translation) {
        let reserve = self.params.start_free_blocks.max(1);
        let beyond = self.params.background_free_blocks.saturating_sub(reserve);
        let goal = reserve + beyond / self.tiling.layers;
        let most = u64::from(self.tiling.shape.units) / MOVED_AT_LEISURE;
        tile.collect_at_leisure(goal, most, &mut Untimed);
    }
}

/// Lets the tile see its share of a load, or of several that go on together.
fn undergo(
    tile: &mut Translation,
    loads: &[PastLoad],
    tiling: Tiling,
    unit_bytes: u64,
    draws: &mut Stream,
) {
    let mut writers: Vec<Writer> = loads
        .iter()
        .map(|load| Writer::of(load, tiling, unit_bytes))
        .collect();
    let area: u64 = writers.iter().map(|writer| writer.area.units).sum();
    let rarest = rarest_share(&writers);
    let mut round = |tile: &mut Translation, writes| write(tile, &mut writers, writes, draws);
    let stated = match loads {
        [only] => only.written_bytes,
        _ => 0,
    };
    if stated > 0 {
        let share = stated.div_ceil(u64::from(tiling.count) * unit_bytes);
        let per_set = u64::from(tiling.shape.units_per_set);
        round(tile, share.next_multiple_of(per_set));
    } else {
        let area = area.min(u64::from(tiling.shape.units));
        settle(tile, area, rarest, &mut round);
    }
    let (most_worn, _) = tile.wear();
    if stated == 0 || most_worn > 0 {
        end_with_full_blocks(tile, &mut round);
    }
}

/// So many units of a load or, block by block, of several in the proportion of their weights.
fn write(tile: &mut Translation, writers: &mut [Writer], units: u64, draws: &mut Stream) {
    if let [only] = writers {
        return only.write(tile, units, draws);
    }
    let all = writers.iter().map(Writer::frequency).sum();
    let mut left = units;
    while left > 0 {
        let mut drawn = draws.below(all);
        let next = writers.iter_mut().find(|writer| {
            let found = drawn < writer.frequency();
            drawn = drawn.saturating_sub(writer.frequency());
            found
        });
        let writer = next.expect("less than the sum was drawn");
        let block = writer.area.block;
        writer.write(tile, block, draws);
        left = left.saturating_sub(block);
    }
}

/// The least part of the units that one of the writers writes.
fn rarest_share(writers: &[Writer]) -> f64 {
    let units = |writer: &Writer| (writer.frequency() * writer.area.block) as f64;
    let all: f64 = writers.iter().map(units).sum();
    writers.iter().map(units).fold(all, f64::min) / all
}

/// Repeats rounds until write amplification no longer changes. A round writes as much as the area or,
/// if that is more, the spare space holds: in that time collection that goes through all blocks in order has
/// been to every one of them, those with cold data too.
///
/// The load that writes least makes the `rarest` share of the writes. Beside a strong hot spot all else is that:
/// what it overwrites stays where it is until such holes have taken the spare space, and only
/// then is anything collected but the hot spot's blocks.
fn settle(
    tile: &mut Translation,
    area: u64,
    rarest: f64,
    round: &mut impl FnMut(&mut Translation, u64),
) {
    let space = u64::from(tile.shape().units_per_die());
    let spare = space.saturating_sub(tile.valid_units());
    let units = area.max(spare);
    // As long as there are free blocks nothing is collected, and nothing can settle.
    let mut written = 0;
    while tile.counts().erases == 0 && written < 2 * space {
        round(tile, units);
        written += units;
    }
    let until_holes_fill_it = ((spare as f64 / rarest) as u64).min(MOST_WRITES * space);
    let at_least = until_holes_fill_it / units;
    let mut before = 0.0;
    let mut settled = 0;
    for rounds in 0..at_least + MOST_ROUNDS {
        tile.reset_counts();
        round(tile, units);
        let now = tile.counts().write_amplification();
        settled = if (now - before).abs() < SETTLED * now {
            settled + 1
        } else {
            0
        };
        if settled >= 2 && rounds >= at_least {
            break;
        }
        before = now;
    }
}

/// Goes on until the host's block is full and what collection's block lacks is next to nothing: a
/// block left half full would be lost space in every tile but a die's first, and an easy victim there.
///
/// The two fill up at rates that have nothing to do with each other, so the longer this takes
/// the less is asked for.
fn end_with_full_blocks(tile: &mut Translation, round: &mut impl FnMut(&mut Translation, u64)) {
    let most = (tile.shape().blocks_per_die / 2).min(MOST_BLOCKS_MORE);
    for tried in 1..=most {
        for _ in 0..tile.shape().units_per_block() {
            if tile.at_block_boundary() {
                break;
            }
            round(tile, 1);
        }
        let allowed = tile.shape().units_per_block() * tried / most;
        if tile.room_for_collection() <= allowed {
            break;
        }
        round(tile, 1);
    }
}

/// A load's area in a tile.
#[derive(Clone, Copy)]
struct Area {
    first: u64,
    units: u64,
    /// Units written together: a larger write is spread over several tiles.
    block: u64,
}

impl Area {
    fn of(load: &PastLoad, tiling: Tiling, unit_bytes: u64) -> Area {
        let share = u64::from(tiling.count) * unit_bytes;
        let per_set = u64::from(tiling.shape.units_per_set);
        let units = u64::from(tiling.shape.units);
        // In whole rows of chunks; even the smallest area has one.
        let first = (load.start_bytes / share / per_set * per_set).min(units - per_set);
        let end = (load.start_bytes + load.area_bytes)
            .div_ceil(share)
            .next_multiple_of(per_set)
            .clamp(first + per_set, units);
        Area {
            first,
            units: end - first,
            block: (load.block_bytes / unit_bytes).clamp(1, per_set),
        }
    }

    fn write_randomly(self, tile: &mut Translation, writes: u64, draws: &mut Stream) {
        let blocks = (self.units / self.block).max(1);
        for _ in 0..writes.div_ceil(self.block) {
            let start = self.first + draws.below(blocks) * self.block;
            for unit in start..start + self.block {
                tile.write(unit as u32, &mut Untimed);
            }
        }
    }
}

/// A load on a tile.
struct Writer {
    area: Area,
    access: PastAccess,
    weight: u32,
    /// Where in its area a sequential one is.
    position: u64,
}

impl Writer {
    fn of(load: &PastLoad, tiling: Tiling, unit_bytes: u64) -> Writer {
        Writer {
            area: Area::of(load, tiling, unit_bytes),
            access: load.access,
            weight: load.weight,
            position: 0,
        }
    }

    /// How often it writes a block, beside others: the larger its blocks, the less often.
    fn frequency(&self) -> u64 {
        (u64::from(self.weight) << 16) / self.area.block + 1
    }

    fn write(&mut self, tile: &mut Translation, units: u64, draws: &mut Stream) {
        match self.access {
            PastAccess::Sequential => {
                for _ in 0..units {
                    tile.write((self.area.first + self.position) as u32, &mut Untimed);
                    self.position = (self.position + 1) % self.area.units;
                }
            }
            PastAccess::Random => self.area.write_randomly(tile, units, draws),
        }
    }
}

#[cfg(test)]
mod tests;
