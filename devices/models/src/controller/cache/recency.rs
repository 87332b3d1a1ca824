//! Room in the cache: clean lines leave in least-recently-used order.

use super::Cache;
use super::line::{EMPTY_LINE, Line, NONE, pages};

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

    pub(super) fn evict(&mut self, at: u32) {
        self.unlink(at);
        let line = &mut self.lines[at as usize];
        let key = line.key;
        self.pages_used -= u64::from(pages(line.held()));
        *line = EMPTY_LINE;
        self.index.remove(key);
        self.free_lines.push(at);
    }

    pub(super) fn line(&mut self, key: u64) -> u32 {
        if let Some(at) = self.index.get(key) {
            return at;
        }
        let at = self.free_lines.pop().unwrap_or_else(|| {
            self.lines.push(EMPTY_LINE);
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
        (line.newer, line.older) = (NONE, newest);
        if newest == NONE {
            self.oldest = at;
        } else {
            self.lines[newest as usize].newer = at;
        }
        self.newest = at;
    }

    pub(super) fn unlink(&mut self, at: u32) {
        let Line { newer, older, .. } = self.lines[at as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.lines[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.lines[older as usize].newer = newer,
        }
    }

    pub(super) fn touch(&mut self, at: u32) {
        if self.newest != at {
            self.unlink(at);
            self.link_newest(at);
        }
    }
}
