//! An SLC cache: its size, the rates before and after, and what it has again after a rest.

use super::*;
use crate::power::FlashPowerParams;
use crate::ssd::nand::params::{SlcCacheParams, WhenFull};

const SET: u64 = 16_384;

/// Two dies, each with room for two page sets in SLC mode: 100 us a program, of others 500 us.
fn cached(when_full: WhenFull) -> SsdParams {
    let mut params = params();
    params.nand.slc_cache = Some(SlcCacheParams {
        fixed_bytes: 4 * SET,
        dynamic_bytes: 0,
        program_ns: Nanos(100_000),
        idle_ns: Nanos(1_000_000),
        when_full,
    });
    params
}

/// When twelve writes of a page set each are complete that come at `at`, from then on. The buffer
/// holds four, two of each die, so the fifth is complete when the first has been programmed.
fn completed<F: Front>(ssd: &mut Ssd<F>, bench: &mut Bench, at: u64) -> Vec<u64> {
    let write = |index: u64| bench.submit(ssd, Op::Write, (64 + index) * SET, SET, at);
    let writes: Vec<IoId> = (0..12).map(write).collect();
    bench.run(ssd, Time(at + 10_000_000));
    writes.iter().map(|&id| bench.end(id) - at).collect()
}

fn figure<F: Front>(ssd: &Ssd<F>, wanted: &str) -> f64 {
    let figures = ssd.figures();
    figures.iter().find(|(name, _)| *name == wanted).unwrap().1
}

#[test]
fn writes_are_fast_until_the_cache_is_full() {
    // 16 us on the channel and 100 us in SLC mode twice, then 16 and 500 us. Folding an older page
    // set first takes 50 + 500 us more.
    for (when_full, slow) in [(WhenFull::Direct, 516_000), (WhenFull::Fold, 666_000)] {
        let mut ssd = drive(&cached(when_full));
        let mut bench = Bench::new();
        let ends = completed(&mut ssd, &mut bench, 0);
        assert_eq!(ends[4..8], [116_000, 116_000, 232_000, 232_000]);
        assert_eq!(ends[8..10], [232_000 + slow; 2]);
        assert_eq!(ends[10..12], [232_000 + 2 * slow; 2]);
        assert_eq!(figure(&ssd, "slc_cache_bytes"), 4.0 * SET as f64);
    }
}

#[test]
fn all_dies_together_program_no_faster_than_the_ceiling() {
    // 16,384 B at 20.48 MB/s: a program begins 800 us after the one before, though dies take 500 us
    // each. Those into the SLC cache are not slowed.
    let mut params = cached(WhenFull::Direct);
    params.nand.program_bytes_per_s = Some(20_480_000);
    let mut ssd = drive(&params);
    let mut bench = Bench::new();
    let ends = completed(&mut ssd, &mut bench, 0);
    assert_eq!(ends[4..8], [116_000, 116_000, 232_000, 232_000]);
    let steps: Vec<u64> = ends[8..12]
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .collect();
    assert_eq!(steps, [800_000; 3]);
    // Dies that rest fold no faster: four page sets of 550 us become four of 1.6 ms on each die.
    completed(&mut ssd, &mut bench, 12_000_000);
    assert_eq!(figure(&ssd, "folded_bytes"), 4.0 * SET as f64);
}

#[test]
fn a_program_with_one_bit_a_cell_has_an_energy_of_its_own() {
    // Twelve programs, four of them into the cache: 4 * 1 uJ + 8 * 10 uJ.
    let mut params = cached(WhenFull::Direct);
    params.power = Some(FlashPowerParams {
        idle_w: 0.0,
        read_nj: 0.0,
        program_nj: 10_000.0,
        program_slc_nj: Some(1_000.0),
        erase_nj: 0.0,
        byte_nj: 0.0,
        limit_w: None,
    });
    let mut ssd = drive(&params);
    let mut bench = Bench::new();
    completed(&mut ssd, &mut bench, 0);
    let joules = ssd.joules(Time(20_000_000)).unwrap();
    assert!((joules - 84e-6).abs() < 1e-9, "{joules}");
}

#[test]
fn an_idle_drive_folds_and_is_fast_again() {
    let mut ssd = drive(&cached(WhenFull::Direct));
    let mut bench = Bench::new();
    completed(&mut ssd, &mut bench, 0);
    // The last of six programs of a die ends at 232 + 4 * 516 us = 2.296 ms. A millisecond later it
    // folds, 550 us each: one by 4 ms.
    let ends = completed(&mut ssd, &mut bench, 4_000_000);
    assert_eq!(ends[4..6], [116_000; 2]);
    assert_eq!(ends[6..8], [116_000 + 516_000; 2]);
    assert_eq!(figure(&ssd, "folded_bytes"), 2.0 * SET as f64);
    // All of it after a long rest.
    let ends = completed(&mut ssd, &mut bench, 30_000_000);
    assert_eq!(ends[4..8], [116_000, 116_000, 232_000, 232_000]);
    assert_eq!(figure(&ssd, "folded_bytes"), 6.0 * SET as f64);
    assert_eq!(ssd.store.check(), Ok(()));
}

#[test]
fn a_dynamic_cache_has_what_the_data_leave() {
    // 64 MiB of data in 128 MiB of NAND with three bits a cell leave 21 MiB, of which it takes a
    // part; a full drive leaves it nothing but its fixed part.
    let mut params = cached(WhenFull::Direct);
    params.nand.program_ns = vec![Nanos(500_000); 3];
    let slc = params.nand.slc_cache.as_mut().unwrap();
    slc.dynamic_bytes = 1 << 40;
    let ssd = drive(&params);
    let share = ssd.store.translation.space.mapped_share();
    let (dies, sets) = (2, 64 * 64);
    let room = (f64::from(dies * sets) * (1.0 - share) / 3.0) as u64 + 4;
    let mut bench = Bench::new();
    let mut ssd = drive(&params);
    for index in 0..room + 40 {
        let at = index * 200_000;
        bench.submit(&mut ssd, Op::Write, (index % 4000) * SET, SET, at);
    }
    bench.run(&mut ssd, Time::NEVER);
    let held = figure(&ssd, "slc_cache_bytes") / SET as f64;
    assert!((held - room as f64).abs() <= 2.0, "{held} of {room}");
}
