//! The hot path allocates nothing: a run ten times as long allocates exactly as often.

use crate::common::{plan, ssd_of_one_channel, stations, to_its_end};
use raidlab_engine::{System, memory_of};
use serde_json::{Value, json};

fn allocations(value: &Value, ios: u64) -> u64 {
    let mut value = value.clone();
    value["max_ios"] = json!(ios);
    value["duration_ns"] = json!(1_u64 << 59);
    let plan = plan(&value);
    let mut result = None;
    let info = allocation_counter::measure(|| result = Some(to_its_end(&plan)));
    let ios_done = result.expect("ran").expect("a result").workloads[0].ios;
    assert!(ios_done >= ios);
    info.count_total
}

fn assert_free(value: &Value) {
    // The result lists every latency bucket that was hit: a longer run hits a few more, and the
    // list may have to grow a few times more.
    let (short, long) = (allocations(value, 20_000), allocations(value, 200_000));
    assert!(short > 0, "the counter counts");
    assert!(
        long <= short + 8,
        "{} allocations in 20,000 I/Os, {} in 200,000",
        short,
        long
    );
}

#[test]
fn stations_behind_links_and_a_controller() {
    let mut value = stations(8, 100_000, "exponential", 1);
    value["links"] = json!([{"name": "x", "bytes_per_s": 1_000_000_000, "full_duplex": true,
                             "frame_bytes": 512}]);
    for drive in 0..8 {
        value["drives"][drive]["path"] = json!([0]);
        value["drives"][drive]["queue_depth"] = json!(2);
    }
    value["controllers"] = json!([{"name": "c", "queue_depth": 32, "cores": 2,
                                   "request_ns": 1000, "command_ns": 500}]);
    value["arrays"][0]["controller"] = json!(0);
    value["arrays"][0]["level"] = json!("raid10");
    let load = &mut value["workloads"][0];
    load["arrival"]["outstanding"] = json!(64);
    load["read_share"] = json!(0.67);
    load["align_bytes"] = json!(512);
    assert_free(&value);
}

#[test]
fn stripes_with_parity() {
    let mut value = stations(9, 100_000, "exponential", 1);
    value["arrays"][0]["level"] = json!("raid6");
    let load = &mut value["workloads"][0];
    load["area_bytes"] = json!(1_u64 << 29);
    load["arrival"]["outstanding"] = json!(64);
    load["read_share"] = json!(0.5);
    load["align_bytes"] = json!(512);
    assert_free(&value);
}

/// What follows the versions of the data keeps neighbouring sectors together: writes of 1 MiB take
/// no memory for each of their 2048 sectors by itself.
#[test]
fn followed_data_by_the_page() {
    let mut value = stations(5, 1_000, "fixed", 1);
    value["arrays"][0]["level"] = json!("raid5");
    value["arrays"][0]["stripe_unit_bytes"] = json!(65_536);
    value["devices"][0]["capacity_bytes"] = json!(1 << 26);
    value["data"] = json!(true);
    let load = &mut value["workloads"][0];
    load["area_bytes"] = json!(1 << 22);
    load["block_bytes"] = json!(1 << 20);
    load["align_bytes"] = json!(1 << 20);
    load["read_share"] = json!(0.5);
    let (few, many) = (allocations(&value, 200), allocations(&value, 700));
    let sectors = 500 * 2048;
    assert!(many - few < sectors / 8, "{} of {sectors}", many - few);
}

/// A drive of 16 MiB that is written at random all over: collection, wear levelling and parity
/// included.
#[test]
fn a_solid_state_drive_with_collection_at_work() {
    let capacity = 16_u64 << 20;
    let history = |access: &str, written: u64| {
        json!({"access": access, "start_bytes": 0, "area_bytes": capacity, "block_bytes": 4096,
               "written_bytes": written, "ongoing": written == 0})
    };
    let mut value = stations(1, 0, "fixed", 1);
    value["devices"] = json!([{
        "kind": "ssd", "capacity_bytes": capacity, "unit_bytes": 4096,
        "nand": {"channels": 2, "dies_per_channel": 2, "planes": 2, "blocks_per_plane": 40,
                 "pages_per_block": 32, "page_bytes": 4096, "read_ns": [50_000, 80_000],
                 "program_ns": [400_000, 1_200_000], "erase_ns": 3_000_000,
                 "channel_bytes_per_s": 200_000_000, "command_ns": 1000, "cache_read": true,
                 "cache_program": true, "suspend_ns": 5000, "reads_first": 4,
                 "rated_cycles": 3000},
        "parity_stripe": 4,
        "collection": {"policy": "greedy", "level_wear": true, "wear_gap": 20, "start_free_blocks": 6,
                       "background_free_blocks": 5},
        "buffer": {"bytes": 262_144, "protected": false, "write_through": false},
        "firmware": {"cores": 2, "read_ns": 1000, "write_ns": 1000, "read_unit_ns": 500,
                     "write_unit_ns": 500, "read_latency_ns": 5000, "write_latency_ns": 5000,
                     "other_ns": 1000},
        "prefetch": {"window_bytes": 65_536, "after_commands": 2},
        "history": [history("sequential", capacity), history("random", 0)],
    }]);
    let load = &mut value["workloads"][0];
    load["area_bytes"] = json!(capacity);
    load["arrival"]["outstanding"] = json!(64);
    load["read_share"] = json!(0.4);
    assert_free(&value);
    // That drive with half of its map in memory.
    value["devices"][0]["map_cache"] = json!({"bytes": 8192, "page_bytes": 512, "entry_bytes": 4});
    assert_free(&value);
}

