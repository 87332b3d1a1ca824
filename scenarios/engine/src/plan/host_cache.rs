//! What an SSD cache in the host does otherwise than one of a controller, in the plan.

use schemars::JsonSchema;
use serde::Deserialize;

/// Of a cache of dm-cache's or bcache's kind.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct HostCachePlan {
    /// True if writes go to the array and to the line's slot, so that the line stays.
    #[serde(default)]
    pub through: bool,
    /// True if a write of a whole line that is not on the SSDs takes a slot there.
    #[serde(default)]
    pub allocates: bool,
    /// True if reads alone bring lines to the SSDs; else writes do as well.
    #[serde(default)]
    pub reads_alone_promote: bool,
    /// Bytes of a stream from which on its lines are not copied to the SSDs; 0 for no such limit.
    #[serde(default)]
    pub sequential_cutoff_bytes: u64,
}
