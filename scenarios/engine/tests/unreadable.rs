//! Unreadable sectors: who reads them, who repairs them, and when it is lost.

use crate::common::bench::{Bench, reported};
use crate::common::followed::{REDUNDANT, assert_reported, at, data, followed, times};
use crate::common::{result, stations};
use raidlab_engine::Outcome::{self, Done, Refused};
use raidlab_engine::io::Op::{Read, Write};
use raidlab_engine::plan::Action;
use serde_json::{Value, json};

/// Drives of 100 us and 1 MiB behind a controller that takes no time; units of 4 KiB are 8 sectors.
/// The last of them are spares.
fn bench(level: &str, drives: u32, spares: u32) -> Bench {
    Bench::new(&system(level, drives, spares))
}

fn system(level: &str, drives: u32, spares: u32) -> Value {
    let mut value = stations(drives + spares, 100_000, "fixed", 1);
    value["devices"][0]["capacity_bytes"] = json!(1 << 20);
    value["controllers"] = json!([{"name": "c", "queue_depth": 0, "cores": 1, "request_ns": 0,
        "command_ns": 0}]);
    let array = &mut value["arrays"][0];
    array["level"] = json!(level);
    array["controller"] = json!(0);
    array["drives"] = json!((0..drives).collect::<Vec<_>>());
    array["spares"] = json!((drives..drives + spares).collect::<Vec<_>>());
    value["workloads"] = json!([]);
    value["data"] = json!(true);
    value
}

/// Sectors of a drive that cannot be read.
fn bad(drive: u32, sector: u64, sectors: u64) -> Action {
    Action::UnreadableSectors {
        drive,
        offset_bytes: sector * 512,
        bytes: sectors * 512,
    }
}

fn fails(drive: u32) -> Action {
    Action::FailDrive { drive }
}

fn replaced(drive: u32) -> Action {
    Action::ReplaceDrive { drive }
}

/// Lost sectors, stale reads, refused reads, corrupt stripes.
fn lost(bench: &mut Bench) -> (u64, u64, u64, u64) {
    let data = bench.data();
    let (_, stale, refused, corrupt) = reported(&data);
    (data.lost_sectors, stale, refused, corrupt)
}

/// Where the first unit lies; with two parities one of them is on the first drive.
fn home(level: &str) -> u32 {
    u32::from(level == "raid6" || level == "raid60")
}

const NOTHING: (u64, u64, u64, u64) = (0, 0, 0, 0);

/// The read that fails, those of what is computed from or of the other copy, the write: three
/// times 100 us. Then the drive gives them again, and another one may fail; but only those that
/// were read.
#[test]
fn a_read_repairs_what_it_could_not_read() {
    for (level, drives) in REDUNDANT {
        let (mut bench, home) = (bench(level, drives, 0), home(level));
        bench.ask(Write, 0, 8);
        bench.now(bad(home, 0, 4));
        assert_eq!(bench.ask(Read, 0, 2), (Done, 300), "{level}");
        assert_eq!(bench.ask(Read, 0, 2), (Done, 100), "{level}");
        bench.now(fails(home + 1));
        if level == "raid6" {
            bench.now(fails(home + 2));
        }
        assert_eq!(bench.ask(Read, 0, 2), (Done, 100), "{level}");
        assert_eq!(lost(&mut bench), (2, 0, 0, 0), "{level}");
        assert_eq!(bench.ask(Read, 1, 2).0, Refused, "{level}");
    }
}

/// Old data that cannot be read make a read-modify-write (200 us) try and then read the other data
/// instead; the second time it is as ever, since the drive has them in a new place. So it has old
/// parity.
#[test]
fn a_write_over_old_data_or_parity_that_cannot_be_read_repairs_them() {
    for (level, drives) in [("raid5", 5), ("raid6", 6)] {
        for drive in [home(level), drives - 1] {
            let mut bench = bench(level, drives, 0);
            assert_eq!(bench.ask(Write, 0, 32), (Done, 100), "{level}");
            bench.now(bad(drive, 0, 8));
            assert_eq!(bench.ask(Write, 0, 8), (Done, 300), "{level} {drive}");
            assert_eq!(bench.ask(Write, 0, 8), (Done, 200), "{level} {drive}");
            bench.now(fails(home(level) + 1));
            assert_eq!(lost(&mut bench), NOTHING, "{level} {drive}");
            assert_eq!(bench.ask(Read, 8, 8), (Done, 100), "{level} {drive}");
        }
    }
}

