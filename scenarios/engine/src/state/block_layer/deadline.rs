//! By position, reads before writes, none for ever (`Scheduler::Deadline`).

use crate::state::block_layer::elevator::Elevator;
use raidlab_io::{Io, IoId, Op};
use raidlab_kernel::{Nanos, Time};

const BATCH: u32 = 16;
const READ_BATCHES: u32 = 2;
const READ_EXPIRES: Nanos = Nanos(500_000_000);
const WRITE_EXPIRES: Nanos = Nanos(5_000_000_000);

#[derive(Debug)]
pub(crate) struct Deadline {
    /// Reads, writes.
    lists: [Elevator; 2],
    current: usize,
    left_in_batch: u32,
    read_batches: u32,
}

impl Deadline {
    pub(crate) fn new(places: usize) -> Deadline {
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

    pub(crate) fn push(&mut self, io: &Io, id: IoId, now: Time) {
        self.lists[usize::from(io.op != Op::Read)].push(io.offset, id, now);
    }

    pub(crate) fn pop(&mut self, now: Time) -> Option<IoId> {
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
