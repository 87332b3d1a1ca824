//! The power fails: jobs end, but for writes that a battery or flash preserves.

use crate::ids::{ArrayId, JobId};
use crate::path::Path;
use crate::raid::jobs::heads::Heads;
use crate::raid::jobs::table::{Phase, Turns, Waiters};
use crate::raid::jobs::{Stripes, Work};
use raidlab_io::{Io, Op};
use raidlab_kernel::Time;

impl Stripes {
    /// Jobs that are writing to arrays of which that is asked.
    pub(crate) fn writing_jobs(&self, of: impl Fn(ArrayId) -> bool) -> Vec<JobId> {
        let writes = |&index: &JobId| {
            let job = &self.jobs[index];
            let writing = job.work.is_write() || matches!(job.work, Work::Recover);
            !job.flags.aborted && writing && job.phase == Phase::Finish && of(job.array)
        };
        self.jobs.ids().filter(writes).collect()
    }

    /// These jobs are done again when the power is back.
    pub(crate) fn preserve(&mut self, jobs: Vec<JobId>) {
        self.preserved = jobs;
    }

    /// The first jobs of the runs that are.
    pub(crate) fn preserved_heads(&self) -> Vec<JobId> {
        let preserved = self.preserved.iter().copied();
        preserved
            .filter(|&job| self.jobs[job].is_head(job))
            .collect()
    }

    /// Jobs end, but for those that are preserved.
    pub(crate) fn drop_jobs(&mut self, path: &mut Path, preserved: &[JobId], now: Time) {
        self.locks.clear();
        self.turns.iter_mut().for_each(|turns| *turns = Turns::NONE);
        self.heads.iter_mut().for_each(Heads::clear);
        for index in self.jobs.ids().collect::<Vec<_>>() {
            let job = &mut self.jobs[index];
            if job.flags.aborted {
                // An earlier power failure dropped it and its record; its event is still to come.
                continue;
            }
            let io = job.io;
            if let Work::Fill(fill) = &mut job.work {
                while let Some(reader) = fill.readers.pop(&path.ios) {
                    path.ios[reader].pending = 1;
                }
            }
            if preserved.contains(&index) {
                self.preserve_job(path, index, now);
                continue;
            }
            let job = &mut self.jobs[index];
            if job.flags.scheduled {
                job.flags.aborted = true;
            } else {
                self.jobs.release(index);
            }
            path.ios.release(io);
        }
    }

    /// A job whose writes will be done again has nobody who waits for it any more.
    fn preserve_job(&mut self, path: &mut Path, index: JobId, now: Time) {
        // A line that was being written back is dirty again, and may be newer.
        let older = self
            .jobs
            .copy_above(&path.ios, index)
            .is_some_and(|copy| !self.has_lost_ssd_cache(copy));
        let job = &mut self.jobs[index];
        job.flags.older |= older;
        (job.lock, job.work) = (Waiters::NONE, job.work.without_slot());
        let io = job.io;
        self.locks.take(&mut self.jobs, &self.volumes, index);
        let (owner, bytes) = (path.ios[io].owner, path.ios[io].bytes);
        path.ios[io] = Io::new(Op::Write, 0, bytes, now);
        path.ios[io].owner = owner;
    }
}
