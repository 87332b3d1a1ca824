//! A load's writes to the simulated tile.

use crate::ssd::ids::UnitId;
use crate::ssd::preconditioning::load::{HistoryAccess, HistoryLoad};
use crate::ssd::preconditioning::tiling::Tiling;
use crate::ssd::translation::{Translation, Untimed};
use raidlab_kernel::Stream;

/// Writes that are drawn before the first of them is made: they wait for memory together.
const DRAWN_AHEAD: usize = 32;

/// A load's region of a tile.
#[derive(Clone, Copy)]
pub(super) struct Area {
    pub(super) first: u64,
    pub(super) units: u64,
    /// Units written together: a larger write is spread over several tiles.
    pub(super) block: u64,
}

impl Area {
    pub(super) fn of(load: &HistoryLoad, tiling: Tiling, unit_bytes: u64) -> Area {
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
        let mut left = writes.div_ceil(self.block) as usize;
        let mut drawn = [0; DRAWN_AHEAD];
        while left > 0 {
            let starts = &mut drawn[..DRAWN_AHEAD.min(left)];
            for start in &mut *starts {
                *start = self.first + draws.below(blocks) * self.block;
                tile.prefetch(UnitId::new(*start as u32));
            }
            for &mut start in &mut *starts {
                for unit in start..start + self.block {
                    tile.write(UnitId::new(unit as u32), &mut Untimed);
                }
            }
            left -= starts.len();
        }
    }
}

/// A load on a tile.
pub(super) struct Writer {
    pub(super) area: Area,
    access: HistoryAccess,
    weight: u32,
    /// Where in its area a sequential one is.
    position: u64,
}

impl Writer {
    pub(super) fn of(load: &HistoryLoad, tiling: Tiling, unit_bytes: u64) -> Writer {
        Writer {
            area: Area::of(load, tiling, unit_bytes),
            access: load.access,
            weight: load.weight,
            position: 0,
        }
    }

    /// Those of loads that run at the same time.
    pub(super) fn of_all(loads: &[HistoryLoad], tiling: Tiling, unit_bytes: u64) -> Vec<Writer> {
        let of = |load| Writer::of(load, tiling, unit_bytes);
        loads.iter().map(of).collect()
    }

    /// How often it writes a block, beside others: the larger its blocks, the less often.
    pub(super) fn frequency(&self) -> u64 {
        (u64::from(self.weight) << 16) / self.area.block + 1
    }

    pub(super) fn write(&mut self, tile: &mut Translation, units: u64, draws: &mut Stream) {
        match self.access {
            HistoryAccess::Sequential => {
                for _ in 0..units {
                    let unit = self.area.first + self.position;
                    tile.write(UnitId::new(unit as u32), &mut Untimed);
                    self.position = (self.position + 1) % self.area.units;
                }
            }
            HistoryAccess::Random => self.area.write_randomly(tile, units, draws),
        }
    }
}
