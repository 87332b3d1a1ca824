//! Writes that calls make durable, against what can be computed by hand: stations take 100 us for
//! every command, flushes too.

use crate::common::{plan, printed, stations, to_its_end};
use serde_json::{Value, json};

const SERVICE: u64 = 100_000;

fn writer(name: &str, sync: &Value) -> Value {
    json!({
        "name": name, "array": 0, "threads": 1, "access": "random", "read_share": 0.0,
        "block_bytes": 4096, "align_bytes": 4096, "area_start_bytes": 0,
        "area_bytes": 1_u64 << 28, "sync": sync,
        "arrival": {"kind": "closed", "outstanding": 1, "think_ns": 0},
    })
}

/// One writer with a call behind each write, to a station of four servers.
fn system(times: bool, allocates: bool, journal: Option<&str>) -> Value {
    let mut value = stations(1, SERVICE, "fixed", 4);
    let sync = json!({"every": 1, "times": times, "allocates": allocates});
    value["workloads"] = json!([writer("load", &sync)]);
    if let Some(journal) = journal {
        value["arrays"][0]["file_system"] = json!({
            "journal": journal, "start_bytes": 1_u64 << 29, "bytes": 1 << 20,
            "tick_ns": 4_000_000, "flushes": true, "async_commit": false, "wake_ns": 0,
        });
    }
    value
}

fn outcome(value: &Value) -> Value {
    let result = to_its_end(&plan(value)).expect("a run");
    assert!(result.breaches.is_empty(), "{:?}", result.breaches);
    printed(&result)
}

fn ios(outcome: &Value, load: usize) -> u64 {
    outcome["workloads"][load]["ios"].as_u64().unwrap()
}

/// A second of writes that take this number of commands, one behind the other.
fn commands(value: &Value) -> f64 {
    1e9 / (ios(&outcome(value), 0) as f64 * SERVICE as f64)
}

fn near(value: f64, expected: f64) {
    assert!(
        (value - expected).abs() < 0.002,
        "{value} is not {expected}"
    );
}

#[test]
fn on_a_raw_array_a_call_is_a_flush() {
    near(commands(&system(true, false, None)), 2.0);
}

/// ext4: data, blocks of the transaction, flush, commit block, flush. XFS: data, flush, record,
/// flush.
#[test]
fn a_commit_costs_its_steps() {
    near(commands(&system(false, true, Some("ext4"))), 5.0);
    near(commands(&system(false, true, Some("xfs"))), 4.0);
}

/// An overwrite has no metadata but its times: `fdatasync` is a flush. `fsync` commits the times
/// once in 4 ms: one write in a tick takes 5 commands, the others 2. (40 - 5) / 2 + 1 = 18.5 writes
/// fit into a tick, of 40 / 18.5 commands each.
#[test]
fn an_overwrite_commits_its_times_once_in_a_tick() {
    near(commands(&system(false, false, Some("ext4"))), 2.0);
    near(commands(&system(true, false, Some("ext4"))), 40.0 / 18.5);
}

#[test]
fn no_flush_is_sent_where_the_drive_has_no_volatile_cache() {
    let mut value = system(false, false, None);
    value["drives"][0]["flush"] = json!("dropped");
    near(commands(&value), 1.0);
}

/// The last write before a call takes both times; the other one has its own.
#[test]
fn the_last_of_several_writes_is_complete_with_the_call() {
    let mut value = system(false, false, None);
    value["workloads"][0]["sync"]["every"] = json!(2);
    let outcome = outcome(&value);
    assert!((6665..=6667).contains(&ios(&outcome, 0)));
    let latency = &outcome["workloads"][0]["write"]["latency_us"];
    assert_eq!(latency["min"].as_f64(), Some(100.0), "{latency}");
    assert_eq!(latency["max"].as_f64(), Some(200.0), "{latency}");
}

