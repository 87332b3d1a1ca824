//! The controller's cache: lines of up to 64 KiB, valid and dirty by the sector.
//!
//! Memory is taken in pages of 4 KiB, so that a line with one small write costs one page or two.
//! Clean lines leave in least-recently-used order. Dirty lines belong to a group: the stripe
//! whose parity they share, or a stripe unit where there is none. Groups leave in elevator
//! order, those that are dirty throughout before all others, since they need no reads. Lines
//! that are being written to drives still serve reads and take new writes.
//! See docs/models/controller-cache.md.

use super::{BitSet, Table};
use std::collections::VecDeque;

/// Bytes of a sector, the grain of valid and dirty.
pub const SECTOR: u64 = 512;
/// Sectors of the longest line.
pub const LINE_SECTORS: u64 = 128;
/// Bytes of a page, the grain of memory.
pub const PAGE: u64 = 4096;

const NONE: u32 = u32::MAX;

/// Sectors of a line, one bit each.
pub type Sectors = u128;

/// The sectors from `first` to before `end` of a line.
#[inline]
pub fn sectors(first: u64, end: u64) -> Sectors {
    let below = |n: u64| {
        if n >= LINE_SECTORS {
            !0
        } else {
            (1u128 << n) - 1
        }
    };
    below(end) & !below(first)
}

/// Pages that hold these sectors.
#[inline]
fn pages(valid: Sectors) -> u32 {
    // Fold each byte (the eight sectors of a page) into its lowest bit.
    let mut folded = valid | valid >> 4;
    folded |= folded >> 2;
    folded |= folded >> 1;
    (folded & 0x0101_0101_0101_0101_0101_0101_0101_0101).count_ones()
}

#[derive(Clone, Copy, Debug)]
struct Line {
    valid: Sectors,
    dirty: Sectors,
    /// Dirty sectors whose destage is under way.
    leaving: Sectors,
    /// Sectors that are being read from drives.
    coming: Sectors,
    key: u64,
    /// Neighbours in the order of use, while clean.
    newer: u32,
    older: u32,
    /// The next line of the same group, while dirty or leaving.
    sibling: u32,
    /// Who reads the coming sectors: the caller's own number.
    reader: u32,
}

const EMPTY_LINE: Line = Line {
    valid: 0,
    dirty: 0,
    leaving: 0,
    coming: 0,
    key: 0,
    newer: NONE,
    older: NONE,
    sibling: NONE,
    reader: NONE,
};

impl Line {
    fn held(&self) -> Sectors {
        self.valid | self.coming
    }

    fn is_dirty(&self) -> bool {
        self.dirty | self.leaving != 0
    }
}

#[derive(Clone, Copy, Debug)]
struct Group {
    space: u32,
    number: u64,
    first: u32,
    dirty_sectors: u32,
    leaving: bool,
    queued: bool,
}

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

/// Dirty sectors of a line that leave, and the line's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaving {
    /// The line.
    pub key: u64,
    /// Its dirty sectors.
    pub dirty: Sectors,
}

/// A cache shared by several spaces (arrays), each with groups of its own.
#[derive(Debug)]
pub struct Cache {
    lines: Vec<Line>,
    free_lines: Vec<u32>,
    index: Table,
    newest: u32,
    oldest: u32,
    groups: Vec<Group>,
    free_groups: Vec<u32>,
    group_index: Table,
    /// For each space: groups with dirty lines that are not leaving.
    waiting: Vec<BitSet>,
    /// Sectors of a whole group, by space.
    whole: Vec<u32>,
    /// For each space: where the elevator stands.
    position: Vec<u64>,
    next_space: usize,
    full: VecDeque<u32>,
    pages_max: u64,
    pages_used: u64,
    pages_dirty: u64,
    dirty_max: u64,
    sectors_dirty: u64,
}

