//! The table of jobs: how far each is, and the data that it has while it runs.

use crate::ids::{ArrayId, JobId, StripeId};
use crate::layout::{Extent, Repair, Transfer, WriteStrategy};
use crate::raid::jobs::beside::WorkBeside;
use crate::raid::jobs::work::Work;
use raidlab_io::{Io, IoId, Op, Parts, Queue};
use raidlab_kernel::Slab;
use raidlab_models::STRIPE_PAGE;
use std::ops::{Index, IndexMut};

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

/// The calendar's event of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Wakeup {
    /// None: its commands, a queue or its caller let it go on.
    #[default]
    None,
    /// The job goes on when it is due.
    Due,
    /// The power failed since it was scheduled: it finds nothing to do.
    Dropped,
}

/// A job's turn at the threads that handle its stripe (see `thread`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Turn {
    /// It has none.
    #[default]
    None,
    /// It has one.
    Taken,
    /// The thread is at work for it until its event is due, which ends the turn.
    AtWork,
}

/// A write's stripes in the stripe cache (see `heads`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Room {
    /// It has none, or needs none.
    #[default]
    None,
    /// It has waited for them, and enters when its event is due.
    Given,
    /// It has them.
    Entered,
}

/// The writes that have joined a job (see `joined`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Company {
    /// None have.
    #[default]
    Alone,
    /// Those that have were there when it planned its reads.
    Planned,
    /// Some have come since.
    Grown,
}

/// What the lock of a job's stripe is to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct LockState {
    /// The job has it.
    pub(super) held: bool,
    /// Its place among those that want it.
    pub(super) queue: Waiters,
}

impl LockState {
    /// It has not asked for it.
    pub const NONE: LockState = LockState {
        held: false,
        queue: Waiters::NONE,
    };
}

/// What has met a running job; each may, whatever else has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags {
    /// A read failed: the job must plan again.
    pub(super) again: bool,
    /// What the job wants is lost.
    pub(super) refused: bool,
    /// Others wait for the drives before the job's commands.
    pub(super) ahead: bool,
    /// The job writes an older version than the one that was lost with the SSD cache.
    pub(super) older: bool,
}

/// A queue of jobs: of a job that waits in it, its place; of the job that has it, its ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiters {
    /// The job behind it, or the first one.
    pub(super) next: JobId,
    /// The last one.
    pub(super) last: JobId,
}

impl Waiters {
    pub const NONE: Waiters = Waiters {
        next: JobId::NONE,
        last: JobId::NONE,
    };

    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.next == JobId::NONE
    }

    /// The first one that waits.
    pub fn first(&self) -> Option<JobId> {
        (!self.is_empty()).then_some(self.next)
    }
}

/// A job's place in a run (see `run`).
#[derive(Clone, Copy, Debug)]
pub(super) struct InRun {
    /// The first job of the run, which sends the commands of all of them; itself if it is alone.
    pub(super) head: JobId,
    /// The next job of the run.
    pub(super) mate: JobId,
    /// Of the head: jobs of the run that do not have their locks yet.
    pub(super) missing: u32,
}

impl InRun {
    /// A job alone in its run.
    pub fn alone(index: JobId) -> InRun {
        InRun {
            head: index,
            mate: JobId::NONE,
            missing: 1,
        }
    }
}

/// What a write to a stripe reads and writes, listed once when it was planned.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transfers {
    list: Vec<Transfer>,
    /// Number of transfers, from the first on, that are read.
    reads: u32,
    /// Number of those that have been read before.
    known: u32,
    /// Those from here on are written. Read-modify-write reads what it writes.
    writes: u32,
    /// The list stands for a job while all units of the array can be read; else it is only memory.
    listed: bool,
}

impl Transfers {
    /// Takes a list whose first `reads` are read, and whose part from `writes` on is written.
    pub fn new(list: Vec<Transfer>, reads: usize, writes: usize) -> Transfers {
        Transfers {
            list,
            reads: reads as u32,
            known: 0,
            writes: writes as u32,
            listed: true,
        }
    }

