//! The sectors of ranges of bytes.

use raidlab_io::ByteRange;
use raidlab_models::SECTOR;

/// The sectors of a range of bytes.
pub(crate) fn sectors(range: ByteRange) -> std::ops::Range<u64> {
    range.offset / SECTOR..range.end().div_ceil(SECTOR)
}
