//! Groups of dirty lines that share a parity: which of them may leave, and which leaves next.

use super::Table;
use super::line::Line;
use crate::controller::ids::{GroupId, GroupSlot, LineSlot, SpaceId};
use prefetch_index::prefetch_index;
use raidlab_kernel::{BitSet, Id, Table as Slots};
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub(super) space: SpaceId,
    pub(super) number: GroupId,
    pub(super) first: LineSlot,
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
fn group_key(space: SpaceId, number: GroupId) -> u64 {
    u64::from(space.number()) << 48 | number.number()
}

/// All groups with dirty lines, by space.
#[derive(Debug)]
pub struct Groups {
    pub(super) all: Slots<GroupSlot, Group>,
    free: Vec<GroupSlot>,
    index: Table<GroupSlot>,
    /// For each space: groups with dirty lines that are not leaving.
    waiting: Slots<SpaceId, BitSet>,
    /// Sectors of a whole group, by space.
    whole: Slots<SpaceId, u32>,
    /// For each space: where the elevator stands.
    position: Slots<SpaceId, GroupId>,
    next_space: SpaceId,
    /// For each space: groups that are dirty throughout.
    full: Slots<SpaceId, VecDeque<GroupSlot>>,
}

impl Groups {
    /// Room for `most` of them; for each space the number of its groups and the sectors of one.
    pub(super) fn new(most: usize, spaces: &[(u64, u32)]) -> Groups {
        Groups {
            all: Vec::with_capacity(most).into(),
            free: Vec::with_capacity(most),
            index: Table::with_capacity(most),
            waiting: spaces
                .iter()
                .map(|&(groups, _)| BitSet::new(groups))
                .collect(),
            whole: spaces.iter().map(|&(_, sectors)| sectors).collect(),
            position: vec![GroupId::new(0); spaces.len()].into(),
            next_space: SpaceId::new(0),
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
    pub fn space(&self, group: GroupSlot) -> SpaceId {
        self.all[group].space
    }

    /// True if a group of a space has dirty data.
    #[inline]
    pub fn has(&self, space: SpaceId, number: GroupId) -> bool {
        self.index.get(group_key(space, number)).is_some()
    }

    /// Asks for the memory of a group.
    #[inline]
    pub(super) fn touch(&self, space: SpaceId, number: GroupId) {
        self.index.touch(group_key(space, number));
    }

    /// The group of a space with a number; a new one if it has none.
    pub(super) fn of(&mut self, space: SpaceId, number: GroupId) -> GroupSlot {
        let key = group_key(space, number);
        if let Some(at) = self.index.get(key) {
            return at;
        }
        let group = Group {
            space,
            number,
            first: LineSlot::NONE,
            dirty_sectors: 0,
            leaving: false,
            queued: false,
        };
        let at = match self.free.pop() {
            Some(at) => {
                self.all[at] = group;
                at
            }
            None => self.all.push(group),
        };
        self.index.insert(key, at);
        at
    }

    /// A group has `newly` more dirty sectors.
    pub(super) fn add_dirty(&mut self, at: GroupSlot, newly: u32) {
        let group = &mut self.all[at];
        group.dirty_sectors += newly;
        if !group.leaving {
            let space = group.space;
            self.waiting[space].insert(group.number.number());
            if group.dirty_sectors == self.whole[space] && !group.queued {
                group.queued = true;
                self.full[space].push_back(at);
            }
        }
    }

    /// A group leaves from now on. Gives its first line.
    pub(super) fn begin_to_leave(&mut self, at: GroupSlot) -> LineSlot {
        self.pin(at);
        let group = &mut self.all[at];
        debug_assert!(!group.leaving);
        group.leaving = true;
        group.dirty_sectors = 0;
        group.first
    }

    /// A group has left but for what became dirty meanwhile, from the line `first` on.
    pub(super) fn has_left(&mut self, at: GroupSlot, first: LineSlot) {
        let group = &mut self.all[at];
        group.first = first;
        group.leaving = false;
        let (space, number) = (group.space, group.number);
        if first == LineSlot::NONE {
            debug_assert!(!group.queued);
            self.index.remove(group_key(space, number));
            self.free.push(at);
            return;
        }
        self.waiting[space].insert(number.number());
        if group.dirty_sectors == self.whole[space] {
            group.queued = true;
            self.full[space].push_back(at);
        }
    }

    /// A group stays, with this many dirty sectors.
    pub(super) fn stays(&mut self, at: GroupSlot, dirty: u32) {
        let group = &mut self.all[at];
        group.leaving = false;
        group.dirty_sectors = dirty;
        self.waiting[group.space].insert(group.number.number());
    }

    /// All content is lost.
    pub(super) fn clear(&mut self) {
        for group in &self.all {
            self.waiting[group.space].remove(group.number.number());
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
        lines: &Slots<LineSlot, Line>,
        eligible: Eligible,
        may: impl Fn(SpaceId) -> bool,
    ) -> Option<(GroupSlot, SpaceId, GroupId)> {
        for space in self.full.ids().filter(|&space| may(space)) {
            while let Some(at) = self.full[space].pop_front() {
                let group = &mut self.all[at];
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
            self.next_space = SpaceId::at((space.index() + 1) % self.waiting.len());
            if !may(space) {
                continue;
            }
            if let Some(number) = self.waiting[space].next_around(self.position[space].number()) {
                let number = GroupId::new(number);
                self.position[space] = number.plus(1);
                self.look_ahead(lines, space, number);
                let key = group_key(space, number);
                let at = self.index.get(key).expect("a waiting group has an index");
                return Some((at, space, number));
            }
        }
        None
    }

    /// The elevator of a space goes on from this group.
    pub fn go_on_from(&mut self, space: SpaceId, number: GroupId) {
        self.position[space] = number;
    }

    /// Prefetches the groups behind this one, which leave next. A chain of look-ups ends at a
    /// group's first line; each call takes one step of it for each of the next three groups.
    fn look_ahead(&self, lines: &Slots<LineSlot, Line>, space: SpaceId, number: GroupId) {
        let mut next = number.number();
        let mut behind = || {
            next = self.waiting[space].next(next + 1)?;
            Some(group_key(space, GroupId::new(next)))
        };
        let group = |key| self.index.get(key);
        if let Some(at) = behind().and_then(group) {
            prefetch_index(lines.as_slice(), self.all[at].first.index());
        }
        if let Some(at) = behind().and_then(group) {
            prefetch_index(self.all.as_slice(), at.index());
        }
        if let Some(key) = behind() {
            self.index.touch(key);
        }
    }

    /// A group cannot be written to drives: it stays dirty and is not offered again.
    pub fn pin(&mut self, group: GroupSlot) {
        let Group { space, number, .. } = self.all[group];
        self.waiting[space].remove(number.number());
    }
}
