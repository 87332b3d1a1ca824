//! Jobs: work on one stripe that takes several phases.

use crate::agenda::Call;
use crate::layout::{Extent, Repair, Role, WriteStrategy};
use crate::owner::{Owner, OwnerOf};
use crate::system::{Event, System};
use raidlab_kernel::{Io, IoId, Op, Queue, Served, Time};

/// No job.
pub(crate) const NO_JOB: u32 = u32::MAX;
/// No slot of a tier.
pub(crate) const NO_SLOT: u32 = u32::MAX;

/// What a job is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Work {
    /// New data for a stripe.
    #[default]
    Write,
    /// Data of a lost drive or of unreadable sectors, computed from the others or read from another
    /// copy.
    Recover,
    /// A group of the cache on its way to the drives.
    Destage,
    /// Reading into the cache.
    Fill,
    /// A unit of one member, read or computed, for a task in the background.
    Row,
    /// A line of an array on its way to its tier.
    Promote,
    /// A line of a tier on its way back to its array.
    Clean,
    /// A piece of a request on its way from the tier.
    Fetch,
    /// A piece of a request that goes past the tier, since the tier has lost it.
    Past,
    /// A group, to see whether it can be read, or to compare its parity with its data, or its copies.
    Check,
}

impl Work {
    /// Whether it moves lines or parts of them, and leaves stripes to others.
    pub fn is_of_lines(self) -> bool {
        matches!(
            self,
            Work::Fill | Work::Promote | Work::Clean | Work::Fetch | Work::Past
        )
    }

    /// Whether a read that failed is done again by itself, from elsewhere, and not by the job.
    pub fn reads_elsewhere(self) -> bool {
        matches!(self, Work::Fill | Work::Promote | Work::Past)
    }
}

/// What a job does when it goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It holds its lock: choose the way, firmware.
    #[default]
    Plan,
    /// Send the reads.
    Read,
    /// All is read: compute parity.
    Compute,
    /// Send the writes.
    Write,
    /// All is done: give the lock back, tell whoever waits.
    Finish,
}

/// Work on one stripe.
#[derive(Clone, Debug, Default)]
pub(crate) struct Job {
    /// Its record; the record's parent waits for it.
    pub io: IoId,
    pub array: u32,
    pub stripe: u64,
    pub work: Work,
    pub phase: Phase,
    pub way: WriteStrategy,
    /// The data it is about, in ascending order of (column, start).
    pub extents: Vec<Extent>,
    /// Bytes that it writes to drives.
    pub written: u64,
    /// The group of the cache that leaves.
    pub group: u32,
    /// The slot of the tier that is read, written or copied, if any.
    pub slot: u32,
    /// The range of the array that is read into the cache, or moves to or from the tier.
    pub range: (u64, u64),
    /// Requests that wait for what is read into the cache.
    pub readers: Queue,
    /// The member, row and part of a unit that is read for the background.
    pub unit: (u32, u64, Role),
    /// The row of a task in the background that it is.
    pub row: u64,
    /// What the volume counted as changes when it was planned.
    pub planned: u32,
    /// True if a read failed: it must plan again.
    pub again: bool,
    /// True if what it wants is lost.
    pub refused: bool,
    /// True if an event of its own is to come.
    pub scheduled: bool,
    /// True if the power failed under way: its event finds nothing to do.
    pub gone: bool,
    /// On the way `Recover` what it reads and writes back, and what is lost.
    pub mending: Repair,
    /// True if parity does not fit.
    pub differs: bool,
    /// True if it writes an older version than the one that was lost with the tier.
    pub older: bool,
    /// The first job of its run, which sends the commands of all of them; itself if it is alone.
    pub head: u32,
    /// The next one of its run.
    pub mate: u32,
    /// Jobs of the run that it heads that have not got their locks yet.
    pub missing: u32,
    /// The job behind it in the queue for the same lock.
    pub next: u32,
    /// The last of those that wait for the lock that it holds.
    pub last: u32,
}

impl System {
    /// A job below `parent`, for the caller to fill and then to `begin`.
    pub(crate) fn new_job(
        &mut self,
        parent: IoId,
        array: u32,
        stripe: u64,
        work: Work,
        now: Time,
    ) -> u32 {
        let io = self.ios.claim();
        let index = self.raid.jobs.claim();
        self.ios[io] = Io::new(Op::Write, 0, 0, now);
        self.ios[io].parent = parent;
        self.ios[io].owner = Owner::Job(index).into();
        let job = &mut self.raid.jobs[index];
        job.extents.clear();
        (job.io, job.array, job.stripe, job.work) = (io, array, stripe, work);
        (job.phase, job.way) = (Phase::Plan, WriteStrategy::Plain);
        (job.written, job.next, job.last) = (0, NO_JOB, NO_JOB);
        (job.head, job.mate, job.missing) = (index, NO_JOB, 1);
        (job.again, job.refused, job.scheduled) = (false, false, false);
        (job.gone, job.differs) = (false, false);
        job.mending.clear();
        (job.slot, job.older) = (NO_SLOT, false);
        if parent != Io::NONE {
            self.ios[parent].pending += 1;
        }
        index
    }