#[test]
fn a_write_heals_what_it_covers_and_no_more() {
    let levels = [("jbod", 2), ("raid0", 2), ("raid50", 6), ("raid60", 8)];
    for (level, drives) in levels.into_iter().chain(REDUNDANT) {
        let bears = drives > 2 || level == "raid1";
        let rest = if bears { Done } else { Refused };
        let (mut bench, home) = (bench(level, drives, 0), home(level));
        bench.ask(Write, 0, 8);
        bench.now(bad(home, 0, 4));
        // Met or not.
        assert_eq!(bench.ask(Read, 2, 2).0, rest, "{level}");
        bench.now(bad(home, 0, 4));
        assert_eq!(bench.ask(Write, 0, 3).0, Done, "{level}");
        assert_eq!(bench.ask(Read, 0, 3), (Done, 100), "{level}");
        assert_eq!(bench.ask(Read, 4, 4), (Done, 100), "{level}");
        assert_eq!(lost(&mut bench).0, u64::from(!bears), "{level}");
        assert_eq!(bench.ask(Read, 3, 1).0, rest, "{level}");
        assert_eq!(bench.ask(Write, 3, 1).0, Done, "{level}");
        assert_eq!(bench.ask(Read, 0, 8), (Done, 100), "{level}");
        if bears {
            bench.now(fails(home + 1));
        }
        let refused = if bears { 0 } else { 2 };
        assert_eq!(lost(&mut bench), (0, 0, refused, 0), "{level}");
    }
}

/// Sectors of two drives of a stripe: they are lost only where they meet, and with two parities not
/// even there.
#[test]
fn sectors_are_lost_one_by_one() {
    for (level, drives, expected) in [("raid5", 4, 1), ("raid6", 5, 0), ("raid1", 2, 1)] {
        let mut bench = bench(level, drives, 0);
        bench.ask(Write, 0, 8);
        bench.now(bad(home(level), 0, 3));
        bench.now(bad(home(level) + 1, 2, 3));
        assert_eq!(lost(&mut bench).0, expected, "{level}");
        assert_eq!(bench.ask(Read, 0, 2).0, Done, "{level}");
        let meet: Outcome = if expected > 0 { Refused } else { Done };
        assert_eq!(bench.ask(Read, 2, 1).0, meet, "{level}");
        assert_eq!(bench.ask(Read, 3, 5).0, Done, "{level}");
        assert_eq!(lost(&mut bench), (expected, 0, expected, 0), "{level}");
    }
}

/// A rebuild that meets an unreadable sector cannot compute the one it stands for: neither is ever
/// served, until the host has written both. What is written of one of them has no parity until then.
#[test]
fn what_a_rebuild_cannot_compute_is_unreadable() {
    for spares in [0, 1] {
        let mut bench = bench("raid5", 4, spares);
        bench.ask(Write, 0, 24);
        bench.now(bad(0, 0, 1));
        bench.now(fails(1));
        let stands = if spares == 0 { 1 } else { 4 };
        if spares == 0 {
            bench.now(replaced(1));
        }
        let done = bench.until_reported("rebuild done");
        let left = format!("; 512 bytes of drive {stands} are unreadable");
        assert!(done.ends_with(&left), "{done}");
        assert_eq!(bench.ask(Read, 8, 1).0, Refused);
        assert_eq!(bench.ask(Read, 0, 1).0, Refused);
        for sector in [1, 9, 16] {
            assert_eq!(bench.ask(Read, sector, 7).0, Done);
        }
        assert_eq!(lost(&mut bench), (2, 0, 2, 0));
        // Neither a patrol read nor a check makes anything of them.
        bench.now(Action::PatrolRead { array: 0 });
        bench.until_reported("patrol read done");
        bench.now(Action::ConsistencyCheck { array: 0 });
        bench.until_reported("consistency check done");
        assert_eq!(lost(&mut bench), (2, 0, 2, 0));
        assert_eq!(bench.ask(Write, 8, 1).0, Done);
        assert_eq!(bench.ask(Read, 8, 1), (Done, 100));
        assert_eq!(bench.ask(Read, 0, 1).0, Refused);
        assert_eq!(lost(&mut bench), (1, 0, 3, 0));
        assert_eq!(bench.ask(Write, 0, 1).0, Done);
        assert_eq!(lost(&mut bench), (0, 0, 3, 0));
        bench.now(fails(2));
        assert_eq!(bench.ask(Read, 16, 8).0, Done);
        assert_eq!(lost(&mut bench), (0, 0, 3, 0));
    }
}

