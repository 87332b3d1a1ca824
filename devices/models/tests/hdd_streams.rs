//! Streams, and those beside them, against what can be computed by hand; spindles of unequal speed.

use crate::common::{Rig, params};
use raidlab_io::{Io, Op};
use raidlab_kernel::Nanos;
use raidlab_models::Device;
use serde_json::{Value, json};

const SECTOR: u64 = 512;

/// 6000 rpm (10 ms a revolution), 100 sectors a track, 1000 cylinders of 2 heads. A track and its
/// skew pass in 11 ms, a cylinder and its skews in 23 ms. Seeks take 1 to 2 ms.
fn drive() -> Value {
    json!({
        "kind": "hdd",
        "rpm": 6000,
        "geometry": {"heads": 2, "zones": [{
            "first_cylinder": 0, "last_cylinder": 999, "sectors_per_track": 100,
            "track_skew_sectors": 10, "cylinder_skew_sectors": 20,
        }]},
        "seek": {
            "read": {"form": "table", "points": [[1, 1_001_000], [1000, 2_000_000]]},
            "head_switch_ns": 500_000,
        },
        "buffer": {
            "segments": 8, "segment_sectors": 200,
            "read_ahead": {"policy": "fixed", "sectors": 100},
        },
        "scheduler": {"policy": "shortest_access", "ageing": 0.001},
        "interface": {
            "kind": "link", "read_overhead_ns": 10_000, "write_overhead_ns": 10_000,
            "queue_depth": 64,
        },
    })
}

fn with(changes: &[(&str, Value)]) -> Rig {
    let mut drive = drive();
    for (pointer, value) in changes {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        drive.pointer_mut(parent).unwrap()[key] = value.clone();
    }
    Rig::new(&params(&drive.to_string()))
}

/// A closed load of one kind: where its next I/O begins.
struct Load {
    op: Op,
    next: u64,
    step: u64,
    sectors: u64,
    outstanding: u32,
}

impl Load {
    fn stream(op: Op, first: u64, outstanding: u32) -> Load {
        Load {
            op,
            next: first,
            step: 8,
            sectors: 8,
            outstanding,
        }
    }

    /// Single sectors all over the drive: a large step, modulo its sectors.
    fn scattered(outstanding: u32) -> Load {
        Load {
            op: Op::Read,
            next: 77_777,
            step: 76_543,
            sectors: 1,
            outstanding,
        }
    }
}

/// Completed I/Os and longest latency of each load, after some seconds side by side.
fn beside(rig: &mut Rig, loads: &mut [Load], seconds: u64) -> Vec<(u64, Nanos)> {
    let submit = |rig: &mut Rig, load: &mut Load| {
        let lbn = load.next % 199_000;
        load.next += load.step;
        rig.submit(load.op, lbn * SECTOR, load.sectors * SECTOR)
    };
    let mut owners = std::collections::HashMap::new();
    for (at, load) in loads.iter_mut().enumerate() {
        for _ in 0..load.outstanding {
            owners.insert(submit(rig, load), at);
        }
    }
    let mut found = vec![(0, Nanos::ZERO); loads.len()];
    while rig.now().0 < seconds * 1_000_000_000 {
        let (id, io): (_, Io) = rig.next_with_id().expect("a closed load never ends");
        let at = owners.remove(&id).expect("it was submitted");
        found[at].0 += 1;
        found[at].1 = found[at].1.max(io.latency());
        owners.insert(submit(rig, &mut loads[at]), at);
    }
    found
}

