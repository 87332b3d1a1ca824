//! What the host does to a load before the drive sees it: cores, waking, scheduling.

use crate::common::bench::Bench;
use crate::common::{closed, plan, printed, result, stations, to_its_end};
use raidlab_engine::Simulation;
use raidlab_engine::io::{ByteRange, Op};
use raidlab_engine::kernel::Time;
use serde_json::{Value, json};

fn iops(value: &Value) -> f64 {
    let result = to_its_end(&plan(value)).expect("a run");
    assert!(result.breaches.is_empty(), "{:?}", result.breaches);
    let json = printed(&result);
    json["workloads"][0]["iops"].as_f64().unwrap()
}

fn within(value: f64, expected: f64, tolerance: f64) {
    assert!(
        (value / expected - 1.0).abs() < tolerance,
        "{value} is not {expected}"
    );
}

/// 32 servers of 100 us, so that depth 8 gives 80,000 IO/s and depth 32 gives 320,000.
fn drive_of_32(threads: u32, outstanding: u32, scheduler: &str) -> Value {
    let mut value = stations(1, 100_000, "fixed", 32);
    value["drives"][0]["queue_depth"] = json!(32);
    value["drives"][0]["block_layer"] = json!({"scheduler": scheduler, "requests": 128});
    value["workloads"][0] = closed("load", outstanding);
    value["workloads"][0]["threads"] = json!(threads);
    value["warm_up_ns"] = json!(10_000_000);
    value
}

#[test]
fn deep_threads_in_time_slices_see_a_drive_of_depth_eight() {
    within(iops(&drive_of_32(2, 64, "fair")), 80_000.0, 0.02);
    within(iops(&drive_of_32(2, 64, "none")), 320_000.0, 0.01);
    within(iops(&drive_of_32(2, 64, "deadline")), 320_000.0, 0.01);
}

#[test]
fn time_slices_cost_nothing_while_the_drive_takes_everything() {
    within(iops(&drive_of_32(2, 32, "fair")), 320_000.0, 0.01);
    within(iops(&drive_of_32(1, 64, "fair")), 320_000.0, 0.01);
    within(iops(&drive_of_32(16, 64, "fair")), 320_000.0, 0.01);
}

/// Two cores of 10 us an I/O carry 200,000 IO/s, however many threads share them.
#[test]
fn cores_bound_what_threads_do_together() {
    let mut value = drive_of_32(8, 64, "none");
    value["host"] = json!({"submit_ns": 6000, "complete_ns": 4000, "raid_command_ns": 0,
                           "cores": 2});
    within(iops(&value), 200_000.0, 0.01);
    value["host"]["cores"] = json!(0);
    within(iops(&value), 320_000.0, 0.01);
}

/// The utilisation of the host's cores; none if they are no component.
fn cpu(value: &Value) -> Option<(String, f64)> {
    let result = to_its_end(&plan(value)).expect("a run");
    assert!(result.breaches.is_empty(), "{:?}", result.breaches);
    let json = printed(&result);
    let mut components = json["components"].as_array().unwrap().iter();
    let cpu = components.find(|component| component["kind"] == "cpu")?;
    let name = cpu["name"].as_str().unwrap();
    Some((name.into(), cpu["utilization"].as_f64().unwrap()))
}

/// Each of eight threads has a quarter of one of two cores: no thread is busy, the cores are.
#[test]
fn cores_that_threads_share_are_a_component() {
    let mut value = drive_of_32(8, 64, "none");
    value["host"] = json!({"submit_ns": 6000, "complete_ns": 4000, "raid_command_ns": 0,
                           "cores": 2});
    let (name, share) = cpu(&value).unwrap();
    assert_eq!(name, "host CPU, 2 cores");
    within(share, 1.0, 0.001);
    // From the start on, with time slices: what begins there waits for none.
    value["host"]["scheduler_latency_ns"] = json!(2_000_000);
    value["warm_up_ns"] = json!(0);
    within(cpu(&value).unwrap().1, 1.0, 0.001);
    // 10 us of eight cores' time each.
    value["workloads"][0]["arrival"]["outstanding"] = json!(8);
    value["workloads"][0]["threads"] = json!(9);
    value["host"] = json!({"submit_ns": 0, "complete_ns": 10_000, "raid_command_ns": 0,
                           "cores": 8});
    value["warm_up_ns"] = json!(10_000_000);
    let rate = iops(&value);
    within(cpu(&value).unwrap().1, rate * 10e-6 / 8.0, 0.01);
    // A core for each thread: the threads show it.
    value["workloads"][0]["threads"] = json!(8);
    assert_eq!(cpu(&value), None);
}

