//! Groups of dirty lines that share a parity: which of them may leave, and which leaves next.

use super::Table;
use super::line::{Line, NONE};
use prefetch_index::prefetch_index;
use raidlab_kernel::BitSet;
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub(super) space: u32,
    pub(super) number: u64,
    pub(super) first: u32,
    pub(super) dirty_sectors: u32,
    pub(super) leaving: bool,
    pub(super) queued: bool,
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

/// All groups with dirty lines, by space.
#[derive(Debug)]
pub struct Groups {
    pub(super) all: Vec<Group>,
    free: Vec<u32>,
    index: Table,
    /// For each space: groups with dirty lines that are not leaving.
    waiting: Vec<BitSet>,
    /// Sectors of a whole group, by space.
    whole: Vec<u32>,
    /// For each space: where the elevator stands.
    position: Vec<u64>,
    next_space: usize,
    /// For each space: groups that are dirty throughout.
    full: Vec<VecDeque<u32>>,
}

impl Groups {
    /// Room for `most` of them; for each space the number of its groups and the sectors of one.
    pub(super) fn new(most: usize, spaces: &[(u64, u32)]) -> Groups {
        Groups {
            all: Vec::with_capacity(most),
            free: Vec::with_capacity(most),
            index: Table::with_capacity(most),
            waiting: spaces
                .iter()
                .map(|&(groups, _)| BitSet::new(groups))
                .collect(),
            whole: spaces.iter().map(|&(_, sectors)| sectors).collect(),
            position: vec![0; spaces.len()],
            next_space: 0,
            full: spaces
                .iter()
                .map(|_| VecDeque::with_capacity(most.min(1 << 16)))
                .collect(),
        }
    }

    /// Groups that wait to leave.
    pub fn waiting(&self) -> u64 {
        self.waiting.iter().map(BitSet::len).sum()
    }

    /// True if a group is dirty throughout and waits to leave.
    pub fn has_full(&self) -> bool {
        self.full.iter().any(|full| !full.is_empty())
    }

    /// The space of a group with dirty data.
    pub fn space(&self, group: u32) -> u32 {
        self.all[group as usize].space
    }

    /// True if a group of a space has dirty data.
    #[inline]
    pub fn has(&self, space: u32, number: u64) -> bool {
        self.index.get(group_key(space, number)).is_some()
    }

    /// Asks for the memory of a group.
    #[inline]
    pub(super) fn touch(&self, space: u32, number: u64) {
        self.index.touch(group_key(space, number));
    }

    /// The group of a space with a number; a new one if it has none.
    pub(super) fn of(&mut self, space: u32, number: u64) -> u32 {
        let key = group_key(space, number);
        if let Some(at) = self.index.get(key) {
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
        let at = match self.free.pop() {
            Some(at) => {
                self.all[at as usize] = group;
                at
            }
            None => {
                self.all.push(group);
                (self.all.len() - 1) as u32
            }
        };
        self.index.insert(key, at);
        at
    }

    /// A group has `newly` more dirty sectors.
    pub(super) fn add_dirty(&mut self, at: u32, newly: u32) {
        let group = &mut self.all[at as usize];
        group.dirty_sectors += newly;
        if !group.leaving {
            let space = group.space as usize;
            self.waiting[space].insert(group.number);
            if group.dirty_sectors == self.whole[space] && !group.queued {
                group.queued = true;
                self.full[space].push_back(at);
            }
        }
    }

    /// A group leaves from now on. Gives its first line.
    pub(super) fn begin_to_leave(&mut self, at: u32) -> u32 {
        self.pin(at);
        let group = &mut self.all[at as usize];
        debug_assert!(!group.leaving);
        group.leaving = true;
        group.dirty_sectors = 0;
        group.first
    }

    /// A group has left but for what became dirty meanwhile, from the line `first` on.
    pub(super) fn has_left(&mut self, at: u32, first: u32) {
        let group = &mut self.all[at as usize];
        group.first = first;
        group.leaving = false;
        let (space, number) = (group.space, group.number);
        if first == NONE {
            debug_assert!(!group.queued);
            self.index.remove(group_key(space, number));
            self.free.push(at);
            return;
        }
        self.waiting[space as usize].insert(number);
        if group.dirty_sectors == self.whole[space as usize] {
            group.queued = true;
            self.full[space as usize].push_back(at);
        }
    }

    /// A group stays, with this many dirty sectors.
    pub(super) fn stays(&mut self, at: u32, dirty: u32) {
        let group = &mut self.all[at as usize];
        group.leaving = false;
        group.dirty_sectors = dirty;
        self.waiting[group.space as usize].insert(group.number);
    }

    /// All content is lost.
    pub(super) fn clear(&mut self) {
        for group in &self.all {
            self.waiting[group.space as usize].remove(group.number);
        }
        self.all.clear();
        self.free.clear();
        self.index.clear();
        self.full.iter_mut().for_each(VecDeque::clear);
    }

    /// The group that should leave next, of those spaces that `may`: one that is dirty throughout,
    /// or else, if any is eligible, the next one that a space's elevator meets. Gives (group,
    /// space, number).
    pub(super) fn next_to_leave(
        &mut self,
        lines: &[Line],
        eligible: Eligible,
        may: impl Fn(usize) -> bool,
    ) -> Option<(u32, u32, u64)> {
        for space in (0..self.full.len()).filter(|&space| may(space)) {
            while let Some(at) = self.full[space].pop_front() {
                let group = &mut self.all[at as usize];
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
            if let Some(number) = self.waiting[space].next_around(self.position[space]) {
                self.position[space] = number + 1;
                self.look_ahead(lines, space as u32, number);
                let key = group_key(space as u32, number);
                let at = self.index.get(key).expect("a waiting group has an index");
                return Some((at, space as u32, number));
            }
        }
        None
    }

    /// The elevator of a space goes on from this group.
    pub fn go_on_from(&mut self, space: u32, number: u64) {
        self.position[space as usize] = number;
    }

    /// Prefetches the groups behind this one, which leave next. A chain of look-ups ends at a
    /// group's first line; each call takes one step of it for each of the next three groups.
    fn look_ahead(&self, lines: &[Line], space: u32, number: u64) {
        let mut next = number;
        let mut behind = || {
            next = self.waiting[space as usize].next(next + 1)?;
            Some(group_key(space, next))
        };
        let group = |key| self.index.get(key).map(|at| at as usize);
        if let Some(at) = behind().and_then(group) {
            prefetch_index(lines, self.all[at].first as usize);
        }
        if let Some(at) = behind().and_then(group) {
            prefetch_index(&self.all, at);
        }
        if let Some(key) = behind() {
            self.index.touch(key);
        }
    }

    /// A group cannot be written to drives: it stays dirty and is not offered again.
    pub fn pin(&mut self, group: u32) {
        let Group { space, number, .. } = self.all[group as usize];
        self.waiting[space as usize].remove(number);
    }
}
