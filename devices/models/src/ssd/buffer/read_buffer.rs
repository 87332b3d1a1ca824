//! A range of units in the drive's memory, and when each unit is there.

use crate::ssd::ids::UnitId;
use raidlab_kernel::Time;

/// When data are in memory: the first of them, and all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) first: Time,
    pub(crate) last: Time,
}

impl Arrival {
    /// No data, for a command that goes on at `at`.
    #[inline]
    pub(crate) fn of_nothing(at: Time) -> Arrival {
        Arrival {
            first: Time::NEVER,
            last: at,
        }
    }
}

/// Consecutive units, as many of the last ones as there is memory for.
#[derive(Clone, Debug)]
pub(crate) struct ReadBuffer {
    /// Its units: from `first` up to `end`.
    first: u64,
    end: u64,
    /// When each of them is there, by unit modulo its length.
    ready: Box<[Time]>,
}

impl ReadBuffer {
    /// Room for `units` at least.
    pub(crate) fn new(units: u64) -> ReadBuffer {
        ReadBuffer {
            first: 0,
            end: 0,
            ready: vec![Time::ZERO; units.next_power_of_two() as usize].into(),
        }
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        (self.first, self.end) = (0, 0);
    }

    /// After the last unit.
    #[inline]
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Its units: the first, and the one after the last.
    #[inline]
    pub(crate) fn range(&self) -> (u64, u64) {
        (self.first, self.end)
    }

    /// How many of `count` units from `first` on are in the buffer, without a gap, and when they
    /// are in memory for a read that goes on at `at`.
    #[inline]
    pub(crate) fn take(&self, first: UnitId, count: u32, at: Time) -> (u32, Arrival) {
        let first = u64::from(first.number());
        if first < self.first || first >= self.end {
            return (0, Arrival::of_nothing(at));
        }
        let units = u64::from(count).min(self.end - first);
        let times =
            (first..first + units).map(|unit| self.ready[unit as usize & (self.ready.len() - 1)]);
        let arrival = times.fold(Arrival::of_nothing(at), |arrival, time| Arrival {
            first: arrival.first.min(time.max(at)),
            last: arrival.last.max(time),
        });
        (units as u32, arrival)
    }

    /// `unit` will be in memory at `at`. It drops what does not end where that unit begins.
    #[inline]
    pub(crate) fn put(&mut self, unit: u64, at: Time) {
        let mask = self.ready.len() as u64 - 1;
        if self.end != unit {
            self.first = unit;
        }
        self.end = unit + 1;
        self.first = self.first.max(self.end.saturating_sub(mask + 1));
        self.ready[(unit & mask) as usize] = at;
    }
}
