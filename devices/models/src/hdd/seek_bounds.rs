//! The longest movement over each distance: what a choice by position counts on.
//!
//! The times stand in a table by ranges of distance, 128 an octave. A range has the longer of the
//! times at its two ends. So a time is within 1/128 of the distance, and never too short: a sector
//! that is missed costs a revolution. How late the arm settles (`spread`) counts in full.

use super::ids::CylinderId;
use super::media_op::MediaOp;
use super::seek::{Head, Seek};
use raidlab_kernel::Nanos;

/// Ranges of an octave: 2^7.
const BITS: u32 = 7;

/// Bits of a distance's mantissa that its range drops.
const DROPPED: u32 = f32::MANTISSA_DIGITS - 1 - BITS;

/// The range of distance 1, less one: distance 0 has a range of its own.
const BASE: u32 = (1f32.to_bits() >> DROPPED) - 1;

/// Entries of the table for one kind of work: more than the ranges of 2^24 cylinders.
const ENTRIES: usize = 4096;

/// The entry for a switch to another head. No range reaches it.
const SWITCH: usize = ENTRIES - 1;

/// The range of the distance between two cylinders, both below 2^24.
#[inline(always)]
fn range(from: u32, to: u32) -> usize {
    let distance = from.wrapping_sub(to) as i32;
    // Without the sign bit.
    let octave_and_more = (distance as f32).to_bits() << 1 >> (DROPPED + 1);
    octave_and_more.saturating_sub(BASE) as usize
}

/// The last distance of the range that begins with `first`.
fn last_of_range(first: u32) -> u32 {
    first | ((1 << first.ilog2().saturating_sub(BITS)) - 1)
}

/// Longest movements of a drive model.
#[derive(Debug)]
pub struct SeekBounds {
    /// Nanoseconds by [`MediaOp`] and range.
    ns: Box<[u32; 2 * ENTRIES]>,
}

impl SeekBounds {
    /// Tables for reads and for writes.
    pub fn new(seek: &Seek, cylinders: u32) -> SeekBounds {
        let mut ns = Box::new([0; 2 * ENTRIES]);
        for op in [MediaOp::Read, MediaOp::Write] {
            let longest = |distance, head| {
                u32::try_from(seek.longest(distance, head, op).0).unwrap_or(u32::MAX)
            };
            let table = &mut ns[op as usize * ENTRIES..][..ENTRIES];
            let mut first = 1;
            while first < cylinders {
                let last = last_of_range(first).min(cylinders - 1);
                table[range(first, 0)] = longest(first, Head::Same).max(longest(last, Head::Same));
                first = last + 1;
            }
            table[SWITCH] = longest(0, Head::Other);
        }
        SeekBounds { ns }
    }

    #[inline(always)]
    fn entry(&self, op: MediaOp, entry: usize) -> u64 {
        // The mask changes nothing; it spares a comparison.
        u64::from(self.ns[((op as usize * ENTRIES) | entry) & (2 * ENTRIES - 1)])
    }

    /// The longest movement between two cylinders under the same head.
    #[inline(always)]
    pub fn over(&self, from: CylinderId, to: CylinderId, op: MediaOp) -> Nanos {
        Nanos(self.entry(op, range(from.number(), to.number())))
    }

    /// The longest switch to another head of the same cylinder.
    #[inline(always)]
    pub fn head_switch(&self, op: MediaOp) -> Nanos {
        Nanos(self.entry(op, SWITCH))
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
            assert_eq!(range(first, 0), range(0, last), "{first} to {last}");
            assert_ne!(range(last, 0), range(last + 1, 0), "{last}");
            assert!((last - first) * 128 < first, "{first} to {last}");
            assert!(first >= 256 || last == first, "{first}");
            (first, ranges) = (last + 1, ranges + 1);
        }
        assert!(range((1 << 24) - 1, 0) < SWITCH);
        // 255 exact ones, and 128 for each octave from 256 to 262144 begun.
        assert!((1400..=255 + 10 * 128).contains(&ranges), "{ranges}");
    }
}
