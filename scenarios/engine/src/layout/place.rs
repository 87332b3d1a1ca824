//! Where a byte of an array lies on the drives, and which byte lies there.
//!
//! All units of a stripe lie at the same offset of their drives, but those of level 1E. Where parity
//! rotates says `rotated`, where copies lie `copies`, where units of a declustered array
//! `declustered`.

use crate::layout::array::Layout;
use crate::layout::extent::Extent;
use crate::layout::stripe::Role;
use crate::plan::Level;
use raidlab_io::ByteRange;

/// A contiguous piece of a request inside one unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// The stripe.
    pub stripe: u64,
    /// The data column.
    pub column: u32,
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
    /// Index into the array's drives.
    pub member: u32,
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
            (first.stripes + row, 0, start, room)
        } else {
            let (unit, start) = self.unit.split_long(offset);
            let (stripe, column) = self.columns.split_long(unit);
            (stripe, column, start, self.unit() - u64::from(start))
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
    pub fn offset(&self, stripe: u64, column: u32) -> u64 {
        if let Some(drives) = &self.concatenated {
            let (_, first) = drives.drive_of(stripe);
            return first.bytes + (stripe - first.stripes) * self.unit();
        }
        (stripe * u64::from(self.columns()) + u64::from(column)) * self.unit()
    }

    /// Where a unit lies; of data without a copy's number the first copy.
    #[inline]
    pub fn place(&self, stripe: u64, role: Role) -> Place {
        match role {
            Role::Data(column) => self.data(stripe, column, 0),
            Role::Parity(which) => self.parity(stripe, which),
            Role::Copy(column, copy) => self.data(stripe, column, copy),
        }
    }

    /// Where copy `copy` of a data unit lies.
    #[inline]
    pub fn data(&self, stripe: u64, column: u32, copy: u32) -> Place {
        let (member, row) = match self.level {
            Level::Jbod => match &self.concatenated {
                Some(drives) => {
                    let (drive, first) = drives.drive_of(stripe);
                    (drive as u32, stripe - first.stripes)
                }
                None => (0, stripe),
            },
            Level::Raid0 => (column, stripe),
            Level::Raid1 => (copy, stripe),
            Level::Raid10 | Level::Raid1e => match &self.mirrored {
                Some(copies) => copies.place(stripe, column, copy),
                None => (copy, stripe),
            },
            Level::Raid5 | Level::Raid6 | Level::Raid50 | Level::Raid60 => {
                self.row_of(stripe, Role::Data(column))
            }
        };
        Place {
            member,
            offset: row * self.unit(),
        }
    }

    /// Where parity `which` of a stripe lies: 0 is the exclusive or, 1 the second one.
    #[inline]
    pub fn parity(&self, stripe: u64, which: u32) -> Place {
        let (member, row) = self.row_of(stripe, Role::Parity(which));
        Place {
            member,
            offset: row * self.unit(),
        }
    }

    /// On a level with parity: the member that has a unit, and the row there.
    #[inline]
    fn row_of(&self, stripe: u64, role: Role) -> (u32, u64) {
        match &self.declustered {
            Some(spread) => spread.place(stripe, role),
            None => self.rotated.place(stripe, role),
        }
    }

    /// The unit at a row of a member: its stripe and its role there.
    pub fn unit_at(&self, member: u32, row: u64) -> Option<(u64, Role)> {
        if let Some(spread) = &self.declustered {
            return spread.unit_at(member, row);
        }
        let column = match self.level {
            Level::Jbod => {
                let start = self.concatenated.as_ref()?.start(member as usize)?;
                return Some((start.stripes + row, Role::Data(0)));
            }
            Level::Raid0 => member,
            Level::Raid1 => 0,
            Level::Raid10 | Level::Raid1e => {
                let (stripe, column) = self.mirrored.as_ref()?.unit_at(member, row)?;
                return Some((stripe, Role::Data(column)));
            }
            Level::Raid5 | Level::Raid6 | Level::Raid50 | Level::Raid60 => {
                let stripe = self.rotated.stripe_at(member, row);
                let data = (0..self.columns()).map(Role::Data);
                let mut roles = data.chain((0..self.parities).map(Role::Parity));
                return roles
                    .find(|&role| self.place(stripe, role).member == member)
                    .map(|role| (stripe, role));
            }
        };
        Some((row, Role::Data(column)))
    }
}
