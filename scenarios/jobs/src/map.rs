//! Blocks that were asked for: no block twice, in a bit each.

/// Words of 64 bits that are taken at once, when one of them is needed.
const PAGE: usize = 512;

/// A set of blocks that only grows, until it is emptied.
#[derive(Debug)]
pub(crate) struct Map {
    blocks: u64,
    pages: Vec<Option<Box<[u64; PAGE]>>>,
    /// Blocks of each page that are not in it.
    free: Vec<u32>,
}

const BLOCKS: u64 = 64 * PAGE as u64;

impl Map {
    pub(crate) fn new(blocks: u64) -> Map {
        let pages = blocks.div_ceil(BLOCKS) as usize;
        let mut map = Map {
            blocks,
            pages: Vec::new(),
            free: Vec::new(),
        };
        map.pages.resize_with(pages, || None);
        map.clear();
        map
    }

    pub(crate) fn clear(&mut self) {
        self.pages.fill_with(|| None);
        let size = |page: u64| (self.blocks - page * BLOCKS).min(BLOCKS) as u32;
        self.free = (0..self.pages.len() as u64).map(size).collect();
    }

    pub(crate) fn has(&self, block: u64) -> bool {
        let page = self.pages.get((block / BLOCKS) as usize);
        let word = (block % BLOCKS / 64) as usize;
        match page {
            Some(Some(page)) => page[word] >> (block % 64) & 1 == 1,
            _ => false,
        }
    }

    /// Inserts `count` blocks from `first` on, up to the first that is there; gives their number.
    pub(crate) fn insert(&mut self, first: u64, count: u64) -> u64 {
        for at in 0..count {
            let block = first + at;
            if block >= self.blocks || self.has(block) {
                return at;
            }
            let index = (block / BLOCKS) as usize;
            let page = self.pages[index].get_or_insert_with(|| Box::new([0; PAGE]));
            page[(block % BLOCKS / 64) as usize] |= 1 << (block % 64);
            self.free[index] -= 1;
        }
        count
    }

    /// The first block that is not there, from behind `block` on and around the end.
    pub(crate) fn next_free(&self, block: u64) -> Option<u64> {
        self.free_from(block + 1).or_else(|| self.free_from(0))
    }

    fn free_from(&self, first: u64) -> Option<u64> {
        let mut from = first;
        for index in (first / BLOCKS) as usize..self.pages.len() {
            if self.free[index] > 0
                && let Some(found) = self.free_in(index, from % BLOCKS)
            {
                return Some(found);
            }
            from = 0;
        }
        None
    }

    fn free_in(&self, index: usize, from: u64) -> Option<u64> {
        let base = index as u64 * BLOCKS;
        let Some(page) = &self.pages[index] else {
            return Some(base + from).filter(|&block| block < self.blocks);
        };
        let mut mask = u64::MAX << (from % 64);
        for (at, word) in page.iter().enumerate().skip((from / 64) as usize) {
            let free = !word & mask;
            if free != 0 {
                let block = base + at as u64 * 64 + u64::from(free.trailing_zeros());
                return Some(block).filter(|&block| block < self.blocks);
            }
            mask = u64::MAX;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_insertion_stops_at_what_is_there_and_at_the_end() {
        let mut map = Map::new(100);
        assert_eq!(map.insert(10, 3), 3);
        assert_eq!(map.insert(8, 5), 2);
        assert_eq!(map.insert(98, 5), 2);
        assert_eq!((map.next_free(10), map.next_free(97)), (Some(13), Some(0)));
    }

    proptest! {
        #[test]
        fn every_block_is_found_once(blocks in 1u64..100_000, start: u64) {
            let mut map = Map::new(blocks);
            let mut block = start % blocks;
            for _ in 0..blocks.min(2000) {
                prop_assert!(block < blocks && !map.has(block));
                map.insert(block, 1);
                let before = block;
                match map.next_free(block) {
                    Some(next) => block = next,
                    None => prop_assert!(blocks <= 2000),
                }
                prop_assert!(block == before || block == (before + 1) % blocks);
            }
            if blocks <= 2000 {
                prop_assert_eq!(map.next_free(0), None);
            }
        }
    }
}
