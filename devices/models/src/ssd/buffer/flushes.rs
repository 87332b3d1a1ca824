//! What a flush, or a write with FUA, writes behind the data: the changes of the map, without which
//! the data are lost.
//!
//! A drive without power-loss protection programs what its buffer holds, then the changes of its
//! map and its own records. That takes the same time however much was written, since small pages
//! are programmed for it one after the other. Flushes that come while this is under way are served
//! by one further run together. A flush behind which nothing was written costs its command alone.
//!
//! A write with FUA is complete once such a run has followed its own program. Drives take longer for
//! it than for a flush: `fua_ns`, measured and not derived.

use raidlab_kernel::{Nanos, Time};

/// Runs that write the changes of the map.
#[derive(Debug)]
pub(crate) struct Flushes {
    time: Nanos,
    fua_time: Nanos,
    /// The last run.
    from: Time,
    until: Time,
    /// Units that the host had written when it was asked for.
    covered: u64,
}

impl Flushes {
    /// A run takes `time`; for a write with FUA it takes `fua_time`, as long if that is none.
    pub(crate) fn new(time: Nanos, fua_time: Option<Nanos>) -> Flushes {
        Flushes {
            time,
            fua_time: fua_time.unwrap_or(time),
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
        self.run(self.time, written, now)
    }

    /// When a write with FUA ends whose data are in NAND at `now`.
    pub(crate) fn forced(&mut self, written: u64, now: Time) -> Time {
        match self.fua_time {
            Nanos::ZERO => now,
            time => self.run(time, written, now),
        }
    }

    /// The next run, begun by this command or shared with it, of the longest that asks for it.
    fn run(&mut self, time: Nanos, written: u64, now: Time) -> Time {
        self.covered = written;
        if now > self.from {
            self.from = self.until.max(now);
            self.until = self.from;
        }
        self.until = self.until.max(self.from + time);
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
        let mut flushes = Flushes::new(Nanos(100), None);
        assert_eq!(flushes.end(1, Time(1000)), Time(1100));
        assert_eq!(flushes.end(2, Time(1010)), Time(1200));
        assert_eq!(flushes.end(3, Time(1050)), Time(1200));
        assert_eq!(flushes.end(3, Time(1150)), Time(1200));
        assert_eq!(flushes.end(3, Time(1220)), Time(1220));
        assert_eq!(flushes.end(4, Time(1250)), Time(1350));
    }

    /// A flush of 100 from 1000 on; a write with FUA behind it takes 240 from 1100 on, and a flush
    /// that comes before that run begins shares it; behind it nothing is left to flush.
    #[test]
    fn a_write_with_fua_has_a_run_of_its_own_length() {
        let mut flushes = Flushes::new(Nanos(100), Some(Nanos(240)));
        assert_eq!(flushes.end(1, Time(1000)), Time(1100));
        assert_eq!(flushes.forced(2, Time(1050)), Time(1340));
        assert_eq!(flushes.end(3, Time(1080)), Time(1340));
        assert_eq!(flushes.end(3, Time(1500)), Time(1500));
        assert_eq!(flushes.forced(4, Time(1500)), Time(1740));
    }
}