    /// Starts a job that has its extents.
    pub(crate) fn begin(&mut self, index: u32, now: Time) {
        let job = &self.raid.jobs[index];
        let bytes = job.extents.iter().map(|e| u64::from(e.end - e.start)).sum();
        let io = job.io;
        self.ios[io].bytes = bytes;
        if self.lock(index) {
            self.locked(index, now);
        }
    }

    /// A job has its lock: it goes on, as soon as all of its run have theirs.
    pub(crate) fn locked(&mut self, index: u32, now: Time) {
        let head = self.raid.jobs[index].head;
        let missing = &mut self.raid.jobs[head].missing;
        *missing -= 1;
        if *missing == 0 {
            self.step_job(head, now);
        }
    }

    /// A job's event is due.
    pub(crate) fn job_due(&mut self, index: u32, now: Time) {
        self.raid.jobs[index].scheduled = false;
        if self.raid.jobs[index].gone {
            self.raid.jobs.release(index);
        } else {
            self.step_job(index, now);
        }
    }

    /// A job goes on with the phase that is due.
    pub(crate) fn step_job(&mut self, index: u32, now: Time) {
        self.agenda.must_be_open();
        match self.raid.jobs[index].phase {
            Phase::Plan => self.plan_job(index, now),
            Phase::Read => self.read_phase(index, now),
            Phase::Compute => self.compute_phase(index, now),
            Phase::Write => match self.raid.jobs[index].work {
                Work::Row | Work::Check => self.write_row(index, now),
                Work::Promote | Work::Clean => self.agenda.up(Call::Copy(index)),
                _ => self.write_phase(index, now),
            },
            Phase::Finish => match self.raid.jobs[index].work {
                Work::Destage => self.finish_destage(index, now),
                Work::Fill => self.finish_fill(index, now),
                Work::Promote | Work::Clean => self.agenda.up(Call::Copy(index)),
                Work::Fetch | Work::Past => self.finish_fetch(index, now),
                Work::Row | Work::Check => self.finish_row(index, now),
                _ => self.finish_job(index, now),
            },
        }
    }

    /// The job goes on with `phase` when its record's time is charged up to `at`.
    pub(crate) fn step_job_at(&mut self, index: u32, phase: Phase, at: Time, now: Time) {
        self.raid.jobs[index].phase = phase;
        if at > now {
            self.raid.jobs[index].scheduled = true;
            self.calendar.push(at, Event::Job(index));
        } else {
            self.step_job(index, now);
        }
    }

    /// Firmware time for commands of work that goes on, if a controller does it.
    pub(crate) fn firmware(&mut self, array: u32, commands: u64, now: Time) -> Served {
        match self.arrays[array as usize].controller {
            Some(controller) => {
                let chip = &mut self.controllers[controller as usize].chip;
                chip.issue(commands, now)
            }
            None => Served {
                start: now,
                end: now,
            },
        }
    }

    /// A command or a job below `parent` is complete, charged up to now: its time becomes the
    /// parent's if it is the last, since the others ran beside it.
    pub(crate) fn child_returned(&mut self, child: IoId, now: Time) {
        let Io {
            parent,
            parts,
            bytes,
            ..
        } = self.ios[child];
        self.ios.release(child);
        if parent == Io::NONE {
            return;
        }
        let waiting = &mut self.ios[parent];
        waiting.moved += bytes;
        waiting.pending -= 1;
        if waiting.pending > 0 {
            return;
        }
        waiting.parts.add(&parts);
        waiting.mark = now;
        self.has_all(parent, now);
    }

    /// Whether the data of a command below `parent` come from its controller's memory or end there.
    /// True of three kinds: commands of the controller's own work, for which no request waits; the
    /// copies that it writes of a request's data; and data that it has computed and writes back.
    #[inline]
    pub(crate) fn is_from_memory(&self, parent: IoId, op: Op) -> bool {
        if parent == Io::NONE {
            return false;
        }
        let parent = &self.ios[parent];
        let Some(job) = job_of(parent) else {
            return false;
        };
        let Job { array, work, .. } = self.raid.jobs[job];
        let copied = self.arrays[array as usize].mirrors || work == Work::Recover;
        parent.parent == Io::NONE || op == Op::Write && copied
    }

    /// Keeps a record waiting while its children are being sent; `let_go` ends that.
    pub(crate) fn hold(&mut self, id: IoId) {
        self.ios[id].pending += 1;
    }

    pub(crate) fn let_go(&mut self, id: IoId, now: Time) {
        self.ios[id].pending -= 1;
        if self.ios[id].pending == 0 {
            self.has_all(id, now);
        }
    }

    /// All that a job or a request waited for has come: it goes on.
    fn has_all(&mut self, id: IoId, now: Time) {
        match job_of(&self.ios[id]) {
            Some(job) => self.step_job(job, now),
            None => self.pass_on(id, now),
        }
    }
}

/// The job that a record belongs to, if it is a job's.
#[inline]
pub(crate) fn job_of(io: &Io) -> Option<u32> {
    io.owner.job()
}
