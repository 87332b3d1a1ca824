//! The timed drive, by hand-computed examples and by its counters under any load.

mod back_end;
mod fua;
mod idle_states;
mod map;
mod mapping_unit;
mod slc_cache;
mod slices;
mod streams;
mod suspension;
mod unwritten;

use super::front::Front;
use super::ids::{DieId, UnitId};
use super::map::{cache::MapCacheParams, layout::Layout};
use super::translation::{Shape, Translation};
use super::*;
use crate::port::Port;
use map::map_cache;
use proptest::prelude::*;
use raidlab_io::{ByteRange, Io, IoId, Op, Part};
use raidlab_kernel::{Calendar, Nanos, Stream, Time};

/// An engine of a few lines: a calendar and a list of records.
struct Bench {
    calendar: Calendar<u32>,
    ios: Vec<Io>,
    done: Vec<(IoId, Time)>,
    leads: Vec<(IoId, Nanos)>,
    failed: bool,
}

impl Port for Bench {
    fn now(&self) -> Time {
        self.calendar.now()
    }
    fn io(&mut self, io: IoId) -> &mut Io {
        &mut self.ios[io.index()]
    }
    fn wake(&mut self, at: Time, token: u32) {
        self.calendar.push(at, token);
    }
    fn fails(&mut self) {
        self.failed = true;
    }
    fn done(&mut self, io: IoId, at: Time, lead: Nanos) {
        self.leads.push((io, lead));
        let record = &self.ios[io.index()];
        assert!(at >= self.calendar.now());
        assert_eq!(record.mark, at, "charged up to its end");
        assert_eq!(record.parts.total(), record.latency());
        self.done.push((io, at));
    }
}

impl Bench {
    fn new() -> Bench {
        Bench {
            calendar: Calendar::with_capacity(64),
            ios: Vec::new(),
            done: Vec::new(),
            leads: Vec::new(),
            failed: false,
        }
    }

    /// Submits a command at `at`, after all earlier events.
    fn submit<F: Front>(
        &mut self,
        ssd: &mut Ssd<F>,
        op: Op,
        offset: u64,
        bytes: u64,
        at: u64,
    ) -> IoId {
        self.run(ssd, Time(at));
        self.calendar.advance_to(Time(at));
        let range = ByteRange::new(offset, bytes);
        self.ios.push(Io::new(op, range, Time(at)));
        let id = IoId::new(self.ios.len() as u32 - 1);
        ssd.submit(self, id);
        id
    }

    fn run<F: Front>(&mut self, ssd: &mut Ssd<F>, until: Time) {
        while self.calendar.next_time().is_some_and(|next| next <= until) {
            let (_, token) = self.calendar.pop().unwrap();
            ssd.event(self, token);
        }
    }

    fn end(&self, id: IoId) -> u64 {
        self.done.iter().find(|done| done.0 == id).unwrap().1.0
    }
}

/// Two channels of one die of two planes; 50 us reads, 500 us programs, 1 us a KiB of transfer.
fn nand() -> NandParams {
    NandParams {
        channels: 2,
        dies_per_channel: 1,
        planes: 2,
        blocks_per_plane: 64,
        pages_per_block: 64,
        page_bytes: 8192,
        read_ns: vec![Nanos(50_000)],
        program_ns: vec![Nanos(500_000)],
        program_bytes_per_s: None,
        erase_ns: Nanos(2_000_000),
        channel_bytes_per_s: 1_024_000_000,
        channel_write_bytes_per_s: None,
        correction_bytes_per_s: None,
        command_ns: Nanos(0),
        cache_read: false,
        cache_program: false,
        independent_reads: false,
        suspend_ns: None,
        pulse_ns: Nanos(0),
        suspend_interval_ns: Nanos(0),
        resume_ns: Nanos(0),
        reads_first: 4,
        slc_cache: None,
        rated_cycles: 3000,
    }
}

