//! Where data lie when a run starts, in a form that does not grow with the drive.
//!
//! A drive's dies are alike, and so is what a load leaves on each, if it is spread over them. So
//! one die, or an equal part of one (a *tile*), is simulated through the drive's history, and every
//! tile of the drive starts as that one ended. Consecutive chunks of the address space go to
//! consecutive tiles. So a region of the drive is the same share of every tile, and neighbours in a
//! chunk stay neighbours.
//!
//! Loads at random leave data in the order of their writes (see `map::log_order`): a unit is then
//! dealt out with the number of another one, in whose place it lies.
//!
//! Every unit has a *home*, a number that the map's tables use. Homes follow the slots of a tile.

use crate::ssd::ids::{BlockId, HomeId, LogPlace, NandSlot, TileHome, TileId, TileUnit, UnitId};
use crate::ssd::map::log_order::LogOrder;
use crate::ssd::map::slot::{Found, Frontier};
use crate::ssd::preconditioning::pace::{Pace, PastScatter};
use crate::ssd::translation::shape::Shape;
use prefetch_index::prefetch_index;
use raidlab_kernel::{Bits, Divider, Table};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Where everything lies at the start.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) enum Layout {
    /// Nothing was ever written.
    Empty,
    /// Every tile as the simulated one.
    Tiled(Box<Tiles>),
}

/// The simulated tile, and how tiles make up the drive.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Tiles {
    /// Units of the drive.
    pub(crate) units: u32,
    /// Dies of the drive; tile t belongs to die t % dies.
    pub(crate) dies: Divider,
    /// All blocks of a die.
    pub(crate) blocks_per_die: Divider,
    /// Blocks of a tile that are in use; they stand one tile after the other in a die.
    pub(crate) blocks: Divider,
    /// Units of a block.
    pub(crate) units_per_block: u32,
    /// Homes of a tile.
    pub(crate) homes: Divider,
    /// Consecutive units that stay together in a tile.
    pub(crate) chunk: Divider,
    /// Tiles in the drive: a multiple of the dies.
    pub(crate) tiles: Divider,
    /// What loads at random have left of the order of addresses; none if there was no such load.
    pub(crate) log_order: Option<LogOrder>,
    /// The simulated tile; drives with the same history share it.
    pub(crate) end: Arc<TileEnd>,
}

impl Layout {
    /// How far write amplification over `host_units` units of the host, from the begin of a run on,
    /// differs between drives with the same history; none if there is no such history.
    pub(crate) fn past_scatter(&self, host_units: u64) -> Option<PastScatter> {
        let Layout::Tiled(tiles) = self else {
            return None;
        };
        let each = host_units as f64 / f64::from(tiles.tiles.get());
        tiles.end.pace.scatter(each)
    }

    /// Number of homes on a drive of `units`.
    pub(crate) fn homes(&self, units: u32) -> usize {
        match self {
            Layout::Empty => units as usize,
            Layout::Tiled(tiles) => tiles.tiles.get() as usize * tiles.homes.get() as usize,
        }
    }

    /// Checks what a file says against the drive.
    ///
    /// # Errors
    /// Says what does not agree.
    pub(crate) fn agrees(&self, shape: Shape) -> Result<(), String> {
        match self {
            Layout::Empty => Ok(()),
            Layout::Tiled(tiles) if tiles.agree(shape) => Ok(()),
            Layout::Tiled(_) => Err("its history is that of another drive".into()),
        }
    }

    /// The home of a unit, and where the layout has put it.
    #[inline]
    pub(crate) fn find(&self, unit: UnitId) -> Found {
        match self {
            Layout::Empty => self.at(HomeId::new(unit.number())),
            Layout::Tiled(tiles) => tiles.find(unit),
        }
    }

    /// How many units from this one on, at most `most`, have homes in a row and lie in slots in a
    /// row; 1 where that would have to be looked up.
    #[inline]
    pub(crate) fn in_a_row(&self, unit: UnitId, most: u32) -> u32 {
        match self {
            Layout::Tiled(tiles) if tiles.is_in_order() => {
                (tiles.chunk.get() - tiles.chunk.split(unit.number()).1).min(most)
            }
            Layout::Empty | Layout::Tiled(_) => 1,
        }
    }

    /// Prefetches what [`Layout::find`] reads of a unit.
    #[inline]
    pub(crate) fn prefetch(&self, unit: UnitId) {
        if let Layout::Tiled(tiles) = self
            && !tiles.end.in_order
        {
            prefetch_index(tiles.end.homes.as_slice(), tiles.place(unit).1.index());
        }
    }

    /// The unit with this home; [`UnitId::NONE`] if there is none.
    pub(crate) fn unit(&self, home: HomeId) -> UnitId {
        match self {
            Layout::Empty => UnitId::new(home.number()),
            Layout::Tiled(tiles) => tiles.unit(home),
        }
    }

