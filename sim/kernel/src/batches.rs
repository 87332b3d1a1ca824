//! A run's own confidence intervals: batches of consecutive I/Os, and how far their correlation
//! lets them speak for themselves.

use crate::Histogram;
use crate::histogram::Cut;
use crate::statistics::student_t_975;

/// Normal quantile of a 95 % interval.
const NORMAL: f64 = 1.96;

/// I/Os that completed one after the other.
#[derive(Clone, Debug, Default)]
struct Batch {
    /// Nanoseconds from the last completion before it to its own last one.
    span: u64,
    /// Reads; writes and all else.
    sides: [Cut; 2],
}

impl Batch {
    fn add(&mut self, other: &Batch) {
        self.span += other.span;
        for (mine, theirs) in self.sides.iter_mut().zip(&other.sides) {
            mine.add(theirs);
        }
    }

    fn become_copy_of(&mut self, other: &Batch) {
        self.span = other.span;
        for (mine, theirs) in self.sides.iter_mut().zip(&other.sides) {
            mine.become_copy_of(theirs);
        }
    }

    fn ios(&self) -> u64 {
        self.sides.iter().map(|side| side.count).sum()
    }
}

/// Which I/Os an interval is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// All of them.
    All,
    /// Reads.
    Reads,
    /// Writes, trims and flushes.
    Writes,
}

/// An estimate with its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean over all batches.
    pub mean: f64,
    /// Half of its 95 % interval, as of batches that are normal.
    pub half: f64,
    /// How far the mean may lie below the true value, skewness and kurtosis of the batches heeded.
    pub below: f64,
    /// How far above.
    pub above: f64,
    /// Number of independent batches that would say as much.
    pub independent: f64,
}

impl Estimate {
    /// The estimate of `sum(y) / sum(n)` from pairs `(y, n)` of consecutive batches, with the wider
    /// interval of two: by the batches themselves and by twice as long ones.
    ///
    /// Correlation that falls more slowly than from lag 0 to lag 1, as of a slow change beneath a
    /// fast one, shows in the longer batches alone.
    pub fn of_series(pairs: &[(f64, f64)]) -> Option<Estimate> {
        let short = Self::of_ratio(pairs)?;
        let merged = pairs.chunks_exact(2);
        let merged: Vec<_> = merged
            .map(|two| (two[0].0 + two[1].0, two[0].1 + two[1].1))
            .collect();
        let Some(long) = Self::of_ratio(&merged) else {
            return Some(short);
        };
        Some(Estimate {
            half: short.half.max(long.half),
            below: short.below.max(long.below),
            above: short.above.max(long.above),
            ..short
        })
    }

    /// Batches from which on their spread says something (Schmeiser, Batch size effects in the
    /// analysis of simulation output, 1982: 10 to 30 of them).
    const LEAST: usize = 10;

    /// Share of a batch that is nothing but rounding: far above that of a `f64`, and far below one
    /// I/O of a batch of 2^32.
    const ROUNDED: f64 = 1e-12;

    /// Independent batches below which nothing is known of the spread.
    const LEAST_INDEPENDENT: f64 = 2.0;

