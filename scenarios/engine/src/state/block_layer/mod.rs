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
//! - `fair`: threads take time slices of at most 100 ms (300 ms among all, if that is less). While
//!   others wait, the thread of the time slice has at most eight requests at the drive, and only
//!   four until the first of them returns; its slice lasts as long as it has requests
//!   waiting. A thread's key, when its first request comes, is the time and 80 ms for each thread
//!   that waits already; the least key gets the next slice. Deep queues of several threads
//!   therefore see a drive of depth eight, shallow ones the whole drive.
//!
//! How many requests the scheduler sees at once, and whose, is the business of `places`.
//!
//! Source: the documentation of Linux's block layer (`Documentation/block/deadline-iosched`,
//! `cfq-iosched`: `fifo_batch`, `read_expire`, `quantum`, `slice_sync`); docs/explanation/host.md.

mod deadline;
mod elevator;
mod fair;
mod places;
mod reads_first;
#[cfg(test)]
mod tests;

use crate::ids::ThreadId;
use crate::plan::{BlockLayerParams, Scheduler};
use crate::state::block_layer::deadline::Deadline;
use crate::state::block_layer::fair::Fair;
use crate::state::block_layer::places::Places;
use crate::state::block_layer::reads_first::ReadsFirst;
use raidlab_io::{IoId, Ios};
use raidlab_kernel::Time;

/// What waits before one drive.
#[derive(Debug)]
pub struct BlockLayer {
    order: Order,
    places: Places,
}

#[derive(Debug)]
enum Order {
    None(ReadsFirst),
    Deadline(Deadline),
    Fair(Fair),
}

impl BlockLayer {
    /// An empty queue for requests of `threads` threads, room for `room` of them.
    pub fn new(params: BlockLayerParams, threads: usize, capacity: usize) -> BlockLayer {
        let order = match params.scheduler {
            Scheduler::None => Order::None(ReadsFirst::default()),
            Scheduler::Deadline => Order::Deadline(Deadline::new(capacity)),
            Scheduler::Fair => Order::Fair(Fair::new(threads, capacity)),
        };
        BlockLayer {
            order,
            places: Places::new(params.requests, threads),
        }
    }

    /// True if the drive's own limit alone decides, so that a request may pass an empty queue.
    #[inline]
    pub fn is_plain(&self) -> bool {
        matches!(self.order, Order::None(_)) && self.places.are_unlimited()
    }

    /// What waits, if the drive's own limit alone decides.
    #[inline]
    pub fn plain(&mut self) -> Option<&mut ReadsFirst> {
        match &mut self.order {
            Order::None(queue) if self.places.are_unlimited() => Some(queue),
            _ => None,
        }
    }

    /// A request of `thread` wants to go to the drive.
    #[inline]
    pub fn push(&mut self, ios: &mut Ios, id: IoId, thread: ThreadId, now: Time) {
        if self.places.are_unlimited() {
            self.enter(ios, id, thread, now);
        } else if self.places.wants(ios, id, thread) {
            self.admit(ios, thread, now);
        }
    }

    /// A thread sends what it may.
    fn admit(&mut self, ios: &mut Ios, thread: ThreadId, now: Time) {
        while let Some(id) = self.places.next(ios, thread, now) {
            self.enter(ios, id, thread, now);
        }
    }

    #[inline]
    fn enter(&mut self, ios: &mut Ios, id: IoId, thread: ThreadId, now: Time) {
        match &mut self.order {
            Order::None(queue) => queue.push(ios, id),
            Order::Deadline(order) => order.push(&ios[id], id, now),
            Order::Fair(order) => order.push(&ios[id], id, thread, now),
        }
    }

    /// The next request for a drive that has a place; none if none waits or none may go.
    #[inline]
    pub fn pop(&mut self, ios: &mut Ios, now: Time) -> Option<IoId> {
        match &mut self.order {
            Order::None(queue) => queue.pop(ios),
            Order::Deadline(order) => order.pop(now),
            Order::Fair(order) => order.pop(now),
        }
    }

    /// A request of `thread` has come back from the drive.
    #[inline]
    pub fn returned(&mut self, ios: &mut Ios, thread: ThreadId, now: Time) {
        if let Order::Fair(order) = &mut self.order {
            order.returned(thread);
        }
        if let Some(woken) = self.places.returned(now) {
            self.admit(ios, woken, now);
        }
    }
}
