//! A map that is only in part in memory, by hand-computed examples.

use super::*;

/// A cache of `pages` map pages of 128 entries; the whole map of `params` takes 128 of them.
pub(crate) fn map_cache(pages: u64) -> MapCacheParams {
    MapCacheParams {
        bytes: 512 * pages,
        page_bytes: 512,
        entry_bytes: 4,
    }
}

#[test]
fn a_command_whose_map_page_is_not_in_memory_waits_for_a_page_read() {
    let mut params = params();
    params.map_cache = Some(map_cache(4));
    let mut ssd = drive(&params);
    let mut bench = Bench::new();
    // 3 us of firmware, 50 + 4 us for the map page, 54 us for the data.
    // Of the 64 map pages that were written every sixteenth is in memory, 1 to 3 are not.
    let miss = bench.submit(&mut ssd, Op::Read, 128 * 4096, 4096, 0);
    bench.run(&mut ssd, Time(400_000));
    assert_eq!(bench.end(miss), 111_000);
    assert_eq!(bench.ios[0].parts[Part::NandRead], Nanos(104_000));
    // Units 128 to 255 are on the same page; a write to another waits for it as well.
    let hit = bench.submit(&mut ssd, Op::Read, 136 * 4096, 4096, 500_000);
    assert_eq!(bench.end(hit), 557_000);
    let write = bench.submit(&mut ssd, Op::Write, 256 * 4096, 4096, 1_000_000);
    bench.run(&mut ssd, Time(2_000_000));
    assert_eq!(bench.end(write), 1_057_000);
    // A command that comes while the page is being read waits for the rest of it.
    bench.submit(&mut ssd, Op::Read, 384 * 4096, 4096, 3_000_000);
    let second = bench.submit(&mut ssd, Op::Write, 385 * 4096, 4096, 3_010_000);
    bench.run(&mut ssd, Time(4_000_000));
    assert_eq!(bench.end(second), 3_057_000);
}

/// Uniform reads, one at a time, a quarter of the map in memory: three of four wait for a map page.
#[test]
fn uniform_reads_miss_by_the_share_of_the_map_that_is_not_in_memory() {
    let mut params = params();
    params.map_cache = Some(map_cache(32));
    params.history[0].area_bytes = params.capacity_bytes;
    params.history[0].written_bytes = params.capacity_bytes;
    let mut ssd = drive(&params);
    let mut bench = Bench::new();
    let mut draws = Stream::new(1, "test", "load");
    let reads = 40_000;
    let mut sum = 0;
    for index in 0..reads {
        let at = index * 1_000_000;
        let id = bench.submit(&mut ssd, Op::Read, 4096 * draws.below(16384), 4096, at);
        bench.run(&mut ssd, Time(at + 900_000));
        sum += bench.ios[id.index()].latency().0;
    }
    let mean = sum as f64 / reads as f64;
    let expected = 57_000.0 + 0.75 * 54_000.0;
    assert!(
        (mean / expected - 1.0).abs() < 0.01,
        "{mean}, expected {expected}"
    );
    let figures = ssd.figures();
    let hits = figures.iter().find(|(name, _)| *name == "map_hit_ratio");
    assert!((hits.unwrap().1 - 0.25).abs() < 0.01, "{hits:?}");
}

/// Random writes change map pages, the host's and those of what is moved: what leaves memory is
/// programmed, and counts as bytes to NAND.
#[test]
fn changed_map_pages_are_written_back() {
    let mut params = params();
    params.capacity_bytes = 52 << 20;
    params.history[0].area_bytes = params.capacity_bytes;
    params.history[0].written_bytes = params.capacity_bytes;
    let mut to_nand = Vec::new();
    for pages in [None, Some(104), Some(10)] {
        params.map_cache = pages.map(map_cache);
        let mut ssd = drive(&params);
        let mut bench = Bench::new();
        let mut draws = Stream::new(1, "test", "load");
        for index in 0..20_000 {
            let offset = 4096 * draws.below(13_312);
            bench.submit(&mut ssd, Op::Write, offset, 4096, index * 400_000);
        }
        bench.run(&mut ssd, Time::NEVER);
        assert_eq!(ssd.store.check(), Ok(()));
        let figures = ssd.figures();
        let of = |name| {
            figures
                .iter()
                .find(|figure| figure.0 == name)
                .map(|figure| figure.1)
        };
        to_nand.push(of("nand_bytes_written").unwrap());
        if pages == Some(10) {
            // 94 of 104 pages are not in memory, and nearly each that leaves was changed.
            let programs = of("map_page_programs").unwrap();
            let units = 20_000.0 + of("moved_units").unwrap();
            assert!(
                (programs / units - 94.0 / 104.0).abs() < 0.05,
                "{programs} of {units}"
            );
        }
    }
    assert_eq!(to_nand[0], to_nand[1]);
    assert!(to_nand[2] > to_nand[1]);
}
