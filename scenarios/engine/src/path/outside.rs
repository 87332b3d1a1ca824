//! Outside callers: which threads their I/Os run on, and what goes back to them.

use crate::ids::{DriveId, ThreadId};
use crate::state::records::{Outcome, Outside};
use raidlab_io::{Io, IoId};
use raidlab_kernel::Time;
use std::collections::VecDeque;

/// The load threads of outside callers, behind those of the plan's loads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutsideThreads {
    first: ThreadId,
    count: u32,
}

impl OutsideThreads {
    /// `count` threads from `first` on, one at least.
    pub(crate) fn new(first: ThreadId, count: u32) -> OutsideThreads {
        OutsideThreads { first, count }
    }

    /// The load thread of the I/O with a number.
    pub(crate) fn of(self, number: u32) -> ThreadId {
        ThreadId::new(self.first.number() + number % self.count)
    }
}

/// What waits for outside callers, in the order of time: I/Os that are complete, and commands for
/// devices of theirs.
#[derive(Debug)]
pub(crate) struct Outbox {
    queue: VecDeque<Outside>,
}

impl Outbox {
    /// `capacity` I/Os may wait before anything must grow.
    pub(crate) fn with_capacity(capacity: usize) -> Outbox {
        Outbox {
            queue: VecDeque::with_capacity(capacity),
        }
    }

    /// An I/O goes back to its caller, with the caller's own number.
    pub(crate) fn hand_back(&mut self, id: IoId, io: &Io, owner: u32, outcome: Outcome) {
        // In order of time: another thread's CPU may be done with a later one before.
        let at = io.mark;
        let behind = self.queue.iter().rev().take_while(|out| out.at > at);
        let position = self.queue.len() - behind.count();
        let back = Outside {
            io: id,
            drive: None,
            op: io.op,
            offset: io.offset,
            bytes: io.bytes,
            owner,
            at,
            issued: io.issued,
            outcome,
        };
        self.queue.insert(position, back);
    }

    /// A command goes to the caller's own device.
    pub(crate) fn hand_out(&mut self, id: IoId, io: &Io, drive: DriveId, now: Time) {
        self.queue.push_back(Outside {
            io: id,
            drive: Some(drive),
            op: io.op,
            offset: io.offset,
            bytes: io.bytes,
            owner: 0,
            at: now,
            issued: io.issued,
            outcome: Outcome::Done,
        });
    }

    /// When the first one can be taken, if one waits.
    pub(crate) fn ready(&self) -> Option<Time> {
        self.queue.front().map(|outside| outside.at)
    }

    /// Takes the first one.
    pub(crate) fn take(&mut self) -> Option<Outside> {
        self.queue.pop_front()
    }
}
