//! What a drive counts on when it chooses by position: the longest that each access can take.
//!
//! A choice looks at every command that waits, so a look costs a table look-up and two
//! multiplications. Movement times stand in a table by ranges of distance, 128 an octave, each
//! with the longer of the times at its ends: within 1/128 of the distance, and not too early,
//! since a sector that is missed costs a turn. How late the arm settles (`spread`) counts in full.

use super::mechanics::Arm;
use super::model::Model;
use super::seek::Seek;
use raidlab_kernel::{Nanos, Time};

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

/// Longest movements by ranges of distance, before reads or writes.
#[derive(Debug)]
struct Movements {
    ns: Box<[u32]>,
    /// The least if another head takes over.
    head_switch_ns: u32,
}

impl Movements {
    fn new(seek: &Seek, cylinders: u32, write: bool) -> Movements {
        let longest = |distance, head_changes| {
            u32::try_from(seek.latest(distance, head_changes, write).0).unwrap_or(u32::MAX)
        };
        let mut ns = vec![0; range(cylinders) + 1];
        let mut first = 1;
        while first < cylinders {
            let last = last_of_range(first).min(cylinders - 1);
            ns[range(first)] = longest(first, false).max(longest(last, false));
            first = last + 1;
        }
        Movements {
            ns: ns.into(),
            head_switch_ns: longest(0, true),
        }
    }
}

/// Longest movements of a drive model.
#[derive(Debug)]
pub struct Plans([Movements; 2]);

impl Plans {
    /// Tables for reads and for writes.
    pub fn new(seek: &Seek, cylinders: u32) -> Plans {
        Plans([false, true].map(|write| Movements::new(seek, cylinders, write)))
    }
}

/// The view from an arm at one instant.
#[derive(Clone, Copy, Debug)]
pub struct Outlook<'a> {
    model: &'a Model,
    cylinder: u32,
    head: u32,
    /// The platter's angle now, 2^64 a turn.
    turned: u64,
}

impl<'a> Outlook<'a> {
    /// From `arm`, free to move from `now` on.
    #[inline]
    pub fn new(model: &'a Model, arm: &Arm, now: Time) -> Outlook<'a> {
        Outlook {
            model,
            cylinder: arm.cylinder,
            head: arm.head,
            turned: model.rotation.turned(arm.phase, now),
        }
    }

    /// The longest movement over `distance` cylinders under the same head.
    #[inline]
    pub fn movement(&self, distance: u32, write: bool) -> Nanos {
        Nanos(u64::from(
            self.model.plans.0[usize::from(write)].ns[range(distance)],
        ))
    }

    /// The longest time to a sector at (cylinder, head, angle): movement, and the wait after it.
    #[inline(always)]
    pub fn access(&self, target: (u32, u32, u32), write: bool) -> Nanos {
        let movements = &self.model.plans.0[usize::from(write)];
        let distance = self.cylinder.abs_diff(target.0);
        let switch = if target.1 == self.head {
            0
        } else {
            movements.head_switch_ns
        };
        let seek = Nanos(u64::from(movements.ns[range(distance)].max(switch)));
        let rotation = &self.model.rotation;
        seek + rotation.wait(rotation.angle(self.turned, Time(seek.0)), target.2)
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