/// The new drive that takes a spare's place has what the spare gave.
#[test]
fn what_a_copyback_cannot_read_is_unreadable() {
    let mut bench = bench("raid1", 2, 1);
    bench.ask(Write, 0, 8);
    bench.now(fails(0));
    bench.until_reported("rebuild done");
    bench.now(bad(1, 3, 1));
    bench.now(bad(2, 2, 2));
    bench.now(replaced(0));
    let done = bench.until_reported("copyback done");
    assert!(
        done.ends_with("; 512 bytes of drive 0 are unreadable"),
        "{done}"
    );
    assert_eq!(lost(&mut bench), (1, 0, 0, 0));
    assert_eq!(bench.ask(Read, 3, 1).0, Refused);
    assert_eq!(bench.ask(Read, 0, 3).0, Done);
    assert_eq!(bench.ask(Write, 3, 1).0, Done);
    bench.now(fails(1));
    assert_eq!(bench.ask(Read, 0, 8).0, Done);
    assert_eq!(lost(&mut bench), (0, 0, 1, 0));
}

/// What it can compute it brings, of data and of parity, and only that: the rest of the unit is as it was.
#[test]
fn a_copyback_brings_what_can_be_computed() {
    for drive in 0..3 {
        let mut bench = bench("raid5", 3, 1);
        bench.ask(Write, 0, 16);
        bench.now(fails(drive));
        bench.until_reported("rebuild done");
        bench.now(bad(3, 1, 2));
        bench.now(replaced(drive));
        let done = bench.until_reported("copyback done");
        assert!(!done.contains("unreadable"), "{done}");
        assert_eq!(lost(&mut bench), NOTHING, "{drive}");
        bench.now(fails((drive + 1) % 3));
        assert_eq!(bench.ask(Read, 0, 16).0, Done, "{drive}");
        assert_eq!(lost(&mut bench), NOTHING, "{drive}");
    }
}

/// Links on which a unit takes a millisecond. A write begins, then a read; the read reaches the drive
/// 50 us before the write's data. These repair the sector while the read completes. The read has no
/// data, so it is done again.
#[test]
fn a_read_that_met_a_puncture_is_done_again_if_that_is_written_meanwhile() {
    let mut value = system("raid5", 3, 1);
    let link = |n: u32| {
        json!({"name": format!("link {n}"), "bytes_per_s": 4_096_000, "full_duplex": true,
            "frame_bytes": 512})
    };
    value["links"] = json!((0..4).map(link).collect::<Vec<_>>());
    for drive in 0..4 {
        value["drives"][drive]["path"] = json!([drive]);
    }
    let mut bench = Bench::new(&value);
    bench.ask(Write, 0, 16);
    bench.now(fails(1));
    bench.until_reported("rebuild done");
    bench.now(bad(0, 0, 1));
    bench.now(bad(3, 0, 1));
    bench.now(replaced(1));
    let done = bench.until_reported("copyback done");
    assert!(
        done.ends_with("; 512 bytes of drive 1 are unreadable"),
        "{done}"
    );
    let now = bench.0.now().0 / 1000 + 1;
    bench.submit(now, Write, 0, 16);
    bench.submit(now + 950, Read, 8, 8);
    bench.until(now + 10_000);
    assert_eq!(lost(&mut bench), NOTHING);
    assert_eq!(bench.data().acknowledged_writes, 2);
}

/// Parity that has been copied already and then is no parity any more is none on the new drive either.
#[test]
fn what_is_punctured_beside_a_copyback_is_so_on_both_drives() {
    let mut bench = bench("raid5", 3, 1);
    bench.ask(Write, 0, 16);
    bench.now(fails(2));
    bench.until_reported("rebuild done");
    bench.now(replaced(2));
    bench.until_reported("copyback to drive 2 begins");
    let now = bench.0.now().0 / 1000;
    bench.until(now + 1000);
    bench.now(bad(0, 0, 1));
    bench.now(bad(1, 0, 1));
    assert_eq!(lost(&mut bench), (2, 0, 0, 0));
    assert_eq!(bench.ask(Write, 0, 1).0, Done);
    bench.until_reported("copyback done");
    assert_eq!(bench.ask(Read, 0, 1).0, Done);
    assert_eq!(bench.ask(Read, 8, 1).0, Refused);
    assert_eq!(lost(&mut bench), (1, 0, 1, 0));
}

