//! Where the copies of a unit lie: the layouts near, far and offset of Linux md's RAID 10.
//!
//! *Near* writes each unit as often as there are copies, one after the other over the drives, row by
//! row. *Far* is RAID 0 over the first part of every drive; each further part holds all of it again,
//! one drive on. *Offset* writes each row as often as there are copies, each time one drive on.
//! Pairs that are striped are near with two copies on an even number of drives; level 1E is offset
//! with two. Source: md(4), "RAID10"; `__raid10_find_phys` in Linux, drivers/md/raid10.c.

use crate::ids::{ColumnId, CopyId, MemberId, RowId, StripeId};
use crate::plan::{Arrangement, CopiesPlan};

/// How the copies of an array lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copies {
    arrangement: Arrangement,
    copies: u32,
    members: u32,
    /// Rows of units after which the layout repeats.
    rows: u32,
    /// Data columns of these rows.
    columns: u32,
    /// Rows of a part of a drive (far).
    stride: u64,
}

impl Copies {
    /// The layout over drives that hold `rows` rows of units.
    ///
    /// # Errors
    /// Says what numbers of copies there are.
    pub(crate) fn new(plan: CopiesPlan, members: u32, rows: u64) -> Result<Copies, String> {
        let CopiesPlan {
            arrangement,
            copies,
        } = plan;
        if copies < 2 || copies > members {
            return Err(format!(
                "{copies} copies on {members} drives; allowed: 2 to the number of drives"
            ));
        }
        let (rows_each, columns) = match arrangement {
            Arrangement::Near => {
                let common = common_divisor(members, copies);
                (copies / common, members / common)
            }
            Arrangement::Far => (1, members),
            Arrangement::Offset => (copies, members),
        };
        Ok(Copies {
            arrangement,
            copies,
            members,
            rows: rows_each,
            columns,
            stride: rows / u64::from(copies),
        })
    }

    pub(crate) fn copies(&self) -> u32 {
        self.copies
    }

    pub(crate) fn columns(&self) -> u32 {
        self.columns
    }

    /// Stripes on drives of `rows` rows.
    pub(crate) fn stripes(&self, rows: u64) -> u64 {
        match self.arrangement {
            Arrangement::Near | Arrangement::Offset => rows / u64::from(self.rows),
            Arrangement::Far => self.stride,
        }
    }

    /// Rows of units that `stripes` stripes take on each drive.
    pub(crate) fn rows(&self, stripes: u64) -> u64 {
        match self.arrangement {
            Arrangement::Near | Arrangement::Offset => stripes * u64::from(self.rows),
            Arrangement::Far => stripes * u64::from(self.copies),
        }
    }

    /// Whether each unit of a column follows the column's previous unit on the drive.
    #[inline]
    pub(crate) fn is_straight(&self) -> bool {
        self.rows == 1
    }

    /// The drive and the row of copy `copy` of a unit.
    #[inline]
    pub(crate) fn place(
        &self,
        stripe: StripeId,
        column: ColumnId,
        copy: CopyId,
    ) -> (MemberId, RowId) {
        let (stripe, column, copy) = (stripe.number(), column.number(), copy.number());
        let (member, row) = match self.arrangement {
            Arrangement::Near => {
                let at = column * self.copies + copy;
                if self.rows == 1 {
                    return (MemberId::new(at), RowId::new(stripe));
                }
                let row = stripe * u64::from(self.rows) + u64::from(at / self.members);
                (MemberId::new(at % self.members), row)
            }
            Arrangement::Far => (
                self.on(column, copy),
                stripe + u64::from(copy) * self.stride,
            ),
            Arrangement::Offset => {
                let row = stripe * u64::from(self.rows) + u64::from(copy);
                (self.on(column, copy), row)
            }
        };
        (member, RowId::new(row))
    }

