//! The table of jobs: what each job is for, how far it is, and the data that it has while it runs.

pub(crate) mod lock;
pub(crate) mod phases;
pub(crate) mod run;
pub(crate) mod steps;
pub(crate) mod transfer;

use crate::layout::{Extent, Repair, Role, Transfer, WriteStrategy};
use raidlab_kernel::{Io, IoId, Op, Queue, Slab};
use std::ops::{Index, IndexMut};

/// No job.
pub(crate) const NO_JOB: u32 = u32::MAX;

/// What a job is for, with what only this kind of job needs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Work {
    /// Writes new data to a stripe.
    #[default]
    Write,
    /// Writes new data of a line to the line's slot of the SSD cache.
    WriteSlot(SlotRange),
    /// Recovers data of a lost drive or of unreadable sectors: it computes them from the other units
    /// or reads another copy.
    Recover,
    /// Writes a group of the cache to the drives.
    Destage(Destage),
    /// Reads into the cache.
    Fill(Fill),
    /// Reads or computes a unit of one member for a background task.
    Row(Row),
    /// Reads a group to see whether it can be read, or to compare its parity with its data, or its
    /// copies.
    Check(Check),
    /// Copies a line between an array and its SSD cache.
    Copy(LineCopy),
    /// Reads a part of a request from the SSD cache.
    Fetch(SlotRange),
    /// Moves a part of a request that bypasses the SSD cache, since the SSD cache has lost it.
    Bypass,
}

const _: () = assert!(
    size_of::<Work>() <= 32,
    "a job's work is copied in a few moves"
);

/// A range of an array (offset, bytes) and the slot of the SSD cache that holds its line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotRange {
    pub slot: u32,
    pub range: (u64, u64),
}

/// A group of the cache that leaves, and the slot that takes it if it goes to the SSD cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Destage {
    pub group: u32,
    pub slot: Option<u32>,
}

/// A range of an array (offset, bytes) that is read into the cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fill {
    pub range: (u64, u64),
    /// Requests that wait for the data.
    pub readers: Queue,
}

/// A row of a background task: one unit of a member.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// The number of the task.
    pub task: u32,
    pub row: u64,
    pub role: Role,
}

/// A group of a patrol read or of a consistency check.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Check {
    /// The number of the task.
    pub task: u32,
    pub group: u64,
    /// True if it compares what it reads, and does not only look whether it can be read.
    pub compares: bool,
    /// True if parity does not fit the data, or copies differ.
    pub differs: bool,
}

/// Where a copied line goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyTo {
    /// A hot line goes to the SSD cache.
    Cache,
    /// A dirty line goes back to the array.
    Array,
}

/// A line that is copied: its range of the array (offset, bytes) and its slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineCopy {
    pub to: CopyTo,
    pub slot: u32,
    pub range: (u64, u64),
}

impl LineCopy {
    pub fn at(&self) -> SlotRange {
        SlotRange {
            slot: self.slot,
            range: self.range,
        }
    }
}

impl Work {
    /// Whether the job writes new data, and parity with them.
    #[inline]
    pub fn is_write(&self) -> bool {
        matches!(self, Work::Write | Work::WriteSlot(_) | Work::Destage(_))
    }

    /// Whether the job moves lines or parts of them, and locks no stripe itself.
    #[inline]
    pub fn is_of_lines(&self) -> bool {
        matches!(
            self,
            Work::Fill(_) | Work::Copy(_) | Work::Fetch(_) | Work::Bypass
        )
    }

    /// Whether a read that failed is repeated elsewhere by itself, without the job.
    pub fn reads_elsewhere(&self) -> bool {
        match self {
            Work::Fill(_) | Work::Bypass => true,
            Work::Copy(copy) => copy.to == CopyTo::Cache,
            _ => false,
        }
    }

    /// Whether the job brings a dirty line back to its array.
    pub fn is_write_back(&self) -> bool {
        matches!(self, Work::Copy(copy) if copy.to == CopyTo::Array)
    }

