//! Reads of what was never written are counted, by hand-computed examples. 32 MiB are written.

use super::*;
use crate::ssd::written::ReadUnits;

const END: u64 = 32 << 20;

fn counts(units: u64, unwritten_units: u64) -> ReadUnits {
    ReadUnits {
        units,
        unwritten_units,
    }
}

#[test]
fn units_without_data_are_counted_apart() {
    let mut ssd = drive(&params());
    let mut bench = Bench::new();
    bench.submit(&mut ssd, Op::Read, 0, 16384, 0);
    assert_eq!(ssd.store.read_units, counts(4, 0));
    // Two units before the end of what was written, two beyond it.
    bench.submit(&mut ssd, Op::Read, END - 8192, 16384, 1_000_000);
    assert_eq!(ssd.store.read_units, counts(8, 2));
    bench.submit(&mut ssd, Op::Write, END, 4096, 2_000_000);
    bench.submit(&mut ssd, Op::Read, END, 8192, 3_000_000);
    assert_eq!(ssd.store.read_units, counts(10, 3));
}

/// What a drive reads ahead counts when it is asked for, and once.
#[test]
fn a_stream_counts_what_it_asks_for() {
    for keeps_pages in [false, true] {
        let mut params = params();
        params.keeps_pages = keeps_pages;
        params.prefetch = (!keeps_pages).then_some(PrefetchParams {
            window_bytes: 64 << 10,
            after_commands: 2,
        });
        let mut ssd = drive(&params);
        let mut bench = Bench::new();
        for at in 0..20 {
            bench.submit(
                &mut ssd,
                Op::Read,
                END - 8 * 4096 + at * 4096,
                4096,
                at * 200_000,
            );
        }
        assert_eq!(
            ssd.store.read_units,
            counts(20, 12),
            "keeps pages: {keeps_pages}"
        );
    }
}
