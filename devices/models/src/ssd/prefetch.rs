//! Reading ahead of a host that reads one command after the other.
//!
//! A drive that is asked for one strictly sequential read at a time, the next only after the
//! last is complete, reads ahead into its buffer: the host's own latency then hides the NAND.
//! Two commands outstanding are no such stream any more, and nothing is read ahead.

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
    /// The unit in which the host would go on.
    expected: u64,
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
            expected: u64::MAX,
            run: 0,
            first: 0,
            end: 0,
            ready: vec![Time::ZERO; (2 * window).next_power_of_two() as usize],
        }
    }

    /// Takes note of a read after which the host would go on in unit `next`. It is of the
    /// stream if it begins where the last one ended and no other command is in the drive; else
    /// what was read ahead is forgotten.
    #[inline]
    pub(super) fn observe(&mut self, next: u64, of_the_stream: bool) {
        if of_the_stream {
            self.run = self.run.saturating_add(1);
        } else {
            self.run = 0;
            self.first = 0;
            self.end = 0;
        }
        self.expected = next;
    }

    /// When `unit` is in the buffer, if it was read ahead.
    #[inline]
    pub(super) fn ready(&self, unit: u64) -> Option<Time> {
        (self.first <= unit && unit < self.end)
            .then(|| self.ready[unit as usize & (self.ready.len() - 1)])
    }

    /// The units to read ahead now: from the first to the second, the latter excluded.
    #[inline]
    pub(super) fn wanted(&self, units: u64) -> Option<(u64, u64)> {
        if self.run < self.after {
            return None;
        }
        let from = self.end.max(self.expected);
        let to = (self.expected + u64::from(self.window)).min(units);
        (from < to).then_some((from, to))
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
