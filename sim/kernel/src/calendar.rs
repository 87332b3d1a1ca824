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
            let entry = self.turn()?;
            self.current.push(entry.key, entry.event);
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
        self.place(key, event);
    }

    #[inline(always)]
    fn place(&mut self, key: u128, event: E) {
        let bucket = (key >> 64) as u64 >> self.shift;
        // Most events lie between the present bucket and the end of the ring.
        if bucket.wrapping_sub(self.bucket + 1) < BUCKETS as u64 - 1 {
            self.put(bucket as usize % BUCKETS, Entry { key, event });
        } else if bucket <= self.bucket {
            self.current.push(key, event);
        } else {
            self.far.push(key, event);
        }
    }

    #[inline(always)]
    fn put(&mut self, slot: usize, entry: Entry<E>) {
        let next = std::mem::replace(&mut self.heads[slot], self.free);
        if let Some(node) = self.nodes.get_mut(self.free as usize) {
            self.free = node.next;
            *node = Node { entry, next };
        } else {
            self.heads[slot] = self.nodes.len() as u32;
            self.nodes.push(Node { entry, next });
        }
        self.occupied[slot / 64] |= 1 << (slot % 64);
        self.near += 1;
    }

    /// Takes the earliest event and moves the clock to it.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, E)> {
        self.pop_until(Time::NEVER)
    }

    /// Takes the earliest event and moves the clock to it, if it is due at `limit` or earlier.
    #[inline]
    pub fn pop_until(&mut self, limit: Time) -> Option<(Time, E)> {
        let entry = if self.current.first().is_some() {
            self.current.pop()?
        } else {
            self.turn()?
        };
        if entry.at() > limit {
            self.current.push(entry.key, entry.event);
            return None;
        }
        self.now = entry.at();
        self.countdown -= 1;
        if self.countdown == 0 {
            self.adapt();
        }
        Some((self.now, entry.event))
    }

    /// Turns the ring to the next bucket that holds something and takes the earliest event out of
    /// it; the others come into `current`, which is empty.
    #[inline]
    fn turn(&mut self) -> Option<Entry<E>> {
        let first = if self.near > 0 {
            self.bucket += self.distance();
            self.take_bucket(self.bucket as usize % BUCKETS)
        } else {
            let first = self.far.pop();
            self.bucket = first.as_ref()?.at().0 >> self.shift;
            first
        };
        if self.reaches_far() {
            self.fetch_far();
        }
        first
    }

    /// True if the ring has come to reach events of the far future.
    #[inline]
    fn reaches_far(&self) -> bool {
        let end = (self.bucket + BUCKETS as u64) << self.shift;
        self.far.first().is_some_and(|first| first.at().0 < end)
    }

    fn fetch_far(&mut self) {
        while self.reaches_far() {
            if let Some(entry) = self.far.pop() {
                self.place(entry.key, entry.event);
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

    /// Empties a bucket: its earliest event, which most often is the only one, and the others
    /// into `current`.
    #[inline]
    fn take_bucket(&mut self, slot: usize) -> Option<Entry<E>> {
        let mut first = std::mem::replace(&mut self.heads[slot], END);
        if first == END {
            return None;
        }
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        let mut other = self.nodes[first as usize].next;
        while other != END {
            let next = self.nodes[other as usize].next;
            if self.nodes[other as usize].entry.key < self.nodes[first as usize].entry.key {
                std::mem::swap(&mut other, &mut first);
            }
            let entry = self.free_node(other);
            self.current.push(entry.key, entry.event);
            other = next;
        }
        Some(self.free_node(first))
    }

    /// A node's event; the node may be used again.
    #[inline]
    fn free_node(&mut self, index: u32) -> Entry<E> {
        let node = &mut self.nodes[index as usize];
        node.next = self.free;
        self.free = index;
        self.near -= 1;
        node.entry
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
            if let Some(first) = self.take_bucket(slot) {
                self.current.push(first.key, first.event);
            }
        }
        self.shift = wanted;
        self.bucket = self.now.0 >> wanted;
        std::mem::swap(&mut self.current, &mut self.spare);
        while let Some(entry) = self.spare.pop() {
            self.place(entry.key, entry.event);
        }
        self.fetch_far();
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
