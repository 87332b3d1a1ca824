//! The calendar: events in the order of (time, sequence number).
//!
//! A ring of buckets of equal width holds the near future, a heap what lies beyond, and a small
//! heap the bucket whose time has come (the idea of calendar and ladder queues: Brown, 1988;
//! Tang, Goh and Thng, 2005). Most events are put into a bucket and taken out of it once, whatever
//! the number of pending events is. The width follows the mean distance of the events
//! that were taken. The order does not depend on it: events at one instant come out in the
//! order they went in.

use crate::Time;
use crate::heap::{Entry, Heap};

/// Buckets in the ring.
const BUCKETS: usize = 4096;
const WORDS: usize = BUCKETS / 64;
/// End of a bucket's list.
const END: u32 = u32::MAX;
/// Events taken between two looks at the width.
const LOOK_AFTER: u32 = 4096;

#[derive(Clone, Copy)]
struct Node<E> {
    entry: Entry<E>,
    next: u32,
}

/// Pending events of type `E`, the earliest first, first in first out among equals.
pub struct Calendar<E> {
    /// Events of the bucket whose time has come, and any before its end.
    current: Heap<E>,
    /// Events beyond the ring.
    far: Heap<E>,
    /// Empty, for changing the width.
    spare: Heap<E>,
    nodes: Vec<Node<E>>,
    free: u32,
    heads: Box<[u32; BUCKETS]>,
    occupied: [u64; WORDS],
    /// Events in the ring.
    near: usize,
    /// Log2 of the width of a bucket in nanoseconds.
    shift: u32,
    /// Number of the bucket whose time has come, counted from time zero.
    bucket: u64,
    sequence: u64,
    now: Time,
    /// Events until the next look at the width, and when the last one was.
    countdown: u32,
    looked: Time,
}

impl<E: Copy> Calendar<E> {
    /// An empty calendar at time zero with room for `capacity` events before it must grow.
    pub fn with_capacity(capacity: usize) -> Self {
        Calendar {
            current: Heap::with_capacity(capacity),
            far: Heap::with_capacity(capacity),
            spare: Heap::with_capacity(capacity),
            nodes: Vec::with_capacity(capacity),
            free: END,
            heads: Box::new([END; BUCKETS]),
            occupied: [0; WORDS],
            near: 0,
            shift: 10,
            bucket: 0,
            sequence: 0,
            now: Time::ZERO,
            countdown: LOOK_AFTER,
            looked: Time::ZERO,
        }
    }

    /// The time of the event that was taken last.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Number of pending events.
    pub fn len(&self) -> usize {
        self.current.len() + self.near + self.far.len()
    }

    /// True if nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of events scheduled so far.
    pub fn scheduled(&self) -> u64 {
        self.sequence
    }

    /// When the next event is due.
    #[inline]
    pub fn next_time(&mut self) -> Option<Time> {
        if self.current.first().is_none() {
            self.turn();
        }
        self.current.first().map(Entry::at)
    }

    /// Moves the clock to `time` although no event is due there.
    ///
    /// Used by a driver that has a clock of its own (SimPy, fio). Panics in debug builds if
    /// the clock would run backwards or over a pending event.
    pub fn advance_to(&mut self, time: Time) {
        debug_assert!(time >= self.now);
        debug_assert!(self.next_time().is_none_or(|next| next >= time));
        self.now = time;
    }

    /// Schedules `event` at `at`, which must not lie in the past.
    #[inline(always)]
    pub fn push(&mut self, at: Time, event: E) {
        debug_assert!(at >= self.now, "{at:?} lies before {:?}", self.now);
        let key = u128::from(at.0) << 64 | u128::from(self.sequence);
        self.sequence += 1;
        self.place(Entry { key, event });
    }

    #[inline(always)]
    fn place(&mut self, entry: Entry<E>) {
        let bucket = entry.at().0 >> self.shift;
        if bucket <= self.bucket {
            self.current.push(entry);
        } else if bucket - self.bucket < BUCKETS as u64 {
            self.put(bucket as usize % BUCKETS, entry);
        } else {
            self.far.push(entry);
        }
    }

    #[inline(always)]
    fn put(&mut self, slot: usize, entry: Entry<E>) {
        let next = self.heads[slot];
        let node = Node { entry, next };
        let index = self.free;
        if index == END {
            self.heads[slot] = self.nodes.len() as u32;
            self.nodes.push(node);
        } else {
            self.free = self.nodes[index as usize].next;
            self.nodes[index as usize] = node;
            self.heads[slot] = index;
        }
        self.occupied[slot / 64] |= 1 << (slot % 64);
        self.near += 1;
    }

