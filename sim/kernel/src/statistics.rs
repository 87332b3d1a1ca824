//! Confidence intervals from batch means, and averages over time.

use crate::{Nanos, Time};

/// A 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// The estimate in the middle.
    pub mean: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// The interval around the mean of independent samples by Student's t.
    ///
    /// With fewer than two samples nothing is known of the spread: both ends are the mean.
    pub fn of(samples: &[f64]) -> Interval {
        let n = samples.len();
        if n == 0 {
            return Interval {
                low: 0.0,
                mean: 0.0,
                high: 0.0,
            };
        }
        let mean = samples.iter().sum::<f64>() / n as f64;
        if n == 1 {
            return Interval {
                low: mean,
                mean,
                high: mean,
            };
        }
        let squares: f64 = samples.iter().map(|x| (x - mean) * (x - mean)).sum();
        let half = student_t_975(n - 1) * (squares / (n - 1) as f64 / n as f64).sqrt();
        Interval {
            low: mean - half,
            mean,
            high: mean + half,
        }
    }

    /// True if `value` lies inside.
    pub fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

/// The 97.5 % point of Student's t with `degrees` of freedom.
///
/// Table values up to 30 degrees; beyond, Fisher's expansion around the normal quantile
/// (error below 0.001).
pub fn student_t_975(degrees: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
        2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
        2.052, 2.048, 2.045, 2.042,
    ];
    match degrees {
        0 => f64::INFINITY,
        1..=30 => TABLE[degrees - 1],
        _ => {
            let z = 1.959_964_f64;
            let n = degrees as f64;
            let second = 5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z;
            z + (z.powi(3) + z) / (4.0 * n) + second / (96.0 * n * n)
        }
    }
}

/// Means over consecutive batches of one run: the run's own confidence interval.
///
/// The method of batch means (Law, Simulation Modeling and Analysis, chapter 9): batches that
/// are long against the correlation time are nearly independent. The number of batches is
/// fixed; when all are full, neighbours are merged and the batch length doubles, so memory
/// does not grow with the run.
#[derive(Clone, Debug)]
pub struct BatchMeans {
    /// Full batches.
    full: Vec<Batch>,
    /// The one being filled; it stands here because every sample needs it.
    open: Batch,
    per_batch: u64,
}

/// Samples of a batch, as their sum and number.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    sum: f64,
    count: u64,
}

impl BatchMeans {
    /// Batches at the most; after a merge half of them are left.
    const MOST: usize = 64;

    /// Batches from which on their spread says something (Schmeiser, Batch size effects in the
    /// analysis of simulation output, 1982: 10 to 30 of them).
    const LEAST: usize = 10;

    /// An empty record whose batches hold one sample each at first.
    pub fn new() -> BatchMeans {
        BatchMeans {
            full: Vec::with_capacity(Self::MOST),
            open: Batch::default(),
            per_batch: 1,
        }
    }

    /// Adds a sample.
    #[inline]
    pub fn record(&mut self, value: f64) {
        if self.open.count == self.per_batch {
            self.close();
        }
        self.open.sum += value;
        self.open.count += 1;
    }

    #[cold]
    fn close(&mut self) {
        self.full.push(std::mem::take(&mut self.open));
        if self.full.len() == Self::MOST {
            for i in 0..Self::MOST / 2 {
                let (a, b) = (self.full[2 * i], self.full[2 * i + 1]);
                self.full[i] = Batch {
                    sum: a.sum + b.sum,
                    count: a.count + b.count,
                };
            }
            self.full.truncate(Self::MOST / 2);
            self.per_batch *= 2;
        }
    }

    /// The confidence interval of the mean, from the full batches, grouped to about 20; none if
    /// they are too few to say.
    pub fn interval(&self) -> Option<Interval> {
        let open = Some(&self.open).filter(|open| open.count == self.per_batch);
        let full: Vec<f64> = self
            .full
            .iter()
            .chain(open)
            .map(|batch| batch.sum / batch.count as f64)
            .collect();
        let group = (full.len() / 20).max(1);
        let grouped: Vec<f64> = full
            .chunks_exact(group)
            .map(|chunk| chunk.iter().sum::<f64>() / group as f64)
            .collect();
        (grouped.len() >= Self::LEAST).then(|| Interval::of(&grouped))
    }
}

impl Default for BatchMeans {
    fn default() -> Self {
        Self::new()
    }
}

/// The integral of a whole number over time: a queue's length, I/Os in flight.
#[derive(Clone, Debug, Default)]
pub struct TimeWeighted {
    level: u64,
    since: Time,
    area: u128,
}

impl TimeWeighted {
    /// Changes the level by `delta` at `now`.
    #[inline]
    pub fn change(&mut self, now: Time, delta: i64) {
        self.area += u128::from(self.level) * u128::from(now.since(self.since).0);
        self.since = now;
        self.level = self.level.wrapping_add_signed(delta);
    }

    /// The level now.
    pub fn level(&self) -> u64 {
        self.level
    }

    /// The integral up to `now`, in units times nanoseconds.
    pub fn area(&self, now: Time) -> u128 {
        self.area + u128::from(self.level) * u128::from(now.since(self.since).0)
    }

    /// Starts the integral at zero; the level stays.
    pub fn restart(&mut self, now: Time) {
        self.area = 0;
        self.since = now;
    }

    /// The mean level over `span` up to `now`.
    pub fn mean(&self, now: Time, span: Nanos) -> f64 {
        if span == Nanos::ZERO {
            return self.level as f64;
        }
        self.area(now) as f64 / span.0 as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stream;

    #[test]
    fn students_t_matches_tables_beyond_the_table() {
        for (degrees, table) in [(31, 2.040), (60, 2.000), (120, 1.980)] {
            assert!((student_t_975(degrees) - table).abs() < 0.001);
        }
    }

    #[test]
    fn queue_length_is_weighted_by_time() {
        let mut queue = TimeWeighted::default();
        queue.change(Time(0), 1);
        queue.change(Time(10), 2);
        queue.change(Time(20), -3);
        assert_eq!(queue.area(Time(40)), 40);
        assert_eq!(queue.mean(Time(40), Nanos(40)), 1.0);
    }

    #[test]
    fn a_handful_of_samples_has_no_interval() {
        let mut batches = BatchMeans::new();
        (1..10).for_each(|sample| batches.record(f64::from(sample)));
        assert_eq!(batches.interval(), None);
        batches.record(10.0);
        assert_eq!(batches.interval().map(|found| found.mean), Some(5.5));
    }

    /// Ninety-five in a hundred intervals cover the mean, for a correlated sequence.
    #[test]
    fn intervals_cover_the_mean_of_a_correlated_sequence() {
        let mut covered = 0;
        for seed in 0..400 {
            let mut stream = Stream::new(seed, "test", "ar1");
            let mut batches = BatchMeans::new();
            let mut x = 0.0;
            for _ in 0..20_000 {
                x = 0.9 * x + stream.unit() - 0.5;
                batches.record(x);
            }
            covered += usize::from(batches.interval().unwrap().holds(0.0));
        }
        // Binomial with p = 0.95: 380 expected, standard deviation 4.4; batch means with
        // this correlation lose about one percent.
        assert!((362..=396).contains(&covered), "{covered} of 400");
    }
}
