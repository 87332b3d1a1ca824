//! Where a byte of an array lies on the drives, and which byte lies there.
//!
//! All units of a stripe lie at the same offset of their drives, but those of level 1E. Where parity
//! rotates says `rotated`, where copies lie `copies`, where units of a declustered array
//! `declustered`.

use crate::ids::{ColumnId, CopyId, MemberId, ParityId, RowId, StripeId};
use crate::layout::array::Layout;
use crate::layout::extent::Extent;
use crate::layout::stripe::Role;
use crate::plan::Level;
use raidlab_io::ByteRange;

/// A contiguous piece of a request inside one unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// The stripe.
    pub stripe: StripeId,
    /// The data column.
    pub column: ColumnId,
    /// First byte within the unit.
    pub start: u32,
    /// Byte behind the last one within the unit.
    pub end: u32,
}

impl Piece {
    /// The bytes of its column.
    pub fn extent(&self) -> Extent {
        Extent {
            column: self.column,
            start: self.start,
            end: self.end,
        }
    }
}

/// A place on a drive: a unit's first byte, or a run's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The member that has it.
    pub member: MemberId,
    /// Offset on that drive, in bytes.
    pub offset: u64,
}

impl Layout {
    /// The first piece of a range.
    #[inline]
    pub fn piece(&self, range: ByteRange) -> Piece {
        let ByteRange { offset, bytes } = range;
        let (stripe, column, start, room) = if let Some(drives) = &self.concatenated {
            let (drive, first) = drives.drive_at(offset);
            let (row, start) = self.unit.split_long(offset - first.bytes);
            let room = drives.end_of(drive) - offset;
            let room = room.min(self.unit() - u64::from(start));
            (first.stripe.plus(row), ColumnId::new(0), start, room)
        } else {
            let (unit, start) = self.unit.split_long(offset);
            let (stripe, column) = self.columns.split_long(unit);
            (
                StripeId::new(stripe),
                ColumnId::new(column),
                start,
                self.unit() - u64::from(start),
            )
        };
        Piece {
            stripe,
            column,
            start,
            end: start + bytes.min(room) as u32,
        }
    }

    /// The array's offset of a unit's first byte.
    #[inline]
    pub fn offset(&self, stripe: StripeId, column: ColumnId) -> u64 {
        if let Some(drives) = &self.concatenated {
            let (_, first) = drives.drive_of(stripe);
            return first.bytes + stripe.since(first.stripe) * self.unit();
        }
        (stripe.number() * u64::from(self.columns()) + u64::from(column.number())) * self.unit()
    }

    /// Where a unit lies; of data without a copy's number the first copy.
    #[inline]
    pub fn place(&self, stripe: StripeId, role: Role) -> Place {
        match role {
            Role::Data(column) => self.data(stripe, column, CopyId::new(0)),
            Role::Parity(which) => self.parity(stripe, which),
            Role::Copy(column, copy) => self.data(stripe, column, copy),
        }
    }

    /// Where copy `copy` of a data unit lies.
    #[inline]
    pub fn data(&self, stripe: StripeId, column: ColumnId, copy: CopyId) -> Place {
        // Where nothing is said, each stripe has a row.
        let row = RowId::new(stripe.number());
        let (member, row) = match self.level {
            Level::Jbod => match &self.concatenated {
                Some(drives) => {
                    let (drive, first) = drives.drive_of(stripe);
                    (drive, RowId::new(stripe.since(first.stripe)))
                }
                None => (MemberId::new(0), row),
            },
            Level::Raid0 => (MemberId::new(column.number()), row),
            Level::Raid1 => (MemberId::new(copy.number()), row),
            Level::Raid10 | Level::Raid1e => match &self.mirrored {
                Some(copies) => copies.place(stripe, column, copy),
                None => (MemberId::new(copy.number()), row),
            },
            Level::Raid5 | Level::Raid6 | Level::Raid50 | Level::Raid60 => {
                self.row_of(stripe, Role::Data(column))
            }
        };
        Place {
            member,
            offset: row.number() * self.unit(),
        }
    }

    /// Where parity `which` of a stripe lies: 0 is the exclusive or, 1 the second one.
    #[inline]
    pub fn parity(&self, stripe: StripeId, which: ParityId) -> Place {
        let (member, row) = self.row_of(stripe, Role::Parity(which));
        Place {
            member,
            offset: row.number() * self.unit(),
        }
    }

    /// On a level with parity: the member that has a unit, and the row there.
    #[inline]
    fn row_of(&self, stripe: StripeId, role: Role) -> (MemberId, RowId) {
        match &self.declustered {
            Some(spread) => spread.place(stripe, role),
            None => self.rotated.place(stripe, role),
        }
    }

    /// The unit at a row of a member: its stripe and its role there.
    pub fn unit_at(&self, member: MemberId, row: RowId) -> Option<(StripeId, Role)> {
        if let Some(spread) = &self.declustered {
            return spread.unit_at(member, row);
        }
        let (stripe, column) = match self.level {
            Level::Jbod => {
                let start = self.concatenated.as_ref()?.start(member)?;
                (start.stripe.plus(row.number()), ColumnId::new(0))
            }
            Level::Raid0 => (StripeId::new(row.number()), ColumnId::new(member.number())),
            Level::Raid1 => (StripeId::new(row.number()), ColumnId::new(0)),
            Level::Raid10 | Level::Raid1e => self.mirrored.as_ref()?.unit_at(member, row)?,
            Level::Raid5 | Level::Raid6 | Level::Raid50 | Level::Raid60 => {
                let stripe = self.rotated.stripe_at(member, row);
                let data = ColumnId::first(self.columns()).map(Role::Data);
                let mut roles = data.chain(ParityId::first(self.parities).map(Role::Parity));
                return roles
                    .find(|&role| self.place(stripe, role).member == member)
                    .map(|role| (stripe, role));
            }
        };
        Some((stripe, Role::Data(column)))
    }
}
