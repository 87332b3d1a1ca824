//! How an array lays data over its drives, and which commands a request becomes.
//!
//! All layouts are columns of stripe units. Levels 0, 1 and 10 put unit `u` into column
//! `u mod columns` at row `u / columns`, and every drive of a column holds the same. Level 1E
//! (an odd number of drives is allowed) puts unit `u` on drive `u mod n` in row `2 (u / n)` and
//! its copy on the next drive in the row below.

use crate::plan::Level;
use crate::raid::{Geometry, check_level};
use raidlab_kernel::Op;

/// A contiguous piece of a request within one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// First drive that holds it, an index into the array's drives.
    pub member: u32,
    /// First byte on that drive.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u64,
}

/// A layout with its sizes.
#[derive(Clone, Debug)]
pub struct Layout {
    level: Level,
    unit: u64,
    members: u64,
    /// Data columns.
    columns: u64,
    /// Bytes used of each drive (of jbod: the size of each, which may differ).
    sizes: Vec<u64>,
}

impl Layout {
    /// The layout of an array over drives of these capacities.
    ///
    /// Striped and mirrored levels use of every drive what the smallest has, in whole stripe
    /// units.
    ///
    /// # Errors
    /// Says which number of drives or stripe unit the level wants.
    pub fn new(level: Level, unit: u64, capacities: &[u64]) -> Result<Layout, String> {
        let members = capacities.len() as u64;
        check_level(level, unit, members, 1)?;
        let least = capacities.iter().copied().min().unwrap_or(0);
        let sizes = match level {
            Level::Jbod => capacities.to_vec(),
            Level::Raid1e => vec![least / (2 * unit) * (2 * unit); capacities.len()],
            _ => vec![least / unit * unit; capacities.len()],
        };
        let columns = match level {
            Level::Raid10 => members / 2,
            Level::Raid1 => 1,
            _ => members,
        };
        Ok(Layout {
            level,
            unit,
            members,
            columns,
            sizes,
        })
    }

    /// Stands in for a geometry whose data pass through memory: its size, and how many commands
    /// its reads need. Its requests are split by the geometry itself.
    pub fn of(level: Level, geometry: &Geometry) -> Layout {
        Layout {
            level,
            unit: geometry.unit(),
            members: u64::from(geometry.members()),
            columns: u64::from(geometry.columns()) * geometry.spans(),
            sizes: vec![geometry.capacity() * u64::from(geometry.copies())],
        }
    }

    /// Bytes that the array offers.
    pub fn capacity(&self) -> u64 {
        let total: u64 = self.sizes.iter().sum();
        total / self.copies()
    }

    /// How many drives hold each byte.
    pub fn copies(&self) -> u64 {
        match self.level {
            Level::Raid1 => self.members,
            Level::Raid1e | Level::Raid10 => 2,
            _ => 1,
        }
    }

    /// Bytes that commands for a request of `bytes` move in all.
    pub fn bytes_moved(&self, op: Op, bytes: u64) -> u64 {
        match op {
            Op::Read => bytes,
            Op::Write | Op::Trim => bytes * self.copies(),
            Op::Flush => 0,
        }
    }

    /// Where copy `copy` of a segment lies: the member and the offset on it.
    #[inline]
    pub fn copy(&self, segment: &Segment, copy: u64) -> (u32, u64) {
        match self.level {
            Level::Raid1 | Level::Raid10 => (segment.member + copy as u32, segment.offset),
            Level::Raid1e => {
                let member = (u64::from(segment.member) + copy) % self.members;
                (member as u32, segment.offset + copy * self.unit)
            }
            _ => (segment.member, segment.offset),
        }
    }

