//! What is recorded of I/Os that an outside caller issues.

use crate::path::loads::Loads;
use crate::state::measure::Meter;
use crate::state::owner::OwnerOf;
use crate::state::slowest::Slowest;
use raidlab_kernel::{Io, Nanos, Op, Time};

/// A step of the timeline at first; it doubles whenever there is no space for a further one.
const FIRST_STEP: Nanos = Nanos(1_000_000);

/// A record for each array, or for each load of the caller; none of them unless it asked for it.
#[derive(Debug, Default)]
pub(crate) struct OutsideRecord {
    meters: Vec<Meter>,
    /// The load of each outside thread; empty if arrays count.
    load_of_thread: Vec<u32>,
}

impl OutsideRecord {
    /// Records from now, time zero, to whenever the caller stops; in so many steps at most.
    pub(crate) fn begin(&mut self, arrays: usize, steps: usize) {
        let step = if steps > 0 { FIRST_STEP } else { Nanos::ZERO };
        let meter = |_| Meter::new(Time::ZERO, Time::NEVER, step, steps).without_end();
        self.meters = (0..arrays).map(meter).collect();
    }

    /// The same, by the load of each outside thread.
    pub(crate) fn begin_by_load(&mut self, load_of_thread: Vec<u32>, loads: usize, steps: usize) {
        self.begin(loads, steps);
        self.load_of_thread = load_of_thread;
    }

    /// By array, or by load.
    pub(crate) fn meters(&self) -> &[Meter] {
        &self.meters
    }

    /// A load is recorded from a time on, in so many steps of its timeline, with so many of its
    /// slowest I/Os.
    pub(crate) fn begin_load(&mut self, load: u32, from: Time, steps: usize, slowest: u32) {
        let mut meter = Meter::new(from, Time::NEVER, FIRST_STEP, steps).without_end();
        meter.slowest = Slowest::new(slowest as usize);
        self.meters[load as usize] = meter;
    }

    fn meter(&mut self, io: &Io) -> Option<&mut Meter> {
        if self.load_of_thread.is_empty() {
            return self.meters.get_mut(io.array as usize);
        }
        if io.op == Op::Flush {
            return None;
        }
        let thread = io.owner.outside_number() as usize % self.load_of_thread.len();
        self.meters.get_mut(self.load_of_thread[thread] as usize)
    }
}

impl Loads {
    /// Counts an I/O whose record is charged up to its completion.
    #[inline]
    pub(crate) fn record_outside(&mut self, io: &Io) {
        if let Some(meter) = self.outside.meter(io) {
            if io.refused {
                meter.fail(io.mark);
            } else if meter.record(io) {
                meter.slowest.offer(io);
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
