//! Reading ahead of a host that reads one command after the other.
//!
//! A drive that is asked for one strictly sequential read at a time, the next only after the
//! last is complete, reads ahead into its buffer: the host's own latency then hides the NAND.
//! Two commands outstanding are no such stream any more, and nothing is read ahead.

use super::reads::Gathered;
use raidlab_kernel::Time;
use serde::{Deserialize, Serialize};

/// Prefetching in the plan.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct PrefetchParams {
    /// Bytes read ahead of the stream.
    pub window_bytes: u64,
    /// Sequential commands, each alone in the drive, before reading ahead begins.
    pub after_commands: u32,
}

/// The stream that is followed, and what has been read ahead of it.
#[derive(Debug)]
pub(super) struct Prefetch {
    window: u32,
    after: u32,
    run: u32,
    /// Units read ahead: from `first` up to `end`.
    first: u64,
    end: u64,
    /// When each of them is in the buffer, by unit modulo its length.
    ready: Vec<Time>,
}

impl Prefetch {
    pub(super) fn new(params: &PrefetchParams, unit_bytes: u32) -> Prefetch {
        let window = params.window_bytes.div_ceil(u64::from(unit_bytes)).max(1);
        Prefetch {
            window: window as u32,
            after: params.after_commands.max(1),
            run: 0,
            first: 0,
            end: 0,
            ready: vec![Time::ZERO; (2 * window).next_power_of_two() as usize],
        }
    }

    /// Takes note of a read. It is of the stream if it begins where the last one ended and no
    /// other command is in the drive; else what was read ahead is forgotten.
    #[inline]
    pub(super) fn observe(&mut self, of_the_stream: bool) {
        if of_the_stream {
            self.run = self.run.saturating_add(1);
        } else {
            self.run = 0;
            self.first = 0;
            self.end = 0;
        }
    }

    /// True if the last reads were a stream that is worth reading ahead of.
    #[inline]
    pub(super) fn follows_a_stream(&self) -> bool {
        self.run >= self.after
    }

    /// How many of `count` units from `first` on were read ahead, without a gap, and when they are
    /// in the buffer for a read that is there at `at`. Of none nothing is ever there first.
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

    /// The units of `units` to read ahead of a host that goes on in unit `next`: from the first to
    /// the second, the latter excluded.
    #[inline]
    pub(super) fn wanted(&self, next: u64, units: u64) -> (u64, u64) {
        let to = (next + u64::from(self.window)).min(units);
        (self.end.max(next), to)
    }

    /// `unit`, the next one, will be in the buffer at `at`.
    #[inline]
    pub(super) fn fetched(&mut self, unit: u64, at: Time) {
        let mask = self.ready.len() as u64 - 1;
        if self.end != unit {
            self.first = unit;
        }
        self.end = unit + 1;
        self.first = self.first.max(self.end.saturating_sub(mask + 1));
        self.ready[(unit & mask) as usize] = at;
    }
}
