//! Where a byte of an array lies on the drives, and which byte lies there.
//!
//! All units of a stripe lie at the same offset of their drives, but those of level 1E. On nested
//! levels (50, 60) stripes alternate between the spans. Stripe `s` of a span of `n` drives has its
//! first parity on drive `n - 1 - s mod n` (left) or `s mod n` (right). Symmetric layouts begin the
//! data behind the parity and wrap around; asymmetric ones begin at the first drive and step over
//! the parity. Where copies lie says `copies`, where units of a declustered array `declustered`.

use crate::layout::array::{Layout, Start};
use crate::layout::extent::Extent;
use crate::layout::stripe::Role;
use crate::plan::{Level, Rotation};

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
    /// The first piece of the range from `offset` on, at most `bytes` long.
    #[inline]
    pub fn piece(&self, offset: u64, bytes: u64) -> Piece {
        let (stripe, column, start, room) = if self.level == Level::Jbod {
            let (drive, first) = self.drive_at(offset);
            let (row, start) = self.unit.split_long(offset - first.bytes);
            let room = self.end_of(drive) - offset;
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
        if self.level == Level::Jbod {
            let (_, first) = self.drive_of(stripe);
            return first.bytes + (stripe - first.stripes) * self.unit();
        }
        (stripe * u64::from(self.columns()) + u64::from(column)) * self.unit()
    }

    /// Of jbod: the drive of a byte of the array, and where that drive begins.
    pub(crate) fn drive_at(&self, offset: u64) -> (usize, Start) {
        let drive = self.starts.partition_point(|start| start.bytes <= offset) - 1;
        (drive, self.starts[drive])
    }

    /// Of jbod: the drive of a stripe, and where that drive begins.
    fn drive_of(&self, stripe: u64) -> (usize, Start) {
        let drive = self.starts.partition_point(|start| start.stripes <= stripe) - 1;
        (drive, self.starts[drive])
    }

    /// Of jbod: the array's offset behind a drive's last byte.
    pub(crate) fn end_of(&self, drive: usize) -> u64 {
        let next = self.starts.get(drive + 1);
        next.map_or(self.capacity, |start| start.bytes)
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
            Level::Jbod => {
                let (drive, first) = self.drive_of(stripe);
                (drive as u32, stripe - first.stripes)
            }
            Level::Raid0 => (column, stripe),
            Level::Raid1 => (copy, stripe),
            Level::Raid10 | Level::Raid1e => match &self.mirrored {
                Some(copies) => copies.place(stripe, column, copy),
                None => (copy, stripe),
            },
            Level::Raid5 | Level::Raid6 | Level::Raid50 | Level::Raid60 => {
                return self.rotated(stripe, column);
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
        if let Some(spread) = &self.declustered {
            let (member, row) = spread.place(stripe, Role::Parity(which));
            let offset = row * self.unit();
            return Place { member, offset };
        }
        let (row, span) = self.span_of(stripe);
        let member = self.around(self.first_parity(row) + which);
        Place {
            member: span * self.span.get() + member,
            offset: row * self.unit(),
        }
    }

    /// The row of a stripe in its span, and the span.
    #[inline]
    fn span_of(&self, stripe: u64) -> (u64, u32) {
        match self.spans() {
            1 => (stripe, 0),
            _ => self.spans.split_long(stripe),
        }
    }

    /// The drive of a span that lies `steps` from its first, at most once around.
    #[inline]
    fn around(&self, steps: u32) -> u32 {
        let span = self.span.get();
        if steps < span { steps } else { steps - span }
    }

    /// The drive of the span that holds a row's first parity.
    #[inline]
    fn first_parity(&self, row: u64) -> u32 {
        let (_, behind) = self.span.split_long(row);
        match self.rotation {
            Rotation::LeftSymmetric | Rotation::LeftAsymmetric => self.span.get() - 1 - behind,
            Rotation::RightSymmetric | Rotation::RightAsymmetric => behind,
        }
    }

    /// Where a data unit of a level with parity lies.
    fn rotated(&self, stripe: u64, column: u32) -> Place {
        if let Some(spread) = &self.declustered {
            let (member, row) = spread.place(stripe, Role::Data(column));
            let offset = row * self.unit();
            return Place { member, offset };
        }
        let (row, span) = self.span_of(stripe);
        let first = self.first_parity(row);
        let member = match self.rotation {
            Rotation::LeftSymmetric | Rotation::RightSymmetric => {
                self.around(first + self.parities + column)
            }
            Rotation::LeftAsymmetric | Rotation::RightAsymmetric => {
                // Parity units that have wrapped around to the front come before all data.
                let wrapped = (first + self.parities).saturating_sub(self.span.get());
                let steps_over = if wrapped > 0 {
                    wrapped
                } else if column >= first {
                    self.parities
                } else {
                    0
                };
                column + steps_over
            }
        };
        Place {
            member: span * self.span.get() + member,
            offset: row * self.unit(),
        }
    }

    /// The unit at a row of a member: its stripe and its role there.
    pub fn unit_at(&self, member: u32, row: u64) -> Option<(u64, Role)> {
        if let Some(spread) = &self.declustered {
            return spread.unit_at(member, row);
        }
        let column = match self.level {
            Level::Jbod => {
                let start = self.starts.get(member as usize)?;
                return Some((start.stripes + row, Role::Data(0)));
            }
            Level::Raid0 => member,
            Level::Raid1 => 0,
            Level::Raid10 | Level::Raid1e => {
                let (stripe, column) = self.mirrored.as_ref()?.unit_at(member, row)?;
                return Some((stripe, Role::Data(column)));
            }
            Level::Raid5 | Level::Raid6 | Level::Raid50 | Level::Raid60 => {
                let stripe = self.stripe_at(member, row);
                let data = (0..self.columns()).map(Role::Data);
                let mut roles = data.chain((0..self.parities).map(Role::Parity));
                return roles
                    .find(|&role| self.place(stripe, role).member == member)
                    .map(|role| (stripe, role));
            }
        };
        Some((row, Role::Data(column)))
    }

    /// On a level with parity: the stripe whose units lie at `row` of the drives of a member's span.
    pub fn stripe_at(&self, member: u32, row: u64) -> u64 {
        let span = self.span.quotient(member);
        row * u64::from(self.spans()) + u64::from(span)
    }
}
