//! Failures of an SSD cache, and data integrity: small systems, fixed histories.

use crate::common::bench::{Bench, reported};
use crate::common::{plan, result, stations};
use raidlab_engine::Simulation;
use raidlab_engine::io::{ByteRange, Op};
use raidlab_engine::kernel::Nanos;
use raidlab_engine::plan::Action;
use raidlab_engine::report::RunResult;
use serde_json::{Value, json};

const UNIT: u64 = 4096;

/// An array of drives of 100 us, 1 MiB each, and over it an SSD cache of drives of 20 us; a
/// controller without a memory of its own. A line comes to the cache with the first access to it.
fn with_ssd_cache(array: (&str, u32), cache: (&str, u32), write_back: bool) -> Value {
    let (level, drives) = array;
    let columns = if level == "raid5" {
        u64::from(drives) - 1
    } else {
        1
    };
    let mut value = stations(drives + cache.1, 100_000, "fixed", 1);
    value["devices"][0]["capacity_bytes"] = json!(1 << 20);
    let mut fast = value["devices"][0].clone();
    fast["service_ns"] = json!(20_000);
    fast["capacity_bytes"] = json!(64 * columns * UNIT);
    value["devices"].as_array_mut().expect("a list").push(fast);
    for drive in drives..drives + cache.1 {
        value["drives"][drive as usize]["device"] = json!(1);
    }
    value["controllers"] = json!([{"name": "c", "queue_depth": 0, "cores": 1, "request_ns": 1000,
        "command_ns": 0}]);
    let own = &mut value["arrays"][0];
    own["level"] = json!(level);
    own["controller"] = json!(0);
    own["drives"] = json!((0..drives).collect::<Vec<_>>());
    own["tier"] = json!({"array": 1, "write_back": write_back, "promote_after": 1,
        "half_life_ns": 1_000_000_000, "dirty_share": 1.0, "copies_at_once": 8, "warm": false});
    let above = json!({"name": "tier", "level": cache.0, "stripe_unit_bytes": columns * UNIT,
        "drives": (drives..drives + cache.1).collect::<Vec<_>>(), "controller": 0,
        "software": false});
    value["arrays"].as_array_mut().expect("a list").push(above);
    value["workloads"] = json!([]);
    value["data"] = json!(true);
    value
}

/// That array with eight random I/Os of 4 KiB in work for a second, half of them writes.
fn loaded(array: (&str, u32), cache: (&str, u32), write_back: bool, events: Value) -> Value {
    let mut value = with_ssd_cache(array, cache, write_back);
    let load = json!({"name": "load", "array": 0, "threads": 1, "access": "random",
        "read_share": 0.5, "block_bytes": UNIT, "align_bytes": 512, "area_start_bytes": 0,
        "area_bytes": 1 << 19,
        "arrival": {"kind": "closed", "outstanding": 8, "think_ns": 0}});
    value["workloads"] = json!([load]);
    value["duration_ns"] = json!(1_000_000_000);
    value["events"] = events;
    value
}

fn at(ms: u64, mut action: Value) -> Value {
    action["at_ns"] = json!(ms * 1_000_000);
    action
}

fn fail(drive: u32) -> Value {
    json!({"action": "fail_drive", "drive": drive})
}

/// Lost writes, stale reads, refused reads, corrupt stripes.
fn data(result: &RunResult) -> (u64, u64, u64, u64) {
    let data = result.data.expect("data were followed");
    assert!(data.acknowledged_writes > 100);
    reported(&data)
}

