//! The calendar: events in the order of their times, first in first out among equals.
//!
//! A ring of buckets of equal width holds the near future, a heap what lies beyond (the idea of
//! calendar queues: Brown, 1988). A bucket is a short list in the order of time, so an event is put
//! in once and taken out once, whatever the number of pending events is. The width follows the
//! mean distance of the events that were taken, and shrinks where events crowd. The order
//! does not depend on it.

use crate::Time;
use crate::heap::Heap;

/// Buckets in the ring. An event beyond them costs a place in the heap: a thousand disks plan seeks
/// of milliseconds among events that are a microsecond apart.
const BUCKETS: usize = 16_384;
const WORDS: usize = BUCKETS / 64;
/// No node.
const END: u32 = u32::MAX;
/// Events taken between two looks at the width.
const LOOK_AFTER: u32 = 4096;
/// Events that searches for a place may pass before the width is checked early.
const CROWDED: u32 = 64 * LOOK_AFTER;

#[derive(Clone, Copy)]
struct Node<E> {
    at: Time,
    event: E,
    /// The next one of its bucket, of the last one the first; of a free node the next free one; of
    /// one that stands in no bucket itself.
    next: u32,
}

/// Pending events of type `E`, the earliest first, first in first out among equals.
pub struct Calendar<E> {
    /// All events: each is written once, where it stays until it is taken.
    nodes: Vec<Node<E>>,
    free: u32,
    /// The last event of each bucket.
    tails: Box<[u32; BUCKETS]>,
    occupied: [u64; WORDS],
    /// Events in the ring.
    near: usize,
    /// Events beyond the ring, and how many have come there so far.
    far: Heap,
    beyond: u64,
    /// Empty, for changing the width.
    spare: Vec<u32>,
    /// Log2 of the width of a bucket in nanoseconds.
    shift: u32,
    /// Number of the bucket whose time has come, counted from time zero.
    bucket: u64,
    scheduled: u64,
    now: Time,
    /// Events until the next look at the width, and when the last one was.
    countdown: u32,
    looked: Time,
    /// Events passed since then in search of the place of another.
    passed: u32,
}

impl<E: Copy> Calendar<E> {
    /// An empty calendar at time zero with room for `capacity` events before it must grow.
    pub fn with_capacity(capacity: usize) -> Self {
        Calendar {
            nodes: Vec::with_capacity(capacity),
            free: END,
            tails: Box::new([END; BUCKETS]),
            occupied: [0; WORDS],
            near: 0,
            far: Heap::with_capacity(capacity),
            beyond: 0,
            spare: Vec::with_capacity(capacity),
            shift: 10,
            bucket: 0,
            scheduled: 0,
            now: Time::ZERO,
            countdown: LOOK_AFTER,
            looked: Time::ZERO,
            passed: 0,
        }
    }

    /// The time of the event that was taken last.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Number of pending events.
    pub fn len(&self) -> usize {
        self.near + self.far.len()
    }

    /// True if nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of events scheduled so far.
    pub fn scheduled(&self) -> u64 {
        self.scheduled
    }

    /// When the next event is due.
    #[inline]
    pub fn next_time(&mut self) -> Option<Time> {
        self.next_event().map(|(at, _)| at)
    }

    /// The next event and when it is due; it stays where it is.
    #[inline]
    pub fn next_event(&mut self) -> Option<(Time, E)> {
        let last = self.last_of_next_bucket()?;
        let Node { at, event, .. } = self.nodes[self.nodes[last as usize].next as usize];
        Some((at, event))
    }

