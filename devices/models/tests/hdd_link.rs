//! A drive behind a link, against what can be computed by hand.

use crate::common::{Rig, params};
use raidlab_io::{Op, Part};
use raidlab_kernel::{Nanos, Time};
use raidlab_models::{Device, DeviceParams};
use serde_json::{Value, json};

/// 6000 rpm (10 ms a revolution), 100 sectors a track (0.1 ms each), 2 heads,
/// 1000 cylinders, 1 ms plus 1 us a cylinder, head switch 0.5 ms, tracks skewed by 10 sectors.
fn plain() -> Value {
    json!({
        "kind": "hdd", "rpm": 6000,
        "initial_angle": 0.0,
        "geometry": {"heads": 2, "zones": [{
            "first_cylinder": 0, "last_cylinder": 999, "sectors_per_track": 100,
            "track_skew_sectors": 10, "cylinder_skew_sectors": 10,
        }]},
        "seek": {
            "read": {"form": "table", "points": [[1, 1_001_000], [1000, 2_000_000]]},
            "write_settle_ns": 300_000,
            "head_switch_ns": 500_000,
        },
        "buffer": {"segments": 4, "segment_sectors": 1000, "read_ahead": {"policy": "none"}},
        "scheduler": {"policy": "first_come"},
        "interface": {
            "kind": "link", "read_overhead_ns": 100_000, "write_overhead_ns": 150_000,
            "queue_depth": 32,
        },
    })
}

fn changed(changes: &[(&str, Value)]) -> DeviceParams {
    let mut drive = plain();
    for (pointer, value) in changes {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        drive.pointer_mut(parent).unwrap()[key] = value.clone();
    }
    params(&drive.to_string())
}

const SECTOR: u64 = 512;

fn figure(rig: &Rig, name: &str) -> f64 {
    let figures = rig.device.figures();
    figures.iter().find(|figure| figure.0 == name).unwrap().1
}

fn parts(io: &raidlab_io::Io) -> [u64; 4] {
    [Part::Overhead, Part::Seek, Part::Rotation, Part::Transfer].map(|part| io.parts[part].0)
}

#[test]
fn a_read_costs_overhead_seek_rotation_and_transfer() {
    let mut rig = Rig::new(&changed(&[]));
    // Cylinder 100, head 0, sector 40. The 10 sectors of skew for each of 100 head switches and
    // 100 cylinders shift it by 2000 sectors, whole revolutions: angle 0.4. The arm arrives at
    // 0.1 + 1.1 = 1.2 ms, angle 0.12; 0.28 of a revolution more.
    let io = rig.serve(Op::Read, (100 * 200 + 40) * SECTOR, 4 * SECTOR);
    assert_eq!(parts(&io), [100_000, 1_100_000, 2_800_000, 400_000]);
    assert_eq!(io.latency(), Nanos(4_400_000));
}

#[test]
fn a_write_settles_too() {
    let mut rig = Rig::new(&changed(&[]));
    let io = rig.serve(Op::Write, (100 * 200 + 40) * SECTOR, 4 * SECTOR);
    assert_eq!(parts(&io), [150_000, 1_400_000, 2_450_000, 400_000]);
}

#[test]
fn a_write_of_a_part_of_a_physical_sector_reads_it_a_revolution_before() {
    let mut rig = Rig::new(&changed(&[("/physical_sectors", json!(8))]));
    // As above, from sector 40 on: the other four of eight are read, and come by 10 ms later.
    let io = rig.serve(Op::Write, (100 * 200 + 40) * SECTOR, 4 * SECTOR);
    assert_eq!(parts(&io), [150_000, 1_400_000, 12_450_000, 400_000]);
    // What begins where the head stands needs no more than the rest of its last sector.
    let io = rig.serve(Op::Write, (100 * 200 + 44) * SECTOR, 4 * SECTOR);
    let [_, _, rotation, transfer] = parts(&io);
    assert!(rotation < 10_000_000, "{rotation}");
    assert_eq!(transfer, 400_000);
}

