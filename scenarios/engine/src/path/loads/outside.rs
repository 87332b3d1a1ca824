//! I/Os of an outside caller are recorded.

use crate::path::loads::Loads;
use raidlab_io::Io;

impl Loads {
    /// Counts an I/O whose record is charged up to its completion.
    #[inline]
    pub(crate) fn record_outside(&mut self, io: &Io) {
        if let Some((place, meter)) = self.records.outside.meter(io) {
            if io.refused {
                meter.fail(io.mark);
            } else if meter.record(io) && meter.slowest.offer(io) {
                self.records
                    .notice((self.records.workloads.len() + place) as u32, io.array);
            }
        }
    }

    /// Counts an I/O that a power failure cut off.
    pub(crate) fn outside_cut_off(&mut self, io: &Io) {
        if let Some((_, meter)) = self.records.outside.meter(io) {
            meter.fail(io.mark);
        }
    }
}
