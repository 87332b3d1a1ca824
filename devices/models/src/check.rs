//! Collects the faults of a description, so that all of them are reported at once.

use crate::Fault;
use crate::bounds::Bounds;
use raidlab_kernel::Nanos;

/// Nanoseconds that a step of a disk may take.
pub(crate) const STEP_NS: Bounds<u64> = Bounds::new(0, 1_000_000_000);

/// Collects faults: key, value, what is allowed.
pub(crate) struct Check(pub(crate) Vec<Fault>);

impl Check {
    /// A fault unless `good`.
    pub(crate) fn that(
        &mut self,
        good: bool,
        key: &str,
        value: impl std::fmt::Display,
        allowed: &str,
    ) {
        if !good {
            self.0.push(Fault::new(key, value, allowed));
        }
    }

    /// A fault unless the value is within its bounds.
    pub(crate) fn within<T: PartialOrd + Copy + std::fmt::Display>(
        &mut self,
        bounds: Bounds<T>,
        key: &str,
        value: T,
    ) {
        self.0.extend(bounds.fault(key, value));
    }

    /// A fault unless the time is one of a step.
    pub(crate) fn time(&mut self, key: &str, value: Nanos) {
        let allowed = format!("at most a second ({})", STEP_NS.most);
        self.that(STEP_NS.hold(value.0), key, value.0, &allowed);
    }
}
