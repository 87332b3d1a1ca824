//! Named random streams: each component and purpose draws from a stream of its own, so a change
//! in one component does not shift another's numbers.
//!
//! The generator is xoshiro256++ (Blackman and Vigna, 2021). Logarithms come from a software
//! library, not from the machine, so the same seed gives the same bytes everywhere.

use crate::Nanos;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

/// A stream of pseudo-random numbers that belongs to one component and purpose.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of `component` for `purpose` in the run with this `seed`.
    pub fn new(seed: u64, component: &str, purpose: &str) -> Stream {
        // FNV-1a over the three, with a separator that no name contains.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let bytes = seed.to_le_bytes();
        let names = component.bytes().chain([0xff]).chain(purpose.bytes());
        for byte in bytes.into_iter().chain(names) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Stream(Xoshiro256PlusPlus::seed_from_u64(hash))
    }

    /// 64 uniform bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A whole number from 0 to `bound - 1`, each as likely; 0 if `bound` is 0.
    ///
    /// Multiply-and-shift (Lemire, 2019) without the rejection step: the bias is below
    /// `bound` / 2^64.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A number in [0, 1) with 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// True with probability `p`.
    #[inline]
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// An exponentially distributed duration with this mean.
    #[inline]
    pub fn exponential(&mut self, mean: Nanos) -> Nanos {
        Nanos((-libm::log(1.0 - self.unit()) * mean.0 as f64).round() as u64)
    }

    /// A duration of this mean by Pareto's law: P(longer than x) = (least / x)^`shape` from
    /// `least` = mean (`shape` - 1) / `shape` on. `shape` is above 1.
    pub fn pareto(&mut self, mean: Nanos, shape: f64) -> Nanos {
        let least = mean.0 as f64 * (shape - 1.0) / shape;
        longest(least * libm::pow(1.0 - self.unit(), -1.0 / shape))
    }

    /// What is left of such a duration at an instant that knows nothing of it: with probability
    /// 1 - 1 / `shape` uniform below `least`, else of Pareto's law with `shape` - 1.
    pub fn pareto_rest(&mut self, mean: Nanos, shape: f64) -> Nanos {
        let least = mean.0 as f64 * (shape - 1.0) / shape;
        if self.chance(1.0 / shape) {
            return longest(least * libm::pow(1.0 - self.unit(), -1.0 / (shape - 1.0)));
        }
        Nanos((least * self.unit()) as u64)
    }

    /// A time of which this share varies, exponentially, the rest being always the same; its mean
    /// is `time`. Draws nothing if nothing varies.
    #[inline]
    pub fn varied(&mut self, time: Nanos, spread: f64) -> Nanos {
        if spread <= 0.0 || time == Nanos::ZERO {
            return time;
        }
        self.vary(time, spread)
    }

    fn vary(&mut self, time: Nanos, spread: f64) -> Nanos {
        let varies = Nanos((time.0 as f64 * spread) as u64);
        time.saturating_sub(varies) + self.exponential(varies)
    }
}

/// A duration in nanoseconds, 18 years at most: sums of such have room in 64 bits.
fn longest(nanoseconds: f64) -> Nanos {
    Nanos(nanoseconds.round().min((1_u64 << 59) as f64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_seed_component_and_purpose_and_repeat() {
        let first = |seed, component, purpose| Stream::new(seed, component, purpose).bits();
        let base = first(1, "disk 0", "phase");
        assert_eq!(base, first(1, "disk 0", "phase"));
        for other in [
            first(2, "disk 0", "phase"),
            first(1, "disk 1", "phase"),
            first(1, "disk 0", "size"),
        ] {
            assert_ne!(base, other);
        }
        // A name may not run into the next one.
        assert_ne!(first(1, "ab", "c"), first(1, "a", "bc"));
    }

    #[test]
    fn the_first_numbers_are_fixed_for_ever() {
        let mut stream = Stream::new(1, "load", "offset");
        let got: Vec<u64> = (0..4).map(|_| stream.below(1000)).collect();
        let again: Vec<u64> = {
            let mut stream = Stream::new(1, "load", "offset");
            (0..4).map(|_| stream.below(1000)).collect()
        };
        assert_eq!(got, again);
        assert!(got.iter().all(|&n| n < 1000));
    }

    /// Shape 3, mean 1.5: least 1, P(longer than 2) = 1/8; at an instant a duration of mean 1.5 has
    /// E[x^2] / (2 E[x]) = 3 / 3 = 1 left.
    #[test]
    fn pareto_has_its_mean_tail_and_rest() {
        let mut stream = Stream::new(7, "test", "pareto");
        let n = 200_000;
        let mean = Nanos(1_500_000);
        let all: Vec<f64> = (0..n)
            .map(|_| stream.pareto(mean, 3.0).0 as f64 / 1e6)
            .collect();
        let average = all.iter().sum::<f64>() / f64::from(n);
        // Standard deviation sqrt(3 - 2.25) = 0.866; five standard errors.
        assert!((average - 1.5).abs() < 0.0097, "{average}");
        let tail = all.iter().filter(|&&x| x > 2.0).count() as f64 / f64::from(n);
        assert!((tail - 0.125).abs() < 0.0037, "{tail}");
        assert!(all.iter().all(|&x| x >= 0.999_999));
        let rest = (0..n).map(|_| stream.pareto_rest(mean, 3.0).0 as f64 / 1e6);
        let rest = rest.sum::<f64>() / f64::from(n);
        // The rest's own variance has no bound; of 200,000 this seed's is near.
        assert!((rest - 1.0).abs() < 0.02, "{rest}");
    }

    #[test]
    fn exponential_has_its_mean() {
        let mut stream = Stream::new(7, "test", "exponential");
        let n = 200_000;
        let sum: u64 = (0..n).map(|_| stream.exponential(Nanos(1_000_000)).0).sum();
        let mean = sum as f64 / f64::from(n);
        // Standard error 1e6 / sqrt(200000) = 2236; five of them.
        assert!((mean - 1e6).abs() < 11_180.0, "mean {mean}");
    }
}
