//! The controller's cache: lines of up to 64 KiB, valid and dirty by the sector.
//!
//! Memory is taken in pages of 4 KiB, so that a line with one small write costs one page or two.
//! Clean lines leave in least-recently-used order. Dirty lines belong to a group: the stripe
//! whose parity they share, or a stripe unit where there is none. Groups leave in elevator
//! order, those that are dirty throughout before all others, since they need no reads. Lines
//! that are being written to drives still serve reads and take new writes.
//! See docs/explanation/controller-cache.md.

mod destage;
mod eviction;
mod groups;
mod line;
mod reading;
#[cfg(test)]
mod tests;

pub use destage::Leaving;
pub use groups::{Eligible, Groups};
pub use line::{LINE_SECTORS, PAGE, SECTOR, Sectors, sectors};
pub use reading::Found;

use super::Table;
use super::ids::{GroupId, LineKey, LineSlot, SpaceId};
use crate::Memory;
use groups::Group;
use line::{Coming, Line, pages};
use raidlab_kernel::{RecencyList, Table as Slots};

/// A cache shared by several spaces, each with groups of its own: what goes to the drives of one
/// array, which do not wait for those of another.
#[derive(Debug)]
pub struct Cache {
    lines: Slots<LineSlot, Line>,
    /// What comes of each line.
    coming: Slots<LineSlot, Coming>,
    free_lines: Vec<LineSlot>,
    index: Table<LineSlot>,
    /// Clean lines of which nothing is being read.
    recency: RecencyList<LineSlot>,
    groups: Groups,
    pages_max: u64,
    pages_used: u64,
    pages_dirty: u64,
    dirty_max: u64,
    sectors_dirty: u64,
}

impl Cache {
    /// An empty cache of `bytes` bytes, of which `dirty_max_bytes` may be dirty; for each space
    /// the number of its groups and the sectors of one.
    pub fn new(bytes: u64, dirty_max_bytes: u64, spaces: &[(u64, u32)]) -> Cache {
        let pages_max = (bytes / PAGE).max(1);
        let lines = pages_max as usize;
        Cache {
            lines: Vec::with_capacity(lines).into(),
            coming: Vec::with_capacity(lines).into(),
            free_lines: Vec::with_capacity(lines),
            index: Table::with_capacity(lines),
            recency: RecencyList::default(),
            groups: Groups::new(lines, spaces),
            pages_max,
            pages_used: 0,
            pages_dirty: 0,
            dirty_max: (dirty_max_bytes / PAGE).max(1),
            sectors_dirty: 0,
        }
    }

    /// The memory of a cache of `bytes` bytes: a line and at most a group for each page, and a
    /// table of each that is half full at most.
    pub fn memory(bytes: u64) -> Memory {
        let each = size_of::<Line>() + size_of::<Coming>() + size_of::<Group>() + 8;
        // A tag, a key and a number in each of four slots.
        let tables = 2 * 4 * (1 + size_of::<(u64, u32)>());
        Memory {
            resident: (bytes / PAGE).saturating_mul((each + tables) as u64),
            ..Memory::default()
        }
    }

    /// Share of the dirty limit that is in use.
    pub fn dirty_share(&self) -> f64 {
        self.pages_dirty as f64 / self.dirty_max as f64
    }

    /// Pages that may be dirty.
    pub fn dirty_max(&self) -> u64 {
        self.dirty_max
    }

    /// True if nothing is dirty.
    pub fn is_clean(&self) -> bool {
        self.pages_dirty == 0
    }

    /// Dirty bytes, those being destaged included.
    pub fn dirty_bytes(&self) -> u64 {
        self.sectors_dirty * SECTOR
    }

    /// True if `pages` more pages may become dirty.
    pub fn may_dirty(&self, pages: u64) -> bool {
        self.pages_dirty + pages <= self.dirty_max
    }

    /// New data for sectors of a line of a space's group; room has been made. True if it meets
    /// data that are dirty or being destaged.
    pub fn write(
        &mut self,
        key: LineKey,
        written: Sectors,
        space: SpaceId,
        group: GroupId,
    ) -> bool {
        let at = self.line(key);
        let (coming, before) = (self.coming(at), pages(self.allocated(at)));
        let was_dirty = self.lines[at].is_dirty();
        if !was_dirty && coming == 0 {
            self.unlink(at);
        }
        // What is being read is older than this.
        let coming = coming & !written;
        self.set_coming(at, coming);
        let pages_before = if was_dirty { u64::from(before) } else { 0 };
        let group_at = self.groups.of(space, group);
        let line = &mut self.lines[at];
        let newly = (written & !line.dirty).count_ones();
        let ever = written & !line.dirty & !line.leaving;
        line.valid |= written;
        line.dirty |= written;
        let after = pages(line.valid | coming);
        if !was_dirty {
            line.set_next_of_group(self.groups.all[group_at].first);
            self.groups.all[group_at].first = at;
        }
        self.pages_used += u64::from(after);
        self.pages_used -= u64::from(before);
        self.pages_dirty = self.pages_dirty + u64::from(after) - pages_before;
        self.sectors_dirty += u64::from(ever.count_ones());
        self.groups.add_dirty(group_at, newly);
        ever != written
    }

