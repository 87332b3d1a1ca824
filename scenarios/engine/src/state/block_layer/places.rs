//! The places that a scheduler has for requests, waiting or at the drive.
//!
//! A thread that finds none sleeps, and so do its further requests. When a place is free the one
//! that has slept longest is woken and sends up to 32 requests within 20 ms, as may the one that
//! took the last place, until there are half as many again as there are places. Many deep threads
//! therefore come in batches of each, not one request at a time: those of a few at once are in the
//! scheduler's hands.
//!
//! Source: Linux's block layer, `nr_requests` and its batching processes (`BLK_BATCH_REQ`,
//! `BLK_BATCH_TIME`); docs/explanation/host.md.

use crate::ids::ThreadId;
use raidlab_io::{IoId, Ios, Queue};
use raidlab_kernel::{Nanos, Table, Time};
use std::collections::VecDeque;

/// Requests that a thread which has waited for a place may send at once, and for how long.
const BATCHED: u32 = 32;
const BATCHED_FOR: Nanos = Nanos(20_000_000);

/// Places, and who waits for one.
#[derive(Debug)]
pub(crate) struct Places {
    /// 0 for no limit.
    limit: u32,
    taken: u32,
    /// True once the last place was taken, until one is free.
    is_full: bool,
    /// For each thread, what it holds back.
    outside: Table<ThreadId, Outside>,
    /// Threads that sleep until a place is free, in the order in which they came.
    asleep: VecDeque<ThreadId>,
}

/// A thread's requests that have no place.
#[derive(Debug, Default)]
struct Outside {
    waiting: Queue,
    /// Requests for which the thread may go beyond the limit, and until when.
    batch: u32,
    until: Time,
}

impl Places {
    /// Places without a limit need no record of threads.
    pub(crate) fn new(limit: u32, threads: usize) -> Places {
        let threads = if limit > 0 { threads } else { 0 };
        Places {
            limit,
            taken: 0,
            is_full: false,
            outside: (0..threads).map(|_| Outside::default()).collect(),
            asleep: VecDeque::with_capacity(threads),
        }
    }

    #[inline]
    pub(crate) fn are_unlimited(&self) -> bool {
        self.limit == 0
    }

    /// A thread has a request to send; true unless it sleeps.
    pub(crate) fn wants(&mut self, ios: &mut Ios, id: IoId, thread: ThreadId) -> bool {
        let own = &mut self.outside[thread];
        let sleeps = !own.waiting.is_empty();
        own.waiting.push(ios, id);
        !sleeps
    }

    /// The next request that a thread sends. None if it has no more, or if there is no place: then
    /// it sleeps, behind the others.
    pub(crate) fn next(&mut self, ios: &mut Ios, thread: ThreadId, now: Time) -> Option<IoId> {
        if self.outside[thread].waiting.is_empty() {
            return None;
        }
        if !self.has_one(thread, now) {
            self.asleep.push_back(thread);
            return None;
        }
        self.taken += 1;
        let own = &mut self.outside[thread];
        own.batch = own.batch.saturating_sub(1);
        own.waiting.pop(ios)
    }

    /// Who takes the last place, and who has waited for one, may go on beyond the limit.
    fn has_one(&mut self, thread: ThreadId, now: Time) -> bool {
        if self.taken + 1 < self.limit {
            return true;
        }
        let own = &mut self.outside[thread];
        if !self.is_full {
            self.is_full = true;
            own.start_batch(now);
            return true;
        }
        let batches = own.batch == BATCHED || own.batch > 0 && now < own.until;
        batches && self.taken < self.limit + self.limit / 2
    }

    /// A request is done; gives the thread that is woken for its place.
    #[inline]
    pub(crate) fn returned(&mut self, now: Time) -> Option<ThreadId> {
        self.taken = self.taken.saturating_sub(1);
        if self.taken >= self.limit {
            return None;
        }
        self.is_full = false;
        let thread = self.asleep.pop_front()?;
        self.outside[thread].start_batch(now);
        Some(thread)
    }
}

impl Outside {
    fn start_batch(&mut self, now: Time) {
        self.batch = BATCHED;
        self.until = now + BATCHED_FOR;
    }
}
