//! What dies do: jobs, and sums over them.

use crate::ssd::ids::SetInBlock;
use raidlab_kernel::Nanos;

/// What a die does other than host reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Job {
    /// Programs a page set; `host_units` of it leave the write buffer.
    Program {
        set: SetInBlock,
        host_units: u32,
        host: bool,
        sequence: u32,
    },
    /// Reads a page set to move `units` of it.
    CollectRead { set: SetInBlock, units: u32 },
    /// Programs parity over other dies.
    Parity { set: SetInBlock },
    /// Programs changed pages of the map.
    Map { set: SetInBlock },
    /// Erases a block.
    Erase,
}

impl Job {
    /// True if the job needs data from the channel and then programs them.
    pub(super) fn programs(self) -> bool {
        matches!(
            self,
            Job::Program { .. } | Job::Parity { .. } | Job::Map { .. }
        )
    }

    /// True if a host read may interrupt it, on a die that can do that.
    pub(super) fn can_be_suspended(self) -> bool {
        !matches!(self, Job::CollectRead { .. })
    }

    /// True for work that garbage collection causes.
    pub(crate) fn is_collection(self) -> bool {
        matches!(
            self,
            Job::CollectRead { .. } | Job::Erase | Job::Program { host: false, .. }
        )
    }
}

/// Die time of all jobs so far, for the attribution of waiting.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Work {
    pub(crate) collection: Nanos,
    pub(crate) all: Nanos,
}

/// Stretch of operations at full speed, in 256ths of their time.
pub(crate) const UNTHROTTLED: u64 = 256;

/// Operations so far, for energy.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Operations {
    pub(crate) reads: u64,
    pub(crate) programs: u64,
    /// Those of them into the SLC cache.
    pub(crate) slc_programs: u64,
    pub(crate) erases: u64,
    /// Over the channels.
    pub(crate) transferred_bytes: u64,
    /// Of the host's reads and writes.
    pub(crate) host_bytes: u64,
}
