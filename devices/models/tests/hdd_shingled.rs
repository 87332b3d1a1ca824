//! A drive-managed shingled disk, against what can be computed by hand.

use crate::common::{Rig, params};
use raidlab_io::{Op, Part};
use raidlab_kernel::Time;
use raidlab_models::DeviceParams;
use serde_json::{Value, json};

const SECTOR: u64 = 512;
/// Sectors of a band, and of the log.
const BAND: u64 = 2400;
const LOG: u64 = 48_000;
/// A revolution, in ns; 1200 sectors pass in it.
const REVOLUTION: u64 = 10_000_000;
const TRACK: u64 = 1200;

/// 6000 rpm, 1200 sectors a track, 2 heads, 2000 cylinders; 1 ms plus 1 us a cylinder; skews of a
/// tenth. A track with its skew passes in 11 ms. No memory for writes, no read-ahead.
fn drive(changes: &[(&str, Value)]) -> DeviceParams {
    let mut drive = json!({
        "kind": "hdd",
        "rpm": 6000,
        "initial_angle": 0.0,
        "geometry": {"heads": 2, "zones": [{
            "first_cylinder": 0, "last_cylinder": 1999, "sectors_per_track": TRACK,
            "track_skew_sectors": 120, "cylinder_skew_sectors": 120,
        }]},
        "seek": {
            "read": {"form": "table", "points": [[1, 901_000], [2000, 2_900_000]]},
            "head_switch_ns": 900_000,
        },
        "buffer": {"segments": 4, "segment_sectors": 1200, "read_ahead": {"policy": "none"}},
        "scheduler": {"policy": "first_come"},
        "interface": {
            "kind": "link", "read_overhead_ns": 100_000, "write_overhead_ns": 100_000,
            "queue_depth": 32,
        },
        "shingled": {
            "band_bytes": BAND * SECTOR, "media_cache_bytes": LOG * SECTOR, "records": 1000,
            "merge_after_idle_ns": 60_000_000_000u64,
        },
    });
    for (pointer, value) in changes {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        drive.pointer_mut(parent).unwrap()[key] = value.clone();
    }
    params(&drive.to_string())
}

fn memory(sectors: u64) -> (&'static str, Value) {
    let cache = json!({
        "sectors": sectors, "extents": 64, "extent_sectors": 2048, "flush_above": 0.9,
        "flush_after_idle_ns": 0,
    });
    ("/write_cache", cache)
}

fn figure(rig: &Rig, name: &str) -> f64 {
    let figures = rig.device.figures();
    figures.iter().find(|figure| figure.0 == name).unwrap().1
}

fn write(rig: &mut Rig, lbn: u64, sectors: u64) -> u64 {
    let io = rig.serve(Op::Write, lbn * SECTOR, sectors * SECTOR);
    (io.mark - io.issued).0
}

#[test]
fn writes_anywhere_go_to_the_end_of_the_log_one_revolution_each() {
    let mut rig = Rig::new(&drive(&[]));
    write(&mut rig, 1_000_000, 8);
    for lbn in [5_000, 2_000_000, 77_777] {
        // The log goes on behind the head: its next sector comes after a revolution. 8 sectors take
        // 66.67 us.
        let took = write(&mut rig, lbn, 8);
        assert!(took.abs_diff(REVOLUTION + 66_667) < 50, "{took}");
    }
    assert_eq!(figure(&rig, "media_cache_records"), 4.0);
    assert_eq!(figure(&rig, "media_cache_bytes"), 4.0 * 4096.0);
}

#[test]
fn writes_that_wait_in_memory_share_one_revolution() {
    let mut rig = Rig::new(&drive(&[memory(4096)]));
    let start = rig.now();
    for n in 0..200 {
        let took = write(&mut rig, (n * 7919) % 500_000 * 8, 8);
        assert_eq!(took, 100_000, "room in memory");
    }
    rig.serve(Op::Flush, 0, 0);
    // 20 ms of overhead; of 200 writes the log has all after at most four revolutions.
    let took = (rig.now() - start).0;
    assert!(took < 4 * REVOLUTION + 2 * 11_000_000, "{took}");
    assert_eq!(figure(&rig, "media_cache_records"), 200.0);
}

