//! The controller's cache against arithmetic.

use crate::common::{printed, result, stations};
use serde_json::{Value, json};

/// Drives of 100 us, one command at a time, units of 4 KiB, a controller with 1 us a request.
fn cached(level: &str, drives: u32, write: &str, read_ahead: &str) -> Value {
    let mut value = stations(drives, 100_000, "fixed", 1);
    value["controllers"] = json!([{"name": "c", "queue_depth": 0, "cores": 1, "request_ns": 1000,
        "command_ns": 0, "cache": {"bytes": 1 << 24, "dirty_share": 0.5, "low_share": 0.5,
        "flush_interval_ns": 1_000_000_000_u64, "destages_per_drive": 4,
        "hold_ns": 1_000_000_000_u64}}]);
    value["arrays"][0]["level"] = json!(level);
    value["arrays"][0]["controller"] = json!(0);
    value["arrays"][0]["cache"] =
        json!({"write": write, "read_ahead": read_ahead, "keep_reads": false});
    value["workloads"][0]["read_share"] = json!(0.0);
    value["workloads"][0]["area_bytes"] = json!(1_u64 << 29);
    value
}

/// Below the drives' own rate a write takes the controller's time and nothing else.
#[test]
fn write_back_hides_the_drives() {
    let mut value = cached("raid5", 5, "write_back", "none");
    value["workloads"][0]["arrival"] = json!({"kind": "poisson", "per_s": 100.0});
    value["duration_ns"] = json!(20_000_000_000_u64);
    let json = printed(&result(&value));
    assert_eq!(
        json["workloads"][0]["latency_us"]["p50"]
            .as_f64()
            .unwrap()
            .round(),
        1.0
    );
    value["arrays"][0]["cache"]["write"] = json!("write_through");
    let json = printed(&result(&value));
    assert!(json["workloads"][0]["latency_us"]["min"].as_f64().unwrap() >= 201.0);
}

/// Far above it, random writes to a large area go at the drives' rate: 4 commands each.
#[test]
fn random_writes_end_at_the_drives_rate() {
    let mut value = cached("raid5", 6, "write_back", "none");
    value["workloads"][0]["arrival"]["outstanding"] = json!(64);
    value["warm_up_ns"] = json!(2_000_000_000_u64);
    let rate = result(&value).workloads[0].iops;
    let most = 10_000.0 * 6.0 / 4.0;
    assert!(
        rate >= most * 0.95 && rate <= most * 1.1,
        "{rate} of {most}"
    );
}

/// Sequential writes become full stripes: every drive writes all the time and reads nothing.
#[test]
fn sequential_writes_become_full_stripes() {
    let mut value = cached("raid5", 5, "write_back", "none");
    value["workloads"][0]["access"] = json!("sequential");
    value["workloads"][0]["arrival"]["outstanding"] = json!(64);
    value["warm_up_ns"] = json!(1_000_000_000_u64);
    let rate = result(&value).workloads[0].iops;
    assert!((39_000.0..=40_400.0).contains(&rate), "{rate}");
}

/// What is due goes to the drives evenly: five drives of 5 ms that 50 small writes a second keep
/// busy for a fifth of the time and 50 reads for a twentieth. If commands came at random a read
/// would wait for 0.8 ms (M/D/1 at a quarter); behind fifty stripes at once it waits for 6 ms.
#[test]
fn reads_do_not_wait_for_a_flush_of_everything() {
    let mut value = cached("raid5", 5, "write_back", "none");
    value["devices"][0]["service_ns"] = json!(5_000_000);
    value["workloads"][0]["read_share"] = json!(0.5);
    value["workloads"][0]["arrival"] = json!({"kind": "poisson", "per_s": 100.0});
    value["warm_up_ns"] = json!(2_000_000_000_u64);
    value["duration_ns"] = json!(100_000_000_000_u64);
    let json = printed(&result(&value));
    let reads = &json["workloads"][0]["read"]["latency_us"];
    assert!(
        (5_000.0..5_900.0).contains(&reads["mean"].as_f64().unwrap()),
        "{reads}"
    );
}

