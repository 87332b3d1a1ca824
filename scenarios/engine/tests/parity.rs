//! Arrays with parity against arithmetic: how many commands, how many phases, how many bytes.

use crate::common::{plan, printed, result, stations, to_its_end};
use serde_json::{Value, json};

/// Drives of 100 us, one command at a time; 4 KiB units; random aligned writes of one unit.
fn parity(level: &str, drives: u32, outstanding: u32) -> Value {
    let mut value = stations(drives, 100_000, "fixed", 1);
    value["arrays"][0]["level"] = json!(level);
    value["workloads"][0]["read_share"] = json!(0.0);
    value["workloads"][0]["arrival"]["outstanding"] = json!(outstanding);
    value["workloads"][0]["area_bytes"] = json!(1_u64 << 29);
    value
}

/// One write at a time: old data and parity are read together, then both are written.
#[test]
fn a_small_write_takes_two_drive_times() {
    for level in ["raid5", "raid6"] {
        assert_eq!(result(&parity(level, 6, 1)).workloads[0].iops, 5000.0);
    }
}

/// Many at once: drives serve 10,000 commands a second each, and a write costs 4 or 6.
#[test]
fn small_writes_cost_four_or_six_commands() {
    for (level, drives, commands) in [("raid5", 6, 4.0), ("raid6", 8, 6.0), ("raid50", 8, 4.0)] {
        let rate = result(&parity(level, drives, 512)).workloads[0].iops;
        let most = 10_000.0 * f64::from(drives) / commands;
        assert!(rate <= most * 1.001, "{level}: {rate} of {most}");
        assert!(rate >= most * 0.97, "{level}: {rate} of {most}");
    }
}

/// A full stripe reads nothing: one drive time.
#[test]
fn a_full_stripe_takes_one_drive_time() {
    let mut value = parity("raid5", 5, 1);
    value["workloads"][0]["block_bytes"] = json!(4 * 4096);
    value["workloads"][0]["align_bytes"] = json!(4 * 4096);
    assert_eq!(result(&value).workloads[0].iops, 10_000.0);
    // Three of four units: the fourth is read, then four are written.
    value["workloads"][0]["block_bytes"] = json!(3 * 4096);
    assert_eq!(result(&value).workloads[0].iops, 5000.0);
}

/// The parity engine takes in the new data of full stripes: 16 KiB at 64 KiB/s each 1/4 s.
#[test]
fn the_parity_engine_limits_full_stripes() {
    let mut value = parity("raid5", 5, 8);
    value["workloads"][0]["block_bytes"] = json!(4 * 4096);
    value["workloads"][0]["align_bytes"] = json!(4 * 4096);
    value["controllers"] = json!([{"name": "c", "queue_depth": 0, "cores": 1, "request_ns": 0,
        "command_ns": 0, "parity_bytes_per_s": 16_384_000}]);
    value["arrays"][0]["controller"] = json!(0);
    let rate = result(&value).workloads[0].iops;
    assert!((rate - 1000.0).abs() < 2.0, "{rate}");
}

/// Writes to one stripe of a controller follow each other: the lock lets one change its parity at a
/// time.
#[test]
fn writes_to_one_stripe_run_one_after_the_other() {
    let mut value = parity("raid5", 5, 2);
    value["workloads"][0]["area_bytes"] = json!(2 * 4096);
    value["controllers"] = json!([{"name": "c", "queue_depth": 0, "cores": 1, "request_ns": 0,
        "command_ns": 0}]);
    value["arrays"][0]["controller"] = json!(0);
    let json = printed(&result(&value));
    // Two outstanding, 200 us each, one after the other; only the first did not wait.
    assert_eq!(json["workloads"][0]["iops"], 5000.0);
    let waited = json["workloads"][0]["breakdown_us"]["raid"]
        .as_f64()
        .unwrap();
    assert!((waited - 200.0).abs() < 0.1, "{waited}");
}

/// Reads cost one command each, wherever parity lies.
#[test]
fn reads_use_every_drive() {
    let mut value = parity("raid5", 6, 512);
    value["workloads"][0]["read_share"] = json!(1.0);
    let rate = result(&value).workloads[0].iops;
    assert!((59_000.0..=60_060.0).contains(&rate), "{rate}");
}

/// Behind a controller whose link moves 10,000 units of 4 KiB a second.
fn behind_a_link(level: &str, drives: u32, software: bool) -> Value {
    let mut value = parity(level, drives, 64);
    value["links"] = json!([{"name": "pcie", "bytes_per_s": 40_960_000, "full_duplex": true,
                             "frame_bytes": 0}]);
    value["controllers"] = json!([{"name": "c", "queue_depth": 0, "cores": 1, "request_ns": 0,
        "command_ns": 0, "link": 0}]);
    value["arrays"][0]["controller"] = json!(0);
    value["arrays"][0]["software"] = json!(software);
    for drive in 0..drives as usize {
        value["drives"][drive]["path"] = json!([0]);
    }
    value
}