/// Two cores do 200,000 I/Os a second of 10 us. Of more that arrive they begin more than they
/// complete, and all wait, ever longer: what comes at t is served at r t. Of a arrivals a second
/// a / r begin then, and a / r^2, which waited twice, are complete: 6 us a / r + 4 us a / r^2 is the
/// time of two cores, so r^2 = 3 us a r + 2 us a. That is 165,632 a second of 300,000 and 191,842 of
/// 220,000. Of 100,000 none is left behind.
#[test]
fn open_arrivals_wait_for_a_core_as_completions_do() {
    let mut value = drive_of_32(8, 1, "none");
    value["host"] = json!({"submit_ns": 6000, "complete_ns": 4000, "raid_command_ns": 0,
                           "cores": 2});
    let arrive = |value: &mut Value, per_s: f64| {
        value["workloads"][0]["arrival"] = json!({"kind": "poisson", "per_s": per_s});
        let (begun, completed) = (3e-6 * per_s, 2e-6 * per_s);
        let growth = (begun + (begun * begun + 4.0 * completed).sqrt()) / 2.0;
        per_s / (growth * growth)
    };
    let served = arrive(&mut value, 300_000.0);
    within(served, 165_632.0, 1e-5);
    within(iops(&value), served, 0.005);
    // In time slices work goes round by round, each r times as long as the one before.
    value["host"]["scheduler_latency_ns"] = json!(2_000_000);
    let served = arrive(&mut value, 220_000.0);
    within(iops(&value), served, 0.02);
    within(cpu(&value).unwrap().1, 1.0, 0.001);
    arrive(&mut value, 100_000.0);
    within(iops(&value), 100_000.0, 0.01);
    within(cpu(&value).unwrap().1, 0.5, 0.01);
}

/// At depth 1 every completion wakes the thread: 100 + 3 + 2 + 5 us an I/O.
#[test]
fn a_thread_that_sleeps_between_ios_is_woken_for_each() {
    let mut value = drive_of_32(1, 1, "none");
    value["host"] = json!({"submit_ns": 3000, "complete_ns": 2000, "raid_command_ns": 0,
                           "wake_ns": 5000});
    within(iops(&value), 1e6 / 110.0, 0.001);
}

/// Two threads of depth 8 on one core of 10 us an I/O, on a drive that is much faster: with time
/// slices of 1 ms one works while the other's completions wait. Rates are the same.
#[test]
fn a_thread_keeps_its_core_for_its_share_while_others_wait() {
    let percentile_99 = |latency_ns: u64| {
        let mut value = drive_of_32(2, 16, "none");
        value["host"] = json!({"submit_ns": 6000, "complete_ns": 4000, "raid_command_ns": 0,
                               "cores": 1, "scheduler_latency_ns": latency_ns});
        value["devices"][0]["service_ns"] = json!(5_000);
        let result = to_its_end(&plan(&value)).expect("a run");
        assert!(result.breaches.is_empty(), "{:?}", result.breaches);
        let json = printed(&result);
        within(
            json["workloads"][0]["iops"].as_f64().unwrap(),
            100_000.0,
            0.02,
        );
        json["workloads"][0]["latency_us"]["p99"].as_f64().unwrap()
    };
    // All sixteen one after the other.
    within(percentile_99(0), 160.0, 0.1);
    // Eight of a slice's hundred wait for the other's slice.
    within(percentile_99(2_000_000), 1080.0, 0.1);
}

