//! From a drive to the tile that a history has left, and from such a tile to a drive.

use super::{Shape, Translation, Untimed};
use crate::ssd::ids::{BlockId, DieId, NandSlot, TileHome, TileId, TileUnit, UnitId};
use crate::ssd::map::layout::{Layout, TileBlock, TileEnd, Tiles};
use crate::ssd::map::slot::Frontier;
use crate::ssd::preconditioning::pace::Pace;
use crate::ssd::translation::policy::{CollectionParams, Policy};
use raidlab_kernel::{Bits, Stream, Table};
use std::ops::Range;
use std::sync::Arc;

impl Translation {
    /// A drive on which every tile is as `tiles` says.
    pub(crate) fn from_tiles(
        shape: Shape,
        params: CollectionParams,
        tiles: Tiles,
        draws: Stream,
    ) -> Translation {
        let (count, used) = (tiles.tiles.get(), tiles.blocks.get());
        let all = TileId::first(count);
        let first_blocks: Vec<BlockId> = all.clone().map(|tile| tiles.first_block(tile)).collect();
        let missing: Vec<Vec<TileHome>> = all.map(|tile| tiles.beyond_end(tile)).collect();
        let end = Arc::clone(&tiles.end);
        let mut drive = Translation::new(shape, params, Layout::Tiled(Box::new(tiles)), draws);
        let in_use = count / shape.dies * used;
        for (die, state) in (0..).map(DieId::new).zip(&mut drive.space.dies) {
            let free = shape.blocks_per_die - in_use;
            state.free = shape.first_block(die).plus(in_use).row(free).collect();
        }
        for (tile, &first) in first_blocks.iter().enumerate() {
            let die = drive.space.die(first);
            for (index, block) in end.blocks.entries() {
                let here = first.plus(index.number());
                drive.space.blocks.restore(here, block);
                drive.space.dies[die].valid += block.valid;
            }
            for home in &missing[tile] {
                drive.invalidate(drive.space.start(first).plus(home.number()));
            }
            // The frontiers of a die's first tile stay open; those of the others are closed.
            if tile < shape.dies as usize {
                for (stream, &frontier) in end.frontiers.iter().enumerate() {
                    if frontier.is_open() {
                        let block = first.plus(frontier.block.number());
                        drive.space.blocks.take(block);
                        drive.space.dies[die].frontiers[stream] = Frontier { block, ..frontier };
                    }
                }
            }
        }
        drive.open_at_start = drive.space.units_in_open_sets();
        drive.stuck = end.stuck.then_some(DieId::new(0));
        drive.moved_share = end.moved_share;
        drive
    }

    /// Brings every die to another point of emptying a block: the drive's last load, on these units
    /// of its tiles, goes on there for a part of the time that this takes. All dies start from one
    /// tile. In step they would do their hard and their easy work at the same time; dies that have
    /// been written at random for long do not.
    pub(crate) fn stagger(&mut self, area: &Range<u32>, draws: &mut Stream) {
        let Layout::Tiled(tiles) = self.map.layout() else {
            return;
        };
        let ahead = tiles.end.ahead / self.space.shape.units_per_set;
        let start_free_blocks = self.params.start_free_blocks;
        for die in self.space.dies.ids() {
            // Collection waits until the host is in step with it.
            self.params.start_free_blocks = 0;
            self.write_on(die, ahead, area, draws);
            self.params.start_free_blocks = start_free_blocks;
            self.write_on(die, 1, area, draws);
            if let Some(victim) = self.space.dies[die].victim {
                let sets = victim.budget.div_ceil(self.space.shape.units_per_set);
                self.write_on(die, draws.below(u64::from(sets)) as u32, area, draws);
            }
        }
        self.current = DieId::new(0);
        self.reset_counts();
    }