/// The reader waits for two stays of the head at most (twice a seek of 1.33 ms and half a
/// revolution, 12.7 ms, and a command), for what the stream left behind when it came back (eight
/// commands), and for its own; a command takes 13 ms at most. By ageing alone it waited for 12 s:
/// 12 ms over 0.001.
#[test]
fn a_random_reader_is_not_starved_by_a_stream() {
    for op in [Op::Read, Op::Write] {
        let mut loads = [Load::stream(op, 0, 8), Load::scattered(1)];
        let found = beside(&mut with(&[]), &mut loads, 60);
        let (served, longest) = found[1];
        assert!(
            longest < Nanos((2 * (13 + 13) + 8 * 13 + 13) * 1_000_000),
            "{op:?} {longest:?}"
        );
        // At the mean half of a stay less, and half as long for each command.
        assert!(served > 60 * 1000 / (30 + 11 * 6), "{op:?} {served}");
        // The stream has the head for half of that time.
        let share = found[0].0 as f64 * 8.0 * 23e-3 / 200.0 / 60.0;
        assert!((0.45..0.75).contains(&share), "{op:?} {share}");
    }
}

/// A stream of writes that goes through the cache leaves runs beside the head at any time.
#[test]
fn a_random_reader_is_not_starved_by_cached_writes() {
    let cache = json!({
        "sectors": 1000, "extents": 16, "extent_sectors": 100, "flush_above": 0.5,
        "flush_after_idle_ns": 1_000_000_000,
    });
    let mut loads = [Load::stream(Op::Write, 0, 8), Load::scattered(1)];
    let (served, longest) = beside(&mut with(&[("/write_cache", cache)]), &mut loads, 60)[1];
    assert!(longest < Nanos(200_000_000), "{longest:?}");
    assert!(served > 60 * 10, "{served}");
}

/// Two synchronous streams: each time the head comes, it reads what is wanted and a hundred sectors
/// ahead, 12.4 ms, and moves in 1 to 12 ms. It read 8 sectors for each movement.
#[test]
fn each_of_two_streams_keeps_its_segment() {
    for depth in [1, 8] {
        let streams = [(Op::Read, 0), (Op::Read, 100_000)];
        let mut loads = streams.map(|(op, first)| Load::stream(op, first, depth));
        let found = beside(&mut with(&[]), &mut loads, 60);
        let [(first, slow), (second, slower)] = found[..] else {
            unreachable!()
        };
        let sectors = 8.0 * (first + second) as f64 / 60.0;
        let medium = 200.0 / 23e-3;
        assert!(
            (0.5..0.95).contains(&(sectors / medium)),
            "{depth}: {}",
            sectors / medium
        );
        assert!(
            first.abs_diff(second) < first / 20,
            "{depth}: {first} {second}"
        );
        assert!(
            slow.max(slower) < Nanos(100_000_000),
            "{depth}: {slow:?} {slower:?}"
        );
    }
}

/// A synchronous reader of 8 sectors each 20 ms: the buffer of 200 sectors is always ahead of it,
/// since the head fills what became free within a revolution. A hit costs the overhead alone. If hits
/// do not restart read-ahead, every thirteenth read finds nothing and waits for the platter.
#[test]
fn a_slow_reader_finds_all_in_the_buffer() {
    for restarts in [false, true] {
        let mut rig = with(&[("/buffer/read_ahead_on_idle_hit", json!(restarts))]);
        let mut longest = Nanos::ZERO;
        for read in 0..200 {
            let io = rig.serve(Op::Read, read * 8 * SECTOR, 8 * SECTOR);
            if read > 0 {
                longest = longest.max(io.latency());
            }
            rig.pause(raidlab_kernel::Time((read + 1) * 20_000_000));
        }
        match restarts {
            true => assert_eq!(longest, Nanos(10_000)),
            false => assert!(longest > Nanos(1_000_000), "{longest:?}"),
        }
    }
}

/// A stream of its own keeps all of the medium's rate, whatever its depth.
#[test]
fn a_stream_alone_does_not_interrupt_itself() {
    for depth in [1, 8, 64] {
        let found = beside(&mut with(&[]), &mut [Load::stream(Op::Read, 0, depth)], 20);
        let sectors = 8.0 * found[0].0 as f64 / 20.0;
        assert!(
            (sectors / (200.0 / 23e-3) - 1.0).abs() < 0.01,
            "{depth}: {sectors}"
        );
    }
}

