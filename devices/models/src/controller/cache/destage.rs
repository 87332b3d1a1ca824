//! Destaging: dirty lines leave in groups that share a parity, full ones first, then in the order of
//! their space. Lines that leave still serve reads and take new writes.

use super::Cache;
use super::line::{NONE, Sectors, pages};
use super::waiting::Waiting;
use prefetch_index::prefetch_index;
use raidlab_kernel::RecencyLink;

#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub(super) space: u32,
    pub(super) number: u64,
    pub(super) first: u32,
    pub(super) dirty_sectors: u32,
    pub(super) leaving: bool,
    pub(super) queued: bool,
    /// Its neighbours among those that wait.
    pub(super) link: RecencyLink,
}

/// Dirty sectors of a line that leave, and the line's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaving {
    /// The line.
    pub key: u64,
    /// Its dirty sectors.
    pub dirty: Sectors,
}

/// Groups that may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eligible {
    /// Those that are dirty throughout: they need no reads.
    Full,
    /// All that wait.
    Any,
}

/// The key of a space's group.
#[inline]
fn group_key(space: u32, number: u64) -> u64 {
    u64::from(space) << 48 | number
}

impl Cache {
    /// Groups that wait to leave.
    pub fn groups_waiting(&self) -> u64 {
        self.waiting.iter().map(Waiting::len).sum()
    }

    /// True if a group is dirty throughout and waits to leave.
    pub fn has_full(&self) -> bool {
        self.full.iter().any(|full| !full.is_empty())
    }

    /// The space of a group with dirty data.
    pub fn space(&self, group: u32) -> u32 {
        self.groups[group as usize].space
    }

    /// True if a group of a space has dirty data.
    #[inline]
    pub fn has_group(&self, space: u32, number: u64) -> bool {
        self.group_index.get(group_key(space, number)).is_some()
    }

    /// Asks for the memory of a line, and of its group if it is to be written.
    #[inline]
    pub fn prefetch(&self, line: u64, group: Option<(u32, u64)>) {
        self.index.touch(line);
        if let Some((space, number)) = group {
            self.group_index.touch(group_key(space, number));
        }
    }

    pub(super) fn group(&mut self, space: u32, number: u64) -> u32 {
        let key = group_key(space, number);
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
            link: RecencyLink::NONE,
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

    /// The group that should leave next, of those spaces that `may`: one that is dirty throughout,
    /// or else, if any is eligible, the next one by the order of its space. Gives (group, space,
    /// number).
    pub fn next_to_leave(
        &mut self,
        eligible: Eligible,
        may: impl Fn(usize) -> bool,
    ) -> Option<(u32, u32, u64)> {
        for space in (0..self.full.len()).filter(|&space| may(space)) {
            while let Some(at) = self.full[space].pop_front() {
                let group = &mut self.groups[at as usize];
                group.queued = false;
                if !group.leaving && group.dirty_sectors == self.whole[space] {
                    return Some((at, group.space, group.number));
                }
            }
        }
        if eligible == Eligible::Full {
            return None;
        }
        for _ in 0..self.waiting.len() {
            let space = self.next_space;
            self.next_space = (space + 1) % self.waiting.len();
            if !may(space) {
                continue;
            }
            if let Some(number) = self.waiting[space].next(&self.groups) {
                self.look_ahead(space as u32, number);
                let key = group_key(space as u32, number);
                let at = self
                    .group_index
                    .get(key)
                    .expect("a waiting group has an index");
                return Some((at, space as u32, number));
            }
        }
        None
    }

    /// Of those of a space this group leaves next.
    pub fn go_on_from(&mut self, space: u32, number: u64) {
        let group = self.group_index.get(group_key(space, number));
        let waiting = &mut self.waiting[space as usize];
        waiting.go_on_from(&mut self.groups, group.unwrap_or(NONE), number);
    }

    /// Prefetches the groups behind this one, which leave next. A chain of look-ups ends at a
    /// group's first line; each call takes one step of it for each of the next three groups.
    fn look_ahead(&self, space: u32, number: u64) {
        let mut next = number;
        let mut behind = || {
            next = self.waiting[space as usize].behind(next)?;
            Some(group_key(space, next))
        };
        let group = |key| self.group_index.get(key).map(|at| at as usize);
        if let Some(at) = behind().and_then(group) {
            prefetch_index(&self.lines, self.groups[at].first as usize);
        }
        if let Some(at) = behind().and_then(group) {
            prefetch_index(&self.groups, at);
        }
        if let Some(key) = behind() {
            self.group_index.touch(key);
        }
    }

    /// A group begins to leave: its dirty sectors, line by line.
    pub fn leave(&mut self, group: u32, into: &mut Vec<Leaving>) {
        into.clear();
        let space = self.groups[group as usize].space;
        self.waiting[space as usize].remove(&mut self.groups, group);
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
            at = line.next_of_group();
        }
    }

    /// A group cannot be written to drives: it stays dirty and is not offered again.
    pub fn pin(&mut self, group: u32) {
        let space = self.groups[group as usize].space;
        self.waiting[space as usize].remove(&mut self.groups, group);
    }

    /// A group is on its drives: lines without newer data are clean.
    pub fn left(&mut self, group: u32) {
        let mut at = std::mem::replace(&mut self.groups[group as usize].first, NONE);
        let mut still_dirty = NONE;
        while at != NONE {
            let line = &mut self.lines[at as usize];
            let next = line.next_of_group();
            self.sectors_dirty -= u64::from((line.leaving & !line.dirty).count_ones());
            line.leaving = 0;
            if line.dirty != 0 {
                line.set_next_of_group(still_dirty);
                still_dirty = at;
            } else {
                let comes = line.comes();
                self.pages_dirty -= u64::from(pages(self.allocated(at)));
                if !comes {
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
            debug_assert!(!state.queued);
            self.group_index.remove(group_key(space, number));
            self.free_groups.push(group);
            return;
        }
        if state.dirty_sectors == self.whole[space as usize] {
            state.queued = true;
            self.full[space as usize].push_back(group);
        }
        self.waiting[space as usize].insert(&mut self.groups, group);
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
            at = line.next_of_group();
        }
        let state = &mut self.groups[group as usize];
        state.leaving = false;
        state.dirty_sectors = dirty;
        let space = state.space;
        self.waiting[space as usize].insert(&mut self.groups, group);
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
}
