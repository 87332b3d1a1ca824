//! What the engine takes and gives, described once by its own types: Python's are made from them.

use crate::plan::Plan;
use crate::run::report::RunResult;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// JSON Schema (2020-12) of a plan, in which each variant of a tagged enum has a title: its tag and
/// the enum's name, as `ClosedArrival`.
pub fn plan_schema() -> Value {
    let types = SchemaSettings::draft2020_12()
        .for_deserialize()
        .into_generator();
    let mut schema = types.into_root_schema_for::<Plan>().to_value();
    let all = schema.get_mut("$defs").and_then(Value::as_object_mut);
    for (name, def) in all.into_iter().flatten() {
        let variants = def.get_mut("oneOf").and_then(Value::as_array_mut);
        for variant in variants.into_iter().flatten() {
            if let Some(tag) = tag_of(variant) {
                variant["title"] = format!("{}{name}", camel_case(&tag)).into();
            }
        }
    }
    schema
}

/// JSON Schema (2020-12) of a run's result.
pub fn result_schema() -> Value {
    let types = SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator();
    types.into_root_schema_for::<RunResult>().to_value()
}

/// The value of the property that tells a variant from the others.
fn tag_of(variant: &Value) -> Option<String> {
    let mut properties = variant.get("properties")?.as_object()?.values();
    let tag = properties.find_map(|property| property.get("const"))?;
    tag.as_str().map(str::to_owned)
}

fn camel_case(snake: &str) -> String {
    let capital = |word: &str| {
        let mut letters = word.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    };
    snake.split('_').map(capital).collect()
}
