//! A load through the operating system's page cache, against what can be computed by hand.

use crate::common::{plan, printed, stations, to_its_end};
use serde_json::{Value, json};

const MIB: u64 = 1 << 20;

/// A station of `servers` that takes 1 ms for each command, whatever its size, and a file of
/// 16 MiB that is covered once through a cache of `memory` bytes.
fn file(access: &str, read_share: f64, memory: u64, servers: u32) -> Value {
    let mut value = stations(1, 1_000_000, "fixed", servers);
    value["duration_ns"] = json!(3_600_000_000_000_u64);
    value["workloads"] = json!([{
        "name": "load", "array": 0, "threads": 1, "access": access, "read_share": read_share,
        "block_bytes": 4096, "align_bytes": 4096, "area_start_bytes": 0, "area_bytes": 16 * MIB,
        "arrival": {"kind": "closed", "outstanding": 1, "think_ns": 0}, "passes": 1,
        "page_cache": {
            "memory_bytes": memory, "background_share": 0.1, "dirty_share": 0.2,
            "expire_ns": 30_000_000_000_u64, "read_ahead_bytes": 128 << 10,
            "request_bytes": 512 << 10, "requests": 128, "read_call_ns": 1000,
            "write_call_ns": 2000, "read_page_ns": 3000, "write_page_ns": 4000,
            "holds_end": read_share > 0.0,
        },
    }]);
    value
}

fn outcome(value: &Value) -> Value {
    let result = to_its_end(&plan(value)).expect("a run");
    assert!(result.breaches.is_empty(), "{:?}", result.breaches);
    let json = printed(&result);
    assert_eq!(json["workloads"][0]["ios"], 4096, "each record once");
    json
}

fn seconds(value: &Value) -> f64 {
    4096.0 / outcome(value)["workloads"][0]["iops"].as_f64().unwrap()
}

fn within(value: f64, expected: f64, tolerance: f64) {
    assert!(
        (value / expected - 1.0).abs() < tolerance,
        "{value} is not {expected}"
    );
}

/// Memory takes all of it before writing back begins: 4096 calls of 2 + 4 us, then the fsync:
/// 32 requests of 512 KiB, one after the other, and a flush, 33 ms.
#[test]
fn a_small_file_costs_its_calls_and_then_its_fsync() {
    let value = file("sequential", 0.0, 1024 * MIB, 1);
    within(seconds(&value), 4096.0 * 6e-6 + 33e-3, 1e-6);
}

/// A file much larger than the dirty limit goes at the drive's rate: 512 KiB a millisecond.
#[test]
fn a_writer_beyond_the_limit_has_the_drives_rate() {
    let mut value = file("sequential", 0.0, 16 * MIB, 1);
    value["workloads"][0]["page_cache"]["write_page_ns"] = json!(100);
    value["workloads"][0]["page_cache"]["write_call_ns"] = json!(100);
    within(seconds(&value), 33e-3, 0.05);
}

/// Written at random, dirty pages still go out in order of position, and neighbours as one.
#[test]
fn random_writes_merge_in_memory() {
    let mut value = file("random", 0.0, 1024 * MIB, 1);
    within(seconds(&value), 4096.0 * 6e-6 + 33e-3, 1e-6);
    // Where little may be dirty few neighbours are.
    value["workloads"][0]["page_cache"]["memory_bytes"] = json!(MIB);
    assert!(seconds(&value) > 3.0);
}

/// Windows of 32 pages: the next sets out when the reader comes to the one before it, whose
/// pages all come at once. So one is in flight at a time: 1 ms for 128 KiB, and the reader's CPU
/// time of 4 us a page runs beside it. The first windows are smaller: 4, 8 and 16 pages.
#[test]
fn a_stream_is_read_ahead_by_one_window() {
    let value = file("sequential", 1.0, 4 * MIB, 8);
    within(seconds(&value), (4096.0 / 32.0 + 3.0) * 1e-3, 0.02);
}

/// Memory holds the file's second half when random reads of every record begin. Every read takes
/// one page from those that are there and not read yet: a hit makes it the most recent one, a miss
/// drives one out. So when a share x is read, c - x of the 1 - x to come are there, and hits add
/// up to the integral of (c - x) / (1 - x) up to c: c - (1 - c) ln(1 / (1 - c)), 15.3 % for c = 1/2.
#[test]
fn random_reads_find_what_memory_still_holds() {
    let value = file("random", 1.0, 8 * MIB, 1);
    let misses = 1.0 - (0.5 - 0.5 * 2.0_f64.ln());
    within(seconds(&value), 4096.0 * (misses * 1e-3 + 4e-6), 0.01);
}

/// A write of half a page that is not in memory must read it first.
#[test]
fn a_part_of_a_missing_page_is_read_before_it_is_written() {
    let mut value = file("sequential", 0.0, 1024 * MIB, 1);
    value["workloads"][0]["block_bytes"] = json!(2048);
    value["workloads"][0]["area_bytes"] = json!(8 * MIB);
    // 2048 pages are read, 1 ms each; then 16 requests and a flush.
    let expected = 2048.0 * 1e-3 + 4096.0 * 6e-6 + 17e-3;
    within(seconds(&value), expected, 1e-3);
}

