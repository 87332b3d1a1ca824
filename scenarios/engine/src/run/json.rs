//! JSON of what the engine takes and gives, compiled once here: a program that asked serde for it
//! would compile all of these types for itself.

use crate::plan::{Action, Plan};
use crate::run::report::RunResult;
use serde_json::Result;

impl Plan {
    /// A plan from its JSON.
    ///
    /// # Errors
    /// It is not in a plan's form.
    pub fn from_json(text: &str) -> Result<Plan> {
        serde_json::from_str(text)
    }
}

impl Action {
    /// An event of a plan from its JSON.
    ///
    /// # Errors
    /// It is not in an event's form.
    pub fn from_json(text: &str) -> Result<Action> {
        serde_json::from_str(text)
    }
}

impl RunResult {
    /// The result as JSON.
    ///
    /// # Errors
    /// It holds what JSON has not.
    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string(self)
    }
}