/// Data cross the host's link once, however many commands they become behind it.
#[test]
fn only_the_hosts_data_cross_the_hosts_link() {
    let rate = result(&behind_a_link("raid5", 6, false)).workloads[0].iops;
    assert!((rate - 10_000.0).abs() < 10.0, "{rate}");
}

/// RAID in the host: new data and parities go down its link, and old ones come up at the same time.
/// A mirror whose drives can fail crosses it twice as one whose drives cannot.
#[test]
fn every_command_of_an_array_in_the_host_crosses_its_link() {
    for (level, drives, share) in [("raid5", 9, 2.0), ("raid6", 9, 3.0), ("raid10", 8, 2.0)] {
        let mut value = behind_a_link(level, drives, true);
        value["devices"][0]["service_ns"] = json!(10_000);
        let at_end = json!([{"at_ns": 900_000_000, "action": "slow_drive", "drive": 0,
                             "extra_ns": 0}]);
        for events in [json!([]), at_end] {
            value["events"] = events;
            let rate = result(&value).workloads[0].iops;
            assert!((rate * share - 10_000.0).abs() < 50.0, "{level}: {rate}");
        }
    }
}

/// Firmware of 3 us a request and 1 us a command, and drives that are no limit. To the controller each
/// command of an array in the host is a request: 4 us; four of them make a small write of RAID 5. Its
/// own RAID 5 takes the request once: 3 + 4 us.
#[test]
fn every_command_of_an_array_in_the_host_is_a_request() {
    let cases = [
        ("raid5", true, 0.0, 16.0),
        ("raid6", true, 0.0, 24.0),
        ("raid10", true, 0.0, 8.0),
        ("raid0", true, 1.0, 4.0),
        ("raid5", false, 0.0, 7.0),
        ("raid10", false, 0.0, 5.0),
    ];
    let at_end = json!([{"at_ns": 900_000_000, "action": "slow_drive", "drive": 0, "extra_ns": 0}]);
    for (level, software, reads, us) in cases {
        for events in [json!([]), at_end.clone()] {
            let mut value = parity(level, 8, 64);
            value["devices"][0]["service_ns"] = json!(1000);
            value["controllers"] = json!([{"name": "c", "queue_depth": 0, "cores": 1,
                "request_ns": 3000, "command_ns": 1000}]);
            value["arrays"][0]["controller"] = json!(0);
            value["arrays"][0]["software"] = json!(software);
            value["workloads"][0]["read_share"] = json!(reads);
            value["events"] = events;
            let rate = result(&value).workloads[0].iops;
            assert!(
                (rate * us / 1e6 - 1.0).abs() < 0.01,
                "{level}, in the host: {software}: {rate}, expected one in {us} us"
            );
        }
    }
}

/// The short path is for what is one command: reads within a unit. Of blocks of half a unit at any
/// eighth of one, three of eight cross into the next: 1 us, or 10 us, and 1 us a command.
#[test]
fn the_short_path_serves_what_is_one_command() {
    let cases = [
        ("raid0", 1.0, (5.0 * 2.0 + 3.0 * 12.0) / 8.0),
        ("raid0", 0.0, (5.0 * 2.0 + 3.0 * 12.0) / 8.0),
        ("raid10", 0.0, (5.0 * 12.0 + 3.0 * 14.0) / 8.0),
    ];
    for (level, reads, us) in cases {
        let mut value = parity(level, 8, 64);
        value["devices"][0]["service_ns"] = json!(1000);
        value["controllers"] = json!([{"name": "c", "queue_depth": 0, "cores": 1,
            "request_ns": 10_000, "command_ns": 1000, "fast_path_request_ns": 2000}]);
        value["arrays"][0]["controller"] = json!(0);
        value["arrays"][0]["fast_path"] = json!(true);
        value["workloads"][0]["read_share"] = json!(reads);
        value["workloads"][0]["block_bytes"] = json!(2048);
        value["workloads"][0]["align_bytes"] = json!(512);
        let rate = result(&value).workloads[0].iops;
        assert!(
            (rate * us / 1e6 - 1.0).abs() < 0.02,
            "{level}, {reads}: {rate}, expected one in {us} us"
        );
    }
}

/// Neither the controller's parity engine nor its memory has to do with an array in the host.
#[test]
fn a_controller_does_no_raid_work_for_the_host() {
    let mut value = behind_a_link("raid5", 5, true);
    value["host"]["parity_bytes_per_s"] = json!(16_384_000);
    value["controllers"][0]["parity_bytes_per_s"] = json!(1);
    value["controllers"][0]["memory_bytes_per_s"] = json!(1);
    // 12 KiB are read and 4 KiB made for each write: 1000 a second.
    let rate = result(&value).workloads[0].iops;
    assert!((rate - 1000.0).abs() < 10.0, "{rate}");
    value["arrays"][0]["cache"] = json!({"write": "write_through", "read_ahead": "none",
                                         "keep_reads": true});
    let faults = format!("{:?}", to_its_end(&plan(&value)));
    assert!(faults.contains("arrays.0.cache"), "{faults}");
}
