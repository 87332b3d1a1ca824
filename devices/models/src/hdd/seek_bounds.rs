//! The longest movement over each distance: what a choice by position counts on.
//!
//! The times stand in a table by ranges of distance, 128 an octave. A range has the longer of the
//! times at its two ends. So a time is within 1/128 of the distance, and never too short: a sector
//! that is missed costs a revolution. How late the arm settles (`spread`) counts in full.

use super::media_op::MediaOp;
use super::seek::{Head, Seek};

/// Ranges of an octave: 2^7.
const BITS: u32 = 7;

/// Bits of a distance's mantissa that its range drops.
const DROPPED: u32 = f32::MANTISSA_DIGITS - 1 - BITS;

/// The range of distance 1, less one: distance 0 has a range of its own.
const BASE: u32 = (1f32.to_bits() >> DROPPED) - 1;

/// The range that a distance belongs to.
#[inline]
fn range(distance: u32) -> usize {
    let octave_and_more = (distance as f32).to_bits() >> DROPPED;
    (octave_and_more.max(BASE) - BASE) as usize
}

/// The last distance of the range that begins with `first`.
fn last_of_range(first: u32) -> u32 {
    first | ((1 << first.ilog2().saturating_sub(BITS)) - 1)
}

/// Longest movements before one kind of work.
#[derive(Debug)]
pub struct Bounds {
    /// By ranges of distance.
    ns: Box<[u32]>,
    /// The least if another head takes over.
    pub head_switch_ns: u32,
}

impl Bounds {
    fn new(seek: &Seek, cylinders: u32, op: MediaOp) -> Bounds {
        let longest =
            |distance, head| u32::try_from(seek.longest(distance, head, op).0).unwrap_or(u32::MAX);
        let mut ns = vec![0; range(cylinders) + 1];
        let mut first = 1;
        while first < cylinders {
            let last = last_of_range(first).min(cylinders - 1);
            ns[range(first)] = longest(first, Head::Same).max(longest(last, Head::Same));
            first = last + 1;
        }
        Bounds {
            ns: ns.into(),
            head_switch_ns: longest(0, Head::Other),
        }
    }

    /// The longest movement over `distance` cylinders under the same head, ns.
    #[inline(always)]
    pub fn over(&self, distance: u32) -> u32 {
        self.ns[range(distance)]
    }
}

/// Longest movements of a drive model, by [`MediaOp`].
#[derive(Debug)]
pub struct SeekBounds([Bounds; 2]);

impl SeekBounds {
    /// Tables for reads and for writes.
    pub fn new(seek: &Seek, cylinders: u32) -> SeekBounds {
        SeekBounds([MediaOp::Read, MediaOp::Write].map(|op| Bounds::new(seek, cylinders, op)))
    }

    /// The longest movements before this work. Never longer than four seconds.
    #[inline(always)]
    pub fn before(&self, op: MediaOp) -> &Bounds {
        &self.0[op as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_exact_to_256_and_within_a_part_in_128_beyond() {
        let (mut first, mut ranges) = (1, 0);
        while first < 200_000 {
            let last = last_of_range(first);
            assert_eq!(range(first), range(last), "{first} to {last}");
            assert_ne!(range(last), range(last + 1), "{last}");
            assert!((last - first) * 128 < first, "{first} to {last}");
            assert!(first >= 256 || last == first, "{first}");
            (first, ranges) = (last + 1, ranges + 1);
        }
        // 255 exact ones, and 128 for each octave from 256 to 262144 begun.
        assert!((1400..=255 + 10 * 128).contains(&ranges), "{ranges}");
    }
}
