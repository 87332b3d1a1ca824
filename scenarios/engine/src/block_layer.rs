//! The operating system's queue before a drive: who goes next when the drive is full.
//!
//! Requests that the drive cannot take yet wait in the host, where a scheduler orders them:
//!
//! - `none`: as they came.
//! - `deadline`: ascending by position, in batches of 16; reads before writes, at most two
//!   batches in a row. Beyond the highest position it goes on at the oldest request, and so does
//!   a batch if that has waited longer than its class may (reads 500 ms, writes 5 s). Which
//!   request is next is settled when the one before it goes: a request that arrives between the
//!   two is passed by, and waits for another sweep.
//! - `fair`: threads take turns of at most 100 ms (300 ms among all, if that is less). While
//!   others wait, the thread whose turn it is has at most eight requests at the drive, and only
//!   four until the first of them returns; it keeps its turn for as long as it has requests
//!   waiting. A thread's key, when its first request comes, is the time and 80 ms for each thread
//!   that waits already; the least key has the next turn. Deep queues of several threads therefore see a drive of depth eight, shallow ones
//!   the whole drive.
//!
//! The scheduler has places for so many requests, waiting or at the drive. A thread that finds none
//! sleeps, and so do its further requests. When a place is free the one that has slept longest is
//! woken and sends up to 32 requests within 20 ms, as may the one that took the last place, until
//! there are half as many again as there are places. Many deep threads therefore come in batches of
//! each, not one request at a time: those of a few at once are in the scheduler's hands.
//!
//! Source: the documentation of Linux's block layer (`Documentation/block/deadline-iosched`,
//! `cfq-iosched`: `fifo_batch`, `read_expire`, `quantum`, `slice_sync`; `nr_requests` and its
//! batching processes: `BLK_BATCH_REQ`, `BLK_BATCH_TIME`); docs/models/host.md.

use raidlab_kernel::{Io, IoId, Nanos, Op, Queue, Slab, Time};
use serde::Deserialize;
use std::collections::VecDeque;

/// The order of waiting requests.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Scheduler {
    /// As they came.
    #[default]
    None,
    /// By position, reads first, none for ever.
    Deadline,
    /// By thread in turns, by position within a thread's turn.
    Fair,
}

/// The queue in the plan.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct BlockLayerParams {
    /// Order of what waits.
    pub scheduler: Scheduler,
    /// Requests that the scheduler sees, waiting and at the drive; further ones wait in their
    /// threads. 0 for no limit.
    pub requests: u32,
}

/// Requests that a thread which has waited for a place may send at once, and for how long.
const BATCHED: u32 = 32;
const BATCHED_FOR: Nanos = Nanos(20_000_000);
const BATCH: u32 = 16;
const READ_BATCHES: u32 = 2;
const READ_EXPIRES: Nanos = Nanos(500_000_000);
const WRITE_EXPIRES: Nanos = Nanos(5_000_000_000);
const QUANTUM: u32 = 8;
const SLICE: Nanos = Nanos(100_000_000);
const ROUND: Nanos = Nanos(300_000_000);
const SPREAD: Nanos = Nanos(80_000_000);

/// What waits before one drive.
#[derive(Debug)]
pub struct BlockLayer {
    order: Order,
    requests: u32,
    inside: u32,
    /// True once the last place was taken, until one is free.
    is_full: bool,
    /// For each thread, what it holds back.
    outside: Vec<Outside>,
    /// Threads that sleep until a place is free, in the order in which they came.
    asleep: VecDeque<u32>,
}

/// A thread's requests that the scheduler has no place for.
#[derive(Debug, Default)]
struct Outside {
    waiting: Queue,
    /// Requests for which the thread may go beyond the limit, and until when.
    batch: u32,
    until: Time,
}

#[derive(Debug)]
enum Order {
    None(Queue),
    Deadline(Deadline),
    Fair(Fair),
}

impl BlockLayer {
    /// An empty queue for requests of `threads` threads, room for `places` of them.
    pub fn new(params: BlockLayerParams, threads: usize, places: usize) -> BlockLayer {
        let order = match params.scheduler {
            Scheduler::None => Order::None(Queue::default()),
            Scheduler::Deadline => Order::Deadline(Deadline::new(places)),
            Scheduler::Fair => Order::Fair(Fair::new(threads, places)),
        };
        BlockLayer {
            order,
            requests: params.requests,
            inside: 0,
            is_full: false,
            outside: (0..threads).map(|_| Outside::default()).collect(),
            asleep: VecDeque::with_capacity(threads),
        }
    }

