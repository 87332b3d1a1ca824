//! A stretch of units in the drive's memory: where it lies, and when each unit is there.

use super::reads::Gathered;
use raidlab_kernel::Time;

/// Units that follow each other, the latest of them.
#[derive(Clone, Debug)]
pub(super) struct ReadBuffer {
    /// Units held: from `first` up to `end`.
    first: u64,
    end: u64,
    /// When each of them is there, by unit modulo its length.
    ready: Box<[Time]>,
}

impl ReadBuffer {
    /// Room for `units` at least.
    pub(super) fn new(units: u64) -> ReadBuffer {
        ReadBuffer {
            first: 0,
            end: 0,
            ready: vec![Time::ZERO; units.next_power_of_two() as usize].into(),
        }
    }

    #[inline]
    pub(super) fn forget(&mut self) {
        (self.first, self.end) = (0, 0);
    }

    /// After the last unit held.
    #[inline]
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// How many of `count` units from `first` on it holds, without a gap, and when they are there
    /// for a read that is there at `at`. Of none nothing is ever there first.
    #[inline]
    pub(super) fn take(&self, first: u32, count: u32, at: Time) -> (u32, Gathered) {
        let first = u64::from(first);
        if first < self.first || first >= self.end {
            return (0, Gathered::nothing(Time::NEVER, at));
        }
        let units = u64::from(count).min(self.end - first);
        let times =
            (first..first + units).map(|unit| self.ready[unit as usize & (self.ready.len() - 1)]);
        let (earliest, last) = times.fold((Time::NEVER, at), |(earliest, last), time| {
            (earliest.min(time.max(at)), last.max(time))
        });
        (units as u32, Gathered::nothing(earliest, last))
    }

    /// `unit` will be there at `at`; what does not end where it begins is forgotten.
    #[inline]
    pub(super) fn put(&mut self, unit: u64, at: Time) {
        let mask = self.ready.len() as u64 - 1;
        if self.end != unit {
            self.first = unit;
        }
        self.end = unit + 1;
        self.first = self.first.max(self.end.saturating_sub(mask + 1));
        self.ready[(unit & mask) as usize] = at;
    }
}
