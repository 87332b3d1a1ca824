//! The pages of a file in memory: what each one holds, and which was used least recently.

/// In memory, with its data.
pub(crate) const PRESENT: u8 = 1;
/// Newer than on the drive.
pub(crate) const DIRTY: u8 = 2;
/// In flight to the drive.
pub(crate) const WRITING: u8 = 4;
/// In flight from the drive.
pub(crate) const READING: u8 = 8;
/// Reading it lets the next window be read ahead.
pub(crate) const MARK: u8 = 16;

/// All pages of a file, and a list of those in memory by their last use. All begins as zeros, so
/// that only what is touched of a large file takes real memory.
#[derive(Debug)]
pub(crate) struct Pages {
    flags: Vec<u8>,
    /// Towards the most recently used, by page in memory; the entry behind the last page is the
    /// list's head.
    newer: Vec<u32>,
    older: Vec<u32>,
    /// Pages that memory holds at most.
    capacity: u32,
    present: u32,
    dirty: u32,
    writing: u32,
}

impl Pages {
    /// A file of `count` pages of which memory holds `capacity`; none is there yet.
    pub(crate) fn new(count: u32, capacity: u32) -> Pages {
        let head = count;
        let mut pages = Pages {
            flags: vec![0; count as usize],
            newer: vec![0; count as usize + 1],
            older: vec![0; count as usize + 1],
            capacity: capacity.max(1),
            present: 0,
            dirty: 0,
            writing: 0,
        };
        pages.newer[head as usize] = head;
        pages.older[head as usize] = head;
        pages
    }

    pub(crate) fn count(&self) -> u32 {
        self.flags.len() as u32
    }

    #[inline]
    pub(crate) fn is(&self, page: u32, flag: u8) -> bool {
        self.flags[page as usize] & flag != 0
    }

    /// Dirty pages, and those in flight to the drive.
    #[inline]
    pub(crate) fn dirty(&self) -> (u32, u32) {
        (self.dirty, self.writing)
    }

    /// Sets a mark; no count changes.
    pub(crate) fn mark(&mut self, page: u32) {
        self.flags[page as usize] |= MARK;
    }

    /// Takes the mark off; true if there was one.
    #[inline]
    pub(crate) fn unmark(&mut self, page: u32) -> bool {
        let marked = self.is(page, MARK);
        self.flags[page as usize] &= !MARK;
        marked
    }

    /// The page is used: it becomes the most recent one.
    #[inline]
    pub(crate) fn touch(&mut self, page: u32) {
        if self.is(page, PRESENT | READING) {
            self.unlink(page);
            self.link(page);
        }
    }

    /// Makes space for the page: the clean page that was used least recently is evicted. Without
    /// one memory holds more than it should until pages become clean.
    pub(crate) fn insert(&mut self, page: u32, flag: u8) {
        debug_assert!(!self.is(page, PRESENT | READING));
        if self.present >= self.capacity {
            self.evict();
        }
        self.flags[page as usize] = flag;
        self.present += 1;
        self.link(page);
    }

    /// A page that was being read is there.
    pub(crate) fn has_come(&mut self, page: u32) {
        let flags = &mut self.flags[page as usize];
        *flags = (*flags & !READING) | PRESENT;
    }

    /// The page becomes newer than on the drive.
    pub(crate) fn soil(&mut self, page: u32) {
        if !self.is(page, DIRTY) {
            self.flags[page as usize] |= DIRTY;
            self.dirty += 1;
        }
    }

    /// A dirty page sets out for the drive.
    pub(crate) fn set_out(&mut self, page: u32) {
        let flags = &mut self.flags[page as usize];
        *flags = (*flags & !DIRTY) | WRITING;
        self.dirty -= 1;
        self.writing += 1;
    }

    /// A page has got to the drive.
    pub(crate) fn has_gone(&mut self, page: u32) {
        self.flags[page as usize] &= !WRITING;
        self.writing -= 1;
    }

    /// The first dirty page from `from` on that is not in flight already, going round.
    pub(crate) fn next_dirty(&self, from: u32) -> Option<u32> {
        let waits = |page: &u32| self.flags[*page as usize] & (DIRTY | WRITING) == DIRTY;
        (from..self.count())
            .find(waits)
            .or_else(|| (0..from).find(waits))
    }

    fn evict(&mut self) {
        let head = self.count();
        let mut page = self.newer[head as usize];
        while page != head {
            if self.flags[page as usize] & (DIRTY | WRITING | READING) == 0 {
                self.unlink(page);
                self.flags[page as usize] = 0;
                self.present -= 1;
                return;
            }
            page = self.newer[page as usize];
        }
    }

    fn link(&mut self, page: u32) {
        let head = self.count();
        let newest = self.older[head as usize];
        self.older[page as usize] = newest;
        self.newer[page as usize] = head;
        self.newer[newest as usize] = page;
        self.older[head as usize] = page;
    }

    fn unlink(&mut self, page: u32) {
        let (older, newer) = (self.older[page as usize], self.newer[page as usize]);
        self.newer[older as usize] = newer;
        self.older[newer as usize] = older;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_clean_page_is_evicted() {
        let mut pages = Pages::new(8, 3);
        for page in 0..3 {
            pages.insert(page, PRESENT);
        }
        pages.soil(0);
        pages.touch(1);
        pages.insert(5, PRESENT);
        let present: Vec<u32> = (0..8).filter(|&page| pages.is(page, PRESENT)).collect();
        assert_eq!(present, [0, 1, 5], "2 was clean and the oldest, 0 is dirty");
    }

    #[test]
    fn dirty_pages_are_found_in_order_and_going_round() {
        let mut pages = Pages::new(8, 8);
        for page in [1, 6] {
            pages.insert(page, PRESENT);
            pages.soil(page);
        }
        assert_eq!(pages.next_dirty(2), Some(6));
        pages.set_out(6);
        assert_eq!(pages.next_dirty(7), Some(1));
        assert_eq!(pages.dirty(), (1, 1));
        pages.has_gone(6);
        assert_eq!(pages.dirty(), (1, 0));
    }
}