#[test]
fn whole_physical_sectors_and_reads_cost_no_revolution_more() {
    let mut rig = Rig::new(&changed(&[("/physical_sectors", json!(8))]));
    let io = rig.serve(Op::Write, (100 * 200 + 40) * SECTOR, 8 * SECTOR);
    assert_eq!(parts(&io), [150_000, 1_400_000, 2_450_000, 800_000]);
    let mut rig = Rig::new(&changed(&[("/physical_sectors", json!(8))]));
    let io = rig.serve(Op::Read, (100 * 200 + 40) * SECTOR, 4 * SECTOR);
    assert_eq!(parts(&io), [100_000, 1_100_000, 2_800_000, 400_000]);
}

#[test]
fn a_long_write_reads_both_of_its_ends_one_after_the_other() {
    let mut rig = Rig::new(&changed(&[("/physical_sectors", json!(8))]));
    // 146 sectors from sector 4 on: both ends cover parts of a sector, 15 ms apart.
    let io = rig.serve(Op::Write, 4 * SECTOR, 146 * SECTOR);
    let plain = Rig::new(&changed(&[])).serve(Op::Write, 4 * SECTOR, 146 * SECTOR);
    let late = io.latency().0 - plain.latency().0;
    assert_eq!(late, 20_000_000);
}

#[test]
fn a_transfer_crosses_tracks_in_the_skew() {
    let mut rig = Rig::new(&changed(&[]));
    // 150 sectors from sector 0: a track of 10 ms; the head switch takes half of the 1 ms that
    // ten sectors of skew leave; 50 sectors more.
    let io = rig.serve(Op::Read, 0, 150 * SECTOR);
    assert_eq!(parts(&io), [100_000, 0, 9_900_000, 16_000_000]);
}

#[test]
fn reading_on_arrival_needs_a_revolution_at_most() {
    let mut rig = Rig::new(&changed(&[("/buffer/read_on_arrival", json!(true))]));
    // The whole track, reached after 0.1 ms of overhead at the start of its sector 1: no wait,
    // one revolution.
    let io = rig.serve(Op::Read, 0, 100 * SECTOR);
    assert_eq!(parts(&io), [100_000, 0, 0, 10_000_000]);
}

#[test]
fn random_single_sectors_take_the_seek_integral_and_half_a_revolution() {
    let points = json!([
        [1, 800_000],
        [50, 2_000_000],
        [300, 4_000_000],
        [1000, 8_000_000]
    ]);
    let mut rig = Rig::new(&changed(&[("/seek/read/points", points)]));
    let sectors = rig.device.capacity_bytes() / SECTOR;
    let (mean, _) = rig.closed_loop(1, 400_000, |draws| {
        (Op::Read, draws.below(sectors) * SECTOR, SECTOR)
    });
    // Integral of the curve over pairs of cylinders, by the trapezoids between its points.
    let curve = |d: f64| match d {
        d if d <= 0.0 => 0.0,
        d if d <= 1.0 => 0.8,
        d if d <= 50.0 => 0.8 + 1.2 * (d - 1.0) / 49.0,
        d if d <= 300.0 => 2.0 + 2.0 * (d - 50.0) / 250.0,
        d => 4.0 + 4.0 * (d - 300.0) / 700.0,
    };
    let n = 1000.0;
    let weight = |d: f64| 2.0 * (n - d) / (n * n);
    let seek: f64 = (1..1000)
        .map(|d| weight(f64::from(d)) * curve(f64::from(d)))
        .sum();
    // The rare head switch without a cylinder change: half of one in a thousand.
    let expected = 0.1 + seek + 0.0005 * 0.5 + 5.0 + 0.1;
    let error = mean / 1e6 / expected - 1.0;
    assert!(
        error.abs() < 0.005,
        "{} ms, expected {expected}",
        mean / 1e6
    );
}

