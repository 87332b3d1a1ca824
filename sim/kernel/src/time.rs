//! Instants and durations in whole nanoseconds: a run is exact, and the same on every machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};

/// An instant: whole nanoseconds since the start of the run.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(transparent)]
pub struct Time(pub u64);

/// A duration in whole nanoseconds.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(try_from = "u64", into = "u64")]
pub struct Nanos(pub u64);

/// The longest duration that is read, 18 years: sums of some of them have room in 64 bits.
pub const LONGEST: Nanos = Nanos(1 << 59);

impl TryFrom<u64> for Nanos {
    type Error = String;

    fn try_from(ns: u64) -> Result<Nanos, String> {
        if ns <= LONGEST.0 {
            Ok(Nanos(ns))
        } else {
            Err(format!("{ns} ns is too long: at most {} ns", LONGEST.0))
        }
    }
}

impl From<Nanos> for u64 {
    fn from(duration: Nanos) -> u64 {
        duration.0
    }
}

impl Time {
    /// The start of every run.
    pub const ZERO: Time = Time(0);
    /// Later than anything that happens.
    pub const NEVER: Time = Time(u64::MAX);

    /// The duration from `earlier` to `self`, zero if `earlier` is not earlier.
    pub fn since(self, earlier: Time) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Nanos {
    /// No time at all.
    pub const ZERO: Nanos = Nanos(0);

    /// The duration nearest to `seconds`; negative and not-a-number become zero.
    pub fn from_seconds(seconds: f64) -> Nanos {
        Nanos((seconds * 1e9).round() as u64)
    }

    /// As a floating-point number of nanoseconds. A signed number, which no duration is too long
    /// for, takes a processor one instruction, an unsigned one five.
    #[inline]
    pub fn float(self) -> f64 {
        self.0 as i64 as f64
    }

    /// This duration in seconds.
    pub fn seconds(self) -> f64 {
        self.0 as f64 * 1e-9
    }

    /// This duration in microseconds.
    pub fn micros(self) -> f64 {
        self.0 as f64 * 1e-3
    }

    /// The shorter of the difference and zero: `self - other`, never below zero.
    pub fn saturating_sub(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(other.0))
    }
}

/// In the largest unit of which it has one, to a thousandth: `60 s`, `2.5 ms`.
impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
        let found = units.into_iter().find(|&(size, _)| self.0 >= size);
        let Some((size, unit)) = found else {
            return write!(f, "{} ns", self.0);
        };
        let (whole, rest) = (self.0 / size, self.0 % size * 1000 / size);
        let digits = format!("{whole}.{rest:03}");
        let digits = digits.trim_end_matches('0').trim_end_matches('.');
        write!(f, "{digits} {unit}")
    }
}

impl Add<Nanos> for Time {
    type Output = Time;
    fn add(self, rhs: Nanos) -> Time {
        Time(self.0 + rhs.0)
    }
}

impl Sub<Time> for Time {
    type Output = Nanos;
    fn sub(self, rhs: Time) -> Nanos {
        debug_assert!(self >= rhs, "{self:?} is before {rhs:?}");
        Nanos(self.0 - rhs.0)
    }
}

impl Add for Nanos {
    type Output = Nanos;
    fn add(self, rhs: Nanos) -> Nanos {
        Nanos(self.0 + rhs.0)
    }
}

impl Sub for Nanos {
    type Output = Nanos;
    fn sub(self, rhs: Nanos) -> Nanos {
        Nanos(self.0 - rhs.0)
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, rhs: Nanos) {
        self.0 += rhs.0;
    }
}

impl SubAssign for Nanos {
    fn sub_assign(&mut self, rhs: Nanos) {
        self.0 -= rhs.0;
    }
}

impl Mul<u64> for Nanos {
    type Output = Nanos;
    fn mul(self, rhs: u64) -> Nanos {
        Nanos(self.0 * rhs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_round_to_the_nearest_nanosecond() {
        assert_eq!(Nanos::from_seconds(2.9e-3), Nanos(2_900_000));
        assert_eq!(Nanos::from_seconds(1.4e-9), Nanos(1));
        assert_eq!(Nanos::from_seconds(-1.0), Nanos::ZERO);
    }
    #[test]
    fn durations_are_said_in_their_largest_unit() {
        let said = [60_000_000_000, 2_500_000, 1_234_567, 999, 80_000, 0];
        let said = said.map(|ns| Nanos(ns).to_string());
        assert_eq!(
            said,
            ["60 s", "2.5 ms", "1.234 ms", "999 ns", "80 us", "0 ns"]
        );
    }
}
