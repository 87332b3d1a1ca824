//! Reading ahead of a host that reads one command after the other.
//!
//! A drive that is asked for one strictly sequential read at a time, the next only after the
//! last is complete, reads ahead into its buffer: the host's own latency then hides the NAND.
//! Two commands outstanding are no such stream any more, and nothing is read ahead.

use super::read_buffer::ReadBuffer;
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
    pub(super) ahead: ReadBuffer,
}

impl Prefetch {
    pub(super) fn new(params: &PrefetchParams, unit_bytes: u32) -> Prefetch {
        let window = params.window_bytes.div_ceil(u64::from(unit_bytes)).max(1);
        Prefetch {
            window: window as u32,
            after: params.after_commands.max(1),
            run: 0,
            ahead: ReadBuffer::new(2 * window),
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
            self.ahead.forget();
        }
    }

    /// True if the last reads were a stream that is worth reading ahead of.
    #[inline]
    pub(super) fn follows_a_stream(&self) -> bool {
        self.run >= self.after
    }

    /// The units of `units` to read ahead of a host that goes on in unit `next`: from the first to
    /// the second, the latter excluded.
    #[inline]
    pub(super) fn wanted(&self, next: u64, units: u64) -> (u64, u64) {
        let to = (next + u64::from(self.window)).min(units);
        (self.ahead.end().max(next), to)
    }
}
