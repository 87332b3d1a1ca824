//! What the parts of a controller's cache are numbered by: a type for each kind.

use raidlab_io::ByteRange;
use raidlab_kernel::{Divider, ids};

ids! {
    /// A line of the cache: the caller's number of what it holds.
    LineKey: u64;
    /// A line of the cache, by its place in memory.
    LineSlot;
    /// A line of an array, which its SSD cache may hold.
    ArrayLine;
    /// Where dirty data of one array wait, or of one SSD cache.
    SpaceId;
    /// What goes to the drives together: a stripe or, without parity, a unit; counted in its space.
    GroupId: u64;
    /// A group with dirty lines, by its place in memory.
    GroupSlot;
}

impl ArrayLine {
    /// The one of a byte of the array, whose lines have `size` bytes.
    #[inline]
    pub fn of(offset: u64, size: Divider) -> ArrayLine {
        ArrayLine::new(size.split_long(offset).0 as u32)
    }

    /// The first of those of bytes of the array, and how many they are: one where there are none.
    #[inline]
    pub fn span(range: ByteRange, size: Divider) -> (ArrayLine, u32) {
        let first = ArrayLine::of(range.offset, size);
        let last = ArrayLine::of(range.offset + range.bytes.max(1) - 1, size);
        (first, last.since(first) + 1)
    }

    /// Those of bytes of the array; that of the first one where there are none.
    #[inline]
    pub fn all_of(range: ByteRange, size: Divider) -> impl Iterator<Item = ArrayLine> + Clone {
        let (first, count) = ArrayLine::span(range, size);
        first.row(count)
    }

    /// Its bytes.
    #[inline]
    pub const fn range(self, size: u64) -> ByteRange {
        ByteRange::new(self.number() as u64 * size, size)
    }
}
