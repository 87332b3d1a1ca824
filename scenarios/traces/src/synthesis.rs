//! A trace of the same statistics as another: a block bootstrap.
//!
//! Runs of 64 consecutive requests are drawn from those of the same part of the original, each as
//! often as the others (Künsch, The jackknife and the bootstrap for general stationary observations, 1989). So
//! kinds, sizes, gaps and order within a run stay together, and the rate over time stays. Addresses
//! are new: requests near an earlier one of their run keep their distance to it; others come again
//! to an address after as many other such requests as in the original, or are first accesses, to the
//! region in which the original's was.

use crate::requests::Request;
use crate::scan::Scan;
use raidlab_io::Op;
use raidlab_kernel::{Nanos, Stream};
use std::collections::HashMap;

/// Requests of a run.
const RUN: usize = 64;
/// Parts of the original, and runs of each that are kept.
const PARTS: u64 = 256;
const RUNS: usize = 16;
/// Bytes within which a request is near another.
const NEAR: u64 = 1 << 20;
/// Regions in which first accesses are counted.
const REGIONS: usize = 4096;
/// Addresses of requests that are near none of their run: how many are followed, and how far an
/// access may lie back.
const FOLLOWED: u64 = 1 << 20;
const HISTORY: usize = 1 << 22;
/// Reuses that are kept.
const REUSES: usize = 1 << 16;

/// Where a request of a run goes.
#[derive(Clone, Copy)]
enum Place {
    /// A distance in bytes from the request that came this number of places before.
    Near(usize, i64),
    /// Near none; unknown if its address was not followed.
    Far(Option<Reuse>),
}

/// What came before a request at its address.
#[derive(Clone, Copy)]
struct Reuse {
    /// Requests since the last one there, of those that were near none; 0 for a first access.
    since: u64,
    region: u32,
}

#[derive(Clone, Copy)]
struct Sample {
    op: Op,
    bytes: u64,
    /// Since the request before.
    gap: u64,
    place: Place,
}

/// A part of the original.
#[derive(Default)]
struct Part {
    requests: u64,
    nanoseconds: u64,
    seen: u64,
    runs: Vec<Vec<Sample>>,
}

/// What is kept of a trace to make one like it.
pub struct Model {
    stream: Stream,
    extent: u64,
    requests: u64,
    each: u64,
    parts: Vec<Part>,
    run: Vec<(Sample, u64)>,
    last_ns: u64,
    number: u64,
    /// Followed addresses with the number of the last request there that was near none.
    last_of: HashMap<u64, u64>,
    /// Number of addresses that are followed, of 2^32.
    sampled: u64,
    far: u64,
    /// Stand in for what is unknown.
    reuses: Vec<Reuse>,
    seen_reuses: u64,
    /// The largest power of two that divides all addresses.
    align: u64,
}

/// Keeps each of `seen` things, this one included, with the same probability.
fn keep<T>(kept: &mut Vec<T>, most: usize, seen: u64, stream: &mut Stream, thing: T) {
    if kept.len() < most {
        kept.push(thing);
    } else if let Some(place) = kept.get_mut(stream.below(seen) as usize) {
        *place = thing;
    }
}

fn coprime(one: u64, other: u64) -> bool {
    let (mut one, mut other) = (one, other);
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one == 1
}

impl Model {
    /// Of a trace that is still to be read.
    pub fn new(scan: &Scan, seed: u64) -> Model {
        let parts = (scan.requests / (RUN * RUNS) as u64).clamp(1, PARTS);
        Model {
            stream: Stream::new(seed, "trace", "synthesis"),
            extent: scan.extent.max(1),
            requests: scan.requests,
            each: scan.requests.div_ceil(parts).max(1),
            parts: (0..parts).map(|_| Part::default()).collect(),
            run: Vec::with_capacity(RUN),
            last_ns: 0,
            number: 0,
            last_of: HashMap::new(),
            sampled: ((FOLLOWED << 32) / scan.requests.max(1)).min(1 << 32),
            far: 0,
            reuses: Vec::new(),
            seen_reuses: 0,
            align: 1 << 20,
        }
    }

    /// Reads the next request.
    pub fn learn(&mut self, request: &Request) {
        let at = ((self.number / self.each) as usize).min(self.parts.len() - 1);
        let gap = request.time.0.saturating_sub(self.last_ns);
        self.last_ns = request.time.0;
        self.number += 1;
        self.parts[at].requests += 1;
        self.parts[at].nanoseconds += gap;
        let place = self.place(request);
        let sample = Sample {
            op: request.op,
            bytes: request.bytes,
            gap,
            place,
        };
        self.run.push((sample, request.offset));
        if self.run.len() == RUN || self.number == self.requests || self.number % self.each == 0 {
            let run = self.run.drain(..).map(|(sample, _)| sample).collect();
            let Part { seen, runs, .. } = &mut self.parts[at];
            *seen += 1;
            keep(runs, RUNS, *seen, &mut self.stream, run);
        }
    }