#[test]
fn reading_ahead_makes_a_synchronous_stream_as_fast_as_the_medium() {
    let ahead = json!({"policy": "fixed", "sectors": 500});
    // 2 ms of skew at a change of cylinder, which takes 1.001 ms.
    let mut rig = Rig::new(&changed(&[
        ("/buffer/read_ahead", ahead),
        ("/geometry/zones/0/cylinder_skew_sectors", json!(20)),
    ]));
    let mut next = 0;
    let (_, rate) = rig.closed_loop(1, 10_000, |_| {
        next += 8;
        (Op::Read, (next - 8) * SECTOR, 8 * SECTOR)
    });
    // Two tracks of 100 sectors pass in two revolutions and the skews of 1 and 2 ms.
    let medium = 200.0 / 0.023 / 8.0;
    assert!(
        (rate / medium - 1.0).abs() < 0.01,
        "{rate} against {medium}"
    );
}

#[test]
fn a_synchronous_stream_is_as_fast_in_blocks_larger_than_what_is_read_ahead() {
    let ahead = json!({"policy": "fixed", "sectors": 50});
    let drive = changed(&[
        ("/buffer/read_ahead", ahead),
        ("/geometry/zones/0/cylinder_skew_sectors", json!(20)),
    ]);
    for block in [8, 50, 51, 100, 1500] {
        let mut rig = Rig::new(&drive);
        let count = 150_000 / block;
        for number in 0..count {
            rig.serve(Op::Read, number * block * SECTOR, block * SECTOR);
            // The host takes its time over it.
            let next = rig.now() + Nanos(20_000);
            rig.pause(next);
        }
        let rate = count as f64 / (rig.now() - Time::ZERO).seconds();
        let medium = 200.0 / 0.023 / block as f64;
        assert!(
            (rate / medium - 1.0).abs() < 0.02,
            "{block} sectors: {rate} against {medium}"
        );
        rig.device.check().unwrap();
    }
}

#[test]
fn a_stream_of_many_outstanding_reads_leaves_none_behind() {
    // A change of cylinder takes 1.001 ms: a head that goes on is there in time with a skew of 1.1 or
    // 2 ms. One that is sent there may be 1 ms late, and the choice reckons with that.
    for skew in [11, 20] {
        let mut rig = Rig::new(&changed(&[
            ("/geometry/zones/0/cylinder_skew_sectors", json!(skew)),
            ("/seek/spread_ns", json!(1_000_000)),
            (
                "/scheduler",
                json!({"policy": "shortest_access", "ageing": 0.001}),
            ),
        ]));
        let mut next = 0;
        let mut submit = |rig: &mut Rig| {
            rig.submit(Op::Read, next * SECTOR, 8 * SECTOR);
            next += 8;
        };
        (0..8).for_each(|_| submit(&mut rig));
        for served in 0..10_000 {
            let io = rig.next().unwrap();
            submit(&mut rig);
            // Eight of them pass in 6.4 ms; beside them there is one change of cylinder at most.
            let limit = if served < 8 { 20_000_000 } else { 8_600_000 };
            assert!(io.latency() < Nanos(limit), "{served}: {:?}", io.latency());
        }
    }
}

#[test]
fn a_head_that_has_passed_its_limit_comes_back_for_what_follows() {
    let ahead = json!({"policy": "fixed", "sectors": 50});
    let mut rig = Rig::new(&changed(&[("/buffer/read_ahead", ahead)]));
    rig.serve(Op::Read, 0, 8 * SECTOR);
    // Sector 57 has passed 5 ms after sector 7; sector 8 passes a revolution later.
    let done = rig.now();
    rig.pause(done + Nanos(6_000_000));
    rig.serve(Op::Read, 8 * SECTOR, 60 * SECTOR);
    assert_eq!(rig.now() - done, Nanos(10_000_000 + 6_000_000));
}

#[test]
fn a_read_of_what_was_read_ahead_costs_its_overhead() {
    let ahead = json!({"policy": "fixed", "sectors": 50});
    let mut rig = Rig::new(&changed(&[("/buffer/read_ahead", ahead)]));
    rig.serve(Op::Read, 0, 8 * SECTOR);
    let later = rig.now() + Nanos(20_000_000);
    rig.pause(later);
    assert_eq!(
        rig.serve(Op::Read, 8 * SECTOR, 50 * SECTOR).latency(),
        Nanos(100_000)
    );
    // What lies beyond was not read.
    assert!(rig.serve(Op::Read, 58 * SECTOR, SECTOR).latency() > Nanos(100_000));
}