    /// How many commands a request needs, for the firmware time it costs.
    pub fn fan_out(&self, op: Op, offset: u64, bytes: u64) -> u64 {
        if op == Op::Flush {
            return self.members;
        }
        let segments = match self.level {
            Level::Jbod | Level::Raid1 => 1,
            Level::Raid0 | Level::Raid10 => self.units(offset, bytes).min(self.columns),
            _ => self.units(offset, bytes),
        };
        match op {
            Op::Read => segments,
            // The classical small write: read and write data and parities.
            _ if self.level.has_parity() => 2 * segments + 2 * self.parities(),
            _ => segments * self.copies(),
        }
    }

    fn parities(&self) -> u64 {
        match self.level {
            Level::Raid5 | Level::Raid50 => 1,
            Level::Raid6 | Level::Raid60 => 2,
            _ => 0,
        }
    }

    fn units(&self, offset: u64, bytes: u64) -> u64 {
        (offset + bytes.max(1) - 1) / self.unit - offset / self.unit + 1
    }

    /// Splits a request into segments, at most one for each column and, for 1E, stripe unit.
    ///
    /// `into` is cleared first. The request must lie inside the array.
    #[inline]
    pub fn split(&self, offset: u64, bytes: u64, into: &mut Vec<Segment>) {
        into.clear();
        match self.level {
            Level::Jbod => self.split_jbod(offset, bytes, into),
            Level::Raid1 => into.push(Segment {
                member: 0,
                offset,
                bytes,
            }),
            _ => self.split_units(offset, bytes, into),
        }
    }

    fn split_jbod(&self, offset: u64, bytes: u64, into: &mut Vec<Segment>) {
        let (mut start, mut offset, mut left) = (0, offset, bytes);
        for (member, &size) in self.sizes.iter().enumerate() {
            if left > 0 && offset < start + size {
                let bytes = left.min(start + size - offset);
                into.push(Segment {
                    member: member as u32,
                    offset: offset - start,
                    bytes,
                });
                offset += bytes;
                left -= bytes;
            }
            start += size;
        }
    }