/// Sectors a second of a stream on a member of a RAID 5 of four drives, over those that pass the head: of
/// each four units of `unit_sectors` sectors one is parity.
fn share_of_a_stream_with_gaps(rig: &mut Rig, unit_sectors: u64, depth: u32) -> f64 {
    let mut units = (0u64..).filter(|unit| unit % 4 != 3);
    let mut submit = |rig: &mut Rig| {
        let unit = units.next().expect("there are more");
        rig.submit(
            Op::Read,
            unit * unit_sectors * SECTOR,
            unit_sectors * SECTOR,
        );
    };
    (0..depth).for_each(|_| submit(rig));
    let mut served = 0;
    while rig.now().0 < 20_000_000_000 {
        rig.next().expect("a closed load never ends");
        served += 1;
        submit(rig);
    }
    let passes = 200.0 / 23e-3;
    unit_sectors as f64 * f64::from(served) / 20.0 / passes
}

/// The head passes over the gap, on the next track too, where an arm that is sent there may come too
/// late: the rate of the medium times 3/4, whatever the depth. It was 17 to 42 % of the medium's.
#[test]
fn a_stream_with_gaps_has_the_rate_of_what_passes() {
    for depth in [1, 2, 3, 8, 64] {
        let mut rig = with(&[("/seek/spread_ns", json!(1_000_000))]);
        let share = share_of_a_stream_with_gaps(&mut rig, 8, depth);
        assert!((share / 0.75 - 1.0).abs() < 0.01, "{depth}: {share}");
    }
}

/// Units as long as the limit of read-ahead: the head stands before the next one when it has read
/// the gap ahead.
#[test]
fn a_gap_may_be_as_long_as_what_is_read_ahead() {
    for depth in [1, 2, 3, 8, 64] {
        let mut rig = with(&[
            ("/seek/spread_ns", json!(1_000_000)),
            ("/buffer/read_ahead/sectors", json!(40)),
        ]);
        let share = share_of_a_stream_with_gaps(&mut rig, 40, depth);
        assert!((share / 0.75 - 1.0).abs() < 0.01, "{depth}: {share}");
    }
}

/// Three reads in a row wait on a track; a head that takes what is nearest begins in their middle
/// where the first has just passed, and comes back for it. Joined they are one.
#[test]
fn commands_in_a_row_are_served_in_a_row() {
    for first in (1000..1100).step_by(7) {
        let mut rig = with(&[("/buffer/read_ahead", json!({"policy": "none"}))]);
        rig.submit(Op::Read, 0, 8 * SECTOR);
        let parts =
            [16, 0, 8].map(|part| rig.submit(Op::Read, (first + part) * SECTOR, 8 * SECTOR));
        let order: Vec<_> = (0..4).map(|_| rig.next_with_id().unwrap().0).collect();
        assert_eq!(order[1..], [parts[1], parts[2], parts[0]], "{first}");
    }
}

/// A head that arrives among the sectors of the first command ends in its middle, half a revolution
/// before the second one. Chosen by access time alone, a later command was next, and the stream
/// stayed in two parts.
#[test]
fn a_stream_of_writes_is_not_cut_in_two() {
    let cache = |flush_above: f64| {
        json!({"sectors": 1000, "extents": 16, "extent_sectors": 100,
               "flush_above": flush_above, "flush_after_idle_ns": 1_000_000_000})
    };
    let cases = [
        (Value::Null, vec![2, 8, 16, 64]),
        (cache(0.5), vec![1, 2, 8, 16, 64]),
        (cache(0.9), vec![1, 2, 8, 16, 64]),
    ];
    for (cache, depths) in cases {
        for (depth, sectors) in depths.iter().flat_map(|&depth| [(depth, 40), (depth, 120)]) {
            let mut rig = with(&[
                ("/seek/spread_ns", json!(1_000_000)),
                ("/buffer/write_on_arrival", json!(true)),
                ("/write_cache", cache.clone()),
            ]);
            let mut load = Load::stream(Op::Write, 0, depth);
            (load.step, load.sectors) = (sectors, sectors);
            let served = beside(&mut rig, &mut [load], 20)[0].0;
            let rate = (sectors * served) as f64 / 20.0 / (200.0 / 23e-3);
            assert!(
                (rate - 1.0).abs() < 0.02,
                "{depth} of {sectors}: {rate}, {cache}"
            );
        }
    }
}

