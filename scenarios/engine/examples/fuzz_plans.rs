//! Runs mutated plans: each must give a result whose self-checks hold, or name its faults.
//!
//!     fuzz_plans PLANS.jsonl END SEED [ONLY]
//!
//! `PLANS.jsonl` has sound plans, one a line; `END` is so many inputs (`3000`) or seconds (`60s`). Input number n follows from the plans, the seed and n
//! alone, so `ONLY` repeats one input, and prints it. A panic, a failed self-check, a figure that is
//! no number, or an input that takes longer than a minute ends the program with status 1 and
//! names the input. Run it under `ulimit -v`: an input that takes more memory aborts.

use raidlab_engine::kernel::Stream;
use raidlab_engine::{Plan, run};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Most I/Os of a run.
const IOS: u64 = 300;
/// Longest simulated time of a run: 2 s.
const DURATION_NS: u64 = 2_000_000_000;
/// Times are shorter: 73 minutes. Those of components, which add up, are far shorter.
const LONGEST_NS: u64 = 1 << 42;
/// Memory that a plan may ask for.
const MEMORY_BYTES: u64 = 256 << 20;
/// An input that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [plans, end, seed, only @ ..] = args.as_slice() else {
        eprintln!("usage: fuzz_plans PLANS.jsonl END SEED [ONLY]");
        std::process::exit(2);
    };
    let text = std::fs::read_to_string(plans).expect("the plans can be read");
    let mutator = Mutator::new(&text, seed.parse().expect("a seed"));
    if let [only] = only {
        let input = mutator.input(only.parse().expect("a number"));
        println!("{input}");
        std::process::exit(i32::from(judge(&input).inspect_err(report).is_err()));
    }
    let begun = Instant::now();
    let (limit, unit) = end.split_at(end.trim_end_matches('s').len());
    let limit: u64 = limit.parse().expect("inputs, or seconds with an s");
    let current = watch();
    let mut tally = BTreeMap::new();
    let mut number = 0;
    let done = |number| match unit {
        "" => number >= limit,
        _ => begun.elapsed().as_secs() >= limit,
    };
    while !done(number) {
        current.store(number, Ordering::Relaxed);
        if number % 256 == 0 {
            // An abort says no number: one of the next 256.
            eprint!("\rfrom input {number} on ");
        }
        match catch_unwind(AssertUnwindSafe(|| judge(&mutator.input(number)))) {
            Ok(Ok(outcome)) => *tally.entry(outcome).or_insert(0_u64) += 1,
            Ok(Err(why)) => fail(number, &why),
            Err(_) => fail(number, &"a panic".into()),
        }
        number += 1;
    }
    println!("{number} plans: {tally:?}");
}

fn report(why: &String) {
    eprintln!("{why}");
}

fn fail(number: u64, why: &String) -> ! {
    eprintln!("input {number}: {why}");
    std::process::exit(1);
}

/// A thread that ends the program if one input takes too long.
fn watch() -> Arc<AtomicU64> {
    let current = Arc::new(AtomicU64::new(0));
    let watched = Arc::clone(&current);
    std::thread::spawn(move || {
        loop {
            let before = watched.load(Ordering::Relaxed);
            std::thread::sleep(PATIENCE);
            if watched.load(Ordering::Relaxed) == before {
                fail(before, &format!("longer than {PATIENCE:?}"));
            }
        }
    });
    current
}

/// What came of a plan: a result, or faults.
fn judge(input: &Value) -> Result<&'static str, String> {
    let Ok(plan) = serde_json::from_value::<Plan>(input.clone()) else {
        return Ok("not in the form of a plan");
    };
    let begun = Instant::now();
    let Ok(result) = run(&plan, || begun.elapsed() < PATIENCE / 2) else {
        return Ok("faults named");
    };
    if !result.breaches.is_empty() {
        return Err(result.breaches.join("; "));
    }
    let printed = serde_json::to_value(&result).map_err(|e| e.to_string())?;
    for workload in printed["workloads"].as_array().into_iter().flatten() {
        for key in ["iops", "ios"] {
            if workload[key].is_null() {
                return Err(format!("{key} is no number"));
            }
        }
    }
    Ok("ran")
}

/// Changes sound plans.
struct Mutator {
    plans: Vec<Value>,
    /// Values of all plans by key, to put in the place of others.
    seen: BTreeMap<String, Vec<Value>>,
    seed: u64,
}

impl Mutator {
    fn new(text: &str, seed: u64) -> Mutator {
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
    fn input(&self, number: u64) -> Value {
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
        Value::Object(fields) => fields.values().map(count).sum(),
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