    /// The estimate of `sum(y) / sum(n)` from pairs `(y, n)` of consecutive batches; none if they
    /// are too few, or too much alike one after the other, to say.
    ///
    /// The residuals `y - mean n` have the lag-1 correlation `r`, corrected for its bias of `-1/m`
    /// in `m` batches. Correlation that falls geometrically leaves `e = m (1 - r) / (1 + r)`
    /// independent batches (Bayley and Hammersley, The "effective" number of independent
    /// observations in an autocorrelated time series, 1946). Student's t has `e - 1` degrees, and
    /// the variance, too small by `1 - 1/e` since it is about the run's own mean, is corrected.
    /// Tafazzoli, Steiger and Wilson correct alike (N-Skart, IEEE Trans. Automatic Control 56,
    /// 2011).
    pub fn of_ratio(pairs: &[(f64, f64)]) -> Option<Estimate> {
        let m = pairs.len() as f64;
        let n: f64 = pairs.iter().map(|pair| pair.1).sum();
        if pairs.len() < Self::LEAST || n <= 0.0 {
            return None;
        }
        let mean = pairs.iter().map(|pair| pair.0).sum::<f64>() / n;
        let residuals: Vec<f64> = pairs.iter().map(|(y, n)| y - mean * n).collect();
        let squares: f64 = residuals.iter().map(|d| d * d).sum();
        // Equal batches differ by what the division rounded: no spread, and no shape of it either.
        let typical = mean * n / m;
        if squares <= m * (Self::ROUNDED * typical) * (Self::ROUNDED * typical) {
            return Some(Estimate {
                mean,
                half: 0.0,
                below: 0.0,
                above: 0.0,
                independent: m,
            });
        }
        let products: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
        let correlation = (products / squares + 1.0 / m).max(0.0);
        let independent = m * (1.0 - correlation) / (1.0 + correlation);
        if independent <= Self::LEAST_INDEPENDENT {
            return None;
        }
        let variance = squares / m / (1.0 - 1.0 / independent);
        let error = (variance / independent).sqrt() * m / n;
        let [below, above] = Self::sides(&residuals, squares / m, independent);
        Some(Estimate {
            mean,
            half: student_t_975(independent - 1.0) * error,
            below: below * error,
            above: above * error,
            independent,
        })
    }

    /// How many standard errors the mean may lie below and above the true value.
    ///
    /// The variance of samples with excess kurtosis `k` is known as well as that of normal ones with
    /// `2 / (2 + k)` times the degrees of freedom (O'Neill, Some useful moment results in sampling
    /// problems, The American Statistician 68, 2014). Student's statistic of samples with skewness
    /// `g` is skewed the other way: the quantile of the exposed side is larger by
    /// `g (2 t^2 + 1) / (6 sqrt(e))`, to first order (Johnson, Modified t tests and confidence
    /// intervals for asymmetrical populations, J. American Statistical Association 73, 1978; Hall, On
    /// the removal of skewness by transformation, J. Royal Statistical Society B 54, 1992). The other
    /// side keeps its own.
    fn sides(residuals: &[f64], variance: f64, independent: f64) -> [f64; 2] {
        let m = residuals.len() as f64;
        let third = residuals.iter().map(|d| d * d * d).sum::<f64>() / m;
        let fourth = residuals.iter().map(|d| d * d * d * d).sum::<f64>() / m;
        let skewness = third / (variance * variance.sqrt());
        let excess = (fourth / (variance * variance) - 3.0).max(0.0);
        let t = student_t_975(2.0 * (independent - 1.0) / (2.0 + excess));
        if t.is_infinite() {
            return [t; 2];
        }
        let shift = skewness * (2.0 * t * t + 1.0) / (6.0 * independent.sqrt());
        [t + shift.max(0.0), t + (-shift).max(0.0)]
    }
}

/// Batches of consecutive I/Os of one run.
///
/// When as many as there may be are full, neighbours are merged and the batch length doubles, so
/// memory does not grow with the run (Law, Simulation Modeling and Analysis, chapter 9).
#[derive(Clone, Debug)]
pub struct Batches {
    /// Those that were ever full; merging leaves the later half for what comes.
    all: Vec<Batch>,
    full: usize,
    most: usize,
    per_batch: u64,
    open: u64,
}

impl Batches {
    /// Bytes of `most` batches.
    pub fn table_bytes(most: usize) -> u64 {
        (most * size_of::<Batch>()) as u64
    }

    /// No I/O yet; batches hold one each at first, and there are fewer than `most`, an even number.
    pub fn new(most: usize) -> Batches {
        Batches {
            all: Vec::with_capacity(most),
            full: 0,
            most,
            per_batch: 1,
            open: 0,
        }
    }

    /// No I/O yet, for the same number of batches.
    pub fn afresh(&self) -> Batches {
        Batches::new(self.most)
    }

    /// Counts an I/O; true if it is the last one of its batch, which is to be closed then.
    #[inline]
    pub fn fills(&mut self) -> bool {
        self.open += 1;
        self.open == self.per_batch
    }

