//! The arithmetic against textbooks and against a plain table of every sector.

use crate::ids::{ColumnId, CopyId, MemberId, ParityId, RowId, StripeId};
use crate::layout::oracle::Table;
use crate::layout::*;
use crate::plan::{Level, Rotation};
use proptest::prelude::*;
use raidlab_io::{ByteRange, Op};
use raidlab_kernel::Id;
use std::collections::HashMap;

const UNIT: u64 = 65_536;
const SECTOR: u64 = 512;

fn layout(level: Level, drives: usize) -> Layout {
    let sizes = vec![100 * UNIT; drives];
    Layout::new(level, Rotation::LeftSymmetric, UNIT, 1, &sizes).unwrap()
}

fn runs(layout: &Layout, offset: u64, bytes: u64) -> Vec<Run> {
    let mut left = layout.runs(ByteRange { offset, bytes });
    std::iter::from_fn(|| layout.next_run(&mut left)).collect()
}

/// Drive, offset and bytes of each command to a first copy.
fn split(layout: &Layout, offset: u64, bytes: u64) -> Vec<(u32, u64, u64)> {
    let command = |run: &Run| {
        let place = layout.run_place(run, CopyId::new(0));
        (place.member.number(), place.offset, run.bytes)
    };
    runs(layout, offset, bytes).iter().map(command).collect()
}

fn run(stripe: u64, column: u32, start: u32, bytes: u64) -> Run {
    Run {
        stripe: StripeId::new(stripe),
        column: ColumnId::new(column),
        start,
        bytes,
    }
}

fn place(member: u32, offset: u64) -> Place {
    Place {
        member: MemberId::new(member),
        offset,
    }
}

/// 64 KiB that start one sector into a 64 KiB stripe unit need two drives.
#[test]
fn an_unaligned_request_touches_two_drives() {
    assert_eq!(
        split(&layout(Level::Raid0, 4), 5 * UNIT + 512, UNIT),
        [(1, UNIT + 512, UNIT - 512), (2, UNIT, 512)]
    );
    assert_eq!(
        split(&layout(Level::Raid10, 4), UNIT + 512, UNIT),
        [(2, 512, UNIT - 512), (0, UNIT, 512)]
    );
}

/// Ten units over four drives: each drive gets one contiguous command.
#[test]
fn a_long_request_is_one_command_a_drive() {
    assert_eq!(
        split(&layout(Level::Raid0, 4), 2 * UNIT, 10 * UNIT),
        [
            (2, 0, 3 * UNIT),
            (3, 0, 3 * UNIT),
            (0, UNIT, 2 * UNIT),
            (1, UNIT, 2 * UNIT),
        ]
    );
}

/// Ten units less a sector over four drives: one run a column, with parity one a unit.
#[test]
fn a_long_request_is_one_run_a_column() {
    let (start, unit) = (2 * UNIT + 512, UNIT as u32);
    assert_eq!(
        runs(&layout(Level::Raid0, 4), start, 10 * UNIT - 512),
        [
            run(0, 2, 512, 3 * UNIT - 512),
            run(0, 3, 0, 3 * UNIT),
            run(1, 0, 0, 2 * UNIT),
            run(1, 1, 0, 2 * UNIT)
        ]
    );
    let with_parity = runs(&layout(Level::Raid5, 4), start, 10 * UNIT - 512);
    assert_eq!(with_parity.len(), 10);
    assert_eq!(with_parity[0].first(UNIT).end, unit);
}

/// Three drives, 1E: units 0 1 2 in row 0 and their copies, shifted by one drive, in row 1.
#[test]
fn raid_1e_shifts_its_copies_by_one_drive() {
    let layout = layout(Level::Raid1e, 3);
    assert_eq!(layout.capacity(), 150 * UNIT);
    let runs = runs(&layout, 2 * UNIT, 2 * UNIT);
    let at = |run, copy| layout.run_place(run, CopyId::new(copy));
    assert_eq!(at(&runs[0], 0), place(2, 0));
    assert_eq!(at(&runs[1], 0), place(0, 2 * UNIT));
    assert_eq!(at(&runs[0], 1), place(0, UNIT));
    assert_eq!(at(&runs[1], 1), place(1, 3 * UNIT));
    assert_eq!(runs.len(), 2);
}