#[test]
fn a_read_finds_what_was_written_in_the_log_and_the_rest_at_home() {
    let mut rig = Rig::new(&drive(&[]));
    write(&mut rig, 1_000_000, 8);
    // The log begins at cylinder 0, where the arm stands; the sector comes round.
    let cached = rig.serve(Op::Read, 1_000_000 * SECTOR, 8 * SECTOR);
    assert_eq!(cached.parts[Part::Seek].0, 0);
    // 1,000,008 + 48,000 is in cylinder 436: 0.9 ms and 436 us.
    let home = rig.serve(Op::Read, 1_000_008 * SECTOR, 8 * SECTOR);
    assert_eq!(home.parts[Part::Seek].0, 900_000 + 436_000);
    // A read of both kinds: to cylinder 436, and back to the log for the rest.
    write(&mut rig, 1_000_800, 8);
    let both = rig.serve(Op::Read, 1_000_796 * SECTOR, 8 * SECTOR);
    assert_eq!(both.parts[Part::Seek].0, 2 * (900_000 + 436_000));
}

/// The head stands at sector 1,000,008 + 48,000 of the medium. Ahead of it are 1,010,000 and 1,100,000
/// at home; 1,050,000 is in the log, the medium's first sectors, so it is last.
#[test]
fn an_ascending_order_is_that_of_the_medium() {
    let mut rig = Rig::new(&drive(&[("/scheduler/policy", json!("c_look"))]));
    write(&mut rig, 1_050_000, 8);
    for lbn in [1_000_000, 1_050_000, 1_100_000, 1_010_000] {
        rig.submit(Op::Read, lbn * SECTOR, 8 * SECTOR);
    }
    let order = [(); 4].map(|()| rig.next().unwrap().offset / SECTOR);
    assert_eq!(order, [1_000_000, 1_010_000, 1_100_000, 1_050_000]);
}

#[test]
fn a_stream_goes_straight_to_its_bands_from_the_second_on() {
    let mut rig = Rig::new(&drive(&[memory(4096)]));
    let (bands, block) = (20, 240);
    let start = rig.now();
    for lbn in (0..bands * BAND).step_by(block as usize) {
        write(&mut rig, lbn, block);
    }
    rig.serve(Op::Flush, 0, 0);
    // The first band went to the log.
    assert_eq!(figure(&rig, "media_cache_bytes"), (BAND * SECTOR) as f64);
    assert_eq!(figure(&rig, "merged_bands"), 0.0);
    // Two tracks a band, 11 ms each; positioning from the log takes less than 15 ms.
    let took = (rig.now() - start).0;
    let floor = (bands - 1) * 2 * 11_000_000;
    assert!((floor..floor + 60_000_000).contains(&took), "{took}");
}

#[test]
fn a_stream_that_ends_inside_a_band_leaves_the_rest_to_be_merged() {
    let mut rig = Rig::new(&drive(&[
        memory(4096),
        ("/shingled/merge_after_idle_ns", json!(1_000_000_000u64)),
    ]));
    for lbn in (0..2 * BAND + 600).step_by(600) {
        write(&mut rig, lbn, 600);
    }
    rig.pause(Time(3_000_000_000));
    // The rest of the third band, then the first one, which lies in the log.
    assert_eq!(figure(&rig, "merged_bands"), 2.0);
    assert_eq!(figure(&rig, "media_cache_bytes"), 0.0);
}

#[test]
fn an_idle_drive_empties_its_log() {
    let mut rig = Rig::new(&drive(&[(
        "/shingled/merge_after_idle_ns",
        json!(1_000_000_000u64),
    )]));
    for band in [3, 90, 3, 200] {
        write(&mut rig, band * BAND + 100, 8);
    }
    rig.pause(Time(900_000_000));
    assert_eq!(figure(&rig, "merged_bands"), 0.0);
    rig.pause(Time(3_000_000_000));
    assert_eq!(figure(&rig, "merged_bands"), 3.0);
    // Of both writes to the same sectors one was left.
    assert_eq!(figure(&rig, "merged_records"), 3.0);
    rig.device.check().unwrap();
}

