//! Jobs: work on one stripe that takes several phases.

use crate::ids::JobId;
use crate::path::IoPath;
use crate::path::agenda::{BackgroundCall, JobCall, SsdCacheCall, Up};
use crate::raid::jobs::lock::{next_holder, works_in_pages};
use crate::raid::jobs::table::{Room, Turn, Wakeup};
use crate::raid::jobs::{Phase, Stripes, Work};
use crate::state::event::RaidEvent;
use raidlab_io::{Io, IoId, Part};
use raidlab_kernel::Time;

use crate::state::owner::job_of;

impl Stripes {
    /// Starts a job that has its extents.
    pub(crate) fn begin(&mut self, path: &mut IoPath, index: JobId, now: Time) {
        let job = &self.state.jobs[index];
        path.ios[job.io].bytes = job.new_bytes();
        if works_in_pages(job, &self.state.volumes) {
            if self.locks.join(&mut self.state, path, index) {
                return self.heads.give(&mut self.state, path, index, now);
            }
            if self.heads.waits(&mut self.state, index) {
                return;
            }
            // Room for those that will join it.
            self.state.jobs.reserve(index);
        }
        if self
            .locks
            .take(&mut self.state.jobs, &self.state.volumes, index)
        {
            self.locked(path, index, now);
        }
    }

    /// Gives a job's lock to those that wait for it, and lets them go on.
    pub(crate) fn unlock(&mut self, path: &mut IoPath, index: JobId, now: Time) {
        path.agenda.must_be_open();
        let in_pages = works_in_pages(&self.state.jobs[index], &self.state.volumes);
        let Some(first) = self
            .locks
            .give(&mut self.state.jobs, &self.state.volumes, index)
        else {
            return;
        };
        while let Some(next) = next_holder(&mut self.state.jobs, &self.state.volumes, first, index)
        {
            let job = &mut self.state.jobs[next];
            debug_assert_eq!(job.phase, Phase::Plan);
            let head = job.run.head;
            let io = self.state.jobs[head].io;
            path.ios[io].charge(Part::Raid, now);
            if !in_pages {
                return self.locked(path, next, now);
            }
            // Several may go on: each with an event of its own.
            self.state.jobs[next].schedule();
            path.calendar.push(now, RaidEvent::Job(next).into());
        }
    }

    /// A job has its lock: it goes on, as soon as all of its run have theirs.
    pub(crate) fn locked(&mut self, path: &mut IoPath, index: JobId, now: Time) {
        let head = self.state.jobs[index].run.head;
        let missing = &mut self.state.jobs[head].run.missing;
        *missing -= 1;
        if *missing == 0 {
            self.step_job(path, head, now);
        }
    }

    /// A job's event is due.
    pub(crate) fn job_due(&mut self, path: &mut IoPath, index: JobId, now: Time) {
        let job = &mut self.state.jobs[index];
        if std::mem::take(&mut job.wakeup) == Wakeup::Dropped {
            self.state.jobs.release(index);
        } else if job.room == Room::Given {
            job.room = Room::Entered;
            self.begin(path, index, now);
        } else {
            if job.turn == Turn::AtWork {
                self.turns.pass_on(&mut self.state.jobs, path, index, now);
            }
            self.step_job(path, index, now);
        }
    }

    /// A job goes on with the phase that is due.
    pub(crate) fn step_job(&mut self, path: &mut IoPath, index: JobId, now: Time) {
        path.agenda.must_be_open();
        let job = &self.state.jobs[index];
        match (job.phase, &job.work) {
            (_, Work::Bitmap(_)) => path.agenda.up(JobCall::Done(index)),
            (Phase::Plan, _) => self.plan_job(path, index, now),
            (Phase::Read, _) => self.read_phase(path, index, now),
            (Phase::Compute, _) => self.compute_phase(path, index, now),
            (_, Work::Copy(_)) => path.agenda.up(SsdCacheCall::Copy(index)),
            (_, Work::Row(_) | Work::Check(_)) => path.agenda.up(BackgroundCall::Row(index)),
            (Phase::Write, _) => self.write_phase(path, index, now),
            (Phase::Finish, Work::Write | Work::Recover) => self.finish_job(path, index, now),
            (Phase::Finish, _) => path.agenda.up(JobCall::Done(index)),
        }
    }

    /// The job goes on with `phase` when its record's time is charged up to `at`.
    pub(crate) fn step_job_at(
        &mut self,
        path: &mut IoPath,
        index: JobId,
        phase: Phase,
        at: Time,
        now: Time,
    ) {
        self.state.jobs[index].phase = phase;
        if at > now {
            self.state.jobs[index].schedule();
            path.calendar.push(at, RaidEvent::Job(index).into());
        } else {
            self.step_job(path, index, now);
        }
    }

    /// A command or a job below `parent` is complete, charged up to now: its time becomes the
    /// parent's if it is the last, since the others ran beside it.
    pub(crate) fn child_returned(&mut self, path: &mut IoPath, child: IoId, now: Time) {
        let Io {
            parent,
            parts,
            bytes,
            drive,
            ..
        } = path.ios[child];
        path.ios.release(child);
        if parent == Io::NONE {
            return;
        }
        let waiting = &mut path.ios[parent];
        waiting.moved += bytes;
        waiting.pending -= 1;
        if waiting.pending > 0 {
            return;
        }
        waiting.parts.add(&parts);
        (waiting.mark, waiting.drive) = (now, drive);
        self.has_all(path, parent, now);
    }

    pub(crate) fn let_go(&mut self, path: &mut IoPath, id: IoId, now: Time) {
        path.ios[id].pending -= 1;
        if path.ios[id].pending == 0 {
            self.has_all(path, id, now);
        }
    }

    /// All that a job or a request waited for has come: it goes on.
    fn has_all(&mut self, path: &mut IoPath, id: IoId, now: Time) {
        match job_of(&path.ios[id]) {
            Some(job) => self.step_job(path, job, now),
            None => path.agenda.up(Up::PassOn(id)),
        }
    }
}
