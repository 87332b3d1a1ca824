//! The cores that work on commands, first come first served.

use raidlab_kernel::{Nanos, Served, Stations, Time};

/// The cores of a drive's controller, or of the host for one of its cards.
#[derive(Debug)]
pub struct Cores {
    cores: Stations,
}

impl Cores {
    /// `count` idle cores.
    pub(crate) fn new(count: u32) -> Cores {
        Cores {
            cores: Stations::new(count as usize),
        }
    }

    /// The core that is free first works for `time` on what arrives at `now`.
    #[inline]
    pub(crate) fn serve(&mut self, now: Time, time: Nanos) -> Served {
        self.cores.serve(now, time)
    }

    /// No core takes anything up before `until`.
    pub(crate) fn occupy_until(&mut self, until: Time, now: Time) {
        self.cores.occupy_until(until, now);
    }

    /// All work so far was done before the run.
    pub(crate) fn set_free(&mut self) {
        self.cores = Stations::new(self.cores.count());
    }

    /// Work of all cores up to `now`, and how many there are.
    pub(crate) fn busy_until(&self, now: Time) -> (Nanos, usize) {
        (self.cores.busy_until(now), self.cores.count())
    }
}