    /// The host writes `sets` page sets on a die, with any units of an area that it has there.
    fn write_on(&mut self, die: DieId, sets: u32, area: &Range<u32>, draws: &mut Stream) {
        let per_set = self.space.shape.units_per_set;
        let mut units = Vec::with_capacity(per_set as usize);
        for _ in 0..sets {
            self.current = die;
            units.clear();
            units.extend((0..per_set).filter_map(|_| self.unit_on(die, area, draws)));
            // Their entries are far apart: all of a set are waited for together.
            units.iter().for_each(|&unit| self.prefetch_layout(unit));
            units.iter().for_each(|&unit| self.prefetch(unit));
            for &unit in &units {
                self.write(unit, &mut Untimed);
            }
        }
    }

    /// Any unit of an area that a history has left on a die; none beyond the drive's end.
    fn unit_on(&self, die: DieId, area: &Range<u32>, draws: &mut Stream) -> Option<UnitId> {
        let Layout::Tiled(tiles) = self.map.layout() else {
            return None;
        };
        let layers = tiles.tiles.get() / self.space.shape.dies;
        let layer = draws.below(u64::from(layers)) as u32;
        let local = area.start + draws.below(u64::from(area.end - area.start)) as u32;
        let tile = TileId::new(layer * self.space.shape.dies + die.number());
        tiles.drive_unit(tile, TileUnit::new(local))
    }

    /// The state in which a tile ends: tables and blocks in use, free blocks left out. Collection
    /// is `ahead` units ahead of the host, and has moved the `moved_share` of what was written.
    pub(crate) fn into_tile(self, ahead: u32, moved_share: f64) -> TileEnd {
        let per_block = self.space.block_of.get();
        let count = self.space.blocks.count() as usize;
        let mut free = Table::<BlockId, _>::from(vec![false; count]);
        for &block in self.space.dies.iter().flat_map(|die| &die.free) {
            free[block] = true;
        }
        let mut blocks = Table::<BlockId, _>::default();
        let mut moved_down = Table::<BlockId, _>::from(vec![BlockId::NONE; count]);
        for block in free.ids().filter(|&block| !free[block]) {
            moved_down[block] = blocks.push(TileBlock {
                valid: self.space.blocks.valid(block),
                closed: self.space.blocks.closing_order(block),
                erases: self.space.blocks.erases(block),
            });
        }
        let count = (blocks.len() as u32 * per_block).max(self.space.shape.units);
        let mut laid = Bits::new(count as usize);
        let mut units = Table::from(vec![TileUnit::NONE; count as usize]);
        let unit_count = self.space.shape.units as usize;
        let mut homes = Table::from(vec![TileHome::NONE; unit_count]);
        for unit in homes.ids() {
            let slot = self.map.find(UnitId::new(TileUnit::number(unit))).slot;
            if slot != NandSlot::NONE {
                let (block, offset) = self.space.block_of.split(slot.number());
                let block = moved_down[BlockId::new(block)];
                let home = TileHome::new(block.number() * per_block + offset);
                homes[unit] = home;
                units[home] = unit;
                laid.set(home.number());
            }
        }
        let full = homes.iter().all(|&home| home != TileHome::NONE);
        let mut left = units.ids().filter(|home| !laid.get(home.number()));
        for unit in homes
            .ids()
            .filter(|&unit| homes[unit] == TileHome::NONE)
            .collect::<Vec<_>>()
        {
            let home = left.next().expect("as many homes as units");
            homes[unit] = home;
            units[home] = unit;
        }
        let mut frontiers = self.space.dies[DieId::new(0)].frontiers;
        for frontier in frontiers.iter_mut().filter(|open| open.is_open()) {
            frontier.block = moved_down[frontier.block];
        }
        let in_order = homes
            .entries()
            .all(|(unit, home)| home.number() == unit.number());
        TileEnd {
            stuck: self.stuck.is_some(),
            ahead,
            moved_share,
            homes,
            units,
            laid,
            in_order,
            full,
            blocks,
            frontiers,
            pace: Pace::default(),
        }
    }

    /// Units that the next 1, 2, 4 ... victims of the first die free together, up to an eighth of its
    /// blocks: those with the fewest valid units. Empty where collection chooses by something else.
    pub(crate) fn freed_ahead(&self) -> Box<[u32]> {
        match self.params.policy {
            Policy::Greedy => self.space.freed_ahead(),
            _ => Box::default(),
        }
    }
}