fn cached(extents: u32, flush_above: f64) -> (&'static str, Value) {
    let cache = json!({
        "sectors": 10_000, "extents": extents, "extent_sectors": 100,
        "flush_above": flush_above, "flush_after_idle_ns": 5_000_000,
    });
    ("/write_cache", cache)
}

#[test]
fn a_cached_write_completes_at_once_and_is_written_out_when_idle() {
    let mut rig = Rig::new(&changed(&[cached(8, 0.9)]));
    let io = rig.serve(Op::Write, 4000 * SECTOR, 8 * SECTOR);
    assert_eq!(io.latency(), Nanos(150_000));
    // It can be read at once, from the cache.
    assert_eq!(
        rig.serve(Op::Read, 4002 * SECTOR, SECTOR).latency(),
        Nanos(100_000)
    );
    rig.pause(Time(50_000_000));
    let figures = rig.device.figures();
    assert!(figures.contains(&("destaged_runs", 1.0)), "{figures:?}");
    // The last command came at 0.15 ms, so the arm starts at 5.15 ms. It seeks for 1.02 ms, settles
    // for 0.3 ms and waits from 6.47 ms to 10 ms for the sector, whose angle is 0; 0.8 ms of data.
    let (busy, _) = rig.device.busy_until(rig.now());
    assert_eq!(busy, Nanos(1_320_000 + 3_530_000 + 800_000));
}

#[test]
fn a_flush_waits_for_the_medium() {
    let mut rig = Rig::new(&changed(&[cached(8, 0.9)]));
    for cylinder in [10, 500, 900] {
        rig.serve(Op::Write, cylinder * 200 * SECTOR, 8 * SECTOR);
    }
    let io = rig.serve(Op::Flush, 0, 0);
    // The flush comes at 0.45 ms. Each run begins at angle 0 and passes in 0.8 ms. The arm reaches
    // the first at 0.45 + 1.31, the second at 10.8 + 1.79, the third at 20.8 + 1.7 ms: each begins
    // at the next multiple of 10 ms.
    assert_eq!(io.latency(), Nanos(30_800_000 - 450_000));
    assert!(rig.device.figures().contains(&("destaged_runs", 3.0)));
    assert_eq!(rig.serve(Op::Flush, 0, 0).latency(), Nanos(150_000));
}

#[test]
fn a_persistent_cache_answers_a_flush_at_once_and_loses_nothing() {
    let (key, mut cache) = cached(8, 0.9);
    cache["persistent"] = json!(true);
    let mut rig = Rig::new(&changed(&[(key, cache)]));
    rig.serve(Op::Write, 10 * 200 * SECTOR, 8 * SECTOR);
    assert_eq!(rig.serve(Op::Flush, 0, 0).latency(), Nanos(150_000));
    assert!(rig.device.figures().contains(&("destaged_runs", 0.0)));
}

#[test]
fn without_a_cache_a_synchronous_write_stream_loses_a_revolution_each_time() {
    let mut rig = Rig::new(&changed(&[]));
    let mut next = 0;
    let (mean, _) = rig.closed_loop(1, 1000, |_| {
        next += 1;
        (Op::Write, (next - 1) * SECTOR, SECTOR)
    });
    // The next sector begins to pass as the one before completes; the overhead lets it go by:
    // 10.1 ms. The 1 ms of skew at a head switch is just enough for overhead, switch and
    // settling (0.95 ms): 1.1 ms. At a change of cylinder it is not: 11.1 ms.
    let expected = (991.0 * 10.1 + 5.0 * 1.1 + 4.0 * 11.1) / 1000.0 * 1e6;
    assert!((mean - expected).abs() < 10.0, "{mean} against {expected}");
}

