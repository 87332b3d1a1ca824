//! What a read finds after writes at random: against balls in bins, and against a drive of which
//! every piece really was written.

use super::*;
use crate::ssd::ids::UnitId;
use crate::ssd::map::layout::Layout;
use crate::ssd::preconditioning::prepare;
use crate::ssd::translation::policy::{CollectionParams, Placement};
use crate::ssd::translation::{Shape, Translation, Untimed};

const UNIT: u64 = 4096;
const CHANNELS: u32 = 25;
const SHAPE: Shape = Shape {
    units: 100 * 512,
    dies: 100,
    blocks_per_die: 64,
    sets_per_block: 16,
    units_per_set: 1,
};

fn load(access: HistoryAccess, block_bytes: u64, written_bytes: u64) -> HistoryLoad {
    HistoryLoad {
        access,
        start_bytes: 0,
        area_bytes: u64::from(SHAPE.units) * UNIT,
        block_bytes,
        written_bytes,
        ongoing: false,
        weight: 1,
        then_rests: false,
    }
}

fn fill() -> HistoryLoad {
    let area = u64::from(SHAPE.units) * UNIT;
    load(HistoryAccess::Sequential, 128 << 10, area)
}

fn random(block_bytes: u64, written_bytes: u64) -> HistoryLoad {
    load(HistoryAccess::Random, block_bytes, written_bytes)
}

fn after(history: &[HistoryLoad]) -> Translation {
    let params = CollectionParams::default();
    let drive = prepare(SHAPE, params, history, UNIT, 0, (1, "drive"));
    drive.check().unwrap();
    drive
}

/// Channels that 64 KiB lie on, on average over all such pieces of the drive.
fn channels_of_64_kib(drive: &Translation) -> f64 {
    let reads = SHAPE.units / 16;
    let channels = (0..reads).map(|read| {
        let on = (0..16).fold(0_u32, |on, unit| {
            let slot = drive.map.find(UnitId::new(read * 16 + unit)).slot;
            on | 1 << (drive.space.locate(drive.space.set(slot)).0.number() % CHANNELS)
        });
        f64::from(on.count_ones())
    });
    channels.sum::<f64>() / f64::from(reads)
}

/// 64 KiB that were written as eight pieces of two pages: each piece lies on two neighbours of 25
/// channels, wherever they are. A channel is spared by all with probability (23 / 25)^8 = 0.513, so
/// 25 * (1 - 0.513) = 12.2 channels are met where 16 pages in order meet 16.
#[test]
fn pieces_meet_as_many_channels_as_balls_in_bins() {
    let in_order = after(&[fill()]);
    assert_eq!(channels_of_64_kib(&in_order), 16.0);
    let scattered = channels_of_64_kib(&after(&[fill(), random(8 << 10, 0)]));
    assert!((scattered - 12.17).abs() < 0.1, "{scattered}");
    // Single pages: 25 * (1 - (24 / 25)^16) = 11.99. Pieces of 64 KiB meet no page of their own.
    let single = channels_of_64_kib(&after(&[fill(), random(UNIT, 0)]));
    assert!((single - 11.99).abs() < 0.1, "{single}");
    let whole = channels_of_64_kib(&after(&[fill(), random(64 << 10, 0)]));
    assert_eq!(whole, 16.0);
    // A stream over all of it sets it right.
    let streamed = channels_of_64_kib(&after(&[fill(), random(8 << 10, 0), fill()]));
    assert_eq!(streamed, 16.0);
}

