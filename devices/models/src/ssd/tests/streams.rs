//! Streams of small reads, and several streams, by hand-computed examples.

use super::*;

/// Page sets of four units, alternating between two dies. The second read finds a stream: set 0 is
/// in the register at 153 us, of which it has unit 1 at 157 us; 2 and 3 follow, and set 1 on the
/// other die.
#[test]
fn small_reads_of_a_stream_are_given_what_has_come_with_their_page_sets() {
    let mut params = params();
    params.keeps_pages = true;
    let mut ssd = drive(&params);
    let mut bench = Bench::new();
    let mut took = |ssd: &mut Ssd<Direct>, unit: u64, at: u64| {
        let read = bench.submit(ssd, Op::Read, unit * 4096, 4096, at);
        bench.end(read) - at
    };
    assert_eq!(took(&mut ssd, 0, 0), 57_000);
    assert_eq!(took(&mut ssd, 1, 100_000), 57_000);
    // Unit 2 is there at 161 us, 3 at 165 us.
    assert_eq!(took(&mut ssd, 2, 110_000), 51_000);
    assert_eq!(took(&mut ssd, 3, 163_000), 3_000);
    // Sets 0, 0 again and 1, each unit once.
    let done = |ssd: &Ssd<Direct>| {
        (
            ssd.store.nand.operations.reads,
            ssd.store.nand.operations.transferred_bytes,
        )
    };
    assert_eq!(done(&ssd), (3, 8 * 4096));
    // Less than a set beyond unit 5: set 2 is read as well.
    assert_eq!(took(&mut ssd, 4, 300_000), 3_000);
    assert_eq!(done(&ssd), (4, 12 * 4096));
    // Unit 6 is in memory, for every reader.
    assert_eq!(took(&mut ssd, 6, 500_000), 3_000);
    assert_eq!(done(&ssd), (4, 12 * 4096));
    // No stream: unit 13 has to come from the die, and nothing comes with it.
    assert_eq!(took(&mut ssd, 13, 700_000), 57_000);
    assert_eq!(done(&ssd), (5, 13 * 4096));
}

/// Three readers of one range at four distances, one command at a time each: no reader waits longer
/// than one alone does. Those at most a set apart share its sense, but for a few at the start.
#[test]
fn readers_of_one_range_share_what_is_read() {
    for lag_units in [0, 1, 5, 8] {
        let mut params = params();
        params.keeps_pages = true;
        let mut ssd = drive(&params);
        let mut bench = Bench::new();
        let mut longest = 0;
        for unit in 0..80 {
            for reader in 0..3 {
                let at = unit * 200_000 + reader * 10_000;
                let first = unit + (2 - reader) * lag_units;
                let read = bench.submit(&mut ssd, Op::Read, first * 4096, 4096, at);
                if unit >= 8 {
                    longest = longest.max(bench.end(read) - at);
                }
            }
        }
        // 3 us in all if it is in memory.
        assert_eq!(longest, 3_000, "{lag_units} units apart");
        let sets = (80 + 2 * lag_units) / 4 + 2;
        let each = if 2 * lag_units > 4 { 3 } else { 1 };
        let sensed = ssd.store.nand.operations.reads;
        assert!(sensed <= each * sets + 9, "{sensed} reads of {sets} sets");
    }
}

/// A whole page set needs no memory for its rest, and two outstanding are not read ahead of.
#[test]
fn reads_of_whole_page_sets_bring_nothing_else() {
    let mut params = params();
    params.keeps_pages = true;
    let mut ssd = drive(&params);
    let mut bench = Bench::new();
    for set in 0..4 {
        bench.submit(&mut ssd, Op::Read, set * 16384, 16384, set * 1_000);
    }
    assert_eq!(ssd.store.nand.operations.transferred_bytes, 4 * 16384);
}

/// A unit of a stream costs the core 1 us, others 5 us; two streams and random reads alternate.
#[test]
fn each_of_several_streams_finds_its_part_of_the_map_looked_up() {
    let mut params = params();
    params.capacity_bytes = 64 << 20;
    params.firmware.read_unit_ns = Nanos(5_000);
    params.firmware.stream_unit_ns = Some(Nanos(1_000));
    let mut ssd = drive(&params);
    let mut bench = Bench::new();
    for command in 0..10 {
        for start in [0, 8 << 20, 16 << 20] {
            let at = Time(bench.ios.len() as u64 * 1_000_000).0;
            bench.submit(&mut ssd, Op::Read, start + command * 4096, 4096, at);
        }
    }
    // Thirty commands of 2 us; three units that no stream went on to.
    let (busy, _) = ssd.firmware.cores.busy_until(Time(1 << 40));
    assert_eq!(busy, Nanos(30 * 2_000 + 3 * 5_000 + 27 * 1_000));
}
