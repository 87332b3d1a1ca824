//! What a read finds, and lines that are being read from drives.

use super::Cache;
use super::line::{NONE, Sectors, pages};

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
    pub fn find(&mut self, key: u64, wanted: Sectors) -> Found {
        let Some(at) = self.index.get(key) else {
            return Found::None;
        };
        let line = &self.lines[at as usize];
        if wanted & !line.valid == 0 {
            if !line.is_dirty() && line.coming == 0 {
                self.touch(at);
            }
            Found::All
        } else if wanted & !line.held() == 0 {
            Found::Coming(line.reader)
        } else if wanted & line.valid != 0 {
            Found::Some
        } else {
            Found::None
        }
    }

    /// Sectors of a line that `reader` begins to read; those that are here already stay. Room
    /// has been made. Gives the sectors that are now coming because of this call.
    pub fn expect(&mut self, key: u64, sectors: Sectors, reader: u32) -> Sectors {
        let at = self.line(key);
        let line = &self.lines[at as usize];
        let new = sectors & !line.held();
        if line.coming != 0 || new == 0 {
            // One reader a line: a second one reads for itself alone.
            if line.held() == 0 {
                self.evict(at);
            }
            return 0;
        }
        if !line.is_dirty() {
            self.unlink(at);
        }
        let line = &mut self.lines[at as usize];
        let before = pages(line.held());
        line.coming = new;
        line.reader = reader;
        let more = u64::from(pages(line.held()) - before);
        self.pages_used += more;
        if line.is_dirty() {
            self.pages_dirty += more;
        }
        new
    }

    /// What `reader` has read of a line is here; gives the sectors that it brought.
    pub fn arrived(&mut self, key: u64, reader: u32) -> Sectors {
        let Some(at) = self.index.get(key) else {
            return 0;
        };
        let line = &mut self.lines[at as usize];
        if line.coming == 0 || line.reader != reader {
            return 0;
        }
        let came = line.coming;
        line.valid |= came;
        line.coming = 0;
        line.reader = NONE;
        if !line.is_dirty() {
            self.link_newest(at);
        }
        came
    }

    /// Nothing that was being read comes any more.
    pub fn stop_reading(&mut self) {
        let keys: Vec<u64> = self.index.iter().map(|(key, _)| key).collect();
        for key in keys {
            let Some(at) = self.index.get(key) else {
                continue;
            };
            let line = &mut self.lines[at as usize];
            if line.coming == 0 {
                continue;
            }
            let before = pages(line.held());
            line.coming = 0;
            let gone = u64::from(before - pages(line.held()));
            self.pages_used -= gone;
            if line.is_dirty() {
                self.pages_dirty -= gone;
                continue;
            }
            let empty = line.valid == 0;
            self.link_newest(at);
            if empty {
                self.evict(at);
            }
        }
    }
}
