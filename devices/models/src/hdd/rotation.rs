//! The platter's angle as wrapping fixed-point revolutions.
//!
//! An angle is a `u32`: 2^32 is one revolution. The angle at `now` is the high half of
//! `phase + now * (2^64 / period)`, which wraps as the platter does. So the wait for an angle is
//! one wrapping subtraction and one multiplication. The rounding of the factor is below 2^-40
//! of itself: the platter gains or loses less than a tenth of a microsecond in a day.
//!
//! Every drive has a speed of its own. Sector times are kept for the nominal speed, by zone, and
//! stretched by the drive's ratio of periods, so that sectors pass exactly as the angle says.

use raidlab_kernel::{Nanos, Time};

/// An angle this little past a sector's start still catches the sector: whole nanoseconds and
/// whole angle steps round by a few nanoseconds, and a sector missed by that would cost a
/// revolution.
const CAUGHT: u32 = 4096;

/// One, in the fixed-point form of a ratio of periods.
const SAME: f64 = 9_223_372_036_854_775_808.0;

/// Speed of a drive's platter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rotation {
    /// Revolutions a nanosecond, times 2^64.
    revolutions_per_ns: u64,
    /// Nanoseconds a revolution, times 16.
    period_16ths: u64,
    /// The period, as part of the nominal one, times 2^63.
    stretch: u64,
}

impl Rotation {
    /// A platter that makes `rpm` revolutions a minute, nominally, and in fact `deviation` of them
    /// more.
    pub fn new(rpm: f64, deviation: f64) -> Rotation {
        let period_ns = 60e9 / (rpm * (1.0 + deviation));
        Rotation {
            revolutions_per_ns: (18_446_744_073_709_551_616.0 / period_ns).round() as u64,
            period_16ths: (period_ns * 16.0).round() as u64,
            stretch: (SAME / (1.0 + deviation)).round() as u64,
        }
    }

    /// The angle under the head at `now` on a platter that stood at `phase` at time zero, both 2^64
    /// a revolution.
    #[inline]
    pub fn fine_angle(&self, phase: u64, now: Time) -> u64 {
        phase.wrapping_add(now.0.wrapping_mul(self.revolutions_per_ns))
    }

    /// The angle under the head at `now`, 2^32 a revolution.
    #[inline]
    pub fn angle(&self, phase: u64, now: Time) -> u32 {
        (self.fine_angle(phase, now) >> 32) as u32
    }

    /// How long the platter takes from `from` to `to`; nothing if `to` has just passed by less than
    /// rounding explains.
    #[inline]
    pub fn wait(&self, from: u32, to: u32) -> Nanos {
        let part = to.wrapping_sub(from);
        if part > u32::MAX - CAUGHT {
            return Nanos::ZERO;
        }
        self.duration(part)
    }

    /// How long a part of a revolution takes.
    #[inline]
    pub fn duration(&self, part: u32) -> Nanos {
        Nanos((u64::from(part) * self.period_16ths) >> 36)
    }

    /// One whole revolution.
    pub fn period(&self) -> Nanos {
        Nanos((self.period_16ths + 8) >> 4)
    }

    /// A quarter of a revolution: more than any skew.
    #[inline]
    pub fn quarter(&self) -> Nanos {
        Nanos(self.period_16ths >> 6)
    }

    /// What takes `nominal` at the nominal speed.
    #[inline]
    pub fn stretched(&self, nominal: u64) -> u64 {
        ((u128::from(nominal) * u128::from(self.stretch)) >> 63) as u64
    }
}

/// Nanoseconds that one of `sectors` on a track takes to pass at `rpm`, times 2^20.
pub fn sector_time(rpm: f64, sectors: u32) -> u64 {
    (60e9 / rpm * 1_048_576.0 / f64::from(sectors)).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_angle_wraps_with_the_platter() {
        let rotation = Rotation::new(6000.0, 0.0); // 10 ms a revolution
        assert_eq!(rotation.period(), Nanos(10_000_000));
        let quarter = rotation.angle(0, Time(2_500_000));
        assert!(quarter.abs_diff(1 << 30) <= 1);
        // A million revolutions later it is the same angle.
        let later = rotation.angle(0, Time(2_500_000 + 1_000_000 * 10_000_000));
        // 2^32 * 10^6 revolutions * 2^-41 of rounding at the most.
        assert!(later.abs_diff(quarter) <= 2000, "{later} {quarter}");
    }

    #[test]
    fn waiting_is_a_wrapping_difference() {
        let rotation = Rotation::new(6000.0, 0.0);
        let three_quarters = 3 << 30;
        assert_eq!(rotation.wait(three_quarters, 1 << 30), Nanos(5_000_000));
        assert_eq!(rotation.wait(1 << 30, 1 << 30), Nanos::ZERO);
        // Just missed by a rounding error: caught; by more than that: a whole revolution.
        assert_eq!(rotation.wait((1 << 30) + 100, 1 << 30), Nanos::ZERO);
        assert!(rotation.wait((1 << 30) + 10_000, 1 << 30) > Nanos(9_999_000));
    }
}
