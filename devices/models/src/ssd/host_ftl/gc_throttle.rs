//! Writes that wait for garbage collection of few blocks at a time.
//!
//! Dies that collect each for itself empty as many blocks at a time as there are dies. A driver
//! that writes one log empties one block after the other. A page is sensed while the one before
//! crosses the block's channel and the one before that goes to its new place, so each takes the
//! longest of the three. Collection may lag behind what the host's writes ask of it by one batch of
//! moves; a write is complete when it lags no further. Reads do not wait for it.

use raidlab_kernel::{Nanos, Station, Time};

/// A collector that moves one page after the other.
#[derive(Debug)]
pub(super) struct GcThrottle {
    /// Blocks at a time.
    blocks: u64,
    /// How far it may lag behind.
    lag: Nanos,
    moves: Station,
}

impl GcThrottle {
    /// A collector that empties `blocks` at a time and may lag by `lag`.
    pub(super) fn new(blocks: u32, lag: Nanos) -> GcThrottle {
        GcThrottle {
            blocks: u64::from(blocks),
            lag,
            moves: Station::default(),
        }
    }

    /// A page set is to be moved, which takes `time` where one block is emptied at a time.
    #[inline]
    pub(super) fn move_set(&mut self, time: Nanos, now: Time) {
        self.moves.serve(now, Nanos(time.0 / self.blocks));
    }

    /// When a write is complete that is in the buffer at `taken`.
    #[inline]
    pub(super) fn completes(&self, taken: Time) -> Time {
        let ends = self.moves.free_at().0;
        taken.max(Time(ends.saturating_sub(self.lag.0)))
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
    fn writes_go_at_the_rate_of_the_one_block_that_is_emptied() {
        // Each write makes moves of 200 us and may leave 300 us of them undone.
        let mut throttle = GcThrottle::new(1, Nanos(300_000));
        let mut now = Time::ZERO;
        let mut waits = Vec::new();
        for _ in 0..100 {
            throttle.move_set(Nanos(200_000), now);
            let done = throttle.completes(now);
            waits.push((done - now).0);
            now = done;
        }
        assert_eq!(waits[..2], [0, 100_000]);
        assert!(waits[2..].iter().all(|&wait| wait == 200_000));
        assert_eq!(throttle.busy_until(now), Nanos(now.0));
    }

    #[test]
    fn a_host_that_leaves_time_does_not_wait_and_two_blocks_take_half_as_long() {
        let mut throttle = GcThrottle::new(2, Nanos::ZERO);
        for n in 0..100 {
            let now = Time(n * 200_000);
            throttle.move_set(Nanos(200_000), now);
            assert_eq!(throttle.completes(now) - now, Nanos(100_000));
        }
        let idle = Time(1_000_000_000);
        assert_eq!(throttle.completes(idle), idle);
        assert_eq!(throttle.busy_until(idle), Nanos(10_000_000));
    }
}
