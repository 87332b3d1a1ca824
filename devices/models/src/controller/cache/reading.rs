//! What a read finds, and lines that are being read from drives.

use super::Cache;
use super::line::{Sectors, pages};
use crate::controller::ids::LineKey;

/// What a range of one line finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Every sector is here.
    All,
    /// Every sector is here or being read by this reader.
    Coming(u32),
    /// Some sectors are here.
    Some,
    /// None is.
    None,
}

impl Cache {
    /// What the sectors `wanted` of a line find.
    #[inline]
    pub fn find(&mut self, key: LineKey, wanted: Sectors) -> Found {
        let Some(at) = self.at(key) else {
            return Found::None;
        };
        let line = &self.lines[at];
        if wanted & !line.valid == 0 {
            if !line.is_dirty() && !line.comes() {
                self.touch(at);
            }
            Found::All
        } else if wanted & !self.allocated(at) == 0 {
            Found::Coming(self.coming[at].reader)
        } else if wanted & line.valid != 0 {
            Found::Some
        } else {
            Found::None
        }
    }

    /// Sectors of a line that `reader` begins to read; those that are here already stay. Room
    /// has been made. Gives the sectors that are now coming because of this call.
    pub fn expect(&mut self, key: LineKey, sectors: Sectors, reader: u32) -> Sectors {
        let at = self.line(key);
        let allocated = self.allocated(at);
        let new = sectors & !allocated;
        let line = &self.lines[at];
        if line.comes() || new == 0 {
            // One reader a line: a second one reads for itself alone.
            if allocated == 0 {
                self.evict(at);
            }
            return 0;
        }
        let dirty = line.is_dirty();
        if !dirty {
            self.unlink(at);
        }
        self.set_coming(at, new);
        self.coming[at].reader = reader;
        let more = u64::from(pages(allocated | new) - pages(allocated));
        self.pages_used += more;
        if dirty {
            self.pages_dirty += more;
        }
        new
    }

    /// What `reader` has read of a line is here; gives the sectors that it brought.
    pub fn arrived(&mut self, key: LineKey, reader: u32) -> Sectors {
        let Some(at) = self.at(key) else {
            return 0;
        };
        let came = self.coming(at);
        if came == 0 || self.coming[at].reader != reader {
            return 0;
        }
        self.set_coming(at, 0);
        let line = &mut self.lines[at];
        line.valid |= came;
        if !line.is_dirty() {
            self.link_newest(at);
        }
        came
    }

    /// Nothing that was being read comes any more.
    pub fn stop_reading(&mut self) {
        for at in self.used() {
            let allocated = self.allocated(at);
            let line = &self.lines[at];
            if !line.comes() {
                continue;
            }
            let (valid, dirty) = (line.valid, line.is_dirty());
            self.set_coming(at, 0);
            let gone = u64::from(pages(allocated) - pages(valid));
            self.pages_used -= gone;
            if dirty {
                self.pages_dirty -= gone;
                continue;
            }
            self.link_newest(at);
            if valid == 0 {
                self.evict(at);
            }
        }
    }
}
