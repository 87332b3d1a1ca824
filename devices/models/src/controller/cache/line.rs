//! Lines: valid and dirty by the sector, memory by the page.

/// Bytes of a sector, the grain of valid and dirty.
pub const SECTOR: u64 = 512;
/// Sectors of the longest line.
pub const LINE_SECTORS: u64 = 128;
/// Bytes of a page, the grain of memory.
pub const PAGE: u64 = 4096;

pub(super) const NONE: u32 = u32::MAX;

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

#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) valid: Sectors,
    pub(super) dirty: Sectors,
    /// Dirty sectors whose destage is under way.
    pub(super) leaving: Sectors,
    /// Sectors that are being read from drives.
    pub(super) coming: Sectors,
    pub(super) key: u64,
    /// Neighbours in the order of use, while clean.
    pub(super) newer: u32,
    pub(super) older: u32,
    /// The next line of the same group, while dirty or leaving.
    pub(super) sibling: u32,
    /// Who reads the coming sectors: the caller's own number.
    pub(super) reader: u32,
}

pub(super) const EMPTY_LINE: Line = Line {
    valid: 0,
    dirty: 0,
    leaving: 0,
    coming: 0,
    key: 0,
    newer: NONE,
    older: NONE,
    sibling: NONE,
    reader: NONE,
};

impl Line {
    pub(super) fn held(&self) -> Sectors {
        self.valid | self.coming
    }

    pub(super) fn is_dirty(&self) -> bool {
        self.dirty | self.leaving != 0
    }
}
