//! Plans on which the engine once failed, found by `examples/fuzz_plans.rs`: each must give a
//! result whose self-checks hold, or name its faults.
//!
//! `data/found.jsonl` has an object a line: what was wrong, and the plan.

use raidlab_engine::{Plan, run};
use serde_json::Value;

#[test]
fn plans_that_once_failed_run_or_name_their_faults() {
    for line in include_str!("data/found.jsonl").lines() {
        let case: Value = serde_json::from_str(line).expect("a line is JSON");
        let wrong = case["was"].as_str().expect("a text").to_owned();
        let Ok(plan) = Plan::from_json(&case["plan"].to_string()) else {
            continue;
        };
        let begun = std::time::Instant::now();
        if let Ok(result) = run(&plan, || begun.elapsed().as_secs() < 10) {
            assert!(result.breaches.is_empty(), "{wrong}: {:?}", result.breaches);
        }
        assert!(begun.elapsed().as_secs() < 10, "{wrong}");
    }
}