/// Interrupts of 10 us on the first of two cores: 10 us of thread and 10 of interrupts an I/O.
#[test]
fn interrupts_take_time_from_the_first_core() {
    let mut value = drive_of_32(4, 64, "none");
    value["host"] = json!({"submit_ns": 6000, "complete_ns": 4000, "raid_command_ns": 0,
                           "cores": 2, "scheduler_latency_ns": 2_000_000, "interrupt_ns": 10_000});
    // The second core does 100,000; the first loses x of its time to interrupts at x I/Os in
    // 10 us, and does 1 - x: x = 1 + (1 - x), so all of it goes.
    within(iops(&value), 100_000.0, 0.05);
    value["host"]["interrupt_ns"] = json!(2_500);
    // x = 1 + (1 - x / 4): 160,000.
    within(iops(&value), 160_000.0, 0.05);
}

/// A write of one block moves four pages of members on RAID 5, six on RAID 6: at 2 us each the array's
/// thread takes 8 and 12 us besides. With many outstanding the thread ends the rate: 1 / 8 us.
#[test]
fn every_page_of_a_member_costs_the_array_s_thread_time() {
    for (level, drives, us) in [("raid5", 5, 208.0), ("raid6", 6, 212.0)] {
        let mut value = stations(drives, 100_000, "fixed", 1);
        value["host"]["stripe_page_ns"] = json!(2000);
        value["arrays"][0]["level"] = json!(level);
        value["arrays"][0]["software"] = json!(true);
        value["workloads"][0]["read_share"] = json!(0.0);
        within(iops(&value), 1e6 / us, 0.001);
    }
    let mut value = stations(5, 1_000, "fixed", 64);
    value["host"]["stripe_page_ns"] = json!(2000);
    value["workloads"][0]["arrival"]["outstanding"] = json!(64);
    value["arrays"][0]["level"] = json!("raid5");
    value["arrays"][0]["software"] = json!(true);
    value["workloads"][0]["read_share"] = json!(0.0);
    within(iops(&value), 125_000.0, 0.01);
}

/// A write of 4 KiB on RAID 5 reads 4 KiB of old data and 4 KiB of old parity in 100 us, its thread
/// passes 12 KiB for 4 KiB of new parity at 1 GB/s, and data and parity are written in another 100 us.
/// On RAID 6 it passes 16 KiB for 8 KiB, at 2 GB/s.
#[test]
fn parity_in_the_host_costs_cpu_time() {
    for (level, drives, us) in [("raid5", 5, 216.384), ("raid6", 6, 212.288)] {
        let mut value = stations(drives, 100_000, "fixed", 1);
        value["host"]["parity_bytes_per_s"] = json!(1_000_000_000);
        value["host"]["two_parities_bytes_per_s"] = json!(2_000_000_000);
        value["arrays"][0]["level"] = json!(level);
        value["arrays"][0]["software"] = json!(true);
        value["workloads"][0]["read_share"] = json!(0.0);
        within(iops(&value), 1e6 / us, 0.001);
    }
}

/// Four reads of 100 us on a drive with four servers: all come at once, wait 50 us for one interrupt
/// and begin anew together: 4 / 150 us. With two outstanding, each is reported at once.
#[test]
fn an_adapter_that_gathers_completions_reports_them_together() {
    for (outstanding, us) in [(4, 150.0), (2, 100.0)] {
        let mut value = stations(1, 100_000, "fixed", 4);
        value["host"]["coalescing"] = json!({"delay_ns": 50_000, "above": 2});
        value["devices"][0]["servers"] = json!(4);
        value["workloads"][0]["arrival"]["outstanding"] = json!(outstanding);
        within(iops(&value), f64::from(outstanding) * 1e6 / us, 0.001);
    }
}