    /// Where the layout has put the unit with this home.
    #[inline]
    pub(crate) fn at(&self, home: HomeId) -> Found {
        match self {
            Layout::Empty => Found {
                home,
                slot: NandSlot::NONE,
            },
            Layout::Tiled(tiles) => {
                let (tile, home) = tiles.split(home);
                tiles.found_if_laid(tile, home)
            }
        }
    }

    /// What the layout has put into a block, if it has put anything there.
    #[inline]
    pub(crate) fn block(&self, block: BlockId) -> Option<LaidBlock<'_>> {
        match self {
            Layout::Empty => None,
            Layout::Tiled(tiles) => tiles.block(block),
        }
    }
}

/// A block as laid out: its slots hold the units with consecutive homes.
#[derive(Clone, Copy)]
pub(crate) struct LaidBlock<'a> {
    /// The home that belongs to the first slot.
    pub(crate) home: HomeId,
    /// That home in its tile.
    first: TileHome,
    end: &'a TileEnd,
}

impl LaidBlock<'_> {
    /// Which of `count` slots, at most 64, from `start` on the layout has put data into.
    #[inline]
    pub(crate) fn laid(&self, start: u32, count: u32) -> u64 {
        self.end.laid.window(self.first.number() + start, count)
    }
}

impl Tiles {
    /// A drive of `tiles` tiles, each as `end`.
    pub(crate) fn of(
        shape: Shape,
        tiles: u32,
        log_order: Option<LogOrder>,
        end: Arc<TileEnd>,
    ) -> Tiles {
        Tiles {
            units: shape.units,
            dies: Divider::new(shape.dies),
            blocks_per_die: Divider::new(shape.blocks_per_die),
            blocks: Divider::new(end.blocks.len() as u32),
            units_per_block: shape.units_per_block(),
            homes: Divider::new(end.units.len() as u32),
            chunk: Divider::new(shape.units_per_set),
            tiles: Divider::new(tiles),
            log_order,
            end,
        }
    }

    /// True if the tiles make up a drive of this shape, and each unit has a home of its own.
    fn agree(&self, shape: Shape) -> bool {
        let per_block = shape.units_per_block();
        let sizes = [
            self.units,
            self.dies.get(),
            self.blocks_per_die.get(),
            self.units_per_block,
        ];
        let expected = [shape.units, shape.dies, shape.blocks_per_die, per_block];
        let (tiles, blocks, chunk) = (self.tiles.get(), self.blocks.get(), self.chunk.get());
        let TileEnd {
            homes, units, laid, ..
        } = &*self.end;
        let layers = u64::from(tiles / shape.dies);
        let in_use = blocks as usize * per_block as usize;
        let rows = u64::from(shape.units).div_ceil(u64::from(chunk) * u64::from(tiles));
        let lies = |unit: TileUnit, home: TileHome| {
            units.get(home) == Some(&unit)
                && (!laid.get(home.number()) || home.index() < in_use)
                && (!self.end.in_order || home.number() == unit.number())
        };
        sizes == expected
            && tiles % shape.dies == 0
            && u64::from(blocks) * layers <= u64::from(shape.blocks_per_die)
            && self.end.blocks.len() == blocks as usize
            && self
                .log_order
                .as_ref()
                .is_none_or(|order| order.agrees(self.units))
            && units.len() == self.homes.get() as usize
            && units.len() == in_use.max(homes.len())
            && homes.len() as u64 >= rows * u64::from(chunk)
            && laid.are(units.len())
            && homes.entries().all(|(unit, &home)| lies(unit, home))
            && units.iter().filter(|&&unit| unit != TileUnit::NONE).count() == homes.len()
    }

    /// True if all units hold data, in the order of their addresses.
    #[inline]
    fn is_in_order(&self) -> bool {
        self.end.in_order && self.end.full && self.log_order.is_none()
    }

    /// The tile of a unit, and its number among the tile's units.
    #[inline]
    fn place(&self, unit: UnitId) -> (TileId, TileUnit) {
        let place = match &self.log_order {
            None => LogPlace::new(unit.number()),
            Some(order) => order.place(unit),
        };
        let (chunk, within) = self.chunk.split(place.number());
        let (row, tile) = self.tiles.split(chunk);
        let local = row * self.chunk.get() + within;
        (TileId::new(tile), TileUnit::new(local))
    }

    #[inline]
    fn find(&self, unit: UnitId) -> Found {
        let (tile, local) = self.place(unit);
        let home = if self.end.in_order {
            TileHome::new(local.number())
        } else {
            self.end.homes[local]
        };
        if self.end.full {
            return self.found(tile, home);
        }
        self.found_if_laid(tile, home)
    }

    fn unit(&self, home: HomeId) -> UnitId {
        let (tile, home) = self.split(home);
        match self.end.units[home] {
            TileUnit::NONE => UnitId::NONE,
            local => self.drive_unit(tile, local).unwrap_or(UnitId::NONE),
        }
    }

