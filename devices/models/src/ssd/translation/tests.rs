//! The translation layer against closed forms and published tables of write amplification.

use super::*;
use crate::ssd::translation::erase_blocks::BlockState;
use crate::ssd::translation::policy::{LEVELLING_NEEDS, Policy};
use proptest::prelude::*;

/// One die of one-unit page sets: the system that the closed forms describe.
fn drive(rho: f64, blocks: u32, pages: u32, params: CollectionParams) -> Translation {
    let shape = Shape {
        // The blocks that never hold data are not part of the physical space that rho means.
        units: (rho * f64::from((blocks - WORKING_BLOCKS) * pages)).round() as u32,
        dies: 1,
        blocks_per_die: blocks,
        sets_per_block: pages,
        units_per_set: 1,
    };
    let draws = Stream::new(1, "test", "victims");
    let mut drive = Translation::new(shape, params, Layout::Empty, draws);
    for unit in 0..shape.units {
        drive.write(UnitId::new(unit), &mut Untimed);
    }
    drive
}

fn write_randomly(drive: &mut Translation, writes: u64, draws: &mut Stream) {
    let units = u64::from(drive.space.shape.units);
    for _ in 0..writes {
        drive.write(UnitId::new(draws.below(units) as u32), &mut Untimed);
    }
}

/// Write amplification under uniform random writes, once it has settled.
fn steady(rho: f64, blocks: u32, pages: u32, policy: Policy, candidates: u32) -> f64 {
    let params = CollectionParams {
        policy,
        candidates,
        ..CollectionParams::default()
    };
    let mut drive = drive(rho, blocks, pages, params);
    let mut draws = Stream::new(1, "test", "load");
    let units = u64::from(drive.space.shape.units);
    write_randomly(&mut drive, 3 * units, &mut draws);
    drive.reset_counts();
    write_randomly(&mut drive, 2 * units, &mut draws);
    drive.check().unwrap();
    drive.counts().write_amplification()
}

/// First in first out: u = exp(-(1 - u) / rho), by bisection.
fn fifo_theory(rho: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0 - 1e-9);
    for _ in 0..200 {
        let u = 0.5 * (low + high);
        if u < libm::exp(-(1.0 - u) / rho) {
            low = u;
        } else {
            high = u;
        }
    }
    1.0 / (1.0 - low)
}

fn assert_within(got: f64, expected: f64, share: f64, what: &str) {
    assert!(
        (got / expected - 1.0).abs() <= share,
        "{what}: {got:.4}, expected {expected:.4}"
    );
}

#[test]
fn first_in_first_out_meets_its_closed_form() {
    // The fuller the drive, the more blocks the equation's limit of many needs.
    for (rho, blocks) in [(0.7, 2048), (0.8, 2048), (0.9, 2048), (0.95, 4096)] {
        let got = steady(rho, blocks, 32, Policy::FirstInFirstOut, 1);
        assert_within(got, fifo_theory(rho), 0.01, &format!("rho {rho}"));
    }
}

#[test]
fn random_victims_meet_their_closed_form() {
    for rho in [0.7, 0.8, 0.9, 0.95] {
        let got = steady(rho, 8192, 32, Policy::Random, 1);
        assert_within(got, 1.0 / (1.0 - rho), 0.01, &format!("rho {rho}"));
    }
}

#[test]
fn greedy_meets_the_table() {
    // The fuller the drive and the larger its blocks, the more of them the limit of many needs.
    let table = [
        (0.769, 2048, 2.30),
        (0.8, 2048, 2.60),
        (0.85, 2048, 3.36),
        (0.9, 2048, 4.84),
        (0.95, 4096, 8.91),
    ];
    for (rho, blocks, expected) in table {
        let got = steady(rho, blocks, 64, Policy::Greedy, 1);
        assert_within(got, expected, 0.01, &format!("rho {rho}"));
    }
    for (pages, blocks, expected) in [
        (16, 2048, 3.98),
        (32, 2048, 4.51),
        (128, 2048, 5.01),
        (256, 4096, 5.12),
    ] {
        let got = steady(0.9, blocks, pages, Policy::Greedy, 1);
        assert_within(got, expected, 0.01, &format!("{pages} pages"));
    }
}

