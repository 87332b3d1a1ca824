//! Jobs: work on one stripe that takes several phases.

use super::jobs::{Check, Job, Phase, Row, Work};
use crate::agenda::Call;
use crate::owner::{Owner, OwnerOf};
use crate::system::{Event, System};
use raidlab_kernel::{Io, IoId, Op, Served, Time};

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
        self.agenda.must_be_open();
        let job = &self.raid.jobs[index];
        match (job.phase, &job.work) {
            (Phase::Plan, _) => self.plan_job(index, now),
            (Phase::Read, _) => self.read_phase(index, now),
            (Phase::Compute, _) => self.compute_phase(index, now),
            (_, &Work::Copy(_)) => self.agenda.up(Call::Copy(index)),
            (Phase::Write, &(Work::Row(Row { task, .. }) | Work::Check(Check { task, .. }))) => {
                self.write_row(index, task, now);
            }
            (Phase::Write, _) => self.write_phase(index, now),
            (Phase::Finish, &Work::Destage(destage)) => self.finish_destage(index, destage, now),
            (Phase::Finish, &Work::Fill(fill)) => self.finish_fill(index, fill, now),
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
        let copied = self.arrays[array as usize].mirrors || matches!(work, Work::Recover);
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
