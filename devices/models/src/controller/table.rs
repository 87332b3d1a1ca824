//! A hash table from 64-bit keys to small values that allocates only when it outgrows what it
//! was made for: linear probing, deletion by shifting back, no tombstones.

use prefetch_index::prefetch_index;

/// No key here.
const EMPTY: u8 = 0;

/// Keys, each with a value.
///
/// One byte of each key's hash is stored in an array of its own. Most look-ups of absent keys read
/// only these bytes, and so does the first step of any look-up. They fit in the processor's cache
/// where the keys of a large table do not.
#[derive(Clone, Debug)]
pub struct Table<V> {
    tags: Vec<u8>,
    slots: Vec<(u64, V)>,
    used: usize,
}

impl<V: Copy + Default> Table<V> {
    /// An empty table that holds `capacity` keys before it must grow.
    pub fn with_capacity(capacity: usize) -> Table<V> {
        let slots = (2 * capacity.max(4)).next_power_of_two();
        Table {
            tags: vec![EMPTY; slots],
            slots: vec![(0, V::default()); slots],
            used: 0,
        }
    }

    /// Keys that it holds.
    pub fn keys(&self) -> usize {
        self.used
    }

    /// Where a key belongs, and its tag.
    #[inline]
    fn home(&self, key: u64) -> (usize, u8) {
        // Fibonacci hashing: the high bits of the product mix all bits of the key.
        let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let place = (hash >> (64 - self.slots.len().trailing_zeros())) as usize;
        (place, (hash >> 24) as u8 | 1)
    }

    #[inline]
    fn find(&self, key: u64) -> (usize, bool) {
        let mask = self.slots.len() - 1;
        let (mut at, tag) = self.home(key);
        loop {
            let there = self.tags[at];
            if there == tag && self.slots[at].0 == key {
                return (at, true);
            }
            if there == EMPTY {
                return (at, false);
            }
            at = (at + 1) & mask;
        }
    }

    /// Prefetches the memory of a key.
    #[inline]
    pub fn touch(&self, key: u64) {
        let (at, _) = self.home(key);
        prefetch_index(&self.tags, at);
        prefetch_index(&self.slots, at);
    }

    /// The value under `key`.
    #[inline]
    pub fn get(&self, key: u64) -> Option<V> {
        let (at, found) = self.find(key);
        found.then(|| self.slots[at].1)
    }

    /// Puts `value` under `key`, in place of what may be there.
    #[inline]
    pub fn insert(&mut self, key: u64, value: V) {
        if (self.used + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let (at, found) = self.find(key);
        self.used += usize::from(!found);
        self.put(at, key, value);
    }

    #[inline]
    fn put(&mut self, at: usize, key: u64, value: V) {
        self.tags[at] = self.home(key).1;
        self.slots[at] = (key, value);
    }

    /// Removes `key` and gives its value.
    #[inline]
    pub fn remove(&mut self, key: u64) -> Option<V> {
        let (mut hole, found) = self.find(key);
        if !found {
            return None;
        }
        let value = self.slots[hole].1;
        let mask = self.slots.len() - 1;
        let mut at = (hole + 1) & mask;
        while self.tags[at] != EMPTY {
            let (home, _) = self.home(self.slots[at].0);
            // It may move back if its home does not lie between the hole and itself.
            if at.wrapping_sub(home) & mask >= at.wrapping_sub(hole) & mask {
                (self.tags[hole], self.slots[hole]) = (self.tags[at], self.slots[at]);
                hole = at;
            }
            at = (at + 1) & mask;
        }
        self.tags[hole] = EMPTY;
        self.used -= 1;
        Some(value)
    }

    /// Every key with its value, in no order that means anything.
    pub fn iter(&self) -> impl Iterator<Item = (u64, V)> + '_ {
        let slots = self.tags.iter().zip(&self.slots);
        slots
            .filter(|&(&tag, _)| tag != EMPTY)
            .map(|(_, &slot)| slot)
    }

    /// Removes every key.
    pub fn clear(&mut self) {
        self.tags.fill(EMPTY);
        self.used = 0;
    }

    #[cold]
    fn grow(&mut self) {
        let mut larger = Table::with_capacity(self.slots.len());
        for (key, value) in self.iter() {
            let (at, _) = larger.find(key);
            larger.put(at, key, value);
        }
        larger.used = self.used;
        *self = larger;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn behaves_as_a_map(
            steps in prop::collection::vec((0u64..40, prop::option::of(0u32..9)), 0..300),
        ) {
            let mut table = Table::with_capacity(4);
            let mut map = HashMap::new();
            for (key, value) in steps {
                let key = key * 0x1_0000_0001;
                match value {
                    Some(value) => {
                        table.insert(key, value);
                        map.insert(key, value);
                    }
                    None => prop_assert_eq!(table.remove(key), map.remove(&key)),
                }
                prop_assert_eq!(table.used, map.len());
                for (&key, &value) in &map {
                    prop_assert_eq!(table.get(key), Some(value));
                }
            }
            prop_assert_eq!(table.iter().collect::<HashMap<_, _>>(), map);
        }
    }
}