    /// Whether they have been listed.
    #[inline]
    pub fn are_listed(&self) -> bool {
        self.listed
    }

    /// They are not known any more; the list's memory stays.
    #[inline]
    pub fn forget(&mut self) {
        self.listed = false;
    }

    /// Takes such a list, of which the first `known` have been read before.
    pub fn behind(list: Vec<Transfer>, known: usize, reads: usize) -> Transfers {
        let known = known as u32;
        let all = Transfers::new(list, reads, reads);
        Transfers { known, ..all }
    }

    /// Those that are read, whenever, in the memory of the list.
    pub fn into_read(mut self) -> Vec<Transfer> {
        self.list.truncate(self.reads as usize);
        self.list
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

    /// Pages that are read, whenever, and written: parts of pages count as whole ones.
    pub fn pages(&self) -> u64 {
        let read = &self.list[..self.reads as usize];
        let all = read.iter().chain(self.of(Op::Write));
        all.map(|t| (u64::from(t.end).div_ceil(STRIPE_PAGE)) - u64::from(t.start) / STRIPE_PAGE)
            .sum()
    }

    /// Those that are read, or written.
    #[inline]
    pub fn of(&self, op: Op) -> &[Transfer] {
        match op {
            Op::Write => &self.list[self.writes as usize..],
            _ => &self.list[self.known as usize..self.reads as usize],
        }
    }
}

/// Work on one stripe.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    /// The data it is about, in ascending order of (column, start).
    pub(super) extents: Vec<Extent>,
    /// What it reads and writes, if that is listed.
    pub(super) transfers: Transfers,
    pub(super) work: Work,
    pub(super) stripe: StripeId,
    /// Bytes that it writes to drives.
    pub(super) written: u64,
    /// Its record; the record's parent waits for it.
    pub(super) io: IoId,
    pub(super) array: ArrayId,
    /// What the volume counted as changes when the job was planned.
    pub(super) planned: u32,
    pub(super) lock: LockState,
    /// The writes that have joined it.
    pub(super) joined: Waiters,
    pub(super) company: Company,
    /// The job behind it among those that wait for the thread, or have joined the same job.
    pub(super) behind: JobId,
    pub(super) run: InRun,
    pub(super) phase: Phase,
    pub(super) strategy: WriteStrategy,
    pub(super) wakeup: Wakeup,
    pub(super) turn: Turn,
    pub(super) room: Room,
    pub(super) flags: Flags,
}

impl Job {
    /// Its array.
    #[inline]
    pub fn array(&self) -> ArrayId {
        self.array
    }

    /// Its record; the record's parent waits for it.
    #[inline]
    pub fn io(&self) -> IoId {
        self.io
    }

    /// What it is for.
    #[inline]
    pub fn work(&self) -> Work {
        self.work
    }

    /// What it does when it goes on.
    #[inline]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The data it is about, in ascending order of (column, start).
    #[inline]
    pub fn extents(&self) -> &[Extent] {
        &self.extents
    }

    /// Bytes of the data it is about.
    pub fn new_bytes(&self) -> u64 {
        let each = self.extents.iter().map(|e| u64::from(e.end - e.start));
        each.sum()
    }

    /// Bytes of the data of a job that has not begun, mutable.
    #[inline]
    pub fn extents_mut(&mut self) -> &mut Vec<Extent> {
        &mut self.extents
    }

    /// Whether it writes its whole stripe, without reading.
    pub fn is_full_stripe(&self) -> bool {
        self.strategy == WriteStrategy::Full
    }

    /// Whether what it wants is lost.
    pub fn is_refused(&self) -> bool {
        self.flags.refused
    }

    /// Whether a power failure dropped it; its event is still to come.
    pub fn is_aborted(&self) -> bool {
        self.wakeup == Wakeup::Dropped
    }

    /// Others wait for the drives before its commands.
    pub fn go_ahead(&mut self) {
        self.flags.ahead = true;
    }

