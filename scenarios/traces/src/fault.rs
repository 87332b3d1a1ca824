//! What is wrong with a trace: where, what stands there, what is allowed.

use schemars::JsonSchema;
use serde::Serialize;

/// What stands where a fault is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// Nothing.
    None,
    /// A number.
    Number(u64),
    /// Text of the file, or of an option.
    Text(String),
}

/// A fault of a trace or of how it is to be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Fault {
    /// `line 12`, an option such as `--unit`, or nothing for the whole file.
    pub key: String,
    /// What stands there.
    pub value: Value,
    /// What may stand there.
    pub allowed: String,
    /// Valid names, of which the nearest is suggested.
    pub choices: Vec<String>,
}

/// Characters of a line that a fault shows.
const SHOWN: usize = 80;

impl Fault {
    /// A fault of the whole file.
    pub fn of_file(allowed: impl Into<String>) -> Fault {
        Fault::at(String::new(), Value::None, allowed)
    }

    /// A fault at `key`.
    pub fn at(key: impl Into<String>, value: Value, allowed: impl Into<String>) -> Fault {
        Fault {
            key: key.into(),
            value,
            allowed: allowed.into(),
            choices: Vec::new(),
        }
    }

    /// A line that is no request.
    pub(crate) fn of_line(number: u64, line: &str, allowed: String) -> Fault {
        let text = line.trim().chars().take(SHOWN).collect();
        Fault::at(format!("line {number}"), Value::Text(text), allowed)
    }

    /// This fault with the names that would be valid.
    pub(crate) fn among(mut self, choices: impl IntoIterator<Item = String>) -> Fault {
        self.choices = choices.into_iter().collect();
        self
    }
}
