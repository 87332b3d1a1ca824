//! Reading ahead of a host that reads one command after the other.
//!
//! A host may read strictly sequentially, and ask for the next command only after the last is
//! complete. The drive then reads ahead into its buffer, so that the host's own latency hides the
//! NAND. With two commands outstanding nothing is read ahead.

use crate::ssd::buffer::read_buffer::ReadBuffer;
use crate::ssd::firmware::streams::Follows;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Prefetching in the plan.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct PrefetchParams {
    /// Bytes read ahead of the stream.
    pub window_bytes: u64,
    /// Sequential commands, each alone in the drive, before reading ahead begins.
    pub after_commands: u32,
}

/// The sequential stream, and what has been read ahead of it.
#[derive(Debug)]
pub(crate) struct Prefetch {
    window: u32,
    after: u32,
    run: u32,
    pub(crate) ahead: ReadBuffer,
}

impl Prefetch {
    pub(crate) fn new(params: &PrefetchParams, unit_bytes: u32) -> Prefetch {
        let window = params.window_bytes.div_ceil(u64::from(unit_bytes)).max(1);
        Prefetch {
            window: window as u32,
            after: params.after_commands.max(1),
            run: 0,
            ahead: ReadBuffer::new(2 * window),
        }
    }

    /// Takes note of a read. A read that does not go on with the stream, alone in the drive, drops
    /// what was read ahead.
    #[inline]
    pub(crate) fn observe(&mut self, read: Follows) {
        if read.alone {
            self.run = self.run.saturating_add(1);
        } else {
            self.run = 0;
            self.ahead.clear();
        }
    }

    /// True if the last reads were a stream that is worth reading ahead of.
    #[inline]
    pub(crate) fn follows_a_stream(&self) -> bool {
        self.run >= self.after
    }

    /// The units of `units` to read ahead of a host that goes on in unit `next`: from the first to
    /// the second, the latter excluded.
    #[inline]
    pub(crate) fn wanted(&self, next: u64, units: u64) -> (u64, u64) {
        let to = (next + u64::from(self.window)).min(units);
        (self.ahead.end().max(next), to)
    }
}
