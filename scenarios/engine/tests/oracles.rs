//! The engine against queueing theory.

use crate::common::{
    closed, interval, plan, printed, result, ssd_of_one_channel, stations, to_its_end,
};
use raidlab_engine::kernel::Time;
use raidlab_engine::{RunError, Simulation};
use serde_json::{Value, json};

fn open(value: &mut Value, per_s: f64, seconds: u64) {
    value["workloads"][0]["arrival"] = json!({"kind": "poisson", "per_s": per_s});
    value["duration_ns"] = json!(seconds * 1_000_000_000);
    value["warm_up_ns"] = json!(seconds * 100_000_000);
}

/// The engine's own 95 % interval over independent replications covers the exact value.
fn latency_interval_us(value: &Value, replications: u64) -> [f64; 2] {
    let means: Vec<f64> = (0..replications)
        .map(|seed| {
            let mut value = value.clone();
            value["seed"] = json!(seed + 1);
            let json = printed(&result(&value));
            json["workloads"][0]["latency_us"]["mean"].as_f64().unwrap()
        })
        .collect();
    interval(&means)
}

fn assert_holds(interval: [f64; 2], exact: f64, tightness: f64) {
    assert!(
        interval[0] <= exact && exact <= interval[1],
        "{exact} is outside {interval:?}"
    );
    assert!(
        interval[1] - interval[0] < tightness * exact,
        "{interval:?} is too wide to say anything"
    );
}

/// Nothing takes time, so the clock cannot move.
#[test]
fn a_load_whose_ios_take_no_time_is_reported() {
    let mut value = stations(1, 0, "fixed", 1);
    value["workloads"] = json!([closed("slow", 1), closed("reader", 4)]);
    value["workloads"][0]["arrival"]["think_ns"] = json!(1_000_000);
    let Err(RunError::Plan(faults)) = to_its_end(&plan(&value)) else {
        panic!("a run that cannot end");
    };
    assert_eq!((&*faults[0].key, &*faults[0].value), ("workload", "reader"));
    let mut driven = Simulation::new(&plan(&value)).unwrap();
    assert!(driven.advance(Time(1_000_000_000)).is_none());
    assert_eq!(driven.system().failure(), Some(faults[0].clone()));
}

/// Every I/O of a burst at one instant, and a load that pauses on a path that takes no time.
#[test]
fn bursts_that_take_no_time_are_no_livelock() {
    let mut value = stations(1, 0, "fixed", 1);
    value["workloads"] = json!([closed("burst", 400_000)]);
    value["workloads"][0]["arrival"]["think_ns"] = json!(10_000_000);
    value["duration_ns"] = json!(50_000_000);
    let json = printed(&result(&value));
    assert_eq!(json["workloads"][0]["ios"], 6 * 400_000);
}

/// M/M/1: mean stay = s / (1 - rho); 100 us at 8000 a second stay 500 us.
#[test]
fn one_exponential_server_with_poisson_arrivals() {
    let mut value = stations(1, 100_000, "exponential", 1);
    open(&mut value, 8000.0, 20);
    assert_holds(latency_interval_us(&value, 10), 500.0, 0.05);
}

/// M/D/1 (Pollaczek and Khinchine): mean stay = s + s rho / (2 (1 - rho)); 100 us at 8000 a
/// second stay 300 us.
#[test]
fn one_deterministic_server_with_poisson_arrivals() {
    let mut value = stations(1, 100_000, "fixed", 1);
    open(&mut value, 8000.0, 20);
    assert_holds(latency_interval_us(&value, 10), 300.0, 0.05);
}

/// M/M/4 (Erlang's C): 4 servers of 100 us at 32,000 a second: a = 3.2, C = 0.596433, mean
/// stay = s + C s / (4 - a) = 174.554 us.
#[test]
fn four_exponential_servers_with_poisson_arrivals() {
    let a: f64 = 3.2;
    let terms: Vec<f64> = vec![1.0, a, a * a / 2.0, a.powi(3) / 6.0];
    let last = a.powi(4) / 24.0 * 4.0 / (4.0 - a);
    let wait = last / (terms.iter().sum::<f64>() + last);
    let exact = 100.0 + wait * 100.0 / (4.0 - a);
    assert!((exact - 174.554).abs() < 0.01, "{exact}");
    let mut value = stations(1, 100_000, "exponential", 4);
    open(&mut value, 32_000.0, 10);
    assert_holds(latency_interval_us(&value, 10), exact, 0.05);
}

