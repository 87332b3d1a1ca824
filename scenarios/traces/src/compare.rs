//! Simulated response times beside measured ones, counted as they come.

use schemars::JsonSchema;
use serde::Serialize;

/// Edges of the buckets in microseconds: 1 us wide at first, then 1 % of the edge and 1 us more;
/// those with which the figure of merit of disk models is judged (Ruemmler and Wilkes 1994).
const EDGES: usize = 1750;

/// Two distributions in the same buckets.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Comparison {
    /// Requests with a measured response time.
    pub requests: u64,
    /// Sum of their simulated response times.
    pub simulated_sum_us: f64,
    /// Sum of the measured ones.
    pub measured_sum_us: f64,
    /// How many simulated ones lie from each edge to the next.
    pub simulated: Vec<u64>,
    /// How many measured ones do.
    pub measured: Vec<u64>,
    /// Where the buckets begin, in microseconds.
    pub edges: Vec<u64>,
}

impl Default for Comparison {
    fn default() -> Comparison {
        let next = |edge: &u64| Some(edge + 1 + edge / 100);
        Comparison {
            requests: 0,
            simulated_sum_us: 0.0,
            measured_sum_us: 0.0,
            simulated: vec![0; EDGES],
            measured: vec![0; EDGES],
            edges: std::iter::successors(Some(0), next).take(EDGES).collect(),
        }
    }
}

impl Comparison {
    /// Counts a request.
    pub fn add(&mut self, simulated_us: f64, measured_us: f64) {
        self.requests += 1;
        self.simulated_sum_us += simulated_us;
        self.measured_sum_us += measured_us;
        let bucket = |us: f64| self.edges.partition_point(|&edge| edge <= us as u64) - 1;
        let (simulated, measured) = (bucket(simulated_us), bucket(measured_us));
        self.simulated[simulated] += 1;
        self.measured[measured] += 1;
    }
}
