//! Flushes on their path to a drive, as Linux's block layer sends them (block/blk-flush.c).
//!
//! A drive without a volatile cache gets none. SATA has no queued flush: all commands at the drive
//! end first, and none goes there until it is done (libata-core.c, ata_std_qc_defer); flushes that
//! wait meanwhile become one. SAS and NVMe queue flushes as any other command.

use crate::plan::FlushCommand;
use raidlab_io::{Op, Queue};

/// Flushes of a drive.
#[derive(Debug, Default)]
pub(crate) struct Flushes {
    pub(crate) command: FlushCommand,
    /// Those that wait until the drive is empty.
    pub(crate) waiting: Queue,
    /// Those that the one at the drive stands for.
    pub(crate) riders: Queue,
    /// One is at the drive, alone.
    pub(crate) at_drive: bool,
}

impl Flushes {
    /// Of a drive that takes flushes so.
    pub(crate) fn new(command: FlushCommand) -> Flushes {
        Flushes {
            command,
            ..Flushes::default()
        }
    }

    /// True if the drive gets flushes at all.
    pub(crate) fn are_sent(&self) -> bool {
        self.command != FlushCommand::Dropped
    }

    /// True of a flush that must be alone at its drive.
    #[inline]
    pub(crate) fn go_alone(&self, op: Op) -> bool {
        op == Op::Flush && self.command == FlushCommand::Alone
    }

    /// True if other commands wait.
    #[inline]
    pub(crate) fn stop_others(&self) -> bool {
        self.at_drive || !self.waiting.is_empty()
    }
}
