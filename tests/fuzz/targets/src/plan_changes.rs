//! Plans with a few changes: other numbers, values of other plans, parts left out or twice.

use raidlab_engine::kernel::Stream;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Most I/Os of a run.
const IOS: u64 = 300;
/// Longest simulated time of a run: 2 s.
const DURATION_NS: u64 = 2_000_000_000;
/// Times are shorter: 73 minutes. Those of components, which add up, are far shorter.
const LONGEST_NS: u64 = 1 << 42;
/// Memory that a plan may ask for.
const MEMORY_BYTES: u64 = 256 << 20;
/// Stays as it is: Python has checked jobs of fio, and `jobs` tries them.
const RESOLVED: &str = "jobs";

/// Changes sound plans.
pub struct Mutator {
    plans: Vec<Value>,
    /// Values of all plans by key, to put in the place of others.
    seen: BTreeMap<String, Vec<Value>>,
    seed: u64,
}

impl Mutator {
    /// Changes of the plans in `text`, one a line.
    pub fn new(text: &str, seed: u64) -> Mutator {
        let plans: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).expect("a plan is JSON"))
            .collect();
        assert!(!plans.is_empty(), "no plans");
        let mut seen = BTreeMap::new();
        plans.iter().for_each(|plan| collect("", plan, &mut seen));
        Mutator { plans, seen, seed }
    }

    /// Input number `number`: a plan with one to four changes, made short.
    pub fn input(&self, number: u64) -> Value {
        let mut draws = Stream::new(self.seed, &number.to_string(), "mutations");
        let mut plan = self.plans[draws.below(self.plans.len() as u64) as usize].clone();
        for _ in 0..=draws.below(4) {
            let places = count(&plan);
            let mut left = draws.below(places);
            self.change("", &mut plan, &mut left, &mut draws);
        }
        let least = |value: &Value, most: u64| match value.as_u64() {
            Some(wanted) if (1..most).contains(&wanted) => json!(wanted),
            _ => json!(most),
        };
        if plan.is_object() {
            plan["max_ios"] = least(&plan["max_ios"], IOS);
            plan["duration_ns"] = least(&plan["duration_ns"], DURATION_NS);
            if plan["warm_up_ns"] != json!(0) {
                plan["warm_up_ns"] = least(&plan["warm_up_ns"], DURATION_NS / 4);
            }
            if plan.get("warm_up_most_ns").is_some() {
                plan["warm_up_most_ns"] = least(&plan["warm_up_most_ns"], DURATION_NS);
            }
            plan["memory_bytes"] = json!(MEMORY_BYTES);
            plan["time_lapse"] = least(&plan["time_lapse"], 8);
        }
        plan
    }

    /// Changes the place that `left` counts down to; true once that is done.
    fn change(&self, key: &str, value: &mut Value, left: &mut u64, draws: &mut Stream) -> bool {
        if *left == 0 {
            self.replace(key, value, draws);
            return true;
        }
        *left -= 1;
        match value {
            Value::Array(items) => items
                .iter_mut()
                .any(|item| self.change(key, item, left, draws)),
            Value::Object(fields) => fields
                .iter_mut()
                .filter(|(key, _)| key.as_str() != RESOLVED)
                .any(|(key, item)| self.change(key, item, left, draws)),
            _ => false,
        }
    }

    fn replace(&self, key: &str, value: &mut Value, draws: &mut Stream) {
        let others = self.seen.get(key);
        match (draws.below(8), &mut *value) {
            (0 | 1, _) if others.is_some() => {
                let others = others.expect("there are some");
                *value = others[draws.below(others.len() as u64) as usize].clone();
            }
            (2, Value::Array(items)) if !items.is_empty() => {
                let at = draws.below(items.len() as u64) as usize;
                let item = items[at].clone();
                items.insert(at, item);
            }
            (3, Value::Array(items)) if !items.is_empty() => {
                items.remove(draws.below(items.len() as u64) as usize);
            }
            (2, Value::Object(fields)) if !fields.is_empty() => {
                let at = draws.below(fields.len() as u64) as usize;
                let key = fields.keys().nth(at).expect("inside").clone();
                fields.remove(&key);
            }
            (_, Value::Number(number)) => {
                let old = number.as_f64().unwrap_or(0.0);
                *value = self.number(old, draws);
                if let Some(ns) = value.as_u64().filter(|_| key.ends_with("_ns")) {
                    *value = json!(ns % LONGEST_NS);
                }
            }
            (_, Value::Bool(flag)) => *flag = !*flag,
            (0, _) => *value = json!(null),
            _ => {
                if let Some(others) = others {
                    *value = others[draws.below(others.len() as u64) as usize].clone();
                }
            }
        }
    }

    /// A number near an old one, at an edge, or of another size.
    fn number(&self, old: f64, draws: &mut Stream) -> Value {
        let whole = old as u64;
        match draws.below(10) {
            0 => json!(0),
            1 => json!(1),
            2 => json!(whole.saturating_add(1)),
            3 => json!(whole.saturating_sub(1)),
            4 => json!(1_u64 << draws.below(64)),
            5 => json!((1_u64 << draws.below(64)) - 1),
            6 if whole == 0 => json!(-1),
            7 => json!(old * draws.unit()),
            8 => json!(whole.saturating_mul(1 << draws.below(12))),
            _ => json!(whole >> draws.below(12)),
        }
    }
}

/// Places of a value: itself and all that is in it.
fn count(value: &Value) -> u64 {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => {
            let changed = fields.iter().filter(|(key, _)| key.as_str() != RESOLVED);
            changed.map(|(_, item)| count(item)).sum()
        }
        _ => 0,
    }
}

fn collect(key: &str, value: &Value, seen: &mut BTreeMap<String, Vec<Value>>) {
    let values = seen.entry(key.into()).or_default();
    if values.len() < 64 && !values.contains(value) {
        values.push(value.clone());
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(key, item, seen)),
        Value::Object(fields) => fields
            .iter()
            .for_each(|(key, item)| collect(key, item, seen)),
        _ => {}
    }
}
