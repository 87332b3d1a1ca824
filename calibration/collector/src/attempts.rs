//! What is recorded of steps that are measured more than once.

use serde::{Deserialize, Serialize};

/// One run of a step that was measured several times for its noise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// I/Os a second.
    pub iops: f64,
    /// What was too much, in words; empty if nothing was.
    pub noisy: Vec<String>,
}

/// The rates of a step over its rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The stage.
    pub stage: String,
    /// The step.
    pub step: String,
    /// How often it was measured.
    pub runs: usize,
    /// Mean rate in I/Os a second.
    pub iops_mean: f64,
    /// Standard deviation of the rate as a share of the mean.
    pub iops_deviation: f64,
    /// Least rate.
    pub iops_min: f64,
    /// Greatest rate.
    pub iops_max: f64,
}
