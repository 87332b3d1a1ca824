//! Eviction: clean lines leave in least-recently-used order.

use super::Cache;
use super::line::{EMPTY_LINE, NOTHING_COMES, Sectors, pages};
use crate::controller::ids::{LineKey, LineSlot};
use prefetch_index::prefetch_index;

impl Cache {
    /// Makes room for `pages` more; false if too much is dirty or being read.
    pub fn make_room(&mut self, pages: u64) -> bool {
        while self.pages_used + pages > self.pages_max {
            let Some(oldest) = self.recency.oldest() else {
                return false;
            };
            self.evict(oldest);
        }
        true
    }

    /// Sectors of a line that are being read.
    #[inline]
    pub(super) fn coming(&self, at: LineSlot) -> Sectors {
        if self.lines[at].comes() {
            self.coming[at].sectors
        } else {
            0
        }
    }

    /// Sectors of a line that have memory.
    #[inline]
    pub(super) fn allocated(&self, at: LineSlot) -> Sectors {
        self.lines[at].valid | self.coming(at)
    }

    /// From now on these sectors of a line are being read, which is in no order of use.
    pub(super) fn set_coming(&mut self, at: LineSlot, sectors: Sectors) {
        self.lines[at].set_comes(sectors != 0);
        if sectors != 0 {
            self.coming[at].sectors = sectors;
        }
    }

    pub(super) fn evict(&mut self, at: LineSlot) {
        self.unlink(at);
        let line = &mut self.lines[at];
        let key = line.key;
        self.pages_used -= u64::from(pages(line.valid));
        *line = EMPTY_LINE;
        self.index.remove(key.number());
        self.free_lines.push(at);
        self.touch_oldest();
    }

    /// Asks for the memory that it will take to evict the oldest line, and for the one after it.
    #[inline]
    fn touch_oldest(&self) {
        if let Some(oldest) = self.recency.oldest() {
            let oldest = &self.lines[oldest];
            self.index.touch(oldest.key.number());
            prefetch_index(self.lines.as_slice(), oldest.link.newer.index());
        }
    }

    pub(super) fn line(&mut self, key: LineKey) -> LineSlot {
        if let Some(at) = self.index.get(key.number()) {
            return at;
        }
        let at = self.free_lines.pop().unwrap_or_else(|| {
            self.coming.push(NOTHING_COMES);
            self.lines.push(EMPTY_LINE)
        });
        self.lines[at].key = key;
        self.index.insert(key.number(), at);
        self.link_newest(at);
        at
    }

    /// A line that is clean and complete is used now for the first time.
    #[inline]
    pub(super) fn link_newest(&mut self, at: LineSlot) {
        self.recency.push_newest(&mut self.lines, at);
    }

    #[inline]
    pub(super) fn unlink(&mut self, at: LineSlot) {
        self.recency.remove(&mut self.lines, at);
    }

    #[inline]
    pub(super) fn touch(&mut self, at: LineSlot) {
        self.recency.touch(&mut self.lines, at);
    }
}
