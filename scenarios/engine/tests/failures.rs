//! Failures and data integrity: small systems, fixed histories.

use crate::common::followed::{REDUNDANT, assert_reported, at, data, followed, mirrored, times};
use crate::common::{printed, result};
use serde_json::{Value, json};

#[test]
fn undisturbed_nothing_is_lost_on_any_level() {
    for (level, drives) in [
        ("raid0", 3),
        ("raid1", 2),
        ("raid10", 4),
        ("raid1e", 3),
        ("raid5", 4),
        ("raid6", 5),
        ("raid50", 6),
        ("raid60", 8),
    ] {
        for write in ["write_through", "write_back"] {
            assert_eq!(
                data(&result(&followed(level, drives, write))),
                (0, 0, 0, 0),
                "{level}"
            );
        }
    }
}

#[test]
fn one_lost_drive_loses_nothing_where_there_is_redundancy() {
    for (level, drives) in REDUNDANT {
        for write in ["write_through", "write_back"] {
            let mut value = followed(level, drives, write);
            value["events"] = json!([at(300, json!({"action": "fail_drive", "drive": 1}))]);
            assert_eq!(data(&result(&value)), (0, 0, 0, 0), "{level} {write}");
        }
    }
}

#[test]
fn two_lost_drives_are_reported_as_loss_and_never_served() {
    let mut value = followed("raid5", 4, "write_through");
    value["events"] = json!([
        at(300, json!({"action": "fail_drive", "drive": 1})),
        at(400, json!({"action": "fail_drive", "drive": 2})),
    ]);
    let (lost, stale, refused, _) = data(&result(&value));
    assert!(lost > 0 && refused > 0);
    assert_eq!(stale, 0);
    value["arrays"][0]["level"] = json!("raid6");
    assert_eq!(data(&result(&value)), (0, 0, 0, 0));
}

#[test]
fn nothing_more_happens_to_a_drive_that_has_failed() {
    let mut value = mirrored(&[(100, "fail_drive", 0), (200, "fail_drive", 0)]);
    let events = value["events"].as_array_mut().expect("a list");
    events.push(at(
        300,
        json!({"action": "slow_drive", "drive": 0, "extra_ns": 1000}),
    ));
    events.push(at(
        400,
        json!({"action": "unreadable_sectors", "drive": 0, "offset_bytes": 0, "bytes": 512}),
    ));
    let result = result(&value);
    assert_eq!(
        times(&result, "nothing more happens to drive 0"),
        [200, 300, 400]
    );
    assert_eq!(times(&result, "drive drive 0"), [100]);
}

#[test]
fn with_a_working_backup_a_power_failure_loses_nothing() {
    for (level, drives) in [("raid1", 2), ("raid10", 4), ("raid5", 4), ("raid6", 5)] {
        let mut value = followed(level, drives, "write_back");
        value["events"] = json!([at(
            500,
            json!({"action": "power_fail", "off_ns": 100_000_000})
        )]);
        let result = result(&value);
        assert!(result.abandoned > 0);
        assert_eq!(data(&result), (0, 0, 0, 0), "{level}");
    }
}

#[test]
fn without_backup_always_write_back_loses_what_was_dirty() {
    let mut value = followed("raid5", 4, "always_write_back");
    value["controllers"][0]["cache"]["hold_ns"] = json!(0);
    // The power fails and stays away: what is lost is what was dirty.
    value["events"] = json!([at(
        500,
        json!({"action": "power_fail", "off_ns": 10_000_000_000_u64})
    )]);
    let (lost, stale, ..) = data(&result(&value));
    assert!(lost > 0);
    assert_eq!(stale, 0);
}

#[test]
fn write_through_without_backup_leaves_a_write_hole_but_loses_no_acknowledged_write() {
    let mut value = followed("raid5", 4, "write_through");
    value["controllers"][0]["cache"]["hold_ns"] = json!(0);
    value["workloads"][0]["read_share"] = json!(0.0);
    value["events"] = json!([at(
        500,
        json!({"action": "power_fail", "off_ns": 10_000_000_000_u64})
    )]);
    let holes: u64 = (1..10)
        .map(|seed| {
            value["seed"] = json!(seed);
            let (lost, stale, _, corrupt) = data(&result(&value));
            assert_eq!((lost, stale), (0, 0));
            corrupt
        })
        .sum();
    assert!(
        holes > 0,
        "nine power failures amid eight writes each left no hole"
    );
}

