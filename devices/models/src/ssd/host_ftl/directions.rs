//! Reads and writes in batches.
//!
//! A card with one data path for both directions changes direction rarely. It serves all reads that
//! wait, then all writes that wait, and so on; a command that comes meanwhile waits for the next
//! batch. The turnaround from writing to reading takes time, and begins when a read asks for it:
//! until then the card stays ready to write. So the first read after a write waits for the
//! turnaround, on each card of a mirror by itself. With many commands outstanding a batch is long
//! and the turnaround costs little. A load of one kind never waits.

use crate::ssd::front::{Condition, Release};
use raidlab_io::{IoId, Op};
use raidlab_kernel::{Nanos, Time};
use std::collections::VecDeque;

/// What the data path is ready for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Reads,
    Writes,
}

impl Direction {
    fn of(op: Op) -> Direction {
        match op {
            Op::Write => Direction::Writes,
            _ => Direction::Reads,
        }
    }

    fn other(self) -> Direction {
        match self {
            Direction::Reads => Direction::Writes,
            Direction::Writes => Direction::Reads,
        }
    }
}

/// The direction of the data path, and the commands that wait.
#[derive(Debug)]
pub(super) struct Directions {
    current: Direction,
    /// Reads, writes.
    waiting: [VecDeque<IoId>; 2],
    /// When the front looks again.
    wake_at: Time,
    /// When the first of the commands came that need a change of direction.
    since: Time,
    /// Time of a change from writing to reading.
    turnaround: Nanos,
}

impl Directions {
    pub(super) fn new(turnaround: Nanos) -> Directions {
        Directions {
            current: Direction::Reads,
            turnaround,
            waiting: [VecDeque::with_capacity(1024), VecDeque::with_capacity(1024)],
            wake_at: Time::ZERO,
            since: Time::ZERO,
        }
    }

    fn waiting(&mut self, direction: Direction) -> &mut VecDeque<IoId> {
        &mut self.waiting[direction as usize]
    }

    fn nothing_waits(&self) -> bool {
        self.waiting.iter().all(VecDeque::is_empty)
    }

    /// A command arrives: true if it goes on at once, as its direction is the current one and
    /// nothing waits.
    pub(super) fn admit(&mut self, io: IoId, op: Op, now: Time) -> bool {
        let direction = Direction::of(op);
        if self.nothing_waits() && direction == self.current {
            return true;
        }
        if direction != self.current && self.waiting(direction).is_empty() {
            self.since = now;
        }
        self.waiting(direction).push_back(io);
        false
    }

    /// Changes the direction if the current batch is done and commands of the other one wait.
    pub(super) fn release(&mut self, drive: Condition) -> Release {
        if self.nothing_waits() {
            return Release::Nothing;
        }
        let writes = self.current == Direction::Writes;
        if writes && drive.writes_wait {
            return Release::Nothing;
        }
        let others_wait = !self.waiting(self.current.other()).is_empty();
        let mut over = drive.last_done;
        if others_wait && writes {
            over = over.max(self.since) + self.turnaround;
        }
        if over > drive.now {
            if self.wake_at == over {
                return Release::Nothing;
            }
            self.wake_at = over;
            return Release::LookAgain(over);
        }
        if others_wait {
            self.current = self.current.other();
        }
        Release::Batch
    }

    /// The next command of the current batch.
    pub(super) fn next(&mut self) -> Option<IoId> {
        self.waiting(self.current).pop_front()
    }
}
