//! Latencies and their 95 % intervals, in microseconds.

use crate::run::past::SidePast;
use raidlab_kernel::{Batches, Distribution, Histogram, Nanos, PERCENTILES, Side};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// Lower and upper end; none where too little was recorded to say.
pub type Ends = [Option<f64>; 2];

/// Latency statistics in microseconds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
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
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct LatencyIntervals {
    /// By the keys of [`Latency`]; extremes and deviation have none.
    #[serde(serialize_with = "as_map")]
    #[schemars(with = "BTreeMap<String, Ends>")]
    pub latency_ci95_us: Vec<(&'static str, Ends)>,
    /// The 95 % interval of each percentile's rank, its longer side, as a share of the I/Os.
    #[serde(serialize_with = "as_map")]
    #[schemars(with = "BTreeMap<String, Option<f64>>")]
    pub rank_half_widths: Vec<(&'static str, Option<f64>)>,
    /// What of both the one past of the flash drives adds: microseconds of the mean, shares of the
    /// I/Os of percentiles. Loads that are put together share it. Empty where it adds nothing.
    #[serde(serialize_with = "as_map", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "BTreeMap<String, f64>")]
    pub past_half_widths: Vec<(&'static str, f64)>,
}

impl LatencyIntervals {
    /// Those of one side's latencies, all of which `histogram` counts.
    ///
    /// A percentile's interval is that of its rank, read off the distribution (Woodruff,
    /// Confidence intervals for medians and other position measures, 1952). It holds the
    /// percentile itself, which stands for its bucket.
    pub fn of(batches: &Batches, side: Side, histogram: &Histogram) -> LatencyIntervals {
        LatencyIntervals::with_past(batches, side, histogram, None)
    }

    /// Those intervals with what the drives' past adds: independent of what varies within the run, so
    /// squares add up.
    pub(crate) fn with_past(
        batches: &Batches,
        side: Side,
        histogram: &Histogram,
        past: Option<&SidePast>,
    ) -> LatencyIntervals {
        let mean = batches.latency(side).map(|found| {
            let half = found
                .half
                .hypot(past.map_or(0.0, |past| past.mean * found.mean));
            let ends = [found.mean - half, found.mean + half];
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
        for (at, (key, share)) in PERCENTILES.into_iter().enumerate() {
            let more = past.map_or(0.0, |past| past.ranks[at]);
            let rank = batches.rank(side, share);
            let rank = rank.filter(|rank| rank.above.is_finite() && rank.below.is_finite());
            let sides = rank.map(|rank| [rank.below, rank.above].map(|half| half.hypot(more)));
            ranks.push((key, sides.map(|[below, above]| below.max(above))));
            let own = distribution.percentile(100.0 * share).map(Nanos::float);
            let found = sides.zip(own);
            let interval = found.map(|([below, above], own)| {
                rank_ends(&distribution, [share - below, share + above], own)
            });
            ends.push((key, interval.unwrap_or(unknown)));
        }
        ends.push(("max", unknown));
        LatencyIntervals {
            latency_ci95_us: ends,
            rank_half_widths: ranks,
            past_half_widths: past.map_or_else(Vec::new, |past| {
                let mean = past.mean * histogram.mean().unwrap_or(0.0) / 1e3;
                let keys = PERCENTILES.iter().map(|each| each.0);
                std::iter::once(("mean", mean))
                    .chain(keys.zip(past.ranks))
                    .collect()
            }),
        }
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
