//! A channel: the bus that the dies behind it share, one transfer at a time.
//!
//! Transfers are asked for in the order of commands, not in the order in which pages become
//! ready. So a channel remembers the gaps that it has promised to nobody, and a page that is
//! ready early takes those that come first. What does not fit into one goes on in the next, as
//! if the later transfer had waited for it: so no time of the channel is lost while a page is
//! ready, and what was promised stays promised.

use raidlab_kernel::{Nanos, Served, Time};

/// Gaps that are remembered at least; the oldest are forgotten.
const GAPS: usize = 64;
/// A shorter gap is not worth a place.
const SHORTEST: Nanos = Nanos(500);

/// An idle stretch between bookings.
#[derive(Clone, Copy, Debug)]
struct Gap {
    from: Time,
    to: Time,
}

/// The bookings of one channel.
#[derive(Clone, Debug)]
pub(crate) struct Channel {
    /// After all bookings.
    free: Time,
    /// In the order of time.
    gaps: Vec<Gap>,
    /// All that was booked.
    booked: Nanos,
}

impl Default for Channel {
    fn default() -> Channel {
        Channel {
            free: Time::ZERO,
            gaps: Vec::with_capacity(2 * GAPS),
            booked: Nanos::ZERO,
        }
    }
}

impl Channel {
    /// Reserves the first `length` of idle time from `ready` on.
    #[inline]
    pub(crate) fn book(&mut self, ready: Time, length: Nanos) -> Served {
        self.booked += length;
        if ready >= self.free {
            self.remember(self.gaps.len(), self.free, ready);
            self.free = ready + length;
            return Served {
                start: ready,
                end: self.free,
            };
        }
        let first = self.first_after(ready);
        if first < self.gaps.len() {
            return self.book_in_gaps(first, ready, length);
        }
        let start = self.free;
        self.free = start + length;
        Served {
            start,
            end: self.free,
        }
    }

    /// What it has done up to `now`.
    pub(crate) fn busy_until(&self, now: Time) -> Nanos {
        self.booked.saturating_sub(self.booked_behind(now))
    }

    /// How much of what lies behind `now` is booked, as far as its gaps are remembered.
    fn booked_behind(&self, now: Time) -> Nanos {
        self.gaps[self.first_after(now)..]
            .iter()
            .fold(self.free.since(now), |booked, gap| {
                booked.saturating_sub(gap.to.since(gap.from.max(now)))
            })
    }

    /// The first gap of which enough lies behind `ready`. It is looked for from the last one on:
    /// few are ahead of what is booked.
    #[inline]
    fn first_after(&self, ready: Time) -> usize {
        let before = |gap: &Gap| gap.to < ready + SHORTEST;
        self.gaps
            .iter()
            .rposition(before)
            .map_or(0, |last| last + 1)
    }

    /// Takes the gaps from the `first` on, and what is left behind all bookings.
    fn book_in_gaps(&mut self, first: usize, ready: Time, length: Nanos) -> Served {
        let before = self.gaps[first].from;
        let start = before.max(ready);
        let mut left = length;
        let mut last = first;
        let end = loop {
            let Some(gap) = self.gaps.get_mut(last) else {
                self.free = self.free + left;
                break self.free;
            };
            let from = gap.from.max(start);
            let room = gap.to - from;
            if left < room {
                gap.from = from + left;
                let end = gap.from;
                if gap.to - end < SHORTEST {
                    last += 1;
                }
                break end;
            }
            left -= room;
            last += 1;
            if left == Nanos::ZERO {
                break gap.to;
            }
        };
        self.gaps.drain(first..last);
        self.remember(first, before, start);
        Served { start, end }
    }

    /// Remembers the gap between two times at its place in the order.
    #[inline(always)]
    fn remember(&mut self, place: usize, from: Time, to: Time) {
        if to.since(from) < SHORTEST {
            return;
        }
        self.gaps.insert(place, Gap { from, to });
        if self.gaps.len() == 2 * GAPS {
            self.gaps.drain(..GAPS);
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
        // 39 us of the gap are left, so 6 us come after the late page.
        let divided = channel.book(Time(2_000), Nanos(45_000));
        assert_eq!((divided.start, divided.end), (Time(11_000), Time(66_000)));
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
        assert_eq!(channel.busy_until(Time(15_000)), Nanos(5_000));
        assert_eq!(channel.busy_until(Time(70_000)), Nanos(20_000));
    }

    proptest! {
        /// Against a table of every stretch of 500 ns: each transfer takes the first free ones.
        #[test]
        fn a_transfer_takes_the_first_idle_time(
            jobs in prop::collection::vec((0u64..2_000, 1u64..100), 1..60),
        ) {
            let mut channel = Channel::default();
            let mut table = vec![false; 10_000];
            for (ready, length) in jobs {
                let mut idle = (ready as usize..table.len()).filter(|&slot| !table[slot]);
                let taken: Vec<usize> = idle.by_ref().take(length as usize).collect();
                taken.iter().for_each(|&slot| table[slot] = true);
                let served = channel.book(Time(500 * ready), Nanos(500 * length));
                prop_assert_eq!(served.start, Time(500 * taken[0] as u64));
                prop_assert_eq!(served.end, Time(500 * (taken[taken.len() - 1] as u64 + 1)));
            }
        }
    }
}