#[test]
fn impossible_arrays_are_refused() {
    let new = |level, unit, spans, drives| {
        let sizes = vec![UNIT; drives];
        Layout::new(level, Rotation::LeftSymmetric, unit, spans, &sizes)
    };
    for (level, drives) in [
        (Level::Jbod, 0),
        (Level::Raid1, 1),
        (Level::Raid1e, 2),
        (Level::Raid10, 2),
        (Level::Raid10, 5),
        (Level::Raid5, 2),
        (Level::Raid6, 3),
    ] {
        assert!(new(level, UNIT, 1, drives).is_err());
    }
    for (spans, drives) in [(0, 6), (1, 6), (2, 5), (3, 6), (7, 6)] {
        assert!(new(Level::Raid50, UNIT, spans, drives).is_err());
    }
    assert!(new(Level::Raid0, 0, 1, 2).is_err());
    assert!(new(Level::Raid0, 1000, 1, 2).is_err());
    assert!(new(Level::Raid0, 1 << 31, 1, 2).is_err());
}

/// Drive numbers of four stripes: data columns, then parities.
fn rows(level: Level, rotation: Rotation, drives: usize) -> Vec<Vec<u32>> {
    let layout = Layout::new(level, rotation, UNIT, 2, &vec![64 * UNIT; drives]).unwrap();
    StripeId::first(4)
        .map(|stripe| {
            let data = ColumnId::first(layout.columns())
                .map(|c| layout.place(stripe, Role::Data(c)).member);
            let parity =
                ParityId::first(layout.parities()).map(|p| layout.parity(stripe, p).member);
            data.chain(parity).map(MemberId::number).collect()
        })
        .collect()
}

/// Four drives, RAID 5, as every textbook draws them:
///
///     left-symmetric     left-asymmetric    right-symmetric    right-asymmetric
///     0 1 2 P            0 1 2 P            P 0 1 2            P 0 1 2
///     4 5 P 3            3 4 P 5            5 P 3 4            3 P 4 5
///     8 P 6 7            6 P 7 8            7 8 P 6            6 7 P 8
///     P 9 a b            P 9 a b            9 a b P            9 a b P
#[test]
fn raid_5_rotates_as_in_the_textbook() {
    let raid5 = |rotation| rows(Level::Raid5, rotation, 4);
    assert_eq!(
        raid5(Rotation::LeftSymmetric),
        [[0, 1, 2, 3], [3, 0, 1, 2], [2, 3, 0, 1], [1, 2, 3, 0]]
    );
    assert_eq!(
        raid5(Rotation::LeftAsymmetric),
        [[0, 1, 2, 3], [0, 1, 3, 2], [0, 2, 3, 1], [1, 2, 3, 0]]
    );
    assert_eq!(
        raid5(Rotation::RightSymmetric),
        [[1, 2, 3, 0], [2, 3, 0, 1], [3, 0, 1, 2], [0, 1, 2, 3]]
    );
    assert_eq!(
        raid5(Rotation::RightAsymmetric),
        [[1, 2, 3, 0], [0, 2, 3, 1], [0, 1, 3, 2], [0, 1, 2, 3]]
    );
}

/// Four drives, RAID 6: both parities side by side, wrapping around.
#[test]
fn raid_6_rotates_both_parities() {
    assert_eq!(
        rows(Level::Raid6, Rotation::LeftSymmetric, 4),
        [[1, 2, 3, 0], [0, 1, 2, 3], [3, 0, 1, 2], [2, 3, 0, 1]]
    );
    assert_eq!(
        rows(Level::Raid6, Rotation::LeftAsymmetric, 4),
        [[1, 2, 3, 0], [0, 1, 2, 3], [0, 3, 1, 2], [2, 3, 0, 1]]
    );
}

/// Two spans of three drives: stripes alternate, rows advance every second stripe.
#[test]
fn raid_50_alternates_its_spans() {
    let sizes = [8 * UNIT; 6];
    let layout = Layout::new(Level::Raid50, Rotation::LeftSymmetric, UNIT, 2, &sizes).unwrap();
    assert_eq!(layout.capacity(), 4 * 8 * UNIT);
    let data = |stripe| layout.place(StripeId::new(stripe), Role::default());
    assert_eq!(data(0), place(0, 0));
    assert_eq!(data(1), place(3, 0));
    assert_eq!(data(2), place(2, UNIT));
    let last = StripeId::new(3);
    assert_eq!(layout.parity(last, ParityId::new(0)), place(4, UNIT));
    assert_eq!(
        layout.rotated.stripe_at(MemberId::new(4), RowId::new(1)),
        last
    );
}

/// Levels, each with a number of drives and of spans.
fn levels() -> impl Strategy<Value = (Level, usize, u32)> {
    prop_oneof![
        (1usize..6).prop_map(|n| (Level::Jbod, n, 1)),
        (1usize..9).prop_map(|n| (Level::Raid0, n, 1)),
        (2usize..5).prop_map(|n| (Level::Raid1, n, 1)),
        (3usize..8).prop_map(|n| (Level::Raid1e, n, 1)),
        (2usize..5).prop_map(|n| (Level::Raid10, 2 * n, 1)),
        (3usize..10).prop_map(|n| (Level::Raid5, n, 1)),
        (4usize..10).prop_map(|n| (Level::Raid6, n, 1)),
        (3usize..6, 2u32..4).prop_map(|(n, s)| (Level::Raid50, n * s as usize, s)),
        (4usize..6, 2u32..4).prop_map(|(n, s)| (Level::Raid60, n * s as usize, s)),
    ]
}