    /// The next `COUNT` events, if the near future holds them. A driver prefetches their memory.
    #[inline]
    pub fn upcoming<const COUNT: usize>(&self) -> Option<[E; COUNT]> {
        if self.near < COUNT {
            return None;
        }
        let mut bucket = self.bucket;
        let (mut node, mut last) = (0, 0);
        Some(std::array::from_fn(|_| {
            if node == last {
                bucket += self.distance(bucket);
                last = self.tails[bucket as usize % BUCKETS];
                node = last;
                bucket += 1;
            }
            node = self.nodes[node as usize].next;
            self.nodes[node as usize].event
        }))
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

    /// Schedules `event` at `at`, which must not lie before the present time.
    #[inline(always)]
    pub fn push(&mut self, at: Time, event: E) {
        debug_assert!(at >= self.now, "{at:?} lies before {:?}", self.now);
        self.scheduled += 1;
        let index = self.allocate(at, event);
        self.place(at, index);
    }

    #[inline(always)]
    fn allocate(&mut self, at: Time, event: E) -> u32 {
        let index = self.free;
        let next = index;
        if let Some(node) = self.nodes.get_mut(index as usize) {
            self.free = node.next;
            *node = Node { at, event, next };
            return index;
        }
        let next = self.nodes.len() as u32;
        self.nodes.push(Node { at, event, next });
        next
    }

    /// Puts a node that stands nowhere where it belongs.
    #[inline(always)]
    fn place(&mut self, at: Time, index: u32) {
        // What is due before the present bucket is the earliest of it.
        let ahead = (at.0 >> self.shift).saturating_sub(self.bucket);
        if ahead >= BUCKETS as u64 {
            let key = u128::from(at.0) << 64 | u128::from(self.beyond);
            self.beyond += 1;
            return self.far.push(key, index);
        }
        let slot = (self.bucket + ahead) as usize % BUCKETS;
        self.near += 1;
        if self.tails[slot] == END {
            self.tails[slot] = index;
            self.occupied[slot / 64] |= 1 << (slot % 64);
        } else {
            self.join(slot, at, index);
        }
    }

    /// Links a node into the list of a bucket that holds others.
    fn join(&mut self, slot: usize, at: Time, index: u32) {
        let last = self.tails[slot];
        let mut before = last;
        if self.nodes[last as usize].at <= at {
            self.tails[slot] = index;
        } else {
            loop {
                let after = self.nodes[before as usize].next;
                if self.nodes[after as usize].at > at {
                    break;
                }
                before = after;
                self.passed += 1;
            }
        }
        self.nodes[index as usize].next = self.nodes[before as usize].next;
        self.nodes[before as usize].next = index;
        if self.passed > CROWDED {
            self.adapt();
        }
    }

    /// Takes the earliest event and moves the clock to it.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, E)> {
        self.pop_until(Time::NEVER)
    }

    /// Takes the earliest event and moves the clock to it, if it is due at `limit` or earlier.
    #[inline]
    pub fn pop_until(&mut self, limit: Time) -> Option<(Time, E)> {
        let last = self.last_of_next_bucket()?;
        let first = self.nodes[last as usize].next;
        let Node { at, event, next } = self.nodes[first as usize];
        if at > limit {
            return None;
        }
        if first == last {
            let slot = self.bucket as usize % BUCKETS;
            self.tails[slot] = END;
            self.occupied[slot / 64] &= !(1 << (slot % 64));
        } else {
            self.nodes[last as usize].next = next;
        }
        self.nodes[first as usize].next = self.free;
        self.free = first;
        self.near -= 1;
        self.now = at;
        self.countdown -= 1;
        if self.countdown == 0 {
            self.adapt();
        }
        Some((at, event))
    }

    /// The last event of the bucket with the earliest one, to which the ring advances.
    #[inline]
    fn last_of_next_bucket(&mut self) -> Option<u32> {
        let last = self.tails[self.bucket as usize % BUCKETS];
        if last != END {
            Some(last)
        } else {
            self.advance_ring()
        }
    }