impl Cache {
    /// An empty cache of so many bytes, of which `dirty_max_bytes` may be dirty; for each space
    /// the number of its groups and the sectors of one.
    pub fn new(bytes: u64, dirty_max_bytes: u64, spaces: &[(u64, u32)]) -> Cache {
        let pages_max = (bytes / PAGE).max(1);
        let lines = pages_max as usize;
        Cache {
            lines: Vec::with_capacity(lines),
            free_lines: Vec::with_capacity(lines),
            index: Table::with_capacity(lines),
            newest: NONE,
            oldest: NONE,
            groups: Vec::with_capacity(lines),
            free_groups: Vec::with_capacity(lines),
            group_index: Table::with_capacity(lines),
            waiting: spaces
                .iter()
                .map(|&(groups, _)| BitSet::new(groups))
                .collect(),
            whole: spaces.iter().map(|&(_, sectors)| sectors).collect(),
            position: vec![0; spaces.len()],
            next_space: 0,
            full: VecDeque::with_capacity(lines.min(1 << 16)),
            pages_max,
            pages_used: 0,
            pages_dirty: 0,
            dirty_max: (dirty_max_bytes / PAGE).max(1),
            sectors_dirty: 0,
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

    /// Groups that wait to leave.
    pub fn groups_waiting(&self) -> u64 {
        self.waiting.iter().map(BitSet::len).sum()
    }

    /// True if a group is dirty throughout and waits to leave.
    pub fn has_full(&self) -> bool {
        !self.full.is_empty()
    }

    /// Dirty bytes, those on their way to drives included.
    pub fn dirty_bytes(&self) -> u64 {
        self.sectors_dirty * SECTOR
    }

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

    /// True if so many pages more may become dirty.
    pub fn may_dirty(&self, pages: u64) -> bool {
        self.pages_dirty + pages <= self.dirty_max
    }

    fn evict(&mut self, at: u32) {
        self.unlink(at);
        let line = &mut self.lines[at as usize];
        let key = line.key;
        self.pages_used -= u64::from(pages(line.held()));
        *line = EMPTY_LINE;
        self.index.remove(key);
        self.free_lines.push(at);
    }

    fn line(&mut self, key: u64) -> u32 {
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

    fn link_newest(&mut self, at: u32) {
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

    fn unlink(&mut self, at: u32) {
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

    fn touch(&mut self, at: u32) {
        if self.newest != at {
            self.unlink(at);
            self.link_newest(at);
        }
    }

    /// New data for sectors of a line of a space's group. Room has been made.
    pub fn write(&mut self, key: u64, written: Sectors, space: u32, group: u64) {
        let at = self.line(key);
        let line = &self.lines[at as usize];
        let (was_dirty, was_coming, before) = (line.is_dirty(), line.coming, pages(line.held()));
        if !was_dirty && was_coming == 0 {
            self.unlink(at);
        }
        let pages_before = if was_dirty { u64::from(before) } else { 0 };
        let group_at = self.group(space, group);
        let line = &mut self.lines[at as usize];
        let newly = (written & !line.dirty).count_ones();
        let ever = (written & !line.dirty & !line.leaving).count_ones();
        line.valid |= written;
        line.dirty |= written;
        // What is being read is older than this.
        line.coming &= !written;
        let after = pages(line.held());
        if !was_dirty {
            line.sibling = self.groups[group_at as usize].first;
            self.groups[group_at as usize].first = at;
        }
        self.pages_used += u64::from(after);
        self.pages_used -= u64::from(before);
        self.pages_dirty = self.pages_dirty + u64::from(after) - pages_before;
        self.sectors_dirty += u64::from(ever);
        let whole = self.whole[space as usize];
        let group = &mut self.groups[group_at as usize];
        group.dirty_sectors += newly;
        if !group.leaving {
            self.waiting[space as usize].insert(group.number);
            if group.dirty_sectors == whole && !group.queued {
                group.queued = true;
                self.full.push_back(group_at);
            }
        }
    }

    fn group(&mut self, space: u32, number: u64) -> u32 {
        let key = u64::from(space) << 48 | number;
        if let Some(at) = self.group_index.get(key) {
            return at;
        }
        let group = Group {
            space,
            number,
            first: NONE,
            dirty_sectors: 0,
            leaving: false,
            queued: false,
        };
        let at = match self.free_groups.pop() {
            Some(at) => {
                self.groups[at as usize] = group;
                at
            }
            None => {
                self.groups.push(group);
                (self.groups.len() - 1) as u32
            }
        };
        self.group_index.insert(key, at);
        at
    }

    /// The group that should leave next: one that is dirty throughout, or, unless only such are
    /// wanted, the next one that the elevator meets. Gives (group, space, number).
    pub fn next_to_leave(&mut self, full_only: bool) -> Option<(u32, u32, u64)> {
        while let Some(at) = self.full.pop_front() {
            let group = &mut self.groups[at as usize];
            group.queued = false;
            if !group.leaving && group.dirty_sectors == self.whole[group.space as usize] {
                return Some((at, group.space, group.number));
            }
        }
        if full_only {
            return None;
        }
        for _ in 0..self.waiting.len() {
            let space = self.next_space;
            self.next_space = (space + 1) % self.waiting.len();
            if let Some(number) = self.waiting[space].next_around(self.position[space]) {
                self.position[space] = number + 1;
                let key = (space as u64) << 48 | number;
                let at = self.group_index.get(key).expect("a waiting group is known");
                return Some((at, space as u32, number));
            }
        }
        None
    }

    /// A group begins to leave: its dirty sectors, line by line.
    pub fn leave(&mut self, group: u32, into: &mut Vec<Leaving>) {
        into.clear();
        let Group { space, number, .. } = self.groups[group as usize];
        self.waiting[space as usize].remove(number);
        let state = &mut self.groups[group as usize];
        debug_assert!(!state.leaving);
        state.leaving = true;
        state.dirty_sectors = 0;
        let mut at = state.first;
        while at != NONE {
            let line = &mut self.lines[at as usize];
            if line.dirty != 0 {
                into.push(Leaving {
                    key: line.key,
                    dirty: line.dirty,
                });
            }
            line.leaving = line.dirty;
            line.dirty = 0;
            at = line.sibling;
        }
    }

    /// A group has nowhere to go: it stays dirty and is not offered again.
    pub fn pin(&mut self, group: u32) {
        let Group { space, number, .. } = self.groups[group as usize];
        self.waiting[space as usize].remove(number);
    }

    /// A group is on its drives: lines without newer data are clean.
    pub fn left(&mut self, group: u32) {
        let mut at = std::mem::replace(&mut self.groups[group as usize].first, NONE);
        let mut still_dirty = NONE;
        while at != NONE {
            let line = &mut self.lines[at as usize];
            let next = line.sibling;
            self.sectors_dirty -= u64::from((line.leaving & !line.dirty).count_ones());
            line.leaving = 0;
            if line.dirty != 0 {
                line.sibling = still_dirty;
                still_dirty = at;
            } else {
                line.sibling = NONE;
                self.pages_dirty -= u64::from(pages(line.held()));
                if line.coming == 0 {
                    self.link_newest(at);
                }
            }
            at = next;
        }
        let state = &mut self.groups[group as usize];
        state.first = still_dirty;
        state.leaving = false;
        let (space, number) = (state.space, state.number);
        if still_dirty == NONE {
            let key = u64::from(space) << 48 | number;
            debug_assert!(!state.queued);
            self.group_index.remove(key);
            self.free_groups.push(group);
            return;
        }
        self.waiting[space as usize].insert(number);
        if state.dirty_sectors == self.whole[space as usize] {
            state.queued = true;
            self.full.push_back(group);
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

    /// A group that was leaving did not reach the drives: its data are dirty as before.
    pub fn stay(&mut self, group: u32) {
        let mut at = self.groups[group as usize].first;
        let mut dirty = 0;
        while at != NONE {
            let line = &mut self.lines[at as usize];
            line.dirty |= line.leaving;
            line.leaving = 0;
            dirty += line.dirty.count_ones();
            at = line.sibling;
        }
        let state = &mut self.groups[group as usize];
        state.leaving = false;
        state.dirty_sectors = dirty;
        let (space, number) = (state.space, state.number);
        self.waiting[space as usize].insert(number);
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

    /// Only what is dirty stays: what a backup keeps through an outage.
    pub fn keep_dirty(&mut self) {
        self.stop_reading();
        let keys: Vec<u64> = self.index.iter().map(|(key, _)| key).collect();
        for key in keys {
            let Some(at) = self.index.get(key) else {
                continue;
            };
            let line = &mut self.lines[at as usize];
            if !line.is_dirty() {
                self.evict(at);
                continue;
            }
            let before = pages(line.held());
            line.valid = line.dirty | line.leaving;
            let gone = u64::from(before - pages(line.held()));
            self.pages_used -= gone;
            self.pages_dirty -= gone;
        }
    }

    /// Every line with data that are not on the drives, and which sectors those are.
    pub fn dirty_lines(&self) -> Vec<Leaving> {
        let lines = self.index.iter().map(|(_, at)| &self.lines[at as usize]);
        let dirty = lines.filter(|line| line.is_dirty()).map(|line| Leaving {
            key: line.key,
            dirty: line.dirty | line.leaving,
        });
        dirty.collect()
    }

    /// All content is lost.
    pub fn clear(&mut self) {
        self.lines.clear();
        self.free_lines.clear();
        self.index.clear();
        (self.newest, self.oldest) = (NONE, NONE);
        for at in 0..self.groups.len() {
            let Group { space, number, .. } = self.groups[at];
            self.waiting[space as usize].remove(number);
        }
        self.groups.clear();
        self.free_groups.clear();
        self.group_index.clear();
        self.full.clear();
        (self.pages_used, self.pages_dirty, self.sectors_dirty) = (0, 0, 0);
    }

    /// Sectors of a line are written past the cache: what is here or coming is out of date.
    pub fn forget(&mut self, key: u64, written: Sectors) {
        let Some(at) = self.index.get(key) else {
            return;
        };
        let line = &mut self.lines[at as usize];
        // What is dirty is newer than a write that has not gone through the cache can be.
        let written = written & !(line.dirty | line.leaving);
        let before = pages(line.held());
        let was_coming = line.coming != 0;
        line.valid &= !written;
        line.coming &= !written;
        let (held, coming) = (line.held(), line.coming != 0);
        let gone = u64::from(before - pages(held));
        let dirty = line.is_dirty();
        self.pages_used -= gone;
        if dirty {
            self.pages_dirty -= gone;
            return;
        }
        if was_coming && !coming {
            self.link_newest(at);
        }
        if held == 0 {
            self.evict(at);
        }
    }

    /// True if any of these sectors of a line are dirty or on their way to drives.
    pub fn is_dirty_at(&self, key: u64, wanted: Sectors) -> bool {
        let Some(at) = self.index.get(key) else {
            return false;
        };
        let line = &self.lines[at as usize];
        (line.dirty | line.leaving) & wanted != 0
    }

    /// What must hold; a breach is a bug.
    ///
    /// # Errors
    /// Says which sum is wrong.
    pub fn check(&self) -> Result<(), String> {
        let (mut used, mut dirty, mut sectors) = (0, 0, 0);
        for (_, at) in self.index.iter() {
            let line = &self.lines[at as usize];
            used += u64::from(pages(line.held()));
            if line.is_dirty() {
                dirty += u64::from(pages(line.held()));
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn sectors_and_pages_count_what_they_should() {
        assert_eq!(sectors(0, 128), !0);
        assert_eq!(sectors(3, 5), 0b11000);
        assert_eq!(pages(sectors(7, 9)), 2);
        assert_eq!(pages(sectors(0, 8)), 1);
        assert_eq!(pages(!0), 16);
        assert_eq!(pages(0), 0);
    }

    /// Two lines of one stripe become full and leave before a stripe that comes earlier in
    /// elevator order.
    #[test]
    fn a_full_stripe_leaves_first() {
        let mut cache = Cache::new(1 << 20, 1 << 20, &[(10, 256)]);
        cache.write(0, sectors(0, 16), 0, 0);
        cache.write(10, !0, 0, 5);
        assert!(!cache.has_full());
        cache.write(11, !0, 0, 5);
        assert!(cache.has_full());
        let (group, _, number) = cache.next_to_leave(true).unwrap();
        let mut leaving = Vec::new();
        cache.leave(group, &mut leaving);
        assert_eq!((number, leaving.len()), (5, 2));
        assert_eq!(cache.next_to_leave(true), None);
        // New data for a leaving line keep it dirty.
        cache.write(10, sectors(0, 1), 0, 5);
        cache.left(group);
        assert_eq!(cache.dirty_bytes(), 17 * SECTOR);
        assert_eq!(cache.find(11, !0), Found::All);
        cache.check().unwrap();
    }

    #[test]
    fn the_least_recently_used_clean_line_makes_room() {
        let mut cache = Cache::new(32 * PAGE, 16 * PAGE, &[(10, 128)]);
        for key in 0..2 {
            assert!(cache.make_room(16));
            cache.expect(key, !0, 7);
            assert_eq!(cache.find(key, 1), Found::Coming(7));
            cache.arrived(key, 7);
        }
        assert_eq!(cache.find(0, !0), Found::All);
        assert!(cache.make_room(1));
        assert_eq!(cache.find(1, 1), Found::None);
        cache.write(2, sectors(0, 8), 0, 2);
        assert!(cache.make_room(15));
        assert_eq!(cache.find(0, 1), Found::All);
        assert!(!cache.make_room(32), "dirty lines stay");
    }

    #[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
    struct Truth {
        valid: Sectors,
        dirty: Sectors,
        leaving: Sectors,
    }

    proptest! {
        /// Against sets of sectors: nothing dirty is ever lost, sums agree.
        #[test]
        fn dirty_data_stay_until_they_have_left(
            steps in prop::collection::vec((0u8..6, 0u64..12, 0u64..128, 1u64..64), 1..120),
        ) {
            let mut cache = Cache::new(40 * PAGE, 24 * PAGE, &[(6, 256)]);
            let mut truth: BTreeMap<u64, Truth> = BTreeMap::new();
            let (mut under_way, mut list) = (Vec::new(), Vec::new());
            for (what, key, first, length) in steps {
                let mask = sectors(first, first + length);
                let line = truth.entry(key).or_default();
                match what {
                    0..=2 => {
                        if cache.may_dirty(16) && cache.make_room(16) {
                            cache.write(key, mask, 0, key / 2);
                            line.valid |= mask;
                            line.dirty |= mask;
                        }
                    }
                    3 => {
                        if let Some((group, _, number)) = cache.next_to_leave(false) {
                            cache.leave(group, &mut list);
                            for key in [2 * number, 2 * number + 1] {
                                let line = truth.entry(key).or_default();
                                line.leaving = line.dirty;
                                line.dirty = 0;
                                let told = list.iter().find(|l| l.key == key);
                                prop_assert_eq!(told.map_or(0, |l| l.dirty), line.leaving);
                            }
                            under_way.push((group, number));
                        }
                    }
                    4 => {
                        if let Some((group, number)) = under_way.pop() {
                            cache.left(group);
                            for key in [2 * number, 2 * number + 1] {
                                truth.entry(key).or_default().leaving = 0;
                            }
                        }
                    }
                    _ => {
                        if cache.make_room(16) {
                            cache.expect(key, mask, 1);
                            cache.arrived(key, 1);
                        }
                    }
                }
                cache.check().map_err(TestCaseError::fail)?;
                for (&key, line) in &truth {
                    let must = line.dirty | line.leaving;
                    for bit in 0..128 {
                        prop_assert_eq!(cache.is_dirty_at(key, 1 << bit), must >> bit & 1 == 1);
                    }
                    if must != 0 {
                        prop_assert_eq!(cache.find(key, must), Found::All);
                    }
                }
            }
        }
    }
}
