//! Reads and writes in turns.
//!
//! A card with one data path for both directions changes direction rarely: it serves all reads
//! that wait, then all writes that wait, and so on; what comes meanwhile waits for the next turn.
//! The change from writing to reading takes time, and begins when a read asks for it: until then
//! the card stays ready to write. So the first read after a write waits for the change, on each
//! card of a mirror by itself; with many commands outstanding a turn is long and the change costs
//! little. A load of one kind knows no turns.

use super::Ssd;
use super::token::Token;
use crate::Port;
use raidlab_kernel::{IoId, Nanos, Op, Time};
use std::collections::VecDeque;

/// Whose turn it is, and who waits.
#[derive(Debug)]
pub(super) struct Turns {
    writes: bool,
    /// Reads, writes.
    waiting: [VecDeque<IoId>; 2],
    wake_at: Time,
    /// When the first of those that wait came.
    since: Time,
    /// What a change from writing to reading takes.
    change: Nanos,
}

impl Turns {
    pub(super) fn new(change: Nanos) -> Turns {
        Turns {
            writes: false,
            change,
            waiting: [VecDeque::with_capacity(1024), VecDeque::with_capacity(1024)],
            wake_at: Time::ZERO,
            since: Time::ZERO,
        }
    }
}

impl Ssd {
    /// A read or write arrives: it goes on at once if its kind has the turn and nothing waits.
    pub(super) fn take_turn<P: Port>(&mut self, port: &mut P, io: IoId) {
        let Some(turns) = &mut self.turns else {
            return self.go(port, io);
        };
        let writes = port.io(io).op == Op::Write;
        let nothing_waits = turns.waiting.iter().all(VecDeque::is_empty);
        if nothing_waits && writes == turns.writes {
            return self.go(port, io);
        }
        if turns.waiting[usize::from(writes)].is_empty() && writes != turns.writes {
            turns.since = port.now();
        }
        turns.waiting[usize::from(writes)].push_back(io);
        self.next_turn(port);
    }

    fn go<P: Port>(&mut self, port: &mut P, io: IoId) {
        match port.io(io).op {
            Op::Write => self.write(port, io),
            _ => self.read(port, io),
        }
    }

    /// Lets the other kind go on if this one's turn is over.
    pub(super) fn next_turn<P: Port>(&mut self, port: &mut P) {
        let now = port.now();
        let Some(turns) = &mut self.turns else {
            return;
        };
        if turns.waiting.iter().all(VecDeque::is_empty) {
            return;
        }
        if turns.writes && !self.buffer.waiting.is_empty() {
            return;
        }
        let others_wait = !turns.waiting[usize::from(!turns.writes)].is_empty();
        let mut over = self.last_done;
        if others_wait && turns.writes {
            over = over.max(turns.since) + turns.change;
        }
        if over > now {
            if turns.wake_at != over {
                turns.wake_at = over;
                port.wake(over, Token::Turnaround.into());
            }
            return;
        }
        turns.writes ^= others_wait;
        let turn = &mut turns.waiting[usize::from(turns.writes)];
        let mut batch = std::mem::take(turn);
        while let Some(io) = batch.pop_front() {
            self.go(port, io);
        }
        // Its room is kept, so that nothing is allocated.
        if let Some(turns) = &mut self.turns {
            let turn = &mut turns.waiting[usize::from(turns.writes)];
            debug_assert!(turn.is_empty());
            *turn = batch;
        }
    }
}
