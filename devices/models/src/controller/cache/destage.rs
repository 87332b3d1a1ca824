//! Destaging: dirty lines leave in groups that share a parity, full ones first, then in elevator
//! order. Lines that leave still serve reads and take new writes.

use super::Cache;
use super::groups::{Eligible, Groups};
use super::line::{Sectors, pages};
use crate::controller::ids::{GroupId, GroupSlot, LineKey, LineSlot, SpaceId};

/// Dirty sectors of a line that leave, and the line's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaving {
    /// The line.
    pub key: LineKey,
    /// Its dirty sectors.
    pub dirty: Sectors,
}

impl Cache {
    /// The groups with dirty lines.
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// As `groups`, mutable.
    pub fn groups_mut(&mut self) -> &mut Groups {
        &mut self.groups
    }

    /// The group that should leave next, of those spaces that `may`: one that is dirty throughout,
    /// or else, if any is eligible, the next one that a space's elevator meets. Gives (group,
    /// space, number).
    pub fn next_to_leave(
        &mut self,
        eligible: Eligible,
        may: impl Fn(SpaceId) -> bool,
    ) -> Option<(GroupSlot, SpaceId, GroupId)> {
        self.groups.next_to_leave(&self.lines, eligible, may)
    }

    /// Asks for the memory of a line, and of its group if it is to be written.
    #[inline]
    pub fn prefetch(&self, line: LineKey, group: Option<(SpaceId, GroupId)>) {
        self.index.touch(line.number());
        if let Some((space, number)) = group {
            self.groups.touch(space, number);
        }
    }

    /// A group begins to leave: its dirty sectors, line by line.
    pub fn leave(&mut self, group: GroupSlot, into: &mut Vec<Leaving>) {
        into.clear();
        let mut at = self.groups.begin_to_leave(group);
        while at != LineSlot::NONE {
            let line = &mut self.lines[at];
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

    /// A group is on its drives: lines without newer data are clean.
    pub fn left(&mut self, group: GroupSlot) {
        let mut at = std::mem::replace(&mut self.groups.all[group].first, LineSlot::NONE);
        let mut still_dirty = LineSlot::NONE;
        while at != LineSlot::NONE {
            let line = &mut self.lines[at];
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
        self.groups.has_left(group, still_dirty);
    }

    /// A group that was leaving did not reach the drives: its data are dirty as before.
    pub fn stay(&mut self, group: GroupSlot) {
        let mut at = self.groups.all[group].first;
        let mut dirty = 0;
        while at != LineSlot::NONE {
            let line = &mut self.lines[at];
            line.dirty |= line.leaving;
            line.leaving = 0;
            dirty += line.dirty.count_ones();
            at = line.next_of_group();
        }
        self.groups.stays(group, dirty);
    }

    /// Every line with data that are not on the drives, and which sectors those are.
    pub fn dirty_lines(&self) -> Vec<Leaving> {
        let lines = self.index.iter().map(|(_, at)| &self.lines[at]);
        let dirty = lines.filter(|line| line.is_dirty()).map(|line| Leaving {
            key: line.key,
            dirty: line.dirty | line.leaving,
        });
        dirty.collect()
    }
}
