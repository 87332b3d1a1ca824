//! The power fails: jobs end, but for writes that a battery or flash preserves.

use crate::ids::JobId;
use crate::path::IoPath;
use crate::raid::jobs::table::{LockState, Wakeup};
use crate::raid::jobs::{Stripes, Work};
use raidlab_io::{ByteRange, Io, Op};
use raidlab_kernel::Time;

impl Stripes {
    /// Jobs end, but for those that are preserved.
    pub(crate) fn drop_jobs(&mut self, path: &mut IoPath, preserved: &[JobId], now: Time) {
        self.locks.clear();
        self.turns.clear();
        self.heads.clear();
        for index in self.state.jobs.ids().collect::<Vec<_>>() {
            let job = &mut self.state.jobs[index];
            if job.is_aborted() {
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
            let job = &mut self.state.jobs[index];
            match job.wakeup {
                Wakeup::None => self.state.jobs.release(index),
                Wakeup::Due | Wakeup::Dropped => job.wakeup = Wakeup::Dropped,
            }
            path.ios.release(io);
        }
    }

    /// A job whose writes will be done again has nobody who waits for it any more.
    fn preserve_job(&mut self, path: &mut IoPath, index: JobId, now: Time) {
        // A line that was being written back is dirty again, and may be newer.
        let older = self
            .state
            .jobs
            .copy_above(&path.ios, index)
            .is_some_and(|copy| !self.state.has_lost_ssd_cache(copy));
        let job = &mut self.state.jobs[index];
        job.flags.older |= older;
        (job.lock, job.work) = (LockState::NONE, job.work.without_slot());
        let io = job.io;
        self.locks
            .take(&mut self.state.jobs, &self.state.volumes, index);
        let (owner, bytes) = (path.ios[io].owner, path.ios[io].bytes);
        path.ios[io] = Io::new(Op::Write, ByteRange::new(0, bytes), now);
        path.ios[io].owner = owner;
    }
}