/// What had been copied before the spare's sector went bad is on the new drive.
#[test]
fn a_copyback_ends_the_record_of_the_spares_sectors() {
    let mut bench = bench("raid1", 2, 1);
    bench.ask(Write, 0, 8);
    bench.now(fails(0));
    bench.until_reported("rebuild done");
    bench.now(replaced(0));
    bench.until_reported("copyback to drive 0 begins");
    let now = bench.0.now().0 / 1000;
    bench.until(now + 1000);
    bench.now(bad(1, 3, 1));
    bench.now(bad(2, 3, 1));
    assert_eq!(bench.ask(Read, 0, 8).0, Refused);
    bench.until_reported("copyback done");
    assert_eq!(bench.ask(Read, 0, 8).0, Done);
    bench.now(fails(0));
    assert_eq!(bench.ask(Read, 0, 8).0, Done);
    assert_eq!(lost(&mut bench), (0, 0, 1, 0));
}

/// With a drive lost, data that are written over unreadable ones leave what was computed from those
/// to be refused, and not to be served as nonsense.
#[test]
fn new_data_where_others_are_lost_leave_no_parity() {
    let mut bench = bench("raid5", 4, 0);
    bench.ask(Write, 0, 24);
    bench.now(bad(0, 0, 2));
    bench.now(fails(1));
    assert_eq!(bench.ask(Write, 0, 1).0, Done);
    assert_eq!(bench.ask(Read, 0, 1), (Done, 100));
    assert_eq!(bench.ask(Read, 8, 1).0, Refused);
    assert_eq!(lost(&mut bench), (3, 0, 1, 0));
    // What cannot be stored is not acknowledged, what can be is: all of the row is new then.
    assert_eq!(bench.ask(Write, 9, 1).0, Refused);
    assert_eq!(bench.ask(Write, 8, 1).0, Done);
    assert_eq!(bench.ask(Read, 8, 1).0, Done);
    assert_eq!(bench.ask(Write, 1, 1).0, Done);
    assert_eq!(bench.ask(Write, 9, 1).0, Done);
    bench.now(replaced(1));
    bench.until_reported("rebuild done");
    assert_eq!(bench.ask(Read, 0, 24).0, Done);
    assert_eq!(lost(&mut bench), (0, 0, 1, 0));
}

/// Whatever looks at every unit repairs it: then a drive may fail, without it it may not.
#[test]
fn patrol_read_and_consistency_check_repair() {
    let patrol = Action::PatrolRead { array: 0 };
    let check = Action::ConsistencyCheck { array: 0 };
    let looks = [
        None,
        Some((patrol, "patrol read")),
        Some((check, "consistency check")),
    ];
    for (level, drives) in REDUNDANT {
        for drive in 0..drives {
            for look in &looks {
                let mut bench = bench(level, drives, 0);
                bench.ask(Write, 0, 256);
                bench.now(bad(drive, 0, 12));
                if let Some((action, name)) = look {
                    bench.now(action.clone());
                    bench.until_reported(&format!("{name} done"));
                }
                for others in 1..=if level == "raid6" { 2 } else { 1 } {
                    // Of a pair the other one.
                    let pair = level == "raid10" && drive % 2 == 1;
                    let step = if pair { drives - others } else { others };
                    bench.now(fails((drive + step) % drives));
                }
                let (lost, ..) = lost(&mut bench);
                assert_eq!(lost == 0, look.is_some(), "{level} {drive} {look:?} {lost}");
            }
        }
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
    let repaired = result(&value);
    assert_reported(&repaired, "patrol read done");
    assert_eq!(data(&repaired), (0, 0, 0, 0));
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

/// A drive takes 100 us for each of its 2048 units: all of them beside each other 0.2048 s.
#[test]
fn patrol_read_goes_over_all_drives_at_once() {
    for (level, drives) in REDUNDANT {
        let mut value = followed(level, drives, "write_through");
        value["devices"][0]["capacity_bytes"] = json!(8 << 20);
        value["workloads"][0]["arrival"] = json!({"kind": "poisson", "per_s": 0.001});
        value["events"] = json!([at(100, json!({"action": "patrol_read", "array": 0}))]);
        let done = times(&result(&value), "patrol read done")[0];
        assert!((305..=310).contains(&done), "{level} {done}");
    }
}
