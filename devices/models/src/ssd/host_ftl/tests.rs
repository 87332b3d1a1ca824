//! The front's parts by hand-computed examples.

use super::*;
use crate::ssd::firmware::Firmware;
use crate::ssd::firmware::streams::MapPiece;
use raidlab_kernel::Station;

/// The core of the front, and the firmware times where the share `moved` of the units was moved.
fn front(times: FirmwareParams, moved: f64) -> (HostFtl, FirmwareParams) {
    let mut draws = Stream::new(1, "drive", "firmware");
    let front = HostFtl {
        directions: None,
        core: BookedCore::of(&times),
        descent: times.descent_ns,
        moves: MoveBatches::new(times.move_unit_ns, times.move_batch, &mut draws),
        throttle: None,
        suspended_throttle: None,
        sectors_of: None,
    };
    (front, map_times::at_share(&times, moved))
}

#[test]
fn the_core_is_busy_for_what_it_has_done_so_far() {
    let times = FirmwareParams {
        finish_ns: Nanos(5_000),
        ..FirmwareParams::idle()
    };
    let (mut front, _) = front(times, 0.0);
    let mut cores = Cores::new(1);
    for _ in 0..2 {
        front.serve(&mut cores, Time(0), Nanos(10_000));
    }
    front.finish_read(1, Time(100_000)).unwrap();
    let busy = |now| front.cores_busy_until(&cores, Time(now));
    assert_eq!(busy(15_000), (Nanos(15_000), 1));
    assert_eq!(busy(50_000), (Nanos(20_000), 1));
    assert_eq!(busy(200_000), (Nanos(25_000), 1));
}

#[test]
fn what_collection_gathers_holds_the_core_at_once() {
    let mut draws = Stream::new(1, "drive", "firmware");
    let mut moves = MoveBatches::new(Nanos(1_000), 4, &mut draws);
    let mut core = Station::default();
    // A unit and a command of 10 us every 100 us: one command in four waits, for four units.
    let mut waits: Vec<u64> = (0..400u64)
        .map(|n| {
            let now = Time(n * 100_000);
            if let Some(time) = moves.gather(1) {
                core.serve(now, time);
            }
            (core.serve(now, Nanos(10_000)).start - now).0
        })
        .collect();
    assert_eq!(waits.iter().sum::<u64>(), 400_000);
    waits.sort_unstable();
    waits.dedup();
    assert_eq!(waits, [0, 4_000]);
}

#[test]
fn a_write_waits_for_its_units_to_be_inserted_into_the_map() {
    let times = FirmwareParams {
        fetch_unit_ns: Nanos(500),
        insert_unit_ns: Nanos(8_000),
        write_unit_ns: Nanos(4_000),
        ..FirmwareParams::idle()
    };
    // 16 units of 0.5 us and, where they were moved, of 8 us more.
    for (moved, waits) in [(0.0, 8_000), (0.5, 72_000), (1.0, 136_000)] {
        let (mut front, times) = front(times, moved);
        let mut firmware = Firmware::new(times, Stream::new(1, "drive", "firmware"));
        assert_eq!(firmware.latency(Op::Write, 16), Nanos(waits));
        // The core is occupied for the units' own work alone, and reads wait for none of it.
        firmware.process(&mut front, Op::Write, 16, MapPiece::Cached, Time(0));
        let (busy, _) = firmware.cores.busy_until(Time(1_000_000));
        assert_eq!(busy, Nanos(64_000));
        assert_eq!(firmware.latency(Op::Read, 16), Nanos::ZERO);
    }
}

#[test]
fn a_command_whose_piece_of_the_map_is_cached_needs_no_descent() {
    let times = FirmwareParams {
        read_ns: Nanos(10_000),
        descent_ns: Nanos(7_000),
        ..FirmwareParams::idle()
    };
    let (mut front, times) = front(times, 0.0);
    let mut firmware = Firmware::new(times, Stream::new(1, "drive", "firmware"));
    let mut took = |piece, now| {
        let served = firmware.process(&mut front, Op::Read, 1, piece, now);
        served.end - now
    };
    assert_eq!(took(MapPiece::Uncached, Time(0)), Nanos(17_000));
    assert_eq!(took(MapPiece::Cached, Time(1_000_000)), Nanos(10_000));
}