    fn split_units(&self, mut offset: u64, bytes: u64, into: &mut Vec<Segment>) {
        let columns = self.columns;
        let drives_per_column = self.members / columns;
        let rows_per_unit = if self.level == Level::Raid1e { 2 } else { 1 };
        let mut left = bytes;
        let mut nth = 0;
        while left > 0 {
            let (unit, within) = (offset / self.unit, offset % self.unit);
            let piece = left.min(self.unit - within);
            // The next row of a column follows the last one on the drive: one command.
            if nth >= columns && rows_per_unit == 1 {
                into[(nth % columns) as usize].bytes += piece;
            } else {
                into.push(Segment {
                    member: (unit % columns * drives_per_column) as u32,
                    offset: unit / columns * rows_per_unit * self.unit + within,
                    bytes: piece,
                });
            }
            offset += piece;
            left -= piece;
            nth += 1;
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    const UNIT: u64 = 65_536;

    fn split(level: Level, drives: usize, offset: u64, bytes: u64) -> Vec<Segment> {
        let layout = Layout::new(level, UNIT, &vec![100 * UNIT; drives]).unwrap();
        let mut segments = Vec::new();
        layout.split(offset, bytes, &mut segments);
        segments
    }

    fn segment(member: u32, offset: u64, bytes: u64) -> Segment {
        Segment {
            member,
            offset,
            bytes,
        }
    }

    /// 64 KiB that start one sector into a 64 KiB stripe unit need two drives.
    #[test]
    fn an_unaligned_request_touches_two_drives() {
        assert_eq!(
            split(Level::Raid0, 4, 5 * UNIT + 512, UNIT),
            [segment(1, UNIT + 512, UNIT - 512), segment(2, UNIT, 512)]
        );
        assert_eq!(
            split(Level::Raid10, 4, UNIT + 512, UNIT),
            [segment(2, 512, UNIT - 512), segment(0, UNIT, 512)]
        );
    }

    /// Ten units over four drives: each drive gets one contiguous command.
    #[test]
    fn a_long_request_is_one_command_a_drive() {
        assert_eq!(
            split(Level::Raid0, 4, 2 * UNIT, 10 * UNIT),
            [
                segment(2, 0, 3 * UNIT),
                segment(3, 0, 3 * UNIT),
                segment(0, UNIT, 2 * UNIT),
                segment(1, UNIT, 2 * UNIT),
            ]
        );
    }

    /// Three drives, 1E: units 0 1 2 in row 0 and their copies, shifted by one drive, in row 1.
    #[test]
    fn raid_1e_shifts_its_copies_by_one_drive() {
        let layout = Layout::new(Level::Raid1e, UNIT, &[100 * UNIT; 3]).unwrap();
        assert_eq!(layout.capacity(), 150 * UNIT);
        let mut segments = Vec::new();
        layout.split(2 * UNIT, 2 * UNIT, &mut segments);
        assert_eq!(segments, [segment(2, 0, UNIT), segment(0, 2 * UNIT, UNIT)]);
        assert_eq!(layout.copy(&segments[0], 1), (0, UNIT));
        assert_eq!(layout.copy(&segments[1], 1), (1, 3 * UNIT));
    }

    #[test]
    fn impossible_arrays_are_refused() {
        for (level, drives) in [
            (Level::Jbod, 0),
            (Level::Raid1, 1),
            (Level::Raid1e, 2),
            (Level::Raid10, 2),
            (Level::Raid10, 5),
        ] {
            assert!(Layout::new(level, UNIT, &vec![UNIT; drives]).is_err());
        }
        assert!(Layout::new(Level::Raid0, 0, &[UNIT; 2]).is_err());
        assert!(Layout::new(Level::Raid0, 1000, &[UNIT; 2]).is_err());
    }

    /// Levels without parity, each with a number of drives.
    pub(crate) fn levels() -> impl Strategy<Value = (Level, usize)> {
        prop_oneof![
            (1usize..6).prop_map(|n| (Level::Jbod, n)),
            (1usize..9).prop_map(|n| (Level::Raid0, n)),
            (2usize..5).prop_map(|n| (Level::Raid1, n)),
            (3usize..8).prop_map(|n| (Level::Raid1e, n)),
            (2usize..5).prop_map(|n| (Level::Raid10, 2 * n)),
        ]
    }

    proptest! {
        /// Every sector of the array has as many places as copies, on different drives, and no
        /// place holds two sectors; the commands counted for firmware are the commands made.
        #[test]
        fn every_sector_has_its_own_places(
            (level, drives) in levels(),
            unit in 1u64..4,
            rows in 2u64..8,
            cuts in prop::collection::vec(1u64..40, 1..30),
        ) {
            let layout = Layout::new(level, unit * 512, &vec![rows * unit * 512; drives]).unwrap();
            let capacity = layout.capacity() / 512;
            let mut owner = HashMap::new();
            let (mut at, mut segments) = (0, Vec::new());
            for cut in cuts.iter().cycle().take_while(|_| true) {
                if at == capacity { break; }
                let sectors = (*cut).min(capacity - at);
                layout.split(at * 512, sectors * 512, &mut segments);
                let moved: u64 = segments.iter().map(|s| s.bytes).sum();
                prop_assert_eq!(moved, sectors * 512);
                if level != Level::Jbod {
                    let made = segments.len() as u64;
                    prop_assert_eq!(layout.fan_out(Op::Read, at * 512, moved), made);
                }
                for piece in &segments {
                    for copy in 0..layout.copies() {
                        let (member, offset) = layout.copy(piece, copy);
                        prop_assert!(offset + piece.bytes <= layout.sizes[member as usize]);
                        for sector in 0..piece.bytes / 512 {
                            prop_assert!(owner.insert((member, offset / 512 + sector), at).is_none());
                        }
                    }
                }
                at += sectors;
            }
            prop_assert_eq!(owner.len() as u64, capacity * layout.copies());
        }
    }
}
