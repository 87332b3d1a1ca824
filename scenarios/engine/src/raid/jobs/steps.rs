//! Jobs: work on one stripe that takes several phases.

use crate::ids::{ArrayId, JobId};
use crate::path::Path;
use crate::path::agenda::{BackgroundCall, JobCall, SsdCacheCall, Up};
use crate::raid::jobs::lock::{next_holder, works_in_pages};
use crate::raid::jobs::{Phase, Stripes, Work, heads, joined, thread};
use crate::state::event::RaidEvent;
use crate::state::owner::Owner;
use raidlab_io::{Io, IoId, Op, Part};
use raidlab_kernel::Time;

use crate::state::owner::job_of;

impl Stripes {
    /// A job below `parent`, for the caller to fill and then to `begin`.
    pub(crate) fn new_job(
        &mut self,
        path: &mut Path,
        parent: IoId,
        array: ArrayId,
        stripe: u64,
        work: Work,
        now: Time,
    ) -> JobId {
        let io = path.ios.claim();
        let index = self.jobs.claim();
        path.ios[io] = Io::new(Op::Write, 0, 0, now);
        path.ios[io].parent = parent;
        path.ios[io].owner = Owner::Job(index).into();
        self.jobs.begin(index, io, array, stripe, work);
        if parent != Io::NONE {
            path.ios[io].fua = path.ios[parent].fua;
            path.ios[parent].pending += 1;
        }
        index
    }

    /// Starts a job that has its extents.
    pub(crate) fn begin(&mut self, path: &mut Path, index: JobId, now: Time) {
        let job = &self.jobs[index];
        path.ios[job.io].bytes = job.new_bytes();
        if works_in_pages(job, &self.volumes) {
            if joined::join(self, path, index) {
                return heads::give(self, path, index, now);
            }
            if heads::waits(self, index) {
                return;
            }
            // Room for those that will join it.
            self.jobs.reserve(index);
        }
        if self.locks.take(&mut self.jobs, &self.volumes, index) {
            self.locked(path, index, now);
        }
    }

    /// Gives a job's lock to those that wait for it, and lets them go on.
    pub(crate) fn unlock(&mut self, path: &mut Path, index: JobId, now: Time) {
        path.agenda.must_be_open();
        let in_pages = works_in_pages(&self.jobs[index], &self.volumes);
        let Some(first) = self.locks.give(&mut self.jobs, &self.volumes, index) else {
            return;
        };
        while let Some(next) = next_holder(&mut self.jobs, &self.volumes, first, index) {
            let job = &mut self.jobs[next];
            debug_assert_eq!(job.phase, Phase::Plan);
            let head = job.run.head;
            let io = self.jobs[head].io;
            path.ios[io].charge(Part::Raid, now);
            if !in_pages {
                return self.locked(path, next, now);
            }
            // Several may go on: each with an event of its own.
            self.jobs[next].flags.scheduled = true;
            path.calendar.push(now, RaidEvent::Job(next).into());
        }
    }

    /// A job has its lock: it goes on, as soon as all of its run have theirs.
    pub(crate) fn locked(&mut self, path: &mut Path, index: JobId, now: Time) {
        let head = self.jobs[index].run.head;
        let missing = &mut self.jobs[head].run.missing;
        *missing -= 1;
        if *missing == 0 {
            self.step_job(path, head, now);
        }
    }

    /// A job's event is due.
    pub(crate) fn job_due(&mut self, path: &mut Path, index: JobId, now: Time) {
        let flags = &mut self.jobs[index].flags;
        flags.scheduled = false;
        let served = std::mem::take(&mut flags.served);
        let enters = std::mem::take(&mut flags.enters);
        if flags.aborted {
            self.jobs.release(index);
        } else if enters {
            self.begin(path, index, now);
        } else {
            if served {
                thread::pass_on(self, path, self.jobs[index].array, now);
            }
            self.step_job(path, index, now);
        }
    }

    /// A job goes on with the phase that is due.
    pub(crate) fn step_job(&mut self, path: &mut Path, index: JobId, now: Time) {
        path.agenda.must_be_open();
        let job = &self.jobs[index];
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
        path: &mut Path,
        index: JobId,
        phase: Phase,
        at: Time,
        now: Time,
    ) {
        self.jobs[index].phase = phase;
        if at > now {
            self.jobs[index].flags.scheduled = true;
            path.calendar.push(at, RaidEvent::Job(index).into());
        } else {
            self.step_job(path, index, now);
        }
    }

    /// A command or a job below `parent` is complete, charged up to now: its time becomes the
    /// parent's if it is the last, since the others ran beside it.
    pub(crate) fn child_returned(&mut self, path: &mut Path, child: IoId, now: Time) {
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

    pub(crate) fn let_go(&mut self, path: &mut Path, id: IoId, now: Time) {
        path.ios[id].pending -= 1;
        if path.ios[id].pending == 0 {
            self.has_all(path, id, now);
        }
    }

    /// All that a job or a request waited for has come: it goes on.
    fn has_all(&mut self, path: &mut Path, id: IoId, now: Time) {
        match job_of(&path.ios[id]) {
            Some(job) => self.step_job(path, job, now),
            None => path.agenda.up(Up::PassOn(id)),
        }
    }
}