fn params() -> SsdParams {
    SsdParams {
        slices: 1,
        capacity_bytes: 64 << 20,
        unit_bytes: 4096,
        sector_mapping: false,
        rated_host_bytes: 0,
        nand: nand(),
        parity_stripe: 0,
        reserved_blocks_per_plane: 0,
        collection: CollectionParams::default(),
        buffer: BufferParams {
            bytes: 64 << 10,
            protected: false,
            write_through: false,
        },
        firmware: FirmwareParams {
            cores: 1,
            read_ns: Nanos(2_000),
            write_ns: Nanos(3_000),
            read_unit_ns: Nanos(0),
            stream_unit_ns: None,
            write_unit_ns: Nanos(0),
            move_unit_ns: Nanos(0),
            move_batch: 1,
            fetch_unit_ns: Nanos(0),
            insert_unit_ns: Nanos(0),
            read_latency_ns: Nanos(1_000),
            write_latency_ns: Nanos(0),
            other_ns: Nanos(1_000),
            flush_ns: Nanos::ZERO,
            fua_ns: None,
            spread: 0.0,
            ..FirmwareParams::idle()
        },
        keeps_pages: false,
        prefetch: None,
        map_cache: None,
        compression: None,
        compressible: 0.0,
        power: None,
        back_end: None,
        idle_states: Vec::new(),
        thermal: None,
        history: vec![HistoryLoad {
            access: HistoryAccess::Sequential,
            start_bytes: 0,
            area_bytes: 32 << 20,
            block_bytes: 65536,
            written_bytes: 32 << 20,
            ongoing: false,
            weight: 1,
            then_rests: false,
        }],
        snapshot: None,
        another_past: false,
    }
}

fn drive(params: &SsdParams) -> Ssd<Direct> {
    Ssd::new(params, 1, "drive").unwrap()
}

/// A card with its map in the host.
fn card(params: &SsdParams) -> Ssd<HostFtl> {
    assert!(params.has_host_ftl());
    Ssd::new(params, 1, "drive").unwrap()
}

#[test]
fn a_read_is_firmware_then_die_then_channel() {
    let mut ssd = drive(&params());
    let mut bench = Bench::new();
    // 2 us core + 1 us latency + 50 us array + 4 us for 4 KiB.
    let one = bench.submit(&mut ssd, Op::Read, 0, 4096, 0);
    assert_eq!(bench.end(one), 57_000);
    // A page set is read at once, 16 KiB take 16 us; 32 KiB lie on two dies and channels.
    let set = bench.submit(&mut ssd, Op::Read, 32768, 16384, 100_000);
    assert_eq!(bench.end(set), 169_000);
    let two = bench.submit(&mut ssd, Op::Read, 0, 32768, 200_000);
    assert_eq!(bench.end(two), 269_000);
    // What was never written needs no medium.
    let empty = bench.submit(&mut ssd, Op::Read, 40 << 20, 4096, 300_000);
    assert_eq!(bench.end(empty), 303_000);
}

#[test]
fn a_part_of_a_large_unit_crosses_the_channel_alone() {
    let mut params = params();
    params.unit_bytes = 16384;
    let mut ssd = drive(&params);
    let mut bench = Bench::new();
    // 3 us + 50 us array + 4 us for each 4 KiB that holds a part.
    for (at, offset, bytes, transfer) in [
        (0, 8192, 4096, 4_000),
        (100_000, 12288 + 512, 512, 4_000),
        (200_000, 2048, 4096, 8_000),
        (300_000, 0, 16384, 16_000),
    ] {
        let another_set = at / 100_000 * 32768;
        let read = bench.submit(&mut ssd, Op::Read, another_set + offset, bytes, at);
        assert_eq!(bench.end(read) - at, 53_000 + transfer);
    }
    // 4 KiB of one unit and 8 KiB of the next, on another die and channel.
    let two = bench.submit(&mut ssd, Op::Read, 12288, 12288, 400_000);
    assert_eq!(bench.end(two) - 400_000, 53_000 + 8_000);
    assert_eq!(
        ssd.store.nand.operations.transferred_bytes,
        4096 + 4096 + 8192 + 16384 + 12288
    );
}

