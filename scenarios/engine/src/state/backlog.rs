//! How many requests of an open load arrive while it is recorded, and whether those that wait
//! become ever more.
//!
//! A queue that is served as fast as it fills comes back to few requests again and again, however
//! bursty the arrivals: the fewest in flight are about the same early and late. Where more arrives
//! than is served, even the fewest grow.

use raidlab_kernel::Time;
use schemars::JsonSchema;
use serde::Serialize;

/// The arrivals of one open load in its recording.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    in_flight: u64,
    from: Time,
    end: Time,
    arrived: u64,
    /// In the first and in the second half of the recording.
    fewest: [Option<u64>; 2],
}

/// What is said of the arrivals of an open load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Arrived {
    /// Requests that arrived in the recorded time.
    pub requests: u64,
    /// The fewest that were in flight at a time, in each half of it; none where nothing arrived and
    /// nothing was served.
    pub fewest_in_flight: [Option<u64>; 2],
}

impl Backlog {
    /// A recording begins; what is in flight stays.
    pub(crate) fn begin(&mut self, from: Time, end: Time) {
        *self = Backlog {
            in_flight: self.in_flight,
            from,
            end,
            ..Backlog::default()
        };
    }

    /// A request arrives.
    pub(crate) fn arrives(&mut self, now: Time) {
        self.look(now);
        self.in_flight += 1;
        self.arrived += u64::from(now >= self.from && now < self.end);
    }

    /// A request is over, served or not.
    pub(crate) fn leaves(&mut self, now: Time) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.look(now);
    }

    /// Notes what is in flight; it falls where a request leaves, and is lowest where one comes.
    fn look(&mut self, now: Time) {
        if now < self.from || now > self.end {
            return;
        }
        let middle = self.from.0 + (self.end.0 - self.from.0) / 2;
        let fewest = &mut self.fewest[usize::from(now.0 >= middle)];
        *fewest = Some(fewest.map_or(self.in_flight, |few| few.min(self.in_flight)));
    }

    pub(crate) fn report(&self) -> Arrived {
        Arrived {
            requests: self.arrived,
            fewest_in_flight: self.fewest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, a recording from 10 to 30. Before it one request waits. In the first half two come
    /// and one leaves: 1, 2, 3, 2. In the second half one comes and three leave: 2, 3, 2, 1, 0.
    #[test]
    fn the_fewest_in_flight_of_each_half_and_the_arrivals() {
        let mut backlog = Backlog::default();
        backlog.begin(Time(10), Time(30));
        backlog.arrives(Time(5));
        for at in [12, 14] {
            backlog.arrives(Time(at));
        }
        backlog.leaves(Time(16));
        backlog.arrives(Time(21));
        for at in [24, 26, 28] {
            backlog.leaves(Time(at));
        }
        let found = backlog.report();
        assert_eq!(found.requests, 3);
        assert_eq!(found.fewest_in_flight, [Some(1), Some(0)]);
        backlog.begin(Time(30), Time(50));
        assert_eq!(backlog.report().fewest_in_flight, [None, None]);
    }

    /// Three come for each two that leave: the fewest in flight grow with the time.
    #[test]
    fn a_queue_that_grows_has_ever_more_in_flight() {
        let mut backlog = Backlog::default();
        backlog.begin(Time(0), Time(200));
        for at in 0..100 {
            for _ in 0..3 {
                backlog.arrives(Time(2 * at));
            }
            for _ in 0..2 {
                backlog.leaves(Time(2 * at + 1));
            }
        }
        let found = backlog.report();
        assert_eq!(found.requests, 300);
        assert_eq!(found.fewest_in_flight, [Some(0), Some(50)]);
    }
}
