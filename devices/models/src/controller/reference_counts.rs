//! Reference counts by number: how many users a slot or a line has at the moment.

use super::Table;
use raidlab_kernel::Id;
use std::marker::PhantomData;

/// A count for each number of a kind that has users. Others cost no memory.
#[derive(Clone, Debug)]
pub struct ReferenceCounts<I> {
    counts: Table<u32>,
    kind: PhantomData<I>,
}

impl<I: Id> ReferenceCounts<I> {
    /// No users; up to `capacity` numbers before memory must grow.
    pub fn with_capacity(capacity: usize) -> ReferenceCounts<I> {
        ReferenceCounts {
            counts: Table::with_capacity(capacity),
            kind: PhantomData,
        }
    }

    /// True if `number` has a user.
    #[inline]
    pub fn contains(&self, number: I) -> bool {
        self.counts.get(number.index() as u64).is_some()
    }

    /// Numbers that have users.
    pub fn users(&self) -> usize {
        self.counts.keys()
    }

    /// `number` has a user more.
    pub fn acquire(&mut self, number: I) {
        let before = self.counts.get(number.index() as u64).unwrap_or(0);
        self.counts.insert(number.index() as u64, before + 1);
    }

    /// `number` has a user less; true if it has none any more.
    pub fn release(&mut self, number: I) -> bool {
        match self.counts.remove(number.index() as u64) {
            Some(before) if before > 1 => {
                self.counts.insert(number.index() as u64, before - 1);
                false
            }
            _ => true,
        }
    }

    /// No number has a user any more.
    pub fn clear(&mut self) {
        self.counts.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::ArrayLine;

    #[test]
    fn the_last_release_leaves_no_user() {
        let mut counts = ReferenceCounts::with_capacity(4);
        let [seven, eight, nine] = [7, 8, 9].map(ArrayLine::new);
        counts.acquire(seven);
        counts.acquire(seven);
        counts.acquire(eight);
        let has = [seven, eight, nine].map(|line| counts.contains(line));
        assert_eq!(has, [true, true, false]);
        assert!(!counts.release(seven) && counts.contains(seven));
        assert!(counts.release(seven) && !counts.contains(seven));
        counts.clear();
        assert!(!counts.contains(eight));
    }
}