#[test]
fn the_second_read_of_a_die_waits_for_the_first() {
    let mut ssd = drive(&params());
    let mut bench = Bench::new();
    bench.submit(&mut ssd, Op::Read, 0, 4096, 0);
    let second = bench.submit(&mut ssd, Op::Read, 32768, 4096, 0);
    // Its die is free at 57 us; then 50 + 4.
    assert_eq!(bench.end(second), 111_000);
    // Core time of the first (2 us), then 57 - 5 us until the die is free.
    assert_eq!(bench.ios[1].parts[Part::Queue], Nanos(2_000 + 52_000));
}

/// With a second register the second page is sensed while the first one moves.
#[test]
fn cache_reads_sense_while_the_register_is_emptied() {
    let mut params = params();
    params.nand.cache_read = true;
    let mut ssd = drive(&params);
    let mut bench = Bench::new();
    bench.submit(&mut ssd, Op::Read, 0, 4096, 0);
    let second = bench.submit(&mut ssd, Op::Read, 32768, 4096, 0);
    // Sensed from 53 to 103 us instead of from 57 on.
    assert_eq!(bench.end(second), 107_000);
}

/// Reads of one page set that wait at the same time are sensed once; later ones are sensed anew.
#[test]
fn reads_of_one_page_set_that_wait_together_are_sensed_once() {
    let mut ssd = drive(&params());
    let mut bench = Bench::new();
    bench.submit(&mut ssd, Op::Read, 0, 4096, 0);
    let neighbour = bench.submit(&mut ssd, Op::Read, 4096, 4096, 0);
    // In the register at 53 us; the channel moves the first one until 57 us.
    assert_eq!(bench.end(neighbour), 61_000);
    let meanwhile = bench.submit(&mut ssd, Op::Read, 8192, 4096, 57_000);
    assert_eq!(bench.end(meanwhile), 65_000);
    let later = bench.submit(&mut ssd, Op::Read, 12288, 4096, 100_000);
    assert_eq!(bench.end(later), 157_000);
    // Another page set takes the register.
    bench.submit(&mut ssd, Op::Read, 32768, 4096, 100_000);
    let again = bench.submit(&mut ssd, Op::Read, 0, 4096, 100_000);
    assert_eq!(bench.end(again), 157_000 + 54_000 + 54_000);
}

/// Four page sets on two dies: 16 us of transfer and 500 us of program each, one after the other;
/// with a second register the second transfer is over before the first program is.
#[test]
fn cache_programs_take_data_while_they_program() {
    for (cache_program, expected) in [(false, 1_032_000), (true, 1_016_000)] {
        let mut params = params();
        params.nand.cache_program = cache_program;
        let mut ssd = drive(&params);
        let mut bench = Bench::new();
        bench.submit(&mut ssd, Op::Write, 1 << 20, 65536, 0);
        let flush = bench.submit(&mut ssd, Op::Flush, 0, 0, 10_000);
        bench.run(&mut ssd, Time(10_000_000));
        assert_eq!(bench.end(flush), expected);
    }
}

/// Three page sets of data and one of parity: a third more is written than the host wrote.
#[test]
fn parity_across_dies_is_written_and_counted() {
    let mut params = params();
    params.parity_stripe = 4;
    params.nand.channels = 4;
    params.history.clear();
    let mut ssd = drive(&params);
    let mut bench = Bench::new();
    for index in 0..30 {
        bench.submit(&mut ssd, Op::Write, index * 16384, 16384, index * 1_000_000);
    }
    bench.run(&mut ssd, Time::NEVER);
    let figures = ssd.figures();
    let nand = figures
        .iter()
        .find(|(name, _)| *name == "nand_bytes_written");
    assert_eq!(nand.unwrap().1, 40.0 * 16384.0);
    assert_eq!(ssd.store.nand.operations.programs, 40);
}

#[test]
fn a_write_is_complete_when_the_buffer_has_it_and_a_flush_when_nand_has() {
    let mut ssd = drive(&params());
    let mut bench = Bench::new();
    let write = bench.submit(&mut ssd, Op::Write, 0, 4096, 0);
    assert_eq!(bench.end(write), 3_000);
    // The open page set is padded and programmed: 16 us transfer, 500 us.
    let flush = bench.submit(&mut ssd, Op::Flush, 0, 0, 10_000);
    bench.run(&mut ssd, Time(10_000_000));
    assert_eq!(bench.end(flush), 526_000);
    // Power protection makes a flush free.
    let mut protected = params();
    protected.buffer.protected = true;
    let mut ssd = drive(&protected);
    let mut bench = Bench::new();
    bench.submit(&mut ssd, Op::Write, 0, 4096, 0);
    let flush = bench.submit(&mut ssd, Op::Flush, 0, 0, 10_000);
    assert_eq!(bench.end(flush), 11_000);
}

