//! Pages of neighbouring sectors. Neighbours are written and read together, so their records lie
//! together; a page's user may have a bit for each sector.

use raidlab_models::Table;

/// Sectors of a page: as many as a word has bits.
pub(crate) const PAGE: u64 = 64;

/// Pages by their sectors; only those that were ever asked for with `at` exist.
#[derive(Clone, Debug)]
pub(crate) struct Pages<T> {
    index: Table<u32>,
    /// Each with its first sector.
    pages: Vec<(u64, T)>,
}

impl<T: Default> Pages<T> {
    /// No page; there is room for `capacity` pages before the index must grow.
    pub fn with_capacity(capacity: usize) -> Pages<T> {
        Pages {
            index: Table::with_capacity(capacity),
            pages: Vec::new(),
        }
    }

    /// The page of a sector, if there is one.
    pub fn get(&self, sector: u64) -> Option<&T> {
        let at = self.index.get(sector / PAGE)?;
        Some(&self.pages[at as usize].1)
    }

    /// The page of a sector; a new one if there is none.
    pub fn at(&mut self, sector: u64) -> &mut T {
        let number = sector / PAGE;
        let at = self.index.get(number).unwrap_or_else(|| {
            let at = self.pages.len() as u32;
            self.index.insert(number, at);
            self.pages.push((number * PAGE, T::default()));
            at
        });
        &mut self.pages[at as usize].1
    }

    /// Removes all pages.
    pub fn clear(&mut self) {
        self.index.clear();
        self.pages.clear();
    }

    /// Every page with its first sector, in the order in which they were made.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.pages.iter().map(|(first, page)| (*first, page))
    }
}

/// Whether a sector's bit is set in its page.
pub(crate) fn has(bits: u64, sector: u64) -> bool {
    bits >> (sector % PAGE) & 1 == 1
}

/// The sectors whose bits are set in the page that begins at `first`.
pub(crate) fn marked(first: u64, bits: u64) -> impl Iterator<Item = u64> {
    (first..first + PAGE).filter(move |&sector| has(bits, sector))
}
