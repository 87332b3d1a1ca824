//! What each level wants and offers: drives, columns, parities, copies, commands.

use crate::ids::MemberId;
use crate::layout::array::Layout;
use crate::layout::copies::Copies;
use crate::layout::declustered::Declustered;
use crate::plan::Level;
use raidlab_io::{ByteRange, Op};
use std::sync::Arc;

/// What a stripe of a level consists of.
pub(crate) struct Shape {
    pub columns: u32,
    pub parities: u32,
    pub copies: u32,
    /// Where copies lie, of levels 10 and 1E.
    pub mirrored: Option<Copies>,
    /// Where units lie if stripes are narrower than the array.
    pub declustered: Option<Arc<Declustered>>,
}

impl Shape {
    /// The stripes of level 10 or 1E.
    pub(crate) fn mirrored(copies: Copies) -> Shape {
        Shape {
            columns: copies.columns(),
            parities: 0,
            copies: copies.copies(),
            mirrored: Some(copies),
            declustered: None,
        }
    }

    /// Stripes of level 5 or 6 that are narrower than the array.
    pub(crate) fn declustered(spread: Declustered, width: u32, parities: u32) -> Shape {
        Shape {
            columns: width - parities,
            parities,
            copies: 1,
            mirrored: None,
            declustered: Some(Arc::new(spread)),
        }
    }

    /// The stripes of another level over `members` drives.
    pub(crate) fn of(level: Level, members: u32, spans: u32) -> Shape {
        let parities = level.parities();
        let (columns, copies) = match level {
            Level::Jbod => (1, 1),
            Level::Raid0 => (members, 1),
            Level::Raid1 | Level::Raid10 | Level::Raid1e => (1, members),
            Level::Raid5 | Level::Raid6 | Level::Raid50 | Level::Raid60 => {
                (members / spans - parities, 1)
            }
        };
        Shape {
            columns,
            parities,
            copies,
            mirrored: None,
            declustered: None,
        }
    }
}

/// Drives that a level wants, in words, and whether `members` in `spans` are right.
fn wanted(level: Level, members: u32, spans: u32) -> (bool, &'static str) {
    let spanned = |least: u32| spans >= 2 && members % spans == 0 && members / spans >= least;
    match level {
        Level::Jbod | Level::Raid0 => (members >= 1, "1 drive or more"),
        Level::Raid1 => (members >= 2, "2 drives or more"),
        Level::Raid1e => (members >= 3, "3 drives or more"),
        Level::Raid10 => (
            members >= 4 && members % 2 == 0,
            "4 drives or more, an even number",
        ),
        Level::Raid5 => (members >= 3, "3 drives or more"),
        Level::Raid6 => (members >= 4, "4 drives or more"),
        Level::Raid50 => (spanned(3), "equal spans of 3 drives or more"),
        Level::Raid60 => (spanned(4), "equal spans of 4 drives or more"),
    }
}

/// Checks the number of drives and the stripe unit.
///
/// # Errors
/// Says which number of drives or stripe unit the level wants.
pub(crate) fn check(level: Level, unit: u64, members: u32, spans: u32) -> Result<(), String> {
    let (fits, wanted) = wanted(level, members, spans);
    if !fits {
        return Err(format!("{level:?} of {members} drives; allowed: {wanted}"));
    }
    check_unit(unit)
}

/// Checks the stripe unit.
///
/// # Errors
/// Says which stripe units there are.
pub(crate) fn check_unit(unit: u64) -> Result<(), String> {
    if unit == 0 || unit % 512 != 0 || unit > 1 << 30 {
        return Err(format!(
            "stripe unit of {unit} bytes; allowed: a multiple of 512, 512 to 1 GiB"
        ));
    }
    Ok(())
}

impl Layout {
    /// How many commands a request needs, for the firmware time that it costs.
    #[inline]
    pub fn commands(&self, op: Op, range: ByteRange) -> u64 {
        if op == Op::Flush {
            return u64::from(self.members);
        }
        let segments = match self.level {
            // A request that crosses from a drive to the next counts as one.
            Level::Jbod | Level::Raid1 => 1,
            Level::Raid0 => self.units(range).min(u64::from(self.columns())),
            Level::Raid10 if self.is_straight() => {
                let columns = u64::from(self.columns());
                self.units(range).min(columns)
            }
            Level::Raid10
            | Level::Raid1e
            | Level::Raid5
            | Level::Raid6
            | Level::Raid50
            | Level::Raid60 => self.units(range),
        };
        match op {
            Op::Read => segments,
            // The classical small write: read and write data and parities.
            _ if self.parities > 0 => 2 * (segments + u64::from(self.parities)),
            _ => segments * u64::from(self.copies),
        }
    }

    /// Stripe units that a range touches, at least one.
    #[inline]
    fn units(&self, range: ByteRange) -> u64 {
        let (_, start) = self.unit.split_long(range.offset);
        let end = u64::from(start) + range.bytes;
        if end <= self.unit() {
            return 1;
        }
        self.unit.split_long(end - 1).0 + 1
    }

    /// Bytes that the commands for a request of `bytes` move in all.
    #[inline]
    pub fn bytes_moved(&self, op: Op, bytes: u64) -> u64 {
        match op {
            Op::Read => bytes,
            Op::Write | Op::Trim => bytes * u64::from(self.copies),
            Op::Flush => 0,
        }
    }

    /// Whether the content of a drive is on another drive too, or follows from others.
    pub fn is_redundant(&self) -> bool {
        self.parities > 0 || self.copies > 1
    }

    /// Whether the array still serves requests without the members that are `lost`.
    ///
    /// A jbod of several drives does in any case: each drive stands for itself.
    pub fn survives(&self, lost: impl Fn(MemberId) -> bool) -> bool {
        let n = self.members;
        let all = || MemberId::first(n);
        match self.level {
            Level::Jbod if n > 1 => true,
            Level::Jbod | Level::Raid0 => !all().any(lost),
            Level::Raid1 => !all().all(lost),
            Level::Raid1e | Level::Raid10 => {
                let copies = self.mirrored.as_ref();
                copies.is_none_or(|copies| copies.survives(lost))
            }
            Level::Raid5 | Level::Raid6 | Level::Raid50 | Level::Raid60 => {
                let span = n / self.spans();
                all().step_by(span as usize).all(|first| {
                    let lost = first.row(span).filter(|&member| lost(member));
                    lost.count() <= self.parities as usize
                })
            }
        }
    }
}
