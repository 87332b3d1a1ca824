//! Writes that meet in the stripe cache of an array in the host, against arithmetic; and their data.

use crate::common::followed::{at, data, followed};
use crate::common::{printed, result, stations};
use proptest::prelude::*;
use serde_json::{Value, json};

/// RAID 5 of five drives of 100 us that serve many at once, written in order, units of 4 KiB.
fn in_order(outstanding: u32) -> Value {
    let mut value = stations(5, 100_000, "fixed", 64);
    value["arrays"][0]["level"] = json!("raid5");
    value["workloads"][0]["access"] = json!("sequential");
    value["workloads"][0]["read_share"] = json!(0.0);
    value["workloads"][0]["arrival"]["outstanding"] = json!(outstanding);
    value
}

fn iops(value: &Value) -> f64 {
    result(value).workloads[0].iops
}

/// Four neighbours are a stripe: the first one reads its unit and parity, 100 us; the others join it
/// meanwhile, and all five units are written, 100 us. So four a 200 us.
#[test]
fn neighbours_that_come_meanwhile_are_written_together() {
    let value = in_order(4);
    assert_eq!(iops(&value), 20_000.0);
    let json = printed(&result(&value));
    // The last three wait for the reads, 100 us, in which the first one's commands are.
    let part = |name: &str| json["workloads"][0]["breakdown_us"][name].as_f64();
    assert_eq!(part("raid"), Some(75.0));
    assert_eq!(part("service"), Some(125.0));
}

/// A stripe of six units, of which three are written at once. The first one reads its unit and parity,
/// 100 us. For the two that join it, theirs have to be read as well: two more, where the rest of the
/// stripe would be three. Another 100 us, and then three units and parity are written: three a 300 us.
#[test]
fn what_the_stripe_still_lacks_is_read_besides() {
    let mut value = in_order(3);
    value["drives"] = stations(7, 0, "fixed", 1)["drives"].clone();
    value["arrays"][0]["drives"] = json!([0, 1, 2, 3, 4, 5, 6]);
    let rate = iops(&value);
    assert!((rate / 10_000.0 - 1.0).abs() < 1e-3, "{rate}");
}

/// Two writes of one block follow each other, 200 us each; a write of other pages goes on beside
/// them, though it is of the same stripe.
#[test]
fn pages_wait_for_none_but_their_own() {
    let mut value = in_order(2);
    value["workloads"][0]["area_bytes"] = json!(4096);
    assert_eq!(iops(&value), 5000.0);
    let mut value = in_order(16);
    value["arrays"][0]["stripe_unit_bytes"] = json!(65_536);
    assert_eq!(iops(&value), 80_000.0);
}

/// The thread takes 100 us for each page of a member: while it writes the five pages of one stripe,
/// the next one has all its data before its turn, and reads nothing. Of eight writes that come at
/// once one stripe begins at once and reads two pages; from then on all stripes are whole.
#[test]
fn a_busy_thread_finds_whole_stripes() {
    let mut value = in_order(8);
    value["host"]["stripe_page_ns"] = json!(100_000);
    value["warm_up_ns"] = json!(100_000_000);
    let rate = iops(&value);
    assert!((rate / (4.0 / 500e-6) - 1.0).abs() < 1e-3, "{rate}");
}

/// A part of a page costs the thread as much as all of it: 512 B on RAID 5 are four requests to members,
/// of 20 us each, beside 200 us; 4 KiB across two pages are eight.
#[test]
fn parts_of_pages_count_as_whole_ones() {
    for (block, offset, us) in [
        (512_u64, 0_u64, 280.0),
        (4096, 0, 280.0),
        (4096, 512, 360.0),
    ] {
        let mut value = in_order(1);
        value["arrays"][0]["stripe_unit_bytes"] = json!(65_536);
        value["host"]["stripe_page_ns"] = json!(20_000);
        let load = &mut value["workloads"][0];
        load["area_start_bytes"] = json!(offset);
        load["block_bytes"] = json!(block);
        load["align_bytes"] = json!(512);
        load["area_bytes"] = json!(block);
        let rate = iops(&value);
        assert!(
            (rate * us * 1e-6 - 1.0).abs() < 1e-3,
            "{block} {offset} {rate}"
        );
    }
}

