//! Work that waited on the agenda for what went up before it.

use crate::path::Path;
use crate::path::agenda::Call;
use crate::raid::Raid;
use raidlab_kernel::Time;

impl Raid {
    /// Work of `raid` that waited.
    pub(crate) fn resume(&mut self, path: &mut Path, call: Call, now: Time) {
        let Raid {
            stripes,
            background,
        } = self;
        match call {
            Call::Asked(io, job) => stripes.asked(path, io, job, now),
            Call::ReadAhead(array, range) => stripes.read_ahead(path, array, range, now),
            Call::ReadOn(array, stream) => stripes.read_on(path, array, stream, now),
            Call::Readers => stripes.wake_readers(path, now),
            Call::WrittenBack(controller) => {
                stripes.arm_flush(path, controller, now);
                stripes.destage(path, controller, now);
            }
            Call::AdmitWaiting(controller) => stripes.admit_waiting(path, controller, now),
            Call::Destage(controller) => stripes.destage(path, controller, now),
            Call::Destaged { array, group, full } => {
                stripes.destaged(path, array, group, full, now)
            }
            Call::FinishJob(job) => stripes.finish_job(path, job, now),
            Call::Unlocked(job) => stripes.unlocked(path, job, now),
            Call::SlotFailed(job) => stripes.write_without_slot(path, job, now),
            Call::Row(job) => background.step_row(stripes, path, job, now),
            Call::RowRead(job) => background.row_read(stripes, path, job, now),
            Call::BeginRows(array, rows) => background.begin_each(stripes, path, array, rows, now),
            Call::Follow { array, busy } => background.follow_on(stripes, path, array, busy, now),
            Call::Rows { array, current } => {
                background.put_rows(stripes, path, array, current, now)
            }
            Call::RowsDone { array, current } => {
                background.rows_done(stripes, path, array, current, now)
            }
            other => unreachable!("{other:?} is not raid's"),
        }
    }
}
