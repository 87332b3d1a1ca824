//! SNIA's test of steady state over the rounds of a measurement.
//!
//! Source: SNIA Solid State Storage Performance Test Specification, "Steady State": over a
//! window of rounds (5), the greatest value minus the least is at most 20 % of their average,
//! and the least-squares line through them rises or falls over the window by at most 10 % of
//! the average. The specification is made for SSDs; for hard disks it only tests that the rate is stable.

use serde::{Deserialize, Serialize};

/// What counts as steady.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Criteria {
    /// Rounds looked at together.
    pub window: usize,
    /// Greatest allowed (max - min) / average of the values.
    pub excursion: f64,
    /// Greatest allowed (max - min) / average of the fitted line.
    pub slope: f64,
}

impl Default for Criteria {
    fn default() -> Self {
        Criteria {
            window: 5,
            excursion: 0.20,
            slope: 0.10,
        }
    }
}

/// The test's outcome over one window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assessment {
    /// The values of the window, oldest first.
    pub window: Vec<f64>,
    /// Their average.
    pub average: f64,
    /// Greatest minus least value.
    pub excursion: f64,
    /// Slope of the least-squares line, per round.
    pub slope: f64,
    /// What the line rises or falls over the window.
    pub fit_excursion: f64,
    /// Both criteria hold.
    pub steady: bool,
}

/// Tests the last `criteria.window` of `values`; none as long as there are fewer.
pub fn assess(values: &[f64], criteria: Criteria) -> Option<Assessment> {
    let size = criteria.window;
    if size < 2 || values.len() < size {
        return None;
    }
    let window = &values[values.len() - size..];
    let average = window.iter().sum::<f64>() / size as f64;
    let least = window.iter().copied().fold(f64::INFINITY, f64::min);
    let most = window.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let middle = (size - 1) as f64 / 2.0;
    let (mut moment, mut squares) = (0.0, 0.0);
    for (index, value) in window.iter().enumerate() {
        let x = index as f64 - middle;
        moment += x * value;
        squares += x * x;
    }
    let slope = moment / squares;
    let excursion = most - least;
    let fit_excursion = slope.abs() * (size - 1) as f64;
    Some(Assessment {
        window: window.to_vec(),
        average,
        excursion,
        slope,
        fit_excursion,
        steady: excursion <= criteria.excursion * average
            && fit_excursion <= criteria.slope * average,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A round-off of 0.005 in each of the five printed values moves the excursion by at most
    /// 0.01, the slope by 0.003 and the fitted excursion by 0.012.
    #[test]
    fn the_published_example_comes_out() {
        let found = assess(
            &[150.0, 228.90, 240.21, 240.60, 240.71, 240.71],
            Criteria::default(),
        )
        .unwrap();
        assert_eq!(found.window.len(), 5);
        assert!((found.average - 238.23).abs() < 0.005, "{found:?}");
        assert!((found.excursion - 11.82).abs() < 0.01 + 1e-9, "{found:?}");
        assert!((found.slope - 2.41).abs() < 0.003, "{found:?}");
        assert!(
            (found.fit_excursion - 9.66).abs() <= 0.012 + 1e-9,
            "{found:?}"
        );
        assert!(found.steady);
    }

    #[test]
    fn too_few_rounds_say_nothing() {
        assert_eq!(assess(&[1.0; 4], Criteria::default()), None);
    }

    #[test]
    fn a_wide_excursion_is_not_steady() {
        // Excursion 22 of 100, no slope.
        let found = assess(&[100.0, 89.0, 100.0, 111.0, 100.0], Criteria::default()).unwrap();
        assert!(found.fit_excursion > 8.0 && found.fit_excursion < 9.0);
        assert!(!found.steady);
    }

    #[test]
    fn a_steady_fall_is_not_steady() {
        // 3 a round: 12 of 100 over the window, although the excursion of 12 is allowed.
        let found = assess(&[106.0, 103.0, 100.0, 97.0, 94.0], Criteria::default()).unwrap();
        assert!((found.slope + 3.0).abs() < 1e-12);
        assert!((found.fit_excursion - 12.0).abs() < 1e-12);
        assert!(!found.steady);
    }

    #[test]
    fn the_limits_themselves_pass() {
        let found = assess(&[105.0, 102.5, 100.0, 97.5, 95.0], Criteria::default()).unwrap();
        assert!(found.steady, "10 % exactly is allowed: {found:?}");
    }
}
