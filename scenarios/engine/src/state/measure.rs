//! What is recorded of each workload: rates, latency distributions, where the time went.

use crate::plan::Details;
use crate::state::latency_map::LatencyMap;
use crate::state::slowest::Slowest;
use raidlab_io::{Io, Op, Parts};
use raidlab_kernel::{Batches, Histogram, Nanos, Time, is_steady, prefetch};

/// One step of the timeline.
#[derive(Clone, Copy, Debug, Default)]
pub struct Step {
    /// I/Os completed in it.
    pub ios: u64,
    /// Sum of their latencies.
    pub latency: u64,
}

impl Step {
    #[inline(always)]
    fn add(&mut self, latency: Nanos) {
        self.ios += 1;
        self.latency += latency.0;
    }
}

/// The I/Os from one event to the next.
#[derive(Debug)]
pub struct Period {
    /// When it began.
    pub from: Time,
    /// What began it.
    pub what: String,
    /// Latencies of its I/Os.
    pub latencies: Histogram,
}

/// Periods at most; what happens later belongs to the last one.
const PERIODS: usize = 64;

/// Batches of a load at the most; of one of many loads fewer, as each takes 4 kB.
const BATCHES: usize = 64;
const BATCHES_OF_MANY: usize = 24;
/// From this number on, loads are many.
const MANY: usize = 100;

/// Recordings at the most that an I/O is known ahead for.
const FOLLOWERS: u64 = 64;

/// An upper end of this multiple of the rate says nothing of it.
const VAGUE: f64 = 10.0;

/// The record of one workload from the end of the warm-up on.
#[derive(Debug)]
pub struct Meter {
    /// Latencies of reads.
    pub reads: Histogram,
    /// Latencies of writes, trims and flushes.
    pub writes: Histogram,
    /// Bytes read and written.
    pub bytes: [u64; 2],
    /// I/Os that were refused, or cut off by a power failure.
    pub errors: u64,
    /// Where the time went, all I/Os together.
    pub parts: Parts,
    /// Consecutive I/Os, for the intervals of rate and latencies.
    pub batches: Batches,
    /// From event to event; empty in a run in which nothing happens.
    pub periods: Vec<Period>,
    /// The timeline, one step after the other from time zero.
    pub timeline: Vec<Step>,
    /// The slowest I/Os, if any are asked for.
    pub slowest: Slowest,
    /// Latencies over time, if they are asked for.
    pub map: LatencyMap,
    step: Nanos,
    /// Whether steps become longer when the timeline is full.
    coarsens: bool,
    from: Time,
    end: Time,
    last: Time,
    /// When the last full batch ended.
    batch_from: Time,
    /// Number of recordings of the same length that may follow this one.
    followers: u32,
    /// The next one, once an I/O is known to complete in it or behind it: a thread whose work is
    /// booked ahead says so long before.
    next: Option<Box<Meter>>,
}

impl Meter {
    /// An empty record of what completes from `from` to `end`; `steps` of length `step` for the
    /// timeline.
    pub fn new(from: Time, end: Time, step: Nanos, steps: usize) -> Meter {
        Meter {
            reads: Histogram::default(),
            writes: Histogram::default(),
            bytes: [0; 2],
            errors: 0,
            parts: Parts::default(),
            batches: Batches::new(BATCHES),
            periods: Vec::new(),
            timeline: vec![Step::default(); steps],
            slowest: Slowest::new(0),
            map: LatencyMap::none(),
            step,
            coarsens: false,
            from,
            end,
            last: from,
            batch_from: from,
            followers: 0,
            next: None,
        }
    }

    /// This record, after which others of the same length may follow that begin up to
    /// `last_begin`.
    pub fn followed_until(mut self, last_begin: Time) -> Meter {
        let length = self.end.since(self.from).0.max(1);
        let more = last_begin.0.checked_sub(self.end.0);
        self.followers = more.map_or(0, |time| (time / length + 1).min(FOLLOWERS) as u32);
        self
    }

    /// When the recording ends at the latest.
    pub fn end(&self) -> Time {
        self.end
    }

    /// Bytes that the record of one of `loads` loads takes, without its timeline.
    pub fn table_bytes(loads: usize) -> u64 {
        let batches = if loads >= MANY {
            BATCHES_OF_MANY
        } else {
            BATCHES
        };
        let own = size_of::<Meter>() as u64 + 2 * Histogram::TABLE_BYTES;
        own + Batches::table_bytes(batches)
    }