fn patterned(value: &mut Value, per_s: f64, seconds: u64, pattern: Value) {
    open(value, per_s, seconds);
    let arrival = json!({"kind": "patterned", "per_s": per_s, "pattern": pattern});
    value["workloads"][0]["arrival"] = arrival;
}

/// D/M/1: mean stay = s / (1 - x), where x = exp(-(1 - x) / rho); at rho = 0.8 it is 269.2 us.
#[test]
fn one_exponential_server_with_even_arrivals() {
    let mut x: f64 = 0.5;
    for _ in 0..200 {
        x = (-(1.0 - x) / 0.8).exp();
    }
    let exact = 100.0 / (1.0 - x);
    assert!((exact - 269.2).abs() < 0.1, "{exact}");
    let mut value = stations(1, 100_000, "exponential", 1);
    patterned(&mut value, 8000.0, 20, json!({"kind": "even"}));
    assert_holds(latency_interval_us(&value, 10), exact, 0.05);
}

type Matrix = [[f64; 2]; 2];

fn times(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| a[i][0] * b[0][j] + a[i][1] * b[1][j]))
}

fn plus(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| a[i][j] + b[i][j]))
}

fn inverse(a: &Matrix) -> Matrix {
    let d = a[0][0] * a[1][1] - a[0][1] * a[1][0];
    [[a[1][1] / d, -a[0][1] / d], [-a[1][0] / d, a[0][0] / d]]
}

/// Mean stay of MMPP(2)/M/1 by Neuts's matrix-geometric method: of rates `l` in phases that are
/// left at rates `q`, at service rate `m`.
fn mmpp_m_1(l: [f64; 2], q: [f64; 2], m: f64) -> f64 {
    let up = [[l[0], 0.0], [0.0, l[1]]];
    let down = [[m, 0.0], [0.0, m]];
    let stay = |m: f64| [[-q[0] - l[0] - m, q[0]], [q[1], -q[1] - l[1] - m]];
    let minus = |a: &Matrix| a.map(|row| row.map(|each| -each));
    let identity = [[1.0, 0.0], [0.0, 1.0]];
    // R = -(up + R² down) stay⁻¹, from 0.
    let mut r = [[0.0; 2]; 2];
    for _ in 0..200_000 {
        let next = plus(&up, &times(&times(&r, &r), &down));
        r = times(&minus(&next), &inverse(&stay(m)));
    }
    // The empty level: pi (stay without service + R down) = 0, pi (I - R)⁻¹ 1 = 1.
    let balance = plus(&stay(0.0), &times(&r, &down));
    let pi = [balance[1][0], -balance[0][0]];
    let geometric = inverse(&plus(&identity, &minus(&r)));
    let sum = |a: &Matrix| {
        let row = |j: usize| pi[0] * a[0][j] + pi[1] * a[1][j];
        row(0) + row(1)
    };
    let inside = sum(&times(&r, &times(&geometric, &geometric))) / sum(&geometric);
    let mean = (l[0] * q[1] + l[1] * q[0]) / (q[0] + q[1]);
    inside / mean
}

/// Bursts before an exponential server of 100 us: at 5000 a second on average, 15,000 for 1 ms in
/// the mean and 1667 for 3 ms. With one rate in both phases it is M/M/1.
#[test]
fn one_exponential_server_with_bursts_of_arrivals() {
    let even = mmpp_m_1([8000.0, 8000.0], [1000.0, 333.0], 10_000.0);
    assert!((even - 500e-6).abs() < 1e-9, "{even}");
    let (on, off): (f64, f64) = (1e-3, 3e-3);
    let peak = 5000.0 * (on + off) / (on + off / 9.0);
    let exact = 1e6 * mmpp_m_1([peak, peak / 9.0], [1.0 / on, 1.0 / off], 10_000.0);
    let mut value = stations(1, 100_000, "exponential", 1);
    let pattern = json!({"kind": "on_off", "on_ns": 1_000_000, "off_ns": 3_000_000,
                         "off_rate": 1.0 / 9.0});
    patterned(&mut value, 5000.0, 30, pattern);
    assert!(exact > 350.0, "{exact}: bursts matter");
    assert_holds(latency_interval_us(&value, 10), exact, 0.08);
}

