//! The simulation of one tile through a drive's history.

use crate::ssd::ids::DieId;
use crate::ssd::map::layout::{Layout, TileEnd, Tiles};
use crate::ssd::preconditioning::load::{HistoryAccess, HistoryLoad, groups};
use crate::ssd::preconditioning::memo;
use crate::ssd::preconditioning::pace::Pace;
use crate::ssd::preconditioning::settle::{apply, go_on};
use crate::ssd::preconditioning::tiling::Tiling;
use crate::ssd::preconditioning::writer::Writer;
use crate::ssd::translation::policy::CollectionParams;
use crate::ssd::translation::{Translation, Untimed};
use raidlab_kernel::Stream;
use std::sync::Arc;

/// Share of the drive, inverted, that collection in the background has moved since the last load:
/// some minutes' work, enough to reclaim what is nearly empty and not what is nearly full.
const MOVED_WHILE_IDLE: u64 = 20;

/// A part of the tile's blocks, inverted: those that are emptied next.
const BLOCKS_AHEAD: usize = 40;
/// Pieces of a round after which the tile's victims are others (`pace`).
const PIECES_BETWEEN: u64 = 5;
/// How far apart another end is to be, in standard deviations; it may be less the longer the search
/// takes.
const FAR: f64 = 2.0;
/// Steps of the search at the most.
const MOST_TRIES: u32 = 20;

/// All that the end of a tile depends on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TileHistory {
    pub(super) tiling: Tiling,
    pub(super) params: CollectionParams,
    pub(super) loads: Vec<HistoryLoad>,
    pub(super) unit_bytes: u64,
    pub(super) seed: u64,
    /// True for another end, which the same loads could have left as well.
    pub(super) another: bool,
}

impl TileHistory {
    /// Simulates the tile.
    pub(super) fn end(&self) -> TileEnd {
        if self.another
            && let Some(found) = self.another_end()
        {
            return found;
        }
        // The streams name no drive: drives of one model with one history begin alike.
        // A stream's name is part of its seed, so it stays as it is.
        let draws = Stream::new(self.seed, "tile", "victims of the past");
        let mut tile = Translation::new(self.tiling.shape, self.params, Layout::Empty, draws);
        let mut load_draws = Stream::new(self.seed, "tile", "past load");
        let (mut moved_share, mut pace) = (0.0, Pace::default());
        for loads in groups(&self.loads) {
            pace = apply(
                &mut tile,
                loads,
                self.tiling,
                self.unit_bytes,
                &mut load_draws,
            );
            if is_random(loads) {
                moved_share = tile.counts().moved_share();
            } else {
                pace = Pace::default();
            }
            if loads.iter().any(|load| load.then_rests) {
                self.rest(&mut tile);
            }
        }
        self.closed(tile, moved_share, pace)
    }

    /// The end of a tile on which the loads are over.
    fn closed(&self, mut tile: Translation, moved_share: f64, pace: Pace) -> TileEnd {
        // All tiles of a die together have as many free blocks as the die reserves.
        let reserve = self.params.start_free_blocks.max(1);
        let ahead = tile
            .collect_to(DieId::new(0), reserve, &mut Untimed)
            .unwrap_or(0);
        TileEnd {
            pace,
            ..tile.into_tile(ahead, moved_share)
        }
    }

    /// Another end of the same history, after which collection has noticeably more or less to do:
    /// the last loads go on until that is so. None if they have not settled.
    fn another_end(&self) -> Option<TileEnd> {
        let first = memo::end_of(&TileHistory {
            another: false,
            ..self.clone()
        });
        let scatter = first.pace.scatter(2.0 * first.pace.piece_units() as f64)?;
        let loads = groups(&self.loads).next_back()?;
        let shape = self.tiling.shape;
        let draws = Stream::new(self.seed, "tile", "victims of another past");
        let mut load_draws = Stream::new(self.seed, "tile", "another past load");
        let tiles = Tiles::of(shape, 1, None, Arc::clone(&first));
        let mut tile = Translation::from_tiles(shape, self.params, tiles, draws);
        let mut writers = Writer::of_all(loads, self.tiling, self.unit_bytes);
        let victims = (shape.blocks_per_die as usize / BLOCKS_AHEAD).max(1);
        let start = tile.space.amplification_ahead(victims);
        let step = first.pace.piece_units() * PIECES_BETWEEN;
        for tried in 0..MOST_TRIES {
            go_on(&mut tile, &mut writers, (step, false), &mut load_draws);
            let apart = (tile.space.amplification_ahead(victims) / start).ln().abs();
            let left = 1.0 - f64::from(tried) / f64::from(MOST_TRIES);
            if apart >= FAR * left * scatter.deviation {
                break;
            }
        }
        go_on(&mut tile, &mut writers, (0, true), &mut load_draws);
        if loads.iter().any(|load| load.then_rests) {
            self.rest(&mut tile);
        }
        Some(self.closed(tile, first.moved_share, first.pace.clone()))
    }

    /// Some minutes without a load, in which collection goes on.
    fn rest(&self, tile: &mut Translation) {
        let reserve = self.params.start_free_blocks.max(1);
        let beyond = self.params.background_free_blocks.saturating_sub(reserve);
        let goal = reserve + beyond / self.tiling.layers;
        let most = u64::from(self.tiling.shape.units) / MOVED_WHILE_IDLE;
        tile.collect_while_idle(goal, most, &mut Untimed);
    }
}

/// True if one of the loads writes at random.
fn is_random(loads: &[HistoryLoad]) -> bool {
    let mut loads = loads.iter();
    loads.any(|load| load.access == HistoryAccess::Random)
}
