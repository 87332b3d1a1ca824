//! Where a line of an array lies now: on its own drives or in a slot of its SSD cache.

pub(crate) mod fetch;
pub(crate) mod lines;
pub(crate) mod loss;

use crate::layout::Ranges;
use raidlab_models::{ReferenceCounts, SsdCache};

/// The lines of an array that its SSD cache holds, and what that has lost.
#[derive(Debug)]
pub(crate) struct Redirect {
    pub map: SsdCache,
    /// The array of the SSDs.
    pub array: u32,
    /// Bytes of a line.
    pub line: u64,
    /// True if new data go to the SSDs.
    pub write_back: bool,
    /// Bytes of a unit of the array, if a line has several.
    pub unit: Option<u64>,
    /// Lines in a stripe of the SSDs.
    pub columns: u64,
    /// Lines that requests write while they bypass the controller's memory.
    pub bypassing: ReferenceCounts,
    /// What was dirty on SSDs that cannot be read any more, and has not been written since.
    pub lost: Ranges,
    /// True if the SSDs have failed: the array goes on without.
    pub failed: bool,
}

impl Redirect {
    /// Bytes of a line.
    pub fn line_bytes(&self) -> u64 {
        self.line
    }

    /// The lines of a range.
    pub fn lines(&self, offset: u64, bytes: u64) -> std::ops::RangeInclusive<u64> {
        offset / self.line..=(offset + bytes.max(1) - 1) / self.line
    }
}