    /// This record, for one of `loads` loads.
    pub fn one_of(mut self, loads: usize) -> Meter {
        if loads >= MANY {
            self.batches = Batches::new(BATCHES_OF_MANY);
        }
        self
    }

    /// This record, for a run whose length is not known: its timeline keeps its number of steps
    /// and makes them longer.
    pub fn without_end(mut self) -> Meter {
        self.coarsens = !self.timeline.is_empty();
        self
    }

    /// This record, with what else the plan asks for.
    pub fn with_details(mut self, details: &Details) -> Meter {
        self.slowest = Slowest::new(details.slowest as usize);
        if details.latency_map {
            self.map = LatencyMap::new(self.from, self.end);
        }
        self
    }

    /// Two steps become one until there is a place for `at`, which it gives.
    #[cold]
    fn coarsen(&mut self, at: Time) -> &mut Step {
        let steps = self.timeline.len();
        while at.0 / self.step.0 >= steps as u64 {
            self.step = self.step + self.step;
            for to in 0..steps {
                let from = |half: usize| self.timeline.get(2 * to + half).copied();
                let (one, other) = (from(0).unwrap_or_default(), from(1).unwrap_or_default());
                self.timeline[to] = Step {
                    ios: one.ios + other.ios,
                    latency: one.latency + other.latency,
                };
            }
        }
        &mut self.timeline[(at.0 / self.step.0) as usize]
    }

    /// Begins the record anew, of what completes from `from` to `end`; the timeline goes on.
    pub fn begin(&mut self, from: Time, end: Time) {
        let mut fresh = match self.next.take() {
            Some(next) if (next.from, next.end) == (from, end) => *next,
            _ => self.afresh(from, end),
        };
        fresh.step = self.step;
        fresh.timeline = std::mem::take(&mut self.timeline);
        let began = self.periods.drain(..).map(|period| Period {
            latencies: Histogram::default(),
            ..period
        });
        fresh.periods = began.collect();
        *self = fresh;
    }

    /// An empty record of the same kind, without timeline and periods.
    fn afresh(&self, from: Time, end: Time) -> Meter {
        let mut fresh = Meter::new(from, end, Nanos::ZERO, 0);
        fresh.followers = self.followers.saturating_sub(1);
        fresh.batches = self.batches.afresh();
        fresh.slowest = self.slowest.afresh();
        fresh.map = self.map.afresh(from, end);
        fresh
    }

    /// Counts an I/O that completes behind the end, for the recording that may follow.
    #[cold]
    fn record_ahead(&mut self, io: &Io) {
        if self.followers == 0 {
            return;
        }
        let (from, end) = (self.end, self.end + self.end.since(self.from));
        let mut next = match self.next.take() {
            Some(next) => next,
            None => Box::new(self.afresh(from, end)),
        };
        if next.record(io) {
            next.slowest.offer(io);
        }
        self.next = Some(next);
    }

    /// I/Os recorded.
    pub fn ios(&self) -> u64 {
        self.reads.count() + self.writes.count()
    }

    /// Whether rate and mean latency are those of a steady state from the end of the warm-up up to
    /// `until`, by the steps of the timeline; none if these are too few to say, without I/Os, and in
    /// a run in which something happens.
    pub fn is_steady(&self, until: Time) -> Option<bool> {
        let ios = self.ios();
        if !self.periods.is_empty() || self.step == Nanos::ZERO || ios == 0 {
            return None;
        }
        // A step in which the warm-up ends counts if more than half of it lies behind.
        let first = (self.from.0 + self.step.0 / 2) / self.step.0;
        let end = until.0 / self.step.0;
        let steps = self.timeline.get(first as usize..end as usize)?;
        let rate = steps.iter().map(|step| (step.ios as f64, 1.0));
        let latency = steps
            .iter()
            .map(|step| (step.latency as f64, step.ios as f64));
        let rate = is_steady(&rate.collect::<Vec<_>>())?;
        Some(rate && is_steady(&latency.collect::<Vec<_>>()) != Some(false))
    }

    /// Prefetches what the next I/O will change.
    #[inline]
    pub fn prefetch(&self, op: Op) {
        prefetch(&self.from);
        match op {
            Op::Read => self.reads.prefetch(),
            _ => self.writes.prefetch(),
        }
        self.parts.prefetch();
        prefetch(&self.bytes);
        prefetch(&self.batches);
    }

