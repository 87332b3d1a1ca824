//! An array as the controller sees it: its places, and which of its drives can be used.

use crate::layout::{Extent, Layout, Place, Ranges, Role, Run, Unit};
use crate::raid::cache::memory::Caching;
use raidlab_models::{SECTOR, Throughput};

/// A drive's place in an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Holds its data.
    Good,
    /// Holds nothing that can be used.
    Failed,
    /// Holds its data up to this offset; the rest is being rebuilt.
    Rebuilding(u64),
}

/// A member of an array.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// Index of the drive that stands there now.
    pub drive: u32,
    pub state: State,
    /// Sectors of its drive that are known to be unreadable.
    pub unreadable: Ranges,
    /// The drive to which it is being copied, and up to where.
    pub copy: Option<(u32, u64)>,
}

/// An array whose data pass through memory.
#[derive(Debug)]
pub(crate) struct Volume {
    pub geometry: Layout,
    pub members: Vec<Member>,
    /// The controller's link to the host, if the requests' data cross it by themselves.
    pub host_link: Option<u32>,
    /// The thread of the host that makes the parity of an array in the host.
    pub parity: Throughput,
    /// How the controller's cache serves it.
    pub caching: Option<Caching>,
    /// The number of the task in the background whose jobs count, if there is one.
    pub task: Option<u32>,
    /// True if more is lost than the level can bear.
    pub offline: bool,
    /// Counts what makes a plan for a stripe out of date: sectors that can no longer be read,
    /// drives that change places.
    pub changes: u32,
}

impl Volume {
    pub fn new(geometry: Layout, drives: &[u32], host_link: Option<u32>) -> Volume {
        let state = State::Good;
        Volume {
            geometry,
            members: drives
                .iter()
                .map(|&drive| Member {
                    drive,
                    state,
                    unreadable: Ranges::default(),
                    copy: None,
                })
                .collect(),
            host_link,
            parity: Throughput::new(0),
            caching: None,
            task: None,
            offline: false,
            changes: 0,
        }
    }