    /// Closes the batch that is full: `span` nanoseconds long, with what `reads` and `writes`
    /// counted since the last cut.
    #[cold]
    pub fn close(&mut self, span: u64, reads: &mut Histogram, writes: &mut Histogram) {
        self.open = 0;
        if self.full == self.all.len() {
            self.all.push(Batch::default());
        }
        let batch = &mut self.all[self.full];
        batch.span = span;
        reads.cut(&mut batch.sides[0]);
        writes.cut(&mut batch.sides[1]);
        self.full += 1;
        if self.full == self.most {
            self.merge_neighbours();
        }
    }

    fn merge_neighbours(&mut self) {
        for i in 0..self.most / 2 {
            let (before, pair) = self.all.split_at_mut(2 * i);
            match before.get_mut(i) {
                Some(merged) => {
                    merged.become_copy_of(&pair[0]);
                    merged.add(&pair[1]);
                }
                None => {
                    let (first, second) = pair.split_at_mut(1);
                    first[0].add(&second[0]);
                }
            }
        }
        self.full = self.most / 2;
        self.per_batch *= 2;
    }

    fn full(&self) -> &[Batch] {
        &self.all[..self.full]
    }

    fn estimate(&self, pair: impl Fn(&Batch) -> (f64, f64)) -> Option<Estimate> {
        let pairs: Vec<_> = self.full().iter().map(pair).collect();
        Estimate::of_series(&pairs)
    }

    /// Nanoseconds from one completion to the next.
    pub fn gap(&self) -> Option<Estimate> {
        self.estimate(|batch| (batch.span as f64, batch.ios() as f64))
    }

    /// The mean latency in nanoseconds.
    pub fn latency(&self, side: Side) -> Option<Estimate> {
        self.estimate(|batch| {
            let cut = Self::chosen(batch, side);
            (cut.sum as f64, cut.count as f64)
        })
    }

    /// The share of the I/Os that take at most as long as the `share`-quantile; its error is that
    /// of the quantile's rank. Tails come in bursts, so `below` and `above` are what holds: a run
    /// with few bursts also sees little scatter.
    ///
    /// Latencies are counted in coarse bins, so those of the quantile's own bin count in part;
    /// what chance adds within the bin is that of independent I/Os.
    pub fn rank(&self, side: Side, share: f64) -> Option<Estimate> {
        let mut all = Cut::default();
        for batch in self.full() {
            all.add(&Self::chosen(batch, side));
        }
        let (count, mut below) = (all.count as f64, 0.0);
        let mut bins = all.bins.iter().map(|&count| f64::from(count)).enumerate();
        let (bin, inside) = bins.find(|&(_, inside)| {
            let found = inside > 0.0 && below + inside >= share * count;
            below += if found { 0.0 } else { inside };
            found
        })?;
        let part = (share * count - below) / inside;
        let rank = self.estimate(|batch| {
            let cut = Self::chosen(batch, side);
            let below: u64 = cut.bins[..bin].iter().map(|&count| u64::from(count)).sum();
            let inside = f64::from(cut.bins[bin]);
            (below as f64 + part * inside, cut.count as f64)
        })?;
        let chance = NORMAL * NORMAL * part * (1.0 - part) * inside / count / count;
        let with_chance = |half: f64| (half * half + chance).sqrt();
        Some(Estimate {
            half: with_chance(rank.half),
            below: with_chance(rank.below),
            above: with_chance(rank.above),
            ..rank
        })
    }

