//! One bit for each slot. A scan of a block then reads one cache line; the map would take one for
//! each slot.

use prefetch_index::prefetch_index;
use serde::{Deserialize, Serialize, Serializer};

/// Bits, all false at first.
#[derive(Debug, Deserialize)]
#[serde(from = "SavedBits")]
pub(crate) struct Bits(Vec<u64>);

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
    pub(crate) fn new(count: usize) -> Bits {
        Bits(vec![0; count.div_ceil(64)])
    }

    #[inline]
    pub(crate) fn get(&self, index: u32) -> bool {
        self.0[(index >> 6) as usize] >> (index & 63) & 1 == 1
    }

    #[inline]
    pub(crate) fn set(&mut self, index: u32) {
        self.0[(index >> 6) as usize] |= 1 << (index & 63);
    }

    /// `count` bits from `start` on, at most 64; the first is the lowest.
    #[inline]
    pub(crate) fn window(&self, start: u32, count: u32) -> u64 {
        let (word, shift) = ((start >> 6) as usize, start & 63);
        let mut bits = self.0[word] >> shift;
        if shift + count > 64 {
            bits |= self.0[word + 1] << (64 - shift);
        }
        bits & (u64::MAX >> (64 - count))
    }

    /// Inverts the bits from `start` on that are set in `which`.
    #[inline]
    pub(crate) fn invert(&mut self, start: u32, which: u64) {
        let (word, shift) = ((start >> 6) as usize, start & 63);
        self.0[word] ^= which << shift;
        let rest = which.checked_shr(64 - shift).unwrap_or(0);
        if rest != 0 {
            self.0[word + 1] ^= rest;
        }
    }

    /// Prefetches a bit.
    #[inline]
    pub(crate) fn touch(&self, index: u32) {
        prefetch_index(&self.0, (index >> 6) as usize);
    }

    /// Sets `count` bits from `start` on.
    #[inline]
    pub(crate) fn set_range(&mut self, start: u32, count: u32) {
        masks(start, count).for_each(|(word, mask)| self.0[word] |= mask);
    }

    /// Clears `count` bits from `start` on.
    pub(crate) fn clear_range(&mut self, start: u32, count: u32) {
        masks(start, count).for_each(|(word, mask)| self.0[word] &= !mask);
    }
}

/// The words that hold `count` bits from `start` on, and which of their bits.
#[inline]
fn masks(start: u32, count: u32) -> impl Iterator<Item = (usize, u64)> {
    let end = start + count;
    let mut index = start;
    std::iter::from_fn(move || {
        let bits = (64 - (index & 63)).min(end - index);
        let mask = u64::MAX.checked_shr(64 - bits)? << (index & 63);
        let word = (index >> 6) as usize;
        index += bits;
        Some((word, mask))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_range_is_set_and_cleared_and_nothing_beside_it(
            start in 0u32..300, count in 0u32..300,
        ) {
            let mut bits = Bits::new(700);
            bits.set_range(start, count);
            for index in 0..700 {
                prop_assert_eq!(bits.get(index), index >= start && index < start + count);
            }
            (0..700).for_each(|index| bits.set(index));
            bits.clear_range(start, count);
            for index in 0..700 {
                prop_assert_eq!(bits.get(index), index < start || index >= start + count);
            }
        }

        #[test]
        fn a_window_shows_and_inverts_its_bits(
            set in prop::collection::vec(0u32..300, 0..100), start in 0u32..236, count in 1u32..=64,
            which: u64,
        ) {
            let mut bits = Bits::new(300);
            set.iter().for_each(|&index| bits.set(index));
            let shown = bits.window(start, count);
            for at in 0..64 {
                prop_assert_eq!(shown >> at & 1 == 1, at < count && bits.get(start + at));
            }
            let which = which & (u64::MAX >> (64 - count));
            bits.invert(start, which);
            prop_assert_eq!(bits.window(start, count), shown ^ which);
            bits.invert(start, which);
            (0..300).for_each(|index| assert_eq!(bits.get(index), set.contains(&index)));
        }
    }
}