fn limit(counts: &str, per_s: u64, burst_ns: u64) -> Value {
    json!({"counts": counts, "milli_per_s": per_s * 1000, "burst_ns": burst_ns})
}

/// A limit of 5000 a second without a burst is a server of 200 us: with 4000 arrivals a second it
/// is M/D/1, and the wait is 200 us x 0.8 / (2 x 0.2) = 400 us. What it lets through lies 200 us
/// apart and meets an idle drive.
#[test]
fn a_limit_without_a_burst_is_a_deterministic_server() {
    let mut value = stations(1, 10_000, "fixed", 1);
    value["workloads"][0]["limits"] = json!([limit("ios", 5000, 0)]);
    open(&mut value, 4000.0, 20);
    assert_holds(latency_interval_us(&value, 10), 410.0, 0.05);
    let found = result(&value);
    let row = &printed(&found)["workloads"][0];
    let parts = &row["breakdown_us"];
    let total = parts["limit_wait"].as_f64().unwrap() + parts["service"].as_f64().unwrap();
    assert!((total - row["latency_us"]["mean"].as_f64().unwrap()).abs() < 1e-6);
}

/// A closed load of 8 against a limit of 1000 a second: the rate is the limit's, and by Little's
/// law an I/O takes 8 ms. Against 2 MB a second blocks of 4096 bytes pass 488.28 times a second.
#[test]
fn a_closed_load_gets_its_limit_and_waits_for_it() {
    for (limits, rate) in [
        (json!([limit("ios", 1000, 100_000_000)]), 1000.0),
        (json!([limit("bytes", 2_000_000, 0)]), 2e6 / 4096.0),
        (
            json!([limit("ios", 1000, 0), limit("bytes", 2_000_000, 0)]),
            2e6 / 4096.0,
        ),
    ] {
        let mut value = stations(1, 10_000, "fixed", 1);
        value["workloads"] = json!([closed("tenant", 8), closed("neighbour", 1)]);
        value["workloads"][0]["limits"] = limits;
        value["warm_up_ns"] = json!(1_000_000_000_u64);
        value["duration_ns"] = json!(10_000_000_000_u64);
        let found = printed(&result(&value));
        let row = &found["workloads"][0];
        let served = row["ios"].as_f64().unwrap();
        assert!((served - 10.0 * rate).abs() <= 1.0, "{served}");
        let mean = row["latency_us"]["mean"].as_f64().unwrap();
        assert!((mean / (8e6 / rate) - 1.0).abs() < 1e-3, "{mean}");
        // What the tenant does not take the neighbour has.
        let other = found["workloads"][1]["iops"].as_f64().unwrap();
        assert!((other + rate) / 1e5 > 0.99, "{other}");
        let components = found["components"].as_array().unwrap();
        let limits = components.iter().filter(|each| each["kind"] == "limit");
        let full = limits.map(|each| each["utilization"].as_f64().unwrap());
        assert!(full.fold(0.0, f64::max) > 0.99, "{components:?}");
    }
}

fn shared(first: Value, second: Value, depth: u32) -> Value {
    let mut value = stations(1, 100_000, "exponential", 1);
    value["workloads"] = json!([closed("first", 16), closed("second", 16)]);
    value["workloads"][0]["share"] = first;
    value["workloads"][1]["share"] = second;
    value["arrays"][0]["shared_depth"] = json!(depth);
    value["warm_up_ns"] = json!(100_000_000_u64);
    value["duration_ns"] = json!(10_000_000_000_u64);
    value
}

/// Two loads that always want more get 3 to 1 of a server's 10,000 I/Os a second; blocks of
/// 128 KiB cost four units, so a load of them gets a quarter of the I/Os.
#[test]
fn tenants_are_served_by_their_weights() {
    let one = json!({"weight": 1, "priority": 0});
    let three = json!({"weight": 3, "priority": 0});
    for depth in [1, 8] {
        let found = result(&shared(three.clone(), one.clone(), depth));
        let ratio = found.workloads[0].iops / found.workloads[1].iops;
        assert!((ratio - 3.0).abs() < 0.01, "{ratio}");
    }
    let mut value = shared(one.clone(), one, 1);
    value["workloads"][0]["block_bytes"] = json!(128 * 1024);
    let found = result(&value);
    let ratio = found.workloads[1].iops / found.workloads[0].iops;
    assert!((ratio - 4.0).abs() < 0.02, "{ratio}");
}

