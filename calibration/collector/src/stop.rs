//! Why the collector stops before its plan is done, and with which exit code.

use std::fmt;

/// The reason to stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Bad input or a refused target: one message a fault. Exit code 2.
    Refused(Vec<String>),
    /// Something failed; finished steps are stored. Exit code 1.
    Failed(String),
    /// The user interrupted; finished steps are stored. Exit code 130.
    Interrupted,
}

impl Stop {
    /// A refusal with a single fault.
    pub fn refused(message: impl Into<String>) -> Stop {
        Stop::Refused(vec![message.into()])
    }

    /// A failure.
    pub fn failed(message: impl Into<String>) -> Stop {
        Stop::Failed(message.into())
    }

    /// A failure of an operation on a file.
    pub fn io(what: &str, path: &std::path::Path, error: &std::io::Error) -> Stop {
        Stop::Failed(format!("{}: cannot {what}: {error}", path.display()))
    }

    /// The program's exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Stop::Refused(_) => 2,
            Stop::Failed(_) => 1,
            Stop::Interrupted => 130,
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Refused(faults) => f.write_str(&faults.join("\n")),
            Stop::Failed(message) => f.write_str(message),
            Stop::Interrupted => f.write_str("interrupted; the same command resumes from here"),
        }
    }
}