#[test]
fn best_of_several_meets_the_table() {
    for (d, expected) in [(2, 6.86), (5, 5.35), (10, 5.01)] {
        let got = steady(0.9, 4096, 64, Policy::BestOf, d);
        assert_within(got, expected, 0.01, &format!("best of {d}"));
    }
}

#[test]
fn sequential_writes_and_trimmed_space_cost_no_move() {
    let mut drive = drive(0.9, 256, 64, CollectionParams::default());
    for _ in 0..5 {
        for unit in 0..drive.space.shape.units {
            drive.write(UnitId::new(unit), &mut Untimed);
        }
    }
    assert_eq!(drive.counts().moved, 0);
    // Random writes of which half the drive was trimmed away before each round.
    let half = drive.space.shape.units / 2;
    for _ in 0..5 {
        drive.trim(UnitId::new(0), drive.space.shape.units);
        for unit in (0..half).rev() {
            drive.write(UnitId::new(unit), &mut Untimed);
        }
    }
    assert_eq!(drive.counts().write_amplification(), 1.0);
    drive.check().unwrap();
}

/// Write amplification where `share` of the writes go to `area` of the units.
fn under_hot_spot(rho: f64, share: f64, area: f64, policy: Policy, apart: bool) -> f64 {
    let params = CollectionParams {
        policy,
        separate_frontiers: apart,
        ..CollectionParams::default()
    };
    let mut drive = drive(rho, 1024, 64, params);
    let mut draws = Stream::new(1, "test", "hot spot");
    let units = u64::from(drive.space.shape.units);
    let hot = (units as f64 * area) as u64;
    for rounds in [6, 2] {
        drive.reset_counts();
        for _ in 0..rounds * units {
            let range = if draws.chance(share) { hot } else { units };
            drive.write(UnitId::new(draws.below(range) as u32), &mut Untimed);
        }
    }
    drive.check().unwrap();
    drive.counts().write_amplification()
}

#[test]
fn apart_frontiers_never_cost_more_under_a_hot_spot() {
    for (share, area) in [(0.5, 0.2), (0.8, 0.2), (0.9, 0.1), (0.97, 0.05)] {
        for (rho, policy) in [
            (0.75, Policy::Greedy),
            (0.85, Policy::Greedy),
            (0.92, Policy::Greedy),
            (0.85, Policy::CostBenefit),
        ] {
            let [mixed, apart] =
                [false, true].map(|apart| under_hot_spot(rho, share, area, policy, apart));
            assert!(
                apart <= mixed,
                "{share} of the writes to {area}, rho {rho}, {policy:?}: mixed {mixed:.3}, apart {apart:.3}"
            );
        }
    }
}

#[test]
fn wear_levelling_keeps_cold_blocks_from_lagging() {
    let mut gaps = [0; 2];
    for (index, wear_gap) in [0, 8].into_iter().enumerate() {
        let mut drive = drive(0.85, 256, 32, levelling(wear_gap));
        let mut draws = Stream::new(1, "test", "hot spot");
        let hot = u64::from(drive.space.shape.units) / 4;
        for _ in 0..120 * hot {
            drive.write(UnitId::new(draws.below(hot) as u32), &mut Untimed);
        }
        let (most, least) = drive.space.wear();
        gaps[index] = most - least;
    }
    assert!(gaps[1] <= 10 && gaps[1] < gaps[0], "{gaps:?}");
}

/// Wear is levelled; cold data move once a block lags by `wear_gap` erases.
fn levelling(wear_gap: u32) -> CollectionParams {
    CollectionParams {
        wear_gap,
        level_wear: true,
        start_free_blocks: LEVELLING_NEEDS,
        ..CollectionParams::default()
    }
}

