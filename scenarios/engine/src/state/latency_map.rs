//! Latencies over time: a histogram for each column of time, bounded.
//!
//! Columns begin short. When there are as many as there may be, two become one, so that a run of any
//! length that fills them has between half and all of them.

use crate::plan::UNTIL_OVER;
use raidlab_kernel::{Histogram, Nanos, Time};

/// Columns at most.
const COLUMNS: usize = 128;
/// Columns that the recorded time would have if none became one.
const FIRST_COLUMNS: u64 = 4096;

/// Length of a column at first where nobody knows how long the recording is.
const FIRST_STEP: Nanos = Nanos(1_000_000);

/// What one column counts of reads or of writes: bin of [`Histogram::coarse`] and number.
pub type Column = Vec<(u16, u64)>;

/// Latencies of reads and writes over time.
#[derive(Debug)]
pub struct LatencyMap {
    from: Time,
    step: Nanos,
    /// The column that is filled, and its end; never if no map is asked for.
    open: usize,
    end: Time,
    /// By column: reads, writes.
    columns: Vec<[Column; 2]>,
    /// What the histograms had counted when the last column was closed.
    before: [Vec<u64>; 2],
}

impl LatencyMap {
    /// No map.
    pub fn none() -> LatencyMap {
        LatencyMap {
            from: Time::ZERO,
            step: Nanos(1),
            open: 0,
            end: Time::NEVER,
            columns: Vec::new(),
            before: [Vec::new(), Vec::new()],
        }
    }

    /// A map of what completes from `from` on, up to `until` at the latest.
    pub fn new(from: Time, until: Time) -> LatencyMap {
        let step = match until.since(from) {
            length if length >= UNTIL_OVER => FIRST_STEP,
            length => Nanos((length.0 / FIRST_COLUMNS).max(1)),
        };
        LatencyMap {
            from,
            step,
            end: from + step,
            columns: Vec::with_capacity(COLUMNS),
            ..LatencyMap::none()
        }
    }

    /// A map of another time, if this is one.
    pub fn afresh(&self, from: Time, until: Time) -> LatencyMap {
        if self.is_asked() {
            LatencyMap::new(from, until)
        } else {
            LatencyMap::none()
        }
    }

    /// Whether there is a map.
    pub fn is_asked(&self) -> bool {
        self.end != Time::NEVER
    }

    /// Whether a completion at this time belongs to a further column.
    #[inline(always)]
    pub fn is_over(&self, at: Time) -> bool {
        at >= self.end
    }

    /// Closes the column that is filled with what both histograms have counted, and opens that of
    /// a completion at `at`.
    #[cold]
    pub fn close(&mut self, at: Time, reads: &Histogram, writes: &Histogram) {
        self.fill(reads, writes);
        while at.since(self.from).0 / self.step.0 >= COLUMNS as u64 {
            self.coarsen();
        }
        self.open = (at.since(self.from).0 / self.step.0) as usize;
        self.end = self.from + self.step * (self.open as u64 + 1);
    }

    /// The columns so far, with what was counted since the last one was closed, and their length.
    pub fn columns(&mut self, reads: &Histogram, writes: &Histogram) -> (Nanos, &[[Column; 2]]) {
        self.fill(reads, writes);
        (self.step, &self.columns)
    }

    fn fill(&mut self, reads: &Histogram, writes: &Histogram) {
        if self.columns.len() <= self.open {
            self.columns.resize_with(self.open + 1, Default::default);
        }
        for (side, histogram) in [reads, writes].into_iter().enumerate() {
            let counted = histogram.coarse();
            let before = std::mem::replace(&mut self.before[side], counted);
            let counted = self.before[side].iter().enumerate();
            let fresh = counted.map(|(bin, &count)| {
                let old = before.get(bin).copied().unwrap_or(0);
                (bin as u16, count - old)
            });
            let fresh: Column = fresh.filter(|&(_, count)| count > 0).collect();
            add(&mut self.columns[self.open][side], &fresh);
        }
    }

    /// Two columns become one.
    fn coarsen(&mut self) {
        self.step = self.step + self.step;
        let halves = std::mem::take(&mut self.columns);
        for pair in halves.chunks(2) {
            let mut whole = pair[0].clone();
            for (side, more) in pair.iter().skip(1).flatten().enumerate() {
                add(&mut whole[side], more);
            }
            self.columns.push(whole);
        }
    }
}

/// Adds counts to those of a column.
fn add(to: &mut Column, more: &Column) {
    for &(bin, count) in more {
        match to.binary_search_by_key(&bin, |each| each.0) {
            Ok(at) => to[at].1 += count,
            Err(at) => to.insert(at, (bin, count)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Every I/O is in one column; with a few of them the columns stay as they began.
        #[test]
        fn columns_count_every_io_once(
            gaps in prop::collection::vec(0u64..5_000_000, 1..300),
            length in 1u64..1_000_000_000,
        ) {
            let mut map = LatencyMap::new(Time(50), Time(50 + length));
            let (mut reads, mut writes) = (Histogram::default(), Histogram::default());
            let mut at = Time(50);
            for (number, &gap) in gaps.iter().enumerate() {
                at = at + Nanos(gap);
                if map.is_over(at) {
                    map.close(at, &reads, &writes);
                }
                let side = if number % 3 == 0 { &mut writes } else { &mut reads };
                side.record(Nanos(gap));
            }
            let (step, columns) = map.columns(&reads, &writes);
            prop_assert!(columns.len() <= COLUMNS);
            prop_assert_eq!(columns.len() as u64, at.since(Time(50)).0 / step.0 + 1);
            for (side, histogram) in [&reads, &writes].into_iter().enumerate() {
                let counts = columns.iter().flat_map(|column| &column[side]);
                prop_assert_eq!(counts.map(|bin| bin.1).sum::<u64>(), histogram.count());
            }
            let first_column = columns.iter().take(1).flatten().flatten().map(|bin| bin.1).sum::<u64>();
            let first = gaps.iter().scan(0, |sum, gap| { *sum += gap; Some(*sum) });
            prop_assert_eq!(first_column, first.filter(|&since| since < step.0).count() as u64);
        }
    }
}
