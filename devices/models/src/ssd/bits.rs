//! One bit for each slot: whether it holds valid data. A scan of a block then touches one cache
//! line where the map would cost one for each slot.

/// Bits, all false at first.
#[derive(Debug)]
pub(super) struct Bits(Vec<u64>);

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

    /// Copies `count` bits of `from` to `start`.
    pub(super) fn copy(&mut self, from: &Bits, count: u32, start: u32) {
        if start % 64 == 0 {
            let (whole, first) = ((count / 64) as usize, (start / 64) as usize);
            self.0[first..first + whole].copy_from_slice(&from.0[..whole]);
            self.copy_slowly(from, count / 64 * 64..count, start);
        } else {
            self.copy_slowly(from, 0..count, start);
        }
    }

    fn copy_slowly(&mut self, from: &Bits, range: std::ops::Range<u32>, start: u32) {
        for index in range {
            if from.get(index) {
                self.set(start + index);
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
        fn a_copy_has_the_same_bits(bits in prop::collection::vec(any::<bool>(), 1..300), start in 0u32..200) {
            let mut from = Bits::new(bits.len());
            for (index, _) in bits.iter().enumerate().filter(|(_, bit)| **bit) {
                from.set(index as u32);
            }
            let mut to = Bits::new(600);
            to.copy(&from, bits.len() as u32, start);
            for index in 0..600 {
                let expected = index >= start && bits.get((index - start) as usize) == Some(&true);
                prop_assert_eq!(to.get(index), expected);
            }
        }
    }
}
