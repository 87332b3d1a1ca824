//! One bit for each index: a scan of 512 indices reads one line of the processor's cache.

use crate::prefetch::prefetch_all;
use prefetch_index::prefetch_index;
use serde::{Deserialize, Serialize, Serializer};

/// Bits, all clear at first.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "SavedBits")]
pub struct Bits(Vec<u64>);

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

/// Words of as many bits as an index can tell apart.
const MOST_WORDS: usize = 1 << 26;

impl TryFrom<SavedBits> for Bits {
    type Error = &'static str;

    fn try_from(saved: SavedBits) -> Result<Bits, &'static str> {
        if saved.words > MOST_WORDS {
            return Err("more bits than an index can tell apart");
        }
        let mut words = vec![0; saved.words];
        for (index, word) in saved.set {
            *words.get_mut(index).ok_or("a bit beyond the last one")? = word;
        }
        Ok(Bits(words))
    }
}

impl Bits {
    /// `count` clear bits.
    pub fn new(count: usize) -> Bits {
        Bits(vec![0; count.div_ceil(64)])
    }

    /// True if these are as many bits as [`Bits::new`] makes of `count`.
    pub fn are(&self, count: usize) -> bool {
        self.0.len() == count.div_ceil(64)
    }

    /// True if the bit is set.
    #[inline]
    pub fn get(&self, index: u32) -> bool {
        self.0[(index >> 6) as usize] >> (index & 63) & 1 == 1
    }

    /// Sets a bit.
    #[inline]
    pub fn set(&mut self, index: u32) {
        self.0[(index >> 6) as usize] |= 1 << (index & 63);
    }

    /// Clears a bit.
    #[inline]
    pub fn clear(&mut self, index: u32) {
        self.0[(index >> 6) as usize] &= !(1 << (index & 63));
    }

    /// Clears all bits.
    pub fn clear_all(&mut self) {
        self.0.fill(0);
    }

    /// Prefetches all of them.
    #[inline]
    pub fn prefetch_words(&self) {
        prefetch_all(&self.0);
    }

    /// The 64 bits among which the bit stands.
    #[inline]
    pub fn word(&self, index: u32) -> u64 {
        self.0[(index >> 6) as usize]
    }

    /// That word without the bits below `from`; nothing beyond the end.
    #[inline]
    pub fn word_from(&self, from: u32) -> Option<u64> {
        let word = self.0.get((from >> 6) as usize)?;
        Some(word & (u64::MAX << (from & 63)))
    }

    /// The first set bit from `from` on.
    #[inline]
    pub fn next(&self, from: u32) -> Option<u32> {
        let mut word = (from >> 6) as usize;
        let mut bits = self.word_from(from)?;
        while bits == 0 {
            word += 1;
            bits = *self.0.get(word)?;
        }
        Some((word as u32) << 6 | bits.trailing_zeros())
    }

    /// The last set bit before `end`.
    #[inline]
    pub fn last_before(&self, end: u32) -> Option<u32> {
        let mut word = (end >> 6) as usize;
        let mut bits = match self.0.get(word) {
            Some(bits) => bits & !(u64::MAX << (end & 63)),
            None => 0,
        };
        while bits == 0 {
            word = word.checked_sub(1)?;
            bits = *self.0.get(word)?;
        }
        Some((word as u32) << 6 | (63 - bits.leading_zeros()))
    }

    /// `count` bits from `start` on, at most 64; the first is the lowest.
    #[inline]
    pub fn window(&self, start: u32, count: u32) -> u64 {
        let (word, shift) = ((start >> 6) as usize, start & 63);
        let mut bits = self.0[word] >> shift;
        if shift + count > 64 {
            bits |= self.0[word + 1] << (64 - shift);
        }
        bits & (u64::MAX >> (64 - count))
    }

    /// Inverts the bits from `start` on that are set in `which`.
    #[inline]
    pub fn invert(&mut self, start: u32, which: u64) {
        let (word, shift) = ((start >> 6) as usize, start & 63);
        self.0[word] ^= which << shift;
        let rest = which.checked_shr(64 - shift).unwrap_or(0);
        if rest != 0 {
            self.0[word + 1] ^= rest;
        }
    }

    /// Asks for a bit's memory ahead.
    #[inline]
    pub fn touch(&self, index: u32) {
        prefetch_index(&self.0, (index >> 6) as usize);
    }

    /// Sets `count` bits from `start` on.
    #[inline]
    pub fn set_range(&mut self, start: u32, count: u32) {
        masks(start, count).for_each(|(word, mask)| self.0[word] |= mask);
    }

    /// Clears `count` bits from `start` on.
    pub fn clear_range(&mut self, start: u32, count: u32) {
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
        fn the_next_and_the_last_set_bit_are_found(
            set in prop::collection::btree_set(0u32..300, 0..20), from in 0u32..320,
        ) {
            let mut bits = Bits::new(300);
            set.iter().for_each(|&index| bits.set(index));
            prop_assert_eq!(bits.next(from), set.range(from..).next().copied());
            prop_assert_eq!(bits.last_before(from), set.range(..from).next_back().copied());
            set.iter().for_each(|&index| bits.clear(index));
            prop_assert_eq!(bits.next(0), None);
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
