//! Reads beside a program: pulses, progress between two suspensions, planes that read by themselves.

use super::*;

/// A die that programs a page set from 0 to 516 us, 16 us of them on the channel.
fn programming(params: &SsdParams) -> (Ssd<Direct>, Bench) {
    let mut ssd = drive(params);
    let mut bench = Bench::new();
    bench.submit(&mut ssd, Op::Write, 1 << 20, 16384, 0);
    (ssd, bench)
}

fn suspending() -> SsdParams {
    let mut params = params();
    params.nand.suspend_ns = Some(Nanos(10_000));
    params
}

#[test]
fn a_read_waits_for_the_end_of_a_pulse() {
    let mut params = suspending();
    params.nand.pulse_ns = Nanos(100_000);
    let (mut ssd, mut bench) = programming(&params);
    // Ready after 3 us of firmware. Pulses end at 116, 216, ... 516 us. The array settles for
    // 10 us, senses for 50 us, and 4 KiB take 4 us.
    let read = bench.submit(&mut ssd, Op::Read, 0, 4096, 100_000);
    assert_eq!(bench.end(read), 116_000 + 10_000 + 54_000);
    // The program has lost 60 us: its last pulse ends at 576 us, and no pulse is worth waiting for.
    let read = bench.submit(&mut ssd, Op::Read, 0, 4096, 520_000);
    assert_eq!(bench.end(read), 576_000 + 54_000);
}

#[test]
fn a_resumed_program_goes_on_for_a_while_before_it_gives_way_again() {
    let mut params = suspending();
    params.nand.suspend_interval_ns = Nanos(200_000);
    let (mut ssd, mut bench) = programming(&params);
    let first = bench.submit(&mut ssd, Op::Read, 0, 4096, 100_000);
    assert_eq!(bench.end(first), 103_000 + 10_000 + 54_000);
    // Resumed at 163 us, when the page was sensed; it gives way again at 363 us.
    let second = bench.submit(&mut ssd, Op::Read, 0, 4096, 200_000);
    assert_eq!(bench.end(second), 363_000 + 10_000 + 54_000);
}

#[test]
fn planes_that_read_by_themselves_read_at_the_same_time() {
    for (independent, second) in [(false, 54_000 + 54_000), (true, 54_000 + 4_000)] {
        let mut params = params();
        params.nand.independent_reads = independent;
        let mut ssd = drive(&params);
        let mut bench = Bench::new();
        // Units 0 and 1 of a page set are on its first plane, 2 and 3 on its second; the next
        // page set but one is on the same die.
        let reads = [0, 8 * 4096 + 2 * 4096];
        let reads = reads.map(|offset| bench.submit(&mut ssd, Op::Read, offset, 4096, 0));
        assert_eq!(bench.end(reads[0]), 3_000 + 54_000);
        assert_eq!(bench.end(reads[1]), 3_000 + second);
    }
}

#[test]
fn planes_that_read_by_themselves_program_together() {
    let mut params = suspending();
    params.nand.independent_reads = true;
    let (mut ssd, mut bench) = programming(&params);
    let reads = [0, 8 * 4096 + 2 * 4096];
    let reads = reads.map(|offset| bench.submit(&mut ssd, Op::Read, offset, 4096, 100_000));
    // One suspension lets both read.
    assert_eq!(bench.end(reads[0]), 103_000 + 10_000 + 54_000);
    assert_eq!(bench.end(reads[1]), 103_000 + 10_000 + 54_000 + 4_000);
    bench.run(&mut ssd, Time::NEVER);
    assert_eq!(ssd.store.check(), Ok(()));
}

#[test]
fn a_suspended_program_takes_its_time_to_go_on() {
    let mut params = suspending();
    params.nand.pulse_ns = Nanos(100_000);
    params.nand.resume_ns = Nanos(25_000);
    let (mut ssd, mut bench) = programming(&params);
    let read = bench.submit(&mut ssd, Op::Read, 0, 4096, 100_000);
    assert_eq!(bench.end(read), 116_000 + 10_000 + 54_000);
    // The program has lost 10 + 50 + 25 us: its last pulse ends at 601 us.
    let read = bench.submit(&mut ssd, Op::Read, 0, 4096, 550_000);
    assert_eq!(bench.end(read), 601_000 + 54_000);
}
