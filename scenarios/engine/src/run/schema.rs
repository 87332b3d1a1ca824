//! What the engine gives, described once by its own types: Python's are made from it.

use crate::run::report::RunResult;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// JSON Schema (2020-12) of a run's result.
pub fn result_schema() -> Value {
    let types = SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator();
    types.into_root_schema_for::<RunResult>().to_value()
}
