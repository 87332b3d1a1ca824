//! What is recorded of I/Os that an outside caller issues.

use crate::path::loads::Loads;
use crate::state::measure::Meter;
use raidlab_kernel::{Io, Nanos, Time};

/// A record for each array; none of them unless the caller asked for it.
#[derive(Debug, Default)]
pub(crate) struct OutsideRecord(Vec<Meter>);

impl OutsideRecord {
    /// Records from now, time zero, to whenever the caller stops.
    pub(crate) fn begin(&mut self, arrays: usize) {
        let meter = |_| Meter::new(Time::ZERO, Time::NEVER, Nanos::ZERO, 0);
        self.0 = (0..arrays).map(meter).collect();
    }

    /// By array.
    pub(crate) fn meters(&self) -> &[Meter] {
        &self.0
    }

    fn meter(&mut self, io: &Io) -> Option<&mut Meter> {
        self.0.get_mut(io.array as usize)
    }
}

impl Loads {
    /// Counts an I/O whose record is charged up to its completion.
    #[inline]
    pub(crate) fn record_outside(&mut self, io: &Io) {
        if let Some(meter) = self.outside.meter(io) {
            if io.refused {
                meter.fail(io.mark);
            } else {
                meter.record(io);
            }
        }
    }

    /// Counts an I/O that a power failure cut off.
    pub(crate) fn outside_cut_off(&mut self, io: &Io) {
        if let Some(meter) = self.outside.meter(io) {
            meter.fail(io.mark);
        }
    }
}
