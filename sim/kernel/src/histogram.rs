//! Latency histogram in fio's bucket layout, so that measured and simulated distributions
//! compare bucket by bucket.
//!
//! Values below 128 ns have a bucket each; above, every power of two is cut into 64 buckets
//! (6 bits of mantissa, relative width at most 1/64). 29 groups of 64 make 1856 buckets; the
//! last one also takes everything beyond it. Source: `stat.h` of fio 3.33, read off its
//! json+ output.

use crate::{Distribution, Nanos, prefetch};

const MANTISSA_BITS: u32 = 6;
const GROUP: usize = 1 << MANTISSA_BITS;
const BUCKETS: usize = 29 * GROUP;
/// Latencies that are counted together.
const TOGETHER: usize = 16;

/// Sixteen coarse bins for every power of two.
const COARSE_BITS: u32 = 2;
const COARSE: usize = BUCKETS >> COARSE_BITS;

/// What came between two cuts, in coarse bins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    pub(crate) count: u64,
    pub(crate) sum: u128,
    pub(crate) bins: [u32; COARSE],
    /// From here up to the end, bins may count something; no other one does. Latencies of one
    /// load lie within a few powers of two: most bins need not be touched.
    first: usize,
    end: usize,
}

impl Default for Cut {
    fn default() -> Self {
        Cut {
            count: 0,
            sum: 0,
            bins: [0; COARSE],
            first: 0,
            end: 0,
        }
    }
}

impl Cut {
    /// Becomes empty, with bins from `first` up to `end` in use.
    fn restart(&mut self, count: u64, sum: u128, (first, end): (usize, usize)) {
        self.bins[self.first..self.end].fill(0);
        (self.count, self.sum) = (count, sum);
        (self.first, self.end) = (first, end);
    }

    /// Becomes what another one is.
    pub(crate) fn become_copy_of(&mut self, other: &Cut) {
        let (first, end) = (other.first, other.end);
        self.restart(other.count, other.sum, (first, end));
        self.bins[first..end].copy_from_slice(&other.bins[first..end]);
    }

    pub(crate) fn add(&mut self, other: &Cut) {
        self.count += other.count;
        self.sum += other.sum;
        let (first, end) = (other.first, other.end);
        if first == end {
            return;
        }
        if self.first == self.end {
            self.first = first;
        }
        (self.first, self.end) = (self.first.min(first), self.end.max(end));
        let mine = self.bins[first..end].iter_mut();
        for (mine, theirs) in mine.zip(&other.bins[first..end]) {
            *mine = mine.saturating_add(*theirs);
        }
    }
}

/// Number, sums and extremes of latencies.
#[derive(Clone, Copy, Debug)]
struct Moments {
    count: u64,
    sum: u128,
    squares: f64,
    least: u64,
    most: u64,
}

impl Default for Moments {
    fn default() -> Self {
        Moments {
            count: 0,
            sum: 0,
            squares: 0.0,
            least: u64::MAX,
            most: 0,
        }
    }
}

impl Moments {
    #[inline]
    fn add(&mut self, value: Nanos) {
        self.count += 1;
        self.sum += u128::from(value.0);
        self.squares += value.float() * value.float();
        self.least = self.least.min(value.0);
        self.most = self.most.max(value.0);
    }

    fn merge(&mut self, other: &Moments) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares += other.squares;
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
    }
}

/// Counts of latencies, with exact minimum, maximum, sum and sum of squares beside them.
///
/// The buckets of a thousand histograms do not fit the processor's cache. Latencies therefore
/// gather in a short list, and the histogram counts them together: the processor then fetches the
/// memory of all of them at once.
#[derive(Clone, Debug)]
pub struct Histogram {
    /// Latencies that are not counted yet, in the order in which they came.
    recent: [Nanos; TOGETHER],
    uncounted: usize,
    buckets: Box<[u64; BUCKETS]>,
    moments: Moments,
    /// Since the last cut, in coarse bins.
    since_cut: Box<[u32; COARSE]>,
    /// Number and sum up to the last cut.
    cut_at: (u64, u128),
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram {
            recent: [Nanos::ZERO; TOGETHER],
            uncounted: 0,
            buckets: Box::new([0; BUCKETS]),
            moments: Moments::default(),
            since_cut: Box::new([0; COARSE]),
            cut_at: (0, 0),
        }
    }
}

impl Histogram {
    /// Number of buckets of every histogram: 1856.
    pub const BUCKETS: usize = BUCKETS;

    /// Bytes of its tables.
    pub const TABLE_BYTES: u64 = (size_of::<[u64; BUCKETS]>() + size_of::<[u32; COARSE]>()) as u64;

    /// The bucket that counts `value`.
    #[inline]
    pub fn bucket(value: Nanos) -> usize {
        let msb = 63 - (value.0 | 1).leading_zeros();
        if msb <= MANTISSA_BITS {
            return value.0 as usize;
        }
        let shift = msb - MANTISSA_BITS;
        let offset = (value.0 >> shift) as usize & (GROUP - 1);
        (((shift as usize + 1) << MANTISSA_BITS) + offset).min(BUCKETS - 1)
    }

