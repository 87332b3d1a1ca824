//! A set of whole numbers that finds the next member from a point on: what an elevator needs.
//!
//! The members are bits. A bit of each higher level says that one of 64 bits below it is set. A
//! search climbs and descends at most four levels for 16 million numbers. Above 2^28 numbers (an
//! array of petabytes) the bits would outgrow the members by far: then a tree holds those.

use crate::Bits;
use std::collections::BTreeSet;

/// Numbers up to which bits are used: 32 MiB of them.
const BITS_AT_MOST: u64 = 1 << 28;

/// A set of numbers below a bound.
#[derive(Clone, Debug)]
pub struct BitSet {
    /// Level 0 holds the members.
    levels: Vec<Bits>,
    len: u64,
    /// In place of the levels, for very large bounds.
    tree: Option<BTreeSet<u64>>,
}

impl BitSet {
    /// An empty set of numbers below `bound`.
    pub fn new(bound: u64) -> BitSet {
        if bound > BITS_AT_MOST {
            return BitSet {
                levels: Vec::new(),
                len: 0,
                tree: Some(BTreeSet::new()),
            };
        }
        let mut levels = Vec::new();
        let mut count = bound.max(1);
        loop {
            levels.push(Bits::new(count as usize));
            count = count.div_ceil(64);
            if count == 1 {
                break;
            }
        }
        BitSet {
            levels,
            len: 0,
            tree: None,
        }
    }

    /// Number of members.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// True if there is no member.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Puts a number in; it may be in already.
    pub fn insert(&mut self, number: u64) {
        if let Some(tree) = &mut self.tree {
            self.len += u64::from(tree.insert(number));
            return;
        }
        let mut at = number as u32;
        if self.levels[0].get(at) {
            return;
        }
        self.len += 1;
        for level in &mut self.levels {
            let before = level.word(at);
            level.set(at);
            if before != 0 {
                break;
            }
            at /= 64;
        }
    }

    /// Takes a number out; it may be out already.
    pub fn remove(&mut self, number: u64) {
        if let Some(tree) = &mut self.tree {
            self.len -= u64::from(tree.remove(&number));
            return;
        }
        let mut at = number as u32;
        if !self.levels[0].get(at) {
            return;
        }
        self.len -= 1;
        for level in &mut self.levels {
            level.clear(at);
            if level.word(at) != 0 {
                break;
            }
            at /= 64;
        }
    }

    /// The least member that is `from` or above.
    pub fn next(&self, from: u64) -> Option<u64> {
        if let Some(tree) = &self.tree {
            return tree.range(from..).next().copied();
        }
        let mut at = u32::try_from(from).ok()?;
        let mut level = 0;
        loop {
            let left = self.levels[level].word_from(at)?;
            if left != 0 {
                at = at & !63 | left.trailing_zeros();
                break;
            }
            level += 1;
            if level == self.levels.len() {
                return None;
            }
            at = at / 64 + 1;
        }
        while level > 0 {
            level -= 1;
            at *= 64;
            at += self.levels[level].word(at).trailing_zeros();
        }
        Some(u64::from(at))
    }

    /// The next member from `from` on, going around to the least one at the end.
    pub fn next_around(&self, from: u64) -> Option<u64> {
        self.next(from).or_else(|| self.next(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn behaves_as_an_ordered_set(
            bound in prop_oneof![1u64..20_000, (1u64 << 40)..(1 << 41)],
            steps in prop::collection::vec((0.0f64..1.0, any::<bool>()), 0..200),
        ) {
            let mut set = BitSet::new(bound);
            let mut reference = BTreeSet::new();
            for (share, is_in) in steps {
                let number = (share * bound as f64) as u64;
                if is_in {
                    set.insert(number);
                    reference.insert(number);
                } else {
                    set.remove(number);
                    reference.remove(&number);
                }
                prop_assert_eq!(set.len(), reference.len() as u64);
                for from in [0, number, number + 1, bound] {
                    prop_assert_eq!(set.next(from), reference.range(from..).next().copied());
                }
            }
        }
    }
}