    /// Up to where a member's drive stands in its place: as far as it can be written.
    pub fn stands_up_to(&self, member: u32) -> u64 {
        match self.members[member as usize].state {
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

    /// The drives that take what is written from a place on, each with how much of it: a member as far
    /// as it can be written, and the drive to which it is being copied as far as it has come.
    #[inline]
    pub fn takers(&self, unit: Place, start: u32, bytes: u64) -> [Option<(u32, u64)>; 2] {
        let member = &self.members[unit.member as usize];
        let end = self.stands_up_to(unit.member);
        let offset = unit.offset + u64::from(start);
        let part = |(drive, upto): (u32, u64)| {
            let bytes = bytes.min(upto.saturating_sub(offset));
            (bytes > 0).then_some((drive, bytes))
        };
        let copied = member.copy.map(|(drive, upto)| (drive, upto.min(end)));
        [part((member.drive, end)), copied.and_then(part)]
    }

    /// How many bytes of a run can be read from a copy, of which the first unit can be.
    #[inline]
    pub fn readable(&self, run: &Run, copy: u32) -> u64 {
        if self.changes == 0 {
            return run.bytes;
        }
        let gives = |stripe, extent: Extent| {
            self.stands(self.geometry.data(stripe, run.column, copy))
                && self.is_sound(stripe, extent)
        };
        let extents = run.extents(self.geometry.unit());
        let readable = extents.take_while(|&(stripe, e)| stripe == run.stripe || gives(stripe, e));
        readable.map(|(_, e)| u64::from(e.end - e.start)).sum()
    }

    /// Whether no drive has sectors in a part of a unit that are known to be unreadable.
    pub fn is_sound(&self, stripe: u64, Extent { column, start, end }: Extent) -> bool {
        let whole = |copy| {
            let unit = self.unit(self.geometry.data(stripe, column, copy));
            unit.is_none_or(|unit| unit.is_readable(start, end))
        };
        (0..self.geometry.copies()).all(whole)
    }

    /// Whether any drive has sectors in a stripe or, without parity, in the units of extents that are known
    /// to be unreadable.
    pub fn is_unsound(&self, stripe: u64, extents: &[Extent]) -> bool {
        let end = self.geometry.unit() as u32;
        let whole = |column| Extent {
            column,
            start: 0,
            end,
        };
        let whole_parity = |which| {
            let unit = self.unit_of(stripe, Role::Parity(which));
            unit.is_none_or(|unit| unit.is_readable(0, end))
        };
        if self.changes == 0 {
            return false;
        }
        let parities = self.geometry.parities();
        let sound = if parities == 0 {
            extents
                .iter()
                .all(|e| self.is_sound(stripe, whole(e.column)))
        } else {
            (0..self.geometry.columns()).all(|column| self.is_sound(stripe, whole(column)))
                && (0..parities).all(whole_parity)
        };
        !sound
    }

    /// Whether each sector of a part of a unit can be read from one copy or another.
    pub fn is_given(&self, stripe: u64, Extent { column, start, end }: Extent) -> bool {
        let mut at = start;
        while at < end {
            let copies = (0..self.geometry.copies())
                .filter_map(|copy| self.unit(self.geometry.data(stripe, column, copy)))
                .map(|unit| unit.stretch(at));
            let Some((_, upto)) = copies.filter(|(given, _)| *given).max_by_key(|s| s.1) else {
                return false;
            };
            at = upto;
        }
        true
    }

    /// Whether new data of a part of a unit can be read back: from a copy, or through parity, which
    /// was not made in the `lost` ranges.
    pub fn keeps(&self, stripe: u64, extent: Extent, lost: &[(u32, u32)]) -> bool {
        let geometry = &self.geometry;
        let copies = (0..geometry.copies()).map(|copy| geometry.data(stripe, extent.column, copy));
        if copies.into_iter().any(|place| self.stands(place)) {
            return true;
        }
        let stands = |role: &Role| self.stands(self.place(stripe, *role));
        let data = (0..geometry.columns()).map(Role::Data);
        let parity = (0..geometry.parities()).map(Role::Parity);
        geometry.parities() > 0
            && data.filter(|role| !stands(role)).count() <= parity.filter(stands).count()
            && lost
                .iter()
                .all(|&(from, to)| to <= extent.start || extent.end <= from)
    }

    /// What the drive of a unit's first copy gives of it; nothing if it does not stand there.
    #[inline]
    pub fn unit_of(&self, stripe: u64, role: Role) -> Option<Unit<'_>> {
        if self.changes == 0 {
            return Some(Unit::WHOLE);
        }
        self.unit(self.place(stripe, role))
    }

    /// What its drive gives of the unit at a place; nothing if it does not stand there.
    pub fn unit(&self, place: Place) -> Option<Unit<'_>> {
        let member = &self.members[place.member as usize];
        let unit = Unit::new(&member.unreadable, place.offset);
        self.stands(place).then_some(unit)
    }

    /// True if more drives are lost than the level can bear: nothing is served any more, so that
    /// nothing wrong is.
    pub fn is_offline(&self) -> bool {
        let lost = |member: u32| self.members[member as usize].state != State::Good;
        !self.geometry.survives(lost)
    }

    /// The place of a unit's first copy.
    #[inline]
    pub fn place(&self, stripe: u64, role: Role) -> Place {
        self.geometry.place(stripe, role)
    }

    /// The number of what goes to the drives together: the stripe where parity ties its units
    /// together, else the unit.
    #[inline]
    pub fn group(&self, stripe: u64, column: u32) -> u64 {
        if self.geometry.parities() > 0 {
            stripe
        } else {
            stripe * u64::from(self.geometry.columns()) + u64::from(column)
        }
    }

    /// The group of a byte.
    pub fn group_at(&self, offset: u64) -> u64 {
        let piece = self.geometry.piece(offset, 1);
        self.group(piece.stripe, piece.column)
    }

    /// Number of groups, and sectors of one.
    pub fn groups(&self) -> (u64, u32) {
        let unit = (self.geometry.unit() / SECTOR) as u32;
        let (stripes, columns) = (self.geometry.stripes(), self.geometry.columns());
        if self.geometry.parities() > 0 {
            (stripes, unit * columns)
        } else {
            (stripes * u64::from(columns), unit)
        }
    }

    /// What a lock covers: the whole stripe where parity ties its units together, else a unit.
    #[inline]
    pub fn lock_key(&self, array: u32, stripe: u64, column: u32) -> u64 {
        u64::from(array) << 48 | self.group(stripe, column)
    }
}