/// A drive whose every piece is written where its log is, against one that begins so.
#[test]
fn pieces_lie_as_on_a_drive_that_was_written() {
    let draws = Stream::new(3, "written", "victims");
    let mut written = Translation::new(SHAPE, CollectionParams::default(), Layout::Empty, draws);
    for unit in 0..SHAPE.units {
        written.write(UnitId::new(unit), &mut Untimed);
    }
    let mut draws = Stream::new(5, "test", "load");
    let mut write = |drive: &mut Translation, pages: u32, bytes: f64| {
        let pieces = SHAPE.units / pages;
        for _ in 0..(f64::from(pieces) * bytes) as u32 {
            let first = draws.below(u64::from(pieces)) as u32 * pages;
            (first..first + pages).for_each(|unit| drive.write(UnitId::new(unit), &mut Untimed));
        }
    };
    let area = u64::from(SHAPE.units) * UNIT;
    // Three times the drive, then half of it: exp(-0.5) = 61 % is left of the small pieces.
    write(&mut written, 2, 3.0);
    let small = channels_of_64_kib(&written);
    write(&mut written, 16, 0.5);
    let mixed = channels_of_64_kib(&written);
    let history = [
        fill(),
        random(8 << 10, 3 * area),
        random(64 << 10, area / 2),
    ];
    let begins = channels_of_64_kib(&after(&history[..2]));
    assert!((begins - small).abs() < 0.15, "{begins}, written {small}");
    let begins = channels_of_64_kib(&after(&history));
    assert!((begins - mixed).abs() < 0.15, "{begins}, written {mixed}");
}

/// Bits of the pieces, and shares, of the loads at random that count.
fn shares(history: &[HistoryLoad]) -> Vec<(u32, f64)> {
    let order = super::after(history, SHAPE.units, UNIT, 1);
    let layers = order.map_or(Vec::new(), |order| order.layers().to_vec());
    let share = |layer: &Layer| (layer.piece_bits, layer.written as f64 / ALL as f64);
    layers
        .iter()
        .filter(|layer| !layer.in_order)
        .map(share)
        .collect()
}

#[test]
fn a_load_has_what_it_wrote_and_no_later_one_did() {
    let area = u64::from(SHAPE.units) * UNIT;
    assert_eq!(shares(&[fill()]), []);
    assert_eq!(shares(&[fill(), random(8 << 10, 0)]), [(1, 1.0)]);
    // 1 - exp(-1/2) = 0.393.
    let found = shares(&[fill(), random(8 << 10, 0), random(64 << 10, area / 2)]);
    assert_eq!((found[0].0, found[1].0), (1, 4));
    assert!((found[1].1 - 0.393_47).abs() < 1e-4, "{found:?}");
    assert_eq!(
        shares(&[random(8 << 10, 0), random(64 << 10, 0)]),
        [(4, 1.0)]
    );
    assert_eq!(shares(&[fill(), random(8 << 10, 0), fill()]), []);
}

#[test]
fn a_drive_whose_data_lie_by_address_begins_in_that_order() {
    let params = CollectionParams {
        placement: Placement::Address,
        ..CollectionParams::default()
    };
    let history = [fill(), random(8 << 10, 0)];
    let drive = prepare(SHAPE, params, &history, UNIT, 0, (1, "drive"));
    assert_eq!(channels_of_64_kib(&drive), 16.0);
}

/// Three quarters of the writes go to the first half, the others anywhere: to each place of that
/// half go 0.75 / 0.5 = 1.5 and 0.25, so that the first load is the last one on 6 of 7.
#[test]
fn loads_side_by_side_share_their_places_by_what_they_write() {
    let ongoing = |part: u64, weight| HistoryLoad {
        area_bytes: u64::from(SHAPE.units) * UNIT / part,
        ongoing: true,
        weight,
        ..random(8 << 10, 0)
    };
    let found = shares(&[fill(), ongoing(2, 3), ongoing(1, 1)]);
    assert_eq!(found[0], (1, 1.0));
    assert!((found[1].1 - 6.0 / 7.0).abs() < 1e-6, "{found:?}");
}

/// What is written more often stays where it is written more often.
#[test]
fn data_of_a_hot_spot_and_others_do_not_change_places() {
    let area = u64::from(SHAPE.units) * UNIT;
    let hot = HistoryLoad {
        area_bytes: area / 10,
        ongoing: true,
        weight: 1,
        ..random(8 << 10, 0)
    };
    let all = HistoryLoad {
        area_bytes: area,
        ..hot
    };
    let order = super::after(&[fill(), hot, all], SHAPE.units, UNIT, 1).expect("at random");
    let hot_units = SHAPE.units / 10;
    for unit in UnitId::first(SHAPE.units) {
        let hot = unit.number() < hot_units;
        assert_eq!(order.place(unit).number() < hot_units, hot, "{unit}");
    }
}
