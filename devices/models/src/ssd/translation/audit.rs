//! The counters checked against the map, and the wear of the blocks.

use super::Translation;
use crate::fault::Fault;
use crate::ssd::ids::{BlockId, NandSlot, UnitId};

/// Slots up to which all are checked, of a run that has written much.
const ALL_SLOTS: u64 = 1 << 20;
/// Slots, and units, of a larger drive that are checked.
const SAMPLED: u64 = 1 << 15;
/// As `SAMPLED`, of a run that has hardly written: the check takes no longer than the run.
const FEWEST: u64 = 1 << 12;
/// Slots that are checked for each unit that a run has written.
const FOR_EACH_WRITTEN: u64 = 4;

impl Translation {
    /// Checks that every mapped unit lies in the slot that names it, and that valid counts agree.
    /// Of a large drive, or after a short run, a sample of blocks and units is checked.
    ///
    /// # Errors
    /// Says which counts do not agree.
    pub(crate) fn check(&self) -> Result<(), String> {
        let per_block = self.space.block_of.get();
        let written = self.counts.host + self.counts.moved;
        let enough = if cfg!(debug_assertions) {
            ALL_SLOTS
        } else {
            (FOR_EACH_WRITTEN * written).clamp(FEWEST, ALL_SLOTS)
        };
        let small = u64::from(self.space.blocks.count()) * u64::from(per_block) <= enough;
        let sampled = enough.min(SAMPLED) as u32;
        let stride = if small {
            1
        } else {
            // A step that shares no factor with the blocks of a die meets every place in a die.
            (self.space.blocks.count() / (sampled / per_block).max(8)).max(1) | 1
        };
        for block in (0..self.space.blocks.count()).step_by(stride as usize) {
            let block = BlockId::new(block);
            let slots = self.space.start(block).row(per_block);
            let mut marks_agree = true;
            let found = slots
                .filter(|&slot| {
                    let unit = self.map.unit(block, slot);
                    let holds =
                        unit.number() < self.space.shape.units && self.map.find(unit).slot == slot;
                    marks_agree &= holds == self.map.is_valid(block, slot);
                    holds
                })
                .count() as u32;
            if !marks_agree {
                return Err(format!(
                    "valid marks of block {block} disagree with the map"
                ));
            }
            if found != self.space.blocks.valid(block) {
                return Err(format!(
                    "block {block} holds {found} valid units, its counter says {}",
                    self.space.blocks.valid(block)
                ));
            }
        }
        let unit_stride = if small {
            1
        } else {
            (self.space.shape.units / sampled).max(1)
        };
        for unit in (0..self.space.shape.units).step_by(unit_stride as usize) {
            let unit = UnitId::new(unit);
            let slot = self.map.find(unit).slot;
            if slot != NandSlot::NONE && self.map.unit(self.space.block(slot), slot) != unit {
                return Err(format!(
                    "unit {unit} is not in slot {slot} where the map says"
                ));
            }
        }
        self.space.check_dies()
    }

    /// Why nothing can be freed any more on a die, and what to change, if that is so on a drive of
    /// this capacity.
    pub(crate) fn failure(&self, capacity_bytes: u64) -> Option<Fault> {
        let die = self.stuck?;
        let blocks = &self.space.dies[die];
        let open = if self.params.separate_frontiers {
            "2 open ones, the host's and that of moved data"
        } else {
            "the open one"
        };
        let why = format!(
            "a smaller capacity or more blocks: garbage collection can free nothing on die {die}. \
             Its {} blocks hold data in {} of {} units; what is spare lies in {} free blocks and \
             {open}, and every other block is full of data",
            self.space.shape.blocks_per_die,
            blocks.valid,
            self.space.shape.units_per_die(),
            blocks.free.len(),
        );
        Some(Fault::new("capacity_bytes", capacity_bytes, why))
    }
}
