//! The hot path allocates nothing: a run ten times as long allocates exactly as often.

mod common;

use common::{plan, stations};
use raidlab_engine::run;
use serde_json::{Value, json};

fn allocations(value: &Value, ios: u64) -> u64 {
    let mut value = value.clone();
    value["max_ios"] = json!(ios);
    value["duration_ns"] = json!(u64::MAX / 4);
    let plan = plan(&value);
    let mut result = None;
    let info = allocation_counter::measure(|| result = Some(run(&plan, || true)));
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
