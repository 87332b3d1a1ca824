//! What happened during a run.

use raidlab_kernel::Time;
use serde::Serialize;

/// An entry of the log of what happened.
#[derive(Clone, Debug, Serialize)]
pub struct LogEntry {
    #[serde(skip)]
    pub(crate) at: Time,
    /// When, in seconds of simulated time.
    pub t_s: f64,
    /// What.
    pub what: String,
}