/// A write that an outage cuts off has reached one copy and not the other, or data and not their
/// parity: a consistency check makes them one again. The load comes in bursts a second apart, of
/// which the outage meets the second; until the end nothing is written over.
#[test]
fn a_consistency_check_repairs_what_an_outage_tore() {
    let fails = at(1006, json!({"action": "power_fail", "off_ns": 100_000_000}));
    let check = at(1200, json!({"action": "consistency_check", "array": 0}));
    for (level, drives) in [
        ("raid1", 2),
        ("raid1", 3),
        ("raid10", 4),
        ("raid1e", 3),
        ("raid5", 4),
        ("raid6", 5),
    ] {
        let mut value = followed(level, drives, "write_through");
        value["controllers"][0]["cache"]["hold_ns"] = json!(0);
        let load = &mut value["workloads"][0];
        load["read_share"] = json!(0.0);
        load["arrival"]["outstanding"] = json!(128);
        load["arrival"]["think_ns"] = json!(1_000_000_000);
        value["duration_ns"] = json!(1_900_000_000);
        let mut torn = 0;
        for seed in 1..6 {
            value["seed"] = json!(seed);
            value["events"] = json!([fails]);
            let (lost, stale, _, corrupt) = data(&result(&value));
            assert_eq!((lost, stale), (0, 0), "{level} of {drives}");
            torn += corrupt;
            value["events"] = json!([fails, check]);
            let checked = result(&value);
            assert_reported(&checked, "consistency check done");
            assert_eq!(data(&checked), (0, 0, 0, 0), "{level} of {drives}");
        }
        assert!(torn > 0, "{level} of {drives}");
    }
}

#[test]
fn a_slow_drive_slows_the_array() {
    let mut value = followed("raid5", 4, "write_through");
    value["events"] = json!([at(
        0,
        json!({"action": "slow_drive", "drive": 1,
                                          "extra_ns": 10_000_000})
    )]);
    let result = result(&value);
    assert_eq!(data(&result), (0, 0, 0, 0));
    let json = printed(&result);
    let p99 = json["workloads"][0]["latency_us"]["p99"].as_f64().unwrap();
    assert!(p99 > 10_000.0, "{p99}");
}

#[test]
fn a_learning_battery_makes_write_back_write_through() {
    let mut value = followed("raid5", 4, "write_back");
    value["workloads"][0]["arrival"] = json!({"kind": "poisson", "per_s": 500.0});
    value["events"] = json!([
        at(
            300,
            json!({"action": "backup_ready", "controller": 0, "ready": false})
        ),
        at(320, json!({"action": "power_fail", "off_ns": 1_000_000})),
    ]);
    assert_eq!(data(&result(&value)).1, 0);
    value["events"].as_array_mut().unwrap().pop();
    let json = printed(&result(&value));
    let p99 = json["workloads"][0]["write"]["latency_us"]["p99"]
        .as_f64()
        .unwrap();
    assert!(p99 > 200.0, "{p99}");
}

/// Drives that report a write complete 20 ms before their media have it.
fn forgetful(level: &str, drives: u32, write: &str) -> Value {
    let mut value = followed(level, drives, write);
    value["devices"][0]["settle_ns"] = json!(20_000_000);
    value["events"] = json!([at(
        500,
        json!({"action": "power_fail", "off_ns": 100_000_000})
    )]);
    value
}

#[test]
fn drives_that_forget_lose_acknowledged_writes_behind_a_working_backup() {
    for (level, drives) in [
        ("raid0", 3),
        ("raid1", 2),
        ("raid10", 4),
        ("raid1e", 3),
        ("raid5", 4),
    ] {
        let result = result(&forgetful(level, drives, "write_back"));
        let report = result.data.unwrap();
        assert!(report.lost_in_drive_caches > 0, "{level}");
        assert_eq!(report.lost_writes, report.lost_in_drive_caches, "{level}");
        assert_eq!(report.stale_reads, 0, "{level}");
    }
}

/// Writes of 4 KiB at 2000 a second to 256 places: what was reported in the 20 ms before the power
/// failed is lost, 40 writes on average; those that a later one of them replaced count once. Of a
/// Poisson number of mean 40 the places are 256 (1 - e^(-40/256)) = 37.03 on average. Over 100
/// seeds the mean has a standard error of 0.56.
#[test]
fn a_drive_on_the_host_forgets_what_it_reported_last() {
    let mut value = forgetful("jbod", 1, "write_through");
    value["controllers"] = json!([]);
    let array = value["arrays"][0].as_object_mut().unwrap();
    array.insert("controller".into(), Value::Null);
    array.remove("cache");
    value["workloads"][0]["read_share"] = json!(0.0);
    value["workloads"][0]["align_bytes"] = json!(4096);
    value["workloads"][0]["arrival"] = json!({"kind": "poisson", "per_s": 2000.0});
    value["duration_ns"] = json!(700_000_000);
    let mut lost = 0;
    for seed in 1..=100 {
        value["seed"] = json!(seed);
        let report = result(&value).data.unwrap();
        lost += report.lost_in_drive_caches;
        assert_eq!((report.stale_reads, report.refused_reads), (0, 0));
    }
    let expected = 256.0 * (1.0 - (-40.0_f64 / 256.0).exp());
    let mean = lost as f64 / 100.0;
    assert!(
        (mean / expected - 1.0).abs() < 0.04,
        "{mean} is not {expected}"
    );
    value["devices"][0]["settle_ns"] = json!(0);
    assert_eq!(result(&value).data.unwrap().lost_writes, 0);
}
