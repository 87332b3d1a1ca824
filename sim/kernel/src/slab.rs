//! An arena of reusable records that refer to each other by index.

use prefetch_index::prefetch_index;
use std::ops::{Index, IndexMut};

/// Records of type `T`, each under a `u32` index that is reused after `remove`.
#[derive(Debug)]
pub struct Slab<T> {
    records: Vec<T>,
    free: Vec<u32>,
}

impl<T: Default + Clone> Slab<T> {
    /// An empty slab with room for `capacity` records before it must grow.
    pub fn with_capacity(capacity: usize) -> Self {
        Slab {
            records: vec![T::default(); capacity],
            free: (0..capacity as u32).rev().collect(),
        }
    }

    /// An index whose record may hold anything: the caller writes it whole.
    #[inline]
    pub fn claim(&mut self) -> u32 {
        if let Some(index) = self.free.pop() {
            return index;
        }
        self.records.push(T::default());
        // Room to give every record back, so that `release` never allocates.
        self.free.reserve(self.records.len());
        (self.records.len() - 1) as u32
    }

    /// Gives the record under `index` back.
    #[inline]
    pub fn release(&mut self, index: u32) {
        self.free.push(index);
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
}
