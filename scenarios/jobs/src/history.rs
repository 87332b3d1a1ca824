//! What a job wrote and reads back: fio's `verify`.
//!
//! Source: fio's manual on `verify` and `verify_backlog`; order and batches are those that the logs
//! of fio 3.33 show.

use crate::generator::Request;
use crate::plan::Verify;
use raidlab_io::Op;
use std::collections::{BTreeMap, VecDeque};

/// A write.
#[derive(Clone, Copy, Debug)]
struct Piece {
    offset: u64,
    bytes: u64,
    number: u64,
    in_flight: bool,
}

/// Which write is read back first.
#[derive(Debug)]
enum Order {
    /// The first: no block is written twice.
    Writes(VecDeque<Piece>),
    /// That of the lowest offset. A write takes the place of all that it overlaps.
    Offsets(BTreeMap<u64, Piece>),
}

/// Writes that have not been read back.
#[derive(Debug)]
pub(crate) struct History {
    plan: Verify,
    order: Order,
    written: u64,
    /// Reads that are left of a batch among the writes.
    batch: u64,
    /// The last I/O that was taken back is a read.
    was_read: bool,
}

impl History {
    pub(crate) fn new(plan: Verify) -> History {
        History {
            plan,
            order: if plan.by_offset {
                Order::Offsets(BTreeMap::new())
            } else {
                Order::Writes(VecDeque::new())
            },
            written: 0,
            batch: 0,
            was_read: true,
        }
    }

    /// Nothing was written yet.
    pub(crate) fn clear(&mut self) {
        match &mut self.order {
            Order::Writes(pieces) => pieces.clear(),
            Order::Offsets(pieces) => pieces.clear(),
        }
    }

    fn len(&self) -> usize {
        match &self.order {
            Order::Writes(pieces) => pieces.len(),
            Order::Offsets(pieces) => pieces.len(),
        }
    }

    /// A write begins; gives its number.
    pub(crate) fn begins(&mut self, request: Request) -> u64 {
        let Request { offset, bytes, .. } = request;
        let piece = Piece {
            offset,
            bytes,
            number: self.written,
            in_flight: true,
        };
        match &mut self.order {
            Order::Writes(pieces) => pieces.push_back(piece),
            Order::Offsets(pieces) => {
                while let Some((&first, other)) = pieces.range(..offset + bytes).next_back()
                    && first + other.bytes > offset
                {
                    pieces.remove(&first);
                }
                pieces.insert(offset, piece);
            }
        }
        self.written += 1;
        piece.number
    }

    /// An I/O was taken back; `number` is that of a write.
    pub(crate) fn taken_back(&mut self, request: Request, number: u64) {
        self.was_read = request.op == Op::Read;
        if request.op != Op::Write {
            return;
        }
        let piece = match &mut self.order {
            Order::Writes(pieces) => {
                let first = pieces.front().map_or(number, |piece| piece.number);
                pieces.get_mut((number - first) as usize)
            }
            Order::Offsets(pieces) => pieces.get_mut(&request.offset),
        };
        if let Some(piece) = piece.filter(|piece| piece.number == number) {
            piece.in_flight = false;
        }
    }

    /// The read that comes before the next write, where `verify_backlog` wants one.
    pub(crate) fn due(&mut self) -> Option<Request> {
        let backlog = self.plan.backlog;
        if backlog == 0 || self.len() == 0 {
            return None;
        }
        if self.batch == 0 {
            if self.was_read || self.len() as u64 % backlog != 0 {
                return None;
            }
            self.batch = self.plan.batch;
        }
        let found = self.next()?;
        self.batch -= 1;
        Some(found)
    }

    /// The next read; none if all was read, or the next write is still in flight.
    pub(crate) fn next(&mut self) -> Option<Request> {
        let complete = |piece: &Piece| !piece.in_flight;
        let piece = match &mut self.order {
            Order::Writes(pieces) => pieces.front().copied().filter(complete),
            Order::Offsets(pieces) => pieces.first_key_value().map(|(_, &piece)| piece),
        };
        let piece = piece.filter(complete)?;
        match &mut self.order {
            Order::Writes(pieces) => drop(pieces.pop_front()),
            Order::Offsets(pieces) => drop(pieces.pop_first()),
        }
        Some(Request {
            op: Op::Read,
            offset: piece.offset,
            bytes: piece.bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn write(offset: u64, bytes: u64) -> Request {
        Request {
            op: Op::Write,
            offset,
            bytes,
        }
    }

    fn history(by_offset: bool, backlog: u64) -> History {
        History::new(Verify {
            by_offset,
            backlog,
            batch: backlog,
        })
    }

    #[test]
    fn a_write_in_flight_is_not_read_back_and_holds_back_those_behind_it() {
        let mut history = history(false, 0);
        let [first, second] = [(8, 4), (0, 4)].map(|(at, bytes)| history.begins(write(at, bytes)));
        history.taken_back(write(0, 4), second);
        assert_eq!(history.next(), None);
        history.taken_back(write(8, 4), first);
        assert_eq!(history.next().map(|read| read.offset), Some(8));
        assert_eq!(history.next().map(|read| read.offset), Some(0));
        assert_eq!(history.next(), None);
    }

    #[test]
    fn an_overwritten_write_that_returns_late_does_not_stand_for_the_new_one() {
        let mut history = history(true, 0);
        let old = history.begins(write(0, 4));
        let new = history.begins(write(0, 4));
        history.taken_back(write(0, 4), old);
        assert_eq!(history.next(), None);
        history.taken_back(write(0, 4), new);
        assert_eq!(history.next().map(|read| read.bytes), Some(4));
    }

    proptest! {
        /// Against a search of all: each write removes what it overlaps.
        #[test]
        fn what_is_read_back_is_what_was_written_last(
            writes in prop::collection::vec((0u64..60, 1u64..9), 0..60),
        ) {
            let mut history = history(true, 0);
            let mut all: Vec<(u64, u64)> = Vec::new();
            for &(offset, bytes) in &writes {
                let number = history.begins(write(offset, bytes));
                history.taken_back(write(offset, bytes), number);
                all.retain(|&(at, long)| at >= offset + bytes || at + long <= offset);
                all.push((offset, bytes));
            }
            all.sort_unstable();
            let found = std::iter::from_fn(|| history.next().map(|read| (read.offset, read.bytes)));
            prop_assert_eq!(found.collect::<Vec<_>>(), all);
        }
    }
}
