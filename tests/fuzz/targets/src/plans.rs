//! Changed plans: each must give a result whose self-checks hold, or name its faults.

use crate::driver::{PATIENCE, Target};
use crate::plan_changes::Mutator;
use raidlab_engine::{Plan, RunError, run};
use serde_json::Value;
use std::time::Instant;

/// Plans.
pub struct Plans {
    mutator: Mutator,
}

impl Plans {
    /// Changes of the plans in `text`, one a line.
    pub fn new(text: &str, seed: u64) -> Plans {
        Plans {
            mutator: Mutator::new(text, seed),
        }
    }
}

impl Target for Plans {
    type Input = Value;

    fn input(&self, number: u64) -> Value {
        self.mutator.input(number)
    }

    fn show(&self, input: &Value) -> String {
        input.to_string()
    }

    fn judge(&self, input: &Value) -> Result<&'static str, String> {
        let Ok(plan) = Plan::from_json(&input.to_string()) else {
            return Ok("not in the form of a plan");
        };
        judge(&plan)
    }
}

/// What came of a plan: a result, or faults.
///
/// # Errors
/// A breach, a figure that is no number, a fault without words.
pub fn judge(plan: &Plan) -> Result<&'static str, String> {
    let begun = Instant::now();
    let result = match run(plan, || begun.elapsed() < PATIENCE / 2) {
        Ok(result) => result,
        Err(RunError::Plan(faults)) => {
            let silent = faults.is_empty() || faults.iter().any(|fault| fault.allowed.is_empty());
            return match silent {
                true => Err("refused without a word".into()),
                false => Ok("faults named"),
            };
        }
        Err(RunError::Form(_)) => return Ok("not in the form of a plan"),
        Err(RunError::Stopped) => return Err("longer than half a minute".into()),
    };
    if !result.breaches.is_empty() {
        return Err(result.breaches.join("; "));
    }
    let printed = result
        .to_json()
        .and_then(|text| serde_json::from_str::<Value>(&text));
    let printed = printed.map_err(|error| error.to_string())?;
    for workload in printed["workloads"].as_array().into_iter().flatten() {
        for key in ["iops", "ios"] {
            if workload[key].is_null() {
                return Err(format!("{key} is no number"));
            }
        }
    }
    Ok("ran")
}