#[test]
fn a_hard_disk_with_its_write_cache() {
    let disk = include_str!("../../../devices/models/tests/common/seven_two.json");
    let mut disk: Value = serde_json::from_str(disk).expect("a disk");
    disk["kind"] = json!("hdd");
    let mut value = stations(1, 0, "fixed", 1);
    value["devices"] = json!([disk]);
    value["drives"][0]["queue_depth"] = json!(32);
    let load = &mut value["workloads"][0];
    load["arrival"]["outstanding"] = json!(64);
    load["read_share"] = json!(0.5);
    assert_free(&value);
}

/// Spares make an array one that can fail: its runs, of four units each, have jobs.
#[test]
fn runs_of_mirrored_units() {
    let mut value = stations(5, 100_000, "exponential", 1);
    value["arrays"][0]["level"] = json!("raid10");
    value["arrays"][0]["drives"] = json!([0, 1, 2, 3]);
    value["arrays"][0]["spares"] = json!([4]);
    let load = &mut value["workloads"][0];
    load["area_bytes"] = json!(1_u64 << 29);
    load["block_bytes"] = json!(32_768);
    load["arrival"]["outstanding"] = json!(64);
    load["read_share"] = json!(0.0);
    load["align_bytes"] = json!(512);
    assert_free(&value);
}

/// What 100 more disks take when they are built is within what is reckoned for them, with 4 KiB for
/// the array of each, and more than half of it.
#[test]
fn disks_take_what_is_reckoned() {
    let disk = include_str!("../../../devices/models/tests/common/seven_two.json");
    let mut disk: Value = serde_json::from_str(disk).expect("a disk");
    disk["kind"] = json!("hdd");
    let built = |drives: u32| {
        let mut value = stations(drives, 0, "fixed", 1);
        value["devices"] = json!([disk]);
        let array = stations(1, 0, "fixed", 1)["arrays"][0].clone();
        let array = |drive: u32| {
            let mut own = array.clone();
            (own["name"], own["drives"]) = (json!(format!("array {drive}")), json!([drive]));
            own
        };
        value["arrays"] = json!((0..drives).map(array).collect::<Vec<_>>());
        let plan = plan(&value);
        let mut system = None;
        let info = allocation_counter::measure(|| system = Some(System::new(&plan)));
        assert!(system.is_some_and(|system| system.is_ok()));
        (info.bytes_current as f64, memory_of(&plan) as f64)
    };
    let ((few, reckoned), (many, all)) = (built(2), built(102));
    let (took, reckoned) = (many - few, all - reckoned + 100.0 * 4096.0);
    assert!(
        took <= reckoned && took > 0.5 * reckoned,
        "{took} of {reckoned}"
    );
}

/// Of a drive whose map is larger than what a load at a rate can touch, what the load touches counts:
/// 10,000 writes of 8 KiB touch four units each, with those at their ends; what collection moves has
/// these four times, 27 bytes each. A load without a rate may touch all of the map.
#[test]
fn a_load_at_a_rate_touches_what_it_writes() {
    let reckoned = |arrival: Value| {
        let capacity = 7_680_000_000_000_u64;
        let mut value = stations(1, 0, "fixed", 1);
        let mut ssd = ssd_of_one_channel(capacity, 256, 1800);
        ssd["nand"]["pages_per_block"] = json!(4608);
        value["devices"] = json!([ssd]);
        value["warm_up_ns"] = json!(0);
        value["duration_ns"] = json!(10_000_000_000_u64);
        let load = &mut value["workloads"][0];
        load["block_bytes"] = json!(8192);
        load["read_share"] = json!(0.0);
        load["arrival"] = arrival;
        memory_of(&plan(&value))
    };
    let of_rate = |per_s: f64| reckoned(json!({"kind": "poisson", "per_s": per_s}));
    let closed = reckoned(json!({"kind": "closed", "outstanding": 8, "think_ns": 0}));
    let (slow, fast) = (of_rate(50_000.0), of_rate(51_000.0));
    let more = 10_000 * 4 * 4 * 27;
    assert!((fast - slow).abs_diff(more) <= 1, "{}", fast - slow);
    assert_eq!(of_rate(1e9), closed);
    assert!(slow < closed, "{slow} of {closed}");
}
