//! The places of an array: which drive stands at each, and how far.

use crate::ids::{DriveId, MemberId};
use crate::layout::{Place, Unit};
use crate::raid::member::{Member, State};
use raidlab_kernel::Table;

/// The places of an array, and what has changed there.
#[derive(Debug)]
pub(crate) struct Places {
    members: Table<MemberId, Member>,
    /// Counts what makes a plan for a stripe out of date: sectors that can no longer be read,
    /// drives that change places.
    changes: u32,
}

impl Places {
    /// These drives stand there.
    pub fn new(drives: &[DriveId]) -> Places {
        Places {
            members: drives.iter().map(|&drive| Member::new(drive)).collect(),
            changes: 0,
        }
    }

    /// All, in their order.
    #[inline]
    pub fn all(&self) -> &Table<MemberId, Member> {
        &self.members
    }

    #[inline]
    pub fn of(&self, member: MemberId) -> &Member {
        &self.members[member]
    }

    pub fn of_mut(&mut self, member: MemberId) -> &mut Member {
        &mut self.members[member]
    }

    /// Counts what makes a plan for a stripe out of date: sectors that can no longer be read,
    /// drives that change places.
    #[inline]
    pub fn changes(&self) -> u32 {
        self.changes
    }

    /// Sectors can no longer be read, or a drive changes places.
    pub fn count_change(&mut self) {
        self.changes += 1;
    }

    /// Nothing is copied to a drive any more.
    pub fn end_copies_to(&mut self, drive: DriveId) {
        for member in &mut self.members {
            member.end_copy_to(drive);
        }
    }

    /// Up to where a member's drive stands in its place: as far as it can be written.
    #[inline]
    pub fn stands_up_to(&self, member: MemberId) -> u64 {
        match self.of(member).state() {
            State::Good => u64::MAX,
            State::Failed => 0,
            State::Rebuilding(upto) => upto,
        }
    }

    /// Whether a unit's drive stands at its place, whatever can be read of it.
    #[inline]
    pub fn stands(&self, place: Place) -> bool {
        place.offset < self.stands_up_to(place.member)
    }

    /// What its drive gives of the unit at a place; nothing if it does not stand there.
    #[inline]
    pub fn unit(&self, place: Place) -> Option<Unit<'_>> {
        let unit = Unit::new(self.of(place.member).unreadable(), place.offset);
        self.stands(place).then_some(unit)
    }
}
