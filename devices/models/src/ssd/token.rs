//! The events that a drive asks for.
//!
//! A drive's events are numbers for the engine. The highest bit that is set says which kind of
//! event it is, the rest is its index.

use crate::ssd::ids::DieId;

/// Marks the wake of a die that rested from background collection.
const RESTED: u32 = 1 << 31;
/// Marks the end of a batch of one direction.
const TURNAROUND: u32 = 1 << 30;
/// Marks a command whose map pages are in memory.
const LOOKED_UP: u32 = 1 << 29;

/// An event of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// This die has ended a job, or may begin one.
    Die(DieId),
    /// The map pages of a command are in memory; the command's number among those that wait.
    LookedUp(u32),
    /// The front may change between reads and writes.
    Turnaround,
    /// This die has rested and may collect in the background.
    Rested(DieId),
}

impl From<u32> for Token {
    #[inline]
    fn from(bits: u32) -> Token {
        match bits.leading_zeros() {
            0 => Token::Rested(DieId::new(bits & !RESTED)),
            1 => Token::Turnaround,
            2 => Token::LookedUp(bits & !LOOKED_UP),
            _ => Token::Die(DieId::new(bits)),
        }
    }
}

impl From<Token> for u32 {
    #[inline]
    fn from(token: Token) -> u32 {
        match token {
            Token::Die(die) => die.number(),
            Token::LookedUp(number) => number | LOOKED_UP,
            Token::Turnaround => TURNAROUND,
            Token::Rested(die) => die.number() | RESTED,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_is_read_back_from_its_bits() {
        let die = |number| Token::Die(DieId::new(number));
        let rested = |number| Token::Rested(DieId::new(number));
        let kinds = [die, Token::LookedUp, rested];
        let indexed = kinds.iter().flat_map(|kind| [0, 1, 65_535].map(kind));
        for token in indexed.chain([Token::Turnaround]) {
            assert_eq!(Token::from(u32::from(token)), token);
        }
        let bits = [die(7), Token::LookedUp(7), Token::Turnaround, rested(7)].map(u32::from);
        assert_eq!(bits, [7, 0x2000_0007, 0x4000_0000, 0x8000_0007]);
    }
}
