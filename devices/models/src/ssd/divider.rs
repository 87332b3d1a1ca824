//! Division by a number that is fixed for a run, as one multiplication.
//!
//! With m = floor((2^64 - 1) / d) the quotient of any 32-bit n by a 32-bit d is the high half of
//! m * (n + 1): that is (n + 1) / d less a part of less than 1 / d, so it comes to n / d where d
//! divides n + 1, and stays below the next whole number where it does not (Robison, "N-bit unsigned
//! division via N-bit multiply-add", 2005).

use serde::{Deserialize, Serialize};

/// A divisor from 1 to 2^32 - 1.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(from = "u32", into = "u32")]
pub(crate) struct Divider {
    magic: u64,
    divisor: u32,
}

impl From<u32> for Divider {
    fn from(divisor: u32) -> Divider {
        Divider::new(divisor)
    }
}

impl From<Divider> for u32 {
    fn from(divider: Divider) -> u32 {
        divider.divisor
    }
}

impl Divider {
    pub(crate) fn new(divisor: u32) -> Divider {
        assert!(divisor > 0, "a divisor of zero");
        Divider {
            magic: u64::MAX / u64::from(divisor),
            divisor,
        }
    }

    /// The divisor itself.
    pub(crate) fn get(self) -> u32 {
        self.divisor
    }

    /// (n / divisor, n % divisor)
    #[inline]
    pub(crate) fn split(self, n: u32) -> (u32, u32) {
        let product = u128::from(self.magic) * (u128::from(n) + 1);
        let quotient = (product >> 64) as u32;
        (quotient, n - quotient * self.divisor)
    }

    /// n / divisor
    #[inline]
    pub(crate) fn quotient(self, n: u32) -> u32 {
        self.split(n).0
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
    }
}
