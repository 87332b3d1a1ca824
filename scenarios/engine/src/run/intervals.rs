//! Latencies and their 95 % intervals, in microseconds.

use raidlab_kernel::{Batches, Distribution, Histogram, Nanos, Side};
use serde::{Serialize, Serializer};

/// Lower and upper end; none where too little was recorded to say.
pub type Ends = [Option<f64>; 2];

/// Percentiles of every result: key and share of the I/Os.
const PERCENTILES: [(&str, f64); 6] = [
    ("p50", 0.5),
    ("p90", 0.9),
    ("p95", 0.95),
    ("p99", 0.99),
    ("p99_9", 0.999),
    ("p99_99", 0.9999),
];

/// Latency statistics in microseconds.
#[derive(Clone, Debug, Serialize)]
pub struct Latency {
    min: f64,
    mean: f64,
    stddev: f64,
    p50: f64,
    p90: f64,
    p95: f64,
    p99: f64,
    p99_9: f64,
    p99_99: f64,
    max: f64,
}

impl Latency {
    /// Those of a histogram; none if it counts nothing.
    pub fn of(histogram: &Histogram) -> Option<Latency> {
        let distribution = histogram.distribution();
        let at = |percent| distribution.percentile(percent).map(Nanos::micros);
        Some(Latency {
            min: histogram.min()?.micros(),
            mean: histogram.mean()? / 1e3,
            stddev: histogram.deviation()? / 1e3,
            p50: at(50.0)?,
            p90: at(90.0)?,
            p95: at(95.0)?,
            p99: at(99.0)?,
            p99_9: at(99.9)?,
            p99_99: at(99.99)?,
            max: histogram.max()?.micros(),
        })
    }
}

/// What a run knows of the error of its latencies.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LatencyIntervals {
    /// By the keys of [`Latency`]; extremes and deviation have none.
    #[serde(serialize_with = "as_map")]
    pub latency_ci95_us: Vec<(&'static str, Ends)>,
    /// The 95 % interval of each percentile's rank, its longer side, as a share of the I/Os.
    #[serde(serialize_with = "as_map")]
    pub rank_half_widths: Vec<(&'static str, Option<f64>)>,
}

impl LatencyIntervals {
    /// Those of one side's latencies, all of which `histogram` counts.
    ///
    /// A percentile's interval is that of its rank, read off the distribution (Woodruff,
    /// Confidence intervals for medians and other position measures, 1952). It holds the
    /// percentile itself, which stands for its bucket.
    pub fn of(batches: &Batches, side: Side, histogram: &Histogram) -> LatencyIntervals {
        let mean = batches.latency(side).map(|found| {
            let ends = [found.mean - found.half, found.mean + found.half];
            ends.map(|end| Some(end.max(0.0) / 1e3))
        });
        let unknown = [None; 2];
        let mut ends = vec![
            ("min", unknown),
            ("mean", mean.unwrap_or(unknown)),
            ("stddev", unknown),
        ];
        let mut ranks = Vec::new();
        let distribution = histogram.distribution();
        for (key, share) in PERCENTILES {
            let rank = batches.rank(side, share);
            let rank = rank.filter(|rank| rank.above.is_finite() && rank.below.is_finite());
            ranks.push((key, rank.map(|rank| rank.below.max(rank.above))));
            let own = distribution.percentile(100.0 * share).map(Nanos::float);
            let found = rank.zip(own);
            let interval = found.map(|(rank, own)| {
                rank_ends(&distribution, [share - rank.below, share + rank.above], own)
            });
            ends.push((key, interval.unwrap_or(unknown)));
        }
        ends.push(("max", unknown));
        LatencyIntervals {
            latency_ci95_us: ends,
            rank_half_widths: ranks,
        }
    }

    /// The interval of one of the latencies.
    pub fn get(&self, key: &str) -> Ends {
        let mut all = self.latency_ci95_us.iter();
        all.find(|each| each.0 == key)
            .map_or([None; 2], |each| each.1)
    }
}

/// Ends around `own` nanoseconds from ranks; where the upper rank lies beyond all I/Os, nobody
/// knows how far the tail goes.
fn rank_ends(distribution: &Distribution, [lower, upper]: [f64; 2], own: f64) -> Ends {
    let at = |rank: f64| distribution.quantile(rank.max(0.0));
    let low = at(lower).map(|low| low.min(own) / 1e3);
    let high = at(upper).filter(|_| upper < 1.0);
    [low, high.map(|high| high.max(own) / 1e3)]
}

/// Pairs as an object, in their order.
pub fn as_map<V: Serialize, S: Serializer>(
    pairs: &[(&'static str, V)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(key, value)| (key, value)))
}