/// Sustained random writes over B bands, with R records in the log's map: n = r + (r^2 + 1)^(1/2)
/// records are merged at a time, with r = R / B. So a write costs 1 / n of
///
///     read and write of the band + n * (positioning at a record + its transfer) + positioning between them
///
/// and its own revolution in the log, or its share of one.
#[test]
fn sustained_random_writes_cost_their_share_of_a_merge() {
    let (bands, records) = (100, 400);
    let log = 200_000 * SECTOR;
    let mut rig = Rig::new(&drive(&[
        ("/shingled/records", json!(records)),
        ("/shingled/media_cache_bytes", json!(log)),
    ]));
    let mut draws = raidlab_kernel::Stream::new(7, "rig", "load");
    // Mean time of a write in ms, and bands and records merged meanwhile.
    let mut writes = |count: u64| {
        let merged = |rig: &Rig| ["merged_bands", "merged_records"].map(|it| figure(rig, it));
        let (start, before) = (rig.now(), merged(&rig));
        for _ in 0..count {
            let lbn = draws.below(bands) * BAND + draws.below(BAND - 112);
            write(&mut rig, lbn, 112);
        }
        let after = merged(&rig);
        let took = (rig.now() - start).seconds() * 1e3 / count as f64;
        (took, after[0] - before[0], after[1] - before[1])
    };
    // In ms: 112 sectors, and a skew when they begin on one track and end on the next.
    let transfer = 112.0 / 120.0 + 112.0 / 1200.0;
    // Until the log's map is full, each costs its revolution.
    let (fresh, ..) = writes(399);
    assert!((fresh / (10.0 + transfer) - 1.0).abs() < 0.01, "{fresh}");
    writes(2000);
    let (took, merges, merged) = writes(4000);
    let r = f64::from(records) / bands as f64;
    let n = r + (r * r + 1.0).sqrt();
    assert!(
        (merged / merges / n - 1.0).abs() < 0.03,
        "{} of {n}",
        merged / merges
    );
    // The log is 83 cylinders long, the bands are 100 behind it, 90 away on average: seeks take 0.9 ms
    // and 1 us a cylinder, and half a revolution. A band is two tracks.
    let (band, positioning) = (10.0 + 1.0 + 10.0, 0.99 + 5.0);
    let record = 0.9 + 5.0 + transfer;
    let merge = positioning + band + n * record + positioning + band;
    // A write behind another costs a revolution, the first one behind a merge a positioning.
    let append = ((n - 1.0) * 10.0 + positioning) / n + transfer;
    let expected = merge / n + append;
    assert!((took / expected - 1.0).abs() < 0.03, "{took} of {expected}");
}

#[test]
fn a_stream_of_reads_runs_at_the_rate_of_the_medium() {
    let ahead = json!({"policy": "fixed", "sectors": 1200});
    let mut rig = Rig::new(&drive(&[("/buffer/read_ahead", ahead)]));
    let mut at = 0;
    let (_, rate) = rig.closed_loop(1, 2000, |_| {
        at += 120;
        (Op::Read, at * SECTOR, 120 * SECTOR)
    });
    // 1200 sectors in 11 ms.
    let medium = 1200.0 / 120.0 / 0.011;
    assert!((rate / medium - 1.0).abs() < 0.03, "{rate} of {medium}");
}

#[test]
fn a_log_that_fits_no_band_is_a_fault() {
    let wrong = drive(&[("/shingled/media_cache_bytes", json!(512))]);
    let faults = raidlab_models::Device::new(&wrong, 1, "drive").unwrap_err();
    assert!(
        faults[0].to_string().contains("shingled.media_cache_bytes"),
        "{faults:?}"
    );
}
