//! A synthetic trace has the statistics of its original.

use raidlab_kernel::Stream;
use raidlab_traces::{Described, Description, Model, Options, Requests};
use std::fmt::Write as _;
use std::io::Write as _;
use tempfile::NamedTempFile;

/// 40,000 requests in bursts: skewed single ones, and streams of 20.
fn original() -> NamedTempFile {
    let (mut draw, mut now) = (Stream::new(1, "t", "trace"), 0.0);
    let (mut text, mut stream, mut left) = (String::new(), 0u64, 0);
    for at in 0..40_000 {
        let burst = at % 4000 < 3000;
        now += -(1.0 - draw.unit()).ln() / if burst { 2000.0 } else { 100.0 };
        if left == 0 && draw.chance(0.01) {
            (stream, left) = (draw.below(1 << 18) * 128, 20);
        }
        let (block, bytes, op) = if left > 0 {
            left -= 1;
            stream += 128;
            (stream, 65536, 'R')
        } else {
            let block = (draw.unit().powi(4) * 200_000.0) as u64 * 8;
            (block, 4096, if draw.chance(0.7) { 'R' } else { 'W' })
        };
        writeln!(text, "0,{block},{bytes},{op},{now:.9}").expect("text");
    }
    let mut file = NamedTempFile::new().expect("a temporary file");
    file.write_all(text.as_bytes()).expect("space for it");
    file
}

fn both(seed: u64) -> (Described, Described) {
    let file = original();
    let options = Options::new(file.path(), "spc");
    let scan = raidlab_traces::scan(&options, || true).expect("a trace");
    let mut model = Model::new(&scan, seed);
    let (mut one, mut other) = (Description::new(1 << 17), Description::new(1 << 17));
    for request in Requests::open(&options, &scan).expect("a trace") {
        let request = request.expect("a request");
        model.learn(&request);
        one.add(&request);
    }
    for request in model.requests() {
        assert!(request.offset + request.bytes <= scan.extent);
        other.add(&request);
    }
    (one.described(false), other.described(false))
}

#[test]
fn statistics_are_those_of_the_original() {
    let (one, other) = both(1);
    assert_eq!(one.requests, other.requests);
    let arrivals = |of: &Described| of.arrivals.clone().expect("times");
    let misses = |of: &Described, mib: u64| {
        let within = |point: &&(u64, f64)| point.0 <= mib << 20;
        of.miss_ratio
            .iter()
            .rev()
            .find(within)
            .map_or(1.0, |point| point.1)
    };
    let near = |what: &str, one: f64, other: f64, within: f64| {
        assert!((one - other).abs() <= within, "{what}: {one} and {other}");
    };
    near(
        "reads",
        one.read_share.unwrap(),
        other.read_share.unwrap(),
        0.02,
    );
    near(
        "sequential",
        one.sequential_share,
        other.sequential_share,
        0.03,
    );
    near(
        "footprint",
        other.footprint_bytes / one.footprint_bytes,
        1.0,
        0.1,
    );
    near(
        "seconds",
        arrivals(&other).seconds / arrivals(&one).seconds,
        1.0,
        0.05,
    );
    near(
        "hurst",
        arrivals(&one).hurst.unwrap(),
        arrivals(&other).hurst.unwrap(),
        0.1,
    );
    for mib in [16, 64, 256] {
        near("misses", misses(&one, mib), misses(&other, mib), 0.1);
    }
    for (size, reads, writes) in &one.sizes {
        let found = other
            .sizes
            .iter()
            .find(|found| found.0 == *size)
            .expect("the size");
        near(
            "sizes",
            (reads + writes) as f64,
            (found.1 + found.2) as f64,
            0.05 * 40_000.0,
        );
    }
}

#[test]
fn the_same_seed_gives_the_same_trace_and_another_one_another() {
    let shown = |seed| format!("{:?}", both(seed).1);
    assert_eq!(shown(2), shown(2));
    assert_ne!(shown(2), shown(3));
}