    /// The tile of a home, and its number in the tile.
    #[inline]
    fn split(&self, home: HomeId) -> (TileId, TileHome) {
        let (tile, home) = self.homes.split(home.number());
        (TileId::new(tile), TileHome::new(home))
    }

    /// The drive's number of a home of a tile.
    #[inline]
    fn home(&self, tile: TileId, home: TileHome) -> HomeId {
        HomeId::new(tile.number() * self.homes.get() + home.number())
    }

    /// Home `home` of `tile`, which holds data.
    #[inline]
    fn found(&self, tile: TileId, home: TileHome) -> Found {
        let first = self.first_block(tile).number() * self.units_per_block;
        Found {
            home: self.home(tile, home),
            slot: NandSlot::new(first + home.number()),
        }
    }

    /// Home `home` of `tile`, which may hold data.
    #[inline]
    fn found_if_laid(&self, tile: TileId, home: TileHome) -> Found {
        if self.end.laid.get(home.number()) {
            return self.found(tile, home);
        }
        Found {
            home: self.home(tile, home),
            slot: NandSlot::NONE,
        }
    }

    #[inline]
    fn block(&self, block: BlockId) -> Option<LaidBlock<'_>> {
        let (die, block) = self.blocks_per_die.split(block.number());
        let (layer, block) = self.blocks.split(block);
        let tile = TileId::new(layer * self.dies.get() + die);
        let first = TileHome::new(block * self.units_per_block);
        (tile.number() < self.tiles.get()).then(|| LaidBlock {
            home: self.home(tile, first),
            first,
            end: &self.end,
        })
    }

    /// The first block of `tile` in the drive's numbering.
    #[inline]
    pub(crate) fn first_block(&self, tile: TileId) -> BlockId {
        let (layer, die) = self.dies.split(tile.number());
        BlockId::new(die * self.blocks_per_die.get() + layer * self.blocks.get())
    }

    /// The drive's unit that is unit `local` of `tile`; none beyond the end of the drive,
    /// which cuts the last chunks off.
    pub(crate) fn drive_unit(&self, tile: TileId, local: TileUnit) -> Option<UnitId> {
        let (row, within) = self.chunk.split(local.number());
        let chunk = u64::from(row) * u64::from(self.tiles.get()) + u64::from(tile.number());
        let unit = chunk * u64::from(self.chunk.get()) + u64::from(within);
        let place = (unit < u64::from(self.units)).then_some(unit as u32)?;
        Some(match &self.log_order {
            None => UnitId::new(place),
            Some(order) => order.unit(LogPlace::new(place)),
        })
    }

    /// Homes of `tile`, which are its slots, that hold units beyond the drive's end, which cuts the last row of chunks.
    pub(crate) fn beyond_end(&self, tile: TileId) -> Vec<TileHome> {
        let chunk = self.chunk.get();
        let last_row = TileUnit::new(self.end.homes.len() as u32 - chunk);
        (last_row.row(chunk))
            .filter(|&local| self.drive_unit(tile, local).is_none())
            .map(|local| self.end.homes[local])
            .filter(|home| self.end.laid.get(home.number()))
            .collect()
    }
}

/// A block in use when a history ends.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct TileBlock {
    pub(crate) valid: u32,
    /// Order of closing.
    pub(crate) closed: u32,
    pub(crate) erases: u32,
}

/// A tile at the end of its history, free blocks left out.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct TileEnd {
    /// Unit of a tile to its home in the tile. The home of a unit that holds data is its slot;
    /// the others have the numbers that are left.
    pub(crate) homes: Table<TileUnit, TileHome>,
    /// Home in a tile to unit of a tile; [`TileUnit::NONE`] for a number that is no unit's home.
    pub(crate) units: Table<TileHome, TileUnit>,
    /// Homes of units that hold data.
    pub(crate) laid: Bits,
    /// True if the home of each unit is its own number: filled in order and not touched since.
    pub(crate) in_order: bool,
    /// True if every unit holds data, so that `laid` need not be asked; a file does not say so.
    #[serde(skip)]
    pub(crate) full: bool,
    pub(crate) blocks: Table<BlockId, TileBlock>,
    /// Units that the host has yet to write until it is in step with collection.
    pub(crate) ahead: u32,
    /// The open blocks, as `blocks` numbers them.
    pub(crate) frontiers: [Frontier; 2],
    /// Of all units that the last load at random had NAND write, those that collection moved.
    pub(crate) moved_share: f64,
    /// True if garbage collection could free nothing any more.
    #[serde(skip)]
    pub(crate) stuck: bool,
    /// Of the history's last loads, if they went on at random until nothing changed.
    #[serde(skip)]
    pub(crate) pace: Pace,
}

impl TileEnd {
    /// Memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        4 * (self.homes.len() + self.units.len()) + 12 * self.blocks.len()
    }
}
