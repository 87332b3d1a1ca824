//! Arrays whose data are followed, the events that hit them, and their results.

use raidlab_engine::report::RunResult;
use serde_json::{Value, json};

use super::stations;

/// Drives of 100 us over 1 MiB each, units of 4 KiB, half of the I/Os writes, data followed.
pub fn followed(level: &str, drives: u32, write: &str) -> Value {
    let mut value = stations(drives, 100_000, "fixed", 1);
    value["devices"][0]["capacity_bytes"] = json!(1 << 20);
    value["controllers"] = json!([{"name": "c", "queue_depth": 0, "cores": 1, "request_ns": 1000,
        "command_ns": 0, "cache": {"bytes": 1 << 18, "dirty_share": 0.5, "low_share": 0.5,
        "flush_interval_ns": 50_000_000, "destages_per_drive": 4,
        "hold_ns": 3_600_000_000_000_u64}}]);
    value["arrays"][0]["level"] = json!(level);
    value["arrays"][0]["controller"] = json!(0);
    value["arrays"][0]["cache"] = json!({"write": write, "read_ahead": "none", "keep_reads": true});
    let load = &mut value["workloads"][0];
    load["read_share"] = json!(0.5);
    load["align_bytes"] = json!(512);
    load["area_bytes"] = json!(1 << 20);
    load["arrival"]["outstanding"] = json!(8);
    value["duration_ns"] = json!(1_000_000_000);
    value["data"] = json!(true);
    value
}

/// A mirror of two drives of 8 MiB with a spare: a rebuild takes a quarter of a second.
pub fn mirrored(ms: &[(u64, &str, u32)]) -> Value {
    let mut value = followed("raid1", 3, "write_through");
    value["devices"][0]["capacity_bytes"] = json!(8 << 20);
    value["arrays"][0]["drives"] = json!([0, 1]);
    value["arrays"][0]["spares"] = json!([2]);
    value["arrays"][0]["background_share"] = json!(1.0);
    let event = |&(ms, action, drive)| at(ms, json!({"action": action, "drive": drive}));
    value["events"] = json!(ms.iter().map(event).collect::<Vec<_>>());
    value
}

/// Levels that bear the loss of a drive, each with a number of drives.
pub const REDUNDANT: [(&str, u32); 5] = [
    ("raid1", 2),
    ("raid10", 4),
    ("raid1e", 3),
    ("raid5", 4),
    ("raid6", 5),
];

pub fn at(ms: u64, action: Value) -> Value {
    let mut event = action;
    event["at_ns"] = json!(ms * 1_000_000);
    event
}

pub fn data(result: &RunResult) -> (u64, u64, u64, u64) {
    let data = result.data.expect("data were followed");
    assert!(data.acknowledged_writes > 100);
    (
        data.lost_writes,
        data.stale_reads,
        data.refused_reads,
        data.corrupt_stripes,
    )
}

/// The log has an entry that begins so.
pub fn assert_reported(result: &RunResult, beginning: &str) {
    let mut log = result.log.iter();
    assert!(
        log.any(|entry| entry.what.starts_with(beginning)),
        "{:?}",
        result.log
    );
}

/// When the log has entries that begin so, in ms.
pub fn times(result: &RunResult, beginning: &str) -> Vec<u64> {
    let reported = result.log.iter();
    let reported = reported.filter(|entry| entry.what.starts_with(beginning));
    reported
        .map(|entry| (entry.t_s * 1e3).round() as u64)
        .collect()
}
