//! Student's t, and averages over time.

use crate::{Nanos, Time};

/// The 97.5 % point of Student's t with `degrees` of freedom, which need not be whole.
///
/// Table values up to 30 degrees, between them evenly over the reciprocal; beyond, Fisher's
/// expansion around the normal quantile (error below 0.001).
pub fn student_t_975(degrees: f64) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
        2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
        2.052, 2.048, 2.045, 2.042,
    ];
    if degrees < 1.0 {
        return f64::INFINITY;
    }
    if degrees < 30.0 {
        let below = degrees as usize;
        let (few, many) = (TABLE[below - 1], TABLE[below]);
        let (n, reciprocal) = (below as f64, 1.0 / degrees);
        let part = (1.0 / n - reciprocal) * n * (n + 1.0);
        return few + part * (many - few);
    }
    let z = 1.959_964_f64;
    let second = 5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z;
    z + (z.powi(3) + z) / (4.0 * degrees) + second / (96.0 * degrees * degrees)
}

/// The integral of a whole number over time: a queue's length, I/Os in flight.
#[derive(Clone, Debug, Default)]
pub struct TimeWeighted {
    level: u64,
    since: Time,
    area: u128,
}

impl TimeWeighted {
    /// Changes the level by `delta` at `now`.
    #[inline]
    pub fn change(&mut self, now: Time, delta: i64) {
        self.area += u128::from(self.level) * u128::from(now.since(self.since).0);
        self.since = now;
        self.level = self.level.wrapping_add_signed(delta);
    }

    /// The level now.
    pub fn level(&self) -> u64 {
        self.level
    }

    /// The integral up to `now`, in units times nanoseconds.
    pub fn area(&self, now: Time) -> u128 {
        self.area + u128::from(self.level) * u128::from(now.since(self.since).0)
    }

    /// Starts the integral at zero; the level stays.
    pub fn restart(&mut self, now: Time) {
        self.area = 0;
        self.since = now;
    }

    /// The mean level over `span` up to `now`.
    pub fn mean(&self, now: Time, span: Nanos) -> f64 {
        if span == Nanos::ZERO {
            return self.level as f64;
        }
        self.area(now) as f64 / span.0 as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn students_t_matches_tables() {
        for (degrees, table) in [(1.0, 12.706), (2.0, 4.303), (29.0, 2.045), (30.0, 2.042)] {
            assert!((student_t_975(degrees) - table).abs() < 0.001);
        }
        for (degrees, table) in [(31.0, 2.040), (60.0, 2.000), (120.0, 1.980)] {
            assert!((student_t_975(degrees) - table).abs() < 0.001);
        }
        // Exact values: 3.5 degrees 2.940, 12.5 degrees 2.169.
        for (degrees, exact) in [(3.5, 2.940), (12.5, 2.169)] {
            assert!((student_t_975(degrees) - exact).abs() < 0.02);
        }
        assert_eq!(student_t_975(0.5), f64::INFINITY);
    }

    #[test]
    fn queue_length_is_weighted_by_time() {
        let mut queue = TimeWeighted::default();
        queue.change(Time(0), 1);
        queue.change(Time(10), 2);
        queue.change(Time(20), -3);
        assert_eq!(queue.area(Time(40)), 40);
        assert_eq!(queue.mean(Time(40), Nanos(40)), 1.0);
    }
}
