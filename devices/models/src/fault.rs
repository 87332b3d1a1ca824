//! One fault in a description: where, what stands there, what may stand there.

use std::fmt;

/// A fault found while a component is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The key, with dots between levels: `zones.3.first_cylinder`.
    pub key: String,
    /// The value that stands there.
    pub value: String,
    /// What is allowed.
    pub allowed: String,
}

impl Fault {
    /// A fault at `key`.
    pub fn new(
        key: impl Into<String>,
        value: impl fmt::Display,
        allowed: impl Into<String>,
    ) -> Fault {
        Fault {
            key: key.into(),
            value: value.to_string(),
            allowed: allowed.into(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}: {}", self.key, self.value, self.allowed)
    }
}
