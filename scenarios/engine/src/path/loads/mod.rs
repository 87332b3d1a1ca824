//! Loads and the host's CPU: who issues I/Os, and what is recorded of them.

pub(crate) mod completion;
pub(crate) mod outage;
pub(crate) mod outside;
pub(crate) mod submission;

use crate::path::loads::outside::OutsideRecord;
use crate::state::records::{Tally, Workload};
use raidlab_kernel::{Queue, Time};
use raidlab_models::Host;

/// The loads of a system and the threads that they run on.
pub(crate) struct Loads {
    pub(crate) host: Host,
    /// Completions that wait for their thread to get a core.
    pub(crate) signalled: Vec<Queue>,
    /// Open arrivals that do.
    pub(crate) arrived: Vec<Queue>,
    /// When the host looks for a free core; never if no thread waits.
    pub(crate) core_look: Time,
    pub(crate) workloads: Vec<Workload>,
    /// What is recorded of I/Os of an outside caller.
    pub(crate) outside: OutsideRecord,
    pub(crate) tally: Tally,
    pub(crate) recorded: u64,
    /// Whether more arrived than was answered, or less, while it was recorded.
    pub(crate) backlog_changed: bool,
    /// Loads that have an end and have not come to it.
    pub(crate) ending: u32,
    /// When the last of them did.
    pub(crate) over: Option<Time>,
    /// By command of a page cache: its workload.
    pub(crate) page_commands: Vec<u32>,
    /// Entries of the log that begin a period in the loads' records.
    pub(crate) noted: usize,
}
