//! The erase blocks of a drive, to look at.

use super::space::Space;
use crate::ssd::ids::BlockId;
use raidlab_kernel::Table;
use serde::Serialize;

/// What a block is to the translation layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockState {
    /// Erased.
    Free,
    /// New data go there.
    Open,
    /// Full: some of its data may be out of date.
    Closed,
    /// Garbage collection moves its valid data elsewhere.
    Emptying,
}

/// All erase blocks of a drive at one instant, the blocks of a die side by side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EraseBlocks {
    /// Number of dies.
    pub dies: u32,
    /// Mapping units that a block holds.
    pub units: u32,
    /// Of each block.
    pub states: Vec<BlockState>,
    /// Mapping units of each block whose data are up to date.
    pub valid: Vec<u32>,
    /// Erases of each block so far.
    pub erases: Vec<u32>,
}

impl Space {
    /// The erase blocks as they are now.
    pub(crate) fn erase_blocks(&self) -> EraseBlocks {
        let count = self.blocks.count() as usize;
        let mut states = Table::<BlockId, _>::from(vec![BlockState::Emptying; count]);
        for block in self
            .blocks
            .ids()
            .filter(|&block| self.blocks.is_closed(block))
        {
            states[block] = BlockState::Closed;
        }
        for die in &self.dies {
            for &block in &die.free {
                states[block] = BlockState::Free;
            }
            for frontier in die.frontiers.iter().filter(|frontier| frontier.is_open()) {
                states[frontier.block] = BlockState::Open;
            }
        }
        EraseBlocks {
            dies: self.dies.len() as u32,
            units: self.block_of.get(),
            states: states.as_slice().to_vec(),
            valid: (self.blocks.ids().map(|block| self.blocks.valid(block))).collect(),
            erases: (self.blocks.ids().map(|block| self.blocks.erases(block))).collect(),
        }
    }
}