    /// The number of the background task that the job belongs to.
    pub fn task(&self) -> Option<u32> {
        match *self {
            Work::Row(Row { task, .. }) | Work::Check(Check { task, .. }) => Some(task),
            _ => None,
        }
    }

    /// The row of its background task that the job is.
    pub fn row(&self) -> Option<u64> {
        match *self {
            Work::Row(Row { row, .. }) | Work::Check(Check { group: row, .. }) => Some(row),
            _ => None,
        }
    }

    /// Whether a consistency check has found a difference.
    pub fn differs(&self) -> bool {
        matches!(self, Work::Check(check) if check.differs)
    }

    /// The same work once the SSD cache no longer waits for it.
    pub fn without_slot(self) -> Work {
        match self {
            Work::WriteSlot(_) => Work::Write,
            Work::Destage(Destage { group, .. }) => Work::Destage(Destage { group, slot: None }),
            other => other,
        }
    }
}

/// What a job does when it goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It holds its lock: choose the strategy, take firmware time.
    #[default]
    Plan,
    /// Send the reads.
    Read,
    /// All is read: compute parity.
    Compute,
    /// Send the writes.
    Write,
    /// All is done: release the lock, go on with the parent.
    Finish,
}

/// What has met a running job.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flags {
    /// A read failed: the job must plan again.
    pub again: bool,
    /// What the job wants is lost.
    pub refused: bool,
    /// The calendar has an event of the job.
    pub scheduled: bool,
    /// Others wait for the drives before the job's commands.
    pub ahead: bool,
    /// The power failed meanwhile: the job's event finds nothing to do.
    pub aborted: bool,
    /// The job writes an older version than the one that was lost with the SSD cache.
    pub older: bool,
    /// The job's transfers have been listed, and hold while all units of the array can be read.
    pub listed: bool,
}

/// A job's place in the queue for a lock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiters {
    /// The job behind it in the queue for the same lock.
    pub next: u32,
    /// The last of those that wait for the lock that it holds.
    pub last: u32,
}

impl Waiters {
    pub const NONE: Waiters = Waiters {
        next: NO_JOB,
        last: NO_JOB,
    };
}

/// A job's place in a run (see `run`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct InRun {
    /// The first job of the run, which sends the commands of all of them; itself if it is alone.
    pub head: u32,
    /// The next job of the run.
    pub mate: u32,
    /// Of the head: jobs of the run that do not have their locks yet.
    pub missing: u32,
}

impl InRun {
    /// A job alone in its run.
    pub fn alone(index: u32) -> InRun {
        InRun {
            head: index,
            mate: NO_JOB,
            missing: 1,
        }
    }
}

/// What a write to a stripe reads and writes, listed once when it was planned.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transfers {
    list: Vec<Transfer>,
    /// The first so many are read.
    reads: u32,
    /// Those from here on are written. Read-modify-write reads what it writes.
    writes: u32,
}

impl Transfers {
    /// Takes a list whose first `reads` are read, and whose part from `writes` on is written.
    pub fn new(list: Vec<Transfer>, reads: usize, writes: usize) -> Transfers {
        Transfers {
            list,
            reads: reads as u32,
            writes: writes as u32,
        }
    }

    /// Transfers of one phase.
    pub fn all(list: Vec<Transfer>) -> Transfers {
        let reads = list.len();
        Transfers::new(list, reads, 0)
    }

    /// The memory of the list.
    pub fn into_list(self) -> Vec<Transfer> {
        self.list
    }

    /// Those that are read, or written.
    #[inline]
    pub fn of(&self, op: Op) -> &[Transfer] {
        match op {
            Op::Write => &self.list[self.writes as usize..],
            _ => &self.list[..self.reads as usize],
        }
    }
}

