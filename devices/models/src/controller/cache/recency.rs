//! Room in the cache: clean lines leave in least-recently-used order.

use super::Cache;
use super::line::{EMPTY_LINE, Line, NONE, NOTHING_COMES, Sectors, pages};
use prefetch_index::prefetch_index;

impl Cache {
    /// Makes room for `pages` more; false if too much is dirty or being read.
    pub fn make_room(&mut self, pages: u64) -> bool {
        while self.pages_used + pages > self.pages_max {
            if self.oldest == NONE {
                return false;
            }
            self.evict(self.oldest);
        }
        true
    }

    /// Sectors of a line that are being read.
    #[inline]
    pub(super) fn coming(&self, at: u32) -> Sectors {
        if self.lines[at as usize].comes() {
            self.coming[at as usize].sectors
        } else {
            0
        }
    }

    /// Sectors of a line that have memory.
    #[inline]
    pub(super) fn held(&self, at: u32) -> Sectors {
        self.lines[at as usize].valid | self.coming(at)
    }

    /// From now on these sectors of a line are being read, which is in no order of use.
    pub(super) fn set_coming(&mut self, at: u32, sectors: Sectors) {
        self.lines[at as usize].set_comes(sectors != 0);
        if sectors != 0 {
            self.coming[at as usize].sectors = sectors;
        }
    }

    pub(super) fn evict(&mut self, at: u32) {
        self.unlink(at);
        let line = &mut self.lines[at as usize];
        let key = line.key;
        self.pages_used -= u64::from(pages(line.valid));
        *line = EMPTY_LINE;
        self.index.remove(key);
        self.free_lines.push(at);
        self.touch_oldest();
    }

    /// Asks for the memory that it will take to evict the oldest line, and for the one after it.
    #[inline]
    fn touch_oldest(&self) {
        if let Some(oldest) = self.lines.get(self.oldest as usize) {
            self.index.touch(oldest.key);
            prefetch_index(&self.lines, oldest.next as usize);
        }
    }

    pub(super) fn line(&mut self, key: u64) -> u32 {
        if let Some(at) = self.index.get(key) {
            return at;
        }
        let at = self.free_lines.pop().unwrap_or_else(|| {
            self.lines.push(EMPTY_LINE);
            self.coming.push(NOTHING_COMES);
            (self.lines.len() - 1) as u32
        });
        self.lines[at as usize].key = key;
        self.index.insert(key, at);
        self.link_newest(at);
        at
    }

    pub(super) fn link_newest(&mut self, at: u32) {
        let newest = self.newest;
        let line = &mut self.lines[at as usize];
        (line.next, line.older) = (NONE, newest);
        if newest == NONE {
            self.oldest = at;
        } else {
            self.lines[newest as usize].next = at;
        }
        self.newest = at;
    }

    pub(super) fn unlink(&mut self, at: u32) {
        let Line {
            next: newer, older, ..
        } = self.lines[at as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.lines[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.lines[older as usize].next = newer,
        }
    }

    pub(super) fn touch(&mut self, at: u32) {
        if self.newest != at {
            self.unlink(at);
            self.link_newest(at);
        }
    }
}
