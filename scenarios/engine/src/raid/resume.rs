//! Work that waited on the agenda for what went up before it.

use crate::path::Path;
use crate::path::agenda::Call;
use crate::raid::Raid;
use raidlab_kernel::Time;

impl Raid {
    /// Work of `raid` that waited.
    pub(crate) fn resume(&mut self, path: &mut Path, call: Call, now: Time) {
        match call {
            Call::Ready(io, at) => self.ready(path, io, at, now),
            Call::Asked(io, job) => self.asked(path, io, job, now),
            Call::ReadAhead(array, range) => self.read_ahead(path, array, range, now),
            Call::ReadOn(array, stream) => self.read_on(path, array, stream, now),
            Call::Readers => self.wake_readers(path, now),
            Call::WrittenBack(controller) => {
                self.arm_flush(path, controller, now);
                self.destage(path, controller, now);
            }
            Call::AdmitWaiting(controller) => self.admit_waiting(path, controller, now),
            Call::Destage(controller) => self.destage(path, controller, now),
            Call::Destaged { array, group, full } => self.destaged(path, array, group, full, now),
            Call::FinishJob(job) => self.finish_job(path, job, now),
            Call::Unlocked(job) => self.unlocked(path, job, now),
            Call::SlotGone(job) => self.slot_gone(path, job, now),
            Call::RowRead(job) => self.row_read(path, job, now),
            Call::BeginRows(array, rows) => self.begin_each(path, array, rows, now),
            Call::Follow { array, busy } => self.follow_on(path, array, busy, now),
            Call::Rows { array, current } => self.put_rows(path, array, current, now),
            Call::RowsDone { array, current } => self.rows_done(path, array, current, now),
            other => unreachable!("{other:?} is not raid's"),
        }
    }
}