    /// Counts an I/O whose record is charged up to its completion; true if it was recorded,
    /// false if it completes during the warm-up, or behind the end: a load thread that is busy
    /// takes note of it only then. The latter counts in the recording that follows, if one does.
    #[inline]
    pub fn record(&mut self, io: &Io) -> bool {
        let latency = io.latency();
        if let Some(step) = io.mark.0.checked_div(self.step.0) {
            match self.timeline.get_mut(step as usize) {
                Some(step) => step.add(latency),
                None if self.coarsens => self.coarsen(io.mark).add(latency),
                None => {}
            }
        }
        if io.mark > self.end {
            self.record_ahead(io);
            return false;
        }
        if io.mark < self.from {
            return false;
        }
        if self.map.is_over(io.mark) {
            self.map.close(io.mark, &self.reads, &self.writes);
        }
        let side = if io.op == Op::Read {
            &mut self.reads
        } else {
            &mut self.writes
        };
        side.record(latency);
        self.bytes[usize::from(io.op != Op::Read)] += io.bytes;
        self.parts.add(&io.parts);
        if let Some(period) = self.periods.last_mut() {
            period.latencies.record(latency);
        }
        self.last = self.last.max(io.mark);
        if self.batches.fills() {
            self.close_batch();
        }
        true
    }

    #[cold]
    fn close_batch(&mut self) {
        let span = self.last.since(self.batch_from).0;
        self.batch_from = self.last;
        self.batches.close(span, &mut self.reads, &mut self.writes);
    }

    /// Something happens: what is recorded from now on belongs to it.
    pub fn begin_period(&mut self, at: Time, what: &str) {
        let full = self.periods.len() == PERIODS;
        match self.periods.last_mut() {
            Some(last) if last.from == at || full => {
                last.what = format!("{}; {what}", last.what);
            }
            _ => self.periods.push(Period {
                from: at,
                what: what.into(),
                latencies: Histogram::default(),
            }),
        }
    }

    /// Counts an I/O that failed.
    pub fn fail(&mut self, at: Time) {
        self.errors += u64::from(at >= self.from);
    }

    /// Length of a step of the timeline.
    pub fn step(&self) -> Nanos {
        self.step
    }

    /// When the last recorded I/O completed.
    pub fn last(&self) -> Time {
        self.last
    }

    /// When recording began.
    pub fn from(&self) -> Time {
        self.from
    }

    /// Half of the 95 % interval of the gap between completions as a share of the gap.
    pub fn relative_error(&self) -> f64 {
        let gap = self.batches.gap().filter(|gap| gap.mean > 0.0);
        gap.map_or(f64::INFINITY, |gap| gap.half / gap.mean)
    }
}

/// The 95 % interval of the rate of batches as shares of the rate: that of the gap between
/// completions, to whose half width `past` adds a share of the gap, turned over. None if I/Os are too
/// few, or their gaps too uneven, for an upper end.
pub fn rate_interval(batches: &Batches, past: f64) -> Option<[f64; 2]> {
    let gap = batches.gap()?;
    let half = gap.half.hypot(past * gap.mean);
    let (low, high) = (gap.mean - half, gap.mean + half);
    let measured = low > gap.mean / VAGUE;
    measured.then(|| [gap.mean / high, gap.mean / low])
}

#[cfg(test)]
mod tests {
    use super::*;
    use raidlab_io::ByteRange;
    use raidlab_io::Part;

    #[test]
    fn the_warm_up_is_on_the_timeline_but_not_in_the_record() {
        let mut meter = Meter::new(Time(100), Time(160), Nanos(50), 4);
        for (issued, completed) in [(0, 60), (0, 120), (100, 130), (100, 170)] {
            let mut io = Io::new(Op::Read, ByteRange::new(0, 512), Time(issued));
            io.charge(Part::Service, Time(completed));
            meter.record(&io);
        }
        assert_eq!(meter.reads.count(), 2);
        assert_eq!(meter.parts[Part::Service], Nanos(150));
        let ios: Vec<u64> = meter.timeline.iter().map(|step| step.ios).collect();
        assert_eq!(ios, [0, 1, 2, 1]);
    }

