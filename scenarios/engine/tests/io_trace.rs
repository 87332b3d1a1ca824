//! The stages of single I/Os: those on the critical path add up to the latency, and observing them
//! changes no result.

use crate::common::{plan, printed, result, stations, to_its_end};
use serde_json::{Value, json};

fn traced(value: &Value, ios: u32) -> Value {
    let mut value = value.clone();
    value["details"] = json!({"trace_ios": ios});
    printed(&result(&value))
}

/// Component, stage, begin and end in microseconds of all stages, critical ones or the others.
fn stages(io: &Value, critical: bool) -> Vec<(String, String, u64, u64)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let us = |value: &Value| value.as_u64().unwrap() / 1000;
    let each = io["stages"].as_array().unwrap().iter();
    each.filter(|stage| stage["critical"] == critical)
        .map(|stage| {
            let span = (us(&stage["begin_ns"]), us(&stage["end_ns"]));
            (
                text(&stage["component"]),
                text(&stage["stage"]),
                span.0,
                span.1,
            )
        })
        .collect()
}

fn named(stages: &[(&str, &str, u64, u64)]) -> Vec<(String, String, u64, u64)> {
    let each = stages.iter();
    each.map(|&(component, stage, begin, end)| (component.into(), stage.into(), begin, end))
        .collect()
}

/// Critical stages follow each other without a gap from the call to the completion.
fn assert_adds_up(io: &Value) {
    let mut at = io["issued_ns"].as_u64().unwrap();
    let end = at + io["latency_ns"].as_u64().unwrap();
    for stage in io["stages"].as_array().unwrap() {
        let span = ["begin_ns", "end_ns"].map(|key| stage[key].as_u64().unwrap());
        assert!(span[0] < span[1] && span[1] <= end, "{stage}");
        if stage["critical"] == true {
            assert_eq!(span[0], at, "{io}");
            at = span[1];
        }
    }
    assert_eq!(at, end, "{io}");
}

fn hosted(mut value: Value) -> Value {
    value["host"]["submit_ns"] = json!(1000);
    value["host"]["complete_ns"] = json!(2000);
    value["duration_ns"] = json!(2_000_000);
    value
}

/// Two I/Os of a thread on a drive of 100 us: the second waits for the thread, then for the drive.
#[test]
fn two_ios_wait_for_each_other_as_computed_by_hand() {
    let mut value = hosted(stations(1, 100_000, "fixed", 1));
    value["workloads"][0]["arrival"]["outstanding"] = json!(2);
    let found = traced(&value, 2);
    let ios = found["workloads"][0]["traced_ios"].as_array().unwrap();
    let (thread, drive) = ("host thread 0", "drive 0");
    let first = [
        (thread, "host", 0, 1),
        (drive, "service", 1, 101),
        (thread, "host", 101, 103),
    ];
    let second = [
        (thread, "host_wait", 0, 1),
        (thread, "host", 1, 2),
        (drive, "queue", 2, 101),
        (drive, "service", 101, 201),
        (thread, "host", 201, 203),
    ];
    assert_eq!(stages(&ios[0], true), named(&first));
    assert_eq!(stages(&ios[1], true), named(&second));
    assert_eq!(ios.len(), 2);
}

/// A small write to RAID 5 reads data and parity beside each other, then writes both.
#[test]
fn a_small_write_has_two_commands_on_its_path_and_two_beside_it() {
    let mut value = hosted(stations(6, 100_000, "fixed", 1));
    value["arrays"][0]["level"] = json!("raid5");
    value["workloads"][0]["read_share"] = json!(0.0);
    let found = traced(&value, 3);
    for io in found["workloads"][0]["traced_ios"].as_array().unwrap() {
        assert_adds_up(io);
        let (path, beside) = (stages(io, true), stages(io, false));
        let served = |stages: &[(String, String, u64, u64)]| {
            let each = stages.iter().filter(|stage| stage.1 == "service");
            each.map(|stage| (stage.2, stage.3)).collect::<Vec<_>>()
        };
        assert_eq!(served(&path).len(), 2);
        assert_eq!(served(&path), served(&beside), "both take 100 us");
        let commands = io["commands"].as_array().unwrap().iter();
        let drives: Vec<_> = commands.filter(|each| each["kind"] == "command").collect();
        let ops: Vec<_> = drives
            .iter()
            .map(|each| each["op"].as_str().unwrap())
            .collect();
        assert_eq!(ops, ["read", "read", "write", "write"]);
        assert_eq!(drives[0]["drive"], drives[2]["drive"]);
    }
}

/// Systems of several kinds: all stages add up, and the results are those of a run without.
#[test]
fn stages_add_up_and_change_nothing() {
    let mut systems = Vec::new();
    let mut raid0 = hosted(stations(4, 100_000, "exponential", 1));
    raid0["workloads"][0]["block_bytes"] = json!(16384);
    raid0["workloads"][0]["arrival"]["outstanding"] = json!(8);
    systems.push(raid0.clone());
    raid0["arrays"][0]["software"] = json!(true);
    raid0["host"]["raid_command_ns"] = json!(500);
    systems.push(raid0.clone());
    let mut linked = hosted(stations(3, 50_000, "exponential", 2));
    let link = |name: &str, rate: u64| json!({"name": name, "bytes_per_s": rate, "full_duplex": true, "frame_bytes": 4096});
    linked["links"] = json!([link("sas", 500_000_000), link("pcie", 900_000_000)]);
    for drive in linked["drives"].as_array_mut().unwrap() {
        drive["path"] = json!([0, 1]);
        drive["queue_depth"] = json!(2);
    }
    linked["workloads"][0]["read_share"] = json!(0.5);
    linked["workloads"][0]["arrival"]["outstanding"] = json!(16);
    systems.push(linked.clone());
    linked["controllers"] = json!([{"name": "c", "queue_depth": 12, "cores": 1,
        "request_ns": 3000, "command_ns": 1000, "link": 1,
        "cache": {"bytes": 1 << 20, "dirty_share": 0.5, "low_share": 0.25,
                  "flush_interval_ns": 1_000_000, "destages_per_drive": 2}}]);
    linked["arrays"][0]["controller"] = json!(0);
    linked["arrays"][0]["level"] = json!("raid5");
    linked["arrays"][0]["cache"] =
        json!({"write": "write_back", "read_ahead": "adaptive", "keep_reads": true});
    systems.push(linked);
    let mut counted = 0;
    for mut value in systems {
        value["duration_ns"] = json!(20_000_000);
        let mut found = traced(&value, 100);
        let ios = found["workloads"][0]
            .as_object_mut()
            .unwrap()
            .remove("traced_ios");
        for io in ios.unwrap().as_array().unwrap() {
            assert_adds_up(io);
            counted += 1;
        }
        assert_eq!(found, printed(&result(&value)));
    }
    assert_eq!(counted, 400, "each run has as many as were asked for");
}

#[test]
fn more_ios_than_fit_the_memory_are_refused_by_name() {
    let mut value = stations(1, 100_000, "fixed", 1);
    value["details"] = json!({"trace_ios": 10_001});
    let refused = format!("{:?}", to_its_end(&plan(&value)).unwrap_err());
    assert!(
        refused.contains("details.trace_ios") && refused.contains("10000"),
        "{refused}"
    );
}
