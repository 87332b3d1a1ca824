//! One core that works on a read twice: when the command comes, and when its data have come.
//!
//! The time at which the data come is computed ahead, so the core is booked from then on. A command
//! that arrives earlier finds the core free until then.

use crate::ssd::firmware::params::FirmwareParams;
use crate::ssd::nand::channel::Channel;
use raidlab_kernel::{Nanos, Served, Time};

/// The host's core, with the work that is booked on it.
#[derive(Debug)]
pub(super) struct BookedCore {
    bookings: Channel,
    /// Work on a read whose data have come.
    finish: Nanos,
    /// Work on each unit of such a read.
    finish_unit: Nanos,
}

impl BookedCore {
    /// The core of a card that works on reads whose data have come; none of any other.
    pub(super) fn of(times: &FirmwareParams) -> Option<BookedCore> {
        (times.finish_ns + times.finish_unit_ns > Nanos::ZERO).then(|| BookedCore {
            bookings: Channel::default(),
            finish: times.finish_ns,
            finish_unit: times.finish_unit_ns,
        })
    }

    /// Reserves the first `time` that is free from `now` on.
    #[inline]
    pub(super) fn serve(&mut self, now: Time, time: Nanos) -> Served {
        self.bookings.book(now, time)
    }

    /// The data of a read of `units` are in memory at `at`.
    #[inline]
    pub(super) fn finish_read(&mut self, units: u32, at: Time) -> Served {
        let time = self.finish + self.finish_unit * u64::from(units);
        self.bookings.book(at, time)
    }

    /// All that was booked so far was done before the run.
    pub(super) fn set_free(&mut self) {
        self.bookings = Channel::default();
    }

    /// Work up to `now`.
    pub(super) fn busy_until(&self, now: Time) -> Nanos {
        self.bookings.busy_until(now)
    }
}
