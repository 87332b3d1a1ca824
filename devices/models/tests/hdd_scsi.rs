//! A drive on a SCSI bus, phase by phase, against what can be computed by hand.
//!
//! A revolution of 10 ms, 0.1 ms a sector, 2 heads, no skew, 1 ms for any seek. Overheads are all
//! different, so that a sum shows its parts.

use crate::common::{Rig, params};
use raidlab_io::{Op, Part};
use raidlab_kernel::{Nanos, Time};
use raidlab_models::{Device, DeviceParams};
use serde_json::{Value, json};

const SECTOR: u64 = 512;

fn plain() -> Value {
    json!({
        "kind": "hdd",
        "rpm": 6000,
        "initial_angle": 0.0,
        "geometry": {"heads": 2, "zones": [
            {"first_cylinder": 0, "last_cylinder": 99, "sectors_per_track": 100},
        ]},
        "seek": {
            "read": {"form": "table", "points": [[1, 1_000_000], [99, 1_000_000]]},
            "head_switch_ns": 500_000,
        },
        "buffer": {"segments": 3, "segment_sectors": 400, "read_ahead": {"policy": "none"}},
        "scheduler": {"policy": "first_come"},
        "interface": {
            "kind": "scsi_bus", "queue_depth": 8,
            "read_sector_ns": 50_000, "write_sector_ns": 50_000,
            "read_hit": {"after_read_ns": 200_000, "after_write_ns": 300_000},
            "read_miss": {"after_read_ns": 400_000, "after_write_ns": 500_000},
            "write": {"after_read_ns": 600_000, "after_write_ns": 700_000},
            "read_completion_ns": 10_000, "write_completion_ns": 20_000,
            "data_preparation_ns": 30_000,
            "first_reselect_ns": 50_000, "other_reselect_ns": 40_000,
            "read_disconnect": {"after_read_ns": 60_000, "after_write_ns": 70_000},
            "write_disconnect_ns": 80_000,
        },
    })
}

fn rig(changes: &[(&str, Value)]) -> Rig {
    let mut drive = plain();
    for (pointer, value) in changes {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        drive.pointer_mut(parent).unwrap()[key] = value.clone();
    }
    Rig::new(&params(&drive.to_string()))
}

/// A request at `at_us`; its response time in microseconds.
fn at(rig: &mut Rig, at_us: u64, op: Op, lbn: u64, sectors: u64) -> u64 {
    rig.pause(Time(at_us * 1000));
    rig.serve(op, lbn * SECTOR, sectors * SECTOR).latency().0 / 1000
}

#[test]
fn a_miss_leaves_the_bus_and_comes_back_for_what_is_there() {
    let mut rig = rig(&[]);
    rig.pause(Time(0));
    let io = rig.serve(Op::Read, 10 * SECTOR, 4 * SECTOR);
    // Overhead 0.4, the sectors end at 1.1, 1.2, 1.3, 1.4. Back at 1.1 + 0.08: one sector, one
    // more, off the bus; back at 1.3 + 0.08: one, one more by then; 0.01 to complete.
    assert_eq!(io.latency(), Nanos(1_490_000));
    assert_eq!(io.parts[Part::Rotation], Nanos(600_000));
    assert_eq!(io.parts[Part::Seek], Nanos::ZERO);
}

#[test]
fn a_drive_that_holds_the_bus_waits_for_each_sector() {
    let mut rig = rig(&[("/interface/hold_bus", json!(true))]);
    assert_eq!(at(&mut rig, 0, Op::Read, 10, 4), 1460);
}

#[test]
fn a_water_mark_waits_for_its_share() {
    let mut whole = rig(&[("/interface/read_water_mark", json!(1.0))]);
    // All four at 1.4, 0.08, four on the bus, 0.01.
    assert_eq!(at(&mut whole, 0, Op::Read, 10, 4), 1690);
    let mut half = rig(&[("/interface/read_water_mark", json!(0.5))]);
    // Two at 1.2, 0.08, both on the bus by 1.38, when the third has passed: 1.43, and the fourth.
    assert_eq!(at(&mut half, 0, Op::Read, 10, 4), 1490);
}