    /// Whether others wait for the drives before its commands.
    #[inline]
    pub fn goes_ahead(&self) -> bool {
        self.flags.ahead
    }

    /// Whether it is the first of its run, which sends the commands of all.
    pub fn is_head(&self, index: JobId) -> bool {
        self.run.head == index
    }

    /// It goes on with other work, in a phase.
    pub fn go_on_with(&mut self, work: Work, phase: Phase) {
        (self.work, self.phase) = (work, phase);
    }

    /// It does other work, on another array.
    pub fn move_to(&mut self, array: ArrayId, work: Work) {
        (self.work, self.array) = (work, array);
    }

    /// It looks elsewhere for what was refused.
    pub fn try_again(&mut self) {
        self.flags.refused = false;
    }

    /// It plans its reads, with all that have joined it.
    #[inline]
    pub(super) fn plans(&mut self) {
        if self.company == Company::Grown {
            self.company = Company::Planned;
        }
    }

    /// The calendar has an event of it.
    #[inline]
    pub(super) fn schedule(&mut self) {
        self.wakeup = Wakeup::Due;
    }

    /// Takes note that a read failed; true if one has.
    pub fn take_failed_read(&mut self) -> bool {
        std::mem::take(&mut self.flags.again)
    }
}

impl Default for Job {
    /// A record that no job has used yet.
    fn default() -> Job {
        Job {
            extents: Vec::new(),
            transfers: Transfers::default(),
            work: Work::Write,
            stripe: StripeId::new(0),
            written: 0,
            io: Io::NONE,
            array: ArrayId::new(0),
            planned: 0,
            lock: LockState::NONE,
            joined: Waiters::NONE,
            company: Company::Alone,
            behind: JobId::NONE,
            run: InRun::alone(JobId::NONE),
            phase: Phase::Plan,
            strategy: WriteStrategy::Plain,
            wakeup: Wakeup::None,
            turn: Turn::None,
            room: Room::None,
            flags: Flags::default(),
        }
    }
}

/// What a job keeps that others have joined (see `joined`).
#[derive(Debug, Default)]
pub(super) struct Joined {
    /// What it was about before.
    pub(super) own: Vec<Extent>,
    /// Where its time had gone when it began to write.
    pub(super) before: Parts,
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
    slab: Slab<JobId, Job>,
    /// By job: what the strategy `Recover` reads, repairs and has to leave out. It grows when the
    /// first jobs recover something; others do not touch it.
    repairs: Vec<Repair>,
    /// By job: what it keeps that others have joined. It grows when the first ones do.
    joined: Vec<Joined>,
    beside: WorkBeside,
}

impl Jobs {
    /// `capacity` jobs may be running before anything must grow.
    pub fn with_capacity(capacity: usize, arrays: usize) -> Jobs {
        Jobs {
            slab: Slab::with_capacity(capacity),
            repairs: Vec::new(),
            joined: Vec::new(),
            beside: WorkBeside::new(arrays),
        }
    }

    /// What requests of an array may meet besides the load.
    pub fn beside(&self) -> &WorkBeside {
        &self.beside
    }

    pub fn beside_mut(&mut self) -> &mut WorkBeside {
        &mut self.beside
    }

    /// A new job in its first phase. It takes over the memory for lists of the one before it.
    #[inline]
    pub fn begin(&mut self, index: JobId, io: IoId, array: ArrayId, stripe: StripeId, work: Work) {
        let job = &mut self.slab[index];
        job.extents.clear();
        self.beside.begins(array, &work);
        (job.work, job.stripe, job.written) = (work, stripe, 0);
        (job.io, job.array, job.planned) = (io, array, 0);
        (job.lock, job.joined) = (LockState::NONE, Waiters::NONE);
        (job.behind, job.run) = (JobId::NONE, InRun::alone(index));
        (job.phase, job.strategy) = (Phase::Plan, WriteStrategy::Plain);
        (job.company, job.wakeup) = (Company::Alone, Wakeup::None);
        (job.turn, job.room, job.flags) = (Turn::None, Room::None, Flags::default());
        job.transfers.forget();
    }

