//! What a run records beyond rates, latencies and their parts.

use raidlab_kernel::Nanos;
use schemars::JsonSchema;
use serde::Deserialize;

/// I/Os whose stages a run records at most: about 100 MB.
pub const TRACED_IOS: u32 = 10_000;

/// I/Os that a list of the slowest ones has at most.
pub const SLOWEST_IOS: u32 = 10_000;

/// What a run records when it is asked for.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Details {
    /// The number of I/Os, of all workloads together, whose stages are recorded after the warm-up.
    #[serde(default)]
    pub trace_ios: u32,
    /// The first ones that are issued at this time or later, if it is behind the warm-up.
    #[serde(default)]
    pub trace_from_ns: Nanos,
    /// The number of the slowest I/Os of each workload that are listed.
    #[serde(default)]
    pub slowest: u32,
    /// Latencies of each workload over time.
    #[serde(default)]
    pub latency_map: bool,
}