/// A read at 500 us makes its line hot: read from the disk until 600, it is on the SSD at 620. A
/// write of the line at any time around that (two drive times on RAID 5) must not be missing
/// from what is read of it later, nor from what a second write makes dirty.
#[test]
fn a_write_beside_the_copy_of_its_line_is_not_missing_there() {
    for (array, write_back) in [
        (("raid0", 1), false),
        (("raid0", 1), true),
        (("raid5", 3), false),
        (("raid5", 3), true),
    ] {
        for write_at in (0..1200).step_by(10) {
            let mut bench = Bench::new(&with_ssd_cache(array, ("raid0", 1), write_back));
            let mut steps = [(500, Op::Read, 0), (write_at, Op::Write, 2)];
            steps.sort_by_key(|&(us, ..)| us);
            for (us, op, sector) in steps {
                bench.submit(us, op, sector, 1);
            }
            bench.submit(2000, Op::Read, 0, 8);
            bench.submit(3000, Op::Write, 5, 1);
            bench.submit(4000, Op::Read, 0, 8);
            bench.until(6000);
            let data = bench.data();
            assert_eq!(
                (reported(&data), data.lost_sectors),
                ((0, 0, 0, 0), 0),
                "{array:?} {write_at}"
            );
            assert_eq!(data.acknowledged_writes, 2);
        }
    }
}

/// Two lines are brought to one SSD, one of them is written there. When the SSD fails that write
/// is lost and its line refused, sector by sector until it is written over; the other line is read
/// from the disk.
#[test]
fn a_failed_ssd_takes_what_was_dirty_there_alone() {
    let mut bench = Bench::new(&with_ssd_cache(("raid0", 1), ("raid0", 1), true));
    bench.submit(0, Op::Write, 8, 1);
    for (us, op, sector) in [
        (1000, Op::Read, 0),
        (1000, Op::Read, 8),
        (2000, Op::Write, 3),
    ] {
        bench.submit(us, op, sector, 1);
    }
    bench.happens(3000, Action::FailDrive { drive: 1 });
    assert_eq!(reported(&bench.data()), (1, 0, 0, 0));
    bench.submit(4000, Op::Read, 8, 1);
    bench.submit(4000, Op::Read, 3, 1);
    bench.submit(5000, Op::Write, 3, 1);
    bench.submit(6000, Op::Read, 3, 1);
    bench.submit(6000, Op::Read, 4, 1);
    bench.until(7000);
    let data = bench.data();
    // Refused: sector 3 before it was written again, sector 4, of which nothing newer came.
    assert_eq!((reported(&data), data.lost_sectors), ((1, 0, 2, 0), 0));
}

/// A read and a write that are in flight to an SSD when it fails (2010 us) go to the disk.
#[test]
fn what_is_on_its_way_to_a_failed_ssd_goes_to_the_disk() {
    let mut bench = Bench::new(&with_ssd_cache(("raid0", 1), ("raid0", 1), true));
    for line in [0, 8] {
        bench.submit(0, Op::Read, line, 8);
    }
    bench.submit(2000, Op::Write, 8, 8);
    bench.submit(2001, Op::Read, 0, 8);
    bench.happens(2010, Action::FailDrive { drive: 1 });
    bench.submit(3000, Op::Read, 8, 8);
    bench.until(4000);
    let data = bench.data();
    assert_eq!(
        (reported(&data), data.lost_sectors, data.acknowledged_writes),
        ((0, 0, 0, 0), 0, 1)
    );
}

/// One unreadable sector of a dirty line costs the line, of a clean one nothing.
#[test]
fn an_unreadable_sector_of_the_ssd_cache_costs_a_dirty_line_alone() {
    for (written, expected) in [(false, (0, 0, 0, 0)), (true, (1, 0, 2, 0))] {
        let mut bench = Bench::new(&with_ssd_cache(("raid0", 1), ("raid0", 1), true));
        bench.submit(0, Op::Read, 0, 8);
        if written {
            bench.submit(1000, Op::Write, 2, 1);
        }
        bench.happens(
            2000,
            Action::UnreadableSectors {
                drive: 1,
                offset_bytes: 0,
                bytes: 512,
            },
        );
        bench.submit(3000, Op::Read, 0, 1);
        bench.submit(4000, Op::Read, 0, 8);
        bench.until(5000);
        assert_eq!(reported(&bench.data()), expected);
    }
}