    /// Takes the earliest event and moves the clock to it.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, E)> {
        if self.current.first().is_none() {
            self.turn();
        }
        let entry = self.current.pop()?;
        self.now = entry.at();
        self.countdown -= 1;
        if self.countdown == 0 {
            self.adapt();
        }
        Some((self.now, entry.event))
    }

    /// Turns the ring to the next bucket that holds something and empties it into `current`.
    #[inline]
    fn turn(&mut self) {
        if self.near > 0 {
            self.bucket += self.distance();
            self.empty(self.bucket as usize % BUCKETS);
        } else if let Some(first) = self.far.first() {
            self.bucket = first.at().0 >> self.shift;
        } else {
            return;
        }
        // The ring now reaches further: events of the far future come into it.
        let end = (self.bucket + BUCKETS as u64) << self.shift;
        while self.far.first().is_some_and(|first| first.at().0 < end) {
            if let Some(entry) = self.far.pop() {
                self.place(entry);
            }
        }
    }

    /// Buckets from the present one to the next that holds something; there is one.
    #[inline]
    fn distance(&self) -> u64 {
        let here = self.bucket as usize % BUCKETS;
        let rest = self.occupied[here / 64] >> (here % 64);
        if rest != 0 {
            return u64::from(rest.trailing_zeros());
        }
        let mut distance = 64 - here as u64 % 64;
        let mut word = here / 64;
        loop {
            word = (word + 1) % WORDS;
            let bits = self.occupied[word];
            if bits != 0 {
                return distance + u64::from(bits.trailing_zeros());
            }
            distance += 64;
        }
    }

    #[inline]
    fn empty(&mut self, slot: usize) {
        let mut index = self.heads[slot];
        self.heads[slot] = END;
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        while index != END {
            let node = self.nodes[index as usize];
            self.current.push(node.entry);
            self.nodes[index as usize].next = self.free;
            self.free = index;
            index = node.next;
            self.near -= 1;
        }
    }

    /// Fits the width of a bucket to the mean distance of the events that were taken lately.
    #[cold]
    fn adapt(&mut self) {
        self.countdown = LOOK_AFTER;
        let mean = self.now.since(self.looked).0 / u64::from(LOOK_AFTER);
        self.looked = self.now;
        let wanted = (2 * mean).max(1).ilog2();
        if self.shift.abs_diff(wanted) < 2 {
            return;
        }
        // Everything in the ring passes through the heaps.
        for slot in 0..BUCKETS {
            self.empty(slot);
        }
        self.shift = wanted;
        self.bucket = self.now.0 >> wanted;
        std::mem::swap(&mut self.current, &mut self.spare);
        while let Some(entry) = self.spare.pop() {
            self.place(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_times_come_out_in_the_order_they_went_in() {
        let mut calendar = Calendar::with_capacity(8);
        for (at, name) in [(5, 'a'), (3, 'b'), (5, 'c'), (3, 'd')] {
            calendar.push(Time(at), name);
        }
        let order: String = std::iter::from_fn(|| calendar.pop().map(|(_, e)| e)).collect();
        assert_eq!(order, "bdac");
        assert_eq!(calendar.now(), Time(5));
    }

    proptest! {
        /// Whatever the distances, and however the width of a bucket is changed on the way.
        #[test]
        fn takes_events_in_order_while_others_come(
            scale in 0u32..34,
            turns in prop::collection::vec((0u64..1 << 16, 0u64..1 << 16), 1..60),
        ) {
            let mut calendar = Calendar::with_capacity(4);
            let mut pending: Vec<(u64, usize)> = Vec::new();
            let mut number = 0;
            for (index, &(first, second)) in turns.iter().cycle().take(6000).enumerate() {
                // The distances change by orders of magnitude halfway.
                let scale = if index < 3000 { scale } else { 33 - scale };
                let now = calendar.now().0;
                for gap in [first, second].iter().take(1 + index % 2) {
                    let at = now + (gap << scale >> 16);
                    calendar.push(Time(at), number);
                    pending.push((at, number));
                    number += 1;
                }
                if index % 3 != 0 {
                    let least = pending.iter().copied().min();
                    let got = calendar.pop().map(|(at, event)| (at.0, event));
                    prop_assert_eq!(got, least);
                    pending.retain(|entry| Some(*entry) != least);
                }
                prop_assert_eq!(calendar.len(), pending.len());
            }
        }

        #[test]
        fn takes_events_as_a_stable_sort_would(times in prop::collection::vec(0u64..50, 0..300)) {
            let mut calendar = Calendar::with_capacity(4);
            for (index, &at) in times.iter().enumerate() {
                calendar.push(Time(at), index);
            }
            let mut expected: Vec<usize> = (0..times.len()).collect();
            expected.sort_by_key(|&index| times[index]);
            let got: Vec<usize> = std::iter::from_fn(|| calendar.pop().map(|(_, e)| e)).collect();
            prop_assert_eq!(got, expected);
        }
    }
}
