//! An arena of reusable records that refer to each other by index.

use prefetch_index::prefetch_index;
use std::ops::{Index, IndexMut};

/// Records of type `T`, each under a `u32` index that is reused after `release`.
#[derive(Debug)]
pub struct Slab<T> {
    records: Vec<T>,
    free: Vec<u32>,
    /// What was claimed and released, in a slab whose changes are observed.
    changes: Option<Vec<Change<T>>>,
}

/// What an observed slab notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change<T> {
    /// The record under an index was claimed.
    Claimed(u32),
    /// The record under an index was released, with what it held then.
    Released(u32, T),
}

impl<T: Default + Clone> Slab<T> {
    /// An empty slab with room for `capacity` records before it must grow.
    pub fn with_capacity(capacity: usize) -> Self {
        Slab {
            records: vec![T::default(); capacity],
            free: (0..capacity as u32).rev().collect(),
            changes: None,
        }
    }

    /// An index whose record may hold anything: the caller writes it whole.
    #[inline]
    pub fn claim(&mut self) -> u32 {
        let index = self.free.pop().unwrap_or_else(|| self.grow());
        if let Some(changes) = &mut self.changes {
            changes.push(Change::Claimed(index));
        }
        index
    }

    #[inline]
    fn grow(&mut self) -> u32 {
        self.records.push(T::default());
        // Room to give every record back, so that `release` never allocates.
        self.free.reserve(self.records.len());
        (self.records.len() - 1) as u32
    }

    /// Gives the record under `index` back.
    #[inline]
    pub fn release(&mut self, index: u32) {
        if let Some(changes) = &mut self.changes {
            changes.push(Change::Released(
                index,
                self.records[index as usize].clone(),
            ));
        }
        self.free.push(index);
    }

    /// From now on changes are noted, or no more.
    pub fn observe(&mut self, on: bool) {
        self.changes = on.then(Vec::new);
    }

    /// Moves what was noted since the last call to the end of `into`.
    pub fn take_changes(&mut self, into: &mut Vec<Change<T>>) {
        if let Some(changes) = &mut self.changes {
            into.append(changes);
        }
    }

    /// Prefetches the first line of a record.
    #[inline]
    pub fn prefetch(&self, index: u32) {
        prefetch_index(&self.records, index as usize);
    }

    /// Every record in use, in the order of their indices.
    pub fn live(&self) -> impl Iterator<Item = &T> {
        let mut free = vec![false; self.records.len()];
        for &index in &self.free {
            free[index as usize] = true;
        }
        self.records
            .iter()
            .zip(free)
            .filter_map(|(record, free)| (!free).then_some(record))
    }

    /// Indices of the records in use, in ascending order.
    pub fn ids(&self) -> impl Iterator<Item = u32> + use<T> {
        let mut free = vec![false; self.records.len()];
        for &index in &self.free {
            free[index as usize] = true;
        }
        (0..self.records.len() as u32).filter(move |&index| !free[index as usize])
    }

    /// Number of records in use.
    pub fn in_use(&self) -> usize {
        self.records.len() - self.free.len()
    }
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;
    #[inline]
    fn index(&self, index: u32) -> &T {
        &self.records[index as usize]
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, index: u32) -> &mut T {
        &mut self.records[index as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_reused_and_counted() {
        let mut slab: Slab<u8> = Slab::with_capacity(1);
        let a = slab.claim();
        let b = slab.claim();
        assert_ne!(a, b);
        slab[b] = 9;
        slab.release(a);
        assert_eq!((slab.in_use(), slab[b]), (1, 9));
        assert_eq!(slab.claim(), a);
    }

    #[test]
    fn an_observed_slab_notes_what_a_record_held_when_it_was_released() {
        let mut slab: Slab<u8> = Slab::with_capacity(1);
        let mut changes = Vec::new();
        let before = slab.claim();
        slab.observe(true);
        slab[before] = 7;
        slab.release(before);
        let again = slab.claim();
        slab[again] = 8;
        slab.take_changes(&mut changes);
        let noted = [Change::Released(before, 7), Change::Claimed(again)];
        assert_eq!(changes, noted);
        slab.observe(false);
        slab.release(again);
        slab.take_changes(&mut changes);
        assert_eq!(changes.len(), 2);
    }
}