    /// The stripe and the column at a row of a drive; none behind the last part.
    pub(crate) fn unit_at(&self, member: MemberId, row: RowId) -> Option<(StripeId, ColumnId)> {
        let (row, each) = (row.number(), u64::from(self.rows));
        let (stripe, column) = match self.arrangement {
            Arrangement::Near => {
                let at = (row % each) as u32 * self.members + member.number();
                (row / each, at / self.copies)
            }
            Arrangement::Far => {
                let copy = row.checked_div(self.stride)?;
                if copy >= u64::from(self.copies) {
                    return None;
                }
                (row % self.stride, self.back(member, copy as u32))
            }
            Arrangement::Offset => (row / each, self.back(member, (row % each) as u32)),
        };
        Some((StripeId::new(stripe), ColumnId::new(column)))
    }

    /// Whether a copy of each unit is left.
    pub(crate) fn survives(&self, lost: impl Fn(MemberId) -> bool) -> bool {
        ColumnId::first(self.columns).all(|column| {
            let mut copies =
                CopyId::first(self.copies).map(|copy| self.place(StripeId::new(0), column, copy).0);
            copies.any(|member| !lost(member))
        })
    }

    /// The drive of a copy: `copy` steps on from a column's first.
    #[inline]
    fn on(&self, column: u32, copy: u32) -> MemberId {
        let steps = column + copy;
        MemberId::new(if steps < self.members {
            steps
        } else {
            steps - self.members
        })
    }

    fn back(&self, member: MemberId, copy: u32) -> u32 {
        (member.number() + self.members - copy) % self.members
    }
}

fn common_divisor(a: u32, b: u32) -> u32 {
    match b {
        0 => a,
        b => common_divisor(b, a % b),
    }
}

#[cfg(test)]
mod tests {
    use crate::ids::{CopyId, MemberId, RowId};
    use crate::layout::{Layout, Place, Role};
    use crate::plan::{Arrangement, CopiesPlan};
    use proptest::prelude::*;
    use raidlab_io::ByteRange;
    use std::collections::HashSet;

    const SECTOR: u64 = 512;

    fn layout(arrangement: Arrangement, copies: u32, drives: usize, rows: u64) -> Layout {
        let plan = CopiesPlan {
            arrangement,
            copies,
        };
        Layout::copied(plan, SECTOR, &vec![rows * SECTOR; drives]).unwrap()
    }

    /// The table of an array: for each row of it the unit on each drive; drawn unit by unit.
    fn table(arrangement: Arrangement, copies: u64, drives: u64, rows: u64) -> Vec<Vec<u64>> {
        let mut table = vec![vec![u64::MAX; drives as usize]; rows as usize];
        let mut put = |row: u64, drive: u64, unit: u64| {
            table[row as usize][(drive % drives) as usize] = unit;
        };
        match arrangement {
            Arrangement::Near => {
                let cells = (0..rows).flat_map(|row| (0..drives).map(move |drive| (row, drive)));
                for (nth, (row, drive)) in (0u64..).zip(cells) {
                    put(row, drive, nth / copies);
                }
            }
            Arrangement::Far => {
                let part = rows / copies;
                for unit in 0..part * drives {
                    for copy in 0..copies {
                        put(unit / drives + copy * part, unit + copy, unit);
                    }
                }
            }
            Arrangement::Offset => {
                for unit in 0..rows / copies * drives {
                    for copy in 0..copies {
                        put(unit / drives * copies + copy, unit + copy, unit);
                    }
                }
            }
        }
        table
    }

    /// Units on the drives, row by row, by the array's arithmetic.
    fn drawn(layout: &Layout, rows: u64) -> Vec<Vec<u64>> {
        let unit = |member: MemberId, row: RowId| match layout.unit_at(member, row) {
            Some((stripe, Role::Data(column))) => layout.offset(stripe, column) / SECTOR,
            _ => u64::MAX,
        };
        let row = |row: u64| {
            let members = MemberId::first(layout.members);
            members
                .map(|member| unit(member, RowId::new(row)))
                .collect()
        };
        (0..rows).map(row).collect()
    }