    fn place(&mut self, request: &Request) -> Place {
        if request.op == Op::Flush {
            return Place::Near(0, 0);
        }
        let near = self.run.iter().rev().enumerate();
        let near = near
            .filter(|(_, (sample, _))| sample.op != Op::Flush)
            .map(|(back, &(_, offset))| (back + 1, request.offset.wrapping_sub(offset) as i64))
            .min_by_key(|&(_, distance)| distance.unsigned_abs())
            .filter(|&(_, distance)| distance.unsigned_abs() <= NEAR);
        if let Some((back, distance)) = near {
            return Place::Near(back, distance);
        }
        if request.offset > 0 {
            self.align = self.align.min(1 << request.offset.trailing_zeros());
        }
        self.far += 1;
        // Multiplicative hashing (Knuth); its upper bits decide.
        let hash = request
            .offset
            .wrapping_add(1)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            >> 32;
        if hash >= self.sampled {
            return Place::Far(None);
        }
        let before = self.last_of.insert(request.offset, self.far);
        let region = u128::from(request.offset) * REGIONS as u128 / u128::from(self.extent);
        let reuse = Reuse {
            since: before.map_or(0, |before| self.far - before),
            region: region.min(REGIONS as u128 - 1) as u32,
        };
        self.seen_reuses += 1;
        let seen = self.seen_reuses;
        keep(&mut self.reuses, REUSES, seen, &mut self.stream, reuse);
        Place::Far(Some(reuse))
    }

    /// As many requests as the original had.
    pub fn requests(self) -> Synthesis {
        Synthesis {
            taken: vec![0; REGIONS],
            history: Vec::new(),
            far: 0,
            part: 0,
            left: self.parts.first().map_or(0, |part| part.requests),
            run: Vec::new(),
            order: Vec::new(),
            placed: Vec::new(),
            now: 0.0,
            factor: 1.0,
            model: self,
        }
    }
}

/// The requests of a synthetic trace.
pub struct Synthesis {
    model: Model,
    /// First accesses so far, by region.
    taken: Vec<u64>,
    /// Addresses of requests that were near none, as a ring.
    history: Vec<u64>,
    far: u64,
    part: usize,
    /// Requests that are still to come of this part.
    left: u64,
    run: Vec<Sample>,
    /// Runs of this part that are still to come before one comes again.
    order: Vec<usize>,
    /// Addresses of this run so far.
    placed: Vec<u64>,
    now: f64,
    /// Makes the gaps of the runs that are kept those of the part.
    factor: f64,
}

impl Synthesis {
    fn next_sample(&mut self) -> Option<Sample> {
        while self.left == 0 {
            self.part += 1;
            self.left = self.model.parts.get(self.part)?.requests;
            self.run.clear();
            self.order.clear();
            self.placed.clear();
        }
        if self.placed.len() >= self.run.len() {
            let part = &self.model.parts[self.part];
            let sampled = || part.runs.iter().flatten();
            let gaps: u64 = sampled().map(|sample| sample.gap).sum();
            let mean = gaps as f64 / sampled().count().max(1) as f64;
            let wanted = part.nanoseconds as f64 / part.requests as f64;
            self.factor = if mean > 0.0 { wanted / mean } else { 1.0 };
            if self.order.is_empty() {
                self.order.extend(0..part.runs.len());
            }
            let at = self.model.stream.below(self.order.len() as u64) as usize;
            self.run = part.runs[self.order.swap_remove(at)].clone();
            self.placed.clear();
        }
        self.left -= 1;
        self.run.get(self.placed.len()).copied()
    }

    /// An address that is near none of its run.
    fn far(&mut self, bytes: u64, reuse: Option<Reuse>) -> u64 {
        let draw = self.model.stream.below(self.model.reuses.len() as u64);
        let drawn = self.model.reuses.get(draw as usize).copied();
        let Some(Reuse { since, region }) = reuse.or(drawn) else {
            return 0;
        };
        let offset = if (1..=self.history.len() as u64).contains(&since) {
            self.history[((self.far - since) % HISTORY as u64) as usize]
        } else {
            self.first_access(region as usize)
        };
        if self.history.len() < HISTORY {
            self.history.push(offset);
        } else {
            self.history[(self.far % HISTORY as u64) as usize] = offset;
        }
        self.far += 1;
        offset.min(self.model.extent.saturating_sub(bytes))
    }

    /// An address that none has had, as long as its region has one.
    fn first_access(&mut self, region: usize) -> u64 {
        let align = self.model.align;
        let at = |region: usize| {
            (u128::from(self.model.extent) * region as u128 / REGIONS as u128) as u64 / align
        };
        let (from, to) = (at(region), at(region + 1));
        let places = (to - from).max(1);
        // Steps of about the golden section that meet every place before one comes again.
        let golden = (places as f64 * 0.618_033_988_75) as u64 + 1;
        let step = (golden..).find(|&step| coprime(step, places)).unwrap_or(1);
        let taken = self.taken[region];
        self.taken[region] += 1;
        let within = (u128::from(taken) * u128::from(step) % u128::from(places)) as u64;
        (from + within) * align
    }
}

impl Iterator for Synthesis {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        let sample = self.next_sample()?;
        let most = self.model.extent.saturating_sub(sample.bytes);
        let offset = match sample.place {
            Place::Near(0, _) => 0,
            Place::Near(back, distance) => {
                let before = self.placed[self.placed.len() - back];
                before.saturating_add_signed(distance).min(most)
            }
            Place::Far(reuse) => self.far(sample.bytes, reuse),
        };
        self.placed.push(offset);
        self.now += sample.gap as f64 * self.factor;
        Some(Request {
            op: sample.op,
            offset,
            bytes: sample.bytes,
            time: Nanos(self.now as u64),
            response_us: f64::NAN,
            line: 0,
        })
    }
}
