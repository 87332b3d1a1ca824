//! Collects the faults of a description, so that all of them are reported at once.

use crate::Fault;
use raidlab_kernel::Nanos;

/// Collects faults: key, value, what is allowed.
pub(super) struct Check(pub Vec<Fault>);

impl Check {
    /// A fault unless `good`.
    pub fn that(&mut self, good: bool, key: &str, value: impl std::fmt::Display, allowed: &str) {
        if !good {
            self.0.push(Fault::new(key, value, allowed));
        }
    }

    /// A fault unless the time is at most a minute.
    pub fn time(&mut self, key: &str, value: Nanos) {
        self.that(
            value.0 <= 60_000_000_000,
            key,
            value.0,
            "at most a minute (60000000000)",
        );
    }
}