#[test]
fn a_full_cache_slows_writes_to_the_rate_of_the_medium() {
    let mut rig = Rig::new(&changed(&[cached(16, 0.5)]));
    let (_, rate) = rig.closed_loop(32, 20_000, |draws| {
        (Op::Write, draws.below(20_000) * 10 * SECTOR, SECTOR)
    });
    // The arm serves the next of 16 runs upwards or the oldest command, whichever it reaches first.
    // A movement takes 1 ms, 1 us a cylinder and 0.3 ms of settling; then comes a rotation of up to
    // 10 ms. Upwards the next of 16 random runs is 1000 / 17 cylinders away, and once in 17 times it
    // is the lowest, nearly 1000 cylinders away; the command is 1000 / 3 cylinders away.
    let run = 1.3 + 2.0 / 17.0;
    let command = 1.3 + 1.0 / 3.0;
    // Of two uniform rotations the shorter has a mean of a third of a revolution.
    let access = run + 10.0 / 3.0 + (command - run) / 2.0;
    let expected = 1000.0 / (access + 0.1);
    assert!(
        (rate / expected - 1.0).abs() < 0.02,
        "{rate}, expected {expected}"
    );
    // Either is first about as often as the other; a command that was not served becomes nearer.
    let share = figure(&rig, "destaged_runs") / 20_000.0;
    assert!((share - 0.5).abs() < 0.03, "{share}");
    rig.device.check().unwrap();
}

#[test]
fn a_cache_that_keeps_the_order_of_writes_gains_nothing_from_a_queue() {
    let seek = json!({"form": "table", "points": [[1, 1_000_000], [1000, 13_000_000]]});
    let rate = |order: &str, outstanding: u32| {
        let (key, mut cache) = cached(16, 0.5);
        cache["order"] = json!(order);
        let policy = json!({"policy": "shortest_access", "ageing": 0.0});
        let changes = [
            (key, cache),
            ("/scheduler", policy),
            ("/seek/read", seek.clone()),
        ];
        let mut rig = Rig::new(&changed(&changes));
        let (_, rate) = rig.closed_loop(outstanding, 20_000, |draws| {
            (Op::Write, draws.below(200_000) * SECTOR, SECTOR)
        });
        rig.device.check().unwrap();
        rate
    };
    // 1 ms and 12 ms times a third of the cylinders, settling, half a revolution, a sector.
    let expected = 1000.0 / (1.0 + 12.0 / 3.0 + 0.3 + 5.0 + 0.1);
    for outstanding in [1, 4, 16] {
        let found = rate("first_come", outstanding);
        assert!(
            (found / expected - 1.0).abs() < 0.03,
            "{outstanding}: {found}, expected {expected}"
        );
        assert!(rate("scheduler", outstanding) > 1.5 * expected);
    }
}

/// The cylinders in the order in which writes to them complete that come at once to such a cache.
fn admitted(runs: u32, policy: &str, plans_ahead: bool, cylinders: &[u64]) -> Vec<u64> {
    let (key, mut cache) = cached(runs, 0.0);
    cache["order"] = json!("first_come");
    let mut rig = Rig::new(&changed(&[
        (key, cache),
        ("/scheduler", json!({"policy": policy, "ageing": 0.0})),
        ("/plans_ahead", json!(plans_ahead)),
    ]));
    for cylinder in cylinders {
        rig.submit(Op::Write, cylinder * 200 * SECTOR, SECTOR);
    }
    let completed = cylinders.iter().map(|_| rig.next().unwrap().offset);
    completed.map(|offset| offset / 200 / SECTOR).collect()
}

#[test]
fn among_writes_that_wait_for_such_a_cache_the_scheduler_chooses() {
    // The first is written out at once, before others are known: its place goes to the second. That
    // of the second is for what is nearest when its turn comes, with the arm at 0.
    let order = admitted(1, "shortest_access", false, &[0, 900, 950, 1]);
    assert_eq!(order, [0, 900, 1, 950]);
    // With the arm at 0 the place of 500 is for 20; a plan meanwhile, with the arm at 500, is 600's.
    let order = admitted(2, "c_look", true, &[0, 500, 100, 600, 20, 480]);
    assert_eq!(order, [0, 500, 100, 20, 600, 480]);
}

