//! Of jbod: where each drive begins, one behind the other.

use crate::ids::{MemberId, StripeId};
use raidlab_kernel::{Id, Table};

/// Where a drive of a jbod begins.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Start {
    /// Bytes of the array before it.
    pub(super) bytes: u64,
    /// Its first stripe.
    pub(super) stripe: StripeId,
}

/// Drives one behind the other.
#[derive(Clone, Debug)]
pub(crate) struct Concatenated {
    starts: Table<MemberId, Start>,
    /// Behind the last drive.
    end: Start,
}

impl Concatenated {
    /// Drives of these capacities.
    ///
    /// Every drive begins with a unit: caches hold units of the array. The last one is used to its
    /// end.
    pub(super) fn new(unit: u64, capacities: &[u64]) -> Concatenated {
        let (mut starts, mut end) = (Table::default(), Start::default());
        for (drive, &capacity) in capacities.iter().enumerate() {
            starts.push(end);
            let over = match drive + 1 == capacities.len() {
                true => 0,
                false => capacity % unit,
            };
            end.bytes = end.bytes.saturating_add(capacity - over);
            end.stripe = end.stripe.plus((capacity - over).div_ceil(unit));
        }
        Concatenated { starts, end }
    }

    /// Behind the last byte and the last stripe of all drives.
    pub(super) fn end(&self) -> Start {
        self.end
    }

    /// Where a drive begins, if there is one of this number.
    pub(super) fn start(&self, drive: MemberId) -> Option<Start> {
        self.starts.get(drive).copied()
    }

    /// The drive of a byte of the array, and where that drive begins.
    pub(super) fn drive_at(&self, offset: u64) -> (MemberId, Start) {
        self.last(|start| start.bytes <= offset)
    }

    /// The drive of a stripe, and where that drive begins.
    pub(super) fn drive_of(&self, stripe: StripeId) -> (MemberId, Start) {
        self.last(|start| start.stripe <= stripe)
    }

    /// The last drive whose beginning passes a test, which those before it pass as well.
    #[inline]
    fn last(&self, passes: impl Fn(&Start) -> bool) -> (MemberId, Start) {
        let drive = MemberId::at(self.starts.as_slice().partition_point(passes) - 1);
        (drive, self.starts[drive])
    }

    /// The array's offset behind a drive's last byte.
    pub(super) fn end_of(&self, drive: MemberId) -> u64 {
        self.start(drive.plus(1)).unwrap_or(self.end).bytes
    }
}
