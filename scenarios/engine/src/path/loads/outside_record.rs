//! What is recorded of I/Os that an outside caller issues.

use crate::ids::ArrayId;
use crate::plan::Details;
use crate::state::measure::Meter;
use crate::state::owner::OwnerOf;
use raidlab_io::{Io, Op};
use raidlab_kernel::{Nanos, Time};

/// A step of the timeline at first; it doubles whenever there is no space for a further one.
const FIRST_STEP: Nanos = Nanos(1_000_000);

/// A record for each array, or for each load of the caller; none of them unless it asked for it.
#[derive(Debug, Default)]
pub(crate) struct OutsideRecord {
    meters: Vec<Meter>,
    /// The load of each outside thread; empty if arrays count.
    load_of_thread: Vec<u32>,
    details: Details,
}

impl OutsideRecord {
    /// Records from now, time zero, until the caller stops; in at most `steps` steps.
    pub(crate) fn begin(&mut self, arrays: usize, steps: usize, details: Details) {
        self.details = details;
        self.meters = (0..arrays).map(|_| self.fresh(Time::ZERO, steps)).collect();
    }

    /// As `begin`, by the load of each outside thread.
    pub(crate) fn begin_by_load(&mut self, load_of_thread: Vec<u32>, loads: usize, steps: usize) {
        self.begin(loads, steps, self.details);
        self.load_of_thread = load_of_thread;
    }

    fn fresh(&self, from: Time, steps: usize) -> Meter {
        let step = if steps > 0 { FIRST_STEP } else { Nanos::ZERO };
        let meter = Meter::new(from, Time::NEVER, step, steps).without_end();
        meter.with_details(&self.details)
    }

    /// By array, or by load.
    pub(crate) fn meters(&self) -> &[Meter] {
        &self.meters
    }

    /// One of them.
    pub(crate) fn meter_at(&mut self, at: usize) -> Option<&mut Meter> {
        self.meters.get_mut(at)
    }

    /// A load is recorded from a time on, in `steps` steps of its timeline.
    pub(crate) fn begin_load(&mut self, load: u32, from: Time, steps: usize) {
        self.meters[load as usize] = self.fresh(from, steps);
    }

    /// Which of the records takes an I/O with this number on an array.
    pub(crate) fn place(&self, number: u32, array: ArrayId) -> usize {
        match self.load_of_thread.len() {
            0 => array.index(),
            threads => self.load_of_thread[number as usize % threads] as usize,
        }
    }

    pub(super) fn meter(&mut self, io: &Io) -> Option<(usize, &mut Meter)> {
        if io.op == Op::Flush && !self.load_of_thread.is_empty() {
            return None;
        }
        let place = self.place(io.owner.outside_number(), io.array);
        Some((place, self.meters.get_mut(place)?))
    }
}
