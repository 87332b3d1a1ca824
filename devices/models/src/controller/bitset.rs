//! A set of whole numbers that finds the next member from a point on: what an elevator needs.
//!
//! Words of 64 bits; a word of each higher level tells which words below it are not empty. A
//! search climbs and descends at most four levels for 16 million numbers. Above 2^28 numbers (an
//! array of petabytes) the bits would outgrow the members by far: then a tree holds those.

use std::collections::BTreeSet;

/// Numbers up to which bits are kept: 32 MiB of them.
const BITS_AT_MOST: u64 = 1 << 28;

/// A set of numbers below a bound.
#[derive(Clone, Debug)]
pub struct BitSet {
    /// Level 0 holds the members.
    levels: Vec<Vec<u64>>,
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
        let mut words = bound.div_ceil(64).max(1);
        loop {
            levels.push(vec![0; words as usize]);
            if words == 1 {
                break;
            }
            words = words.div_ceil(64);
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
        let word = &mut self.levels[0][(number / 64) as usize];
        let bit = 1 << (number % 64);
        if *word & bit != 0 {
            return;
        }
        *word |= bit;
        self.len += 1;
        let mut at = number / 64;
        for level in &mut self.levels[1..] {
            let word = &mut level[(at / 64) as usize];
            let before = *word;
            *word |= 1 << (at % 64);
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
        let word = &mut self.levels[0][(number / 64) as usize];
        let bit = 1 << (number % 64);
        if *word & bit == 0 {
            return;
        }
        *word &= !bit;
        self.len -= 1;
        let mut empty = *word == 0;
        let mut at = number / 64;
        for level in &mut self.levels[1..] {
            if !empty {
                break;
            }
            let word = &mut level[(at / 64) as usize];
            *word &= !(1 << (at % 64));
            empty = *word == 0;
            at /= 64;
        }
    }

    /// The least member that is `from` or above.
    pub fn next(&self, from: u64) -> Option<u64> {
        if let Some(tree) = &self.tree {
            return tree.range(from..).next().copied();
        }
        let mut at = from;
        let mut level = 0;
        loop {
            let word = self.levels[level].get((at / 64) as usize).copied()?;
            let left = word & (!0 << (at % 64));
            if left != 0 {
                at = at / 64 * 64 + u64::from(left.trailing_zeros());
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
            let word = self.levels[level][at as usize];
            at = at * 64 + u64::from(word.trailing_zeros());
        }
        Some(at)
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
            let mut truth = BTreeSet::new();
            for (share, put_in) in steps {
                let number = (share * bound as f64) as u64;
                if put_in {
                    set.insert(number);
                    truth.insert(number);
                } else {
                    set.remove(number);
                    truth.remove(&number);
                }
                prop_assert_eq!(set.len(), truth.len() as u64);
                for from in [0, number, number + 1, bound] {
                    prop_assert_eq!(set.next(from), truth.range(from..).next().copied());
                }
            }
        }
    }
}
