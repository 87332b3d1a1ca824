//! A four-ary implicit heap of numbers of events: half the depth of a binary one, and the four
//! children of a node lie side by side in memory.

use crate::Time;

/// An event's number and its place in the order.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    /// Time in the upper half, sequence number in the lower: one comparison orders both.
    pub(crate) key: u128,
    pub(crate) node: u32,
}

impl Entry {
    pub(crate) fn at(&self) -> Time {
        Time((self.key >> 64) as u64)
    }
}

const ARITY: usize = 4;

/// Events, the one with the least key on top.
pub(crate) struct Heap {
    entries: Vec<Entry>,
}

impl Heap {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Heap {
            entries: Vec::with_capacity(capacity),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn first(&self) -> Option<&Entry> {
        self.entries.first()
    }

    pub(crate) fn push(&mut self, key: u128, node: u32) {
        let entry = Entry { key, node };
        let hole = self.entries.len();
        self.entries.push(entry);
        rise(&mut self.entries, hole, entry);
    }

    pub(crate) fn pop(&mut self) -> Option<Entry> {
        let last = self.entries.pop()?;
        let Some(&first) = self.entries.first() else {
            return Some(last);
        };
        // The last entry nearly always belongs at the bottom again: sink the hole all the way
        // without comparing against it, then let it rise.
        let bottom = sink(&mut self.entries);
        rise(&mut self.entries, bottom, last);
        Some(first)
    }
}

/// Moves earlier children up from the root's hole to a leaf; gives the leaf.
#[inline]
fn sink(heap: &mut [Entry]) -> usize {
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

/// Puts `entry` where it belongs on the path from `hole` to the root.
#[inline]
fn rise(heap: &mut [Entry], mut hole: usize, entry: Entry) {
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
