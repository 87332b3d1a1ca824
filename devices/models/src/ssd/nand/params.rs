//! NAND, as the plan describes it.

use crate::ssd::nand::slc_cache::SlcCacheParams;
use raidlab_kernel::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// NAND in the plan.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct NandParams {
    /// Independent buses.
    pub channels: u32,
    /// Dies on each bus.
    pub dies_per_channel: u32,
    /// Planes of a die, operated together.
    pub planes: u32,
    /// Blocks of a plane, bad ones taken off.
    pub blocks_per_plane: u32,
    /// Pages of a block.
    pub pages_per_block: u32,
    /// Bytes of a page, without its spare area.
    pub page_bytes: u32,
    /// Time to read a page into the die's register, by page type: one entry for SLC, lower and
    /// upper for MLC, three for TLC.
    pub read_ns: Vec<Nanos>,
    /// Time to program a page, by page type.
    pub program_ns: Vec<Nanos>,
    /// Bytes a second that all dies together program with all bits of the cells; none for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_bytes_per_s: Option<u64>,
    /// Time to erase a block.
    pub erase_ns: Nanos,
    /// Rate of a bus.
    pub channel_bytes_per_s: u64,
    /// Rate of a bus when data go to a die; none for the same.
    #[serde(default)]
    pub channel_write_bytes_per_s: Option<u64>,
    /// Bus and controller time of each page's command, addresses, status and error correction.
    pub command_ns: Nanos,
    /// True if a die can read the next page while its register is being emptied.
    pub cache_read: bool,
    /// True if a die can take the next page's data while it programs.
    pub cache_program: bool,
    /// True if the planes of a die read by themselves; they program and erase together.
    #[serde(default)]
    pub independent_reads: bool,
    /// Time until a program or erase in progress is suspended for a read; none if it does not.
    pub suspend_ns: Option<Nanos>,
    /// A program or erase is suspended only at the end of a pulse of this length, with its verify;
    /// 0: at any time.
    #[serde(default)]
    pub pulse_ns: Nanos,
    /// A program or erase that has been resumed goes on for this long before it is suspended again.
    #[serde(default)]
    pub suspend_interval_ns: Nanos,
    /// From the end of the reads until what they suspended goes on.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub resume_ns: Nanos,
    /// Reads that may overtake or suspend one operation before it goes through.
    pub reads_first: u32,
    /// Blocks that hold one bit a cell until the drive is idle; none without.
    #[serde(default)]
    pub slc_cache: Option<SlcCacheParams>,
    /// Program and erase cycles that a block is rated for.
    pub rated_cycles: u32,
}

fn is_zero(time: &Nanos) -> bool {
    *time == Nanos::ZERO
}

impl NandParams {
    /// Rate of a bus when data go to a die.
    pub(crate) fn write_bytes_per_s(&self) -> u64 {
        self.channel_write_bytes_per_s
            .unwrap_or(self.channel_bytes_per_s)
    }
}
