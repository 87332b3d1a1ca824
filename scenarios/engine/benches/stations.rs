//! I/Os a second of the engine with devices that cost next to nothing: its own overhead.
//!
//! Prints one JSON object a line. Run: `cargo bench -p raidlab-engine`.

use raidlab_engine::{Plan, run};
use serde_json::{Value, json};
use std::time::Instant;

fn plan(drives: u32, outstanding: u32, servers: u32, host_ns: u64, link: bool) -> Plan {
    let path: &[u32] = if link { &[0] } else { &[] };
    let drive = |n: u32| json!({"name": format!("drive {n}"), "device": 0, "queue_depth": 64, "path": path});
    let value: Value = json!({
        "seed": 1, "warm_up_ns": 0, "duration_ns": 1_u64 << 59, "max_ios": 5_000_000,
        "host": {"submit_ns": host_ns, "complete_ns": 0, "raid_command_ns": 0},
        "links": [{"name": "link", "bytes_per_s": 100_000_000_000_u64, "full_duplex": true, "frame_bytes": 512}],
        "controllers": [],
        "devices": [{"kind": "station", "capacity_bytes": 1_u64 << 36, "service_ns": 10_000,
                     "distribution": "fixed", "servers": servers}],
        "drives": (0..drives).map(drive).collect::<Vec<_>>(),
        "arrays": [{"name": "data", "level": "raid0", "stripe_unit_bytes": 65536,
                    "drives": (0..drives).collect::<Vec<_>>(), "controller": null, "software": false}],
        "workloads": [{"name": "load", "array": 0, "threads": 1, "access": "random", "read_share": 0.67,
            "block_bytes": 4096, "align_bytes": 4096, "area_start_bytes": 0,
            "area_bytes": 1_u64 << 36,
            "arrival": {"kind": "closed", "outstanding": outstanding, "think_ns": 0}}],
    });
    Plan::from_json(&value.to_string()).expect("a plan")
}

fn main() {
    for (drives, outstanding, servers, host_ns, link) in [
        (1, 32, 8, 0, false),
        (1, 32, 8, 20, true),
        (8, 32, 1, 0, false),
        (8, 4096, 1, 0, false),
        (1000, 4096, 1, 0, false),
    ] {
        let plan = plan(drives, outstanding, servers, host_ns, link);
        let start = Instant::now();
        let result = run(&plan, || true).expect("a result");
        let seconds = start.elapsed().as_secs_f64();
        let ios = result.workloads[0].ios as f64;
        println!(
            r#"{{"work": "{drives} stations, {outstanding} outstanding, host {host_ns} ns, link {link}", "per_s": {:.0}, "ns": {:.1}, "events_per_io": {:.2}}}"#,
            ios / seconds,
            seconds * 1e9 / ios,
            result.events as f64 / ios
        );
    }
}