/// A full buffer is work for NAND; the core and the collector have done their part before the run.
#[test]
fn what_was_moved_for_a_load_before_the_run_holds_up_nothing_in_it() {
    let mut params = params();
    params.firmware.move_unit_ns = Nanos(1_000_000);
    params.collection.blocks_at_once = 1;
    let random = HistoryLoad {
        access: HistoryAccess::Random,
        area_bytes: 64 << 20,
        block_bytes: 4096,
        written_bytes: 0,
        ongoing: true,
        ..params.history[0]
    };
    params.history.push(random);
    let mut ssd = card(&params);
    let mut bench = Bench::new();
    bench.submit(&mut ssd, Op::Write, 0, 4096, 0);
    assert_eq!(ssd.store.buffer.waiting.len(), 1, "the buffer is full");
    let trim = bench.submit(&mut ssd, Op::Trim, 0, 4096, 10_000);
    assert_eq!(bench.end(trim), 11_000, "the core is free");
    assert_eq!(
        ssd.front.collection_busy_until(Time(10_000)),
        Some(Nanos::ZERO)
    );
}

#[test]
fn a_read_of_buffered_data_needs_no_die() {
    let mut ssd = drive(&params());
    let mut bench = Bench::new();
    bench.submit(&mut ssd, Op::Write, 8192, 4096, 0);
    let read = bench.submit(&mut ssd, Op::Read, 8192, 4096, 100_000);
    assert_eq!(bench.end(read), 103_000);
}

#[test]
fn a_read_waits_for_a_program_unless_the_die_can_suspend_it() {
    for (suspend, expected) in [(None, 516_000 + 54_000), (Some(Nanos(10_000)), 167_000)] {
        let mut params = params();
        params.nand.suspend_ns = suspend;
        let mut ssd = drive(&params);
        let mut bench = Bench::new();
        // Fills a page set of the first die: programmed from 0 to 516 us.
        bench.submit(&mut ssd, Op::Write, 1 << 20, 16384, 0);
        let read = bench.submit(&mut ssd, Op::Read, 0, 4096, 100_000);
        assert_eq!(bench.end(read), expected);
    }
}

#[test]
fn a_stream_at_queue_depth_one_is_read_ahead_and_at_two_it_is_not() {
    let mut params = params();
    params.prefetch = Some(PrefetchParams {
        window_bytes: 256 << 10,
        after_commands: 2,
    });
    let mut ssd = drive(&params);
    let mut bench = Bench::new();
    let latency = |ssd: &mut Ssd<Direct>, bench: &mut Bench, index: u64| {
        let at = index * 500_000;
        let id = bench.submit(ssd, Op::Read, index * 16384, 16384, at);
        bench.end(id) - at
    };
    let times: Vec<u64> = (0..6).map(|i| latency(&mut ssd, &mut bench, i)).collect();
    assert_eq!(times, [69_000, 69_000, 69_000, 3_000, 3_000, 3_000]);
    let mut ssd = drive(&params);
    let mut bench = Bench::new();
    for index in 0..40 {
        // The next is submitted before this one is complete.
        let id = bench.submit(&mut ssd, Op::Read, index * 16384, 16384, index * 40_000);
        assert!(bench.end(id) - index * 40_000 >= 69_000);
    }
}