/// A memory that moves 20,000 units a second. What is written goes into it once and out of it to each
/// drive that takes it: one of RAID 0, both of a mirror, five for four units of RAID 5.
#[test]
fn what_is_written_passes_the_memory_in_and_out() {
    let cases = [
        ("raid0", 8, "write_back", 20_000.0 / 2.0),
        ("raid10", 8, "write_back", 20_000.0 / 3.0),
        ("raid10", 8, "write_through", 20_000.0 / 3.0),
        ("raid5", 5, "write_back", 20_000.0 * 4.0 / 9.0),
    ];
    for (level, drives, write, expected) in cases {
        let mut value = cached(level, drives, write, "none");
        value["controllers"][0]["memory_bytes_per_s"] = json!(81_920_000);
        value["workloads"][0]["access"] = json!("sequential");
        value["workloads"][0]["arrival"]["outstanding"] = json!(64);
        value["warm_up_ns"] = json!(2_000_000_000_u64);
        let rate = result(&value).workloads[0].iops;
        assert!(
            (rate / expected - 1.0).abs() < 0.02,
            "{level}, {write}: {rate}, expected {expected}"
        );
    }
}

/// Core times of a stream of whole units, written back: 1 us for a request and 30 us for the list of
/// its page; 30 us more for the second copy's list, which another core makes beside it if there is
/// one.
#[test]
fn a_second_copy_of_a_whole_unit_takes_a_list_of_its_own_on_any_core() {
    let cases = [
        ("raid0", 1, 0, 31_000.0),
        ("raid10", 1, 0, 61_000.0),
        ("raid10", 2, 1, 31_000.0),
    ];
    for (level, cores, cache_cores, ns) in cases {
        let mut value = cached(level, 8, "write_back", "none");
        value["controllers"][0]["cores"] = json!(cores);
        value["controllers"][0]["cache_cores"] = json!(cache_cores);
        value["controllers"][0]["page_ns"] = json!(30_000);
        value["workloads"][0]["access"] = json!("sequential");
        value["workloads"][0]["arrival"]["outstanding"] = json!(64);
        value["warm_up_ns"] = json!(200_000_000_u64);
        let (rate, expected) = (result(&value).workloads[0].iops, 1e9 / ns);
        assert!(
            (rate / expected - 1.0).abs() < 0.02,
            "{level}, {cores} cores: {rate}, expected {expected}"
        );
    }
}

/// Around the memory of an array that is neither mirrored nor cached: nothing passes it.
#[test]
fn what_goes_straight_to_the_drives_passes_no_memory() {
    let mut value = cached("raid0", 8, "write_through", "none");
    value["controllers"][0]["memory_bytes_per_s"] = json!(1);
    value["workloads"][0]["arrival"]["outstanding"] = json!(64);
    let rate = result(&value).workloads[0].iops;
    assert!((70_000.0..=80_100.0).contains(&rate), "{rate}");
}

/// A small area that fits the dirty limit is overwritten in the cache again and again.
#[test]
fn overwrites_stay_in_the_cache() {
    let mut value = cached("raid5", 5, "write_back", "none");
    value["workloads"][0]["area_bytes"] = json!(1 << 20);
    value["workloads"][0]["arrival"]["outstanding"] = json!(8);
    let rate = result(&value).workloads[0].iops;
    assert!((999_000.0..=1_000_100.0).contains(&rate), "{rate}");
}

/// A sequential stream, one at a time: from the cache, the controller's microsecond each, as
/// long as the drives bring enough: five drives at 10,000 commands a second, with parity a command
/// a unit, without one for each drive's part of a chunk of 64 units.
#[test]
fn read_ahead_serves_a_stream_at_the_drives_rate() {
    let mut value = cached("raid5", 5, "write_through", "adaptive");
    value["workloads"][0]["access"] = json!("sequential");
    value["workloads"][0]["read_share"] = json!(1.0);
    let rate = result(&value).workloads[0].iops;
    assert!((45_000.0..=50_100.0).contains(&rate), "{rate}");
    value["arrays"][0]["level"] = json!("raid0");
    let rate = result(&value).workloads[0].iops;
    assert!((630_000.0..=641_000.0).contains(&rate), "{rate}");
    value["arrays"][0]["cache"]["read_ahead"] = json!("none");
    let rate = result(&value).workloads[0].iops;
    assert!((rate - 1e6 / 101.0).abs() < 20.0, "{rate}");
}

