//! Where data and parity of an array lie: stripes of units, columns of data, rotating parity.
//!
//! A stripe holds one unit of each data column and, on levels with parity, one unit of each
//! parity; all its units lie at the same offset of their drives. On nested levels (50, 60)
//! stripes alternate between the spans. Stripe `s` of a span of `n` drives has its first parity
//! on drive `n - 1 - s mod n` (left) or `s mod n` (right); symmetric layouts begin the data
//! behind the parity and wrap around, asymmetric ones begin at the first drive and step over it.
//! Levels without parity are the same with no parity and several copies of a column.

use super::stripe::{Extent, Role};
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

/// A unit on a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Index into the array's drives.
    pub member: u32,
    /// First byte of the unit on that drive.
    pub offset: u64,
}

/// An array's places.
#[derive(Clone, Debug)]
pub struct Geometry {
    level: Level,
    rotation: Rotation,
    unit: u64,
    members: u64,
    spans: u64,
    /// Drives of a span.
    span: u64,
    columns: u64,
    parities: u64,
    copies: u64,
    capacity: u64,
    /// Of jbod: the bytes before each drive, and the stripes before it.
    before: Vec<(u64, u64)>,
}

/// Drives that a level wants, in words, and whether `members` in `spans` are right.
fn wanted(level: Level, members: u64, spans: u64) -> (bool, &'static str) {
    let spanned = |least: u64| spans >= 2 && members % spans == 0 && members / spans >= least;
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

/// The same check for every layout: how many drives, which stripe unit.
///
/// # Errors
/// Says which number of drives or stripe unit the level wants.
pub fn check(level: Level, unit: u64, members: u64, spans: u64) -> Result<(), String> {
    let (fits, wanted) = wanted(level, members, spans);
    if !fits {
        return Err(format!("{level:?} of {members} drives; allowed: {wanted}"));
    }
    if unit == 0 || unit % 512 != 0 || unit > 1 << 30 {
        return Err(format!(
            "stripe unit of {unit} bytes; allowed: a multiple of 512, 512 to 1 GiB"
        ));
    }
    Ok(())
}

impl Geometry {
    /// The places of an array over drives of these capacities.
    ///
    /// `spans` matters on levels 50 and 60 only.
    ///
    /// # Errors
    /// Says which number of drives or stripe unit the level wants.
    pub fn new(
        level: Level,
        rotation: Rotation,
        unit: u64,
        spans: u32,
        capacities: &[u64],
    ) -> Result<Geometry, String> {
        let members = capacities.len() as u64;
        let spans = match level {
            Level::Raid50 | Level::Raid60 => u64::from(spans),
            _ => 1,
        };
        check(level, unit, members, spans)?;
        let parities = match level {
            Level::Raid5 | Level::Raid50 => 1,
            Level::Raid6 | Level::Raid60 => 2,
            _ => 0,
        };
        let (columns, copies) = match level {
            Level::Jbod => (1, 1),
            Level::Raid1 => (1, members),
            Level::Raid10 => (members / 2, 2),
            Level::Raid1e => (members, 2),
            _ => (members / spans - parities, 1),
        };
        let mut geometry = Geometry {
            level,
            rotation,
            unit,
            members,
            spans,
            span: members / spans,
            columns,
            parities,
            copies,
            capacity: 0,
            before: Vec::new(),
        };
        geometry.measure(capacities);
        Ok(geometry)
    }

    fn measure(&mut self, capacities: &[u64]) {
        if self.level == Level::Jbod {
            let mut before = (0, 0);
            for &capacity in capacities {
                self.before.push(before);
                before.0 += capacity;
                before.1 += capacity.div_ceil(self.unit);
            }
            self.capacity = before.0;
            return;
        }
        let least = capacities.iter().copied().min().unwrap_or(0);
        let rows = least / self.unit;
        let stripes = match self.level {
            Level::Raid1e => rows / 2,
            _ => rows * self.spans,
        };
        self.capacity = stripes * self.columns * self.unit;
    }

    /// Bytes that the array offers.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Bytes of a unit.
    pub fn unit(&self) -> u64 {
        self.unit
    }

    /// Data columns of a stripe.
    pub fn columns(&self) -> u32 {
        self.columns as u32
    }

    /// Parity units of a stripe.
    pub fn parities(&self) -> u32 {
        self.parities as u32
    }

    /// How many drives hold each data unit.
    pub fn copies(&self) -> u32 {
        self.copies as u32
    }

    /// Number of stripes.
    pub fn stripes(&self) -> u64 {
        match self.before.last() {
            Some(&(bytes, stripes)) => stripes + (self.capacity - bytes).div_ceil(self.unit),
            None => self.capacity / (self.columns * self.unit),
        }
    }

    /// Whether another drive knows what one held.
    pub fn is_redundant(&self) -> bool {
        self.parities > 0 || self.copies > 1
    }

    /// Number of spans.
    pub fn spans(&self) -> u64 {
        self.spans
    }

    /// Drives in all.
    pub fn members(&self) -> u32 {
        self.members as u32
    }

    /// The first piece of the range from `offset` on, at most `bytes` long.
    #[inline]
    pub fn piece(&self, offset: u64, bytes: u64) -> Piece {
        let (stripe, column, start, room) = if self.level == Level::Jbod {
            let drive = self.before.partition_point(|before| before.0 <= offset) - 1;
            let (bytes_before, stripes_before) = self.before[drive];
            let on_drive = offset - bytes_before;
            let next = self.before.get(drive + 1).map_or(self.capacity, |b| b.0);
            let start = on_drive % self.unit;
            let room = (self.unit - start).min(next - offset);
            (stripes_before + on_drive / self.unit, 0, start, room)
        } else {
            let (unit, start) = (offset / self.unit, offset % self.unit);
            let (stripe, column) = (unit / self.columns, unit % self.columns);
            (stripe, column as u32, start, self.unit - start)
        };
        Piece {
            stripe,
            column,
            start: start as u32,
            end: (start + bytes.min(room)) as u32,
        }
    }

    /// The array's offset of a unit's first byte.
    pub fn offset(&self, stripe: u64, column: u32) -> u64 {
        if self.level == Level::Jbod {
            let drive = self.before.partition_point(|before| before.1 <= stripe) - 1;
            let (bytes, stripes) = self.before[drive];
            return bytes + (stripe - stripes) * self.unit;
        }
        (stripe * self.columns + u64::from(column)) * self.unit
    }

    /// Where copy `copy` of a data unit lies.
    #[inline]
    pub fn data(&self, stripe: u64, column: u32, copy: u32) -> Place {
        let column = u64::from(column);
        let copy = u64::from(copy);
        let (member, row) = match self.level {
            Level::Jbod => {
                let drive = self.before.partition_point(|before| before.1 <= stripe) - 1;
                (drive as u64, stripe - self.before[drive].1)
            }
            Level::Raid0 => (column, stripe),
            Level::Raid1 => (copy, stripe),
            Level::Raid10 => (2 * column + copy, stripe),
            Level::Raid1e => ((column + copy) % self.members, 2 * stripe + copy),
            _ => return self.rotated(stripe, column),
        };
        Place {
            member: member as u32,
            offset: row * self.unit,
        }
    }

    /// Whether a data unit lies right behind the one of the stripe before, copy by copy. On levels
    /// with parity each stripe counts for itself, since the parity moves from drive to drive.
    pub fn goes_on(&self, stripe: u64) -> bool {
        match self.level {
            Level::Jbod => self.before.binary_search_by_key(&stripe, |b| b.1).is_err(),
            Level::Raid0 | Level::Raid1 | Level::Raid10 => stripe > 0,
            _ => false,
        }
    }

    /// Where parity `which` of a stripe lies: 0 is the exclusive or, 1 the second one.
    #[inline]
    pub fn parity(&self, stripe: u64, which: u32) -> Place {
        let (span, row) = self.span_of(stripe);
        let member = self.around(self.first_parity(row) + u64::from(which));
        Place {
            member: (span * self.span + member) as u32,
            offset: row * self.unit,
        }
    }

    /// The span of a stripe and its row there.
    #[inline]
    fn span_of(&self, stripe: u64) -> (u64, u64) {
        match self.spans {
            1 => (0, stripe),
            spans => (stripe % spans, stripe / spans),
        }
    }

    /// The drive of a span that lies `steps` from its first, at most once around.
    #[inline]
    fn around(&self, steps: u64) -> u64 {
        if steps < self.span {
            steps
        } else {
            steps - self.span
        }
    }

    #[inline]
    fn first_parity(&self, row: u64) -> u64 {
        match self.rotation {
            Rotation::LeftSymmetric | Rotation::LeftAsymmetric => self.span - 1 - row % self.span,
            Rotation::RightSymmetric | Rotation::RightAsymmetric => row % self.span,
        }
    }

    fn rotated(&self, stripe: u64, column: u64) -> Place {
        let (span, row) = self.span_of(stripe);
        let first = self.first_parity(row);
        let member = match self.rotation {
            Rotation::LeftSymmetric | Rotation::RightSymmetric => {
                self.around(first + self.parities + column)
            }
            Rotation::LeftAsymmetric | Rotation::RightAsymmetric => {
                // Parity units that have wrapped around to the front come before all data.
                let wrapped = (first + self.parities).saturating_sub(self.span);
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
            member: (span * self.span + member) as u32,
            offset: row * self.unit,
        }
    }

    /// Rows of units on each drive.
    pub fn rows(&self) -> u64 {
        match self.level {
            Level::Jbod => 0,
            Level::Raid1e => 2 * self.stripes(),
            _ => self.stripes() / self.spans,
        }
    }

    /// The unit at a row of a member: its stripe and its part there.
    pub fn unit_at(&self, member: u32, row: u64) -> Option<(u64, Role)> {
        let column = match self.level {
            Level::Jbod => {
                let before = self.before.get(member as usize)?;
                return Some((before.1 + row, Role::Data(0)));
            }
            Level::Raid0 => member,
            Level::Raid1 => 0,
            Level::Raid10 => member / 2,
            Level::Raid1e => {
                let n = self.members as u32;
                let column = (member + n - (row % 2) as u32) % n;
                return Some((row / 2, Role::Data(column)));
            }
            _ => {
                let stripe = self.stripe_at(member, row);
                let data = (0..self.columns as u32).map(Role::Data);
                let roles = data.chain((0..self.parities as u32).map(Role::Parity));
                let mut here = roles.filter(|&role| {
                    let place = match role {
                        Role::Data(column) => self.data(stripe, column, 0),
                        Role::Parity(which) => self.parity(stripe, which),
                        Role::Copy(column, copy) => self.data(stripe, column, copy),
                    };
                    place.member == member
                });
                return here.next().map(|role| (stripe, role));
            }
        };
        Some((row, Role::Data(column)))
    }

    /// The stripe whose units lie at `row` of the drives of member `member`'s span.
    pub fn stripe_at(&self, member: u32, row: u64) -> u64 {
        let span = u64::from(member) / self.span;
        row * self.spans + span
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    const UNIT: u64 = 4096;

    /// Drive numbers of four stripes: data columns, then parities.
    fn rows(level: Level, rotation: Rotation, drives: usize) -> Vec<Vec<u32>> {
        let geometry = Geometry::new(level, rotation, UNIT, 2, &vec![64 * UNIT; drives]).unwrap();
        (0..4)
            .map(|stripe| {
                let data = (0..geometry.columns()).map(|c| geometry.data(stripe, c, 0).member);
                let parity = (0..geometry.parities()).map(|p| geometry.parity(stripe, p).member);
                data.chain(parity).collect()
            })
            .collect()
    }

    /// Four drives, RAID 5, as every textbook draws them:
    ///
    ///     left-symmetric     left-asymmetric    right-symmetric    right-asymmetric
    ///     0 1 2 P            0 1 2 P            P 0 1 2            P 0 1 2
    ///     4 5 P 3            3 4 P 5            5 P 3 4            3 P 4 5
    ///     8 P 6 7            6 P 7 8            7 8 P 6            6 7 P 8
    ///     P 9 a b            P 9 a b            9 a b P            9 a b P
    #[test]
    fn raid_5_rotates_as_in_the_textbook() {
        let raid5 = |rotation| rows(Level::Raid5, rotation, 4);
        assert_eq!(
            raid5(Rotation::LeftSymmetric),
            [[0, 1, 2, 3], [3, 0, 1, 2], [2, 3, 0, 1], [1, 2, 3, 0]]
        );
        assert_eq!(
            raid5(Rotation::LeftAsymmetric),
            [[0, 1, 2, 3], [0, 1, 3, 2], [0, 2, 3, 1], [1, 2, 3, 0]]
        );
        assert_eq!(
            raid5(Rotation::RightSymmetric),
            [[1, 2, 3, 0], [2, 3, 0, 1], [3, 0, 1, 2], [0, 1, 2, 3]]
        );
        assert_eq!(
            raid5(Rotation::RightAsymmetric),
            [[1, 2, 3, 0], [0, 2, 3, 1], [0, 1, 3, 2], [0, 1, 2, 3]]
        );
    }

    /// Four drives, RAID 6: both parities side by side, wrapping around.
    #[test]
    fn raid_6_rotates_both_parities() {
        assert_eq!(
            rows(Level::Raid6, Rotation::LeftSymmetric, 4),
            [[1, 2, 3, 0], [0, 1, 2, 3], [3, 0, 1, 2], [2, 3, 0, 1]]
        );
        assert_eq!(
            rows(Level::Raid6, Rotation::LeftAsymmetric, 4),
            [[1, 2, 3, 0], [0, 1, 2, 3], [0, 3, 1, 2], [2, 3, 0, 1]]
        );
    }

    /// Two spans of three drives: stripes alternate, rows advance every second stripe.
    #[test]
    fn raid_50_alternates_its_spans() {
        let geometry = Geometry::new(
            Level::Raid50,
            Rotation::LeftSymmetric,
            UNIT,
            2,
            &[8 * UNIT; 6],
        )
        .unwrap();
        assert_eq!(geometry.capacity(), 4 * 8 * UNIT);
        let place = |stripe, column| geometry.data(stripe, column, 0);
        assert_eq!(
            place(0, 0),
            Place {
                member: 0,
                offset: 0
            }
        );
        assert_eq!(
            place(1, 0),
            Place {
                member: 3,
                offset: 0
            }
        );
        assert_eq!(
            place(2, 0),
            Place {
                member: 2,
                offset: UNIT
            }
        );
        assert_eq!(
            geometry.parity(3, 0),
            Place {
                member: 4,
                offset: UNIT
            }
        );
        assert_eq!(geometry.stripe_at(4, 1), 3);
    }

    fn levels() -> impl Strategy<Value = (Level, usize, u32)> {
        prop_oneof![
            (1usize..5).prop_map(|n| (Level::Jbod, n, 1)),
            (1usize..9).prop_map(|n| (Level::Raid0, n, 1)),
            (2usize..5).prop_map(|n| (Level::Raid1, n, 1)),
            (3usize..8).prop_map(|n| (Level::Raid1e, n, 1)),
            (2usize..5).prop_map(|n| (Level::Raid10, 2 * n, 1)),
            (3usize..10).prop_map(|n| (Level::Raid5, n, 1)),
            (4usize..10).prop_map(|n| (Level::Raid6, n, 1)),
            (3usize..6, 2u32..4).prop_map(|(n, s)| (Level::Raid50, n * s as usize, s)),
            (4usize..6, 2u32..4).prop_map(|(n, s)| (Level::Raid60, n * s as usize, s)),
        ]
    }

    fn rotations() -> impl Strategy<Value = Rotation> {
        prop_oneof![
            Just(Rotation::LeftSymmetric),
            Just(Rotation::LeftAsymmetric),
            Just(Rotation::RightSymmetric),
            Just(Rotation::RightAsymmetric),
        ]
    }

    proptest! {
        /// Every unit of data or parity has its own place inside the drives, and the units of a
        /// stripe lie on different drives.
        #[test]
        fn every_unit_has_a_place_of_its_own(
            (level, drives, spans) in levels(),
            rotation in rotations(),
            rows in 2u64..14,
        ) {
            let geometry =
                Geometry::new(level, rotation, 512, spans, &vec![rows * 512; drives]).unwrap();
            let mut owner = HashMap::new();
            for stripe in 0..geometry.stripes() {
                let mut places = Vec::new();
                for column in 0..geometry.columns() {
                    for copy in 0..geometry.copies() {
                        places.push(geometry.data(stripe, column, copy));
                    }
                }
                for which in 0..geometry.parities() {
                    places.push(geometry.parity(stripe, which));
                }
                if geometry.parities() > 0 {
                    let mut drives: Vec<u32> = places.iter().map(|p| p.member).collect();
                    drives.sort_unstable();
                    drives.dedup();
                    prop_assert_eq!(drives.len(), places.len());
                }
                for place in places {
                    prop_assert!(place.offset < rows * 512);
                    prop_assert!((place.member as usize) < drives);
                    let key = (place.member, place.offset);
                    let found = geometry.unit_at(place.member, place.offset / 512);
                    prop_assert_eq!(found.map(|(stripe, _)| stripe), Some(stripe));
                    prop_assert!(owner.insert(key, stripe).is_none());
                    if geometry.parities() > 0 {
                        let row = place.offset / 512;
                        prop_assert_eq!(geometry.stripe_at(place.member, row), stripe);
                    }
                }
            }
            // All of every drive is used, but for an odd row at the end of 1E.
            let used = owner.len() as u64;
            let whole = if level == Level::Raid1e { rows / 2 * 2 } else { rows };
            prop_assert_eq!(used, whole * drives as u64);
        }

        /// Pieces tile a range, and a unit's offset leads back to its piece.
        #[test]
        fn pieces_tile_a_range(
            (level, drives, spans) in levels(),
            from in 0.0f64..1.0,
            sectors in 1u64..40,
        ) {
            let capacities: Vec<u64> = match level {
                Level::Jbod => (0..drives as u64).map(|n| 512 * (7 + 3 * n)).collect(),
                _ => vec![32 * 1024; drives],
            };
            let rotation = Rotation::LeftSymmetric;
            let geometry = Geometry::new(level, rotation, 1024, spans, &capacities).unwrap();
            let sectors = sectors.min(geometry.capacity() / 512);
            let last = geometry.capacity() / 512 - sectors;
            let mut at = (from * (last + 1) as f64) as u64 * 512;
            let end = at + sectors * 512;
            while at < end {
                let piece = geometry.piece(at, end - at);
                prop_assert!(piece.start < piece.end && u64::from(piece.end) <= geometry.unit());
                let unit = geometry.offset(piece.stripe, piece.column);
                prop_assert_eq!(unit + u64::from(piece.start), at);
                at += u64::from(piece.end - piece.start);
            }
            prop_assert_eq!(at, end);
        }
    }
}
