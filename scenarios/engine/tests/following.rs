//! What follows the data changes no times: with neither parity nor a cache, an array whose data are
//! followed sends the same commands as one that is not, over the same links.

use crate::common::{plan, printed, result, stations, to_its_end};
use raidlab_engine::LogEntry;
use raidlab_engine::{Simulation, io, kernel};
use serde_json::{Value, json};

const LEVELS: [(&str, u32); 5] = [
    ("jbod", 2),
    ("raid0", 4),
    ("raid1", 2),
    ("raid10", 4),
    ("raid1e", 3),
];

/// I/Os of up to 64 KiB on units of 4 KiB; each drive has a link, the controller one to the host.
fn array(level: &str, drives: u32, controller: bool) -> Value {
    let mut value = stations(drives, 100_000, "exponential", 1);
    value["devices"][0]["capacity_bytes"] = json!(1 << 24);
    let link = |rate: u64, frame: u64| {
        json!({"name": "x", "bytes_per_s": rate,
        "full_duplex": true, "frame_bytes": frame})
    };
    value["links"] = json!([link(1_000_000_000, 4096)]);
    for drive in 0..drives {
        let links = value["links"].as_array_mut().unwrap();
        links.push(link(300_000_000, 1024));
        value["drives"][drive as usize]["path"] = json!([drive + 1, 0]);
    }
    if controller {
        value["controllers"] = json!([{"name": "c", "queue_depth": 0, "cores": 1,
            "request_ns": 5000, "command_ns": 1000, "latency_ns": 2000, "link": 0,
            "memory_bytes_per_s": 1_000_000_000}]);
        value["arrays"][0]["controller"] = json!(0);
    }
    value["arrays"][0]["level"] = json!(level);
    let load = &mut value["workloads"][0];
    load["area_bytes"] = json!(1 << 24);
    load["align_bytes"] = json!(512);
    load["block_bytes"] = json!(65_536);
    load["arrival"]["outstanding"] = json!(4);
    value["duration_ns"] = json!(200_000_000);
    value
}

/// Shares of reads at which no two writes meet in a unit of a mirror, whose copies then wait.
fn loads(level: &str) -> &'static [f64] {
    match level {
        "jbod" | "raid0" => &[1.0, 0.5, 0.0],
        _ => &[1.0],
    }
}

#[test]
fn the_times_are_the_same_with_and_without() {
    for (level, drives) in LEVELS {
        for controller in [false, true] {
            for &reads in loads(level) {
                let mut value = array(level, drives, controller);
                value["workloads"][0]["read_share"] = json!(reads);
                let load = |value: &Value| printed(&result(value))["workloads"].clone();
                let plain = load(&value);
                value["data"] = json!(true);
                assert_eq!(load(&value), plain, "{level} {controller} {reads}");
            }
        }
    }
}

/// Blocks of 64 KiB on a link of 1 GB/s to a controller, whose drives take no time: 15,259 a second, or
/// half of them if each copy crosses it. A controller with a memory makes the copies from there, with
/// or without a policy for its cache; reads are of one copy anyway.
#[test]
fn copies_are_made_in_memory_where_there_is_one() {
    for (level, drives) in &LEVELS[2..] {
        let mut value = array(level, *drives, true);
        value["devices"][0]["service_ns"] = json!(1000);
        for drive in 1..=*drives as usize {
            value["links"][drive]["bytes_per_s"] = json!(10_000_000_000_u64);
        }
        let mut rate = |cache: Value, policy: Value, reads: f64| {
            value["controllers"][0]["cache"] = cache;
            value["arrays"][0]["cache"] = policy;
            value["controllers"][0]["memory_bytes_per_s"] = json!(0);
            value["workloads"][0]["read_share"] = json!(reads);
            value["workloads"][0]["arrival"]["outstanding"] = json!(16);
            result(&value).workloads[0].iops / (1e9 / 65_536.0)
        };
        let memory = json!({"bytes": 1 << 26, "dirty_share": 0.5, "low_share": 0.5,
            "flush_interval_ns": 50_000_000, "destages_per_drive": 4, "hold_ns": 0});
        let kept = json!({"write": "write_through", "read_ahead": "none", "keep_reads": true});
        let close = |rate: f64, share: f64| (rate / share - 1.0).abs() < 0.02;
        let without = rate(Value::Null, Value::Null, 0.0);
        assert!(close(without, 0.5), "{level} {without}");
        let with = rate(memory.clone(), Value::Null, 0.0);
        assert!(close(with, 1.0), "{level} {with}");
        let cached = rate(memory.clone(), kept, 0.0);
        assert!(close(cached, 1.0), "{level} {cached}");
        let reads = rate(memory, Value::Null, 1.0);
        assert!(close(reads, 1.0), "{level} {reads}");
    }
}

