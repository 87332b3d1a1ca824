//! Programs in flight from the write buffer to NAND.

use crate::ssd::ids::{DieId, SetId};
use raidlab_kernel::Table;
use std::collections::VecDeque;

/// Programs in flight, and what has been programmed so far.
#[derive(Debug)]
pub(crate) struct Programs {
    /// Host units in each die's open page set.
    pub(crate) open_units: Table<DieId, u32>,
    /// Each die's page sets with host data that are not in NAND yet.
    pub(crate) pending: Table<DieId, VecDeque<SetId>>,
    /// Page sets of the host's that a die may have in flight while others have room.
    pub(crate) share: usize,
    /// Page sets since the last parity.
    pub(crate) since_parity: u32,
    /// One page set in this many is parity; 0 for none.
    pub(crate) parity_stripe: u32,
    /// Page sets of data programmed.
    pub(crate) issued: u64,
    /// Page sets of parity programmed.
    pub(crate) parities: u64,
    /// Units that the buffer took from the host.
    pub(crate) taken: u64,
    /// Units of them that replaced older data in the buffer, which were never programmed.
    pub(crate) overwritten: u64,
    /// Units read because a write covered a part of them.
    pub(crate) partial_reads: u64,
}

impl Programs {
    /// No program in flight. A die's share of the buffer is `share` page sets.
    pub(crate) fn new(dies: u32, parity_stripe: u32, share: usize) -> Programs {
        Programs {
            share,
            open_units: vec![0; dies as usize].into(),
            pending: vec![VecDeque::with_capacity(2 * share); dies as usize].into(),
            since_parity: 0,
            parity_stripe,
            issued: 0,
            parities: 0,
            taken: 0,
            overwritten: 0,
            partial_reads: 0,
        }
    }

    /// True if a page set of a die is in flight to NAND.
    #[inline]
    pub(crate) fn are_pending(&self, die: DieId, set: SetId) -> bool {
        // A loop that does not stop early compares several sets at once.
        let among = |sets: &[SetId]| {
            sets.iter()
                .fold(false, |found, &other| found | (other == set))
        };
        let (older, newer) = self.pending[die].as_slices();
        among(older) | among(newer)
    }

    /// Counts a page set of data; true if a page set of parity follows it.
    #[inline]
    pub(crate) fn count_set(&mut self) -> bool {
        self.issued += 1;
        self.since_parity += 1;
        let parity_is_due = self.parity_stripe > 0 && self.since_parity == self.parity_stripe - 1;
        if parity_is_due {
            self.since_parity = 0;
            self.parities += 1;
        }
        parity_is_due
    }

    /// Counts anew from here on.
    pub(crate) fn reset_counts(&mut self) {
        self.issued = 0;
        self.parities = 0;
        self.overwritten = 0;
    }
}
