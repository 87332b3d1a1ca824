//! Where the copies of level 10 lie, in the plan.

use schemars::JsonSchema;
use serde::Deserialize;

/// How copies of level 10 lie on the drives, by the words of Linux md.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Arrangement {
    /// One after the other over the drives.
    Near,
    /// In parts of the drives that lie far from each other.
    Far,
    /// In the row behind, one drive on.
    Offset,
}

/// The copies of level 10.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct CopiesPlan {
    /// How they lie.
    pub arrangement: Arrangement,
    /// How many there are, the first included.
    pub copies: u32,
}