#[test]
fn a_drive_that_never_disconnects_needs_no_reselection() {
    let mut rig = rig(&[("/interface/never_disconnect", json!(true))]);
    assert_eq!(at(&mut rig, 0, Op::Read, 10, 4), 1460);
    // A write: the medium and the bus in parallel. Overhead 0.6 at 20.0; sector 50 begins to
    // pass at 25.0; 0.02 to complete.
    assert_eq!(at(&mut rig, 20_000, Op::Write, 50, 4), 5_420);
}

#[test]
fn a_hit_costs_its_overhead_and_the_bus_and_depends_on_what_came_before() {
    let mut rig = rig(&[]);
    at(&mut rig, 0, Op::Read, 10, 4);
    assert_eq!(
        at(&mut rig, 20_000, Op::Read, 11, 2),
        200 + 30 + 2 * 50 + 10
    );
    at(&mut rig, 40_000, Op::Write, 500, 1);
    assert_eq!(
        at(&mut rig, 80_000, Op::Read, 11, 2),
        300 + 30 + 2 * 50 + 10
    );
}

#[test]
fn reading_ahead_by_a_fixed_number() {
    let ahead = json!({"policy": "fixed", "sectors": 20});
    let mut rig = rig(&[("/buffer/read_ahead", ahead)]);
    at(&mut rig, 0, Op::Read, 10, 4);
    assert_eq!(
        at(&mut rig, 20_000, Op::Read, 14, 20),
        200 + 30 + 20 * 50 + 10
    );
    assert!(at(&mut rig, 40_000, Op::Read, 34, 1) > 400);
}

#[test]
fn reading_ahead_to_the_end_of_the_track() {
    let ahead = json!({"policy": "track_end", "sectors": 50});
    let mut rig = rig(&[("/buffer/read_ahead", ahead)]);
    at(&mut rig, 0, Op::Read, 70, 4);
    assert_eq!(
        at(&mut rig, 20_000, Op::Read, 74, 26),
        200 + 30 + 26 * 50 + 10
    );
    assert!(at(&mut rig, 60_000, Op::Read, 100, 1) > 400);
}

#[test]
fn reading_ahead_to_the_next_track_if_the_segment_comes_from_the_one_before() {
    let ahead = json!({"policy": "next_track"});
    let mut one = rig(&[("/buffer/read_ahead", ahead.clone())]);
    at(&mut one, 0, Op::Read, 10, 4);
    assert_eq!(
        at(&mut one, 30_000, Op::Read, 14, 86),
        200 + 30 + 86 * 50 + 10
    );
    assert!(at(&mut one, 60_000, Op::Read, 100, 1) > 400);
    let mut two = rig(&[("/buffer/read_ahead", ahead)]);
    // The next sector, 104, lies on the track that begins at 100, after the segment does: to the
    // end of that track, and as many sectors more as a track has.
    at(&mut two, 0, Op::Read, 90, 14);
    assert_eq!(
        at(&mut two, 90_000, Op::Read, 104, 196),
        200 + 30 + 196 * 50 + 10
    );
    assert!(at(&mut two, 190_000, Op::Read, 300, 1) > 400);
}

#[test]
fn an_idle_hit_may_start_reading_on() {
    let ahead = json!({"policy": "fixed", "sectors": 10});
    for restarts in [false, true] {
        let mut rig = rig(&[
            ("/buffer/read_ahead", ahead.clone()),
            ("/buffer/read_ahead_on_idle_hit", json!(restarts)),
        ]);
        at(&mut rig, 0, Op::Read, 10, 4);
        at(&mut rig, 20_000, Op::Read, 14, 4);
        let whole = 200 + 30 + 10 * 50 + 10;
        assert_eq!(at(&mut rig, 50_000, Op::Read, 18, 10) == whole, restarts);
    }
}

#[test]
fn a_partial_hit_sends_what_is_there_and_waits_for_the_rest() {
    let ahead = json!({"policy": "fixed", "sectors": 10});
    let mut rig = rig(&[("/buffer/read_ahead", ahead)]);
    at(&mut rig, 0, Op::Read, 10, 4);
    // Sectors 20 to 23 are there by 20.43; the arm starts at 20.4 and sector 24 ends at 22.5:
    // back at 22.58, and 25 has passed when 24 has been sent.
    assert_eq!(at(&mut rig, 20_000, Op::Read, 20, 6), 2_690);
}

