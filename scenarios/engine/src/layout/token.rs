//! What stands for the content of a sector, wherever a copy of it lies.

use std::ops::BitXor;

/// The content of a sector: eight bytes that every write makes anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Token(u64);

impl Token {
    /// The content of a sector that was never written.
    pub const UNWRITTEN: Token = Token(0);

    /// These bytes.
    pub(crate) const fn new(bytes: u64) -> Token {
        Token(bytes)
    }

    /// What a write leaves in a sector of the array; both by their numbers.
    pub fn written(write: u64, sector: u64) -> Token {
        // A well-mixed hash of both (the finaliser of SplitMix64), never 0: 0 is "never written".
        let mut bits =
            write.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ sector.wrapping_mul(0xd6e8_feb8_6659_fd93);
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        Token((bits ^ bits >> 31) | 1)
    }

    /// Its eight bytes.
    pub(crate) const fn bytes(self) -> u64 {
        self.0
    }
}

impl BitXor for Token {
    type Output = Token;

    fn bitxor(self, other: Token) -> Token {
        Token(self.0 ^ other.0)
    }
}
