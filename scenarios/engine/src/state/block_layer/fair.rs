//! By thread in time slices, by position within a slice (`Scheduler::Fair`).

use crate::ids::ThreadId;
use crate::state::block_layer::elevator::Elevator;
use raidlab_io::{Io, IoId};
use raidlab_kernel::{Nanos, Table, Time};

const QUANTUM: u32 = 8;
const SLICE: Nanos = Nanos(100_000_000);
const ROUND: Nanos = Nanos(300_000_000);
const SPREAD: Nanos = Nanos(80_000_000);

#[derive(Debug)]
pub(crate) struct Fair {
    threads: Table<ThreadId, ThreadQueue>,
    /// The thread of the time slice, and the end of the slice.
    owner: Option<ThreadId>,
    slice_ends: Time,
    /// True once a request of that thread has returned in its slice.
    has_returned: bool,
    /// Threads that have requests waiting.
    waiting_threads: u32,
}

#[derive(Debug)]
struct ThreadQueue {
    waiting: Elevator,
    at_drive: u32,
    /// The thread with the least key goes next.
    key: Time,
}

impl Fair {
    pub(crate) fn new(threads: usize, places: usize) -> Fair {
        let places = places / threads.max(1) + 1;
        Fair {
            threads: (0..threads)
                .map(|_| ThreadQueue {
                    waiting: Elevator::with_capacity(places),
                    at_drive: 0,
                    key: Time::ZERO,
                })
                .collect(),
            owner: None,
            slice_ends: Time::ZERO,
            has_returned: false,
            waiting_threads: 0,
        }
    }

    pub(crate) fn push(&mut self, io: &Io, id: IoId, thread: ThreadId, now: Time) {
        let own = &mut self.threads[thread];
        if own.waiting.waiting.is_empty() {
            self.waiting_threads += 1;
            own.key = now + SPREAD * u64::from(self.waiting_threads - 1);
        }
        own.waiting.push(io.offset, id, now);
    }

    pub(crate) fn returned(&mut self, thread: ThreadId) {
        let own = &mut self.threads[thread];
        own.at_drive = own.at_drive.saturating_sub(1);
        self.has_returned |= self.owner == Some(thread);
    }

    pub(crate) fn pop(&mut self, now: Time) -> Option<IoId> {
        if self.waiting_threads == 0 {
            return None;
        }
        let holds = |owner: ThreadId| {
            now < self.slice_ends && !self.threads[owner].waiting.waiting.is_empty()
        };
        let owner = match self.owner {
            Some(owner) if holds(owner) => owner,
            before => self.next_slice(before, now)?,
        };
        let own = &mut self.threads[owner];
        let limit = if self.has_returned {
            QUANTUM
        } else {
            QUANTUM / 2
        };
        if self.waiting_threads > 1 && own.at_drive >= limit {
            return None;
        }
        let id = own.waiting.pop_nearest();
        own.at_drive += 1;
        self.waiting_threads -= u32::from(own.waiting.waiting.is_empty());
        id
    }

    /// The thread that has a request waiting and the least key.
    fn next_slice(&mut self, before: Option<ThreadId>, now: Time) -> Option<ThreadId> {
        if let Some(before) = before {
            // A thread whose slice has run out queues behind the others.
            let own = &mut self.threads[before];
            own.key = now + SPREAD * u64::from(self.waiting_threads - 1);
        }
        let count = self.threads.len() as u32;
        let first = before.map_or(0, |before| before.number() + 1);
        let owner = (0..count)
            .map(|step| ThreadId::new((first + step) % count))
            .filter(|&thread| !self.threads[thread].waiting.waiting.is_empty())
            .min_by_key(|&thread| self.threads[thread].key)?;
        self.owner = Some(owner);
        self.slice_ends = now + SLICE.min(Nanos(ROUND.0 / u64::from(self.waiting_threads)));
        self.has_returned = false;
        Some(owner)
    }
}
