//! A back end that sleeps while the drive has no commands: what reads wait for it, and how often.

use super::*;

const US: u64 = 1_000;

/// It sleeps as soon as the drive has no command, and takes 50 us to wake.
fn sleeping() -> SsdParams {
    let mut params = params();
    params.back_end = Some(BackEndParams {
        wake_ns: Nanos(50 * US),
        sleep_after_ns: Nanos(0),
    });
    params
}

fn wakes<F: Front>(ssd: &Ssd<F>) -> f64 {
    let figures = ssd.figures();
    figures
        .iter()
        .find(|it| it.0 == "back_end_wakes")
        .unwrap()
        .1
}

/// A read of the drive takes 57 us. One after the other: each takes 107 us. The second of two finds
/// it awake, and the third does where it comes before the second is done.
#[test]
fn at_depth_1_each_read_waits_for_the_back_end_and_at_depth_2_none_but_the_first() {
    let mut ssd = drive(&sleeping());
    let mut bench = Bench::new();
    for n in 0..4 {
        let at = n * 120 * US;
        let read = bench.submit(&mut ssd, Op::Read, 0, 4096, at);
        assert_eq!(bench.end(read) - at, 107 * US);
        assert_eq!(bench.ios[n as usize].parts[Part::Queue], Nanos(50 * US));
    }
    // Reads of two dies, 30 us apart: the first is awake after 53 us, so the second, ready after
    // 33 us of its own, waits for 20 - 3 us. From then on one is always outstanding.
    let base = 1_000 * US;
    let mut submit = |at, offset| {
        let read = bench.submit(&mut ssd, Op::Read, offset, 4096, base + at);
        bench.end(read) - base - at
    };
    assert_eq!(submit(0, 0), 107 * US);
    assert_eq!(submit(30 * US, 16384), (53 - 30 + 54) * US);
    assert_eq!(submit(106 * US, 32768), 57 * US);
    assert_eq!(wakes(&ssd), 5.0);
}

/// What was never written waits too: the map is behind the back end. A write does not.
#[test]
fn reads_without_nand_wait_and_writes_do_not() {
    let mut ssd = drive(&sleeping());
    let mut bench = Bench::new();
    let empty = bench.submit(&mut ssd, Op::Read, 40 << 20, 4096, 0);
    assert_eq!(bench.end(empty), 53 * US);
    let write = bench.submit(&mut ssd, Op::Write, 0, 4096, 100 * US);
    assert_eq!(bench.end(write), 103 * US);
    assert_eq!(wakes(&ssd), 2.0);
}

/// A write of a page set wakes the back end at 3 + 50 us; its program begins then, and takes 16 us
/// on the channel and 500 us.
#[test]
fn a_program_waits_where_its_write_does_not() {
    let mut ssd = drive(&sleeping());
    let mut bench = Bench::new();
    let write = bench.submit(&mut ssd, Op::Write, 0, 16384, 0);
    assert_eq!(bench.end(write), 3 * US);
    bench.run(&mut ssd, Time(568 * US));
    let works = |ssd: &Ssd<Direct>| DieId::first(2).any(|die| ssd.store.nand.is_awake(die));
    assert!(works(&ssd));
    bench.run(&mut ssd, Time(569 * US));
    assert!(!works(&ssd));
    // A die at work keeps it awake.
    bench.submit(&mut ssd, Op::Write, 0, 16384, 600 * US);
    let read = bench.submit(&mut ssd, Op::Read, 40 << 20, 4096, 800 * US);
    assert_eq!(bench.end(read), 803 * US);
}

/// Leaving a power state takes the whole drive with it: the back end is awake then.
#[test]
fn the_exit_of_a_power_state_is_not_followed_by_a_wake() {
    let mut params = sleeping();
    idle_states::sleeps(&mut params, Nanos::ZERO);
    let mut ssd = drive(&params);
    let mut bench = Bench::new();
    let read = bench.submit(&mut ssd, Op::Read, 0, 4096, 20_000 * US);
    assert_eq!(bench.end(read), 23_057 * US);
    let next = bench.submit(&mut ssd, Op::Read, 0, 4096, 24_000 * US);
    assert_eq!(bench.end(next), 24_107 * US);
}

#[test]
fn a_drive_with_its_map_on_the_host_has_none() {
    let mut params = sleeping();
    params.sector_mapping = true;
    let faults = Ssd::<HostFtl>::new(&params, 1, "drive").unwrap_err();
    assert!(faults[0].to_string().contains("back_end.wake_ns"));
}

/// Reads of S = 100 us come as a Poisson process of rate L = 10,000 a second, beside each other.
/// From one wake (W = 50 us) to the next there are, on average, 1 / L without a command, W, and the
/// busy period of M/D/inf, (e^(LS) - 1) / L. So the share 1 / (e^(LS) + LW) of reads finds the drive
/// idle, and what comes in the meantime waits for W / 2.
#[test]
fn the_share_of_reads_that_find_it_asleep_is_that_of_busy_periods() {
    let mut params = sleeping();
    params.firmware = FirmwareParams {
        read_latency_ns: Nanos(100 * US),
        ..FirmwareParams::idle()
    };
    let mut ssd = drive(&params);
    let mut bench = Bench::new();
    let mut draws = Stream::new(1, "test", "arrivals");
    let (mut at, count) = (0, 40_000);
    for _ in 0..count {
        at += draws.exponential(Nanos(100 * US)).0;
        bench.submit(&mut ssd, Op::Read, 40 << 20, 4096, at);
    }
    let share = 1.0 / (1f64.exp() + 0.5);
    assert!((wakes(&ssd) / f64::from(count) - share).abs() < 0.01);
    let sum: u64 = bench.ios.iter().map(|io| io.latency().0).sum();
    let mean_us = sum as f64 / f64::from(count) / 1e3;
    let expected = 100.0 + share * (50.0 + 0.5 * 25.0);
    assert!(
        (mean_us / expected - 1.0).abs() < 0.01,
        "{mean_us} {expected}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    /// Whenever reads come, none waits for longer than the wake, and without one all is as before.
    #[test]
    fn a_read_waits_for_no_more_than_the_wake(
        gaps in prop::collection::vec(0u64..200_000, 1..60),
        wake in 0u64..100_000,
        after in 0u64..100_000,
    ) {
        let latencies = |back_end| {
            let mut params = params();
            params.back_end = back_end;
            let mut ssd = drive(&params);
            let mut bench = Bench::new();
            let mut at = 0;
            for gap in &gaps {
                at += gap;
                bench.submit(&mut ssd, Op::Read, 40 << 20, 4096, at);
            }
            bench.ios.iter().map(|io| io.latency().0).collect::<Vec<_>>()
        };
        let sleeps = |wake| BackEndParams { wake_ns: Nanos(wake), sleep_after_ns: Nanos(after) };
        let without = latencies(None);
        prop_assert_eq!(&latencies(Some(sleeps(0))), &without);
        for (slow, fast) in latencies(Some(sleeps(wake))).into_iter().zip(without) {
            prop_assert!((fast..=fast + wake).contains(&slow));
        }
    }
}