#[test]
fn a_fast_write_completes_from_the_buffer() {
    let mut rig = rig(&[("/interface/fast_write", json!(true))]);
    assert_eq!(
        at(&mut rig, 0, Op::Write, 10_000, 4),
        600 + 30 + 4 * 50 + 20
    );
    // The medium: overhead 0.6, seek to 1.6, sector 0 at 10.0, done at 10.4.
    // The drive serves the command before the arm moves at 0.6, so it is at work from 0 on.
    assert_eq!(rig.device.busy_until(Time(10_400_000)).0, Nanos(10_400_000));
    // What was written is a hit later on.
    assert_eq!(
        at(&mut rig, 20_000, Op::Read, 10_001, 1),
        300 + 30 + 50 + 10
    );
}

#[test]
fn a_read_waits_for_a_write_in_the_background() {
    let mut rig = rig(&[("/interface/fast_write", json!(true))]);
    at(&mut rig, 0, Op::Write, 10_000, 4);
    // The arm is free at 10.4, on cylinder 0 at 11.4, sector 60 has passed at 16.1; 0.08 to come
    // back, one on the bus, 0.01.
    assert_eq!(at(&mut rig, 5_000, Op::Read, 60, 1), 11_240);
}

#[test]
fn a_read_behind_a_write_leaves_the_bus_while_the_arm_moves() {
    let mut rig = rig(&[
        ("/interface/fast_write", json!(true)),
        ("/interface/read_miss/after_write_ns", json!(450_000)),
    ]);
    at(&mut rig, 0, Op::Write, 10_000, 4);
    // The arm is free at 10.4 and moves after the overhead, at 10.75. It is there at 11.75, just
    // before sector 18, which has passed at 11.9; 0.08 to come back, one on the bus, 0.01.
    assert_eq!(at(&mut rig, 10_300, Op::Read, 18, 1), 1_740);
}

#[test]
fn a_drive_that_never_disconnects_waits_for_a_write_on_the_bus() {
    let changes = [
        ("/interface/fast_write", json!(true)),
        ("/interface/never_disconnect", json!(true)),
    ];
    let mut reads = rig(&changes);
    at(&mut reads, 0, Op::Write, 10_000, 4);
    // A hit: the write ends at 10.4; 0.03 before the data, 0.05, 0.01.
    assert_eq!(at(&mut reads, 5_000, Op::Read, 10_000, 1), 5_490);
    let mut writes = rig(&changes);
    at(&mut writes, 0, Op::Write, 10_000, 4);
    assert_eq!(at(&mut writes, 5_000, Op::Write, 500, 1), 5_500);
}

#[test]
fn a_write_that_continues_the_one_in_the_background_is_taken_at_once() {
    let mut rig = rig(&[("/interface/fast_write", json!(true))]);
    at(&mut rig, 0, Op::Write, 10_000, 4);
    assert_eq!(
        at(&mut rig, 5_000, Op::Write, 10_004, 4),
        700 + 30 + 4 * 50 + 20
    );
    // Both are on the medium one after the other, at 10.8.
    assert_eq!(rig.device.busy_until(Time(10_800_000)).0, Nanos(10_800_000));
    let mut other = self::rig(&[("/interface/fast_write", json!(true))]);
    at(&mut other, 0, Op::Write, 10_000, 4);
    // Any other write comes back at 10.4: 0.08, four on the bus, 0.02.
    assert_eq!(at(&mut other, 5_000, Op::Write, 0, 4), 5_700);
}

#[test]
fn a_slow_write_completes_on_the_medium() {
    let mut rig = rig(&[]);
    assert_eq!(at(&mut rig, 0, Op::Write, 10_000, 4), 10_400 + 50 + 20);
}

#[test]
fn a_sector_whose_data_come_too_late_passes_once_more() {
    let mut rig = rig(&[("/interface/write_sector_ns", json!(300_000))]);
    // Sector 8 begins at 0.8; its data are there at 0.93 only, so it begins at 10.8.
    assert_eq!(at(&mut rig, 0, Op::Write, 8, 4), 11_200 + 50 + 20);
}