/// Writes of mirrors wait for each other where they meet in a unit: seldom.
#[test]
fn the_rates_of_mirrored_writes_are_the_same() {
    for (level, drives) in LEVELS {
        let mut value = array(level, drives, true);
        value["workloads"][0]["read_share"] = json!(0.0);
        value["duration_ns"] = json!(4_000_000_000_u64);
        let rate = |value: &Value| result(value).workloads[0].ios as f64;
        let plain = rate(&value);
        value["data"] = json!(true);
        let off = (rate(&value) / plain - 1.0).abs();
        assert!(off < 0.01, "{level} {off}");
    }
}

/// One after the other nothing waits for anything: every answer takes the same time, also that of a
/// TRIM, which both copies of a mirror hear of.
#[test]
fn every_kind_of_request_takes_the_same_time() {
    use io::Op::{Flush, Read, Trim, Write};
    for (level, drives) in LEVELS {
        let ops = [Write, Trim, Read, Flush, Write, Read, Trim];
        let times = |value: &Value| {
            let mut system = Simulation::new(&plan(value)).expect("a system");
            let one = |nth: u64| {
                let op = ops[nth as usize % ops.len()];
                let (offset, bytes) = (nth * 37 * 512, 4096 + nth % 9 * 7680);
                let submitted = system.submit(0, op, io::ByteRange::new(offset, bytes), 0);
                submitted.expect("an I/O that fits");
                let back = system.advance(kernel::Time::NEVER).expect("its end");
                back.at - back.issued
            };
            (0..70).map(one).collect::<Vec<_>>()
        };
        let mut value = array(level, drives, true);
        value["workloads"] = json!([]);
        let plain = times(&value);
        value["data"] = json!(true);
        assert_eq!(times(&value), plain, "{level}");
    }
}

/// A rebuild moves data between drives and the controller: the host's link, so slow that it would
/// take a minute there, has no part in it.
#[test]
fn work_of_the_controller_itself_does_not_cross_the_link_to_the_host() {
    let mut value = array("raid1", 2, true);
    value["links"][0]["bytes_per_s"] = json!(300_000);
    value["workloads"][0]["arrival"] = json!({"kind": "poisson", "per_s": 1.0});
    value["workloads"][0]["block_bytes"] = json!(512);
    value["duration_ns"] = json!(20_000_000_000_u64);
    value["events"] = json!([
        {"at_ns": 0, "action": "fail_drive", "drive": 0},
        {"at_ns": 1000, "action": "replace_drive", "drive": 0},
    ]);
    let log = result(&value).log;
    let done = |entry: &LogEntry| entry.what.starts_with("rebuild done");
    assert!(log.iter().any(done), "{log:?}");
}

/// One sector of one drive is unreadable. Of reads that begin anywhere, those of 16 units that meet
/// its unit are refused, and no others: one in 15, where a run of 8 units around it were two in 15.
#[test]
fn an_unreadable_sector_costs_its_unit_and_no_other() {
    let mut value = array("raid0", 2, true);
    value["data"] = json!(true);
    value["devices"][0]["capacity_bytes"] = json!(1 << 19);
    let load = &mut value["workloads"][0];
    load["area_bytes"] = json!(1 << 20);
    load["align_bytes"] = json!(4096);
    value["duration_ns"] = json!(4_000_000_000_u64);
    value["events"] = json!([{"at_ns": 0, "action": "unreadable_sectors", "drive": 1,
        "offset_bytes": 1 << 18, "bytes": 512}]);
    let result = result(&value);
    let data = result.data.expect("data were followed");
    let share = data.refused_reads as f64 / (result.workloads[0].ios + data.refused_reads) as f64;
    assert!((share / (16.0 / 241.0) - 1.0).abs() < 0.1, "{share}");
    // Mirrored, none is refused: the rest of what was asked with it comes from either drive.
    value["arrays"][0]["level"] = json!("raid1");
    value["workloads"][0]["area_bytes"] = json!(1 << 19);
    let mirrored = to_its_end(&plan(&value)).expect("a run");
    let data = mirrored.data.expect("data were followed");
    assert_eq!((data.refused_reads, data.stale_reads), (0, 0));
}