/// Priorities without interruption before one server (Cobham 1954): exponential 100 us, 4000
/// arrivals a second of each class: R = 8000 E[s^2] / 2 = 80 us; the first waits R / (1 - 0.4) =
/// 133.3 us, the second R / ((1 - 0.4) (1 - 0.8)) = 666.7 us.
#[test]
fn priorities_meet_cobhams_formula() {
    let share = |priority| json!({"weight": 1, "priority": priority});
    let mut value = shared(share(0), share(1), 1);
    for load in 0..2 {
        value["workloads"][load]["arrival"] = json!({"kind": "poisson", "per_s": 4000.0});
    }
    value["duration_ns"] = json!(40_000_000_000_u64);
    let means: Vec<[f64; 2]> = (1..=10)
        .map(|seed| {
            value["seed"] = json!(seed);
            let json = printed(&result(&value));
            [0, 1].map(|load| {
                json["workloads"][load]["latency_us"]["mean"]
                    .as_f64()
                    .unwrap()
            })
        })
        .collect();
    for (load, exact) in [(0, 233.33), (1, 766.67)] {
        let own: Vec<f64> = means.iter().map(|each| each[load]).collect();
        assert_holds(interval(&own), exact, 0.06);
    }
}

/// Exact mean-value analysis (Reiser and Lavenberg, 1980) of a closed network: a delay (think
/// time) and single-server stations, all visits equally likely.
fn mva(outstanding: u32, think: f64, service: f64, drives: u32) -> f64 {
    let (mut queue, mut rate) = (0.0, 0.0);
    for n in 1..=outstanding {
        let stay = service * (1.0 + queue);
        rate = f64::from(n) / (think + stay);
        queue = rate / f64::from(drives) * stay;
    }
    rate
}

/// A closed network of eight exponential drives and exponential think time meets MVA.
#[test]
fn a_closed_network_meets_mean_value_analysis() {
    for outstanding in [1, 4, 16] {
        let mut value = stations(8, 100_000, "exponential", 1);
        value["duration_ns"] = json!(20_000_000_000_u64);
        value["workloads"][0]["arrival"] = json!({"kind": "closed", "outstanding": outstanding,
            "think_ns": 50_000, "exponential": true});
        let rates: Vec<f64> = (1..=10)
            .map(|seed| {
                value["seed"] = json!(seed);
                result(&value).workloads[0].iops
            })
            .collect();
        let exact = mva(outstanding, 50e-6, 100e-6, 8);
        assert_holds(interval(&rates), exact, 0.02);
    }
}

/// The interval that a single run gives, by batch means, covers the exact value in about 95 of 100
/// runs.
#[test]
fn a_runs_own_interval_covers_the_mean() {
    let mut value = stations(1, 100_000, "exponential", 1);
    open(&mut value, 5000.0, 10);
    let covered = (0..100)
        .filter(|seed| {
            value["seed"] = json!(seed + 1000);
            let intervals = &result(&value).workloads[0].intervals;
            let mut latencies = intervals.latency_ci95_us.iter();
            let &(_, [low, high]) = latencies.find(|each| each.0 == "mean").unwrap();
            (low..=high).contains(&Some(200.0))
        })
        .count();
    // Binomial with p = 0.95 and n = 100: fewer than 88 has a probability below 0.2 %.
    assert!(covered >= 88, "{covered} of 100");
}

/// A deterministic mirrored pair: a write takes as long as one drive, reads use both.
#[test]
fn a_mirrored_pair_reads_twice_as_fast_as_it_writes() {
    let mut value = stations(2, 100_000, "fixed", 1);
    value["arrays"][0]["level"] = json!("raid1");
    value["workloads"][0]["arrival"]["outstanding"] = json!(2);
    assert_eq!(result(&value).workloads[0].iops, 20_000.0);
    value["workloads"][0]["read_share"] = json!(0.0);
    assert_eq!(result(&value).workloads[0].iops, 10_000.0);
}

