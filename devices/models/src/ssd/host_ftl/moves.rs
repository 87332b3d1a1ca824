//! Moves of garbage collection, in batches on the core.
//!
//! A driver that writes a log over all channels gathers what it moves until that fills a stripe,
//! and then moves all of it. Commands that come meanwhile wait.

use raidlab_kernel::{Nanos, Stream};

/// Units that collection gathers until the core moves them.
#[derive(Debug)]
pub(super) struct MoveBatches {
    /// Core time of a unit.
    unit: Nanos,
    /// Units of a batch.
    batch: u32,
    /// Units since the last batch.
    gathered: u32,
}

impl MoveBatches {
    /// How far a batch has been gathered before the run is drawn: two cards with one history do not
    /// stop together.
    pub(super) fn new(unit: Nanos, batch: u32, draws: &mut Stream) -> MoveBatches {
        MoveBatches {
            unit,
            batch,
            gathered: match batch {
                1 => 0,
                batch => draws.below(u64::from(batch)) as u32,
            },
        }
    }

    /// `units` more are to be moved: core time of the batch, if that is full now.
    #[inline]
    pub(super) fn gather(&mut self, units: u32) -> Option<Nanos> {
        if self.unit == Nanos::ZERO {
            return None;
        }
        self.gathered += units;
        if self.gathered < self.batch {
            return None;
        }
        Some(self.unit * u64::from(std::mem::take(&mut self.gathered)))
    }
}
