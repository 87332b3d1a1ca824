//! Ranges of bytes that are lost until they are written over.

use raidlab_io::ByteRange;
use std::collections::BTreeMap;

/// Disjoint ranges of bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    /// The end of each, by its start.
    ends: BTreeMap<u64, u64>,
}

impl Ranges {
    /// Puts a range in.
    pub fn insert(&mut self, range: ByteRange) {
        self.cut(range);
        if range.bytes > 0 {
            self.ends.insert(range.offset, range.end());
        }
    }

    /// Takes a range out.
    pub fn cut(&mut self, range: ByteRange) {
        let (start, end) = (range.offset, range.end());
        while let Some((from, to)) = self.last_below(end).filter(|&(_, to)| to > start) {
            self.ends.remove(&from);
            if from < start {
                self.ends.insert(from, start);
            }
            if to > end {
                self.ends.insert(end, to);
            }
        }
    }

    /// True if any byte of a range is in here.
    pub fn touches(&self, range: ByteRange) -> bool {
        let last = self.last_below(range.end());
        last.is_some_and(|(_, to)| to > range.offset)
    }

    /// Whether a byte is in here, and up to where at least the next ones are as it is.
    pub fn stretch(&self, at: u64) -> (bool, u64) {
        if let Some((_, to)) = self.last_below(at + 1).filter(|&(_, to)| to > at) {
            return (true, to);
        }
        let next = self.ends.range(at + 1..).next();
        (false, next.map_or(u64::MAX, |(&from, _)| from))
    }

    /// What of a range is in here.
    pub fn within(&self, range: ByteRange) -> Vec<ByteRange> {
        let (start, end) = (range.offset, range.end());
        let before = self.ends.range(..start).next_back();
        let parts = before.into_iter().chain(self.ends.range(start..end));
        let parts = parts.map(|(&from, &to)| ByteRange::between(from.max(start), to.min(end)));
        parts.filter(|part| part.bytes > 0).collect()
    }

    /// True if all of them are in others.
    pub fn is_within(&self, others: &Ranges) -> bool {
        let bytes = |range| -> u64 {
            let within = others.within(range);
            within.iter().map(|part| part.bytes).sum()
        };
        let all = self.ends.iter();
        all.map(|(&from, &to)| ByteRange::between(from, to))
            .all(|range| bytes(range) == range.bytes)
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub fn clear(&mut self) {
        self.ends.clear();
    }

    /// The last range that begins before `end`: of disjoint ones it reaches furthest.
    fn last_below(&self, end: u64) -> Option<(u64, u64)> {
        let last = self.ends.range(..end).next_back();
        last.map(|(&from, &to)| (from, to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(start: u64, end: u64) -> ByteRange {
        ByteRange::between(start, end)
    }

    fn of(ranges: &[(u64, u64)]) -> Ranges {
        let mut made = Ranges::default();
        ranges
            .iter()
            .for_each(|&(start, end)| made.insert(between(start, end)));
        made
    }

    fn list(ranges: &Ranges) -> Vec<(u64, u64)> {
        ranges.ends.iter().map(|(&from, &to)| (from, to)).collect()
    }

    #[test]
    fn cutting_leaves_what_is_outside() {
        let mut ranges = of(&[(0, 10), (20, 30), (40, 50)]);
        ranges.cut(between(5, 25));
        assert_eq!(list(&ranges), [(0, 5), (25, 30), (40, 50)]);
        ranges.cut(between(0, 45));
        assert_eq!(list(&ranges), [(45, 50)]);
        ranges.cut(between(47, 48));
        assert_eq!(list(&ranges), [(45, 47), (48, 50)]);
    }

    #[test]
    fn ranges_stay_apart_and_touch_what_they_share_a_byte_with() {
        let ranges = of(&[(0, 10), (5, 20), (30, 40)]);
        assert_eq!(list(&ranges), [(0, 5), (5, 20), (30, 40)]);
        assert!(
            ranges.touches(between(19, 25))
                && ranges.touches(between(29, 31))
                && ranges.touches(between(0, 100))
        );
        assert!(!ranges.touches(between(20, 30)) && !ranges.touches(between(40, 50)));
    }

    #[test]
    fn a_stretch_ends_where_a_range_begins_or_ends() {
        let ranges = of(&[(10, 20), (30, 40)]);
        let stretches = [0, 9, 10, 19, 20, 39, 40].map(|at| ranges.stretch(at));
        let never = (false, u64::MAX);
        let inside = (true, 20);
        assert_eq!(
            stretches,
            [
                (false, 10),
                (false, 10),
                inside,
                inside,
                (false, 30),
                (true, 40),
                never
            ]
        );
    }

    #[test]
    fn what_is_within_is_cut_at_the_ends() {
        let ranges = of(&[(10, 20), (30, 40)]);
        assert_eq!(
            ranges.within(between(15, 31)),
            [between(15, 20), between(30, 31)]
        );
        assert_eq!(
            ranges.within(between(10, 40)),
            [between(10, 20), between(30, 40)]
        );
        assert!(of(&[(12, 15), (30, 40)]).is_within(&ranges));
        assert!(!of(&[(12, 21)]).is_within(&ranges));
        assert!(
            ranges.within(between(20, 30)).is_empty() && ranges.within(between(0, 10)).is_empty()
        );
    }
}
