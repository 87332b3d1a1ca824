//! Runs a plan (JSON) and prints how many I/Os it recorded and how long that took.
//!
//! For profilers and instruction counters: `run_plan PLAN.json`.

use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: run_plan PLAN.json")?;
    let plan = raidlab_engine::Plan::from_json(&std::fs::read_to_string(path)?)?;
    let start = Instant::now();
    let result = raidlab_engine::run(&plan, || true).map_err(|e| format!("{e:?}"))?;
    let seconds = start.elapsed().as_secs_f64();
    let ios: u64 = result.workloads.iter().map(|workload| workload.ios).sum();
    println!(
        r#"{{"ios": {ios}, "events": {}, "seconds": {seconds}, "simulated_s": {}, "breaches": {:?}}}"#,
        result.events, result.duration_s, result.breaches
    );
    Ok(())
}
