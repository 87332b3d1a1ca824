//! Which copy of a mirror serves a read, where its drives are unequal.

use crate::common::{closed, result, stations};
use serde_json::{Value, json};

/// Two stations of 100 us and 1 ms a read, mirrored.
fn mirror(outstanding: u32, software: bool) -> Value {
    let mut value = stations(2, 100_000, "fixed", 1);
    let mut slow = value["devices"][0].clone();
    slow["service_ns"] = json!(1_000_000);
    value["devices"].as_array_mut().unwrap().push(slow);
    value["drives"][1]["device"] = json!(1);
    value["arrays"][0]["level"] = json!("raid1");
    value["arrays"][0]["software"] = json!(software);
    value["workloads"] = json!([closed("load", outstanding)]);
    value
}

/// One read at a time is always the fast drive's: 10,000 a second. With ten waiting there one more is
/// as fast on the other: both are busy, 11,000 a second.
#[test]
fn the_copy_that_is_done_first_serves_a_read() {
    for software in [false, true] {
        for (outstanding, expected) in [(1, 10_000.0), (8, 10_000.0), (16, 11_000.0)] {
            let rate = result(&mirror(outstanding, software)).workloads[0].ios as f64;
            assert!(
                (rate / expected - 1.0).abs() < 0.01,
                "{outstanding} outstanding: {rate}, expected {expected}"
            );
        }
    }
}