/// Dirty pages are written after at most 30 s, even if they are few.
#[test]
fn old_pages_are_written_back() {
    let mut value = file("sequential", 0.0, 1024 * MIB, 1);
    value["workloads"][0]["passes"] = json!(0);
    value["workloads"][0]["arrival"]["think_ns"] = json!(1_000_000_000_u64);
    value["duration_ns"] = json!(100_000_000_000_u64);
    let result = to_its_end(&plan(&value)).expect("a run");
    assert!(result.breaches.is_empty(), "{:?}", result.breaches);
    let json = printed(&result);
    let mut parts = json["components"].as_array().unwrap().iter();
    let drive = parts.find(|c| c["kind"] == "drive").unwrap();
    assert!(drive["utilization"].as_f64().unwrap() > 0.0);
}

/// A run may end while the host still spends CPU time on a request of the page cache: the accounts
/// hold at every instant. 600 instants 5 us apart, of requests that take 1 ms.
#[test]
fn the_accounts_hold_wherever_a_run_ends() {
    for step in 1..=600_u64 {
        for read_share in [0.0, 1.0] {
            let mut value = file("sequential", read_share, 4 * MIB, 1);
            value["host"] =
                json!({"submit_ns": 30_000, "complete_ns": 70_000, "raid_command_ns": 0});
            value["workloads"][0]["passes"] = json!(0);
            value["workloads"][0]["threads"] = json!(2);
            value["duration_ns"] = json!(20_000_000 + step * 5_000);
            let result = to_its_end(&plan(&value)).expect("a run");
            assert!(result.breaches.is_empty(), "{step}: {:?}", result.breaches);
        }
    }
}

/// Seconds of CPU time that a load thread has had by the end.
fn cpu_seconds(json: &Value, thread: u32) -> f64 {
    let name = format!("host thread {thread}");
    let mut parts = json["components"].as_array().unwrap().iter();
    let thread = parts
        .find(|c| c["name"] == name.as_str())
        .expect("a thread");
    let ios = json["workloads"][0]["ios"].as_f64().unwrap();
    let seconds = ios / json["workloads"][0]["iops"].as_f64().unwrap();
    thread["utilization"].as_f64().unwrap() * seconds
}

/// Each thread hears of its own reads: 2048 of the 4096 calls of 4 us are a thread's, and nearly
/// all of them wait for the drive, whose completion takes 100 us of the thread that asked.
#[test]
fn a_reads_completion_is_its_own_threads_work() {
    let mut value = file("random", 1.0, MIB, 8);
    value["workloads"][0]["page_cache"]["holds_end"] = json!(false);
    value["workloads"][0]["threads"] = json!(2);
    value["workloads"][0]["arrival"]["outstanding"] = json!(2);
    value["host"]["complete_ns"] = json!(100_000);
    let json = outcome(&value);
    for thread in 0..2 {
        within(cpu_seconds(&json, thread), 2048.0 * 104e-6, 0.03);
    }
}

/// A controller that acknowledges at once calls back while pages are still being sent. The load's
/// thread has its 4096 calls of 6 us and nothing of the 33 completions, which are the flusher's.
#[test]
fn completions_of_write_back_are_the_flushers_work() {
    let mut value = file("sequential", 0.0, 1024 * MIB, 1);
    value["host"]["complete_ns"] = json!(100_000);
    value["controllers"] = json!([{"name": "c", "queue_depth": 0, "cores": 1, "request_ns": 0,
        "command_ns": 0, "cache": {"bytes": 1 << 27, "dirty_share": 0.5, "low_share": 0.5,
        "flush_interval_ns": 1_000_000_000_u64, "destages_per_drive": 4,
        "hold_ns": 1_000_000_000_u64}}]);
    value["arrays"][0]["controller"] = json!(0);
    value["arrays"][0]["cache"] =
        json!({"write": "write_back", "read_ahead": "none", "keep_reads": false});
    let json = outcome(&value);
    within(cpu_seconds(&json, 0), 4096.0 * 6e-6, 1e-3);
}

#[test]
fn numbers_of_page_caches_and_block_layers_have_bounds() {
    let mut value = file("sequential", 0.0, MIB, 1);
    let wrong = json!({"memory_bytes": MIB - 1, "background_share": 0.0, "dirty_share": 1.01,
        "expire_ns": 0, "request_bytes": 4095, "requests": 65_537});
    let cache = value["workloads"][0]["page_cache"].as_object_mut().unwrap();
    cache.extend(wrong.as_object().unwrap().clone());
    value["drives"][0]["block_layer"] = json!({"scheduler": "none", "requests": 1_048_577});
    let error = format!("{:?}", to_its_end(&plan(&value)).unwrap_err());
    for key in wrong.as_object().unwrap().keys() {
        assert!(
            error.contains(&format!("workloads.0.page_cache.{key}")),
            "{error}"
        );
    }
    assert!(error.contains("drives.0.block_layer.requests"), "{error}");
    assert!(error.contains("1048576 to 1125899906842624"), "{error}");
}