#[test]
fn each_write_to_a_full_cache_waits_for_a_run_of_its_own() {
    let mut rig = Rig::new(&changed(&[cached(4, 0.5)]));
    let mut draws = raidlab_kernel::Stream::new(3, "test", "offsets");
    let mut write = || rig.serve(Op::Write, draws.below(200_000) * SECTOR, SECTOR);
    for _ in 0..8 {
        write();
    }
    for _ in 0..200 {
        // The place of a run is free when the run is on the medium, and not when it is begun.
        let latency = write().latency();
        assert!(latency > Nanos(150_000), "{latency:?}");
    }
    rig.device.check().unwrap();
}

#[test]
fn runs_that_a_stream_left_behind_are_destaged() {
    let mut cache = cached(16, 0.5);
    cache.1["sectors"] = json!(1000);
    let policy = json!({"policy": "shortest_access", "ageing": 0.001});
    let skew = ("/geometry/zones/0/cylinder_skew_sectors", json!(20));
    let mut rig = Rig::new(&changed(&[cache, ("/scheduler", policy), skew]));
    // Runs far off fill the cache; a stream then has always a command nearer to the head.
    for cylinder in 0..10 {
        let lbn = (900 + cylinder * 10) * 200;
        rig.submit(Op::Write, lbn * SECTOR, 100 * SECTOR);
    }
    let mut next = 0;
    let (_, rate) = rig.closed_loop(16, 2000, |_| {
        next += 20;
        (Op::Write, (next - 20) * SECTOR, 20 * SECTOR)
    });
    assert!(figure(&rig, "write_hit_ratio") > 0.3);
    // The medium passes 200 sectors in 23 ms: a write reaches the next cylinder within 20 sectors.
    assert!(rate > 0.9 * 10.0 / 23e-3, "{rate}");
    rig.device.check().unwrap();
}

#[test]
fn shortest_access_beats_ascending_beats_first_come() {
    let rate = |policy: Value| {
        let points = json!([[1, 1_000_000], [1000, 15_000_000]]);
        let mut rig = Rig::new(&changed(&[
            ("/seek/read/points", points),
            ("/scheduler", policy),
        ]));
        rig.closed_loop(16, 20_000, |draws| {
            (Op::Read, draws.below(200_000) * SECTOR, SECTOR)
        })
        .1
    };
    let shortest = rate(json!({"policy": "shortest_access", "ageing": 0.01}));
    let ascending = rate(json!({"policy": "c_look"}));
    let first = rate(json!({"policy": "first_come"}));
    // First come: half a revolution, a sector, and the mean seek over pairs of 1000 cylinders.
    let weight = |d: f64| 2.0 * (1000.0 - d) / 1e6;
    let time = |d: f64| 1.0 + 14.0 * (d - 1.0) / 999.0;
    let seek: f64 = (1..1000).map(f64::from).map(|d| weight(d) * time(d)).sum();
    let expected = 1000.0 / (5.0 + 0.1 + seek);
    assert!(
        (first / expected - 1.0).abs() < 0.01,
        "{first}, expected {expected}"
    );
    assert!(shortest > 1.5 * first, "{shortest} {first}");
    assert!(ascending > 1.2 * first, "{ascending} {first}");
    assert!(shortest > ascending);
}

/// The order in which random reads complete, `outstanding` at once, by when they were submitted.
fn order(plans_ahead: bool, outstanding: u64) -> Vec<u64> {
    let policy = json!({"policy": "shortest_access", "ageing": 0.0});
    let mut rig = Rig::new(&changed(&[
        ("/scheduler", policy),
        ("/plans_ahead", json!(plans_ahead)),
    ]));
    let mut draws = raidlab_kernel::Stream::new(3, "test", "offsets");
    let mut offsets = Vec::new();
    let mut found = Vec::new();
    let mut submit = |rig: &mut Rig, offsets: &mut Vec<u64>| {
        offsets.push(draws.below(200_000) * SECTOR);
        rig.submit(Op::Read, offsets[offsets.len() - 1], SECTOR);
    };
    for _ in 0..outstanding {
        submit(&mut rig, &mut offsets);
    }
    for _ in 0..200 {
        let offset = rig.next().unwrap().offset;
        // The arm goes on before the next read comes.
        let now = rig.now();
        rig.pause(now);
        let at = offsets.iter().rposition(|&other| other == offset).unwrap();
        found.push(at as u64);
        submit(&mut rig, &mut offsets);
    }
    found
}

