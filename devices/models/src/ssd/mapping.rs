//! The page map: where each mapping unit lies, and which unit each slot holds.
//!
//! A slot is the place of one mapping unit in NAND; slots are numbered block by block. Both
//! directions are tables of 32 bits an entry, which an operating system provides page by page as
//! they are touched. What a history before the run has left behind is not written into the
//! tables: it is the [`Layout`] of one small area, repeated over the drive, and a table's entry
//! only says what changed since. So a drive of terabytes starts in the time of a small one.

use super::layout::Layout;
use super::overlay::{Overlay, UNCHANGED};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

/// No slot, or no unit.
pub(super) const NONE: u32 = u32::MAX;

/// An entry of the forward table that says: nowhere.
const UNMAPPED: u32 = 1;
/// Added to a slot to make an entry.
const BIAS: u32 = 2;

/// Units that share a mark of having been touched.
const SHARED_MARK_SHIFT: u32 = 12;

/// Both directions of the map.
#[derive(Debug, Deserialize)]
#[serde(from = "SavedMapping")]
pub(super) struct Mapping {
    forward: Overlay,
    /// False where no unit of a stretch has changed: spares a look into the large table.
    changed: Vec<bool>,
    reverse: Vec<u32>,
    /// True for a block whose slots are in `reverse`; the others are as laid out.
    rewritten: Vec<bool>,
    layout: Layout,
}

/// What has changed since the start, and how it was at the start.
#[derive(Deserialize)]
struct SavedMapping {
    forward: Overlay,
    slots: usize,
    blocks: usize,
    /// Blocks written since the start, and the units in all their slots.
    rewritten: Vec<usize>,
    units: Vec<u32>,
    layout: Layout,
}

impl Serialize for Mapping {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let blocks = self.rewritten.len();
        let per_block = self.reverse.len() / blocks.max(1);
        let rewritten: Vec<usize> = (0..blocks).filter(|&at| self.rewritten[at]).collect();
        let units: Vec<u32> = rewritten
            .iter()
            .flat_map(|&at| &self.reverse[at * per_block..(at + 1) * per_block])
            .copied()
            .collect();
        let mut saved = serializer.serialize_struct("SavedMapping", 6)?;
        saved.serialize_field("forward", &self.forward)?;
        saved.serialize_field("slots", &self.reverse.len())?;
        saved.serialize_field("blocks", &blocks)?;
        saved.serialize_field("rewritten", &rewritten)?;
        saved.serialize_field("units", &units)?;
        saved.serialize_field("layout", &self.layout)?;
        saved.end()
    }
}

impl From<SavedMapping> for Mapping {
    fn from(saved: SavedMapping) -> Mapping {
        let units = saved.forward.units();
        let per_block = saved.slots / saved.blocks.max(1);
        let mut map = Mapping::new(units, saved.blocks as u32, per_block as u32, saved.layout);
        for (unit, _) in saved.forward.changes() {
            map.changed[(unit >> SHARED_MARK_SHIFT) as usize] = true;
        }
        map.forward = saved.forward;
        for (place, block) in saved.rewritten.into_iter().enumerate() {
            map.rewritten[block] = true;
            map.reverse[block * per_block..(block + 1) * per_block]
                .copy_from_slice(&saved.units[place * per_block..(place + 1) * per_block]);
        }
        map
    }
}

impl Mapping {
    /// Units and blocks as `layout` leaves them.
    pub(super) fn new(units: u32, blocks: u32, units_per_block: u32, layout: Layout) -> Mapping {
        Mapping {
            forward: Overlay::new(units),
            changed: vec![false; (units >> SHARED_MARK_SHIFT) as usize + 1],
            reverse: vec![0; blocks as usize * units_per_block as usize],
            rewritten: vec![false; blocks as usize],
            layout,
        }
    }

    /// Number of units.
    pub(super) fn units(&self) -> u32 {
        self.forward.units()
    }

    /// The slot of `unit`, [`NONE`] if it holds nothing.
    #[inline]
    pub(super) fn slot(&self, unit: u32) -> u32 {
        if !self.changed[(unit >> SHARED_MARK_SHIFT) as usize] {
            return self.layout.slot(unit);
        }
        match self.forward.get(unit) {
            UNCHANGED => self.layout.slot(unit),
            UNMAPPED => NONE,
            entry => entry - BIAS,
        }
    }

    /// The unit that was written to `slot` of `block`, [`NONE`] if the layout left it empty.
    ///
    /// The slot is valid only if [`Mapping::slot`] of that unit is this slot.
    #[inline]
    pub(super) fn unit(&self, block: u32, slot: u32) -> u32 {
        if self.rewritten[block as usize] {
            self.reverse[slot as usize]
        } else {
            self.layout.unit(slot)
        }
    }

    /// Loads what [`Mapping::slot`] will need into the processor's cache.
    #[inline]
    pub(super) fn touch(&self, unit: u32) {
        self.forward.touch(unit);
    }

    /// Puts `unit` into `slot`.
    #[inline]
    pub(super) fn set(&mut self, unit: u32, slot: u32) {
        self.forward.set(unit, slot + BIAS);
        self.changed[(unit >> SHARED_MARK_SHIFT) as usize] = true;
        self.reverse[slot as usize] = unit;
    }

    /// `unit` holds nothing from now on.
    #[inline]
    pub(super) fn clear(&mut self, unit: u32) {
        self.forward.set(unit, UNMAPPED);
        self.changed[(unit >> SHARED_MARK_SHIFT) as usize] = true;
    }

    /// Writes what the layout has in `slot` of `block` into the table.
    pub(super) fn copy_from_layout(&mut self, block: u32, slot: u32) {
        let unit = self.unit(block, slot);
        self.reverse[slot as usize] = unit;
    }

    /// The slots of `block` are in the table from now on, whatever the layout says.
    #[inline]
    pub(super) fn rewrite(&mut self, block: u32) {
        self.rewritten[block as usize] = true;
    }

    /// True if the slots of `block` are in the table, false if they are as laid out.
    #[inline]
    pub(super) fn is_rewritten(&self, block: u32) -> bool {
        self.rewritten[block as usize]
    }

    /// Both tables as they stand, without any layout: (unit to slot, slot to unit).
    pub(super) fn tables(&self, units_per_block: u32) -> (Vec<u32>, Vec<u32>) {
        let forward = (0..self.units()).map(|unit| self.slot(unit)).collect();
        let reverse = (0..self.reverse.len() as u32)
            .map(|slot| self.unit(slot / units_per_block, slot))
            .collect();
        (forward, reverse)
    }
}
