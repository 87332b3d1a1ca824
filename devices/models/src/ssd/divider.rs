//! Division by a number that is fixed for a run, as one multiplication.
//!
//! Lemire, Kaser and Kurz, "Faster remainder by direct computation" (2019): with
//! m = ceil(2^64 / d) the quotient of any 32-bit n by a 32-bit d is the high half of m * n.

use serde::{Deserialize, Serialize};

/// A divisor from 1 to 2^32 - 1.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(from = "u32", into = "u32")]
pub(super) struct Divider {
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
    pub(super) fn new(divisor: u32) -> Divider {
        assert!(divisor > 0, "a divisor of zero");
        Divider {
            // For 1 the factor would be 2^64: the quotient is taken apart below.
            magic: (u64::MAX / u64::from(divisor)).wrapping_add(1),
            divisor,
        }
    }

    /// The divisor itself.
    pub(super) fn get(self) -> u32 {
        self.divisor
    }

    /// (n / divisor, n % divisor)
    #[inline]
    pub(super) fn split(self, n: u32) -> (u32, u32) {
        if self.divisor == 1 {
            return (n, 0);
        }
        let quotient = ((u128::from(self.magic) * u128::from(n)) >> 64) as u32;
        (quotient, n - quotient * self.divisor)
    }

    /// n / divisor
    #[inline]
    pub(super) fn quotient(self, n: u32) -> u32 {
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
            for d in [d, small] {
                prop_assert_eq!(Divider::new(d).split(n), (n / d, n % d));
            }
        }
    }
}
