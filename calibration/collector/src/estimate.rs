//! What a plan will take: time and bytes.

use crate::step::Step;
use crate::units::{show_bytes, show_seconds};
use std::time::Duration;

/// Starting and ending fio, besides the time it runs.
const OVERHEAD_S: f64 = 0.3;

/// A step limited by size alone counts as hanging below this rate.
const SLOWEST_BYTES_PER_S: f64 = 5e6;

/// Time and bytes; bytes of timed steps hang on the assumed rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Of steps limited by time: exact.
    pub timed_s: f64,
    /// Of steps limited by size: at the assumed rate.
    pub sized_s: f64,
    /// Moved by steps limited by size: exact.
    pub sized_bytes: u64,
    /// Written by timed steps if they write at the assumed rate all the time.
    pub timed_write_bytes: f64,
}

/// Adds up steps, with `rate` bytes a second assumed where the target decides.
pub fn total<'a>(steps: impl Iterator<Item = &'a Step>, capacity: u64, rate: f64) -> Estimate {
    let mut total = Estimate::default();
    for step in steps {
        let bytes = step.sized_bytes(capacity);
        let sized_s = bytes as f64 / rate;
        match step.timed_s() {
            Some(seconds) if step.endless() || seconds < sized_s => {
                total.timed_s += seconds + OVERHEAD_S;
                if step.writes {
                    total.timed_write_bytes += seconds * rate;
                }
            }
            _ => {
                total.sized_s += sized_s + OVERHEAD_S;
                total.sized_bytes += bytes;
            }
        }
    }
    total
}

impl Estimate {
    /// All of it.
    pub fn seconds(&self) -> f64 {
        self.timed_s + self.sized_s
    }

    /// For people.
    pub fn show(&self, rate: f64) -> String {
        let rate = format!("{:.0} MB/s", rate / 1e6);
        format!(
            "time: about {} ({} by the clock, {} for {} to be moved, at an assumed {rate})\n\
             bytes: {} by size; the timed steps that write add up to {} at {rate}",
            show_seconds(self.seconds()),
            show_seconds(self.timed_s),
            show_seconds(self.sized_s),
            show_bytes(self.sized_bytes),
            show_bytes(self.sized_bytes),
            show_bytes(self.timed_write_bytes as u64),
        )
    }
}

/// When fio counts as hanging.
pub fn limit(step: &Step, capacity: u64, grace: Duration) -> Duration {
    let sized_s = step.sized_bytes(capacity) as f64 / SLOWEST_BYTES_PER_S;
    let seconds = match step.timed_s() {
        Some(seconds) if step.endless() => seconds,
        Some(seconds) => seconds.min(sized_s),
        None => sized_s,
    };
    Duration::from_secs_f64(seconds) + grace
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use crate::step::{Setting, expand};

    #[test]
    fn a_pts_round_is_56_minutes_and_the_fill_is_twice_the_capacity() {
        let plan = Plan::load("pts-iops").unwrap();
        let setting = Setting {
            capacity_bytes: 100 << 30,
            area_bytes: 32 << 30,
            rounds: Some(1),
            ..Setting::default()
        };
        let steps = expand(&plan, &setting).unwrap();
        let found = total(steps.iter(), setting.capacity_bytes, 500e6);
        assert!((found.timed_s - 56.0 * (60.0 + OVERHEAD_S)).abs() < 1e-9);
        assert_eq!(found.sized_bytes, 200 << 30);
        assert!((found.sized_s - (200u64 << 30) as f64 / 500e6 - OVERHEAD_S).abs() < 1e-9);
        let grace = Duration::from_secs(60);
        assert_eq!(
            limit(&steps[1], setting.capacity_bytes, grace).as_secs(),
            120
        );
        assert!(limit(&steps[0], setting.capacity_bytes, grace).as_secs() > 40_000);
    }
}