/// A line that has gone from the memory to the SSD and is dirty there alone is still in the memory
/// when the SSD fails, or has become unreadable: it goes to the disk, as an outage shows in which the
/// memory loses everything. Without that the write would be lost.
#[test]
fn what_the_memory_has_of_a_lost_line_goes_to_the_disk() {
    let unreadable = Action::UnreadableSectors {
        drive: 1,
        offset_bytes: 0,
        bytes: 4096,
    };
    for loss in [Action::FailDrive { drive: 1 }, unreadable] {
        let mut value = with_ssd_cache(("raid0", 1), ("raid0", 1), true);
        value["controllers"][0]["cache"] = json!({"bytes": 1 << 18, "dirty_share": 0.5,
            "low_share": 0.5, "flush_interval_ns": 1_000_000, "destages_per_drive": 4,
            "hold_ns": 0});
        value["arrays"][0]["cache"] = json!({"write": "always_write_back", "read_ahead": "none",
            "keep_reads": false});
        let mut bench = Bench::new(&value);
        bench.submit(0, Op::Read, 0, 8);
        bench.submit(1000, Op::Write, 0, 4);
        bench.happens(4000, loss);
        // Not in memory: the SSD is asked, or it has failed.
        bench.submit(5000, Op::Read, 4, 4);
        assert_eq!(bench.data().lost_writes, 0);
        bench.happens(
            8000,
            Action::PowerFail {
                off_ns: Nanos(1000),
            },
        );
        bench.submit(9000, Op::Read, 0, 4);
        bench.until(10_000);
        let data = bench.data();
        assert_eq!((reported(&data), data.lost_sectors), ((0, 0, 1, 0), 0));
    }
}

/// A sector of a dirty line that cannot be read is lost before anybody has met it, unless the
/// mirror has it.
#[test]
fn an_unreadable_sector_of_the_ssd_cache_is_lost_unread_if_no_copy_is_left() {
    for (cache, fails, lost) in [
        (("raid0", 1), false, 1),
        (("raid1", 2), false, 0),
        (("raid1", 2), true, 1),
    ] {
        let mut bench = Bench::new(&with_ssd_cache(("raid0", 1), cache, true));
        bench.submit(0, Op::Read, 0, 8);
        bench.submit(1000, Op::Write, 2, 1);
        let unreadable = Action::UnreadableSectors {
            drive: 1,
            offset_bytes: 0,
            bytes: 4096,
        };
        bench.happens(2000, unreadable);
        if fails {
            bench.happens(2000, Action::FailDrive { drive: 2 });
        }
        bench.until(3000);
        let data = bench.data();
        assert_eq!(
            (data.lost_writes, data.lost_sectors),
            (lost, lost),
            "{cache:?} {fails}"
        );
    }
}

#[test]
fn a_mirrored_ssd_cache_loses_nothing_with_a_drive_and_is_rebuilt() {
    for (level, drives) in [("raid1", 2), ("raid1e", 3)] {
        let replace = json!({"action": "replace_drive", "drive": 3});
        let events = json!([at(300, fail(3)), at(500, replace)]);
        let result = result(&loaded(("raid5", 3), (level, drives), true, events));
        assert_eq!(data(&result), (0, 0, 0, 0), "{level}");
        assert!(
            result
                .log
                .iter()
                .any(|entry| entry.what.starts_with("rebuild done"))
        );
    }
}

#[test]
fn a_striped_ssd_cache_loses_dirty_lines_and_one_for_reads_nothing() {
    let events = json!([at(300, fail(3))]);
    let read = result(&loaded(("raid5", 3), ("raid0", 2), false, events.clone()));
    assert_eq!(data(&read), (0, 0, 0, 0));
    let back = result(&loaded(("raid5", 3), ("raid0", 2), true, events));
    let (lost, stale, refused, corrupt) = data(&back);
    assert!(lost > 10 && refused > 0);
    assert_eq!((stale, corrupt), (0, 0));
    let reported = "array data: ";
    assert!(
        back.log
            .iter()
            .any(|e| e.what.starts_with(reported) && e.what.ends_with("are lost"))
    );
}

