//! Sectors and what stands for their content.

/// Bytes under one token.
pub(crate) const GRAIN: u64 = 512;

/// The sectors of a range.
pub(crate) fn grains(offset: u64, bytes: u64) -> std::ops::Range<u64> {
    offset / GRAIN..(offset + bytes).div_ceil(GRAIN)
}

/// What stands for the content that a write gives a sector.
pub(crate) fn token(write: u64, grain: u64) -> u64 {
    // A well-mixed hash of both (the finaliser of SplitMix64), never 0: that is "never written".
    let mut bits =
        write.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ grain.wrapping_mul(0xd6e8_feb8_6659_fd93);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (bits ^ bits >> 31) | 1
}