    /// True if the drive's own limit alone decides, so that a request may pass an empty queue.
    #[inline]
    pub fn is_plain(&self) -> bool {
        matches!(self.order, Order::None(_)) && self.requests == 0
    }

    /// A request of `thread` wants to go to the drive.
    #[inline]
    pub fn push(&mut self, ios: &mut Slab<Io>, id: IoId, thread: u32, now: Time) {
        // The thread is remembered where the record of a waiting I/O has room for it.
        ios[id].leg = thread;
        if self.requests == 0 {
            return self.enter(ios, id, now);
        }
        let own = &mut self.outside[thread as usize];
        let sleeps = !own.waiting.is_empty();
        own.waiting.push(ios, id);
        if !sleeps {
            self.admit(ios, thread, now);
        }
    }

    /// A thread sends what it holds back; it sleeps when there is no place, behind the others.
    fn admit(&mut self, ios: &mut Slab<Io>, thread: u32, now: Time) {
        while !self.outside[thread as usize].waiting.is_empty() {
            if !self.has_place(thread, now) {
                return self.asleep.push_back(thread);
            }
            let own = &mut self.outside[thread as usize];
            own.batch = own.batch.saturating_sub(1);
            if let Some(id) = own.waiting.pop(ios) {
                self.enter(ios, id, now);
            }
        }
    }

    /// Who takes the last place, and who has waited for one, may go on beyond the limit.
    fn has_place(&mut self, thread: u32, now: Time) -> bool {
        if self.inside + 1 < self.requests {
            return true;
        }
        let own = &mut self.outside[thread as usize];
        if !self.is_full {
            self.is_full = true;
            own.start_batch(now);
            return true;
        }
        let batches = own.batch == BATCHED || own.batch > 0 && now < own.until;
        batches && self.inside < self.requests + self.requests / 2
    }

    fn enter(&mut self, ios: &mut Slab<Io>, id: IoId, now: Time) {
        self.inside += 1;
        let thread = ios[id].leg;
        match &mut self.order {
            Order::None(queue) => queue.push(ios, id),
            Order::Deadline(order) => order.push(&ios[id], id, now),
            Order::Fair(order) => order.push(&ios[id], id, thread, now),
        }
    }

    /// The next request for a drive that has a place; none if none waits or none may go.
    #[inline]
    pub fn pop(&mut self, ios: &mut Slab<Io>, now: Time) -> Option<IoId> {
        match &mut self.order {
            Order::None(queue) => queue.pop(ios),
            Order::Deadline(order) => order.pop(now),
            Order::Fair(order) => order.pop(now),
        }
    }

    /// A request of `thread` has come back from the drive.
    #[inline]
    pub fn returned(&mut self, ios: &mut Slab<Io>, thread: u32, now: Time) {
        self.inside = self.inside.saturating_sub(1);
        if let Order::Fair(order) = &mut self.order {
            order.returned(thread);
        }
        if self.inside < self.requests {
            self.is_full = false;
            if let Some(thread) = self.asleep.pop_front() {
                self.outside[thread as usize].start_batch(now);
                self.admit(ios, thread, now);
            }
        }
    }
}

impl Outside {
    fn start_batch(&mut self, now: Time) {
        self.batch = BATCHED;
        self.until = now + BATCHED_FOR;
    }
}

/// A request that waits in order of position.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    offset: u64,
    id: IoId,
    since: Time,
    /// Order of arrival.
    ticket: u64,
}

/// Requests by position.
#[derive(Debug, Default)]
struct Elevator {
    /// Ascending by position; first come first among equals.
    waiting: Vec<Waiting>,
    /// Beyond the last request that was taken in order of position.
    position: u64,
    /// The request after the one that was taken last, by place and ticket.
    next: Option<(u64, u64)>,
    tickets: u64,
}

impl Elevator {
    fn with_capacity(places: usize) -> Elevator {
        Elevator {
            waiting: Vec::with_capacity(places),
            ..Elevator::default()
        }
    }

    fn push(&mut self, offset: u64, id: IoId, since: Time) {
        let at = self.waiting.partition_point(|other| other.offset <= offset);
        let ticket = self.tickets;
        self.tickets += 1;
        let request = Waiting {
            offset,
            id,
            since,
            ticket,
        };
        self.waiting.insert(at, request);
    }

