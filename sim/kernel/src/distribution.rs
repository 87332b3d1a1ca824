//! Percentiles of latencies that a histogram has counted.

use crate::{Histogram, Nanos};

/// What lies in the buckets of a histogram, summed up once for every question about it.
#[derive(Clone, Debug)]
pub struct Distribution {
    /// Buckets that count something, in ascending order.
    stretches: Vec<Stretch>,
    least: u64,
    most: u64,
}

#[derive(Clone, Copy, Debug)]
struct Stretch {
    bucket: usize,
    count: u64,
    /// Latencies up to the end of this bucket.
    seen: u64,
}

impl Distribution {
    /// Of buckets in ascending order and what each counts, between two extremes.
    pub(crate) fn new(
        counts: impl Iterator<Item = (usize, u64)>,
        least: u64,
        most: u64,
    ) -> Distribution {
        let mut seen = 0;
        let counts = counts.filter(|&(_, count)| count > 0);
        let stretches = counts.map(|(bucket, count)| {
            seen += count;
            Stretch {
                bucket,
                count,
                seen,
            }
        });
        Distribution {
            stretches: stretches.collect(),
            least,
            most,
        }
    }

    /// Number of latencies.
    fn count(&self) -> u64 {
        self.stretches.last().map_or(0, |last| last.seen)
    }

    /// The first bucket up to whose end as many latencies lie as are wanted, or the last one.
    fn reaching(&self, wanted: impl Fn(u64) -> bool) -> Option<&Stretch> {
        let at = self.stretches.partition_point(|each| !wanted(each.seen));
        self.stretches.get(at).or(self.stretches.last())
    }

    /// The value below or at which `percent` of the latencies lie, within a bucket's width.
    ///
    /// Never below the least or above the greatest latency counted.
    pub fn percentile(&self, percent: f64) -> Option<Nanos> {
        let wanted = (percent / 100.0 * self.count() as f64).ceil().max(1.0) as u64;
        let found = self.reaching(|seen| seen >= wanted)?;
        let mut value = Histogram::representative(found.bucket).0;
        if found.bucket + 1 == Histogram::BUCKETS {
            // It also takes everything beyond: evenly up to the greatest.
            let beyond = self.most.saturating_sub(value) as f64;
            let above = found.seen.saturating_sub(wanted) as f64;
            value = self.most - (beyond * above / found.count as f64) as u64;
        }
        Some(Nanos(value.clamp(self.least, self.most)))
    }

    /// The latency in nanoseconds below which `share` of them lie, those of a bucket evenly spread
    /// over its width.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let wanted = share * self.count() as f64;
        let found = self.reaching(|seen| seen as f64 >= wanted)?;
        let inside = found.count as f64;
        let below = (found.seen - found.count) as f64;
        let (from, to) = Histogram::edges(found.bucket, self.most);
        let value = from + (to - from) * ((wanted - below) / inside).clamp(0.0, 1.0);
        Some(value.clamp(self.least as f64, self.most as f64))
    }

    /// The share of the latencies below `latency` nanoseconds, those of a bucket evenly spread over
    /// its width; 0 if there are none.
    pub fn rank(&self, latency: f64) -> f64 {
        let ends = |each: &Stretch| Histogram::edges(each.bucket, self.most);
        let at = self
            .stretches
            .partition_point(|each| ends(each).1 <= latency);
        let seen = at
            .checked_sub(1)
            .map_or(0, |before| self.stretches[before].seen);
        let inside = self.stretches.get(at).map_or(0.0, |each| {
            let (from, to) = ends(each);
            let part = ((latency - from) / (to - from).max(1.0)).clamp(0.0, 1.0);
            part * each.count as f64
        });
        (seen as f64 + inside) / (self.count() as f64).max(1.0)
    }
}

/// Percentiles of every result: key and share of the I/Os.
pub const PERCENTILES: [(&str, f64); 6] = [
    ("p50", 0.5),
    ("p90", 0.9),
    ("p95", 0.95),
    ("p99", 0.99),
    ("p99_9", 0.999),
    ("p99_99", 0.9999),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_go_on_beyond_the_last_bucket() {
        let mut histogram = Histogram::default();
        for second in 1..=100 {
            histogram.record(Nanos(second * 1_000_000_000));
        }
        let distribution = histogram.distribution();
        for percent in [50.0, 90.0, 99.0] {
            let value = distribution.percentile(percent).unwrap().seconds();
            assert!((value / percent - 1.0).abs() < 0.01, "{percent}: {value}");
        }
        assert_eq!(distribution.percentile(100.0), histogram.max());
    }

    #[test]
    fn percentiles_are_latencies_that_were_counted() {
        let mut histogram = Histogram::default();
        for value in [2, 4, 4, 4, 5, 5, 7, 9] {
            histogram.record(Nanos(value));
        }
        let distribution = histogram.distribution();
        let at = |percent| distribution.percentile(percent).map(|found| found.0);
        // One of eight is 12.5 %.
        let found = [0.0, 12.5, 12.6, 50.0, 50.1, 75.0, 87.5, 87.6, 100.0].map(at);
        assert_eq!(found, [2, 2, 4, 4, 5, 5, 7, 9, 9].map(Some));
        assert_eq!(Histogram::default().distribution().percentile(50.0), None);
    }

    #[test]
    fn a_rank_is_the_share_below() {
        let mut histogram = Histogram::default();
        (1024..1040).for_each(|value| histogram.record(Nanos(value)));
        (4096..4112).for_each(|value| histogram.record(Nanos(value)));
        let found = histogram.distribution();
        for share in [0.1, 0.25, 0.5, 0.6] {
            let at = found.quantile(share).unwrap();
            assert!((found.rank(at) - share).abs() < 1e-9, "{share}: {at}");
        }
        assert_eq!(
            (found.rank(10.0), found.rank(2000.0), found.rank(1e6)),
            (0.0, 0.5, 1.0)
        );
        assert_eq!(Histogram::default().distribution().rank(5.0), 0.0);
    }

    #[test]
    fn quantiles_lie_within_their_buckets() {
        let mut histogram = Histogram::default();
        // 1024 to 1039 are one bucket: a quarter of it lies below 1028.
        (1024..1040).for_each(|value| histogram.record(Nanos(value)));
        let one_bucket = histogram.distribution();
        assert_eq!(one_bucket.quantile(0.25), Some(1028.0));
        assert_eq!(one_bucket.quantile(0.0), Some(1024.0));
        assert_eq!(one_bucket.quantile(1.0), Some(1039.0));
        histogram.record(Nanos(5000));
        assert_eq!(histogram.distribution().quantile(1.0), Some(5000.0));
        assert_eq!(Histogram::default().distribution().quantile(0.5), None);
    }
}
