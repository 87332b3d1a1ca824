//! A channel: the bus that the dies behind it share, one transfer at a time.
//!
//! Transfers are asked for in the order of commands, not in the order in which pages become
//! ready. So a channel remembers the gaps that it has promised to nobody, and a page that is
//! ready early takes the first gap into which it fits.

use raidlab_kernel::{Nanos, Served, Time};

/// Gaps that are remembered; the oldest is forgotten when there are more.
const GAPS: usize = 8;

/// The bookings of one channel.
#[derive(Clone, Debug, Default)]
pub(super) struct Channel {
    /// After all bookings.
    free: Time,
    /// Idle stretches between bookings, in no order.
    gaps: [(Time, Time); GAPS],
    used: usize,
}

impl Channel {
    /// Books the first stretch of `length` from `ready` on.
    #[inline]
    pub(super) fn book(&mut self, ready: Time, length: Nanos) -> Served {
        if ready >= self.free {
            self.remember(self.free, ready);
            self.free = ready + length;
            return Served {
                start: ready,
                end: self.free,
            };
        }
        if let Some(served) = self.fill_gap(ready, length) {
            return served;
        }
        let start = self.free;
        self.free = start + length;
        Served {
            start,
            end: self.free,
        }
    }

    /// How much of what lies behind `now` is booked, as far as its gaps are remembered.
    pub(super) fn booked_behind(&self, now: Time) -> Nanos {
        self.gaps[..self.used]
            .iter()
            .fold(self.free.since(now), |booked, &(from, to)| {
                booked.saturating_sub(to.since(from.max(now)))
            })
    }

    fn fill_gap(&mut self, ready: Time, length: Nanos) -> Option<Served> {
        let fits = |&(from, to): &(Time, Time)| from.max(ready) + length <= to;
        let earliest = (0..self.used)
            .filter(|&i| fits(&self.gaps[i]))
            .min_by_key(|&i| self.gaps[i].0.max(ready))?;
        let (from, to) = self.gaps[earliest];
        let start = from.max(ready);
        let end = start + length;
        self.used -= 1;
        self.gaps[earliest] = self.gaps[self.used];
        self.remember(from, start);
        self.remember(end, to);
        Some(Served { start, end })
    }

    fn remember(&mut self, from: Time, to: Time) {
        // A gap that is too short for any transfer is not worth a place.
        if to.since(from) < Nanos(500) {
            return;
        }
        if self.used < GAPS {
            self.gaps[self.used] = (from, to);
            self.used += 1;
            return;
        }
        let mut oldest = 0;
        for i in 1..GAPS {
            if self.gaps[i].1 < self.gaps[oldest].1 {
                oldest = i;
            }
        }
        if self.gaps[oldest].1 < to {
            self.gaps[oldest] = (from, to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_early_page_takes_the_gap_before_a_late_one() {
        let mut channel = Channel::default();
        assert_eq!(channel.book(Time(50_000), Nanos(10_000)).end, Time(60_000));
        assert_eq!(channel.book(Time(1_000), Nanos(10_000)).end, Time(11_000));
        // What is left of the gap is too short.
        assert_eq!(channel.book(Time(2_000), Nanos(45_000)).start, Time(60_000));
    }

    #[test]
    fn a_gap_behind_now_is_not_booked() {
        let mut channel = Channel::default();
        channel.book(Time(10_000), Nanos(10_000));
        channel.book(Time(50_000), Nanos(10_000));
        assert_eq!(channel.booked_behind(Time(0)), Nanos(20_000));
        assert_eq!(channel.booked_behind(Time(15_000)), Nanos(15_000));
        assert_eq!(channel.booked_behind(Time(30_000)), Nanos(10_000));
        assert_eq!(channel.booked_behind(Time(70_000)), Nanos(0));
    }

    proptest! {
        #[test]
        fn bookings_never_overlap_and_never_start_early(
            jobs in prop::collection::vec((0u64..2_000_000, 500u64..50_000), 1..80),
        ) {
            let mut channel = Channel::default();
            let mut booked: Vec<Served> = Vec::new();
            for (ready, length) in jobs {
                let served = channel.book(Time(ready), Nanos(length));
                prop_assert!(served.start >= Time(ready));
                prop_assert_eq!(served.end, served.start + Nanos(length));
                for other in &booked {
                    prop_assert!(served.end <= other.start || other.end <= served.start);
                }
                booked.push(served);
            }
        }
    }
}
