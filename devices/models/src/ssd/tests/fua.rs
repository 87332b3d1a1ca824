//! Writes with FUA, by hand-computed examples.

use super::*;

impl Bench {
    fn submit_fua<F: Front>(&mut self, ssd: &mut Ssd<F>, offset: u64, bytes: u64, at: u64) -> IoId {
        self.run(ssd, Time(at));
        self.calendar.advance_to(Time(at));
        let mut io = Io::new(Op::Write, ByteRange::new(offset, bytes), Time(at));
        io.fua = true;
        self.ios.push(io);
        let id = IoId::new(self.ios.len() as u32 - 1);
        ssd.submit(self, id);
        id
    }
}

/// A write of 4 KiB at 0: 16 us to the die, 500 us of program, 240 us of the map's changes. The
/// write beside it without FUA is complete when the buffer has it. A flush behind both has nothing
/// left but what the second write put into the next page set.
#[test]
fn a_write_with_fua_waits_for_its_program_and_the_changes_of_the_map() {
    let mut params = params();
    (params.firmware.flush_ns, params.firmware.fua_ns) = (Nanos(100_000), Some(Nanos(240_000)));
    let mut ssd = drive(&params);
    let mut bench = Bench::new();
    let forced = bench.submit_fua(&mut ssd, 0, 4096, 0);
    let plain = bench.submit(&mut ssd, Op::Write, 1 << 20, 4096, 10_000);
    bench.run(&mut ssd, Time(2_000_000));
    assert_eq!(bench.end(forced), 756_000);
    assert_eq!(bench.end(plain), 13_000);
    let nothing = bench.submit_fua(&mut ssd, 4096, 4096, 2_000_000);
    bench.run(&mut ssd, Time(4_000_000));
    assert_eq!(bench.end(nothing), 2_756_000);
    let flush = bench.submit(&mut ssd, Op::Flush, 0, 0, 4_000_000);
    bench.run(&mut ssd, Time(6_000_000));
    assert_eq!(bench.end(flush), 4_001_000);
}

/// Without a time of its own it takes what a flush takes; power-loss protection makes it a write
/// like any other.
#[test]
fn without_a_time_of_its_own_it_takes_a_flush_and_protected_nothing() {
    for (protected, expected) in [(false, 616_000), (true, 3_000)] {
        let mut params = params();
        params.firmware.flush_ns = Nanos(100_000);
        params.buffer.protected = protected;
        let mut ssd = drive(&params);
        let mut bench = Bench::new();
        let forced = bench.submit_fua(&mut ssd, 0, 4096, 0);
        bench.run(&mut ssd, Time(2_000_000));
        assert_eq!(bench.end(forced), expected);
    }
}
