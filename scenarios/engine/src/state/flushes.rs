//! Flushes on their path to a drive, as Linux's block layer sends them (block/blk-flush.c).
//!
//! A drive without a volatile cache gets none. SATA has no queued flush: all commands at the drive
//! end first, and none goes there until it is done (libata-core.c, ata_std_qc_defer); flushes that
//! wait meanwhile become one. SAS and NVMe queue flushes as any other command.

use crate::plan::{FlushCommand, FlushOrder, MdPlan};
use crate::state::event::{Event, LoadsEvent};
use raidlab_io::{Io, IoId, Ios, Op, Part, Queue};
use raidlab_kernel::{Calendar, Nanos, Time};

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

    /// True if the drive gets flushes at all.
    pub(crate) fn are_sent(&self) -> bool {
        self.command != FlushCommand::Dropped
    }

    /// True of a flush that must be alone at its drive.
    #[inline]
    pub(crate) fn go_alone(&self, op: Op) -> bool {
        op == Op::Flush && self.command == FlushCommand::Alone
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
    hand: Nanos,
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

    /// True of a request that md passes on by its workers, and not at once and by itself. One behind a
    /// write with FUA (`fua`) is not: each member's own queue sends that.
    #[inline]
    pub(crate) fn pass_on(&self, io: &Io) -> bool {
        io.op == Op::Flush
            && !io.fua
            && (self.order != FlushOrder::Together || self.hand > Nanos::ZERO)
    }

    /// A flush comes to md, which takes it up or lets it wait for another one.
    #[cold]
    pub(crate) fn comes(
        &mut self,
        ios: &mut Ios,
        calendar: &mut Calendar<Event>,
        id: IoId,
        now: Time,
    ) {
        if self.order != FlushOrder::Together && self.under_way {
            return self.waiting.push(ios, id);
        }
        self.under_way = true;
        self.hand(&mut ios[id], calendar, LoadsEvent::FlushTaken(id), now);
    }

    /// A worker takes a flush up, some time after `now`.
    fn hand(&self, io: &mut Io, calendar: &mut Calendar<Event>, event: LoadsEvent, now: Time) {
        let at = now + self.hand;
        io.charge(Part::CacheWait, now);
        io.charge(Part::Raid, at);
        calendar.push(at, event.into());
    }

    /// The flush under way goes to the members: it covers what the waiting callers have written.
    pub(crate) fn goes_out(&mut self, ios: &mut Ios) {
        if self.order == FlushOrder::Batches {
            while let Some(id) = self.waiting.pop(ios) {
                self.riders.push(ios, id);
            }
        }
    }

    /// All members have been flushed: another worker hears of it.
    #[cold]
    pub(crate) fn are_back(
        &mut self,
        ios: &mut Ios,
        calendar: &mut Calendar<Event>,
        id: IoId,
        now: Time,
    ) {
        self.hand(&mut ios[id], calendar, LoadsEvent::Flushed(id), now);
    }

    /// The next one that ends with the flush that is over.
    pub(crate) fn next_rider(&mut self, ios: &mut Ios, now: Time) -> Option<IoId> {
        let rider = self.riders.pop(ios)?;
        ios[rider].charge(Part::CacheWait, now);
        Some(rider)
    }

    /// The flush under way is over: the next one goes.
    pub(crate) fn end(&mut self, ios: &mut Ios, calendar: &mut Calendar<Event>, now: Time) {
        self.under_way = false;
        if let Some(next) = self.waiting.pop(ios) {
            self.comes(ios, calendar, next, now);
        }
    }

    /// The power fails: those that no member has are gone.
    pub(crate) fn power_fails(&mut self, ios: &mut Ios) {
        self.under_way = false;
        while let Some(id) = self.waiting.pop(ios).or_else(|| self.riders.pop(ios)) {
            ios[id].pending = 1;
        }
    }
}