#[test]
fn an_unrelated_write_after_a_write_leaves_the_bus_twice() {
    let extra = json!({
        "command_ns": 500_000, "disconnect_ns": 100_000, "between_ns": 200_000,
        "second_disconnect_ns": 90_000, "seek_delta_ns": 150_000,
    });
    let mut rig = rig(&[
        ("/interface/extra_disconnect", extra),
        ("/buffer/own_write_segment", json!(true)),
    ]);
    at(&mut rig, 0, Op::Write, 10_000, 4);
    // From 20.65 the arm moves, sector 50 passes at 25.0, 0.4; 0.04 for the other reselection.
    assert_eq!(at(&mut rig, 20_000, Op::Write, 50, 4), 5_460);
    // The sequel of that is an ordinary write: sector 54 at 35.4, done at 35.8, 0.05, 0.02.
    assert_eq!(at(&mut rig, 30_000, Op::Write, 54, 4), 5_870);
}

#[test]
fn an_empty_segment_overlaps_nothing() {
    let extra = json!({
        "command_ns": 500_000, "disconnect_ns": 100_000, "between_ns": 200_000,
        "second_disconnect_ns": 90_000, "seek_delta_ns": 150_000,
    });
    let mut rig = rig(&[
        ("/interface/extra_disconnect", extra),
        ("/buffer/segments", json!(2)),
        ("/buffer/read_hits_on_written", json!(false)),
    ]);
    at(&mut rig, 0, Op::Read, 10, 4);
    at(&mut rig, 20_000, Op::Write, 15, 1);
    // Sectors 13 to 16 go into the segment that holds 13, not into the one that held the write of
    // 15. So this is an ordinary write: 0.7 of overhead, sector 13 from 41.3 on, done at 41.7, 0.05
    // to come back, 0.02.
    assert_eq!(at(&mut rig, 40_000, Op::Write, 13, 4), 1_770);
}

#[test]
fn a_write_with_head_start_waits_for_ten_sectors() {
    let extra = json!({
        "command_ns": 0, "disconnect_ns": 0, "between_ns": 0,
        "second_disconnect_ns": 0, "seek_delta_ns": 0,
    });
    let mut rig = rig(&[("/interface/extra_disconnect", extra)]);
    // Sector 10 begins at 1.0, when seven of the twelve sectors are there: a revolution more.
    assert_eq!(at(&mut rig, 0, Op::Write, 10, 12), 12_200 + 50 + 20);
}

#[test]
fn segments_of_writes_may_serve_no_reads() {
    for changes in [
        [("/buffer/own_write_segment", json!(true))],
        [("/buffer/read_hits_on_written", json!(false))],
    ] {
        let mut rig = rig(&changes);
        at(&mut rig, 0, Op::Write, 10, 4);
        assert!(at(&mut rig, 30_000, Op::Read, 10, 1) > 400);
    }
}

#[test]
fn reading_ahead_stops_when_a_hit_elsewhere_wants_the_arm() {
    let mut rig = rig(&[
        (
            "/buffer/read_ahead",
            json!({"policy": "fixed", "sectors": 20}),
        ),
        ("/buffer/read_ahead_on_idle_hit", json!(true)),
    ]);
    at(&mut rig, 0, Op::Read, 10, 4);
    at(&mut rig, 20_000, Op::Read, 150, 1);
    // Sectors 151 to 170 pass from 25.1 on. At 25.75 comes a hit on the other segment, whose end
    // the arm goes to: sector 157 is finished, and 158 is not in the buffer.
    assert_eq!(
        at(&mut rig, 25_750, Op::Read, 30, 4),
        200 + 30 + 4 * 50 + 10
    );
    assert!(at(&mut rig, 60_000, Op::Read, 158, 1) > 400);
}

#[test]
fn a_minimum_seek_holds_for_writes_alone() {
    let mut rig = rig(&[("/interface/minimum_seek_ns", json!(500_000))]);
    // On the track already: 0.6, 0.5 of settling, then sector 12 at 1.2.
    assert_eq!(at(&mut rig, 0, Op::Write, 12, 1), 1_300 + 50 + 20);
    assert_eq!(at(&mut rig, 20_000, Op::Read, 30, 1), 3_100 + 80 + 50 + 10);
}

