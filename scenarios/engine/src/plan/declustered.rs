//! Declustered RAID in the plan.

use schemars::JsonSchema;
use serde::Deserialize;

/// Stripes of levels 5 and 6 that are spread over more drives than one of them is wide.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct DeclusteredPlan {
    /// Drives of a stripe, those of its parities included.
    pub width: u32,
    /// Drives' worth of spare space, spread over all drives.
    pub spares: u32,
    /// Bytes of a drive that lie one behind the other before the layout goes on elsewhere.
    pub chunk_bytes: u64,
}