    #[test]
    fn a_record_begins_anew_and_its_timeline_goes_on() {
        let mut meter = Meter::new(Time(0), Time(100), Nanos(50), 4);
        meter.record(&Io::new(Op::Read, ByteRange::new(0, 512), Time(60)));
        meter.fail(Time(70));
        meter.begin(Time(100), Time(200));
        meter.record(&Io::new(Op::Write, ByteRange::new(0, 512), Time(90)));
        meter.record(&Io::new(Op::Write, ByteRange::new(0, 512), Time(160)));
        assert_eq!((meter.reads.count(), meter.writes.count()), (0, 1));
        assert_eq!((meter.errors, meter.bytes), (0, [0, 512]));
        let ios: Vec<u64> = meter.timeline.iter().map(|step| step.ios).collect();
        assert_eq!(ios, [0, 2, 0, 1]);
    }

    #[test]
    fn what_completes_behind_the_end_counts_in_the_record_that_follows() {
        let mut meter = Meter::new(Time(0), Time(100), Nanos(50), 8).followed_until(Time(200));
        for at in [60, 160, 170, 250, 350] {
            meter.record(&Io::new(Op::Read, ByteRange::new(0, 512), Time(at)));
        }
        assert_eq!(meter.ios(), 1);
        meter.begin(Time(100), Time(200));
        assert_eq!(meter.ios(), 2);
        meter.begin(Time(200), Time(300));
        // At 350 another recording would have to begin behind the last moment for it.
        assert_eq!(meter.ios(), 1);
        let ios: Vec<u64> = meter.timeline.iter().map(|step| step.ios).collect();
        assert_eq!(ios, [0, 1, 0, 2, 0, 1, 0, 1]);
    }

    #[test]
    fn a_timeline_without_end_keeps_its_steps_and_makes_them_longer() {
        let mut meter = Meter::new(Time(0), Time::NEVER, Nanos(10), 4).without_end();
        for at in [5, 15, 25, 35, 36, 45, 155] {
            meter.record(&Io::new(Op::Read, ByteRange::new(0, 512), Time(at)));
        }
        // Steps of 10, of 20 from 45 on, of 40 from 155 on.
        assert_eq!(meter.step(), Nanos(40));
        let ios: Vec<u64> = meter.timeline.iter().map(|step| step.ios).collect();
        assert_eq!(ios, [5, 1, 0, 1]);
    }

    /// All but a hundredth of the first step, which alone is fast, lies behind the warm-up.
    #[test]
    fn a_step_in_which_the_warm_up_ends_counts() {
        let mut meter = Meter::new(Time(1), Time(3000), Nanos(100), 30);
        for io in (0..90).chain((1..30).flat_map(|step| step * 100..step * 100 + 4)) {
            let io = Io::new(Op::Read, ByteRange::new(0, 512), Time(io));
            meter.record(&io);
        }
        assert_eq!(meter.is_steady(Time(3000)), Some(false));
    }

    #[test]
    fn a_rate_that_falls_is_not_steady() {
        let record = |rate: fn(u64) -> u64| {
            let mut meter = Meter::new(Time(100), Time(3100), Nanos(100), 31);
            for step in 1..31 {
                for io in 0..rate(step) {
                    meter.record(&Io::new(
                        Op::Read,
                        ByteRange::new(0, 512),
                        Time(step * 100 + io),
                    ));
                }
            }
            meter.is_steady(Time(3100))
        };
        assert_eq!(record(|_| 20), Some(true));
        assert_eq!(record(|_| 0), None);
        assert_eq!(record(|step| 50 - step), Some(false));
        assert_eq!(record(|step| if step < 15 { 90 } else { 10 }), Some(false));
    }

    fn meter_of(gaps: &[u64]) -> Meter {
        let mut meter = Meter::new(Time(0), Time::NEVER, Nanos(50), 0);
        let mut now = 0;
        for gap in gaps {
            now += gap;
            meter.record(&Io::new(Op::Read, ByteRange::new(0, 512), Time(now)));
        }
        meter
    }

    fn rate_of(gaps: &[u64]) -> Option<[f64; 2]> {
        rate_interval(&meter_of(gaps).batches, 0.0)
    }

    #[test]
    fn few_ios_or_uneven_ones_say_nothing_of_the_rate() {
        assert_eq!(rate_of(&[]), None);
        assert_eq!(rate_of(&[100; 9]), None);
        assert!(meter_of(&[100; 9]).relative_error().is_infinite());
        assert_eq!(rate_of(&[100; 10]), Some([1.0, 1.0]));
        let mut gaps = [1; 20];
        assert_eq!(rate_of(&gaps), Some([1.0, 1.0]));
        gaps[7] = 10_000;
        assert_eq!(rate_of(&gaps), None);
    }
}