/// Data flow to the host from the first page set on: 32 KiB lie on two dies, of which the second
/// is busy for 52 us more. Nothing of a single page set is there before its end.
#[test]
fn a_read_that_finds_nothing_read_ahead_leads_no_more_than_without_prefetch() {
    for window_bytes in [0, 256 << 10] {
        let mut params = params();
        params.prefetch = (window_bytes > 0).then_some(PrefetchParams {
            window_bytes,
            after_commands: 2,
        });
        let mut ssd = drive(&params);
        let mut bench = Bench::new();
        bench.submit(&mut ssd, Op::Read, 1 << 20, 4096, 0);
        bench.submit(&mut ssd, Op::Read, 49152, 4096, 1_000_000);
        bench.submit(&mut ssd, Op::Read, 0, 32768, 1_000_000);
        bench.run(&mut ssd, Time::NEVER);
        let leads: Vec<Nanos> = bench.leads.iter().map(|lead| lead.1).collect();
        assert_eq!(leads, [Nanos(0), Nanos(0), Nanos(52_000)]);
    }
}

#[test]
fn a_full_buffer_makes_writes_wait_for_programs() {
    let mut ssd = drive(&params());
    let mut bench = Bench::new();
    // 64 KiB fit. Both dies program two page sets each, one after the other.
    let ids: Vec<IoId> = (0..6)
        .map(|i| bench.submit(&mut ssd, Op::Write, (1 << 20) + i * 16384, 16384, 0))
        .collect();
    bench.run(&mut ssd, Time(10_000_000));
    assert_eq!(bench.end(ids[3]), 12_000);
    assert_eq!(bench.end(ids[4]), 516_000);
    assert_eq!(bench.end(ids[5]), 516_000);
    assert!(bench.ios[4].parts[Part::NandProgram] > Nanos(500_000));
}

/// Every other page set of a die's blocks is valid, and the die has nothing else to do. A block
/// takes 32 times 50 us to read, 16 us to move out, 16 us in and 500 us to program, and 2 ms to
/// erase: 20.6 ms. Two of them free one, and seven are wanted: 288 ms.
#[test]
fn an_idle_die_collects_up_to_its_goal_although_some_page_sets_hold_nothing_valid() {
    let mut params = params();
    params.capacity_bytes = 100 << 20;
    params.collection.background_free_blocks = 21;
    params.history[0].area_bytes = params.capacity_bytes;
    params.history[0].written_bytes = params.capacity_bytes;
    let mut ssd = drive(&params);
    for set in (0..params.capacity_bytes / 16384).filter(|set| set / 2 % 2 == 0) {
        ssd.store.translation.trim(UnitId::new((set * 4) as u32), 4);
    }
    let mut bench = Bench::new();
    bench.submit(&mut ssd, Op::Read, 32768, 4096, 0);
    bench.run(&mut ssd, Time(250_000_000));
    let wants = |ssd: &Ssd<Direct>, die| ssd.store.translation.wants_free_blocks(DieId::new(die));
    assert!((0..2).all(|die| wants(&ssd, die)));
    bench.run(&mut ssd, Time(300_000_000));
    assert!(!(0..2).any(|die| wants(&ssd, die)));
    assert_eq!(ssd.store.check(), Ok(()));
}

/// One data path for both directions turns when a read asks for it; a second read finds it ready.
#[test]
fn the_first_read_after_a_write_waits_for_the_turnaround() {
    let mut params = params();
    params.firmware.turnaround_ns = Some(Nanos(200_000));
    let mut ssd = card(&params);
    let mut bench = Bench::new();
    bench.submit(&mut ssd, Op::Write, 1 << 20, 4096, 0);
    let first = bench.submit(&mut ssd, Op::Read, 0, 4096, 1_000_000);
    let second = bench.submit(&mut ssd, Op::Read, 32768, 4096, 2_000_000);
    bench.run(&mut ssd, Time::NEVER);
    assert_eq!(bench.end(first), 1_257_000);
    assert_eq!(bench.end(second), 2_057_000);
}

#[test]
fn faults_name_what_is_wrong() {
    let key = |params: &SsdParams| {
        Ssd::<Direct>::new(params, 1, "x").unwrap_err()[0]
            .key
            .clone()
    };
    let mut bad = params();
    bad.capacity_bytes = 128 << 20;
    assert_eq!(key(&bad), "capacity_bytes");
    let mut bad = params();
    bad.compressible = 1.2;
    assert_eq!(key(&bad), "compressible");
    let mut bad = params();
    bad.reserved_blocks_per_plane = 64;
    assert_eq!(key(&bad), "reserved_blocks_per_plane");
    let mut bad = params();
    bad.history[0].area_bytes = 1 << 40;
    assert_eq!(key(&bad), "history.0.area_bytes");
}