/// Eight blocks of 512 bytes make a unit, which five drives read 50,000 times a second. The
/// blocks that make a stripe of four units are read ahead of; by themselves they would keep one drive
/// at work, or two.
#[test]
fn small_blocks_are_read_ahead_of_at_depth_too() {
    let mut value = cached("raid5", 5, "write_through", "adaptive");
    value["workloads"][0]["access"] = json!("sequential");
    value["workloads"][0]["read_share"] = json!(1.0);
    value["workloads"][0]["block_bytes"] = json!(512);
    value["workloads"][0]["align_bytes"] = json!(512);
    for outstanding in [4, 8, 32] {
        value["workloads"][0]["arrival"]["outstanding"] = json!(outstanding);
        let rate = result(&value).workloads[0].iops;
        assert!(
            (360_000.0..=402_000.0).contains(&rate),
            "{outstanding}: {rate}"
        );
    }
}

/// Five drives of 100 us behind a controller that takes as long for a request: one read for each drive
/// leaves them idle half of the time, 25,000 a second. What is read ahead keeps them at work.
#[test]
fn one_read_for_each_drive_does_not_keep_them_at_work() {
    let mut value = cached("raid5", 5, "write_through", "adaptive");
    value["controllers"][0]["latency_ns"] = json!(100_000);
    value["workloads"][0]["access"] = json!("sequential");
    value["workloads"][0]["read_share"] = json!(1.0);
    for outstanding in [5, 8, 32] {
        value["workloads"][0]["arrival"]["outstanding"] = json!(outstanding);
        let rate = result(&value).workloads[0].iops;
        assert!(
            (45_000.0..=50_100.0).contains(&rate),
            "{outstanding}: {rate}"
        );
    }
}

/// A cache of 48 pages that read-ahead of 64 fills: a write that finds no room there waits until what
/// was in flight has come.
#[test]
fn a_write_waits_for_read_ahead_and_no_longer() {
    let mut value = cached("raid0", 2, "write_back", "behind_each");
    value["controllers"][0]["cache"]["bytes"] = json!(48 * 4096);
    let load = &mut value["workloads"][0];
    load["read_share"] = json!(0.5);
    load["align_bytes"] = json!(512);
    load["arrival"]["outstanding"] = json!(3);
    let ios = result(&value).workloads[0].ios;
    assert!(ios > 500, "{ios}");
}

/// Reads that stay find themselves again.
#[test]
fn cached_reads_hit_the_second_time() {
    let mut value = cached("raid0", 2, "write_through", "none");
    value["arrays"][0]["cache"]["keep_reads"] = json!(true);
    value["workloads"][0]["read_share"] = json!(1.0);
    value["workloads"][0]["area_bytes"] = json!(1 << 20);
    value["workloads"][0]["arrival"]["outstanding"] = json!(4);
    value["warm_up_ns"] = json!(1_000_000_000_u64);
    let rate = result(&value).workloads[0].iops;
    assert!((999_000.0..=1_000_100.0).contains(&rate), "{rate}");
}

/// Of an area four times as large as the cache a quarter is there; a read that waits for its data
/// to come into the cache is a miss, once.
#[test]
fn a_read_that_fills_the_cache_is_a_miss() {
    let mut value = cached("raid0", 2, "write_through", "none");
    let bytes = value["controllers"][0]["cache"]["bytes"].as_u64().unwrap();
    value["arrays"][0]["cache"]["keep_reads"] = json!(true);
    value["workloads"][0]["read_share"] = json!(1.0);
    value["workloads"][0]["area_bytes"] = json!(4 * bytes);
    value["warm_up_ns"] = json!(10_000_000_000_u64);
    let found = result(&value);
    let ratio = found.caches[0].read_hits as f64 / found.caches[0].reads as f64;
    assert!((ratio - 0.25).abs() < 0.03, "{ratio}");
    assert!(found.caches[0].reads.abs_diff(found.workloads[0].ios) <= 8);
}

/// Mixed loads on every level leave no breach, and the same seed gives the same result.
#[test]
fn mixed_loads_are_accounted_for_on_every_level() {
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
        for (write, ahead, keep) in [
            ("write_back", "adaptive", true),
            ("write_through", "always", true),
            ("write_back", "behind_each", false),
            ("always_write_back", "none", false),
        ] {
            let mut value = cached(level, drives, write, ahead);
            value["arrays"][0]["cache"]["keep_reads"] = json!(keep);
            let load = &mut value["workloads"][0];
            load["read_share"] = json!(0.5);
            load["align_bytes"] = json!(512);
            load["block_bytes"] = json!(6144);
            load["area_bytes"] = json!(1 << 24);
            load["arrival"]["outstanding"] = json!(32);
            value["duration_ns"] = json!(200_000_000_u64);
            let first = result(&value).to_json().unwrap();
            assert_eq!(first, result(&value).to_json().unwrap());
        }
    }
}
