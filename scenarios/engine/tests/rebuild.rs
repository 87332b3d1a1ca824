//! Rebuild, copyback and spares: small systems, fixed histories.

use crate::common::followed::{REDUNDANT, assert_reported, at, data, followed, mirrored, times};
use crate::common::{printed, result};
use serde_json::{Value, json};

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
    assert_reported(&result, "rebuild done");
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
    assert_reported(&result, "copyback done");
    assert_eq!(data(&result), (0, 0, 0, 0));
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
    assert_reported(&result, &format!("copyback done after {took:.1} s"));
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
        let reported = result(&value);
        let begins = times(&reported, "rebuild on drive 2 begins");
        assert!((200..=205).contains(&begins[0]), "{:?}", reported.log);
        assert_eq!(
            times(&reported, &format!("{name} of data suspended")),
            [200]
        );
        let resumed = times(&reported, &format!("{name} of data goes on"));
        assert_eq!(resumed, times(&reported, "rebuild done"));
        let done = times(&reported, &format!("{name} done"))[0];
        assert_eq!(data(&reported), (0, 0, 0, 0));
        // What it had done before counts.
        value["events"].as_array_mut().expect("a list").truncate(1);
        let alone = times(&result(&value), &format!("{name} done"))[0] - 10;
        let left = done - resumed[0];
        assert!(left < alone - 100, "{name}: {left} of {alone}");
    }
}

/// The pause of a running check, a hundred times as long as its step, is cut short.
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
fn the_load_is_reported_from_event_to_event() {
    let mut value = followed("raid5", 5, "write_through");
    value["arrays"][0]["drives"] = json!([0, 1, 2, 3]);
    value["arrays"][0]["spares"] = json!([4]);
    value["arrays"][0]["background_share"] = json!(1.0);
    value["duration_ns"] = json!(5_000_000_000_u64);
    value["after_rebuild_ns"] = json!(100_000_000);
    value["events"] = json!([at(200, json!({"action": "fail_drive", "drive": 1}))]);
    let result = result(&value);
    let load = &result.workloads[0];
    let reported: Vec<&str> = load.periods.iter().map(|p| p.what.as_str()).collect();
    assert_eq!(reported.len(), 3, "{reported:?}");
    assert_eq!(reported[0], "the run begins");
    assert!(reported[1].contains("failed; rebuild on") && reported[2].starts_with("rebuild done"));
    assert_eq!(load.periods.iter().map(|p| p.ios).sum::<u64>(), load.ios);
    // The run ends a tenth of a second after the rebuild.
    let after = &load.periods[2];
    assert!((after.to_s - after.from_s - 0.1).abs() < 0.01, "{after:?}");
    let mean = |at: usize| {
        printed(&result)["workloads"][0]["periods"][at]["latency_us"]["mean"]
            .as_f64()
            .unwrap()
    };
    assert!(mean(1) > mean(0) && mean(1) > mean(2));
}

/// Nobody uses the array after the rebuild: the run ends all the same, to the nanosecond.
#[test]
fn a_run_ends_with_its_rebuild_whether_the_array_is_used_or_not() {
    let mut value = followed("raid5", 5, "write_through");
    value["arrays"][0]["drives"] = json!([0, 1, 2, 3]);
    value["arrays"][0]["spares"] = json!([4]);
    value["workloads"][0]["arrival"] = json!({"kind": "poisson", "per_s": 0.001});
    value["duration_ns"] = json!(5_000_000_000_u64);
    value["after_rebuild_ns"] = json!(100_000_000);
    value["events"] = json!([at(200, json!({"action": "fail_drive", "drive": 1}))]);
    let result = result(&value);
    let done = result
        .log
        .iter()
        .find(|entry| entry.what.starts_with("rebuild done"));
    let quiet = result.workloads[0].periods.last().expect("a period");
    assert!(
        (quiet.to_s - done.expect("it ends").t_s - 0.1).abs() < 1e-9,
        "{quiet:?}"
    );
}

/// 8 MiB at 4 MiB/s are 2 s, of which the last half second's part may come ahead of its pace. Without
/// a limit the drives take a tenth of it.
#[test]
fn a_rebuild_keeps_to_its_pace() {
    let mut value = mirrored(&[(100, "fail_drive", 0)]);
    value["duration_ns"] = json!(4_000_000_000_u64);
    let took = |value: &Value| {
        let result = result(value);
        let begun = times(&result, "rebuild on drive 2 begins")[0];
        times(&result, "rebuild done")[0] - begun
    };
    let free = took(&value);
    value["arrays"][0]["background_bytes_per_s"] = json!(4 << 20);
    let limited = took(&value);
    assert!(
        free < 700 && (1490..=2010).contains(&limited),
        "{free} {limited}"
    );
}

/// What is done when recording begins and when it ends gives the rate between both.
#[test]
fn progress_at_both_ends_of_the_recording_is_reported() {
    let mut value = mirrored(&[(100, "fail_drive", 0)]);
    value["arrays"][0]["background_bytes_per_s"] = json!(4 << 20);
    value["warm_up_ns"] = json!(600_000_000);
    value["duration_ns"] = json!(1_000_000_000);
    let result = result(&value);
    let ([before], [after]) = (&result.rebuilding_before[..], &result.rebuilding[..]) else {
        panic!("{:?} {:?}", result.rebuilding_before, result.rebuilding);
    };
    // 4 MiB of 8 MiB in a second, within a burst of half a second.
    assert!((after - before - 0.5).abs() <= 0.25, "{before} {after}");
}
