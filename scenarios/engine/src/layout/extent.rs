//! New data of a stripe: parts of its data columns, and the ranges where they change parity.

use crate::ids::ColumnId;

/// Bytes of one data column that are new.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// The data column.
    pub column: ColumnId,
    /// First byte within the unit.
    pub start: u32,
    /// Byte behind the last one.
    pub end: u32,
}

/// Brings extents into order and joins those that touch.
pub fn join(extents: &mut Vec<Extent>) {
    extents.sort_unstable_by_key(|extent| (extent.column, extent.start));
    let mut last_joined = 0;
    for at in 1..extents.len() {
        let next = extents[at];
        let last = &mut extents[last_joined];
        if last.column == next.column && last.end == next.start {
            last.end = next.end;
        } else {
            last_joined += 1;
            extents[last_joined] = next;
        }
    }
    extents.truncate(last_joined + 1);
}

/// The union of the extents over all columns, in ascending order: where parity changes.
pub fn parity_ranges(extents: &[Extent], into: &mut Vec<(u32, u32)>) {
    into.clear();
    into.extend(extents.iter().map(|extent| (extent.start, extent.end)));
    if into.len() <= 1 {
        return;
    }
    into.sort_unstable();
    let mut last = 0;
    for at in 1..into.len() {
        let (start, end) = into[at];
        if start <= into[last].1 {
            into[last].1 = into[last].1.max(end);
        } else {
            last += 1;
            into[last] = (start, end);
        }
    }
    into.truncate((last + 1).min(extents.len()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(column: u32, start: u32, end: u32) -> Extent {
        Extent {
            column: ColumnId::new(column),
            start,
            end,
        }
    }

    #[test]
    fn touching_extents_become_one() {
        let mut extents = vec![
            extent(1, 8, 16),
            extent(0, 4, 8),
            extent(1, 0, 8),
            extent(0, 0, 2),
        ];
        join(&mut extents);
        assert_eq!(
            extents,
            [extent(0, 0, 2), extent(0, 4, 8), extent(1, 0, 16)]
        );
    }

    /// 64 KiB that begin inside a unit: the parity ranges of both units are two ends of one unit.
    #[test]
    fn ranges_of_parity_are_the_union() {
        let mut ranges = Vec::new();
        parity_ranges(&[extent(0, 512, 65536), extent(1, 0, 512)], &mut ranges);
        assert_eq!(ranges, [(0, 65536)]);
        parity_ranges(&[extent(0, 60000, 65536), extent(1, 0, 512)], &mut ranges);
        assert_eq!(ranges, [(0, 512), (60000, 65536)]);
        parity_ranges(&[], &mut ranges);
        assert!(ranges.is_empty());
    }
}