/// A reader beside the writer. A queued flush is one command among others. One that must be alone
/// waits for the read under way (100 us), and the next read waits for it: the reader has two reads
/// in the 300 us that a durable write takes then.
#[test]
fn a_flush_that_is_not_queued_waits_for_the_commands_at_the_drive() {
    let mut value = system(false, false, None);
    let mut reader = writer("reader", &Value::Null);
    reader["read_share"] = json!(1.0);
    let written = value["workloads"][0].clone();
    value["workloads"] = json!([reader, written]);
    let queued = outcome(&value);
    assert!(ios(&queued, 0).abs_diff(10_000) <= 1);
    assert!(ios(&queued, 1).abs_diff(5000) <= 1);
    value["drives"][0]["flush"] = json!("alone");
    let alone = outcome(&value);
    assert!(ios(&alone, 0).abs_diff(6667) <= 1, "{}", ios(&alone, 0));
    assert!(ios(&alone, 1).abs_diff(3333) <= 1, "{}", ios(&alone, 1));
}

/// Eight places write beside each other: the first flush goes out, and the seven that wait for it
/// become one. Eight writes in 300 us.
#[test]
fn flushes_that_wait_for_a_drive_become_one() {
    let mut value = system(false, false, None);
    value["devices"][0]["servers"] = json!(8);
    value["workloads"][0]["arrival"]["outstanding"] = json!(8);
    value["drives"][0]["flush"] = json!("alone");
    assert!(ios(&outcome(&value), 0).abs_diff(26_664) <= 8);
}

/// A mirror in the host whose workers take a flush up after 10 us, eight writers to drives that serve
/// all at once.
fn mirror(order: &str) -> Value {
    let mut value = stations(2, SERVICE, "fixed", 8);
    value["arrays"][0]["level"] = json!("raid1");
    value["arrays"][0]["software"] = json!(true);
    value["arrays"][0]["md"] = json!({"flush_order": order, "flush_hand_ns": 10_000});
    let sync = json!({"every": 1, "times": false, "allocates": false});
    value["workloads"] = json!([writer("load", &sync)]);
    value
}

/// One caller: a write, a worker, the members' flushes, a worker: 100 + 10 + 100 + 10 us.
#[test]
fn md_hands_a_flush_to_two_workers() {
    for order in ["together", "one_by_one", "batches"] {
        near(commands(&mirror(order)), 2.2);
    }
}

/// Eight callers: one flush of 120 us after the other, or all eight with the one that goes out.
#[test]
fn flushes_of_md_pass_one_by_one_or_in_batches() {
    for (order, expected) in [
        ("one_by_one", 8333),
        ("batches", 36_363),
        ("together", 36_363),
    ] {
        let mut value = mirror(order);
        value["workloads"][0]["arrival"]["outstanding"] = json!(8);
        let ios = ios(&outcome(&value), 0);
        assert!(ios.abs_diff(expected) <= 8, "{order}: {ios}");
    }
}

/// The flush that stands for FUA is each member's own: of the five commands of a commit the barrier
/// alone passes the workers, 20 us.
#[test]
fn what_stands_for_fua_does_not_pass_the_workers() {
    let mut value = mirror("batches");
    value["arrays"][0]["file_system"] = json!({
        "journal": "ext4", "start_bytes": 1_u64 << 29, "bytes": 1 << 20,
        "tick_ns": 4_000_000, "flushes": true, "async_commit": false, "wake_ns": 0,
    });
    value["workloads"][0]["sync"]["allocates"] = json!(true);
    near(commands(&value), 5.2);
}

#[test]
fn a_plan_that_cannot_be_is_refused() {
    let mut value = system(false, false, Some("ext4"));
    value["workloads"][0]["sync"]["every"] = json!(0);
    value["arrays"][0]["file_system"]["start_bytes"] = json!((1_u64 << 30) - 4096);
    value["events"] = json!([{"at_ns": 1000, "action": "power_fail", "off_ns": 1000}]);
    let faults = format!("{:?}", to_its_end(&plan(&value)).err());
    for key in [
        "workloads.0.sync.every",
        "arrays.0.file_system.start_bytes",
        "events.0.action",
    ] {
        assert!(faults.contains(key), "{key}: {faults}");
    }
}