fn rotations() -> impl Strategy<Value = Rotation> {
    prop_oneof![
        Just(Rotation::LeftSymmetric),
        Just(Rotation::LeftAsymmetric),
        Just(Rotation::RightSymmetric),
        Just(Rotation::RightAsymmetric),
    ]
}

/// An array and the same array as a table.
#[derive(Debug)]
struct Both {
    level: Level,
    drives: u32,
    unit: u64,
    layout: Layout,
    table: Table,
}

fn both() -> impl Strategy<Value = Both> {
    (levels(), rotations(), 1u64..6, 2u64..14, 0u64..5).prop_map(
        |((level, drives, spans), rotation, unit, rows, odd)| {
            let sizes: Vec<u64> = match level {
                Level::Jbod => (0..drives as u64).map(|n| 7 + odd + 3 * n).collect(),
                _ => vec![rows * unit + odd % unit; drives],
            };
            let bytes: Vec<u64> = sizes.iter().map(|sectors| sectors * SECTOR).collect();
            Both {
                level,
                drives: drives as u32,
                unit,
                layout: Layout::new(level, rotation, unit * SECTOR, spans, &bytes).unwrap(),
                table: Table::new(level, rotation, unit, spans, &sizes),
            }
        },
    )
}

/// A range inside an array of `sectors` sectors.
fn range_of(sectors: u64, from: f64, length: u64) -> (u64, u64) {
    let length = length.min(sectors);
    ((from * (sectors - length + 1) as f64) as u64, length)
}

