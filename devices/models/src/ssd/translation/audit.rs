//! The books recounted, and how the blocks have worn.

use super::Translation;
use crate::ssd::mapping::NONE;

/// Slots of a large drive that are recounted.
const SAMPLED_SLOTS: u32 = 1 << 15;
/// Units of a large drive that are looked up.
const SAMPLED_UNITS: u32 = 1 << 15;

impl Translation {
    /// Erases of the most and of the least worn block.
    pub(in crate::ssd) fn wear(&self) -> (u32, u32) {
        let erases = (0..self.blocks.count()).map(|block| self.blocks.erases(block));
        let (mut most, mut least) = (0, u32::MAX);
        for n in erases {
            (most, least) = (most.max(n), least.min(n));
        }
        (most, least)
    }

    /// Recounts the books: every mapped unit lies in the slot that names it, and valid counts
    /// agree. Of a large drive a sample of blocks and units is recounted.
    ///
    /// # Errors
    /// Says which books do not agree.
    pub(in crate::ssd) fn check(&self) -> Result<(), String> {
        let per_block = self.block_of.get();
        let small = u64::from(self.blocks.count()) * u64::from(per_block) <= 1 << 20;
        let stride = if small {
            1
        } else {
            // A step that shares no factor with the blocks of a die meets every place in a die.
            (self.blocks.count() / (SAMPLED_SLOTS / per_block).max(8)).max(1) | 1
        };
        for block in (0..self.blocks.count()).step_by(stride as usize) {
            let slots = block * per_block..(block + 1) * per_block;
            let mut marks_agree = true;
            let found = slots
                .filter(|&slot| {
                    let unit = self.map.unit(block, slot);
                    let holds = unit < self.shape.units && self.map.find(unit).slot == slot;
                    marks_agree &= holds == self.map.is_valid(block, slot);
                    holds
                })
                .count() as u32;
            if !marks_agree {
                return Err(format!(
                    "valid marks of block {block} disagree with the map"
                ));
            }
            if found != self.blocks.valid(block) {
                return Err(format!(
                    "block {block} holds {found} valid units, its books say {}",
                    self.blocks.valid(block)
                ));
            }
        }
        let unit_stride = if small {
            1
        } else {
            (self.shape.units / SAMPLED_UNITS).max(1)
        };
        for unit in (0..self.shape.units).step_by(unit_stride as usize) {
            let slot = self.map.find(unit).slot;
            if slot != NONE && self.map.unit(self.block_of.quotient(slot), slot) != unit {
                return Err(format!(
                    "unit {unit} is not in slot {slot} where the map says"
                ));
            }
        }
        self.check_dies()
    }

    /// Why nothing can be freed any more on a die, and what to change, if that is so.
    pub(in crate::ssd) fn why_stuck(&self) -> Option<String> {
        let die = self.stuck?;
        let books = &self.dies[die as usize];
        let open = if self.params.separate_frontiers {
            "2 open ones, the host's and that of moved data"
        } else {
            "the open one"
        };
        Some(format!(
            "a smaller capacity or more blocks: garbage collection can free nothing on die {die}. \
             Its {} blocks hold data in {} of {} units; what is spare lies in {} free blocks and \
             {open}, and every other block is full of data",
            self.shape.blocks_per_die,
            books.valid,
            self.shape.units_per_die(),
            books.free.len(),
        ))
    }

    fn check_dies(&self) -> Result<(), String> {
        for (index, die) in self.dies.iter().enumerate() {
            let first = index as u32 * self.shape.blocks_per_die;
            let valid: u32 = (first..first + self.shape.blocks_per_die)
                .map(|block| self.blocks.valid(block))
                .sum();
            if valid != die.valid {
                return Err(format!(
                    "die {index} holds {valid} valid units, its books say {}",
                    die.valid
                ));
            }
        }
        Ok(())
    }
}