/// Units that a write moves at most, in step with it or while it waits.
fn most_moved_at_once(params: CollectionParams, area: f64) -> u64 {
    let mut drive = drive(0.8, 256, 32, params);
    let mut draws = Stream::new(1, "test", "load");
    let units = (area * f64::from(drive.space.shape.units)) as u64;
    let mut most = 0;
    for write in 0..40 * units {
        let before = drive.counts().moved;
        drive.write(UnitId::new(draws.below(units) as u32), &mut Untimed);
        if write > 20 * units {
            most = most.max(drive.counts().moved - before);
        }
    }
    most
}

#[test]
fn cold_data_move_in_step_with_the_host() {
    // A block of 32 units full of cold data is moved meanwhile, not while a write waits.
    assert!(most_moved_at_once(levelling(8), 0.25) <= 16);
}

#[test]
fn more_blocks_kept_free_make_no_write_wait_for_a_bad_victim() {
    let with = |start_free_blocks| {
        let params = CollectionParams {
            policy: Policy::Random,
            start_free_blocks,
            ..CollectionParams::default()
        };
        most_moved_at_once(params, 1.0)
    };
    assert!(with(10) * 2 <= with(2), "{} {}", with(10), with(2));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Any mix of writes, pads and trims on a drive of several dies leaves the counters right.
    #[test]
    fn counters_agree_after_any_history(
        seed: u64,
        dies in 1u32..4,
        per_set in 1u32..5,
        separate_frontiers: bool,
        policy in prop::sample::select(vec![
            Policy::Greedy, Policy::FirstInFirstOut, Policy::Random, Policy::BestOf,
            Policy::CostBenefit,
        ]),
    ) {
        let shape = Shape {
            units: dies * (20 - WORKING_BLOCKS - 2) * 8 * per_set,
            dies, blocks_per_die: 20, sets_per_block: 8, units_per_set: per_set,
        };
        let params = CollectionParams { policy, separate_frontiers, ..CollectionParams::default() };
        let draws = Stream::new(seed, "test", "victims");
        let mut drive = Translation::new(shape, params, Layout::Empty, draws);
        let mut draws = Stream::new(seed, "test", "load");
        for _ in 0..5000 {
            let unit = draws.below(u64::from(shape.units)) as u32;
            match draws.below(20) {
                0 => drive.trim(UnitId::new(unit), (shape.units - unit).min(7)),
                1 => drive.pad(&mut Untimed),
                _ => { drive.write(UnitId::new(unit), &mut Untimed); }
            }
        }
        prop_assert_eq!(drive.check(), Ok(()));
    }
}

/// Data of eight and a half blocks in ten: the host cannot open a block and leave one free. The
/// drive says so instead of searching for ever.
#[test]
fn collection_that_can_free_nothing_is_detected_and_explained() {
    for policy in [Policy::Greedy, Policy::FirstInFirstOut, Policy::Random] {
        let shape = Shape {
            units: 8 * 16 + 8,
            dies: 1,
            blocks_per_die: 10,
            sets_per_block: 16,
            units_per_set: 1,
        };
        let params = CollectionParams {
            policy,
            ..CollectionParams::default()
        };
        let draws = Stream::new(1, "test", "victims");
        let mut drive = Translation::new(shape, params, Layout::Empty, draws);
        for unit in (0..shape.units).chain(0..shape.units) {
            drive.write(UnitId::new(unit), &mut Untimed);
        }
        let fault = drive.failure(0).expect("nothing can be freed");
        let why = fault.allowed;
        assert!(
            why.contains("die 0") && why.contains("of 160 units"),
            "{why}"
        );
    }
}

/// Counts what NAND is asked to do.
#[derive(Default)]
struct Counted {
    programs: u64,
    units_read: u64,
    erases: u64,
}

