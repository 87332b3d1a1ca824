//! When dies collect in the background.

use crate::ssd::ids::DieId;
use raidlab_kernel::{Nanos, Table, Time};

/// The clock of background collection on each die.
#[derive(Debug)]
pub(crate) struct Background {
    /// When the last step began; `Time::NEVER` if there was none since the last rest.
    since: Table<DieId, Time>,
    /// Until when a die rests.
    rest: Table<DieId, Time>,
    /// True for a die whose wake is in the calendar.
    wakes: Table<DieId, bool>,
    /// Rest for each nanosecond of work.
    rest_ratio: f64,
    /// True once the first command has come.
    pub(crate) started: bool,
}

impl Background {
    /// Dies that may spend this share of their time.
    pub(crate) fn new(dies: u32, share: f64) -> Background {
        Background {
            since: vec![Time::NEVER; dies as usize].into(),
            rest: vec![Time::ZERO; dies as usize].into(),
            wakes: vec![false; dies as usize].into(),
            rest_ratio: 1.0 / share - 1.0,
            started: false,
        }
    }

    /// Rest of a die that found nothing: as after a step of a program.
    pub(crate) fn pause(&self) -> Nanos {
        Nanos((1e6 * self.rest_ratio.max(1.0)) as u64)
    }

    /// Until when the die must rest, if it must.
    pub(crate) fn rest(&mut self, die: DieId, now: Time) -> Option<Time> {
        let since = std::mem::replace(&mut self.since[die], Time::NEVER);
        if since != Time::NEVER {
            let work = now.since(since);
            let rest = Nanos((work.0 as f64 * self.rest_ratio) as u64);
            self.rest[die] = now + rest;
        }
        Some(self.rest[die]).filter(|&until| until > now)
    }

    /// A step begins.
    pub(crate) fn begins(&mut self, die: DieId, now: Time) {
        self.since[die] = now;
    }

    /// The step had nothing to do.
    pub(crate) fn found_nothing(&mut self, die: DieId) {
        self.since[die] = Time::NEVER;
    }

    /// The die is to be woken; false if its wake is in the calendar already.
    pub(crate) fn wakes(&mut self, die: DieId) -> bool {
        !std::mem::replace(&mut self.wakes[die], true)
    }

    /// The die was woken.
    pub(crate) fn woke(&mut self, die: DieId) {
        self.wakes[die] = false;
    }
}
