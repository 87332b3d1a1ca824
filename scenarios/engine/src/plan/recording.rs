//! What makes a warm-up or a recording longer than its length says.

use raidlab_kernel::Nanos;
use schemars::JsonSchema;
use serde::Deserialize;

/// When the memory of a controller counts as filling, and for how long the warm-up waits for that.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Filling {
    /// Share of what loads write in a recording that may stay in a memory.
    pub share: f64,
    /// What is recorded beyond this time is the result, full or not.
    pub most_ns: Nanos,
}

/// How far a recording of `max_ios` goes on that has not seen the I/Os that wait for long.
///
/// In a closed load rate times mean latency is what is outstanding (Little's law). A recording that
/// ends before I/Os that wait for longer have ended misses these.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Balance {
    /// Share of what is outstanding by which rate times mean latency may differ from it.
    pub share: f64,
    /// Recorded I/Os that end the recording, in balance or not.
    pub most_ios: u64,
}