    fn chosen(batch: &Batch, side: Side) -> Cut {
        match side {
            Side::Reads => batch.sides[0],
            Side::Writes => batch.sides[1],
            Side::All => {
                let mut both = batch.sides[0];
                both.add(&batch.sides[1]);
                both
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Nanos, Stream};

    fn of(samples: &[f64]) -> Option<Estimate> {
        let pairs: Vec<_> = samples.iter().map(|&sample| (sample, 1.0)).collect();
        Estimate::of_series(&pairs)
    }

    /// By hand: 0, 1, 0, 1 ... is anticorrelated, which is not used: its error is that of
    /// independent batches, t(11) sqrt(0.25 (12 / 11) / 12). Of 1, 2, ... 12 neighbours are too
    /// much alike to say anything.
    #[test]
    fn ten_batches_that_differ_have_an_interval() {
        let rising: Vec<f64> = (1..=12).map(f64::from).collect();
        assert_eq!(of(&rising[..9]), None);
        assert_eq!(of(&rising), None);
        let alternating: Vec<f64> = (0..12).map(|i| f64::from(i % 2)).collect();
        let found = of(&alternating).unwrap();
        assert_eq!((found.mean, found.independent), (0.5, 12.0));
        assert!((found.half - 2.201 * (0.25_f64 / 11.0).sqrt()).abs() < 1e-3);
        assert_eq!(of(&[3.0; 10]).unwrap().half, 0.0);
    }

    /// Share of the intervals that cover the mean, and of those that say something, of 1000
    /// samples of `x = correlation x + noise`, in 50 batches.
    fn coverage(correlation: f64) -> (f64, f64) {
        let (mut covered, mut known) = (0, 0);
        let runs = 2000;
        for seed in 0..runs {
            let mut stream = Stream::new(seed, "test", "ar1");
            let mut x = 0.0;
            let mut next = || {
                x = correlation * x + stream.unit() - 0.5;
                x
            };
            (0..2000).for_each(|_| {
                next();
            });
            let means: Vec<f64> = (0..50).map(|_| (0..20).map(|_| next()).sum()).collect();
            let Some(found) = of(&means) else { continue };
            known += 1;
            covered += usize::from(found.mean.abs() <= found.half);
        }
        (covered as f64 / known as f64, known as f64 / runs as f64)
    }

    /// Independent samples, and such whose correlation lasts 10, 50 and 100 of 1000. The wider one
    /// of two intervals of 95 % covers the mean of independent samples in 97 %; binomially that
    /// has a standard deviation of 0.4 % here.
    #[test]
    fn intervals_cover_the_mean_whatever_the_correlation() {
        for correlation in [0.0, 0.9, 0.98, 0.99] {
            let (covered, known) = coverage(correlation);
            assert!(
                (0.935..=0.98).contains(&covered),
                "{correlation}: {covered}"
            );
            assert!(known > 0.8, "{correlation}: {known}");
        }
    }

    /// A slow change, `x = 0.7 x + noise`, beneath noise of twice that amplitude: the correlation at
    /// lag 1 is 0.23, that at lag 2 is 0.16 and not 0.05.
    #[test]
    fn a_slow_change_beneath_noise_is_heeded() {
        let (mut covered, mut short) = (0, 0);
        let runs = 2000;
        for seed in 0..runs {
            let mut stream = Stream::new(seed, "test", "ar1");
            let mut x = 0.0;
            let mut noise = || stream.unit() - 0.5;
            let mut next = || {
                x = 0.7 * x + noise();
                x + 2.0 * noise()
            };
            (0..100).for_each(|_| {
                next();
            });
            let pairs: Vec<_> = (0..60).map(|_| (next(), 1.0)).collect();
            let holds = |found: Option<Estimate>| {
                usize::from(found.is_none_or(|it| it.mean.abs() <= it.half))
            };
            covered += holds(Estimate::of_series(&pairs));
            short += holds(Estimate::of_ratio(&pairs));
        }
        let share = |count: usize| count as f64 / runs as f64;
        assert!(share(covered) > 0.91, "{covered}");
        assert!(share(short) < 0.89, "{short}");
    }

    /// Coverage of the mean of 60 batches that each hold a burst with a probability of a tenth, of an
    /// exponential size: by the normal half, and by the sides.
    #[test]
    fn sides_cover_the_mean_of_skewed_batches() {
        let (mut normal, mut sided) = (0, 0);
        let runs = 4000;
        for seed in 0..runs {
            let mut stream = Stream::new(seed, "test", "bursts");
            let pairs: Vec<_> = (0..60)
                .map(|_| {
                    let burst = stream.unit() < 0.1;
                    let size = stream.exponential(Nanos(1_000_000)).0 as f64 / 1e6;
                    (if burst { size } else { 0.0 }, 1.0)
                })
                .collect();
            let found = Estimate::of_series(&pairs).unwrap();
            let off = found.mean - 0.1;
            normal += usize::from(off.abs() <= found.half);
            sided += usize::from(-found.below <= off && off <= found.above);
        }
        let percent = |count: usize| 100.0 * count as f64 / runs as f64;
        assert!(percent(normal) < 91.0, "{}", percent(normal));
        assert!(
            (93.0..=97.5).contains(&percent(sided)),
            "{}",
            percent(sided)
        );
    }

    /// By hand: of 45 zeros and 5 ones, far apart, the skewness is 0.8 / 0.3, the
    /// kurtosis (0.9 * 0.1^4 + 0.1 * 0.9^4) / 0.09^2 = 8.11, an excess of 5.11.
    #[test]
    fn sides_by_hand() {
        let residuals: Vec<f64> = (0..50)
            .map(|i| if i % 10 == 0 { 0.9 } else { -0.1 })
            .collect();
        let [below, above] = Estimate::sides(&residuals, 0.09, 50.0);
        let t = student_t_975(2.0 * 49.0 / 7.111);
        assert!((above - t).abs() < 1e-3, "{above}");
        let shift = 0.8 / 0.3 * (2.0 * t * t + 1.0) / (6.0 * 50.0_f64.sqrt());
        assert!((below - t - shift).abs() < 1e-3, "{below}");
    }

    /// The median interval of a rank is that of a binomial proportion where I/Os are independent.
    #[test]
    fn ranks_of_independent_ios_are_binomial() {
        for share in [0.5, 0.9, 0.99, 0.999] {
            let mut halves: Vec<f64> = (0..21).map(|seed| half_of_rank(seed, share)).collect();
            halves.sort_by(f64::total_cmp);
            let binomial = 1.96 * (share * (1.0 - share) / 1e5_f64).sqrt();
            let ratio = halves[10] / binomial;
            assert!((0.9..1.3).contains(&ratio), "{share}: {ratio}");
        }
    }

    /// All latencies are equal, so every rank is known: what rounding leaves has no kurtosis.
    #[test]
    fn ranks_of_equal_latencies_are_known() {
        let (mut batches, mut reads) = (Batches::new(64), Histogram::default());
        let mut writes = Histogram::default();
        for _ in 0..200_000 {
            reads.record(Nanos(2_000_000));
            if batches.fills() {
                batches.close(1000, &mut reads, &mut writes);
            }
        }
        for share in [0.5, 0.9, 0.95, 0.99, 0.999] {
            let found = batches.rank(Side::All, share).unwrap();
            assert!(found.below.max(found.above) < 0.003, "{share}: {found:?}");
        }
    }

    /// Half of the interval of a quantile's rank, of 100,000 exponential latencies.
    fn half_of_rank(seed: u64, share: f64) -> f64 {
        let (mut batches, mut reads) = (Batches::new(64), Histogram::default());
        let mut writes = Histogram::default();
        let mut stream = Stream::new(seed, "test", "latencies");
        for _ in 0..100_000 {
            reads.record(stream.exponential(Nanos(100_000)));
            if batches.fills() {
                batches.close(1000, &mut reads, &mut writes);
            }
        }
        let found = batches.rank(Side::All, share).unwrap();
        assert!((found.mean - share).abs() < 1e-9);
        assert_eq!(batches.rank(Side::Reads, share), Some(found));
        assert_eq!(batches.rank(Side::Writes, 0.5), None);
        found.half
    }

    /// Latencies of a narrow distribution that wanders slowly, by a fraction of its own width: the
    /// rank of a quantile is known far less well than that of independent I/Os.
    #[test]
    fn ranks_heed_a_slow_drift_within_a_narrow_distribution() {
        let (mut batches, mut reads) = (Batches::new(64), Histogram::default());
        let mut writes = Histogram::default();
        let mut stream = Stream::new(1, "test", "latencies");
        for io in 0..100_000_u64 {
            let shift = if (io / 10_000) % 2 == 0 { 0 } else { 200_000 };
            reads.record(Nanos(4_000_000 + shift + stream.below(800_000)));
            if batches.fills() {
                batches.close(1000, &mut reads, &mut writes);
            }
        }
        // Of ten blocks five lie a quarter of the width higher: their medians' ranks are 0.375 and
        // 0.625, so that the rank's error is at least 0.125 / sqrt(10).
        let found = batches.rank(Side::All, 0.5).unwrap();
        assert!(found.half > 0.125 / 10.0_f64.sqrt(), "{found:?}");
    }
}
