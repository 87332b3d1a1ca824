//! Failures and the data's fate: small systems, known histories.

mod common;

use common::{result, stations};
use raidlab_engine::report::RunResult;
use serde_json::{Value, json};

/// Drives of 100 us over 1 MiB each, units of 4 KiB, half of the I/Os writes, data followed.
fn followed(level: &str, drives: u32, write: &str) -> Value {
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

fn at(ms: u64, action: Value) -> Value {
    let mut event = action;
    event["at_ns"] = json!(ms * 1_000_000);
    event
}

fn data(result: &RunResult) -> (u64, u64, u64, u64) {
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
fn assert_told(result: &RunResult, beginning: &str) {
    let mut log = result.log.iter();
    assert!(
        log.any(|entry| entry.what.starts_with(beginning)),
        "{:?}",
        result.log
    );
}

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

/// Levels that bear the loss of a drive, each with a number of drives.
const REDUNDANT: [(&str, u32); 5] = [
    ("raid1", 2),
    ("raid10", 4),
    ("raid1e", 3),
    ("raid5", 4),
    ("raid6", 5),
];

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
fn a_spare_takes_over_and_then_another_drive_may_fail() {
    let mut value = followed("raid5", 5, "write_back");
    value["arrays"][0]["background_share"] = json!(1.0);
    value["arrays"][0]["drives"] = json!([0, 1, 2, 3]);
    value["arrays"][0]["spares"] = json!([4]);
    value["events"] = json!([
        at(100, json!({"action": "fail_drive", "drive": 1})),
        at(900, json!({"action": "fail_drive", "drive": 2})),
    ]);
    let result = result(&value);
    assert_told(&result, "rebuild done");
    assert_eq!(data(&result), (0, 0, 0, 0));
}

#[test]
fn the_replaced_drive_gets_its_data_back_from_the_spare() {
    let mut value = followed("raid5", 5, "write_back");
    value["arrays"][0]["drives"] = json!([0, 1, 2, 3]);
    value["arrays"][0]["spares"] = json!([4]);
    value["arrays"][0]["background_share"] = json!(1.0);
    value["duration_ns"] = json!(2_000_000_000_u64);
    value["events"] = json!([
        at(100, json!({"action": "fail_drive", "drive": 1})),
        at(900, json!({"action": "replace_drive", "drive": 1})),
        at(1800, json!({"action": "fail_drive", "drive": 2})),
    ]);
    let result = result(&value);
    assert_told(&result, "copyback done");
    assert_eq!(data(&result), (0, 0, 0, 0));
}

/// A mirror of two drives of 8 MiB with a spare: a rebuild takes a quarter of a second.
fn mirrored(ms: &[(u64, &str, u32)]) -> Value {
    let mut value = followed("raid1", 3, "write_through");
    value["devices"][0]["capacity_bytes"] = json!(8 << 20);
    value["arrays"][0]["drives"] = json!([0, 1]);
    value["arrays"][0]["spares"] = json!([2]);
    value["arrays"][0]["background_share"] = json!(1.0);
    let event = |&(ms, action, drive)| at(ms, json!({"action": action, "drive": drive}));
    value["events"] = json!(ms.iter().map(event).collect::<Vec<_>>());
    value
}

/// When the log has entries that begin so, in ms.
fn times(result: &RunResult, beginning: &str) -> Vec<u64> {
    let told = result.log.iter();
    let told = told.filter(|entry| entry.what.starts_with(beginning));
    told.map(|entry| (entry.t_s * 1e3).round() as u64).collect()
}

#[test]
fn a_rebuild_that_has_lost_its_source_is_given_up_as_far_as_it_is() {
    let result = result(&mirrored(&[(100, "fail_drive", 0), (200, "fail_drive", 1)]));
    assert_eq!(
        times(&result, "rebuild on drive 2 given up after 0.1 s"),
        [200]
    );
    assert!(
        times(&result, "rebuild done").is_empty(),
        "{:?}",
        result.log
    );
    let [share] = result.rebuilding[..] else {
        panic!("{:?}", result.rebuilding);
    };
    assert!(share > 0.0 && share < 1.0, "{share}");
}

#[test]
fn an_array_that_is_offline_begins_nothing() {
    let mut value = mirrored(&[(100, "fail_drive", 0), (200, "fail_drive", 1)]);
    let events = value["events"].as_array_mut().expect("a list");
    events.push(at(250, json!({"action": "replace_drive", "drive": 1})));
    events.push(at(300, json!({"action": "patrol_read", "array": 0})));
    let result = result(&value);
    assert_eq!(times(&result, "nothing to rebuild drive 1 from"), [250]);
    assert_eq!(times(&result, "no patrol read of data"), [300]);
    assert!(times(&result, "patrol read").is_empty());
}

/// A drive that is replaced while its spare is still being rebuilt is copied back afterwards, and
/// that is as long as it takes alone.
#[test]
fn a_copyback_begins_when_the_rebuild_is_done() {
    let mut value = mirrored(&[(100, "fail_drive", 0), (101, "replace_drive", 0)]);
    value["workloads"][0]["arrival"] = json!({"kind": "poisson", "per_s": 10.0});
    let result = result(&value);
    let rebuilt = times(&result, "rebuild done");
    assert_eq!(times(&result, "copyback to drive 0 begins"), rebuilt);
    let took = (times(&result, "copyback done")[0] - rebuilt[0]) as f64 / 1e3;
    assert_told(&result, &format!("copyback done after {took:.1} s"));
    assert!(rebuilt[0] > 250 && took > 0.15, "{:?}", result.log);
}

/// A drive takes 100 us for each of its 2048 units. Whatever is read for a row is read side by side, and
/// rows are read while others are written: a whole drive takes 0.2048 s, and the last row's write. One
/// after the other it would be twice as long.
#[test]
fn an_idle_array_is_rebuilt_and_copied_back_as_fast_as_a_drive_goes() {
    for (level, drives) in REDUNDANT {
        let mut value = followed(level, drives + 1, "write_through");
        value["devices"][0]["capacity_bytes"] = json!(8 << 20);
        value["arrays"][0]["drives"] = json!((0..drives).collect::<Vec<_>>());
        value["arrays"][0]["spares"] = json!([drives]);
        value["arrays"][0]["background_share"] = json!(0.1);
        value["workloads"][0]["arrival"] = json!({"kind": "poisson", "per_s": 0.001});
        value["events"] = json!([
            at(100, json!({"action": "fail_drive", "drive": 0})),
            at(500, json!({"action": "replace_drive", "drive": 0})),
        ]);
        let result = result(&value);
        let rebuilt = times(&result, "rebuild done")[0];
        let copied = times(&result, "copyback done")[0];
        assert!((305..=310).contains(&rebuilt), "{level} {rebuilt}");
        assert!((705..=710).contains(&copied), "{level} {copied}");
    }
}

/// Replaced before or after it is wanted.
#[test]
fn a_spare_that_is_replaced_is_a_spare_again() {
    for [fails, replaced] in [[250, 200], [150, 250]] {
        let mut value = mirrored(&[
            (100, "fail_drive", 2),
            (fails, "fail_drive", 0),
            (replaced, "replace_drive", 2),
        ]);
        value["events"]
            .as_array_mut()
            .unwrap()
            .sort_by_key(|event| event["at_ns"].as_u64());
        value["duration_ns"] = json!(3_000_000_000_u64);
        let result = result(&value);
        assert_eq!(times(&result, "rebuild on drive 2 begins"), [250]);
        assert_eq!(times(&result, "rebuild done").len(), 1);
        assert_eq!(data(&result), (0, 0, 0, 0));
    }
}

#[test]
fn a_drive_whose_spare_has_failed_too_is_rebuilt_when_it_is_replaced() {
    let mut value = mirrored(&[
        (50, "fail_drive", 0),
        (2000, "fail_drive", 2),
        (2100, "replace_drive", 0),
    ]);
    value["duration_ns"] = json!(4_000_000_000_u64);
    let result = result(&value);
    assert_eq!(times(&result, "rebuild on drive 0 begins"), [2100]);
    assert_eq!(times(&result, "rebuild done").len(), 2);
    assert_eq!(data(&result), (0, 0, 0, 0));
}

/// A third copy waits for the one spare until that is free.
#[test]
fn a_spare_that_is_free_again_takes_the_place_that_still_waits() {
    let mut value = mirrored(&[
        (50, "fail_drive", 0),
        (60, "fail_drive", 1),
        (70, "replace_drive", 0),
    ]);
    value["drives"]
        .as_array_mut()
        .unwrap()
        .push(json!({"name": "drive 3", "device": 0, "queue_depth": 0, "path": []}));
    value["devices"][0]["capacity_bytes"] = json!(2 << 20);
    value["arrays"][0]["drives"] = json!([0, 1, 2]);
    value["arrays"][0]["spares"] = json!([3]);
    let result = result(&value);
    let freed = times(&result, "copyback done");
    let begins = times(&result, "rebuild on drive 3 begins");
    assert_eq!(begins, [50, freed[0]]);
    assert_eq!(data(&result), (0, 0, 0, 0));
}

/// A rebuild does not wait for a patrol read or a check, which goes on where it was.
#[test]
fn a_rebuild_comes_before_what_looks_for_faults() {
    for (action, name) in [
        ("patrol_read", "patrol read"),
        ("consistency_check", "consistency check"),
    ] {
        let mut value = mirrored(&[(200, "fail_drive", 0)]);
        value["duration_ns"] = json!(6_000_000_000_u64);
        let events = value["events"].as_array_mut().expect("a list");
        events.insert(0, at(10, json!({"action": action, "array": 0})));
        let told = result(&value);
        let begins = times(&told, "rebuild on drive 2 begins");
        assert!((200..=205).contains(&begins[0]), "{:?}", told.log);
        assert_eq!(times(&told, &format!("{name} of data suspended")), [200]);
        let resumed = times(&told, &format!("{name} of data goes on"));
        assert_eq!(resumed, times(&told, "rebuild done"));
        let done = times(&told, &format!("{name} done"))[0];
        assert_eq!(data(&told), (0, 0, 0, 0));
        // What it had done before counts.
        value["events"].as_array_mut().expect("a list").truncate(1);
        let alone = times(&result(&value), &format!("{name} done"))[0] - 10;
        let left = done - resumed[0];
        assert!(left < alone - 100, "{name}: {left} of {alone}");
    }
}

/// The pause of a check under way, a hundred times as long as its step, is cut short.
#[test]
fn a_rebuild_does_not_wait_for_the_hosts_share() {
    let mut value = mirrored(&[(300, "fail_drive", 0)]);
    value["arrays"][0]["background_share"] = json!(0.01);
    let events = value["events"].as_array_mut().expect("a list");
    events.insert(
        0,
        at(10, json!({"action": "consistency_check", "array": 0})),
    );
    let begins = times(&result(&value), "rebuild on drive 2 begins");
    assert!((300..=303).contains(&begins[0]), "{begins:?}");
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
fn a_consistency_check_mends_what_an_outage_tore() {
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
            assert_told(&checked, "consistency check done");
            assert_eq!(data(&checked), (0, 0, 0, 0), "{level} of {drives}");
        }
        assert!(torn > 0, "{level} of {drives}");
    }
}

#[test]
fn unreadable_sectors_are_computed_and_repaired() {
    let mut value = followed("raid5", 4, "write_through");
    let bad = |ms, drive| {
        at(
            ms,
            json!({"action": "unreadable_sectors", "drive": drive, "offset_bytes": 8192,
                      "bytes": 65_536}),
        )
    };
    value["duration_ns"] = json!(4_000_000_000_u64);
    value["events"] = json!([
        bad(100, 1),
        at(200, json!({"action": "patrol_read", "array": 0}))
    ]);
    let mended = result(&value);
    assert_told(&mended, "patrol read done");
    assert_eq!(data(&mended), (0, 0, 0, 0));
    // Repaired in time, a drive may fail; not repaired, it may not.
    let fail = at(3500, json!({"action": "fail_drive", "drive": 2}));
    value["events"].as_array_mut().unwrap().push(fail.clone());
    assert_eq!(data(&result(&value)), (0, 0, 0, 0));
    value["workloads"][0]["read_share"] = json!(0.9);
    value["events"] = json!([bad(3400, 1), fail]);
    assert!(data(&result(&value)).2 > 0);
}

/// What nobody has read yet is as lost as what somebody has: nearly all of the drive's 2048
/// sectors are written when it becomes unreadable, with no time left for a read. Redundancy saves
/// them as long as there is some: a mirror until its other drive fails.
#[test]
fn sectors_that_nobody_has_met_are_lost_too() {
    let unreadable = json!({"action": "unreadable_sectors", "drive": 1, "offset_bytes": 0,
        "bytes": 1 << 20});
    let events = [
        at(1000, unreadable),
        at(1000, json!({"action": "fail_drive", "drive": 0})),
    ];
    for (level, drives, most) in [("jbod", 2, 2048), ("raid0", 2, 2048), ("raid1", 2, 0)] {
        let mut value = followed(level, drives, "write_through");
        let area = if level == "raid1" { 1 } else { drives };
        value["workloads"][0]["area_bytes"] = json!(area << 20);
        value["events"] = json!([events[0]]);
        let alone = result(&value).data.expect("data were followed");
        assert!(alone.lost_sectors <= most, "{level} {alone:?}");
        assert_eq!(alone.lost_sectors > 1000, most > 0, "{level} {alone:?}");
        assert_eq!(alone.lost_writes > 100, most > 0, "{level} {alone:?}");
        value["events"] = json!(events);
        let both = result(&value).data.expect("data were followed");
        assert!(
            both.lost_writes > 100 && both.lost_sectors > 1000,
            "{level} {both:?}"
        );
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
    let json = serde_json::to_value(result).unwrap();
    let p99 = json["workloads"][0]["latency_us"]["p99"].as_f64().unwrap();
    assert!(p99 > 10_000.0, "{p99}");
}

#[test]
fn a_learning_battery_turns_write_back_into_write_through() {
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
    let json = serde_json::to_value(result(&value)).unwrap();
    let p99 = json["workloads"][0]["write"]["latency_us"]["p99"]
        .as_f64()
        .unwrap();
    assert!(p99 > 200.0, "{p99}");
}

/// Drives that tell a write to be complete 20 ms before their media have it.
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

/// Writes of 4 KiB at a known rate: what was told in the 20 ms before the power failed is lost.
#[test]
fn a_drive_on_the_host_forgets_what_it_told_last() {
    let mut value = forgetful("jbod", 1, "write_through");
    value["controllers"] = json!([]);
    let array = value["arrays"][0].as_object_mut().unwrap();
    array.insert("controller".into(), Value::Null);
    array.remove("cache");
    value["workloads"][0]["read_share"] = json!(0.0);
    value["workloads"][0]["align_bytes"] = json!(4096);
    value["workloads"][0]["arrival"] = json!({"kind": "poisson", "per_s": 2000.0});
    let report = result(&value).data.unwrap();
    // 40 on average, some of them replaced by later ones among them: 256 places.
    assert!(
        (15..60).contains(&report.lost_in_drive_caches),
        "{report:?}"
    );
    assert_eq!((report.stale_reads, report.refused_reads), (0, 0));
    value["devices"][0]["settle_ns"] = json!(0);
    assert_eq!(result(&value).data.unwrap().lost_writes, 0);
}

#[test]
fn the_load_is_told_from_event_to_event() {
    let mut value = followed("raid5", 5, "write_through");
    value["arrays"][0]["drives"] = json!([0, 1, 2, 3]);
    value["arrays"][0]["spares"] = json!([4]);
    value["arrays"][0]["background_share"] = json!(1.0);
    value["duration_ns"] = json!(5_000_000_000_u64);
    value["after_rebuild_ns"] = json!(100_000_000);
    value["events"] = json!([at(200, json!({"action": "fail_drive", "drive": 1}))]);
    let result = result(&value);
    let load = &result.workloads[0];
    let told: Vec<&str> = load.periods.iter().map(|p| p.what.as_str()).collect();
    assert_eq!(told.len(), 3, "{told:?}");
    assert_eq!(told[0], "the run begins");
    assert!(told[1].contains("failed; rebuild on") && told[2].starts_with("rebuild done"));
    assert_eq!(load.periods.iter().map(|p| p.ios).sum::<u64>(), load.ios);
    // The run ends a tenth of a second after the rebuild.
    let after = &load.periods[2];
    assert!((after.to_s - after.from_s - 0.1).abs() < 0.01, "{after:?}");
    let mean = |at: usize| {
        let period = serde_json::to_value(&load.periods[at]).unwrap();
        period["latency_us"]["mean"].as_f64().unwrap()
    };
    assert!(mean(1) > mean(0) && mean(1) > mean(2));
}
