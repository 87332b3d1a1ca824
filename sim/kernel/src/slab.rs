//! An arena of reusable records that refer to each other by id.

use crate::Id;
use prefetch_index::prefetch_index;
use std::ops::{Index, IndexMut};

/// Records of type `T`, each under an id of kind `I` that is reused after `release`.
#[derive(Debug)]
pub struct Slab<I, T> {
    records: Vec<T>,
    free: Vec<I>,
    /// What was claimed and released, in a slab whose changes are observed.
    changes: Option<Vec<Change<I, T>>>,
}

/// What an observed slab notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change<I, T> {
    /// The record under an id was claimed.
    Claimed(I),
    /// The record under an id was released, with what it held then.
    Released(I, T),
}

impl<I: Id, T: Default + Clone> Slab<I, T> {
    /// An empty slab with room for `capacity` records before it must grow.
    pub fn with_capacity(capacity: usize) -> Self {
        Slab {
            records: vec![T::default(); capacity],
            free: (0..capacity).rev().map(I::at).collect(),
            changes: None,
        }
    }

    /// An id whose record may hold anything: the caller writes it whole.
    #[inline]
    pub fn claim(&mut self) -> I {
        let id = self.free.pop().unwrap_or_else(|| self.grow());
        if let Some(changes) = &mut self.changes {
            changes.push(Change::Claimed(id));
        }
        id
    }

    #[inline]
    fn grow(&mut self) -> I {
        self.records.push(T::default());
        // Room to give every record back, so that `release` never allocates.
        self.free.reserve(self.records.len());
        I::at(self.records.len() - 1)
    }

    /// Gives the record under `id` back.
    #[inline]
    pub fn release(&mut self, id: I) {
        if let Some(changes) = &mut self.changes {
            changes.push(Change::Released(id, self.records[id.index()].clone()));
        }
        self.free.push(id);
    }

    /// From now on changes are noted, or no more.
    pub fn observe(&mut self, on: bool) {
        self.changes = on.then(Vec::new);
    }

    /// Moves what was noted since the last call to the end of `into`.
    pub fn take_changes(&mut self, into: &mut Vec<Change<I, T>>) {
        if let Some(changes) = &mut self.changes {
            into.append(changes);
        }
    }

    /// Prefetches the first line of a record.
    #[inline]
    pub fn prefetch(&self, id: I) {
        prefetch_index(&self.records, id.index());
    }

    /// Every record in use, in the order of their indices.
    pub fn live(&self) -> impl Iterator<Item = &T> {
        let mut free = vec![false; self.records.len()];
        for id in &self.free {
            free[id.index()] = true;
        }
        self.records
            .iter()
            .zip(free)
            .filter_map(|(record, free)| (!free).then_some(record))
    }

    /// Ids of the records in use, in ascending order.
    pub fn ids(&self) -> impl Iterator<Item = I> + use<I, T> {
        let mut free = vec![false; self.records.len()];
        for id in &self.free {
            free[id.index()] = true;
        }
        let all = (0..self.records.len()).map(I::at);
        all.filter(move |id| !free[id.index()])
    }

    /// Number of records in use.
    pub fn in_use(&self) -> usize {
        self.records.len() - self.free.len()
    }
}

impl<I: Id, T> Index<I> for Slab<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: I) -> &T {
        &self.records[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for Slab<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.records[id.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::ids! {
        /// A record of the test's.
        RecordId;
    }

    #[test]
    fn indices_are_reused_and_counted() {
        let mut slab: Slab<RecordId, u8> = Slab::with_capacity(1);
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
        let mut slab: Slab<RecordId, u8> = Slab::with_capacity(1);
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