/// Writes of 4 KiB on RAID 5 at 100 a second over 4,096 regions: one comes to each every 41 s. A bit
/// is cleared between 5 and 10 s after its last write, so a share of e^-a (1 - e^-a) / a of all
/// writes finds it clear, a = 5 s / 41 s: 0.833. Those wait 100 us for a page on every member.
#[test]
fn a_write_waits_for_its_bit_if_it_is_clear() {
    let mut value = stations(5, 100_000, "fixed", 1);
    value["arrays"][0]["level"] = json!("raid5");
    value["arrays"][0]["software"] = json!(true);
    value["workloads"][0]["read_share"] = json!(0.0);
    value["workloads"][0]["arrival"] = json!({"kind": "poisson", "per_s": 100.0});
    value["duration_ns"] = json!(200_000_000_000_u64);
    value["warm_up_ns"] = json!(20_000_000_000_u64);
    let raid = |value: &Value| {
        let json = printed(&result(value));
        let raid = &json["workloads"][0]["breakdown_us"]["raid"];
        raid.as_f64().unwrap_or_default()
    };
    let without = raid(&value);
    for (chunk, us) in [(65_536, 83.3), (1 << 30, 0.0)] {
        value["arrays"][0]["bitmap"] = json!({"chunk_bytes": chunk, "flushes": false});
        let waits = raid(&value) - without;
        assert!((waits - us).abs() < 1.5, "{waits} us, expected {us}");
    }
}

/// In the report: with 100 writes a second of which 83.3 % wait for 100 us, 0.00833 wait on
/// average. Bits are being set for nearly as long, since few writes share an update.
#[test]
fn the_report_says_how_long_bits_are_being_set_and_how_many_writes_wait() {
    let mut value = stations(5, 100_000, "fixed", 1);
    value["arrays"][0]["level"] = json!("raid5");
    value["arrays"][0]["software"] = json!(true);
    value["arrays"][0]["bitmap"] = json!({"chunk_bytes": 65_536, "flushes": false});
    value["workloads"][0]["read_share"] = json!(0.0);
    value["workloads"][0]["arrival"] = json!({"kind": "poisson", "per_s": 100.0});
    value["duration_ns"] = json!(200_000_000_000_u64);
    value["warm_up_ns"] = json!(20_000_000_000_u64);
    let json = printed(&result(&value));
    let components = json["components"].as_array().unwrap();
    let bitmap = components.iter().find(|it| it["kind"] == "bitmap").unwrap();
    assert_eq!(bitmap["name"], "data bitmap");
    let busy = bitmap["utilization"].as_f64().unwrap();
    let waiting = bitmap["queue_mean"].as_f64().unwrap();
    assert!((waiting / 0.00833 - 1.0).abs() < 0.03, "{waiting}");
    assert!(busy <= waiting && busy > 0.97 * waiting, "{busy}");
}

/// Four mirrored writes at once to four clear regions: the first sets its bit alone, the others
/// share the next update. With caches to flush, each update takes three times as long.
#[test]
fn writes_that_wait_share_an_update() {
    for (flushes, us) in [(false, [200, 300]), (true, [400, 700])] {
        let mut value = stations(2, 100_000, "fixed", 4);
        value["arrays"][0]["level"] = json!("raid1");
        value["arrays"][0]["software"] = json!(true);
        value["arrays"][0]["bitmap"] = json!({"chunk_bytes": 65_536, "flushes": flushes});
        let mut bench = Bench::new(&value);
        for region in 0..4 {
            bench.submit(0, Op::Write, region * 128, 8);
        }
        let mut ended = Vec::new();
        while let Some(reported) = bench.0.advance(Time(1_000_000)) {
            ended.push(reported.at.0 / 1000);
        }
        assert_eq!(ended, [us[0], us[1], us[1], us[1]]);
    }
}

/// A tebibyte has 16.8 million regions of 64 KiB: named, before a table of them is made.
#[test]
fn a_bitmap_of_too_many_regions_is_refused_by_name() {
    let mut value = stations(2, 100_000, "fixed", 1);
    value["arrays"][0]["level"] = json!("raid1");
    value["arrays"][0]["software"] = json!(true);
    for chunk in [0, 1, 65_536] {
        value["arrays"][0]["bitmap"] = json!({"chunk_bytes": chunk, "flushes": false});
        value["devices"][0]["capacity_bytes"] = json!(1_u64 << 40);
        let refused = format!("{:?}", to_its_end(&plan(&value)).unwrap_err());
        assert!(refused.contains("arrays.0.bitmap.chunk_bytes"), "{refused}");
    }
}

