//! Arrivals over time, and how far they come in bursts.
//!
//! The index of dispersion for counts of a window is the variance of the numbers of arrivals in
//! such windows over their mean: 1 for a Poisson stream at every length, growing with the length
//! where bursts last. Of a self-similar stream it grows as the power 2 H - 1 of the length, with H
//! the Hurst parameter (Leland et al., On the self-similar nature of Ethernet traffic, 1994).

use raidlab_kernel::Nanos;
use schemars::JsonSchema;
use serde::Serialize;

/// The shortest window is 2^20 ns, 1.05 ms; each level's is twice as long.
const SHORTEST: u32 = 20;
const LEVELS: usize = 40;
/// Windows from which on a variance says something.
const LEAST: u64 = 32;
/// Steps of the rate over time at the most.
const STEPS: usize = 512;
/// The window of the figure that stands for all: 2^30 ns, 1.07 s.
const USUAL: usize = 10;

#[derive(Clone, Copy, Default)]
struct Level {
    /// The window that is open, and what arrived in it.
    window: u64,
    count: u64,
    /// Sums over the windows that are closed.
    sum: f64,
    squares: f64,
}

/// Counts in windows of all lengths.
pub struct Arrivals {
    levels: [Level; LEVELS],
    arrivals: u64,
    last: u64,
    gaps: f64,
    squared_gaps: f64,
    /// Requests and bytes by step.
    steps: Vec<[u64; 2]>,
    step_bits: u32,
}

impl Default for Arrivals {
    fn default() -> Arrivals {
        Arrivals {
            levels: [Level::default(); LEVELS],
            arrivals: 0,
            last: 0,
            gaps: 0.0,
            squared_gaps: 0.0,
            steps: vec![[0; 2]; STEPS],
            step_bits: SHORTEST,
        }
    }
}

/// What is reported of arrivals.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Summary {
    /// From the first to the last, in seconds.
    pub seconds: f64,
    /// Mean rate.
    pub rate_per_s: f64,
    /// The highest rate of a second.
    pub peak_per_s: f64,
    /// Squared coefficient of variation of the gaps between arrivals: 1 for a Poisson stream.
    pub gap_cv2: Option<f64>,
    /// Index of dispersion for windows of 1.07 s, or the longest that says something.
    pub dispersion: Option<f64>,
    /// Length of windows in seconds, and their index of dispersion.
    pub dispersion_by_window: Vec<(f64, f64)>,
    /// Hurst parameter by the growth of the index with the length; none if windows are too few.
    pub hurst: Option<f64>,
    /// Ends of the steps of the rate over time, in seconds.
    pub t_s: Vec<f64>,
    /// Requests a second in each.
    pub iops: Vec<f64>,
    /// MB (10^6) a second in each.
    pub mb_per_s: Vec<f64>,
}

impl Arrivals {
    /// Counts an arrival, not before the one before it.
    pub(super) fn add(&mut self, at: Nanos, bytes: u64) {
        let now = at.0.max(self.last);
        if self.arrivals > 0 {
            let gap = (now - self.last) as f64;
            self.gaps += gap;
            self.squared_gaps += gap * gap;
        }
        self.arrivals += 1;
        self.last = now;
        let mut carried = 0;
        for (bits, level) in (SHORTEST..).zip(&mut self.levels) {
            level.count += carried;
            let window = now >> bits;
            if window == level.window {
                carried = 0;
                break;
            }
            level.window = window;
            carried = std::mem::take(&mut level.count);
            level.sum += carried as f64;
            level.squares += carried as f64 * carried as f64;
        }
        let _ = carried;
        self.levels[0].count += 1;
        while now >> self.step_bits >= STEPS as u64 {
            self.coarsen();
        }
        let [requests, moved] = &mut self.steps[(now >> self.step_bits) as usize];
        *requests += 1;
        *moved += bytes;
    }

    #[cold]
    fn coarsen(&mut self) {
        self.step_bits += 1;
        for to in 0..STEPS {
            let half = |at: usize| self.steps.get(at).copied().unwrap_or_default();
            let (one, other) = (half(2 * to), half(2 * to + 1));
            self.steps[to] = [one[0] + other[0], one[1] + other[1]];
        }
    }

