//! The slowest I/Os of a load, each with what its time was spent on.

use crate::ids::DriveId;
use raidlab_io::{Io, Op, Parts};
use raidlab_kernel::{Nanos, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An I/O that was slow.
#[derive(Clone, Debug)]
pub struct Slow {
    /// What was asked.
    pub op: Op,
    /// First byte: on the array, or on its drive if it is one command.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// When it was issued.
    pub issued: Time,
    /// Time to its completion.
    pub latency: Nanos,
    /// Where its time went.
    pub parts: Parts,
    /// The drive of the last of its commands, if it had any.
    pub drive: DriveId,
    /// What else was in work between its issue and its completion: bits of [`Beside`].
    pub beside: u8,
    /// How many were taken up before it.
    number: u64,
    /// True until somebody says what was in work beside it.
    fresh: bool,
}

/// What can be in work beside an I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// A member's data are computed anew.
    Rebuild,
    /// A member's data are copied from its spare.
    Copyback,
    /// Every unit is read.
    Patrol,
    /// Parity is compared with its data.
    Check,
    /// Dirty data leave the controller's cache.
    Destage,
    /// Data are read into the controller's cache.
    ReadAhead,
    /// Hot lines go to the SSD cache.
    Promotion,
    /// Dirty lines of the SSD cache go back to the array.
    WriteBack,
}

impl Beside {
    /// All of them, with the names that reports print.
    pub const ALL: [(Beside, &'static str); 8] = [
        (Beside::Rebuild, "rebuild"),
        (Beside::Copyback, "copyback"),
        (Beside::Patrol, "patrol read"),
        (Beside::Check, "consistency check"),
        (Beside::Destage, "destage"),
        (Beside::ReadAhead, "read-ahead"),
        (Beside::Promotion, "promotion"),
        (Beside::WriteBack, "write-back"),
    ];

    /// The bit that stands for it.
    pub fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// The slowest I/Os of a load, up to a number.
#[derive(Debug)]
pub struct Slowest {
    most: usize,
    /// The fastest of them first, of equal ones the last; by place.
    order: BinaryHeap<(Reverse<Nanos>, u64, usize)>,
    places: Vec<Slow>,
    /// I/Os that take at least so long are noticed.
    notice: Nanos,
    seen: u64,
}

impl Slowest {
    /// Keeps the `most` slowest.
    pub fn new(most: usize) -> Slowest {
        let notice = if most > 0 {
            Nanos::ZERO
        } else {
            Nanos(u64::MAX)
        };
        Slowest {
            most,
            order: BinaryHeap::with_capacity(most),
            places: Vec::with_capacity(most),
            notice,
            seen: 0,
        }
    }

    /// As this one, of nothing so far.
    pub fn afresh(&self) -> Slowest {
        Slowest::new(self.most)
    }

    /// Whether any are kept.
    pub fn is_asked(&self) -> bool {
        self.most > 0
    }

    /// Takes up an I/O if it belongs to them; true if it does.
    #[inline(always)]
    pub fn offer(&mut self, io: &Io) -> bool {
        let belongs = io.latency() >= self.notice;
        if belongs {
            self.take_up(io);
        }
        belongs
    }

    /// Takes up an I/O, in the place of the fastest one if all are taken.
    #[cold]
    fn take_up(&mut self, io: &Io) {
        let slow = Slow {
            op: io.op,
            offset: io.offset,
            bytes: io.bytes,
            issued: io.issued,
            latency: io.latency(),
            parts: io.parts,
            drive: io.drive,
            beside: 0,
            number: self.seen,
            fresh: true,
        };
        self.seen += 1;
        let place = if self.places.len() < self.most {
            self.places.push(slow.clone());
            self.places.len() - 1
        } else {
            let Some((_, _, place)) = self.order.pop() else {
                return;
            };
            self.places[place] = slow.clone();
            place
        };
        self.order.push((Reverse(slow.latency), slow.number, place));
        if self.places.len() == self.most
            && let Some((Reverse(fastest), ..)) = self.order.peek()
        {
            // Of equal ones the first stay.
            self.notice = Nanos(fastest.0 + 1);
        }
    }

    /// Says of those that were taken up since the last call what was in work since their issue.
    pub fn note_beside(&mut self, beside_since: impl Fn(Time) -> u8) {
        for slow in self.places.iter_mut().filter(|slow| slow.fresh) {
            (slow.beside, slow.fresh) = (beside_since(slow.issued), false);
        }
    }

    /// All, the slowest first.
    pub fn in_order(&self) -> Vec<&Slow> {
        let mut all: Vec<&Slow> = self.places.iter().collect();
        all.sort_by_key(|slow| (Reverse(slow.latency), slow.number));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use raidlab_io::ByteRange;
    use raidlab_io::Part;

    proptest! {
        /// Against a sort of all.
        #[test]
        fn they_are_the_first_of_all_by_latency(
            latencies in prop::collection::vec(0u64..50, 0..200),
            most in 0usize..20,
        ) {
            let mut slowest = Slowest::new(most);
            for (at, &latency) in latencies.iter().enumerate() {
                let mut io = Io::new(Op::Read, ByteRange::new(at as u64, 512), Time(1000));
                io.charge(Part::Service, Time(1000 + latency));
                slowest.offer(&io);
            }
            let mut all: Vec<(u64, u64)> = (0..).zip(latencies).map(|(at, each)| (each, at)).collect();
            all.sort_by_key(|&(latency, at)| (Reverse(latency), at));
            all.truncate(most);
            let found = slowest.in_order().into_iter().map(|slow| (slow.latency.0, slow.offset));
            prop_assert_eq!(found.collect::<Vec<_>>(), all);
        }
    }
}