/// Work on one stripe.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    /// The data it is about, in ascending order of (column, start).
    pub extents: Vec<Extent>,
    /// What it reads and writes, if `flags.listed`.
    pub transfers: Transfers,
    pub work: Work,
    pub stripe: u64,
    /// Bytes that it writes to drives.
    pub written: u64,
    /// Its record; the record's parent waits for it.
    pub io: IoId,
    pub array: u32,
    /// What the volume counted as changes when the job was planned.
    pub planned: u32,
    pub lock: Waiters,
    pub run: InRun,
    pub phase: Phase,
    pub strategy: WriteStrategy,
    pub flags: Flags,
}

impl Default for Job {
    /// A record that no job has used yet.
    fn default() -> Job {
        Job {
            extents: Vec::new(),
            transfers: Transfers::default(),
            work: Work::Write,
            stripe: 0,
            written: 0,
            io: Io::NONE,
            array: 0,
            planned: 0,
            lock: Waiters::NONE,
            run: InRun::alone(NO_JOB),
            phase: Phase::Plan,
            strategy: WriteStrategy::Plain,
            flags: Flags::default(),
        }
    }
}

/// What a job without the strategy `Recover` has to repair.
static NOTHING: Repair = Repair {
    reads: Vec::new(),
    repairs: Vec::new(),
    lost: Vec::new(),
};

/// All running jobs.
#[derive(Debug)]
pub(crate) struct Jobs {
    slab: Slab<Job>,
    /// By job: what the strategy `Recover` reads, repairs and has to leave out. It grows when the
    /// first jobs recover something; others do not touch it.
    repairs: Vec<Repair>,
}

impl Jobs {
    /// `capacity` jobs may be running before anything must grow.
    pub fn with_capacity(capacity: usize) -> Jobs {
        Jobs {
            slab: Slab::with_capacity(capacity),
            repairs: Vec::new(),
        }
    }

    /// A new job in its first phase. It takes over the memory for lists of the one before it.
    #[inline]
    pub fn begin(&mut self, index: u32, io: IoId, array: u32, stripe: u64, work: Work) {
        let job = &mut self.slab[index];
        job.extents.clear();
        (job.work, job.stripe, job.written) = (work, stripe, 0);
        (job.io, job.array, job.planned) = (io, array, 0);
        (job.lock, job.run) = (Waiters::NONE, InRun::alone(index));
        (job.phase, job.strategy) = (Phase::Plan, WriteStrategy::Plain);
        job.flags = Flags::default();
    }

    /// An index for `begin`.
    #[inline]
    pub fn claim(&mut self) -> u32 {
        self.slab.claim()
    }

    #[inline]
    pub fn release(&mut self, index: u32) {
        self.slab.release(index);
    }

    /// Indices of the running jobs, in ascending order.
    pub fn ids(&self) -> impl Iterator<Item = u32> + use<> {
        self.slab.ids()
    }

    /// What a job reads, repairs and has to leave out.
    #[inline]
    pub fn repair(&self, index: u32) -> &Repair {
        match self.slab[index].strategy {
            WriteStrategy::Recover => &self.repairs[index as usize],
            _ => &NOTHING,
        }
    }

    /// Takes the memory for the repair of a job out of the table, for `set_repair` to put back.
    pub fn take_repair(&mut self, index: u32) -> Repair {
        let index = index as usize;
        if index >= self.repairs.len() {
            self.repairs.resize_with(index + 1, Repair::default);
        }
        std::mem::take(&mut self.repairs[index])
    }

    pub fn set_repair(&mut self, index: u32, repair: Repair) {
        self.repairs[index as usize] = repair;
    }

    /// The requests that wait for a job that reads into the cache.
    pub fn readers(&mut self, index: u32) -> &mut Queue {
        match &mut self.slab[index].work {
            Work::Fill(fill) => &mut fill.readers,
            other => {
                unreachable!("requests wait for a job that fills the cache, not for {other:?}")
            }
        }
    }
}

impl Index<u32> for Jobs {
    type Output = Job;
    #[inline]
    fn index(&self, index: u32) -> &Job {
        &self.slab[index]
    }
}

impl IndexMut<u32> for Jobs {
    #[inline]
    fn index_mut(&mut self, index: u32) -> &mut Job {
        &mut self.slab[index]
    }
}