/// Writes that lie across each other at random end: they are not cut ever finer.
#[test]
fn writes_across_each_other_stay_in_few_pieces() {
    let mut value = in_order(128);
    value["arrays"][0]["stripe_unit_bytes"] = json!(65_536);
    let load = &mut value["workloads"][0];
    load["access"] = json!("random");
    load["block_bytes"] = json!(1 << 18);
    load["align_bytes"] = json!(4096);
    load["area_bytes"] = json!(1 << 20);
    value["duration_ns"] = json!(1_000_000_000_u64);
    let result = result(&value);
    let writes = result.workloads[0].iops;
    assert!(writes > 1000.0);
    // About 20 events a write; cut to pages, 92, and minutes of work.
    let events = result.events as f64 / writes;
    assert!(events < 40.0, "{events}");
}

/// An array in the host whose data are followed.
fn in_host(level: &str, drives: u32) -> Value {
    let mut value = followed(level, drives, "write_through");
    value["controllers"] = json!([]);
    value["arrays"][0]["controller"] = Value::Null;
    value["arrays"][0]["cache"] = Value::Null;
    value["arrays"][0]["software"] = json!(true);
    value["host"]["stripe_page_ns"] = json!(2000);
    value
}

fn events(nth: usize) -> Value {
    let unreadable = |ms, drive, offset: u64| {
        let sectors = json!({"action": "unreadable_sectors", "drive": drive,
            "offset_bytes": offset, "bytes": 4096});
        at(ms, sectors)
    };
    let fails = |ms, drive: u32| at(ms, json!({"action": "fail_drive", "drive": drive}));
    match nth {
        0 => json!([]),
        1 => json!([fails(300, 1)]),
        2 => json!([
            unreadable(200, 0, 8192),
            unreadable(250, 1, 4096),
            fails(400, 2)
        ]),
        3 => json!([fails(300, 1), fails(500, 2), fails(600, 0)]),
        _ => json!([at(
            500,
            json!({"action": "power_fail", "off_ns": 10_000_000_u64})
        )]),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Whatever meets in a stripe, and whatever fails meanwhile: what has been acknowledged is there, and
    /// nothing older is read. Only an outage leaves parity that does not fit, and three lost drives lose.
    #[test]
    fn what_joins_is_written(
        (level, drives) in prop::sample::select(vec![("raid5", 4), ("raid6", 5), ("raid50", 6)]),
        sequential: bool,
        block in prop::sample::select(vec![512_u64, 1536, 4096, 6144, 16384]),
        unit in prop::sample::select(vec![4096_u64, 16384]),
        area in prop::sample::select(vec![65_536_u64, 1 << 20]),
        outstanding in 1_u32..40,
        fault in 0_usize..5,
        seed: u32,
    ) {
        let mut value = in_host(level, drives);
        value["seed"] = json!(seed);
        value["events"] = events(fault);
        value["arrays"][0]["stripe_unit_bytes"] = json!(unit);
        let load = &mut value["workloads"][0];
        load["access"] = json!(if sequential { "sequential" } else { "random" });
        load["read_share"] = json!(if sequential { 0.0 } else { 0.3 });
        load["block_bytes"] = json!(block);
        load["align_bytes"] = json!(if sequential { block } else { 512 });
        load["area_bytes"] = json!(area);
        load["arrival"]["outstanding"] = json!(outstanding);
        let result = result(&value);
        let (lost, stale, refused, corrupt) = data(&result);
        prop_assert_eq!(stale, 0);
        if fault < 3 {
            let unread = fault == 2 && level != "raid6";
            prop_assert!(unread || lost == 0 && refused == 0, "{} {}", lost, refused);
            prop_assert!(unread || corrupt == 0);
        }
        if fault == 4 {
            prop_assert_eq!((lost, refused), (0, 0));
        }
    }
}
