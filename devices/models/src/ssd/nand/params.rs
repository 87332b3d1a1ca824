//! NAND, as the plan describes it.

use crate::bounds::{Bounds, LowerBound};
use crate::fault::Fault;
use raidlab_kernel::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the host's data meet when the cache is full.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum WhenFull {
    /// They are programmed with all bits of the cells at once.
    Direct,
    /// An older page set is folded for each.
    Fold,
}

/// An SLC cache in the plan.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct SlcCacheParams {
    /// Bytes of host data in blocks that are always in SLC mode.
    pub fixed_bytes: u64,
    /// Bytes of host data at most in blocks that are empty: a cell that may hold several bits
    /// holds one.
    pub dynamic_bytes: u64,
    /// Time to program a page of every plane in SLC mode.
    pub program_ns: Nanos,
    /// Time without a job after which a die begins to fold.
    pub idle_ns: Nanos,
    /// What happens without room.
    pub when_full: WhenFull,
}

/// NAND in the plan.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct NandParams {
    /// Independent buses.
    #[schemars(transform = Self::CHANNELS.said())]
    pub channels: u32,
    /// Dies on each bus.
    #[schemars(transform = Self::DIES_PER_CHANNEL.said())]
    pub dies_per_channel: u32,
    /// Planes of a die, operated together.
    #[schemars(transform = Self::PLANES.said())]
    pub planes: u32,
    /// Blocks of a plane, bad ones taken off.
    #[schemars(transform = Self::BLOCKS_PER_PLANE.said())]
    pub blocks_per_plane: u32,
    /// Pages of a block.
    #[schemars(transform = Self::PAGES_PER_BLOCK.said())]
    pub pages_per_block: u32,
    /// Bytes of a page, without its spare area.
    #[schemars(transform = Self::PAGE_BYTES.said())]
    pub page_bytes: u32,
    /// Time to read a page into the die's register, by page type: one entry for SLC, lower and
    /// upper for MLC, three for TLC.
    pub read_ns: Vec<Nanos>,
    /// Time to program a page, by page type.
    pub program_ns: Vec<Nanos>,
    /// Bytes a second that all dies together program with all bits of the cells; none for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = Self::BYTES_PER_S.said())]
    pub program_bytes_per_s: Option<u64>,
    /// Time to erase a block.
    pub erase_ns: Nanos,
    /// Rate of a bus.
    #[schemars(transform = Self::BYTES_PER_S.said())]
    pub channel_bytes_per_s: u64,
    /// Rate of a bus when data go to a die; none for the same.
    #[serde(default)]
    #[schemars(transform = Self::BYTES_PER_S.said())]
    pub channel_write_bytes_per_s: Option<u64>,
    /// Rate at which what comes from the dies of a bus passes error correction; none for the bus's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = Self::BYTES_PER_S.said())]
    pub correction_bytes_per_s: Option<u64>,
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

impl NandParams {
    /// Channels.
    pub(crate) const CHANNELS: Bounds<u32> = Bounds::new(1, 256);
    /// Dies of a channel.
    pub(crate) const DIES_PER_CHANNEL: Bounds<u32> = Bounds::new(1, 256);
    /// Planes of a die.
    pub(crate) const PLANES: Bounds<u32> = Bounds::new(1, 16);
    /// Blocks of a plane.
    pub(crate) const BLOCKS_PER_PLANE: Bounds<u32> = Bounds::new(1, 1 << 20);
    /// Pages of a block.
    pub(crate) const PAGES_PER_BLOCK: Bounds<u32> = Bounds::new(1, 1 << 14);
    /// Bytes of a page.
    pub(crate) const PAGE_BYTES: Bounds<u32> = Bounds::new(1, 1 << 20);
    /// Bytes a second of channels and of programs.
    pub(crate) const BYTES_PER_S: LowerBound<u64> = LowerBound(1_000_000);
}

fn is_zero(time: &Nanos) -> bool {
    *time == Nanos::ZERO
}

impl NandParams {
    /// Rate at which data from the dies of a bus reach the controller, corrected.
    pub(crate) fn read_bytes_per_s(&self) -> u64 {
        let bus = self.channel_bytes_per_s;
        self.correction_bytes_per_s
            .map_or(bus, |rate| rate.min(bus))
    }

    /// Rate of a bus when data go to a die.
    pub(crate) fn write_bytes_per_s(&self) -> u64 {
        self.channel_write_bytes_per_s
            .unwrap_or(self.channel_bytes_per_s)
    }
}

impl SlcCacheParams {
    /// What is out of its range.
    pub(crate) fn faults(&self, nand: &NandParams) -> Vec<Fault> {
        let slowest = nand.program_ns.iter().max().copied().unwrap_or_default();
        if self.program_ns > Nanos::ZERO && self.program_ns <= slowest {
            return Vec::new();
        }
        let allowed = format!("more than 0, at most {} as of other programs", slowest.0);
        let key = "nand.slc_cache.program_ns";
        vec![Fault::new(key, self.program_ns.0, allowed)]
    }
}