/// A load that ends within the warm-up ends the run, beside another that has no end: the accounts
/// hold at that instant, with requests for which the host still spends CPU time.
#[test]
fn the_accounts_hold_where_a_load_ends_within_the_warm_up() {
    for blocks in 1..=40_u64 {
        let mut value = stations(2, 50_000, "exponential", 4);
        value["host"] = json!({"submit_ns": 30_000, "complete_ns": 7_000, "raid_command_ns": 0});
        value["warm_up_ns"] = json!(1_000_000_000_u64);
        let mut ends = closed("ends", 2);
        ends["access"] = json!("sequential");
        ends["area_bytes"] = json!(blocks * 4096);
        ends["passes"] = json!(1);
        value["workloads"] = json!([closed("goes on", 16), ends]);
        let result = to_its_end(&plan(&value)).expect("a run");
        assert!(result.breaches.is_empty(), "{:?}", result.breaches);
    }
}

/// Completions a second of a caller that issues the next I/O whenever one is back.
fn driven(value: &Value, outstanding: u32) -> f64 {
    let mut value = value.clone();
    value["outside_threads"] = value["workloads"][0]["threads"].clone();
    value["workloads"] = json!([]);
    let mut system = Simulation::new(&plan(&value)).expect("a system");
    for mark in 0..outstanding {
        system
            .submit(0, Op::Read, ByteRange::new(0, 4096), mark)
            .expect("an I/O");
    }
    let end = Time(4_000_000_000);
    let mut count = 0;
    while let Some(back) = system.advance(end) {
        count += 1;
        let again = system.submit(0, Op::Read, ByteRange::new(0, 4096), back.owner);
        again.expect("an I/O");
    }
    f64::from(count) / 4.0
}

/// Two I/Os, a thread that takes D = 20 us to complete one and issue the next, a device of 20 us in
/// the mean, exponentially distributed: 1 / L. Whenever the thread begins, the other I/O is at the
/// device; with e^(-D/L) it still is there when the thread is done, which then sleeps for L / 2. So
/// 1 / (D + e^(-1) L / 2) = 42,232 a second; for three outstanding, loads and callers agree.
#[test]
fn a_thread_issues_the_next_io_before_it_takes_another_completion() {
    let mut value = stations(1, 20_000, "exponential", 8);
    value["host"] = json!({"submit_ns": 10_000, "complete_ns": 10_000, "raid_command_ns": 0});
    value["duration_ns"] = json!(4_000_000_000_u64);
    let mut rates = Vec::new();
    for outstanding in [2, 3, 4, 8] {
        value["workloads"][0] = closed("load", outstanding);
        let (load, caller) = (iops(&value), driven(&value, outstanding));
        within(caller, load, 0.005);
        rates.push(caller);
    }
    within(rates[0], 42_232.0, 0.005);
    within(rates[3], 50_000.0, 0.005);
}

/// Four threads on two cores with run queues, 20 us an I/O and interrupts of 5 us.
#[test]
fn loads_and_callers_share_cores_alike() {
    let mut value = stations(1, 60_000, "exponential", 32);
    value["host"] = json!({"submit_ns": 10_000, "complete_ns": 10_000, "raid_command_ns": 0,
        "wake_ns": 2000, "cores": 2, "scheduler_latency_ns": 2_000_000, "interrupt_ns": 5000});
    value["duration_ns"] = json!(4_000_000_000_u64);
    for outstanding in [4, 8, 16, 64] {
        value["workloads"][0] = closed("load", outstanding);
        value["workloads"][0]["threads"] = json!(4);
        within(driven(&value, outstanding), iops(&value), 0.005);
    }
    // Two cores of 25 us an I/O.
    within(iops(&value), 80_000.0, 0.01);
}