/// A 1 us link of 4096 bytes limits fast drives behind it to 4096 bytes a 4.096 us.
#[test]
fn a_shared_link_limits_the_drives_behind_it() {
    let mut value = stations(4, 1000, "fixed", 1);
    value["links"] = json!([{"name": "x", "bytes_per_s": 1_000_000_000, "full_duplex": true,
                             "frame_bytes": 0}]);
    for drive in 0..4 {
        value["drives"][drive]["path"] = json!([0]);
    }
    value["workloads"][0]["arrival"]["outstanding"] = json!(64);
    let result = result(&value);
    let expected = 1e9 / 4096.0;
    assert!((result.workloads[0].iops / expected - 1.0).abs() < 1e-3);
    let link = result.components.iter().find(|c| c.kind == "link").unwrap();
    assert!((link.utilization - 1.0).abs() < 1e-3);
}

/// A controller's queue depth limits how many drives work at once.
#[test]
fn a_controllers_queue_depth_limits_the_drives_behind_it() {
    let mut value = stations(1, 100_000, "fixed", 64);
    value["controllers"] = json!([{"name": "c", "queue_depth": 8, "cores": 1, "request_ns": 0,
                                   "command_ns": 0}]);
    value["arrays"][0]["controller"] = json!(0);
    value["workloads"][0]["arrival"]["outstanding"] = json!(64);
    assert_eq!(result(&value).workloads[0].iops, 80_000.0);
}

/// The host's CPU time per I/O limits one thread; two threads do twice as much.
#[test]
fn a_load_thread_is_limited_by_its_cpu_time() {
    for (threads, expected) in [(1, 200_000.0), (2, 400_000.0)] {
        let mut value = stations(1, 1000, "fixed", 64);
        value["host"] = json!({"submit_ns": 3000, "complete_ns": 2000, "raid_command_ns": 0});
        value["workloads"][0]["threads"] = json!(threads);
        value["workloads"][0]["arrival"]["outstanding"] = json!(32);
        let iops = result(&value).workloads[0].iops;
        assert!((iops / expected - 1.0_f64).abs() < 1e-3, "{iops}");
    }
}

/// A shallow stream stays with one copy of a mirror; a deep one is shared, in runs.
#[test]
fn a_mirror_shares_a_stream_only_when_it_is_deep() {
    for (outstanding, least, most) in [(1, 0.0, 0.0), (8, 0.0, 0.0), (64, 0.3, 0.7)] {
        let mut value = stations(2, 100_000, "fixed", 1);
        value["arrays"][0]["level"] = json!("raid1");
        let load = &mut value["workloads"][0];
        load["access"] = json!("sequential");
        load["arrival"]["outstanding"] = json!(outstanding);
        let components = result(&value).components;
        let busy: Vec<f64> = components
            .iter()
            .filter(|component| component.kind == "drive")
            .map(|component| component.utilization)
            .collect();
        let share = busy[1] / (busy[0] + busy[1]);
        assert!((least..=most).contains(&share), "{outstanding}: {busy:?}");
    }
}

/// Little's law holds up to the last event handled, though a load thread that is behind notes the
/// last completions later.
#[test]
fn a_run_that_ends_early_behind_a_busy_load_thread_keeps_its_accounts() {
    let mut value = stations(1, 10_000, "fixed", 64);
    value["host"]["submit_ns"] = json!(2000);
    value["host"]["complete_ns"] = json!(3000);
    value["workloads"] = json!([crate::common::closed("load", 256)]);
    for max_ios in [1000, 1001, 1777, 5000] {
        value["max_ios"] = json!(max_ios);
        result(&value);
    }
}

/// Random reads, 256 outstanding, of a drive with one channel: reads of 50 us, nothing else takes
/// time.
fn reads_of_one_channel(dies: u32, channel_bytes_per_s: u64) -> f64 {
    rate_of_one_channel(dies, channel_bytes_per_s, |_| {})
}