/// A drive that has no spare block to collect with ends the run with an explanation.
#[test]
fn a_drive_that_can_free_nothing_fails_and_says_why() {
    let mut ssd = drive(&params());
    let usual = ssd.store.translation.space.shape();
    let shape = Shape {
        blocks_per_die: usual.units / usual.units_per_block() / 2,
        ..usual
    };
    let draws = Stream::new(1, "test", "victims");
    let collection = CollectionParams::default();
    ssd.store.translation = Translation::new(shape, collection, Layout::Empty, draws);
    let mut bench = Bench::new();
    for index in 0..5000 {
        let offset = (index * 16384) % (64 << 20);
        bench.submit(&mut ssd, Op::Write, offset, 16384, index * 1_000_000);
    }
    bench.run(&mut ssd, Time::NEVER);
    assert!(bench.failed);
    let fault = ssd.store.translation.failure(0).unwrap();
    assert_eq!(fault.key, "capacity_bytes");
    assert!(fault.allowed.contains("can free nothing"), "{fault}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Whatever is asked, every command completes once, its parts add up, and the counters agree
    /// while garbage collection runs.
    #[test]
    fn every_command_completes_once_and_the_counters_agree(
        seed: u64,
        write_share in 0.2f64..1.0,
        suspend: bool,
        independent_reads: bool,
        pulse in prop::sample::select(vec![0, 70_000]),
        cache in any::<(bool, bool)>(),
        protected: bool,
        write_through in prop::bool::weighted(0.2),
        parity in prop::sample::select(vec![0, 2]),
        background in 0u32..8,
        separate_frontiers: bool,
        compressible in prop::sample::select(vec![0.0, 0.6]),
        map_pages in prop::sample::select(vec![0, 4, 30, 500]),
    ) {
        let mut params = params();
        params.capacity_bytes = if parity == 0 { 52 << 20 } else { 22 << 20 };
        params.history[0].area_bytes = params.capacity_bytes;
        params.history[0].written_bytes = params.capacity_bytes;
        params.nand.suspend_ns = suspend.then_some(Nanos(5_000));
        params.nand.independent_reads = independent_reads;
        params.nand.pulse_ns = Nanos(pulse);
        params.nand.suspend_interval_ns = Nanos(2 * pulse);
        params.nand.cache_read = cache.0;
        params.nand.cache_program = cache.1;
        params.buffer.protected = protected;
        params.buffer.write_through = write_through;
        params.parity_stripe = parity;
        params.collection.background_free_blocks = background;
        params.collection.separate_frontiers = separate_frontiers;
        params.compression = Some(CompressionParams {
            gain: 1.0,
            least_share: 0.1,
            shortest_match: 1,
            bytes_per_s: 0,
        });
        params.compressible = compressible;
        params.map_cache = (map_pages > 0).then_some(map_cache(map_pages));
        let mut ssd = drive(&params);
        let mut bench = Bench::new();
        let mut draws = Stream::new(seed, "test", "load");
        let mut at = 0;
        for _ in 0..6000 {
            at += draws.below(40_000);
            let bytes = 512 * (1 + draws.below(48));
            let offset = 512 * draws.below((params.capacity_bytes - bytes) / 512);
            let op = if draws.chance(write_share) { Op::Write } else { Op::Read };
            let op = match draws.below(50) { 0 => Op::Trim, 1 => Op::Flush, _ => op };
            bench.submit(&mut ssd, op, offset, bytes, at);
        }
        bench.run(&mut ssd, Time::NEVER);
        // Only writes that still wait for a page set to fill may be missing.
        let mut completed: Vec<IoId> = bench.done.iter().map(|done| done.0).collect();
        completed.sort_unstable();
        completed.dedup();
        prop_assert_eq!(completed.len(), bench.done.len());
        prop_assert_eq!(completed.len(), bench.ios.len());
        prop_assert_eq!(ssd.store.check(), Ok(()));
    }
}
