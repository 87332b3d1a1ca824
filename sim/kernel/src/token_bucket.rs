//! A token bucket by next-free-time arithmetic: no event refills it, and no rounding adds up.
//!
//! The generic cell rate algorithm (ITU-T I.371): instead of a level, the instant is kept at which
//! the bucket is full again. The level at `t` is the capacity less what flows in until then.

use crate::{Nanos, Time};

/// Rates are thousandths of a token a second.
pub const MILLI: u64 = 1000;
/// Parts of a token that flow in a nanosecond at a rate of one thousandth of a token a second are
/// 1 / `SCALE` tokens.
const SCALE: u128 = MILLI as u128 * 1_000_000_000;

/// Nanoseconds, 146 years: a later instant is as good as this one, and further times can be added.
const LATEST: u64 = 1 << 62;

/// Tokens flow in at a fixed rate up to a capacity; who takes more than there is leaves a debt.
#[derive(Clone, Copy, Debug)]
pub struct TokenBucket {
    /// Thousandths of a token a second.
    rate: u128,
    /// Capacity in 1 / `SCALE` tokens.
    capacity: u128,
    /// Nanoseconds at which it is full, times `rate`.
    full_at: u128,
    /// Nanoseconds for which what was taken flows in, times `rate`.
    taken: u128,
}

impl TokenBucket {
    /// A full bucket. `rate` is in thousandths of a token a second, at least 1; the capacity is
    /// what flows in within `burst`.
    pub fn new(rate: u64, burst: Nanos) -> TokenBucket {
        let rate = u128::from(rate.max(1));
        TokenBucket {
            rate,
            capacity: u128::from(burst.0) * rate,
            full_at: 0,
            taken: 0,
        }
    }

    /// The first instant from `now` on at which `tokens` may be taken: as many are there, or, of
    /// more than the capacity, the bucket is full.
    pub fn ready(&self, tokens: u64, now: Time) -> Time {
        let wanted = (u128::from(tokens) * SCALE).min(self.capacity);
        let earliest = self.full_at.saturating_sub(self.capacity - wanted);
        let earliest = u64::try_from(earliest.div_ceil(self.rate)).unwrap_or(u64::MAX);
        now.max(Time(earliest.min(LATEST)))
    }

    /// Takes `tokens` at `at`, not before they are ready.
    pub fn take(&mut self, tokens: u64, at: Time) {
        // Whole nanoseconds are up to one later than the tokens were there: nothing of it is lost.
        let now = (u128::from(at.0) * self.rate).saturating_sub(self.rate - 1);
        let tokens = u128::from(tokens) * SCALE;
        self.full_at = self.full_at.max(now) + tokens;
        self.taken += tokens;
    }

    /// For how long up to `now` it was not full: in the long run the share of its rate that is
    /// taken.
    pub fn busy_until(&self, now: Time) -> Nanos {
        let ahead = self.full_at.saturating_sub(u128::from(now.0) * self.rate);
        let behind = self.taken.saturating_sub(ahead) / self.rate;
        Nanos((behind as u64).min(now.0))
    }

    /// It is full at `now`, whatever was taken.
    pub fn fill(&mut self, now: Time) {
        let ahead = self.full_at.saturating_sub(u128::from(now.0) * self.rate);
        self.full_at -= ahead;
        self.taken = self.taken.saturating_sub(ahead);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pass(bucket: &mut TokenBucket, tokens: u64, now: u64) -> u64 {
        let at = bucket.ready(tokens, Time(now));
        bucket.take(tokens, at);
        at.0
    }

    /// By hand: 1000 tokens a second, room for 3. Three pass at once, the others a millisecond
    /// apart; after 2.5 ms of rest two pass at once and the third half a millisecond later.
    #[test]
    fn a_burst_passes_and_what_follows_is_spaced() {
        let mut bucket = TokenBucket::new(1000 * MILLI, Nanos(3_000_000));
        let first: Vec<u64> = (0..5).map(|_| pass(&mut bucket, 1, 0)).collect();
        assert_eq!(first, [0, 0, 0, 1_000_000, 2_000_000]);
        let later: Vec<u64> = (0..3).map(|_| pass(&mut bucket, 1, 4_500_000)).collect();
        assert_eq!(later, [4_500_000, 4_500_000, 5_000_000]);
        // Empty at 0 and again 5 ms later, it was never full.
        assert_eq!(bucket.busy_until(Time(5_000_000)), Nanos(5_000_000));
        // Full again at 8 ms.
        assert_eq!(bucket.busy_until(Time(9_000_000)), Nanos(8_000_000));
        bucket.fill(Time(6_000_000));
        assert_eq!(bucket.busy_until(Time(9_000_000)), Nanos(6_000_000));
    }

    /// A third of a second divides into no whole nanoseconds: after 3000 tokens nothing is lost.
    #[test]
    fn rounding_does_not_add_up() {
        let mut bucket = TokenBucket::new(3 * MILLI, Nanos::ZERO);
        let at: Vec<u64> = (0..=3000).map(|_| pass(&mut bucket, 1, 0)).collect();
        assert_eq!(at[1..4], [333_333_334, 666_666_667, 1_000_000_000]);
        assert_eq!(at[3000], 1_000_000_000_000);
    }

    /// More than the capacity passes when the bucket is full, and the next one pays for it.
    #[test]
    fn more_than_the_capacity_leaves_a_debt() {
        let mut bucket = TokenBucket::new(1_000_000 * MILLI, Nanos(1_000));
        assert_eq!(pass(&mut bucket, 4096, 0), 0);
        assert_eq!(pass(&mut bucket, 4096, 0), 4_096_000);
    }

    proptest! {
        /// From any instant on no more passes than the capacity and what flows in; and a caller that
        /// always asks gets that.
        #[test]
        fn never_more_than_the_rate_and_the_burst(
            rate in 1u64..5_000_000,
            burst in 0u64..2_000_000_000,
            gaps in prop::collection::vec(0u64..50_000_000, 1..200),
        ) {
            let mut bucket = TokenBucket::new(rate * MILLI, Nanos(burst));
            let capacity = (rate as f64 * burst as f64 / 1e9).max(1.0);
            let mut now = 0;
            let mut passed: Vec<u64> = Vec::new();
            for gap in gaps {
                now = pass(&mut bucket, 1, now + gap);
                passed.push(now);
                for (index, since) in passed.iter().enumerate() {
                    let tokens = (passed.len() - index) as f64;
                    let most = capacity + (now - since + 1) as f64 * rate as f64 / 1e9;
                    prop_assert!(tokens <= most + 1e-6, "{tokens} of {most}");
                }
            }
        }
    }
}
