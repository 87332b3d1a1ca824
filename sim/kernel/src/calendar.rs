//! The calendar: events in the order of (time, sequence number).
//!
//! A four-ary implicit heap: half the depth of a binary one, and the four children of a node
//! lie side by side in memory. Events at one instant come out in the order they went in.

use crate::Time;

#[derive(Clone, Copy)]
struct Entry<E> {
    /// Time in the upper half, sequence number in the lower: one comparison orders both.
    key: u128,
    event: E,
}

impl<E> Entry<E> {
    fn at(&self) -> Time {
        Time((self.key >> 64) as u64)
    }
}

const ARITY: usize = 4;

/// Pending events of type `E`, the earliest first, first in first out among equals.
pub struct Calendar<E> {
    heap: Vec<Entry<E>>,
    sequence: u64,
    now: Time,
}

impl<E: Copy> Calendar<E> {
    /// An empty calendar at time zero with room for `capacity` events before it must grow.
    pub fn with_capacity(capacity: usize) -> Self {
        Calendar {
            heap: Vec::with_capacity(capacity),
            sequence: 0,
            now: Time::ZERO,
        }
    }

    /// The time of the event that was taken last.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Number of pending events.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// True if nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Number of events scheduled so far.
    pub fn scheduled(&self) -> u64 {
        self.sequence
    }

    /// When the next event is due.
    pub fn next_time(&self) -> Option<Time> {
        self.heap.first().map(Entry::at)
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
    #[inline]
    pub fn push(&mut self, at: Time, event: E) {
        debug_assert!(at >= self.now, "{at:?} lies before {:?}", self.now);
        let key = u128::from(at.0) << 64 | u128::from(self.sequence);
        self.sequence += 1;
        let hole = self.heap.len();
        let entry = Entry { key, event };
        self.heap.push(entry);
        rise(&mut self.heap, hole, entry);
    }

    /// Takes the earliest event and moves the clock to it.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, E)> {
        let last = self.heap.pop()?;
        let Some(&first) = self.heap.first() else {
            self.now = last.at();
            return Some((self.now, last.event));
        };
        // The last entry nearly always belongs at the bottom again: sink the hole all the way
        // without comparing against it, then let it rise.
        let bottom = sink(&mut self.heap);
        rise(&mut self.heap, bottom, last);
        self.now = first.at();
        Some((self.now, first.event))
    }
}

/// Moves earlier children up from the root's hole to a leaf; gives the leaf.
#[inline]
fn sink<E: Copy>(heap: &mut [Entry<E>]) -> usize {
    let mut hole = 0;
    loop {
        let first = hole * ARITY + 1;
        let least = if let Some(children) = heap.get(first..first + ARITY) {
            let left = usize::from(children[1].key < children[0].key);
            let right = 2 + usize::from(children[3].key < children[2].key);
            first
                + if children[right].key < children[left].key {
                    right
                } else {
                    left
                }
        } else if first < heap.len() {
            let mut least = first;
            for child in first + 1..heap.len() {
                if heap[child].key < heap[least].key {
                    least = child;
                }
            }
            least
        } else {
            return hole;
        };
        heap[hole] = heap[least];
        hole = least;
    }
}

/// Puts `entry` where it belongs on the way from `hole` to the root.
#[inline]
fn rise<E: Copy>(heap: &mut [Entry<E>], mut hole: usize, entry: Entry<E>) {
    while hole > 0 {
        let parent = (hole - 1) / ARITY;
        if heap[parent].key < entry.key {
            break;
        }
        heap[hole] = heap[parent];
        hole = parent;
    }
    heap[hole] = entry;
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
