//! One bit for each slot. A scan of a block then touches one cache line where the map would cost
//! one for each slot.

use serde::{Deserialize, Serialize, Serializer};

/// Bits, all false at first.
#[derive(Debug, Deserialize)]
#[serde(from = "SavedBits")]
pub(super) struct Bits(Vec<u64>);

/// The words that are not zero, by index.
#[derive(Deserialize, Serialize)]
struct SavedBits {
    words: usize,
    set: Vec<(usize, u64)>,
}

impl Serialize for Bits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let words = self.0.iter().copied().enumerate();
        SavedBits {
            words: self.0.len(),
            set: words.filter(|&(_, word)| word != 0).collect(),
        }
        .serialize(serializer)
    }
}

impl From<SavedBits> for Bits {
    fn from(saved: SavedBits) -> Bits {
        let mut words = vec![0; saved.words];
        for (index, word) in saved.set {
            words[index] = word;
        }
        Bits(words)
    }
}

impl Bits {
    pub(super) fn new(count: usize) -> Bits {
        Bits(vec![0; count.div_ceil(64)])
    }

    #[inline]
    pub(super) fn get(&self, index: u32) -> bool {
        self.0[(index >> 6) as usize] >> (index & 63) & 1 == 1
    }

    #[inline]
    pub(super) fn set(&mut self, index: u32) {
        self.0[(index >> 6) as usize] |= 1 << (index & 63);
    }

    #[inline]
    pub(super) fn clear(&mut self, index: u32) {
        self.0[(index >> 6) as usize] &= !(1 << (index & 63));
    }

    #[inline]
    pub(super) fn put(&mut self, index: u32, value: bool) {
        if value {
            self.set(index);
        } else {
            self.clear(index);
        }
    }

    /// Clears `count` bits from `start` on.
    pub(super) fn clear_range(&mut self, start: u32, count: u32) {
        let (mut index, end) = (start, start + count);
        while index < end {
            if index % 64 == 0 && end - index >= 64 {
                self.0[(index >> 6) as usize] = 0;
                index += 64;
            } else {
                self.clear(index);
                index += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_range_is_cleared_and_nothing_beside_it(start in 0u32..300, count in 0u32..300) {
            let mut bits = Bits::new(700);
            (0..700).for_each(|index| bits.put(index, true));
            bits.clear_range(start, count);
            for index in 0..700 {
                prop_assert_eq!(bits.get(index), index < start || index >= start + count);
            }
        }
    }
}
