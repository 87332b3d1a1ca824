//! A number for each line of an array, of which most are never touched: what is done to all lines
//! is done to the touched pages alone.

use crate::controller::ArrayLine;
use prefetch_index::prefetch_index;

/// Lines in a page.
const PAGE: usize = 4096;

/// One number a line, 0 until it is set.
#[derive(Debug)]
pub(super) struct Entries {
    values: Vec<u32>,
    /// By page: whether one of its lines was ever set.
    touched: Vec<bool>,
}

impl Entries {
    pub(super) fn new(lines: usize) -> Entries {
        Entries {
            values: vec![0; lines],
            touched: vec![false; lines.div_ceil(PAGE)],
        }
    }

    #[inline]
    pub(super) fn get(&self, line: ArrayLine) -> u32 {
        self.values[line.index()]
    }

    #[inline]
    pub(super) fn prefetch(&self, line: ArrayLine) {
        prefetch_index(&self.values, line.index());
    }

    #[inline]
    pub(super) fn at(&mut self, line: ArrayLine) -> &mut u32 {
        self.touched[line.index() / PAGE] = true;
        &mut self.values[line.index()]
    }

    fn pages(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.touched.len()).filter(|&page| self.touched[page])
    }

    fn range(&self, page: usize) -> std::ops::Range<usize> {
        page * PAGE..((page + 1) * PAGE).min(self.values.len())
    }

    /// The lines of touched pages with their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = (ArrayLine, u32)> + '_ {
        let lines = self.pages().flat_map(|page| self.range(page));
        lines.map(|line| (ArrayLine::new(line as u32), self.values[line]))
    }

    /// Changes the numbers of touched pages.
    pub(super) fn change(&mut self, change: impl Fn(&mut u32)) {
        for page in 0..self.touched.len() {
            if self.touched[page] {
                let range = self.range(page);
                self.values[range].iter_mut().for_each(&change);
            }
        }
    }

    /// Bytes of touched pages.
    pub(super) fn bytes(&self) -> usize {
        self.pages().count() * PAGE * size_of::<u32>()
    }
}

impl Clone for Entries {
    /// The memory of untouched pages stays untouched in the copy.
    fn clone(&self) -> Entries {
        let mut copy = Entries::new(self.values.len());
        copy.touched.copy_from_slice(&self.touched);
        for page in self.pages() {
            let range = self.range(page);
            copy.values[range.clone()].copy_from_slice(&self.values[range]);
        }
        copy
    }
}
