//! Lines: valid and dirty by the sector, memory by the page.

use crate::controller::ids::{LineKey, LineSlot};
use raidlab_kernel::{Linked, RecencyLink};

/// Bytes of a sector: valid and dirty count in sectors.
pub const SECTOR: u64 = 512;
/// Sectors of the longest line.
pub const LINE_SECTORS: u64 = 128;
/// Bytes of a page: memory counts in pages.
pub const PAGE: u64 = 4096;

/// Sectors of a line, one bit each.
pub type Sectors = u128;

/// The sectors from `first` to before `end` of a line.
#[inline]
pub fn sectors(first: u64, end: u64) -> Sectors {
    let below = |n: u64| {
        if n >= LINE_SECTORS {
            !0
        } else {
            (1u128 << n) - 1
        }
    };
    below(end) & !below(first)
}

/// Pages that hold these sectors.
#[inline]
pub(super) fn pages(valid: Sectors) -> u32 {
    // Fold each byte (the eight sectors of a page) into its lowest bit.
    let mut folded = valid | valid >> 4;
    folded |= folded >> 2;
    folded |= folded >> 1;
    (folded & 0x0101_0101_0101_0101_0101_0101_0101_0101).count_ones()
}

/// Stands for the older neighbour of a line while sectors of it are being read.
const COMING: LineSlot = LineSlot::new(u32::MAX - 1);

/// A line of the cache, in one line of the processor's cache: each step reads another of some
/// hundred thousand lines, and waits for that memory once.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Line {
    pub(super) valid: Sectors,
    pub(super) dirty: Sectors,
    /// Dirty sectors that are being destaged.
    pub(super) leaving: Sectors,
    pub(super) key: LineKey,
    /// While clean its neighbours in the order of use, or the mark that sectors come. While dirty
    /// or leaving `newer` is the next line of the same group.
    pub(super) link: RecencyLink<LineSlot>,
}

/// Sectors of a line that are being read from drives: few lines have any.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coming {
    pub(super) sectors: Sectors,
    /// Who reads them: the caller's own number.
    pub(super) reader: u32,
}

pub(super) const EMPTY_LINE: Line = Line {
    valid: 0,
    dirty: 0,
    leaving: 0,
    key: LineKey::new(0),
    link: RecencyLink::NONE,
};

pub(super) const NOTHING_COMES: Coming = Coming {
    sectors: 0,
    reader: u32::MAX,
};

impl Linked<LineSlot> for Line {
    #[inline]
    fn link(&self) -> RecencyLink<LineSlot> {
        self.link
    }

    #[inline]
    fn link_mut(&mut self) -> &mut RecencyLink<LineSlot> {
        &mut self.link
    }
}

impl Line {
    /// True if sectors of it are being read: then it is in no order of use.
    pub(super) fn comes(&self) -> bool {
        self.link.older == COMING
    }

    pub(super) fn set_comes(&mut self, comes: bool) {
        self.link.older = if comes { COMING } else { LineSlot::NONE };
    }

    /// The next line of the same group, of a line that is dirty or leaving.
    pub(super) fn next_of_group(&self) -> LineSlot {
        self.link.newer
    }

    pub(super) fn set_next_of_group(&mut self, next: LineSlot) {
        self.link.newer = next;
    }

    pub(super) fn is_dirty(&self) -> bool {
        self.dirty | self.leaving != 0
    }
}
