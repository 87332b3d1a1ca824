//! Jobs: work on one stripe that takes several phases.

use super::jobs::{Check, Job, Phase, Row, Work};
use crate::system::{Event, System};
use raidlab_kernel::{Io, IoId, Op, Served, Time};

/// The owner of a job's record: the job's number follows.
pub(crate) const JOB: u32 = 1 << 30;
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
        self.ios[io].owner = JOB | index;
        self.raid.jobs.begin(index, io, array, stripe, work);
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
        let head = self.raid.jobs[index].run.head;
        let missing = &mut self.raid.jobs[head].run.missing;
        *missing -= 1;
        if *missing == 0 {
            self.step_job(head, now);
        }
    }

    /// A job's event is due.
    pub(crate) fn job_due(&mut self, index: u32, now: Time) {
        let flags = &mut self.raid.jobs[index].flags;
        flags.scheduled = false;
        if flags.aborted {
            self.raid.jobs.release(index);
        } else {
            self.step_job(index, now);
        }
    }

    /// A job goes on with the phase that is due.
    pub(crate) fn step_job(&mut self, index: u32, now: Time) {
        let job = &self.raid.jobs[index];
        match (job.phase, &job.work) {
            (Phase::Plan, _) => self.plan_job(index, now),
            (Phase::Read, _) => self.read_phase(index, now),
            (Phase::Compute, _) => self.compute_phase(index, now),
            (Phase::Write, &Work::Row(row)) => self.write_row(index, row, now),
            (Phase::Write, &Work::Check(check)) => self.write_group(index, check, now),
            (Phase::Write, &Work::Copy(copy)) => self.write_copy(index, copy, now),
            (Phase::Write, _) => self.write_phase(index, now),
            (Phase::Finish, &Work::Destage(destage)) => self.finish_destage(index, destage, now),
            (Phase::Finish, &Work::Fill(fill)) => self.finish_fill(index, fill, now),
            (Phase::Finish, &Work::Copy(copy)) => self.finish_copy(index, copy, now),
            (Phase::Finish, &Work::Fetch(fetch)) => self.finish_fetch(index, fetch, now),
            (Phase::Finish, Work::Bypass) => self.finish_piece(index, now),
            (Phase::Finish, &(Work::Row(Row { task, .. }) | Work::Check(Check { task, .. }))) => {
                self.finish_row(index, task, now);
            }
            (Phase::Finish, Work::Write | Work::WriteSlot(_) | Work::Recover) => {
                self.finish_job(index, now);
            }
        }
    }

    /// The job goes on with `phase` when its record's time is charged up to `at`.
    pub(crate) fn step_job_at(&mut self, index: u32, phase: Phase, at: Time, now: Time) {
        self.raid.jobs[index].phase = phase;
        if at > now {
            self.raid.jobs[index].flags.scheduled = true;
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
        self.all_returned(parent, now);
    }

    /// Everything that a record waited for has come.
    pub(crate) fn all_returned(&mut self, id: IoId, now: Time) {
        let io = &self.ios[id];
        match job_of(io) {
            Some(job) => self.step_job(job, now),
            None if self.arrays[io.array as usize].in_memory => self.pass_on(id, now),
            None => self.complete(id, now),
        }
    }

    /// Whether a command's data come from its controller's memory or end there: of the controller's
    /// own work, for which no request waits, copies that it makes of what is written, and what it
    /// has computed and writes back.
    pub(crate) fn is_in_memory(&self, command: &Io) -> bool {
        let parent = (command.parent != Io::NONE).then(|| &self.ios[command.parent]);
        let Some((parent, job)) = parent.and_then(|parent| Some((parent, job_of(parent)?))) else {
            return false;
        };
        let Job { array, work, .. } = self.raid.jobs[job];
        let copied = self.arrays[array as usize].mirrors || matches!(work, Work::Recover);
        parent.parent == Io::NONE || command.op == Op::Write && copied
    }

    /// Keeps a record waiting while its children are being sent; `let_go` ends that.
    pub(crate) fn hold(&mut self, id: IoId) {
        self.ios[id].pending += 1;
    }

    pub(crate) fn let_go(&mut self, id: IoId, now: Time) {
        self.ios[id].pending -= 1;
        if self.ios[id].pending == 0 {
            self.all_returned(id, now);
        }
    }
}

/// The job that a record belongs to, if it is a job's.
#[inline]
pub(crate) fn job_of(io: &Io) -> Option<u32> {
    (io.owner & (JOB | crate::system::OUTSIDE) == JOB).then_some(io.owner & !JOB)
}
