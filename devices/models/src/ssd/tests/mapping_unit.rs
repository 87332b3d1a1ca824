//! Mapping units larger than a write: what a small write costs.

use super::*;

#[test]
fn a_small_write_costs_a_whole_unit() {
    // 60 writes of 4 KiB, each in a unit of its own: with units of 4 KiB four of them fill a page
    // set of 16 KiB; with units of 16 KiB each reads the rest of its unit and fills one alone.
    for (unit, sets, reads) in [(4096, 15, 0), (16_384, 60, 60)] {
        let mut params = params();
        params.unit_bytes = unit;
        let mut ssd = drive(&params);
        let mut bench = Bench::new();
        for index in 0..60 {
            let at = index * 2_000_000;
            bench.submit(&mut ssd, Op::Write, index * 16_384, 4096, at);
        }
        bench.run(&mut ssd, Time::NEVER);
        let figures = ssd.figures();
        let of = |wanted: &str| figures.iter().find(|(name, _)| *name == wanted).unwrap().1;
        assert_eq!(of("nand_bytes_written"), f64::from(sets * 16_384));
        assert_eq!(of("partial_unit_reads"), f64::from(reads));
        assert_eq!(ssd.store.check(), Ok(()));
    }
}