    /// The value that stands for a bucket: its middle, as fio prints it.
    pub fn representative(bucket: usize) -> Nanos {
        if bucket < 2 * GROUP {
            return Nanos(bucket as u64);
        }
        let shift = (bucket >> MANTISSA_BITS) - 1;
        let base = 1u64 << (shift as u32 + MANTISSA_BITS);
        let step = 1u64 << shift;
        Nanos(base + (bucket % GROUP) as u64 * step + step / 2)
    }

    /// Counts one latency.
    #[inline]
    pub fn record(&mut self, value: Nanos) {
        self.recent[self.uncounted] = value;
        self.uncounted += 1;
        if self.uncounted == TOGETHER {
            self.count_recent();
        }
    }

    /// Prefetches what the next latency will change.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(&self.recent);
        prefetch(&self.recent[TOGETHER / 2]);
        prefetch(&self.uncounted);
    }

    #[inline(never)]
    fn count_recent(&mut self) {
        for &value in &self.recent[..self.uncounted] {
            let bucket = Self::bucket(value);
            self.buckets[bucket] += 1;
            self.since_cut[bucket >> COARSE_BITS] += 1;
            self.moments.add(value);
        }
        self.uncounted = 0;
    }

    /// Moves what came since the last cut into `cut`, in the place of what it had.
    pub(crate) fn cut(&mut self, cut: &mut Cut) {
        self.count_recent();
        let (count, sum) = self.cut_at;
        self.cut_at = (self.moments.count, self.moments.sum);
        let (count, sum) = (self.moments.count - count, self.moments.sum - sum);
        if count == 0 {
            cut.restart(0, 0, (0, 0));
            return;
        }
        let bin = |latency| Self::bucket(Nanos(latency)) >> COARSE_BITS;
        let (first, end) = (bin(self.moments.least), bin(self.moments.most) + 1);
        cut.restart(count, sum, (first, end));
        let since = &mut self.since_cut[first..end];
        cut.bins[first..end].copy_from_slice(since);
        since.fill(0);
    }

    /// The moments of all latencies.
    fn moments(&self) -> Moments {
        let mut moments = self.moments;
        for &value in &self.recent[..self.uncounted] {
            moments.add(value);
        }
        moments
    }

    /// Buckets from that of the least to that of the greatest latency, in ascending order, and what
    /// each counts.
    fn counts(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let mut recent = [usize::MAX; TOGETHER];
        for (bucket, &value) in recent.iter_mut().zip(&self.recent[..self.uncounted]) {
            *bucket = Self::bucket(value);
        }
        recent.sort_unstable();
        let mut next = 0;
        let range = match (self.min(), self.max()) {
            (Some(least), Some(most)) => Self::bucket(least)..Self::bucket(most) + 1,
            _ => 0..0,
        };
        range.map(move |bucket| {
            let first = next;
            while recent.get(next) == Some(&bucket) {
                next += 1;
            }
            (bucket, self.buckets[bucket] + (next - first) as u64)
        })
    }

    /// What every four buckets count together, in ascending order: sixteen to a power of two.
    pub fn coarse(&self) -> Vec<u64> {
        let mut coarse = vec![0; COARSE];
        for (bucket, count) in self.counts() {
            coarse[bucket >> COARSE_BITS] += count;
        }
        coarse
    }

    /// Where four buckets that are counted together begin.
    pub fn coarse_begin(bin: usize) -> Nanos {
        Nanos(Self::begin(bin << COARSE_BITS))
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Histogram) {
        self.count_recent();
        for (bucket, count) in other.counts() {
            self.buckets[bucket] += count;
        }
        self.moments.merge(&other.moments());
    }

    /// Number of latencies counted.
    pub fn count(&self) -> u64 {
        self.moments.count + self.uncounted as u64
    }

    /// Sum of all latencies, in nanoseconds.
    pub fn sum(&self) -> u128 {
        self.moments().sum
    }

    /// The least latency, if any was counted.
    pub fn min(&self) -> Option<Nanos> {
        (self.count() > 0).then(|| Nanos(self.moments().least))
    }

    /// The greatest latency, if any was counted.
    pub fn max(&self) -> Option<Nanos> {
        (self.count() > 0).then(|| Nanos(self.moments().most))
    }

    /// Mean in nanoseconds, if any was counted.
    pub fn mean(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum() as f64 / self.count() as f64)
    }

    /// Standard deviation in nanoseconds (of the population), if any was counted.
    pub fn deviation(&self) -> Option<f64> {
        let mean = self.mean()?;
        let variance = self.moments().squares / self.count() as f64 - mean * mean;
        Some(variance.max(0.0).sqrt())
    }

    /// What was counted, for questions about percentiles.
    pub fn distribution(&self) -> Distribution {
        let Moments { least, most, .. } = self.moments();
        Distribution::new(self.counts(), least, most)
    }

    /// Where a bucket begins and ends, in nanoseconds; the last one ends at the greatest latency.
    pub(crate) fn edges(bucket: usize, most: u64) -> (f64, f64) {
        let end = if bucket + 1 == BUCKETS {
            most
        } else {
            Self::begin(bucket + 1)
        };
        (Self::begin(bucket) as f64, end as f64)
    }

    /// The least latency in nanoseconds that a bucket counts.
    fn begin(bucket: usize) -> u64 {
        let shift = (bucket >> MANTISSA_BITS).saturating_sub(1);
        Self::representative(bucket).0 - ((1 << shift) >> 1)
    }

    /// Non-empty buckets as (representative value, count), in ascending order.
    pub fn bins(&self) -> impl Iterator<Item = (Nanos, u64)> + '_ {
        self.counts()
            .filter(|&(_, count)| count > 0)
            .map(|(bucket, count)| (Self::representative(bucket), count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn buckets_are_fios() {
        // fio prints 1004 for a latency of 1 us, 10048 for 10 us and 99840 for 100 us.
        for (value, printed) in [
            (127, 127),
            (1000, 1004),
            (10_000, 10_048),
            (100_000, 99_840),
        ] {
            let bucket = Histogram::bucket(Nanos(value));
            assert_eq!(Histogram::representative(bucket), Nanos(printed));
        }
        assert_eq!(Histogram::bucket(Nanos(u64::MAX)), 1855);
    }

    #[test]
    fn moments_are_exact() {
        let mut histogram = Histogram::default();
        for value in [2, 4, 4, 4, 5, 5, 7, 9] {
            histogram.record(Nanos(value));
        }
        assert_eq!(histogram.mean(), Some(5.0));
        assert_eq!(histogram.deviation(), Some(2.0));
    }

    #[test]
    fn a_cut_has_what_came_since_the_last_one() {
        let (mut histogram, mut cut) = (Histogram::default(), Cut::default());
        let mut cut_of = |histogram: &mut Histogram| {
            histogram.cut(&mut cut);
            let all = cut.bins.iter().map(|&bin| u64::from(bin)).sum::<u64>();
            assert_eq!(all, cut.count);
            cut
        };
        histogram.record(Nanos(1_000_000));
        assert_eq!(cut_of(&mut histogram).count, 1);
        assert_eq!(cut_of(&mut histogram).count, 0);
        (0..100).for_each(|_| histogram.record(Nanos(1000)));
        let cut = cut_of(&mut histogram);
        assert_eq!((cut.count, cut.sum), (100, 100_000));
        assert_eq!(cut.bins[Histogram::bucket(Nanos(1000)) >> COARSE_BITS], 100);
        assert_eq!(histogram.count(), 101);
    }

    #[test]
    fn cuts_add_up_over_all_their_bins() {
        let cut_of = |latencies: &[u64]| {
            let (mut histogram, mut cut) = (Histogram::default(), Cut::default());
            latencies.iter().for_each(|&it| histogram.record(Nanos(it)));
            histogram.cut(&mut cut);
            cut
        };
        let (low, high) = ([100, 200, 300], [1_000_000, 1_100_000]);
        let mut sum = Cut::default();
        for part in [&high[..], &[], &low[..]] {
            sum.add(&cut_of(part));
        }
        let mut copy = cut_of(&[5_000_000_000]);
        copy.become_copy_of(&sum);
        let all = cut_of(&[&low[..], &high[..]].concat());
        for cut in [sum, copy] {
            assert_eq!((cut.count, cut.sum, cut.bins), (5, all.sum, all.bins));
        }
    }

    proptest! {
        #[test]
        fn a_bucket_stands_within_one_part_in_64(value in 0u64..(1 << 34)) {
            let bucket = Histogram::bucket(Nanos(value));
            let stands_for = Histogram::representative(bucket).0;
            prop_assert!(stands_for.abs_diff(value) <= value / 64);
            prop_assert_eq!(Histogram::bucket(Nanos(stands_for)), bucket);
        }

        #[test]
        fn merging_is_counting_together(
            a in prop::collection::vec(0u64..1_000_000, 0..50),
            b in prop::collection::vec(0u64..1_000_000, 0..50),
        ) {
            let count = |values: &[u64]| {
                let mut histogram = Histogram::default();
                values.iter().for_each(|&v| histogram.record(Nanos(v)));
                histogram
            };
            let mut merged = count(&a);
            merged.merge(&count(&b));
            let whole = count(&[a, b].concat());
            prop_assert_eq!(merged.bins().collect::<Vec<_>>(), whole.bins().collect::<Vec<_>>());
            prop_assert_eq!(merged.sum(), whole.sum());
            prop_assert_eq!((merged.min(), merged.max()), (whole.min(), whole.max()));
        }
    }
}
