//! Work that waited on the agenda for what went up before it.

use crate::ids::JobId;
use crate::path::IoPath;
use crate::path::agenda::{BackgroundCall, CacheCall, JobCall, RaidCall, SsdCacheCall, Up};
use crate::raid::Raid;
use crate::raid::bitmap::updates;
use crate::raid::jobs::Work;
use raidlab_kernel::Time;

impl Raid {
    /// Work of `raid` that waited.
    pub(crate) fn resume(&mut self, path: &mut IoPath, call: RaidCall, now: Time) -> Up {
        match call {
            RaidCall::Ready(io, at) => return self.ready(path, io, at, now),
            RaidCall::Job(call) => self.resume_job(path, call, now),
            RaidCall::Cache(call) => self.resume_cache(path, call, now),
            RaidCall::Background(call) => self.resume_background(path, call, now),
        }
        Up::None
    }

    fn resume_job(&mut self, path: &mut IoPath, call: JobCall, now: Time) {
        match call {
            JobCall::Done(job) => self.job_done(path, job, now),
            JobCall::Finish(job) => self.stripes.finish_job(path, job, now),
            JobCall::Unlocked(job) => self.stripes.unlocked(path, job, now),
            JobCall::SlotFailed(job) => self.lines().write_without_slot(path, job, now),
        }
    }

    /// A job is done: the one who began it learns of it.
    fn job_done(&mut self, path: &mut IoPath, job: JobId, now: Time) {
        let stripes = &mut self.stripes;
        match stripes.state().jobs()[job].work() {
            Work::Destage(destage) => self.cache.finish_destage(stripes, path, job, destage, now),
            Work::Fill(fill) => self.cache.finish_fill(stripes, path, job, fill, now),
            Work::Fetch(fetch) => self.lines().finish_fetch(path, job, fetch, now),
            Work::Bitmap(update) => updates::step(stripes, path, job, update, now),
            Work::Bypass => self.lines().finish_piece(path, job, now),
            Work::WriteSlot(at) => self.lines().slot_written(path, job, at, now),
            Work::Write | Work::Recover => stripes.finish_job(path, job, now),
            Work::Row(_) | Work::Check(_) => self.background.step_row(stripes, path, job, now),
            Work::Copy(_) => path.agenda.up(SsdCacheCall::Copy(job)),
        }
    }

    fn resume_cache(&mut self, path: &mut IoPath, call: CacheCall, now: Time) {
        let Raid { stripes, cache, .. } = self;
        match call {
            CacheCall::Asked(io, job) => cache.asked(stripes, path, io, job, now),
            CacheCall::ReadAhead(array, range) => {
                cache.read_ahead(stripes, path, array, range, now);
            }
            CacheCall::ReadOn(array, stream) => cache.read_on(stripes, path, array, stream, now),
            CacheCall::Readers => cache.wake_readers(stripes, path, now),
            CacheCall::WrittenBack(at) => cache.flush_and_destage(stripes, path, at, now),
            CacheCall::AdmitWaiting(at) => cache.admit_waiting(stripes, path, at, now),
            CacheCall::Destage(at) => cache.destage(stripes, path, at, now),
            CacheCall::Destaged { array, group, full } => {
                cache.destaged(stripes, path, array, group, full, now);
            }
        }
    }

    fn resume_background(&mut self, path: &mut IoPath, call: BackgroundCall, now: Time) {
        let (stripes, background) = (&mut self.stripes, &mut self.background);
        match call {
            BackgroundCall::Row(job) => background.step_row(stripes, path, job, now),
            BackgroundCall::RowRead(job) => background.row_read(stripes, path, job, now),
            BackgroundCall::BeginRows(array, rows) => {
                background.begin_each(stripes, path, array, rows, now);
            }
            BackgroundCall::Follow { array, busy } => {
                background.follow_on(stripes, path, array, busy, now);
            }
            BackgroundCall::Rows { array, current } => {
                background.put_rows(stripes, path, array, current, now);
            }
            BackgroundCall::RowsDone { array, current } => {
                background.rows_done(stripes, path, array, current, now);
            }
        }
    }
}
