//! Collects the faults of a description, so that all of them are reported at once.

use crate::Fault;
use crate::bounds::Bounds;
use raidlab_kernel::Nanos;

/// Nanoseconds that a step of a disk may take: up to a minute.
pub(super) const TIME: Bounds<u64> = Bounds::new(0, 60_000_000_000);

/// Collects faults: key, value, what is allowed.
pub(super) struct Check(pub Vec<Fault>);

impl Check {
    /// A fault unless `good`.
    pub fn that(&mut self, good: bool, key: &str, value: impl std::fmt::Display, allowed: &str) {
        if !good {
            self.0.push(Fault::new(key, value, allowed));
        }
    }

    /// A fault unless the value is within its bounds.
    pub fn within<T: PartialOrd + Copy + std::fmt::Display>(
        &mut self,
        bounds: Bounds<T>,
        key: &str,
        value: T,
    ) {
        self.that(bounds.hold(value), key, value, &bounds.to_string());
    }

    /// A fault unless the time is at most a minute.
    pub fn time(&mut self, key: &str, value: Nanos) {
        self.that(
            TIME.hold(value.0),
            key,
            value.0,
            &format!("at most a minute ({})", TIME.most),
        );
    }
}
