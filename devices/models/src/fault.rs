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
    /// What it is about, where a program must know.
    pub about: About,
}

/// What a fault is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum About {
    /// A value of the description.
    #[default]
    Value,
    /// More I/Os arrive than are served, until no memory is left.
    Backlog,
    /// The machine has less memory, or fewer addresses, than the run needs.
    Memory,
}

impl About {
    /// Its name outside.
    pub fn name(self) -> &'static str {
        match self {
            About::Value => "value",
            About::Backlog => "backlog",
            About::Memory => "memory",
        }
    }
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
            about: About::Value,
        }
    }

    /// The fault, about something else than a value.
    pub fn about(self, about: About) -> Fault {
        Fault { about, ..self }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}: {}", self.key, self.value, self.allowed)
    }
}