impl Work for Counted {
    fn program(&mut self, _die: DieId, _origin: Origin, _set: SetId) {
        self.programs += 1;
    }
    fn collect_read(&mut self, _die: DieId, _set: SetId, units: u32) {
        self.units_read += u64::from(units);
    }
    fn erase(&mut self, _die: DieId) {
        self.erases += 1;
    }
}

/// A worn-in drive of several tiles with every policy: the counters agree, NAND gets what the host
/// wrote and what was moved, and a drive that is read back from its saved state goes on exactly
/// as the one that was not.
#[test]
fn counters_agree_with_every_policy_and_a_saved_state_goes_on_as_if_it_had_never_been_saved() {
    use Policy::{BestOf, CostBenefit, FirstInFirstOut, Greedy, Random};
    for (policy, separate_frontiers) in [Greedy, FirstInFirstOut, Random, BestOf, CostBenefit]
        .into_iter()
        .flat_map(|policy| [(policy, true), (policy, false)])
    {
        let shape = Shape {
            units: 50_000,
            dies: 4,
            blocks_per_die: 256,
            sets_per_block: 16,
            units_per_set: 4,
        };
        let params = CollectionParams {
            policy,
            separate_frontiers,
            ..CollectionParams::default()
        };
        let bytes = u64::from(shape.units) * 4096;
        let load = |access, written_bytes| crate::ssd::HistoryLoad {
            access,
            start_bytes: 0,
            area_bytes: bytes,
            block_bytes: 4096,
            written_bytes,
            ongoing: false,
            weight: 1,
            then_rests: false,
        };
        let history = [
            load(crate::ssd::HistoryAccess::Sequential, bytes),
            load(crate::ssd::HistoryAccess::Random, 0),
        ];
        let seed = (1, "drive");
        let mut drive =
            crate::ssd::preconditioning::prepare(shape, params, &history, 4096, 4096, seed);
        let mut draws = Stream::new(3, "test", "load");
        let mut work = Counted::default();
        let go_on = |drive: &mut Translation, draws: &mut Stream, work: &mut Counted| {
            for _ in 0..30_000 {
                drive.write(
                    UnitId::new(draws.below(u64::from(shape.units)) as u32),
                    work,
                );
            }
        };
        go_on(&mut drive, &mut draws, &mut work);
        drive.trim(UnitId::new(100), 50);
        drive
            .check()
            .unwrap_or_else(|why| panic!("{policy:?}: {why}"));
        let counts = drive.counts();
        assert_eq!((counts.host, counts.erases), (30_000, work.erases));
        assert_eq!(counts.moved, work.units_read, "{policy:?}");
        let open = drive.space.units_in_open_sets() as i64 - drive.units_open_at_start() as i64;
        let programmed = work.programs * u64::from(shape.units_per_set);
        assert_eq!(
            programmed as i64 + open,
            (counts.host + counts.moved) as i64
        );
        // Saved and read back, both go on.
        drive.reset_counts();
        let saved = postcard::to_allocvec(&drive).unwrap();
        let mut read = read_back(&saved, shape, &drive.params).unwrap();
        for drive in [&mut drive, &mut read] {
            go_on(drive, &mut draws.clone(), &mut Counted::default());
        }
        assert!(read.counts().moved > 0);
        let states = [drive, read].map(|drive| postcard::to_allocvec(&drive).unwrap());
        assert!(states[0] == states[1], "{policy:?}, {separate_frontiers}");
    }
}

/// The drive that a file says.
fn read_back(saved: &[u8], shape: Shape, params: &CollectionParams) -> Result<Translation, String> {
    let saved: SavedTranslation = postcard::from_bytes(saved).map_err(|error| error.to_string())?;
    saved.restore(shape, params)
}