    /// The nearest one ahead, whenever it came; from the lowest again at the end.
    fn pop_nearest(&mut self) -> Option<IoId> {
        let at = self
            .waiting
            .partition_point(|other| other.offset < self.position);
        let at = if at == self.waiting.len() { 0 } else { at };
        self.take(at)
    }

    /// The one that was next when the one before it was taken; the oldest if there was none.
    fn pop_settled(&mut self) -> Option<IoId> {
        let at = match self.next {
            Some(key) => self
                .waiting
                .partition_point(|other| (other.offset, other.ticket) < key),
            None => self.oldest()?,
        };
        let id = self.take(at);
        self.next = self
            .waiting
            .get(at)
            .map(|request| (request.offset, request.ticket));
        id
    }

    fn take(&mut self, at: usize) -> Option<IoId> {
        let request = *self.waiting.get(at)?;
        self.waiting.remove(at);
        self.position = request.offset + 1;
        Some(request.id)
    }

    fn oldest(&self) -> Option<usize> {
        let waiting = self.waiting.iter().enumerate();
        let oldest = waiting.min_by_key(|(_, request)| request.ticket);
        oldest.map(|(at, _)| at)
    }

    /// Goes on at the oldest request if it has waited for longer than `limit`.
    fn heed(&mut self, now: Time, limit: Nanos) {
        let oldest = self.oldest().map(|at| &self.waiting[at]);
        if oldest.is_some_and(|request| now.since(request.since) > limit) {
            self.next = None;
        }
    }
}

#[derive(Debug)]
struct Deadline {
    /// Reads, writes.
    lists: [Elevator; 2],
    current: usize,
    left_in_batch: u32,
    read_batches: u32,
}

impl Deadline {
    fn new(places: usize) -> Deadline {
        Deadline {
            lists: [
                Elevator::with_capacity(places),
                Elevator::with_capacity(places),
            ],
            current: 0,
            left_in_batch: 0,
            read_batches: 0,
        }
    }

    fn push(&mut self, io: &Io, id: IoId, now: Time) {
        self.lists[usize::from(io.op != Op::Read)].push(io.offset, id, now);
    }

    fn pop(&mut self, now: Time) -> Option<IoId> {
        if self.left_in_batch == 0 || self.lists[self.current].next.is_none() {
            self.start_batch(now);
        }
        self.left_in_batch = self.left_in_batch.saturating_sub(1);
        self.lists[self.current].pop_settled()
    }

    fn start_batch(&mut self, now: Time) {
        let [reads, writes] = &self.lists;
        let (some_reads, some_writes) = (!reads.waiting.is_empty(), !writes.waiting.is_empty());
        self.current = match (some_reads, some_writes) {
            (true, true) => usize::from(self.read_batches >= READ_BATCHES),
            (_, write) => usize::from(write),
        };
        self.read_batches = match self.current {
            0 if some_writes => self.read_batches + 1,
            _ => 0,
        };
        let limit = [READ_EXPIRES, WRITE_EXPIRES][self.current];
        self.lists[self.current].heed(now, limit);
        self.left_in_batch = BATCH;
    }
}

#[derive(Debug)]
struct Fair {
    threads: Vec<Turns>,
    /// Whose turn it is, and until when.
    turn: Option<u32>,
    turn_ends: Time,
    /// True once a request of that thread has returned in its turn.
    has_returned: bool,
    /// Threads that have requests waiting.
    busy: u32,
}

#[derive(Debug)]
struct Turns {
    waiting: Elevator,
    at_drive: u32,
    /// The thread with the least one goes next.
    key: Time,
}

impl Fair {
    fn new(threads: usize, places: usize) -> Fair {
        let places = places / threads.max(1) + 1;
        Fair {
            threads: (0..threads)
                .map(|_| Turns {
                    waiting: Elevator::with_capacity(places),
                    at_drive: 0,
                    key: Time::ZERO,
                })
                .collect(),
            turn: None,
            turn_ends: Time::ZERO,
            has_returned: false,
            busy: 0,
        }
    }

    fn push(&mut self, io: &Io, id: IoId, thread: u32, now: Time) {
        let own = &mut self.threads[thread as usize];
        if own.waiting.waiting.is_empty() {
            self.busy += 1;
            own.key = now + SPREAD * u64::from(self.busy - 1);
        }
        own.waiting.push(io.offset, id, now);
    }

    fn returned(&mut self, thread: u32) {
        let own = &mut self.threads[thread as usize];
        own.at_drive = own.at_drive.saturating_sub(1);
        self.has_returned |= self.turn == Some(thread);
    }

