//! A backlog without end: an open load asks for more than the system serves, until no memory is
//! left.

use crate::plan::Arrival;
use crate::run::system::{Failure, System};

use raidlab_io::Io;

/// Bytes that an I/O in flight takes: its record, twice while the table of records grows, and its
/// places in queues.
const BYTES_OF_EACH: u64 = 4 * size_of::<Io>() as u64;
/// The part of a plan's memory that I/Os in flight may take: several runs are under way at once.
const PART_OF_MEMORY: u64 = 8;

impl System {
    /// Ends the run if its I/Os take more memory than the plan allows; called at intervals, counted
    /// in events.
    #[cold]
    pub(crate) fn look_at_backlog(&mut self) {
        let backlog = self.layers.path.ios.in_use() as u64;
        let limit = self.memory_bytes / PART_OF_MEMORY;
        if self.memory_bytes == 0 || backlog.saturating_mul(BYTES_OF_EACH) <= limit {
            return;
        }
        let rate = |arrival: &Arrival| arrival.per_s().unwrap_or(0.0);
        let loads = self.layers.loads.records().workloads().entries();
        let fastest = loads.max_by(|(_, a), (_, b)| rate(&a.arrival).total_cmp(&rate(&b.arrival)));
        self.failed = fastest.map(|(load, _)| Failure::Backlog(load));
    }
}
