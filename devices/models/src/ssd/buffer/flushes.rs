//! What a flush writes behind the data: the changes of the map, without which the data are lost.
//!
//! A drive without power-loss protection programs what its buffer holds, then the changes of its
//! map and its own records. That takes the same time however much was written, since small pages
//! are programmed for it one after the other. Flushes that come while this is under way are served
//! by one further run together. A flush behind which nothing was written costs its command alone.

use raidlab_kernel::{Nanos, Time};

/// Runs that write the changes of the map.
#[derive(Debug)]
pub(crate) struct Flushes {
    time: Nanos,
    /// The last run.
    from: Time,
    until: Time,
    /// Units that the host had written when it was asked for.
    covered: u64,
}

impl Flushes {
    /// Each run takes this time.
    pub(crate) fn new(time: Nanos) -> Flushes {
        Flushes {
            time,
            from: Time::ZERO,
            until: Time::ZERO,
            covered: 0,
        }
    }

    /// When a flush ends whose data are in NAND at `now`; the host has written `written` units.
    pub(crate) fn end(&mut self, written: u64, now: Time) -> Time {
        if self.time == Nanos::ZERO {
            return now;
        }
        if written == self.covered {
            return self.until.max(now);
        }
        self.covered = written;
        if now > self.from {
            self.from = self.until.max(now);
            self.until = self.from + self.time;
        }
        self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of 100: one at 1000; two flushes at 1010 and 1050 share the next, from 1100 to 1200;
    /// nothing written, nothing to do; one at 1250 begins at once.
    #[test]
    fn flushes_that_come_during_a_run_share_the_next_one() {
        let mut flushes = Flushes::new(Nanos(100));
        assert_eq!(flushes.end(1, Time(1000)), Time(1100));
        assert_eq!(flushes.end(2, Time(1010)), Time(1200));
        assert_eq!(flushes.end(3, Time(1050)), Time(1200));
        assert_eq!(flushes.end(3, Time(1150)), Time(1200));
        assert_eq!(flushes.end(3, Time(1220)), Time(1220));
        assert_eq!(flushes.end(4, Time(1250)), Time(1350));
    }
}