    /// An index for `begin`.
    #[inline]
    pub fn claim(&mut self) -> JobId {
        self.slab.claim()
    }

    #[inline]
    pub fn release(&mut self, index: JobId) {
        let job = &self.slab[index];
        self.beside.ends(job.array, &job.work);
        self.slab.release(index);
    }

    /// Indices of the running jobs, in ascending order.
    pub fn ids(&self) -> impl Iterator<Item = JobId> + use<> {
        self.slab.ids()
    }

    /// What a job reads, repairs and has to leave out.
    #[inline]
    pub fn repair(&self, index: JobId) -> &Repair {
        match self.slab[index].strategy {
            WriteStrategy::Recover => &self.repairs[index.index()],
            _ => &NOTHING,
        }
    }

    /// Takes the memory for the repair of a job out of the table, for `set_repair` to put back.
    pub fn take_repair(&mut self, index: JobId) -> Repair {
        let index = index.index();
        if index >= self.repairs.len() {
            self.repairs.resize_with(index + 1, Repair::default);
        }
        std::mem::take(&mut self.repairs[index])
    }

    pub fn set_repair(&mut self, index: JobId, repair: Repair) {
        self.repairs[index.index()] = repair;
    }

    /// Takes memory for the lists of a stripe that many write together.
    pub(super) fn reserve(&mut self, index: JobId) {
        let job = &mut self.slab[index];
        let room = |length: usize| 32usize.saturating_sub(length);
        job.extents.reserve(room(job.extents.len()));
        let listed = job.transfers.list.len();
        job.transfers.list.reserve(2 * room(listed));
        let own = &mut self.joined(index).own;
        own.reserve(room(own.len()));
    }

    /// What a job keeps that others have joined.
    pub(super) fn joined(&mut self, index: JobId) -> &mut Joined {
        let index = index.index();
        if index >= self.joined.len() {
            let jobs = (index + 1).next_power_of_two();
            self.joined.resize_with(jobs, Joined::default);
        }
        &mut self.joined[index]
    }

    /// Keeps what a job is about, before another one joins it for the first time.
    pub(super) fn keep_own(&mut self, index: JobId) {
        let mut own = std::mem::take(&mut self.joined(index).own);
        own.clone_from(&self.slab[index].extents);
        self.joined(index).own = own;
    }

    /// Puts a job at the end of a queue that is linked by `behind`.
    pub(super) fn push(&mut self, queue: &mut Waiters, index: JobId) {
        self.slab[index].behind = JobId::NONE;
        if queue.next == JobId::NONE {
            queue.next = index;
        } else {
            self.slab[queue.last].behind = index;
        }
        queue.last = index;
    }

    /// Takes the first one out of such a queue.
    pub(super) fn pop(&self, queue: &mut Waiters) -> Option<JobId> {
        let first = queue.next;
        if first == JobId::NONE {
            return None;
        }
        queue.next = self.slab[first].behind;
        Some(first)
    }

    /// What a job is about by itself, without those that have joined it.
    pub(super) fn own(&self, index: JobId) -> &[Extent] {
        match self.slab[index].company {
            Company::Alone => &self.slab[index].extents,
            Company::Planned | Company::Grown => &self.joined[index.index()].own,
        }
    }

    /// The requests that wait for a job that reads into the cache.
    pub fn readers(&mut self, index: JobId) -> &mut Queue {
        match &mut self.slab[index].work {
            Work::Fill(fill) => &mut fill.readers,
            other => {
                unreachable!("requests wait for a job that fills the cache, not for {other:?}")
            }
        }
    }
}

impl Index<JobId> for Jobs {
    type Output = Job;
    #[inline]
    fn index(&self, index: JobId) -> &Job {
        &self.slab[index]
    }
}

impl IndexMut<JobId> for Jobs {
    #[inline]
    fn index_mut(&mut self, index: JobId) -> &mut Job {
        &mut self.slab[index]
    }
}