    /// Advances the ring to the next bucket that holds something; gives its last event.
    #[inline]
    fn advance_ring(&mut self) -> Option<u32> {
        if self.near > 0 {
            self.bucket += self.distance(self.bucket);
        } else {
            self.bucket = self.far.first()?.at().0 >> self.shift;
        }
        if self.reaches_far() {
            self.fetch_far();
        }
        Some(self.tails[self.bucket as usize % BUCKETS])
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
                self.place(entry.at(), entry.node);
            }
        }
    }

    /// Buckets from this one to the next that holds something; there is one.
    #[inline]
    fn distance(&self, bucket: u64) -> u64 {
        let here = bucket as usize % BUCKETS;
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

    /// Fits the width of a bucket to the mean distance of the events that were taken lately.
    #[cold]
    fn adapt(&mut self) {
        self.countdown = LOOK_AFTER;
        let mean = self.now.since(self.looked).0 / u64::from(LOOK_AFTER);
        self.looked = self.now;
        let wanted = (2 * mean).max(1).ilog2();
        // How many others an event passed in search of its place.
        let crowd = std::mem::take(&mut self.passed) / (LOOK_AFTER / 8);
        if crowd >= 4 * 8 {
            self.resize(wanted.min(self.shift.saturating_sub((crowd / 8).ilog2())));
        } else if self.shift > wanted + 1 {
            self.resize(wanted);
        } else if self.shift + 1 < wanted && crowd == 0 {
            self.resize(self.shift + 2);
        }
    }

    /// Takes everything out of the ring and puts it in again with buckets of another width.
    fn resize(&mut self, shift: u32) {
        let mut pending = std::mem::take(&mut self.spare);
        for ahead in 0..BUCKETS as u64 {
            let slot = (self.bucket + ahead) as usize % BUCKETS;
            let last = std::mem::replace(&mut self.tails[slot], END);
            let mut index = last;
            while index != END {
                index = self.nodes[index as usize].next;
                pending.push(index);
                if index == last {
                    break;
                }
            }
        }
        self.near = 0;
        self.occupied.fill(0);
        self.shift = shift;
        self.bucket = self.now.0 >> shift;
        for &index in &pending {
            let node = &mut self.nodes[index as usize];
            node.next = index;
            let at = node.at;
            self.place(at, index);
        }
        pending.clear();
        self.spare = pending;
        self.fetch_far();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stream;
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

    /// Bursts of a microsecond, far apart: the mean distance alone would put each into one bucket,
    /// where half of the others would stand before an event's place.
    #[test]
    fn buckets_narrow_where_events_crowd() {
        let mut calendar = Calendar::with_capacity(2048);
        let mut draws = Stream::new(1, "calendar", "crowd");
        let (mut sequence, mut passed) = (0, 0);
        for burst in 1..40 {
            for _ in 0..8192 {
                let before = calendar.passed;
                calendar.push(Time(burst * 1_000_000 + draws.below(1000)), sequence);
                passed += u64::from(calendar.passed.saturating_sub(before));
                sequence += 1;
            }
            let mut last = None;
            while let Some(next) = calendar.pop() {
                assert!(Some(next) > last, "{next:?} after {last:?}");
                last = Some(next);
            }
        }
        assert!(passed < 4 * sequence, "{passed} passed by {sequence}");
    }

    /// Equal times far ahead keep their order through a change of width.
    #[test]
    fn equals_stay_in_order_when_the_width_changes() {
        let mut calendar = Calendar::with_capacity(64);
        for name in 0..20 {
            calendar.push(Time(50_000_000), name);
        }
        for width in [20, 2, 0, 24, 8] {
            calendar.resize(width);
            calendar.push(Time(50_000_000), calendar.scheduled());
        }
        let order: Vec<u64> = std::iter::from_fn(|| calendar.pop().map(|(_, e)| e)).collect();
        assert_eq!(order, (0..25).collect::<Vec<_>>());
    }

    proptest! {
        /// Whatever the distances, and however the width of a bucket is changed meanwhile.
        #[test]
        fn takes_events_in_order_while_others_come(
            scale in 0u32..34,
            gaps in prop::collection::vec((0u64..1 << 16, 0u64..1 << 16), 1..60),
        ) {
            let mut calendar = Calendar::with_capacity(4);
            let mut pending = std::collections::BTreeSet::new();
            let mut number = 0;
            for (index, &(first, second)) in gaps.iter().cycle().take(6000).enumerate() {
                // The distances change by orders of magnitude halfway.
                let scale = if index < 3000 { scale } else { 33 - scale };
                let now = calendar.now().0;
                for gap in [first, second].iter().take(1 + index % 2) {
                    let at = now + (gap << scale >> 16);
                    calendar.push(Time(at), number);
                    pending.insert((at, number));
                    number += 1;
                }
                if index % 3 != 0 {
                    let got = calendar.pop().map(|(at, event)| (at.0, event));
                    prop_assert_eq!(got, pending.pop_first());
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
