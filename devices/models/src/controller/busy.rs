//! Who is at work where: a count for each number that anybody is at work on.

use super::Table;

/// Counts by number (of a slot, of a line); nothing is kept of those that nobody works on.
#[derive(Clone, Debug)]
pub struct Busy {
    counts: Table,
}

impl Busy {
    /// Nobody at work; up to `capacity` numbers before memory must grow.
    pub fn with_capacity(capacity: usize) -> Busy {
        Busy {
            counts: Table::with_capacity(capacity),
        }
    }

    /// True if somebody is at work on `number`.
    #[inline]
    pub fn at(&self, number: u64) -> bool {
        self.counts.get(number).is_some()
    }

    /// Numbers that somebody is at work on.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// True if nobody is at work.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Somebody begins to work on `number`.
    pub fn begin(&mut self, number: u64) {
        let before = self.counts.get(number).unwrap_or(0);
        self.counts.insert(number, before + 1);
    }

    /// Somebody is done with `number`; true if nobody is at work on it any more.
    pub fn end(&mut self, number: u64) -> bool {
        match self.counts.remove(number) {
            Some(before) if before > 1 => {
                self.counts.insert(number, before - 1);
                false
            }
            _ => true,
        }
    }

    /// Nobody is at work any more.
    pub fn clear(&mut self) {
        self.counts.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_to_end_leaves_nobody() {
        let mut busy = Busy::with_capacity(4);
        busy.begin(7);
        busy.begin(7);
        busy.begin(8);
        assert!((busy.at(7), busy.at(8), busy.at(9)) == (true, true, false));
        assert_eq!(busy.len(), 2);
        assert!(!busy.end(7) && busy.at(7));
        assert!(busy.end(7) && !busy.at(7));
        busy.clear();
        assert!(busy.is_empty());
    }
}
