//! Sectors, and the tokens that stand for their content.

use raidlab_io::ByteRange;
use raidlab_models::SECTOR;

/// The sectors of a range of bytes.
pub(crate) fn sectors(range: ByteRange) -> std::ops::Range<u64> {
    range.offset / SECTOR..range.end().div_ceil(SECTOR)
}

/// The token of a sector as a write leaves it; both by their numbers.
pub fn token(write: u64, sector: u64) -> u64 {
    // A well-mixed hash of both (the finaliser of SplitMix64), never 0: 0 is "never written".
    let mut bits =
        write.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ sector.wrapping_mul(0xd6e8_feb8_6659_fd93);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (bits ^ bits >> 31) | 1
}