fn rate_of_one_channel(dies: u32, channel_bytes_per_s: u64, change: impl Fn(&mut Value)) -> f64 {
    let capacity = 64_u64 << 20;
    let mut value = stations(1, 0, "fixed", 1);
    let mut ssd = ssd_of_one_channel(capacity, dies, 2048 / dies);
    ssd["nand"]["channel_bytes_per_s"] = json!(channel_bytes_per_s);
    value["devices"] = json!([ssd]);
    let load = &mut value["workloads"][0];
    load["area_bytes"] = json!(capacity);
    load["arrival"]["outstanding"] = json!(256);
    change(&mut value);
    let json = printed(&result(&value));
    json["workloads"][0]["iops"].as_f64().unwrap()
}

/// 4 KiB take 10.24 us of a channel of 400 MB/s: 97,656 a second, which eight dies can give.
#[test]
fn a_channel_that_is_the_bottleneck_is_never_idle() {
    let rate = reads_of_one_channel(8, 400_000_000);
    assert!((0.99 * 97_656.0..=97_657.0).contains(&rate), "{rate}");
}

/// Data go to the dies at a rate of their own: 4 KiB at 100 MB/s take 40.96 us, 24,414 a second,
/// however fast they come back, and reads stay as they are.
#[test]
fn a_channel_has_a_rate_for_each_direction() {
    let write = |value: &mut Value| {
        value["devices"][0]["nand"]["channel_write_bytes_per_s"] = json!(100_000_000);
        value["devices"][0]["nand"]["program_ns"] = json!([20_000]);
        value["workloads"][0]["read_share"] = json!(0.0);
        value["warm_up_ns"] = json!(50_000_000);
        value["duration_ns"] = json!(300_000_000);
    };
    let rate = rate_of_one_channel(8, 400_000_000, write);
    assert!((rate / 24_414.0 - 1.0).abs() < 0.01, "{rate}");
    let reads = rate_of_one_channel(8, 400_000_000, |value| {
        value["devices"][0]["nand"]["channel_write_bytes_per_s"] = json!(100_000_000);
    });
    assert!((0.99 * 97_656.0..=97_657.0).contains(&reads), "{reads}");
}

/// A decoder of 200 MB/s takes 20.48 us for 4 KiB: 48,828 reads a second from a bus of 400 MB/s. One
/// of 10 MB/s would leave 2,441; writes pass none, and come at their bus's 24,414.
#[test]
fn a_slow_error_correction_bounds_reads_and_no_writes() {
    let correction = |value: &mut Value, rate: u64| {
        value["devices"][0]["nand"]["correction_bytes_per_s"] = json!(rate);
    };
    let reads = rate_of_one_channel(8, 400_000_000, |value| correction(value, 200_000_000));
    assert!((0.99 * 48_828.0..=48_829.0).contains(&reads), "{reads}");
    let writes = rate_of_one_channel(8, 100_000_000, |value| {
        correction(value, 10_000_000);
        value["devices"][0]["nand"]["program_ns"] = json!([20_000]);
        value["workloads"][0]["read_share"] = json!(0.0);
        value["warm_up_ns"] = json!(50_000_000);
        value["duration_ns"] = json!(100_000_000);
    });
    assert!((writes / 24_414.0 - 1.0).abs() < 0.01, "{writes}");
}

/// Where the channel takes no time, n dies with N reads among them give at least what they would
/// with exponential times, N / (N + n - 1) of n / 50 us, and at most all of that.
#[test]
fn dies_behind_a_fast_channel_do_not_hinder_each_other() {
    for dies in [8, 16] {
        let most = f64::from(dies) / 50e-6;
        let least = most * 256.0 / (255.0 + f64::from(dies));
        let rate = reads_of_one_channel(dies, 1_000_000_000_000);
        assert!((least..=most).contains(&rate), "{dies} dies: {rate}");
    }
}

/// The record of an I/O has 27 bits for the place that issued it.
#[test]
fn more_places_than_a_record_can_name_are_refused() {
    let mut value = stations(1, 1000, "fixed", 1);
    let loads = |count: u32| -> Vec<_> {
        let names = (0..count).map(|load| format!("load {load}"));
        names.map(|name| closed(&name, 1 << 20)).collect()
    };
    value["workloads"] = json!(loads(128));
    let Err(RunError::Plan(faults)) = to_its_end(&plan(&value)) else {
        panic!("a plan with 2^27 places runs");
    };
    let [fault] = &faults[..] else {
        panic!("{faults:?}");
    };
    assert_eq!(
        (fault.key.as_str(), fault.value.as_str()),
        ("workloads", "134217728")
    );
}