#[test]
fn a_read_on_arrival_takes_at_most_a_revolution() {
    let mut rig = rig(&[
        ("/buffer/read_on_arrival", json!(true)),
        ("/interface/read_sector_ns", json!(0)),
    ]);
    // The head is there at 0.4, in the middle of sectors 0 to 49; it takes 4 to 49 first and
    // sectors 0 to 3 when they come round, done at 10.4. The bus is back at 10.1 + 0.08.
    assert_eq!(at(&mut rig, 0, Op::Read, 0, 50), 10_490);
}

#[test]
fn a_drive_that_never_disconnects_takes_no_sector_out_of_order() {
    let mut rig = rig(&[
        ("/buffer/read_on_arrival", json!(true)),
        ("/interface/never_disconnect", json!(true)),
    ]);
    // The head is there at 0.4, in the middle of sectors 0 to 49. The bus has been open since 0.43
    // and wants sector 0, which comes round at 10.0; all have passed at 15.0. Each crosses while
    // the next one passes: 0.05 for the last, 0.01 to complete.
    assert_eq!(at(&mut rig, 0, Op::Read, 0, 50), 15_060);
}

#[test]
fn what_does_not_fit_into_a_segment_is_not_taken_out_of_order() {
    for (segment, expected) in [(50, 10_490), (49, 15_010)] {
        let mut rig = rig(&[
            ("/buffer/read_on_arrival", json!(true)),
            ("/buffer/segment_sectors", json!(segment)),
            ("/interface/hold_bus", json!(true)),
            ("/interface/read_water_mark", json!(1.0)),
            ("/interface/read_sector_ns", json!(0)),
        ]);
        // A segment of 50 sectors: all of them are there after a revolution, at 10.4; 0.08 to come
        // back, 0.01 to complete. One of 49 waits for sector 0, at 10.0, and has passed 49 of them
        // at 14.9; the drive is back at 14.98 and waits for the last one, at 15.0.
        assert_eq!(at(&mut rig, 0, Op::Read, 0, 50), expected);
    }
}

#[test]
fn a_write_larger_than_a_segment_waits_for_its_first_sector() {
    // The bus takes no time, so the data are there when the head is, at 0.6, in the middle of
    // sectors 0 to 49. It writes 6 to 49 and then 0 to 5, done at 10.6; or 0 to 49, from 10.0 on.
    // Then 0.05 to come back and 0.02 to complete.
    for (segment, expected) in [(50, 10_670), (49, 15_070)] {
        let mut rig = rig(&[
            ("/buffer/write_on_arrival", json!(true)),
            ("/buffer/segment_sectors", json!(segment)),
            ("/interface/write_sector_ns", json!(0)),
            ("/interface/data_preparation_ns", json!(0)),
        ]);
        assert_eq!(at(&mut rig, 0, Op::Write, 0, 50), expected);
    }
}

#[test]
fn what_passes_while_the_head_waits_may_be_buffered() {
    let mut rig = rig(&[("/buffer/read_while_waiting", json!(true))]);
    // On the track at 0.4; sectors 4 to 19 pass before sector 20 does.
    at(&mut rig, 0, Op::Read, 20, 1);
    assert_eq!(
        at(&mut rig, 20_000, Op::Read, 4, 16),
        200 + 30 + 16 * 50 + 10
    );
    assert!(at(&mut rig, 40_000, Op::Read, 3, 1) > 400);
}

#[test]
fn the_drive_serves_one_command_at_a_time() {
    let mut rig = rig(&[]);
    rig.submit(Op::Read, 10 * SECTOR, 4 * SECTOR);
    rig.submit(Op::Read, 10 * SECTOR, 4 * SECTOR);
    assert_eq!(rig.next().unwrap().latency(), Nanos(1_490_000));
    let second = rig.next().unwrap();
    assert_eq!(second.parts[Part::Queue], Nanos(1_490_000));
    assert_eq!(
        second.latency(),
        Nanos(1_490_000 + 200_000 + 30_000 + 200_000 + 10_000)
    );
}

#[test]
fn a_write_cache_of_extents_has_no_place_on_a_bus() {
    let cache = json!({
        "sectors": 100, "extents": 4, "extent_sectors": 10, "flush_above": 0.5,
        "flush_after_idle_ns": 0,
    });
    let mut drive = plain();
    drive["write_cache"] = cache;
    let drive: DeviceParams = params(&drive.to_string());
    let faults = Device::new(&drive, 1, "drive").unwrap_err();
    assert_eq!(faults[0].key, "write_cache");
}
