//! A hash table from 64-bit keys to 32-bit values that allocates only when it outgrows what it
//! was made for: linear probing, deletion by shifting back, no tombstones.

const EMPTY: u64 = u64::MAX;

/// Keys below `u64::MAX`, each with a value.
#[derive(Clone, Debug)]
pub struct Table {
    slots: Vec<(u64, u32)>,
    used: usize,
}

impl Table {
    /// An empty table that holds `capacity` keys before it must grow.
    pub fn with_capacity(capacity: usize) -> Table {
        Table {
            slots: vec![(EMPTY, 0); (2 * capacity.max(4)).next_power_of_two()],
            used: 0,
        }
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.used
    }

    /// True if there is no key.
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    #[inline]
    fn home(&self, key: u64) -> usize {
        // Fibonacci hashing: the high bits of the product mix all bits of the key.
        let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (hash >> (64 - self.slots.len().trailing_zeros())) as usize
    }

    #[inline]
    fn find(&self, key: u64) -> (usize, bool) {
        let mask = self.slots.len() - 1;
        let mut at = self.home(key);
        loop {
            let held = self.slots[at].0;
            if held == key {
                return (at, true);
            }
            if held == EMPTY {
                return (at, false);
            }
            at = (at + 1) & mask;
        }
    }

    /// The value under `key`.
    #[inline]
    pub fn get(&self, key: u64) -> Option<u32> {
        let (at, found) = self.find(key);
        found.then(|| self.slots[at].1)
    }

    /// Puts `value` under `key`, in place of what may be there.
    #[inline]
    pub fn insert(&mut self, key: u64, value: u32) {
        debug_assert_ne!(key, EMPTY);
        if (self.used + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let (at, found) = self.find(key);
        self.used += usize::from(!found);
        self.slots[at] = (key, value);
    }

    /// Takes `key` out and gives its value.
    #[inline]
    pub fn remove(&mut self, key: u64) -> Option<u32> {
        let (mut hole, found) = self.find(key);
        if !found {
            return None;
        }
        let value = self.slots[hole].1;
        let mask = self.slots.len() - 1;
        let mut at = (hole + 1) & mask;
        while self.slots[at].0 != EMPTY {
            let home = self.home(self.slots[at].0);
            // It may move back if its home does not lie between the hole and itself.
            if at.wrapping_sub(home) & mask >= at.wrapping_sub(hole) & mask {
                self.slots[hole] = self.slots[at];
                hole = at;
            }
            at = (at + 1) & mask;
        }
        self.slots[hole].0 = EMPTY;
        self.used -= 1;
        Some(value)
    }

    /// Every key with its value, in no order that means anything.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        self.slots.iter().copied().filter(|&(key, _)| key != EMPTY)
    }

    /// Takes every key out.
    pub fn clear(&mut self) {
        self.slots.fill((EMPTY, 0));
        self.used = 0;
    }

    #[cold]
    fn grow(&mut self) {
        let mut larger = Table::with_capacity(self.slots.len());
        for (key, value) in self.iter() {
            let (at, _) = larger.find(key);
            larger.slots[at] = (key, value);
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
                prop_assert_eq!(table.len(), map.len());
                for (&key, &value) in &map {
                    prop_assert_eq!(table.get(key), Some(value));
                }
            }
            prop_assert_eq!(table.iter().collect::<HashMap<_, _>>(), map);
        }
    }
}
