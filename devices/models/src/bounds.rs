//! What a number of the plan may be, stated once: the engine checks by it, the schema of plans says
//! it, and `make schema` takes it from there to the files that people write.

use crate::fault::Fault;
use schemars::Schema;
use serde_json::Value;
use std::fmt;

/// From the least to the most that a number may be, both allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds<T> {
    /// The least that is allowed.
    pub least: T,
    /// The most that is allowed.
    pub most: T,
}

impl<T: PartialOrd + Copy> Bounds<T> {
    /// From `least` to `most`.
    pub const fn new(least: T, most: T) -> Bounds<T> {
        Bounds { least, most }
    }

    /// Whether a number is allowed; none that is not a number is.
    pub fn hold(self, value: T) -> bool {
        self.least <= value && value <= self.most
    }
}

impl<T: PartialOrd + Copy + fmt::Display> Bounds<T> {
    /// The fault of a number that is not allowed.
    pub fn fault(self, key: impl Into<String>, value: T) -> Option<Fault> {
        (!self.hold(value)).then(|| Fault::new(key, value, self.to_string()))
    }
}

impl<T: fmt::Display> fmt::Display for Bounds<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.least, self.most)
    }
}

impl<T: Into<Value> + Copy> Bounds<T> {
    /// Says them in the schema of a number: `#[schemars(transform = Self::HEADS.said())]`.
    pub fn said(self) -> impl FnMut(&mut Schema) {
        move |schema| {
            schema.insert("minimum".into(), self.least.into());
            schema.insert("maximum".into(), self.most.into());
        }
    }
}

/// Nanoseconds of CPU time that an I/O or a command costs, up to about a minute: sums over all that
/// can wait in memory have room in 64 bits.
pub(crate) const CPU_TIME_NS: Bounds<u64> = Bounds::new(0, 1 << 36);

/// The least that a number may be; there is no most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LowerBound<T>(pub T);

impl<T: PartialOrd + Copy> LowerBound<T> {
    /// Whether a number is allowed.
    pub fn holds(self, value: T) -> bool {
        self.0 <= value
    }
}

impl<T: PartialOrd + Copy + fmt::Display> LowerBound<T> {
    /// The fault of a number that is not allowed.
    pub fn fault(self, key: impl Into<String>, value: T) -> Option<Fault> {
        (!self.holds(value)).then(|| Fault::new(key, value, self.to_string()))
    }
}

impl<T: fmt::Display> fmt::Display for LowerBound<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} or more", self.0)
    }
}

impl<T: Into<Value> + Copy> LowerBound<T> {
    /// Says it in the schema of a number.
    pub fn said(self) -> impl FnMut(&mut Schema) {
        move |schema| {
            schema.insert("minimum".into(), self.0.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_allowed_and_the_schema_says_them() {
        let heads = Bounds::new(1u32, 255);
        let taken = [0, 1, 255, 256].map(|count| heads.hold(count));
        assert_eq!(taken, [false, true, true, false]);
        assert!(!Bounds::new(0.0, 1.0).hold(f64::NAN));
        assert_eq!(heads.to_string(), "1 to 255");
        let mut schema = schemars::json_schema!({"type": "integer", "minimum": 0});
        heads.said()(&mut schema);
        let both = schemars::json_schema!({"type": "integer", "minimum": 1, "maximum": 255});
        assert_eq!(schema, both);
    }

    #[test]
    fn what_has_no_most_says_its_least() {
        let rate = LowerBound(1_000_000u64);
        assert!(rate.holds(1_000_000) && !rate.holds(999_999));
        assert_eq!(rate.to_string(), "1000000 or more");
        let mut schema = schemars::json_schema!({"type": "integer", "minimum": 0});
        rate.said()(&mut schema);
        assert_eq!(schema.get("minimum"), Some(&Value::from(1_000_000)));
    }
}
