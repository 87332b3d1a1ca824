//! The pace of a drive that empties a few blocks at a time.
//!
//! Where dies collect each for itself as many blocks are emptied at a time as there are dies. A
//! driver that writes one log empties one block after the other: a page is sensed while the one
//! before crosses the block's channel, so each takes the longer of the two. It may fall behind
//! what the host's writes ask of it by one batch of moves; a write is complete when it is no
//! further behind. Reads do not wait for it.

use raidlab_kernel::{Nanos, Station, Time};

/// What is emptied, one page after the other.
#[derive(Debug)]
pub(super) struct Pace {
    /// Blocks at a time.
    blocks: u64,
    /// How far it may be behind.
    behind: Nanos,
    moves: Station,
}

impl Pace {
    /// Of `blocks` at a time, at most `behind` what is asked for.
    pub(super) fn new(blocks: u32, behind: Nanos) -> Pace {
        Pace {
            blocks: u64::from(blocks),
            behind,
            moves: Station::default(),
        }
    }

    /// A page set is to be moved, which takes `time` where one block is emptied at a time.
    #[inline]
    pub(super) fn move_set(&mut self, time: Nanos, now: Time) {
        self.moves.serve(now, Nanos(time.0 / self.blocks));
    }

    /// When a write that is taken at `taken` is complete.
    #[inline]
    pub(super) fn let_through(&self, taken: Time) -> Time {
        let ends = self.moves.free_at().0;
        taken.max(Time(ends.saturating_sub(self.behind.0)))
    }

    /// Work up to `now`.
    pub(super) fn busy_until(&self, now: Time) -> Nanos {
        self.moves.busy_until(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_go_at_the_pace_of_the_one_block_that_is_emptied() {
        // Each write makes moves of 200 us and may leave 300 us of them undone.
        let mut pace = Pace::new(1, Nanos(300_000));
        let mut now = Time::ZERO;
        let mut waits = Vec::new();
        for _ in 0..100 {
            pace.move_set(Nanos(200_000), now);
            let done = pace.let_through(now);
            waits.push((done - now).0);
            now = done;
        }
        assert_eq!(waits[..2], [0, 100_000]);
        assert!(waits[2..].iter().all(|&wait| wait == 200_000));
        assert_eq!(pace.busy_until(now), Nanos(now.0));
    }

    #[test]
    fn a_host_that_leaves_time_does_not_wait_and_two_blocks_take_half_as_long() {
        let mut pace = Pace::new(2, Nanos::ZERO);
        for n in 0..100 {
            let now = Time(n * 200_000);
            pace.move_set(Nanos(200_000), now);
            assert_eq!(pace.let_through(now) - now, Nanos(100_000));
        }
        let idle = Time(1_000_000_000);
        assert_eq!(pace.let_through(idle), idle);
        assert_eq!(pace.busy_until(idle), Nanos(10_000_000));
    }
}
