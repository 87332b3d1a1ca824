//! Arrivals before a server whose times differ: Pollaczek and Khinchine.

use crate::common::{interval, result, stations};
use serde_json::json;

/// M/G/1 with two sizes. A link of 81.92 MB/s is the server: 4 KiB take 50 us, 32 KiB 400 us. At
/// 4000 and 500 a second it is used by 0.2 + 0.2, and the mean wait is the same for both: by
/// Pollaczek and Khinchine (4000 x 50^2 + 500 x 400^2) 10^-12 / (2 (1 - 0.4)) s = 75 us. So small
/// ones take 125 us, large ones 475 us.
#[test]
fn one_server_with_two_times_and_poisson_arrivals() {
    let mut value = stations(1, 0, "fixed", 1);
    value["links"] = json!([{"name": "x", "bytes_per_s": 81_920_000, "full_duplex": true,
                             "frame_bytes": 0}]);
    value["drives"][0]["path"] = json!([0]);
    value["warm_up_ns"] = json!(1_000_000_000_u64);
    value["duration_ns"] = json!(60_000_000_000_u64);
    let small = value["workloads"][0].clone();
    value["workloads"] = json!([small, small]);
    for (load, (name, bytes, per_s)) in [("small", 4096, 4000.0), ("large", 32_768, 500.0)]
        .into_iter()
        .enumerate()
    {
        value["workloads"][load]["name"] = json!(name);
        value["workloads"][load]["block_bytes"] = json!(bytes);
        value["workloads"][load]["arrival"] = json!({"kind": "poisson", "per_s": per_s});
    }
    let means: Vec<[f64; 2]> = (1..=10)
        .map(|seed| {
            value["seed"] = json!(seed);
            let found = result(&value);
            [0, 1].map(|load| found.workloads[load].breakdown_us.values().sum())
        })
        .collect();
    for (load, exact) in [125.0, 475.0].into_iter().enumerate() {
        let own: Vec<f64> = means.iter().map(|each| each[load]).collect();
        let [low, high] = interval(&own);
        assert!(low <= exact && exact <= high, "{low} to {high}");
        assert!(high - low < 0.02 * exact, "{low} to {high}");
    }
}