    /// Three drives, as md(4) and every textbook draw them:
    ///
    ///     near 2     far 2      offset 2
    ///     0 0 1      0 1 2      0 1 2
    ///     1 2 2      3 4 5      2 0 1
    ///     3 3 4      2 0 1      3 4 5
    ///     4 5 5      5 3 4      5 3 4
    #[test]
    fn three_drives_are_as_drawn_in_textbooks() {
        let draw = |arrangement| drawn(&layout(arrangement, 2, 3, 4), 4);
        let near = [[0, 0, 1], [1, 2, 2], [3, 3, 4], [4, 5, 5]];
        assert_eq!(draw(Arrangement::Near), near);
        let far = [[0, 1, 2], [3, 4, 5], [2, 0, 1], [5, 3, 4]];
        assert_eq!(draw(Arrangement::Far), far);
        let offset = [[0, 1, 2], [2, 0, 1], [3, 4, 5], [5, 3, 4]];
        assert_eq!(draw(Arrangement::Offset), offset);
    }

    /// Two drives, far: both halves hold everything, and a long read takes both drives.
    #[test]
    fn a_stream_on_far_is_read_as_on_raid_0() {
        let two = layout(Arrangement::Far, 2, 2, 8);
        let mut left = two.runs(ByteRange::new(0, 4 * SECTOR));
        let first = two.next_run(&mut left).unwrap();
        let second = two.next_run(&mut left).unwrap();
        assert!(two.next_run(&mut left).is_none());
        assert_eq!((first.bytes, second.bytes), (2 * SECTOR, 2 * SECTOR));
        let (member, offset) = (MemberId::new(1), 4 * SECTOR);
        assert_eq!(
            two.run_place(&first, CopyId::new(1)),
            Place { member, offset }
        );
        let near = layout(Arrangement::Near, 2, 2, 8);
        assert_eq!(near.count(near.runs(ByteRange::new(0, 4 * SECTOR))), 1);
    }

    #[test]
    fn more_copies_than_drives_are_refused() {
        for (copies, drives) in [(3, 2), (1, 4)] {
            let arrangement = Arrangement::Near;
            let plan = CopiesPlan {
                arrangement,
                copies,
            };
            assert!(Layout::copied(plan, SECTOR, &vec![SECTOR * 8; drives]).is_err());
        }
    }

    fn arrangements() -> impl Strategy<Value = Arrangement> {
        prop_oneof![
            Just(Arrangement::Near),
            Just(Arrangement::Far),
            Just(Arrangement::Offset)
        ]
    }

    proptest! {
        /// All units lie where the table has them, copies of one on different drives; and an array
        /// survives what leaves a copy of each.
        #[test]
        fn places_are_those_of_the_table(
            arrangement in arrangements(),
            copies in 2u32..4,
            more in 0u32..5,
            rows in 6u64..20,
            lost in prop::collection::vec(0u32..8, 0..4),
        ) {
            let drives = copies + more;
            let layout = layout(arrangement, copies, drives as usize, rows);
            let table = table(arrangement, u64::from(copies), u64::from(drives), rows);
            let used = layout.rows();
            prop_assert!(used <= rows && used + 2 * u64::from(copies) > rows);
            prop_assert_eq!(layout.capacity() / SECTOR, used * u64::from(drives) / u64::from(copies));
            prop_assert_eq!(drawn(&layout, used), &table[..used as usize]);
            for unit in 0..layout.capacity() / SECTOR {
                let piece = layout.piece(ByteRange::new(unit * SECTOR, SECTOR));
                let mut members = HashSet::new();
                for copy in CopyId::first(copies) {
                    let place = layout.data(piece.stripe, piece.column, copy);
                    members.insert(place.member);
                    let row = (place.offset / SECTOR) as usize;
                    prop_assert_eq!(table[row][place.member.index()], unit);
                }
                prop_assert_eq!(members.len(), copies as usize);
            }
            let is_lost = |member: MemberId| lost.iter().any(|&n| n % drives == member.number());
            let members = || MemberId::first(drives);
            let mut left = HashSet::new();
            for row in &table[..used as usize] {
                let kept = members().zip(row).filter(|(member, _)| !is_lost(*member));
                left.extend(kept.map(|(_, unit)| *unit));
            }
            let all = left.len() as u64 == layout.capacity() / SECTOR;
            prop_assert_eq!(layout.survives(is_lost), all);
        }
    }
}