proptest! {
    /// Every sector lies where the table has it, copy by copy, and so does every parity; units
    /// lead back to their stripes.
    #[test]
    fn places_are_those_of_the_table(Both { layout, table, unit, .. } in both()) {
        prop_assert_eq!(layout.capacity(), table.sectors() * SECTOR);
        for sector in 0..table.sectors() {
            let piece = layout.piece(ByteRange::new(sector * SECTOR, SECTOR));
            prop_assert_eq!(u64::from(piece.end - piece.start), SECTOR);
            let start = layout.offset(piece.stripe, piece.column) + u64::from(piece.start);
            prop_assert_eq!(start, sector * SECTOR);
            let spots = table.spots(sector);
            prop_assert_eq!(layout.copies() as usize, spots.len());
            for (copy, (drive, at)) in spots.into_iter().enumerate() {
                let found = layout.data(piece.stripe, piece.column, CopyId::at(copy));
                let within = u64::from(piece.start);
                let drive = MemberId::new(drive);
                prop_assert_eq!((found.member, found.offset + within), (drive, at * SECTOR));
                let row = RowId::new(found.offset / layout.unit());
                let role = Role::Data(piece.column);
                prop_assert_eq!(layout.unit_at(drive, row), Some((piece.stripe, role)));
            }
        }
        for (stripe, row) in table.stripes.iter().enumerate() {
            let stripe = StripeId::new(stripe as u64);
            prop_assert_eq!(layout.parities() as usize, row.parities.len());
            for (which, &(drive, row)) in row.parities.iter().enumerate() {
                let role = Role::Parity(ParityId::at(which));
                prop_assert_eq!(layout.place(stripe, role), place(drive, row * unit * SECTOR));
                let (drive, row) = (MemberId::new(drive), RowId::new(row));
                prop_assert_eq!(layout.unit_at(drive, row), Some((stripe, role)));
                prop_assert_eq!(layout.rotated.stripe_at(drive, row), stripe);
            }
        }
    }

    /// Runs are the commands of the table, copy by copy and in the same order; the firmware counts
    /// as many.
    #[test]
    fn runs_are_the_commands_of_the_table(
        Both { level, drives, layout, table, .. } in both(),
        from in 0.0f64..1.0,
        length in 1u64..100,
    ) {
        let (first, length) = range_of(table.sectors(), from, length);
        let (offset, bytes) = (first * SECTOR, length * SECTOR);
        let wanted = table.commands(first, length);
        let runs = runs(&layout, offset, bytes);
        prop_assert_eq!(layout.count(layout.runs(ByteRange { offset, bytes })) as usize, wanted.len());
        prop_assert_eq!(runs.len(), wanted.len());
        for (run, command) in runs.iter().zip(&wanted) {
            prop_assert_eq!(run.bytes, command.sectors * SECTOR);
            for (copy, (drive, at)) in table.spots(command.first).into_iter().enumerate() {
                prop_assert_eq!(layout.run_place(run, CopyId::at(copy)), place(drive, at * SECTOR));
            }
        }
        // To the firmware a request of a jbod is one command, though it may cross drives.
        let reads = if level == Level::Jbod { 1 } else { wanted.len() as u64 };
        prop_assert_eq!(layout.commands(Op::Read, ByteRange { offset, bytes }), reads);
        let writes = match u64::from(layout.parities()) {
            0 => reads * u64::from(layout.copies()),
            parities => 2 * (reads + parities),
        };
        prop_assert_eq!(layout.commands(Op::Write, ByteRange { offset, bytes }), writes);
        prop_assert_eq!(layout.commands(Op::Flush, ByteRange::default()), u64::from(drives));
        let moved: u64 = wanted.iter().map(|command| command.sectors * SECTOR).sum();
        prop_assert_eq!(layout.bytes_moved(Op::Read, bytes), moved);
        let all = moved * u64::from(layout.copies());
        prop_assert_eq!(layout.bytes_moved(Op::Write, bytes), all);
    }

    /// Pieces tile a range in order, and the units of its runs are the same pieces.
    #[test]
    fn pieces_tile_a_range(
        Both { layout, table, unit, .. } in both(),
        from in 0.0f64..1.0,
        length in 1u64..60,
    ) {
        let (first, length) = range_of(table.sectors(), from, length);
        let (start, end) = (first * SECTOR, (first + length) * SECTOR);
        let mut units = Vec::new();
        for run in runs(&layout, start, end - start) {
            for (stripe, extent) in run.extents(unit * SECTOR) {
                let at = layout.offset(stripe, extent.column) + u64::from(extent.start);
                units.push((at, (stripe, extent)));
            }
        }
        units.sort_unstable_by_key(|unit| unit.0);
        let mut at = start;
        for (offset, unit) in units {
            prop_assert_eq!(offset, at);
            let piece = layout.piece(ByteRange::new(at, end - at));
            prop_assert!(piece.start < piece.end && u64::from(piece.end) <= layout.unit());
            prop_assert_eq!((piece.stripe, piece.extent()), unit);
            at += u64::from(piece.end - piece.start);
        }
        prop_assert_eq!(at, end);
    }

    /// Every unit of data or parity has its own place inside the drives, and the units of a stripe
    /// lie on different drives.
    #[test]
    fn every_unit_has_a_place_of_its_own(
        (level, drives, spans) in levels(),
        rotation in rotations(),
        rows in 2u64..14,
    ) {
        let sizes = vec![rows * SECTOR; drives];
        let layout = Layout::new(level, rotation, SECTOR, spans, &sizes).unwrap();
        let mut owner = HashMap::new();
        for stripe in StripeId::first(layout.stripes()) {
            let columns = ColumnId::first(layout.columns());
            let data = columns.flat_map(|column| {
                CopyId::first(layout.copies()).map(move |copy| Role::Copy(column, copy))
            });
            let parities = ParityId::first(layout.parities()).map(Role::Parity);
            let places: Vec<Place> =
                data.chain(parities).map(|role| layout.place(stripe, role)).collect();
            if layout.parities() > 0 {
                let mut drives: Vec<MemberId> = places.iter().map(|p| p.member).collect();
                drives.sort_unstable();
                drives.dedup();
                prop_assert_eq!(drives.len(), places.len());
            }
            for place in places {
                prop_assert!(place.offset < rows * SECTOR);
                prop_assert!(place.member.index() < drives);
                let row = RowId::new(place.offset / SECTOR);
                prop_assert!(level == Level::Jbod || row.number() < layout.rows());
                let found = layout.unit_at(place.member, row);
                prop_assert_eq!(found.map(|(stripe, _)| stripe), Some(stripe));
                prop_assert!(owner.insert((place.member, place.offset), stripe).is_none());
            }
        }
        // All of every drive is used, but for an odd row at the end of 1E.
        let whole = if level == Level::Raid1e { rows / 2 * 2 } else { rows };
        prop_assert_eq!(owner.len() as u64, whole * drives as u64);
    }

    /// An array survives the loss of drives if the table can still yield every unit; jbod serves
    /// what is left of it.
    #[test]
    fn losses_are_survived_as_far_as_data_can_be_read(
        Both { level, drives, layout, table, .. } in both(),
        lost in prop::collection::vec(0u32..30, 0..4),
    ) {
        let lost = |member| lost.iter().any(|&other| other % drives == member);
        let wanted = match level {
            Level::Jbod => drives > 1 || !lost(0),
            _ => table.survives(lost),
        };
        prop_assert_eq!(layout.survives(|member| lost(member.number())), wanted);
    }
}
