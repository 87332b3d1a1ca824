//! Where the new data of a stripe that is handled page by page are cut (see `pages`).

use crate::ids::{ArrayId, ColumnId, StripeId};
use crate::layout::Extent;
use crate::raid::jobs::lock::Locks;
use crate::raid::jobs::state::StripeState;

/// New data that would be cut at more places stay in one piece, and wait for all in their way: writes
/// that lie across each other at random would be cut to pages.
const MOST: usize = 10;

/// Lists that are used again and again.
#[derive(Debug, Default)]
pub(super) struct Cutter {
    /// New data of a stripe.
    pub(super) extents: Vec<Extent>,
    /// Where they are cut.
    pub(super) cuts: Vec<u32>,
}

impl Cutter {
    /// Finds out where the extents of a stripe are cut, their ends included.
    pub fn cut(&mut self, locks: &Locks, state: &StripeState, array: ArrayId, stripe: StripeId) {
        let (volume, cuts) = (state.volume(array), &mut self.cuts);
        cuts.clear();
        for extent in &self.extents {
            cuts.extend([extent.start, extent.end]);
        }
        let (start, end) = cuts
            .iter()
            .fold((u32::MAX, 0), |(a, b), &cut| (a.min(cut), b.max(cut)));
        if self.extents.len() != 2 || self.extents[0].start <= self.extents[1].end {
            // All of it is about neighbouring pages.
            cuts.clear();
            cuts.extend([start, end]);
        }
        let key = volume.lock_key(array, stripe, ColumnId::new(0));
        locks.cuts(&state.jobs, volume, key, (start, end), cuts);
        cuts.sort_unstable();
        cuts.dedup();
        if cuts.len() > MOST {
            cuts.clear();
            cuts.extend([start, end]);
        }
    }
}
