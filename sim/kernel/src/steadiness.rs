//! Whether what was recorded had a steady state, and where that begins.

use crate::Estimate;

/// Steps below which nothing is said.
const FEW: usize = 20;

/// Steps that are looked at; more are put together.
const STEPS: usize = 100;

/// Steps at the end whose scatter says nothing yet.
const LAST: usize = 5;

/// A change of the mean that matters to nobody.
const SLIGHT: f64 = 0.01;

/// The number of steps, from the first one on, whose mean does not belong to the steady state.
///
/// MSER: the cut that minimises the squared standard error of what is left, `sum (x - mean)^2 / n^2`
/// (White, An effective truncation heuristic for bias reduction in simulation output, Simulation
/// 69, 1997; with steps of several observations MSER-5, White, Cobb and Spratt, WSC 2000).
pub fn steady_from(values: &[f64]) -> usize {
    let (mut best, mut cut) = (f64::INFINITY, 0);
    let (mut n, mut mean, mut squares) = (0.0, 0.0, 0.0);
    for (at, value) in values.iter().enumerate().rev() {
        n += 1.0;
        let off = value - mean;
        mean += off / n;
        squares += off * (value - mean);
        let error = squares / n / n;
        if values.len() - at >= LAST && error <= best {
            (best, cut) = (error, at);
        }
    }
    cut
}

/// Half widths of the 95 % interval by which the two sides of a cut differ where they differ for
/// certain. The cut is chosen among many, so one half width would be exceeded by chance.
const CERTAIN: f64 = 1.5;

/// Whether a ratio `sum(y) / sum(n)`, of pairs `(y, n)` step by step, is that of a steady state;
/// none if steps are too few to say.
///
/// It is not, if the steps before the cut of [`steady_from`] change it by more than 1 %, and if
/// they differ from those behind it for certain.
pub fn is_steady(steps: &[(f64, f64)]) -> Option<bool> {
    let known: Vec<_> = steps.iter().copied().filter(|pair| pair.1 > 0.0).collect();
    if known.len() < FEW {
        return None;
    }
    let together = known.len().div_ceil(STEPS);
    let merged: Vec<_> = known.chunks(together).map(sum).collect();
    let values: Vec<f64> = merged.iter().map(|(y, n)| y / n).collect();
    let (before, behind) = merged.split_at(steady_from(&values));
    let (all, steady) = (sum(&merged), sum(behind));
    let (mean, settled) = (all.0 / all.1, steady.0 / steady.1);
    let slight = (mean - settled).abs() <= SLIGHT * settled.abs();
    Some(slight || !differ(before, behind))
}

/// Whether the ratios of two sides of a cut differ for certain.
///
/// Both have the error of a step that the less even side shows. A side whose steps are too few, or
/// too much alike one after the other, shows none; if neither does, something still changes.
fn differ(before: &[(f64, f64)], behind: &[(f64, f64)]) -> bool {
    let root = |side: &[(f64, f64)]| (side.len() as f64).sqrt();
    let shown = [before, behind].map(|side| {
        let found = Estimate::of_ratio(side)?;
        Some(found.half * root(side))
    });
    let Some(step) = shown.into_iter().flatten().reduce(f64::max) else {
        return true;
    };
    let (first, second) = (sum(before), sum(behind));
    let change = (first.0 / first.1 - second.0 / second.1).abs();
    let half = step * (1.0 / before.len() as f64 + 1.0 / behind.len() as f64).sqrt();
    change > CERTAIN * half
}

fn sum(pairs: &[(f64, f64)]) -> (f64, f64) {
    pairs
        .iter()
        .fold((0.0, 0.0), |(y, n), pair| (y + pair.0, n + pair.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Nanos, Stream};

    fn pairs(values: &[f64]) -> Vec<(f64, f64)> {
        values.iter().map(|&value| (value, 1.0)).collect()
    }

    /// By hand: behind the cut of 9, 9, 1, 1, 1 ... the error is zero; without a cut, or in front
    /// of it, it is not.
    #[test]
    fn the_cut_is_where_the_transient_ends() {
        let mut values = vec![1.0; 30];
        assert_eq!(steady_from(&values), 0);
        (values[0], values[1]) = (9.0, 9.0);
        assert_eq!(steady_from(&values), 2);
        let rising: Vec<f64> = (0..30).map(f64::from).collect();
        assert_eq!(steady_from(&rising), 30 - LAST);
    }

    #[test]
    fn ramps_and_steps_are_not_steady() {
        let rising: Vec<f64> = (0..30).map(|i| 100.0 + f64::from(i)).collect();
        assert_eq!(is_steady(&pairs(&rising)), Some(false));
        let mut fallen = vec![3000.0; 12];
        fallen.extend([200.0; 38]);
        assert_eq!(is_steady(&pairs(&fallen)), Some(false));
        let mut late = vec![3000.0; 45];
        late.extend([200.0; 5]);
        assert_eq!(is_steady(&pairs(&late)), Some(false));
        let slight: Vec<f64> = (0..30).map(|i| 100.0 + 0.01 * f64::from(i)).collect();
        assert_eq!(is_steady(&pairs(&slight)), Some(true));
        assert_eq!(is_steady(&pairs(&rising[..19])), None);
    }

    /// Of 1000 runs in a steady state, steps of `ios` I/Os whose times go on by `correlation` from
    /// step to step: how many look unsteady.
    fn false_alarms(ios: usize, correlation: f64, steps: usize) -> usize {
        (0..1000)
            .filter(|&seed| {
                let mut stream = Stream::new(seed, "test", "steps");
                let mut slow = 0.0;
                let mut step = || {
                    let sum: u64 = (0..ios).map(|_| stream.exponential(Nanos(1000)).0).sum();
                    let mean = sum as f64 / ios as f64;
                    slow = correlation * slow + mean - 1000.0;
                    1000.0 + slow
                };
                let values: Vec<f64> = (0..50 + steps).map(|_| step()).collect();
                is_steady(&pairs(&values[50..])) == Some(false)
            })
            .count()
    }

    #[test]
    fn noise_is_steady() {
        for (ios, correlation) in [(24, 0.0), (4, 0.0), (24, 0.5)] {
            for steps in [25, 42, 100] {
                let found = false_alarms(ios, correlation, steps);
                assert!(found < 50, "{ios} {correlation} {steps}: {found}");
            }
        }
    }

    /// Noise about a level that is higher, or lower, in a part of the steps.
    fn seen(at: std::ops::Range<usize>, change: f64) -> usize {
        (0..1000)
            .filter(|&seed| {
                let mut stream = Stream::new(seed, "test", "steps");
                let values: Vec<f64> = (0..50)
                    .map(|step| {
                        let sum: u64 = (0..24).map(|_| stream.exponential(Nanos(1000)).0).sum();
                        sum as f64 / 24e3 + if at.contains(&step) { change } else { 0.0 }
                    })
                    .collect();
                is_steady(&pairs(&values)) == Some(false)
            })
            .count()
    }

    /// A step of the noise has a standard deviation of 0.2: of the first three steps' mean 0.12.
    #[test]
    fn changes_are_seen_in_noise() {
        for (at, change, least) in [(0..3, 1.0, 800), (0..10, 0.5, 650)] {
            let found = seen(at.clone(), change);
            assert!(found > least, "{at:?} {change}: {found}");
        }
    }
}
