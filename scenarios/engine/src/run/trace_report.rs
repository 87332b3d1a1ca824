//! What a trace's load gives besides: the file, and its measured response times beside simulated
//! ones.

use crate::run::intervals::Latency;
use crate::state::traced::Traced;
use raidlab_traces::{Comparison, Scan};
use schemars::JsonSchema;
use serde::Serialize;

/// What a trace's load gives besides.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TraceReport {
    /// What the file holds.
    scan: Scan,
    /// Requests that came to their end.
    requests: u64,
    /// Sum of the response times of those that were served, in nanoseconds.
    simulated_sum_ns: u64,
    /// Simulated response times beside measured ones, if there are any.
    comparison: Option<Comparison>,
    /// Latencies that were measured.
    measured_latency_us: Option<Latency>,
    /// Requests that were complete when the last one arrived.
    served_in_time: u64,
    /// The response time of every request, if they are wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    each_ns: Option<Vec<u64>>,
}

impl TraceReport {
    pub(crate) fn of(traced: &Traced) -> TraceReport {
        let counts = traced.counts();
        let both = counts.comparison.as_deref();
        let both = both.filter(|(comparison, _)| comparison.requests > 0);
        TraceReport {
            scan: traced.scan().clone(),
            requests: counts.requests,
            simulated_sum_ns: counts.sum_ns,
            comparison: both.map(|(comparison, _)| comparison.clone()),
            measured_latency_us: both.and_then(|(_, measured)| Latency::of(measured)),
            served_in_time: counts.served_in_time,
            each_ns: counts.each_ns.clone(),
        }
    }
}
