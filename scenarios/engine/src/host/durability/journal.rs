//! The journal of a file system: which transaction a file's changes are in, and what a commit writes.
//!
//! A write changes the times of its file once in a tick; one that lengthens it or has blocks
//! allocated changes more. Both belong to the transaction that runs then. One transaction is
//! committed at a time, and what changes meanwhile belongs to the next one, whose commit begins
//! with the end of this one: all who wait for it share it (group commit).
//!
//! ext4 (fs/ext4/fsync.c, fs/jbd2/commit.c): the blocks of the transaction, wait, a flush, the
//! commit block, a flush. XFS (fs/xfs/xfs_file.c, xfs_log.c): a flush, a log record, a flush. Where
//! the drives take FUA, block or record carries it instead of the last flush. See
//! docs/explanation/sync-writes.md.

use crate::ids::FileId;
use crate::plan::{FileSystemPlan, JournalKind};
use raidlab_io::{ByteRange, IoId};
use raidlab_kernel::{Table, Time};

/// Bytes of a block of the file system.
pub(crate) const BLOCK: u64 = 4096;
/// Inodes of 256 bytes in a block.
const INODES: u64 = 16;
/// ext4: block bitmap and group descriptor, of allocations.
const ALLOCATION_BLOCKS: u64 = 2;
/// XFS: header of a log record, and an inode's share of it with its region headers.
const RECORD_HEADER: u64 = 512;
const RECORD_INODE: u64 = 400;
/// XFS: changes of the free-space trees and their headers besides.
const RECORD_ALLOCATION: u64 = 1024;

/// What a commit does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Blocks of the transaction are written.
    Body,
    /// The drives' caches are flushed: data and blocks are on the medium.
    Barrier,
    /// The block or record is written without which the transaction does not count.
    Record,
    /// And flushed.
    Last,
}

/// What a phase asks of the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// These bytes are written.
    Write(ByteRange),
    /// They are written with FUA.
    Forced(ByteRange),
    /// The drives' caches are flushed.
    Flush,
    /// They are flushed behind a write with FUA, which the drives do not take.
    FlushBehind,
}

/// A transaction that is being committed.
#[derive(Debug)]
struct Commit {
    phase: Phase,
    blocks: u64,
    waiters: Vec<IoId>,
    /// Who came when the barrier had gone out already: their data need a flush of their own.
    late: Vec<IoId>,
}

/// What a file has in the journal: the transactions of its last changes, 0 for none.
#[derive(Clone, Copy, Debug, Default)]
struct File {
    /// One more than the last tick in which its times changed.
    tick: u64,
    times: u64,
    data: u64,
}

/// What a caller has to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// A commit: it begins now.
    Begins,
    /// One that is under way, or the next one.
    Commit,
    /// A flush: there is nothing to commit.
    Flush,
}

/// The journal of a file system.
#[derive(Debug)]
pub(crate) struct Journal {
    pub(crate) plan: FileSystemPlan,
    /// Bytes from its start where the next commit writes.
    cursor: u64,
    /// The number of the transaction that runs, from 1.
    running: u64,
    /// When it began, and the one before it.
    began: [Time; 2],
    commit: Option<Commit>,
    /// Who waits for the running transaction.
    waiting: Vec<IoId>,
    /// Files in it, and whether blocks were allocated.
    inodes: u64,
    allocated: bool,
    files: Table<FileId, File>,
}

impl Journal {
    /// An empty journal of `files` files.
    pub(crate) fn new(plan: FileSystemPlan, files: usize) -> Journal {
        Journal {
            plan,
            cursor: 0,
            running: 1,
            began: [Time::ZERO; 2],
            commit: None,
            waiting: Vec::new(),
            inodes: 0,
            allocated: false,
            files: vec![File::default(); files].into(),
        }
    }

    /// A file is written at `at`, which may lie some time back.
    pub(crate) fn write(&mut self, file: FileId, at: Time, allocates: bool) {
        let tick = at.0 / self.plan.tick_ns.0.max(1) + 1;
        let number = match self.began {
            [now, _] if at >= now => self.running,
            [_, before] if at >= before => self.running - 1,
            _ => self.running.saturating_sub(2),
        };
        let file = &mut self.files[file];
        if file.tick == tick && !allocates {
            return;
        }
        let fresh = file.times.max(file.data) < number;
        (file.tick, file.times) = (tick, file.times.max(number));
        if allocates {
            file.data = file.data.max(number);
        }
        if number == self.running {
            self.inodes += u64::from(fresh);
            self.allocated |= allocates;
        }
    }

