//! Reference counts by number: how many users a slot or a line has at the moment.

use super::Table;

/// A count for each number (of a slot, of a line) that has users. Others cost no memory.
#[derive(Clone, Debug)]
pub struct ReferenceCounts {
    counts: Table<u32>,
}

impl ReferenceCounts {
    /// No users; up to `capacity` numbers before memory must grow.
    pub fn with_capacity(capacity: usize) -> ReferenceCounts {
        ReferenceCounts {
            counts: Table::with_capacity(capacity),
        }
    }

    /// True if `number` has a user.
    #[inline]
    pub fn contains(&self, number: u64) -> bool {
        self.counts.get(number).is_some()
    }

    /// Numbers that have users.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// True if no number has a user.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// `number` has a user more.
    pub fn acquire(&mut self, number: u64) {
        let before = self.counts.get(number).unwrap_or(0);
        self.counts.insert(number, before + 1);
    }

    /// `number` has a user less; true if it has none any more.
    pub fn release(&mut self, number: u64) -> bool {
        match self.counts.remove(number) {
            Some(before) if before > 1 => {
                self.counts.insert(number, before - 1);
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

    #[test]
    fn the_last_release_leaves_no_user() {
        let mut counts = ReferenceCounts::with_capacity(4);
        counts.acquire(7);
        counts.acquire(7);
        counts.acquire(8);
        let has = [7, 8, 9].map(|number| counts.contains(number));
        assert_eq!(has, [true, true, false]);
        assert_eq!(counts.len(), 2);
        assert!(!counts.release(7) && counts.contains(7));
        assert!(counts.release(7) && !counts.contains(7));
        counts.clear();
        assert!(counts.is_empty());
    }
}
