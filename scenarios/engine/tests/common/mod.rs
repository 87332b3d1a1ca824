//! Plans for tests: a system of stations, described in a few words.

#[allow(dead_code, reason = "some files of tests make no requests themselves")]
pub mod bench;
#[allow(dead_code, reason = "some files of tests follow no data")]
pub mod followed;

use raidlab_engine::report::RunResult;
use raidlab_engine::{Plan, RunError, run};
use serde_json::{Value, json};

/// The 95 % interval around the mean of independent samples, by Student's t.
pub fn interval(samples: &[f64]) -> [f64; 2] {
    let n = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / n;
    let squares: f64 = samples.iter().map(|sample| (sample - mean).powi(2)).sum();
    let half = raidlab_engine::kernel::student_t_975(n - 1.0) * (squares / (n - 1.0) / n).sqrt();
    [mean - half, mean + half]
}

/// A plan with free host, no controller and `drives` stations in one array.
pub fn stations(drives: u32, service_ns: u64, distribution: &str, servers: u32) -> Value {
    let drive =
        |n: u32| json!({"name": format!("drive {n}"), "device": 0, "queue_depth": 0, "path": []});
    json!({
        "seed": 1,
        "warm_up_ns": 0,
        "duration_ns": 1_000_000_000_u64,
        "host": {"submit_ns": 0, "complete_ns": 0, "raid_command_ns": 0},
        "links": [],
        "controllers": [],
        "devices": [{"kind": "station", "capacity_bytes": 1_u64 << 30, "service_ns": service_ns,
                     "distribution": distribution, "servers": servers}],
        "drives": (0..drives).map(drive).collect::<Vec<_>>(),
        "arrays": [{"name": "data", "level": if drives == 1 { "jbod" } else { "raid0" },
                    "stripe_unit_bytes": 4096, "drives": (0..drives).collect::<Vec<_>>(),
                    "controller": null, "software": false}],
        "workloads": [closed("load", 1)],
    })
}

/// An SSD of one channel of 400 MB/s, with blocks of sixteen pages of one unit of 4 KiB, which has
/// been written once in order: reads of 50 us, programs of 500 us, erases of 3 ms, and no firmware.
pub fn ssd_of_one_channel(capacity_bytes: u64, dies: u32, blocks_per_plane: u32) -> Value {
    json!({
        "kind": "ssd", "capacity_bytes": capacity_bytes, "unit_bytes": 4096,
        "nand": {"channels": 1, "dies_per_channel": dies, "planes": 1,
                 "blocks_per_plane": blocks_per_plane, "pages_per_block": 16, "page_bytes": 4096,
                 "read_ns": [50_000], "program_ns": [500_000], "erase_ns": 3_000_000,
                 "channel_bytes_per_s": 400_000_000, "command_ns": 0, "cache_read": false,
                 "cache_program": false, "suspend_ns": null, "reads_first": 0,
                 "rated_cycles": 3000},
        "parity_stripe": 0,
        "collection": {"policy": "greedy"},
        "buffer": {"bytes": 262_144, "protected": true, "write_through": false},
        "firmware": {"cores": 1, "read_ns": 0, "write_ns": 0, "read_unit_ns": 0,
                     "write_unit_ns": 0, "read_latency_ns": 0, "write_latency_ns": 0,
                     "other_ns": 0},
        "prefetch": null,
        "history": [{"access": "sequential", "start_bytes": 0, "area_bytes": capacity_bytes,
                     "block_bytes": 4096, "written_bytes": capacity_bytes, "ongoing": false}],
    })
}

/// A closed loop of random 4 KiB reads over 1 GiB.
pub fn closed(name: &str, outstanding: u32) -> Value {
    json!({"name": name, "array": 0, "threads": 1, "access": "random", "read_share": 1.0,
           "block_bytes": 4096, "align_bytes": 4096, "area_start_bytes": 0,
           "area_bytes": 1_u64 << 30,
           "arrival": {"kind": "closed", "outstanding": outstanding, "think_ns": 0}})
}

/// The plan in the engine's form.
pub fn plan(value: &Value) -> Plan {
    Plan::from_json(&value.to_string()).expect("a plan in the engine's form")
}

/// Runs a plan that nobody stops; a program compiles its own engine for each who might.
pub fn to_its_end(plan: &Plan) -> Result<RunResult, RunError> {
    run(plan, || true)
}

/// A result as it is printed.
pub fn printed(result: &RunResult) -> Value {
    let text = result.to_json().expect("a result is JSON");
    serde_json::from_str(&text).expect("a result is JSON")
}

/// What a plan's run gives; no check of the engine's own may have failed.
#[allow(
    dead_code,
    reason = "some files of tests look at faults or steps instead"
)]
pub fn result(value: &Value) -> RunResult {
    let result = to_its_end(&plan(value)).expect("a run");
    assert!(result.breaches.is_empty(), "{:?}", result.breaches);
    result
}