    /// A caller wants a file durable; with `times`, those too.
    pub(crate) fn call(&mut self, call: IoId, file: FileId, times: bool) -> Wait {
        let file = self.files[file];
        let number = if times {
            file.times.max(file.data)
        } else {
            file.data
        };
        if number == self.running {
            self.waiting.push(call);
            return match self.commit {
                None => Wait::Begins,
                Some(_) => Wait::Commit,
            };
        }
        match &mut self.commit {
            Some(commit) if number + 1 == self.running => {
                match commit.phase {
                    Phase::Body => commit.waiters.push(call),
                    _ => commit.late.push(call),
                }
                Wait::Commit
            }
            _ => Wait::Flush,
        }
    }

    /// The commit of the running transaction begins; gives what it asks for first.
    pub(crate) fn begin(&mut self, now: Time) -> Ask {
        let blocks = self.blocks();
        self.commit = Some(Commit {
            phase: Phase::Body,
            blocks,
            waiters: std::mem::take(&mut self.waiting),
            late: Vec::new(),
        });
        self.began = [now, self.began[0]];
        self.running += 1;
        (self.inodes, self.allocated) = (0, false);
        match self.plan.journal {
            JournalKind::Ext4 => self.write_on(blocks + u64::from(self.plan.async_commit)),
            JournalKind::Xfs => self.enter(Phase::Barrier),
        }
    }

    /// The commit goes on; none if it is done.
    pub(crate) fn go_on(&mut self) -> Option<Ask> {
        let phase = self.commit.as_ref()?.phase;
        match phase {
            Phase::Body if self.plan.async_commit => self.last(),
            Phase::Body => Some(self.enter(Phase::Barrier)),
            Phase::Barrier => Some(self.enter(Phase::Record)),
            Phase::Record => self.last(),
            Phase::Last => None,
        }
    }

    /// The commit is done: who waited for it, and who needs a flush besides.
    pub(crate) fn end(&mut self) -> (Vec<IoId>, Vec<IoId>) {
        match self.commit.take() {
            Some(commit) => (commit.waiters, commit.late),
            None => (Vec::new(), Vec::new()),
        }
    }

    /// Who waits for the commit that is under way.
    pub(crate) fn waiters(&self) -> impl Iterator<Item = IoId> {
        let commit = self.commit.iter();
        commit.flat_map(|commit| commit.waiters.iter().chain(&commit.late).copied())
    }

    /// True if somebody waits for the running transaction.
    pub(crate) fn is_wanted(&self) -> bool {
        !self.waiting.is_empty()
    }

    fn last(&mut self) -> Option<Ask> {
        let flushes = self.plan.flushes && !self.forces_record();
        flushes.then(|| self.enter(Phase::Last))
    }

    /// Whether the record carries FUA; one that goes out beside its transaction does not.
    fn forces_record(&self) -> bool {
        self.plan.flushes && self.plan.fua && !self.plan.async_commit
    }

    fn enter(&mut self, phase: Phase) -> Ask {
        let blocks = match &mut self.commit {
            Some(commit) => {
                commit.phase = phase;
                commit.blocks
            }
            None => 0,
        };
        match (phase, self.plan.journal) {
            (Phase::Barrier, _) if !self.plan.flushes => self.enter(Phase::Record),
            (Phase::Last, _) if !self.plan.async_commit => Ask::FlushBehind,
            (Phase::Barrier | Phase::Last, _) => Ask::Flush,
            (_, JournalKind::Ext4) => self.write_record(1),
            (_, JournalKind::Xfs) => self.write_record(blocks),
        }
    }

    fn write_record(&mut self, blocks: u64) -> Ask {
        match self.write_on(blocks) {
            Ask::Write(range) if self.forces_record() => Ask::Forced(range),
            ask => ask,
        }
    }

    /// The next blocks of the journal; at its end it goes on at its start.
    fn write_on(&mut self, blocks: u64) -> Ask {
        let bytes = (blocks * BLOCK).min(self.plan.bytes);
        if self.cursor + bytes > self.plan.bytes {
            self.cursor = 0;
        }
        let at = self.plan.start_bytes + self.cursor;
        self.cursor += bytes;
        Ask::Write(ByteRange::new(at, bytes))
    }

    /// Blocks of the running transaction: descriptor and metadata, or the log record.
    fn blocks(&self) -> u64 {
        let inodes = self.inodes.max(1);
        match self.plan.journal {
            JournalKind::Ext4 => {
                1 + inodes.div_ceil(INODES) + u64::from(self.allocated) * ALLOCATION_BLOCKS
            }
            JournalKind::Xfs => {
                let allocation = u64::from(self.allocated) * RECORD_ALLOCATION;
                (RECORD_HEADER + inodes * RECORD_INODE + allocation).div_ceil(BLOCK)
            }
        }
    }
}

#[cfg(test)]
mod tests;