/// Sectors 20 and 28 begin to pass 1.2 and 2 ms after sector 7, and take 0.8 ms. The second read
/// comes while the head is before the first.
#[test]
fn reads_ahead_of_the_head_wait_for_it() {
    let mut rig = with(&[]);
    rig.serve(Op::Read, 0, 8 * SECTOR);
    let start = rig.now();
    rig.submit(Op::Read, 20 * SECTOR, 8 * SECTOR);
    rig.submit(Op::Read, 28 * SECTOR, 8 * SECTOR);
    for passed in [2_000_000, 2_800_000] {
        assert_eq!(rig.next().unwrap().mark - start, Nanos(passed));
    }
}

/// Behind sector 7 come 92 sectors and a skew of 1 ms: sector 100, on the next track, passes after
/// 10.2 ms. An arm that moved there at once would miss it, since a head switch takes 0.5 ms and its
/// angle comes after 0.2. Sector 200 passes after 10.2 + 10 + 2 ms. Its angle comes after 2.2 ms,
/// and a movement to its cylinder takes 1 ms: that saves two revolutions.
#[test]
fn a_movement_goes_before_reading_on_where_it_saves_a_revolution() {
    for (lbn, passes) in [(100, 10_200_000), (200, 2_200_000)] {
        let mut rig = with(&[
            ("/buffer/segment_sectors", json!(1000)),
            ("/buffer/read_ahead/sectors", json!(500)),
        ]);
        rig.serve(Op::Read, 0, 8 * SECTOR);
        let late = rig.serve(Op::Read, lbn * SECTOR, 8 * SECTOR).latency().0 - 800_000;
        assert!(late.abs_diff(passes) < 100, "{lbn}: {late}");
    }
}

/// Random reads at depth wait as long as the order says, but for the limit and one more command.
#[test]
fn nothing_waits_beyond_the_age_limit() {
    let longest = |limit: Option<u64>| {
        let limit = limit.map(|ns| ("/age_limit_ns", json!(ns)));
        let mut rig = with(&Vec::from_iter(limit));
        let mut draws = raidlab_kernel::Stream::new(3, "test", "offsets");
        let mut longest = Nanos::ZERO;
        let mut submit =
            |rig: &mut Rig| rig.submit(Op::Read, draws.below(199_000) * SECTOR, SECTOR);
        for _ in 0..32 {
            submit(&mut rig);
        }
        for _ in 0..20_000 {
            longest = longest.max(rig.next().unwrap().latency());
            submit(&mut rig);
        }
        longest
    };
    // Those that are due together follow each other, 13 ms at most each.
    assert!(longest(None) > Nanos(500_000_000));
    let held = longest(Some(250_000_000));
    assert!(held < Nanos(250_000_000 + 10 * 13_000_000), "{held:?}");
}

/// Random commands are served by access time, however little a segment holds: a movement of the arm
/// and a long transfer are no stay, after which the oldest command would be next.
#[test]
fn random_reads_are_served_by_access_time_whatever_a_segment_holds() {
    let served = |segment: u64, sectors: u64| {
        let mut rig = with(&[
            ("/buffer/segments", json!(1)),
            ("/buffer/segment_sectors", json!(segment)),
            ("/buffer/read_ahead", json!({"policy": "none"})),
        ]);
        let mut load = Load::scattered(32);
        load.sectors = sectors;
        beside(&mut rig, &mut [load], 60)[0].0
    };
    // Eight sectors pass in 0.8 ms, less than a movement and less than 40 sectors do.
    for sectors in [1, 40] {
        let (few, many) = (served(8, sectors), served(400, sectors));
        // 400 sectors are two cylinders: rarely a choice stays among them until the oldest is next.
        assert!(few.abs_diff(many) * 100 < few, "{sectors}: {few} {many}");
        // In the order of arrival: a mean seek of 1.4 ms, half a revolution, a sector.
        assert!(sectors > 1 || few > 60 * 1000 / 5, "{few}");
    }
}

