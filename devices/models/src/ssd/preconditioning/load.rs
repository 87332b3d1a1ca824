//! A load before the run, as the plan describes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Order of a load's offsets.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum HistoryAccess {
    /// Ascending, from the start of the area, starting again at its end.
    Sequential,
    /// Uniform over the area.
    Random,
}

/// Writes before the run.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct HistoryLoad {
    /// Order of the offsets.
    pub access: HistoryAccess,
    /// First byte of the area.
    pub start_bytes: u64,
    /// Bytes of the area.
    pub area_bytes: u64,
    /// Bytes of each write.
    pub block_bytes: u64,
    /// Bytes written altogether; 0 to go on until write amplification has settled.
    pub written_bytes: u64,
    /// True if the load goes on until the run begins: what it wrote last still fills the buffer.
    /// Neighbours in a history that go on run at the same time.
    #[serde(default)]
    pub ongoing: bool,
    /// Its part of the bytes, among loads that run at the same time.
    #[serde(default = "one")]
    pub weight: u32,
    /// True if the drive then has some minutes for collection in the background.
    #[serde(default)]
    pub then_rests: bool,
}

fn one() -> u32 {
    1
}

/// The loads of a history one after the other; loads that run at the same time are one group.
pub(crate) fn groups(history: &[HistoryLoad]) -> impl DoubleEndedIterator<Item = &[HistoryLoad]> {
    history.chunk_by(|load, next| load.ongoing && next.ongoing)
}