    /// The line of a key, if it is here.
    #[inline]
    fn at(&self, key: LineKey) -> Option<LineSlot> {
        self.index.get(key.number())
    }

    /// The lines that are here now.
    fn used(&self) -> Vec<LineSlot> {
        self.index.iter().map(|(_, at)| at).collect()
    }

    /// Only dirty data stay: what a battery backup preserves in an outage.
    pub fn retain_dirty(&mut self) {
        self.stop_reading();
        for at in self.used() {
            let line = &mut self.lines[at];
            if !line.is_dirty() {
                self.evict(at);
                continue;
            }
            let before = pages(line.valid);
            line.valid = line.dirty | line.leaving;
            let gone = u64::from(before - pages(line.valid));
            self.pages_used -= gone;
            self.pages_dirty -= gone;
        }
    }

    /// All content is lost.
    pub fn clear(&mut self) {
        self.lines.clear();
        self.coming.clear();
        self.free_lines.clear();
        self.index.clear();
        self.recency = RecencyList::default();
        self.groups.clear();
        (self.pages_used, self.pages_dirty, self.sectors_dirty) = (0, 0, 0);
    }

    /// Sectors of a line are written around the cache: its copies of them are out of date.
    pub fn forget(&mut self, key: LineKey, written: Sectors) {
        let Some(at) = self.at(key) else {
            return;
        };
        let (before, was_coming) = (pages(self.allocated(at)), self.coming(at));
        let line = &mut self.lines[at];
        // What is dirty is newer than a write that has not gone through the cache can be.
        let written = written & !(line.dirty | line.leaving);
        line.valid &= !written;
        let coming = was_coming & !written;
        let (allocated, dirty) = (line.valid | coming, line.is_dirty());
        let gone = u64::from(before - pages(allocated));
        self.pages_used -= gone;
        if was_coming != 0 {
            self.set_coming(at, coming);
        }
        if dirty {
            self.pages_dirty -= gone;
            return;
        }
        if was_coming != 0 && coming == 0 {
            self.link_newest(at);
        }
        if allocated == 0 {
            self.evict(at);
        }
    }

    /// Those of these sectors of a line that are here and as they are on the drives.
    pub fn clean_at(&self, key: LineKey, wanted: Sectors) -> Sectors {
        self.at(key).map_or(0, |at| {
            let line = &self.lines[at];
            line.valid & wanted & !(line.dirty | line.leaving)
        })
    }

    /// Those of these sectors of a line that are dirty or being destaged.
    pub fn dirty_at(&self, key: LineKey, wanted: Sectors) -> Sectors {
        self.at(key).map_or(0, |at| {
            let line = &self.lines[at];
            (line.dirty | line.leaving) & wanted
        })
    }

    /// True if any of these sectors of a line are dirty or being destaged.
    pub fn is_dirty_at(&self, key: LineKey, wanted: Sectors) -> bool {
        self.dirty_at(key, wanted) != 0
    }

    /// What must hold; a breach is a bug.
    ///
    /// # Errors
    /// Says which sum is wrong.
    pub fn check(&self) -> Result<(), String> {
        let (mut used, mut dirty, mut sectors) = (0, 0, 0);
        for (_, at) in self.index.iter() {
            let line = &self.lines[at];
            let allocated = u64::from(pages(self.allocated(at)));
            used += allocated;
            if line.is_dirty() {
                dirty += allocated;
            }
            sectors += u64::from((line.dirty | line.leaving).count_ones());
        }
        let counted = (self.pages_used, self.pages_dirty, self.sectors_dirty);
        if counted != (used, dirty, sectors) {
            return Err(format!(
                "cache counts {counted:?} pages used, pages dirty, sectors dirty; lines hold {:?}",
                (used, dirty, sectors)
            ));
        }
        if used > self.pages_max {
            return Err(format!("{used} pages used of {}", self.pages_max));
        }
        Ok(())
    }
}
