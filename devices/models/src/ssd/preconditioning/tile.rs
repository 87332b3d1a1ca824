//! The simulation of one tile through a drive's history.

use crate::ssd::map::layout::{Layout, TileEnd};
use crate::ssd::preconditioning::load::{HistoryAccess, HistoryLoad, groups};
use crate::ssd::preconditioning::settle::apply;
use crate::ssd::preconditioning::tiling::Tiling;
use crate::ssd::translation::policy::CollectionParams;
use crate::ssd::translation::{Translation, Untimed};
use raidlab_kernel::Stream;

/// Share of the drive, inverted, that collection in the background has moved since the last load:
/// some minutes' work, enough to reclaim what is nearly empty and not what is nearly full.
const MOVED_WHILE_IDLE: u64 = 20;

/// All that the end of a tile depends on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TileHistory {
    pub(super) tiling: Tiling,
    pub(super) params: CollectionParams,
    pub(super) loads: Vec<HistoryLoad>,
    pub(super) unit_bytes: u64,
    pub(super) seed: u64,
}

impl TileHistory {
    /// Simulates the tile.
    pub(super) fn end(&self) -> TileEnd {
        // The streams name no drive: drives of one model with one history begin alike.
        // A stream's name is part of its seed, so it stays as it is.
        let draws = Stream::new(self.seed, "tile", "victims of the past");
        let mut tile = Translation::new(self.tiling.shape, self.params, Layout::Empty, draws);
        let mut load_draws = Stream::new(self.seed, "tile", "past load");
        let mut moved_share = 0.0;
        for loads in groups(&self.loads) {
            apply(
                &mut tile,
                loads,
                self.tiling,
                self.unit_bytes,
                &mut load_draws,
            );
            if loads
                .iter()
                .any(|load| load.access == HistoryAccess::Random)
            {
                moved_share = tile.counts().moved_share();
            }
            if loads.iter().any(|load| load.then_rests) {
                self.rest(&mut tile);
            }
        }
        // All tiles of a die together have as many free blocks as the die reserves.
        let reserve = self.params.start_free_blocks.max(1);
        let ahead = tile.collect_to(0, reserve, &mut Untimed).unwrap_or(0);
        tile.into_tile(ahead, moved_share)
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
