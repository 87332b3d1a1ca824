//! Division by a number that is fixed for a run, as one multiplication.
//!
//! With m = floor((2^64 - 1) / d) the quotient of any 32-bit n by a 32-bit d is the high half of
//! m * (n + 1): that is (n + 1) / d less a part of less than 1 / d, so it comes to n / d where d
//! divides n + 1, and stays below the next whole number where it does not (Robison, "N-bit unsigned
//! division via N-bit multiply-add", 2005).
//!
//! For a 64-bit n the high half of m * n is the quotient or one less, since m is smaller than
//! 2^64 / d by at most 1: the remainder shows which.

use serde::{Deserialize, Serialize};

/// A divisor from 1 to 2^32 - 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct Divider {
    magic: u64,
    divisor: u32,
}

impl TryFrom<u32> for Divider {
    type Error = &'static str;

    fn try_from(divisor: u32) -> Result<Divider, &'static str> {
        match divisor {
            0 => Err("a divisor of zero"),
            divisor => Ok(Divider::new(divisor)),
        }
    }
}

impl From<Divider> for u32 {
    fn from(divider: Divider) -> u32 {
        divider.divisor
    }
}

impl Divider {
    /// Prepares the division.
    ///
    /// # Panics
    /// If the divisor is 0.
    pub fn new(divisor: u32) -> Divider {
        assert!(divisor > 0, "a divisor of zero");
        Divider {
            magic: u64::MAX / u64::from(divisor),
            divisor,
        }
    }

    /// The divisor itself.
    #[inline]
    pub fn get(self) -> u32 {
        self.divisor
    }

    /// (n / divisor, n % divisor)
    #[inline]
    pub fn split(self, n: u32) -> (u32, u32) {
        let product = u128::from(self.magic) * (u128::from(n) + 1);
        let quotient = (product >> 64) as u32;
        (quotient, n - quotient * self.divisor)
    }

    /// n / divisor
    #[inline]
    pub fn quotient(self, n: u32) -> u32 {
        self.split(n).0
    }

    /// (n / divisor, n % divisor) of a 64-bit number.
    #[inline]
    pub fn split_long(self, n: u64) -> (u64, u32) {
        let divisor = u64::from(self.divisor);
        let quotient = ((u128::from(self.magic) * u128::from(n)) >> 64) as u64;
        let rest = n - quotient * divisor;
        if rest < divisor {
            (quotient, rest as u32)
        } else {
            (quotient + 1, (rest - divisor) as u32)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_the_machine(n: u32, d in 1u32.., small in 1u32..5000) {
            for d in [d, small, 1, u32::MAX] {
                for n in [n, n / d * d, (n / d * d).wrapping_sub(1), u32::MAX] {
                    prop_assert_eq!(Divider::new(d).split(n), (n / d, n % d));
                }
            }
        }

        #[test]
        fn agrees_with_the_machine_on_long_numbers(n: u64, d in 1u32.., small in 1u32..5000) {
            for d in [d, small, 1, 2, 1 << 31, u32::MAX] {
                let long = u64::from(d);
                let whole = n / long * long;
                for n in [n, whole, whole.wrapping_sub(1), u64::MAX, 0] {
                    let (quotient, rest) = Divider::new(d).split_long(n);
                    prop_assert_eq!((quotient, u64::from(rest)), (n / long, n % long));
                }
            }
        }
    }
}