/// A byte of a state is changed, and its checksum with it: the state is refused or works.
#[test]
fn a_changed_state_is_refused_or_works() {
    let shape = Shape {
        units: 500,
        dies: 2,
        blocks_per_die: 16,
        sets_per_block: 8,
        units_per_set: 4,
    };
    let mut draws = Stream::new(1, "test", "changes");
    let params = CollectionParams::default();
    let victims = Stream::new(1, "test", "victims");
    let mut drive = Translation::new(shape, params, Layout::Empty, victims);
    for _ in 0..3000 {
        drive.write(UnitId::new(draws.below(500) as u32), &mut Untimed);
    }
    let saved = postcard::to_allocvec(&drive).unwrap();
    let mut worked = 0;
    for at in 0..saved.len() {
        for byte in [0, saved[at].wrapping_add(1), saved[at] ^ 0x80, 0xff] {
            let mut changed = saved.clone();
            changed[at] = byte;
            let Ok(mut read) = read_back(&changed, shape, &params) else {
                continue;
            };
            for _ in 0..100 {
                read.write(UnitId::new(draws.below(500) as u32), &mut Untimed);
            }
            read.check()
                .unwrap_or_else(|why| panic!("byte {at}: {why}"));
            worked += 1;
        }
    }
    // Counters of erases and orders of closing may be any.
    assert!(worked > 100 && worked < 2 * saved.len(), "{worked}");
}

/// What was written, trimmed and never written lies where it lay, or nowhere.
#[test]
fn a_drive_that_was_new_is_read_back_as_it_was() {
    let shape = Shape {
        units: 4000,
        dies: 2,
        blocks_per_die: 20,
        sets_per_block: 32,
        units_per_set: 4,
    };
    let draws = Stream::new(1, "test", "victims");
    let params = CollectionParams::default();
    let mut drive = Translation::new(shape, params, Layout::Empty, draws);
    for unit in (0..4000).step_by(13) {
        drive.write(UnitId::new(unit), &mut Untimed);
    }
    drive.trim(UnitId::new(130), 50);
    let saved = postcard::to_allocvec(&drive).unwrap();
    let read = read_back(&saved, shape, &params).unwrap();
    for unit in 0..4000 {
        let slot = drive.map.find(UnitId::new(unit)).slot;
        let written = unit % 13 == 0 && !(130..180).contains(&unit);
        assert_eq!(slot != NandSlot::NONE, written, "{unit}");
        assert_eq!(read.map.find(UnitId::new(unit)).slot, slot, "{unit}");
    }
}

/// Each unit has one place; what the host wrote and collection moved fills, with each erase, a block
/// anew: blocks erased, closed and being emptied, and a part of those that are open.
#[test]
fn erase_blocks_add_up_to_what_was_written() {
    let (blocks, pages) = (128, 32);
    let mut drive = drive(0.9, blocks, pages, CollectionParams::default());
    let units = drive.space.shape.units;
    let looks = |drive: &Translation| {
        let found = drive.space.erase_blocks();
        assert_eq!((found.dies, found.units), (1, pages));
        assert_eq!(found.valid.iter().sum::<u32>(), units);
        let number = |state| found.states.iter().filter(|&&each| each == state).count() as u64;
        let full = number(BlockState::Closed) + number(BlockState::Emptying);
        let erases = found.erases.iter().copied().map(u64::from).sum::<u64>();
        let counts = drive.counts();
        assert_eq!(erases, counts.erases);
        let written = counts.host + counts.moved + counts.padded;
        let within_open = written - u64::from(pages) * (erases + full);
        assert!(within_open <= u64::from(pages) * number(BlockState::Open));
        for (state, valid) in found.states.iter().zip(&found.valid) {
            assert!(*state != BlockState::Free || *valid == 0);
        }
        (number(BlockState::Closed), number(BlockState::Free), erases)
    };
    // Written once in order: whole blocks, one that is open, and no erase.
    let whole = u64::from(units / pages);
    assert_eq!(looks(&drive), (whole, u64::from(blocks) - whole - 1, 0));
    let mut draws = Stream::new(1, "test", "load");
    for _ in 0..10 {
        write_randomly(&mut drive, 777, &mut draws);
        looks(&drive);
    }
    assert!(looks(&drive).2 > 100);
}
