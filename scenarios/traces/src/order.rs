//! Requests in the order of their times, where a file has them nearly so.

use crate::fault::{Fault, Value};
use crate::record::Record;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Requests among which one may stand too late: 14 MB of them.
pub(crate) const WINDOW: usize = 1 << 18;

/// A request in the heap: the earliest is the greatest; of equal times, the first of the file.
struct Waiting(Record);

impl Ord for Waiting {
    fn cmp(&self, other: &Waiting) -> Ordering {
        let key = |waiting: &Waiting| (waiting.0.time_ns, waiting.0.line);
        key(other).cmp(&key(self))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Waiting) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Waiting) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Waiting {}

/// Sorts what lies within its window.
#[derive(Default)]
pub(crate) struct Order {
    heap: BinaryHeap<Waiting>,
    last_ns: u64,
}

impl Order {
    /// Takes a request in; gives one if the window is full.
    ///
    /// # Errors
    /// The request belongs before one that has been given.
    pub(crate) fn push(&mut self, record: Record) -> Result<Option<Record>, Fault> {
        if record.time_ns < self.last_ns {
            let back = self.last_ns - record.time_ns;
            let allowed = format!(
                "a time that is not before those of {WINDOW} requests that stand above it: sort \
                 the file by time"
            );
            let key = format!("line {}", record.line);
            let value = Value::Text(format!("{:.6} s back", back as f64 / 1e9));
            return Err(Fault::at(key, value, allowed));
        }
        self.heap.push(Waiting(record));
        Ok(if self.heap.len() > WINDOW {
            self.pop()
        } else {
            None
        })
    }

    /// The earliest request of the window.
    pub(crate) fn pop(&mut self) -> Option<Record> {
        let Waiting(record) = self.heap.pop()?;
        self.last_ns = record.time_ns;
        Some(record)
    }
}
