//! Collects the faults of a description, so that all of them are reported at once.

use crate::Fault;
use crate::bounds::Bounds;
use raidlab_kernel::Nanos;

/// Nanoseconds that a step of a disk may take.
pub(super) const STEP_NS: Bounds<u64> = Bounds::new(0, 1_000_000_000);

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

    /// A fault unless the time is one of a step.
    pub fn time(&mut self, key: &str, value: Nanos) {
        let allowed = format!("at most a second ({})", STEP_NS.most);
        self.that(STEP_NS.hold(value.0), key, value.0, &allowed);
    }
}