/// A disk fails under the SSD cache and its spare is rebuilt: what the cache has is served from
/// there, the rest is computed, and lines are promoted and written back meanwhile.
#[test]
fn a_disk_fails_under_an_ssd_cache() {
    for write_back in [false, true] {
        let mut value = loaded(
            ("raid5", 3),
            ("raid1", 2),
            write_back,
            json!([at(300, fail(1))]),
        );
        value["arrays"][0]["tier"]["dirty_share"] = json!(0.1);
        let spare = json!({"name": "spare", "device": 0, "queue_depth": 0, "path": []});
        value["drives"].as_array_mut().expect("a list").push(spare);
        value["arrays"][0]["spares"] = json!([5]);
        let result = result(&value);
        assert_eq!(data(&result), (0, 0, 0, 0));
        assert!(
            result
                .log
                .iter()
                .any(|entry| entry.what.starts_with("rebuild done"))
        );
    }
}

/// Without a memory of the controller a write is reported to be complete when it is on the SSDs, and
/// those preserve it, with the map of the SSD cache.
#[test]
fn dirty_lines_outlive_an_outage() {
    let power = json!([at(
        300,
        json!({"action": "power_fail", "off_ns": 50_000_000})
    )]);
    for cache in [("raid0", 2), ("raid1", 2)] {
        let value = loaded(("raid0", 2), cache, true, power.clone());
        let (lost, stale, refused, _) = data(&result(&value));
        assert_eq!((lost, stale, refused), (0, 0, 0), "{cache:?}");
    }
}

/// A copy that the power cuts off is not on the SSD cache afterwards.
#[test]
fn a_copy_ends_with_the_power() {
    for cut in (0..300).step_by(10) {
        let mut bench = Bench::new(&with_ssd_cache(("raid0", 1), ("raid0", 1), true));
        bench.submit(0, Op::Write, 0, 8);
        bench.submit(1000, Op::Read, 0, 8);
        let off = Nanos(100_000);
        bench.happens(1000 + cut, Action::PowerFail { off_ns: off });
        bench.submit(2000, Op::Read, 0, 8);
        bench.submit(3000, Op::Write, 1, 1);
        bench.submit(4000, Op::Read, 0, 8);
        bench.until(5000);
        let data = bench.data();
        assert_eq!(
            (reported(&data), data.lost_sectors),
            ((0, 0, 0, 0), 0),
            "{cut}"
        );
    }
}

/// Drives that forget as an SSD cache, and a time lapse, have no data to follow.
#[test]
fn what_cannot_be_followed_is_refused() {
    let power = json!([at(
        300,
        json!({"action": "power_fail", "off_ns": 50_000_000})
    )]);
    let mut value = loaded(("raid0", 2), ("raid1", 2), true, power);
    value["devices"][1]["settle_ns"] = json!(1000);
    let faults = Simulation::new(&plan(&value)).err().expect("faults");
    assert!(faults[0].key == "arrays.0.tier.array", "{faults:?}");
    value["events"] = json!([at(300, fail(3))]);
    value["time_lapse"] = json!(2);
    let faults = Simulation::new(&plan(&value)).err().expect("faults");
    assert!(faults[0].key == "time_lapse", "{faults:?}");
    value["time_lapse"] = json!(1);
    let mut simulation = Simulation::new(&plan(&value)).expect("a system");
    let off = Nanos(1000);
    assert!(simulation.act(Action::PowerFail { off_ns: off }).is_err());
    assert!(
        simulation
            .submit(1, Op::Read, ByteRange::new(0, 512), 0)
            .is_err()
    );
}
