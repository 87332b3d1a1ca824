//! Flushes on their path to a drive, as Linux's block layer sends them (block/blk-flush.c).
//!
//! A drive without a volatile cache gets none. SATA has no queued flush: all commands at the drive
//! end first, and none goes there until it is done (libata-core.c, ata_std_qc_defer); flushes that
//! wait meanwhile become one. SAS and NVMe queue flushes as any other command.

use crate::plan::{FlushCommand, FlushOrder, MdPlan};
use raidlab_io::{IoId, Ios, Queue};
use raidlab_kernel::Nanos;

/// Flushes of a drive.
#[derive(Debug, Default)]
pub(crate) struct Flushes {
    pub(crate) command: FlushCommand,
    /// Those that wait until the drive is empty.
    pub(crate) waiting: Queue,
    /// Those that the one at the drive stands for.
    pub(crate) riders: Queue,
    /// One is at the drive, alone.
    pub(crate) at_drive: bool,
}

impl Flushes {
    /// Of a drive that takes flushes so.
    pub(crate) fn new(command: FlushCommand) -> Flushes {
        Flushes {
            command,
            ..Flushes::default()
        }
    }

    /// True if other commands wait.
    #[inline]
    pub(crate) fn stop_others(&self) -> bool {
        self.at_drive || !self.waiting.is_empty()
    }
}

/// Flushes of an array in the host, as md passes them on: a worker sends one to each member, and when
/// all are back another worker lets the caller go on. See docs/explanation/md.md.
#[derive(Debug, Default)]
pub(crate) struct MdFlushes {
    order: FlushOrder,
    /// Until a worker takes a flush up.
    pub(crate) hand: Nanos,
    under_way: bool,
    /// Those that come while one is under way.
    waiting: Queue,
    /// Those that end with the one under way.
    riders: Queue,
}

impl MdFlushes {
    /// As the plan has it.
    pub(crate) fn of(plan: MdPlan) -> MdFlushes {
        MdFlushes {
            order: plan.flush_order,
            hand: plan.flush_hand_ns,
            ..MdFlushes::default()
        }
    }

    /// True if flushes pass other than at once and each by itself.
    pub(crate) fn are_passed_on(&self) -> bool {
        self.order != FlushOrder::Together || self.hand > Nanos::ZERO
    }

    /// A flush comes; true if it goes on now, false if it waits.
    pub(crate) fn begins(&mut self, ios: &mut Ios, id: IoId) -> bool {
        if self.order != FlushOrder::Together && self.under_way {
            self.waiting.push(ios, id);
            return false;
        }
        self.under_way = true;
        true
    }

    /// The flush under way goes to the members: it covers what the waiting callers have written.
    pub(crate) fn goes_out(&mut self, ios: &mut Ios) {
        if self.order == FlushOrder::Batches {
            while let Some(id) = self.waiting.pop(ios) {
                self.riders.push(ios, id);
            }
        }
    }

    /// The next one that ends with the flush that is over.
    pub(crate) fn next_rider(&mut self, ios: &Ios) -> Option<IoId> {
        self.riders.pop(ios)
    }

    /// The flush under way is over; gives the one that goes next.
    pub(crate) fn ends(&mut self, ios: &Ios) -> Option<IoId> {
        self.under_way = false;
        self.waiting.pop(ios)
    }

    /// The power fails: gives one of those that no member has, until there is none.
    pub(crate) fn forget(&mut self, ios: &Ios) -> Option<IoId> {
        self.under_way = false;
        self.waiting.pop(ios).or_else(|| self.riders.pop(ios))
    }
}