#[test]
fn a_drive_that_plans_ahead_has_no_choice_among_three() {
    // One is served, the next is planned, and the third has just come.
    let after_the_first = order(true, 3).split_off(3);
    assert!(after_the_first.is_sorted(), "{after_the_first:?}");
    assert!(!order(false, 3).split_off(3).is_sorted());
    assert!(!order(true, 4).split_off(3).is_sorted());
}

#[test]
fn what_comes_after_the_choice_waits_for_what_was_chosen() {
    let completed = |plans_ahead: bool| {
        let policy = json!({"policy": "shortest_access", "ageing": 0.0});
        let mut rig = Rig::new(&changed(&[
            ("/scheduler", policy),
            ("/plans_ahead", json!(plans_ahead)),
        ]));
        let mut order = Vec::new();
        for cylinder in [0, 100, 900] {
            rig.submit(Op::Read, cylinder * 200 * SECTOR, SECTOR);
        }
        order.push(rig.next().unwrap().offset);
        let now = rig.now();
        rig.pause(now);
        // The arm is on its way to cylinder 100; what lies there comes now.
        rig.submit(Op::Read, (100 * 200 + 50) * SECTOR, SECTOR);
        order.extend((0..3).map(|_| rig.next().unwrap().offset));
        order
            .iter()
            .map(|offset| offset / SECTOR)
            .collect::<Vec<_>>()
    };
    assert_eq!(completed(false), [0, 20_000, 20_050, 180_000]);
    assert_eq!(completed(true), [0, 20_000, 180_000, 20_050]);
}

#[test]
fn ageing_bounds_the_longest_wait() {
    let worst = |ageing: f64| {
        let policy = json!({"policy": "shortest_access", "ageing": ageing});
        let mut rig = Rig::new(&changed(&[("/scheduler", policy)]));
        let mut draws = raidlab_kernel::Stream::new(3, "test", "offsets");
        let mut worst = Nanos::ZERO;
        let mut submit =
            |rig: &mut Rig| rig.submit(Op::Read, draws.below(200_000) * SECTOR, SECTOR);
        (0..32).for_each(|_| {
            submit(&mut rig);
        });
        for _ in 0..20_000 {
            let io = rig.next().unwrap();
            worst = worst.max(io.latency());
            submit(&mut rig);
        }
        worst
    };
    let (greedy, aged) = (worst(0.0), worst(0.05));
    assert!(aged.0 * 2 < greedy.0, "{aged:?} {greedy:?}");
}

#[test]
fn all_faults_are_reported_at_once() {
    let bad = changed(&[
        ("/rpm", json!(0)),
        ("/initial_angle", json!(1.5)),
        ("/buffer/segments", json!(0)),
        (
            "/scheduler",
            json!({"policy": "shortest_access", "ageing": -1.0}),
        ),
        ("/interface/queue_depth", json!(0)),
        ("/geometry/heads", json!(0)),
        ("/seek/head_switch_ns", json!(2_000_000_000)),
    ]);
    let faults = Device::new(&bad, 1, "drive").unwrap_err();
    let keys: Vec<&str> = faults.iter().map(|fault| fault.key.as_str()).collect();
    assert_eq!(
        keys,
        [
            "rpm",
            "initial_angle",
            "buffer.segments",
            "interface.queue_depth",
            "scheduler.ageing",
            "geometry.heads",
            "seek.head_switch_ns",
        ]
    );
    let big = changed(&[("/capacity_bytes", json!(200_001 * SECTOR))]);
    let faults = Device::new(&big, 1, "drive").unwrap_err();
    assert_eq!(faults[0].key, "capacity_bytes");
    assert!(faults[0].allowed.contains("102400000"), "{}", faults[0]);
}
