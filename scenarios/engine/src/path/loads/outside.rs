//! What is recorded of I/Os that an outside caller issues.

use crate::path::loads::Loads;
use crate::state::measure::Meter;
use raidlab_kernel::{Io, Nanos, Time};

/// A step of the timeline at first; it doubles whenever there is no space for a further one.
const FIRST_STEP: Nanos = Nanos(1_000_000);

/// A record for each array; none of them unless the caller asked for it.
#[derive(Debug, Default)]
pub(crate) struct OutsideRecord(Vec<Meter>);

impl OutsideRecord {
    /// Records from now, time zero, to whenever the caller stops; in so many steps at most.
    pub(crate) fn begin(&mut self, arrays: usize, steps: usize) {
        let step = if steps > 0 { FIRST_STEP } else { Nanos::ZERO };
        let meter = |_| Meter::new(Time::ZERO, Time::NEVER, step, steps).without_end();
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
