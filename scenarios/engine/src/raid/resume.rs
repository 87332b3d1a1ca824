//! Work that waited on the agenda for what went up before it.

use crate::ids::JobId;
use crate::path::Path;
use crate::path::agenda::{Call, Up};
use crate::raid::Raid;
use crate::raid::bitmap::updates;
use crate::raid::jobs::Work;
use raidlab_kernel::Time;

impl Raid {
    /// Work of `raid` that waited.
    pub(crate) fn resume(&mut self, path: &mut Path, call: Call, now: Time) -> Up {
        match call {
            Call::PassOn(io) => return self.pass_on(path, io, now),
            Call::GoOn(io) => return self.go_on(path, io, now),
            Call::Ready(io, at) => return self.ready(path, io, at, now),
            Call::Job(job) => self.job_done(path, job, now),
            Call::FinishJob(job) => self.stripes.finish_job(path, job, now),
            Call::Unlocked(job) => self.stripes.unlocked(path, job, now),
            Call::SlotFailed(job) => self.lines().write_without_slot(path, job, now),
            other => self.resume_cache(path, other, now),
        }
        Up::None
    }

    /// A job that was not for a stripe alone is done.
    fn job_done(&mut self, path: &mut Path, job: JobId, now: Time) {
        let stripes = &mut self.stripes;
        match stripes.jobs()[job].work() {
            Work::Destage(destage) => self.cache.finish_destage(stripes, path, job, destage, now),
            Work::Fill(fill) => self.cache.finish_fill(stripes, path, job, fill, now),
            Work::Fetch(fetch) => self.lines().finish_fetch(path, job, fetch, now),
            Work::Bitmap(update) => updates::step(stripes, path, job, update, now),
            Work::Bypass => self.lines().finish_piece(path, job, now),
            Work::WriteSlot(at) => self.lines().slot_written(path, job, at, now),
            other => unreachable!("{other:?} ends in the stripes"),
        }
    }

    fn resume_cache(&mut self, path: &mut Path, call: Call, now: Time) {
        let Raid { stripes, cache, .. } = self;
        match call {
            Call::Asked(io, job) => cache.asked(stripes, path, io, job, now),
            Call::ReadAhead(array, range) => cache.read_ahead(stripes, path, array, range, now),
            Call::ReadOn(array, stream) => cache.read_on(stripes, path, array, stream, now),
            Call::Readers => cache.wake_readers(stripes, path, now),
            Call::WrittenBack(at) => cache.flush_and_destage(stripes, path, at, now),
            Call::AdmitWaiting(at) => cache.admit_waiting(stripes, path, at, now),
            Call::Destage(at) => cache.destage(stripes, path, at, now),
            Call::Destaged { array, group, full } => {
                cache.destaged(stripes, path, array, group, full, now);
            }
            other => self.resume_background(path, other, now),
        }
    }

    fn resume_background(&mut self, path: &mut Path, call: Call, now: Time) {
        let (stripes, background) = (&mut self.stripes, &mut self.background);
        match call {
            Call::Row(job) => background.step_row(stripes, path, job, now),
            Call::RowRead(job) => background.row_read(stripes, path, job, now),
            Call::BeginRows(array, rows) => background.begin_each(stripes, path, array, rows, now),
            Call::Follow { array, busy } => background.follow_on(stripes, path, array, busy, now),
            Call::Rows { array, current } => {
                background.put_rows(stripes, path, array, current, now);
            }
            Call::RowsDone { array, current } => {
                background.rows_done(stripes, path, array, current, now);
            }
            other => unreachable!("{other:?} is not raid's"),
        }
    }
}