/// A flush beside a stream of reads waits no longer than the limit for its runs to begin.
#[test]
fn a_flush_is_not_starved_by_a_stream() {
    let cache = json!({
        "sectors": 1000, "extents": 16, "extent_sectors": 100, "flush_above": 0.9,
        "flush_after_idle_ns": 1_000_000_000,
    });
    let mut rig = with(&[
        ("/write_cache", cache),
        ("/age_limit_ns", json!(300_000_000)),
    ]);
    for run in 0..4 {
        rig.serve(Op::Write, (100_000 + 20_000 * run) * SECTOR, 8 * SECTOR);
    }
    let flush = rig.submit(Op::Flush, 0, 0);
    let mut next = 0;
    let mut submit = |rig: &mut Rig| {
        rig.submit(Op::Read, next * SECTOR, 8 * SECTOR);
        next += 8;
    };
    (0..8).for_each(|_| submit(&mut rig));
    let done = loop {
        let (id, io) = rig.next_with_id().unwrap();
        if id == flush {
            break io.latency();
        }
        submit(&mut rig);
        assert!(io.latency() < Nanos(1_000_000_000));
    };
    // Four runs, 13 ms at most each, and the command under way.
    assert!(done < Nanos((300 + 4 * 13 + 24) * 1_000_000), "{done:?}");
}

/// Sectors pass as the platter turns, however fast it turns: a stream loses no revolution, and the
/// next sector of a track is not missed between two commands.
#[test]
fn a_drive_streams_at_its_own_speed() {
    let mut rates = Vec::new();
    for seed in 0..8 {
        let mut drive = drive();
        drive["speed_tolerance"] = json!(0.02);
        let params = params(&drive.to_string());
        let mut rig = Rig::new(&params);
        rig.device = Device::new(&params, seed, "drive").unwrap();
        let reads = beside(&mut rig, &mut [Load::stream(Op::Read, 0, 4)], 20)[0].0;
        rates.push(8.0 * reads as f64 / 20.0 / (200.0 / 23e-3));
    }
    let (least, most) = (
        rates.iter().copied().fold(2.0, f64::min),
        rates.iter().copied().fold(0.0, f64::max),
    );
    assert!(0.975 < least && most < 1.025, "{rates:?}");
    assert!(most - least > 0.01, "{rates:?}");
}

/// All on one track: whatever the order, a sector passes within a revolution, half of one on average.
/// So n writes outstanding are n a half revolution (Little), where each waits for the platter alone:
/// the one that passes first is next. In the order of arrival each waits half a revolution by itself.
#[test]
fn writes_of_one_track_are_served_as_they_pass() {
    let rate = |policy: Value, outstanding: u32| {
        let mut rig = with(&[
            ("/geometry/zones/0/sectors_per_track", json!(5000)),
            ("/scheduler", policy),
            ("/interface/write_overhead_ns", json!(0)),
        ]);
        rig.closed_loop(outstanding, 40_000, |draws| {
            (Op::Write, draws.below(5000) * SECTOR, SECTOR)
        })
        .1
    };
    for n in [1, 4, 16] {
        let passing = rate(json!({"policy": "shortest_access", "ageing": 0.0}), n);
        let expected = f64::from(n) / 5e-3;
        assert!((passing / expected - 1.0).abs() < 0.015, "{n} {passing}");
    }
    let first = rate(json!({"policy": "first_come"}), 16);
    assert!((first / 200.0 - 1.0).abs() < 0.015, "{first}");
}