    /// Length in seconds and index of dispersion of each level with windows enough.
    fn dispersion(&self) -> Vec<(f64, f64)> {
        let of = |(bits, level): (u32, &Level)| {
            let windows = level.window as f64;
            if level.window < LEAST || level.sum == 0.0 {
                return None;
            }
            let mean = level.sum / windows;
            let variance = (level.squares - windows * mean * mean) / (windows - 1.0);
            Some(((1u64 << bits) as f64 / 1e9, variance / mean))
        };
        (SHORTEST..).zip(&self.levels).filter_map(of).collect()
    }

    pub(super) fn summary(&self) -> Option<Summary> {
        let seconds = self.last as f64 / 1e9;
        if self.arrivals < 2 || seconds <= 0.0 {
            return None;
        }
        let gaps = (self.arrivals - 1) as f64;
        let mean = self.gaps / gaps;
        let by_window = self.dispersion();
        let step = (1u64 << self.step_bits) as f64 / 1e9;
        let used = (self.last >> self.step_bits) as usize + 1;
        let length = |at: usize| step.min(seconds - step * at as f64).max(1e-9);
        let per_s = |what: usize, scale: f64| {
            let steps = self.steps[..used].iter().enumerate();
            steps
                .map(|(at, step)| step[what] as f64 / length(at) / scale)
                .collect::<Vec<f64>>()
        };
        let iops = per_s(0, 1.0);
        let whole = &iops[..used.max(2) - 1];
        Some(Summary {
            seconds,
            rate_per_s: gaps / seconds,
            peak_per_s: whole.iter().copied().fold(0.0, f64::max),
            gap_cv2: (mean > 0.0).then(|| (self.squared_gaps / gaps - mean * mean) / (mean * mean)),
            dispersion: by_window
                .get(USUAL)
                .or(by_window.last())
                .map(|&(_, index)| index),
            hurst: hurst(&by_window),
            dispersion_by_window: by_window,
            t_s: (0..used)
                .map(|at| (step * (at + 1) as f64).min(seconds))
                .collect(),
            mb_per_s: per_s(1, 1e6),
            iops,
        })
    }
}

/// By least squares: half of one more than the slope of log index over log length.
fn hurst(by_window: &[(f64, f64)]) -> Option<f64> {
    let points: Vec<(f64, f64)> = (by_window.iter())
        .filter(|&&(_, index)| index > 0.0)
        .map(|&(length, index)| (length.ln(), index.ln()))
        .collect();
    let count = points.len() as f64;
    if points.len() < 4 {
        return None;
    }
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let covariance: f64 = points
        .iter()
        .map(|point| (point.0 - x) * (point.1 - y))
        .sum();
    let variance: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    Some(((covariance / variance + 1.0) / 2.0).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use raidlab_kernel::Stream;

    #[test]
    fn a_poisson_stream_has_an_index_of_one_at_every_length() {
        let (mut arrivals, mut stream, mut now) =
            (Arrivals::default(), Stream::new(1, "t", "gaps"), Nanos(0));
        for _ in 0..400_000 {
            now += stream.exponential(Nanos(1_000_000));
            arrivals.add(now, 4096);
        }
        let found = arrivals.summary().unwrap();
        assert!((found.rate_per_s / 1000.0 - 1.0).abs() < 0.01);
        assert!((found.gap_cv2.unwrap() - 1.0).abs() < 0.02);
        // 372 windows of 1.07 s: five standard deviations are 5 sqrt(2 / 372).
        assert!((found.dispersion.unwrap() - 1.0).abs() < 0.37);
        assert!((found.dispersion_by_window[0].1 - 1.0).abs() < 0.02);
        assert!((found.hurst.unwrap() - 0.5).abs() < 0.1);
        let total: f64 = found.iops.iter().sum::<f64>() / found.iops.len() as f64;
        assert!((total / 1000.0 - 1.0).abs() < 0.02);
    }

    #[test]
    fn by_hand() {
        // Four arrivals in every second window of 2^20 ns: mean 2, variance 4 n / (n - 1).
        let mut arrivals = Arrivals::default();
        for window in (0..64u64).step_by(2) {
            for _ in 0..4 {
                arrivals.add(Nanos((window << 20) + 5), 512);
            }
        }
        arrivals.add(Nanos(64 << 20), 512);
        let found = arrivals.dispersion();
        assert!((found[0].1 - 4.0 * 64.0 / 63.0 / 2.0).abs() < 1e-12);
        // Windows of twice the length have four each.
        assert!(found[1].1.abs() < 1e-12);
    }
}