    fn pop(&mut self, now: Time) -> Option<IoId> {
        if self.busy == 0 {
            return None;
        }
        let holds = |turn: u32| {
            now < self.turn_ends && !self.threads[turn as usize].waiting.waiting.is_empty()
        };
        let turn = match self.turn {
            Some(turn) if holds(turn) => turn,
            before => self.next_turn(before, now),
        };
        let own = &mut self.threads[turn as usize];
        let limit = if self.has_returned {
            QUANTUM
        } else {
            QUANTUM / 2
        };
        if self.busy > 1 && own.at_drive >= limit {
            return None;
        }
        let id = own.waiting.pop_nearest();
        own.at_drive += 1;
        self.busy -= u32::from(own.waiting.waiting.is_empty());
        id
    }

    /// The thread that has a request waiting and the least key; there is one.
    fn next_turn(&mut self, before: Option<u32>, now: Time) -> u32 {
        if let Some(before) = before {
            // A turn that has run out begins anew behind the others.
            let own = &mut self.threads[before as usize];
            own.key = now + SPREAD * u64::from(self.busy - 1);
        }
        let count = self.threads.len() as u32;
        let first = before.map_or(0, |before| before + 1);
        let turn = (0..count)
            .map(|step| (first + step) % count)
            .filter(|&thread| !self.threads[thread as usize].waiting.waiting.is_empty())
            .min_by_key(|&thread| self.threads[thread as usize].key)
            .unwrap_or(0);
        self.turn = Some(turn);
        self.turn_ends = now + SLICE.min(Nanos(ROUND.0 / u64::from(self.busy)));
        self.has_returned = false;
        turn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bench {
        ios: Slab<Io>,
        layer: BlockLayer,
    }

    impl Bench {
        fn new(scheduler: Scheduler, requests: u32, threads: usize) -> Bench {
            let params = BlockLayerParams {
                scheduler,
                requests,
            };
            Bench {
                ios: Slab::with_capacity(64),
                layer: BlockLayer::new(params, threads, 64),
            }
        }

        fn push(&mut self, op: Op, offset: u64, thread: u32, now: u64) {
            let id = self.ios.claim();
            self.ios[id] = Io::new(op, offset, 4096, Time(now));
            self.layer.push(&mut self.ios, id, thread, Time(now));
        }

        fn pop(&mut self, now: u64) -> Option<u64> {
            let id = self.layer.pop(&mut self.ios, Time(now))?;
            Some(self.ios[id].offset)
        }

        fn all(&mut self, now: u64) -> Vec<u64> {
            std::iter::from_fn(|| self.pop(now)).collect()
        }
    }

    #[test]
    fn none_keeps_the_order_of_arrival() {
        let mut bench = Bench::new(Scheduler::None, 0, 1);
        for offset in [5, 1, 9] {
            bench.push(Op::Read, offset, 0, 0);
        }
        assert_eq!(bench.all(0), [5, 1, 9]);
    }

    #[test]
    fn deadline_starts_at_the_oldest_and_goes_up() {
        let mut bench = Bench::new(Scheduler::Deadline, 0, 1);
        for offset in [50, 10, 90, 70] {
            bench.push(Op::Read, offset, 0, 0);
        }
        assert_eq!(bench.all(0), [50, 70, 90, 10]);
    }

    #[test]
    fn deadline_passes_by_what_arrives_before_the_settled_next() {
        let mut bench = Bench::new(Scheduler::Deadline, 0, 1);
        for offset in [10, 50, 90] {
            bench.push(Op::Read, offset, 0, 0);
        }
        assert_eq!(bench.pop(0), Some(10));
        bench.push(Op::Read, 20, 0, 0);
        assert_eq!(bench.all(0), [50, 90, 20]);
    }

    #[test]
    fn deadline_turns_between_batches_to_a_read_that_has_waited_half_a_second() {
        let mut bench = Bench::new(Scheduler::Deadline, 0, 1);
        bench.push(Op::Read, 50, 0, 0);
        bench.push(Op::Read, 10, 0, 0);
        for offset in 60..100 {
            bench.push(Op::Read, offset, 0, 0);
        }
        assert_eq!(bench.pop(0), Some(50));
        for offset in 60..75 {
            assert_eq!(bench.pop(0), Some(offset));
        }
        for offset in 75..91 {
            assert_eq!(bench.pop(500_000_000), Some(offset));
        }
        assert_eq!(bench.pop(500_000_001), Some(10));
    }

    #[test]
    fn deadline_serves_two_batches_of_reads_before_writes() {
        let mut bench = Bench::new(Scheduler::Deadline, 0, 1);
        for n in 0..40 {
            bench.push(Op::Read, n, 0, 0);
        }
        bench.push(Op::Write, 1000, 0, 0);
        let order = bench.all(0);
        assert_eq!(order.iter().position(|&offset| offset == 1000), Some(32));
    }

    /// Of four places two threads have taken three. Who takes the last one may go on to six.
    #[test]
    fn who_takes_the_last_place_goes_on_for_half_as_many_more() {
        let mut bench = Bench::new(Scheduler::None, 4, 3);
        for (offset, thread) in [(0, 0), (1, 0), (10, 1), (11, 1), (12, 1), (13, 1), (14, 1)] {
            bench.push(Op::Read, offset, thread, 0);
        }
        bench.push(Op::Read, 20, 2, 0);
        assert_eq!(bench.all(0), [0, 1, 10, 11, 12, 13]);
    }

    /// Six are inside: thread 1 sleeps, then 2. At the third return a place is free of four, and the
    /// thread that has slept longest sends all that it holds back.
    #[test]
    fn a_thread_that_has_slept_sends_what_it_holds_back() {
        let mut bench = Bench::new(Scheduler::None, 4, 3);
        for offset in 0..6 {
            bench.push(Op::Read, offset, 0, 0);
        }
        for (offset, thread) in [(10, 1), (20, 2), (11, 1), (12, 1)] {
            bench.push(Op::Read, offset, thread, 0);
        }
        assert_eq!(bench.all(0).len(), 6);
        for _ in 0..2 {
            bench.layer.returned(&mut bench.ios, 0, Time(1));
        }
        assert!(bench.all(1).is_empty());
        bench.layer.returned(&mut bench.ios, 0, Time(2));
        assert_eq!(bench.all(2), [10, 11, 12]);
        // Six again, so three must return before the next one is woken.
        for _ in 0..3 {
            bench.layer.returned(&mut bench.ios, 0, Time(3));
        }
        assert_eq!(bench.all(3), [20]);
    }

    /// 20 ms after the last place was taken its taker waits like anyone else.
    #[test]
    fn going_on_ends_with_its_time() {
        let mut bench = Bench::new(Scheduler::None, 4, 1);
        for offset in 0..4 {
            bench.push(Op::Read, offset, 0, 0);
        }
        bench.push(Op::Read, 4, 0, 19_999_999);
        bench.push(Op::Read, 5, 0, 20_000_000);
        assert_eq!(bench.all(20_000_000), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_deep_thread_has_four_and_then_eight_requests_at_the_drive_while_another_waits() {
        let mut bench = Bench::new(Scheduler::Fair, 0, 2);
        for n in 0..16 {
            bench.push(Op::Read, n, 0, 0);
            bench.push(Op::Read, 100 + n, 1, 0);
        }
        assert_eq!(bench.all(0), [0, 1, 2, 3]);
        bench.layer.returned(&mut bench.ios, 0, Time(1));
        assert_eq!(bench.all(1), [4, 5, 6, 7, 8]);
        // Its turn is over after 100 ms; the other one starts with four.
        assert_eq!(bench.all(100_000_000), [100, 101, 102, 103]);
    }

    #[test]
    fn who_comes_while_few_wait_overtakes_who_came_while_many_did() {
        let mut bench = Bench::new(Scheduler::Fair, 0, 3);
        for thread in 0..3 {
            bench.push(Op::Read, 100 * u64::from(thread), thread, 0);
        }
        // Keys 0, 80 and 160 ms.
        assert_eq!(bench.pop(0), Some(0));
        assert_eq!(bench.pop(0), Some(100));
        // One waits: 1 + 80 ms, before 160.
        bench.push(Op::Read, 1, 0, 1_000_000);
        assert_eq!(bench.all(1_000_000), [1, 200]);
    }

    #[test]
    fn shallow_threads_fill_the_drive_and_a_lone_one_has_no_limit() {
        let mut bench = Bench::new(Scheduler::Fair, 0, 3);
        for thread in 0..3 {
            for n in 0..4 {
                bench.push(Op::Read, u64::from(thread) * 100 + n, thread, 0);
            }
        }
        assert_eq!(bench.all(0).len(), 12);
        for n in 0..20 {
            bench.push(Op::Read, n, 1, 0);
        }
        assert_eq!(bench.all(0).len(), 20);
    }
}
