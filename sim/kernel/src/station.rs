//! First-come stations by next-free-time arithmetic: no event is needed to know when a job
//! starts and ends, provided that jobs are offered in the order in which they arrive.

use crate::{Nanos, Time};

/// When a job got its server and when it leaves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// Service begins: the arrival, or the end of the job before.
    pub start: Time,
    /// Service ends.
    pub end: Time,
}

/// One server, first come first served.
#[derive(Clone, Debug, Default)]
pub struct Station {
    free: Time,
    busy: Nanos,
}

impl Station {
    /// Serves a job that arrives at `arrival` and takes `service`.
    #[inline]
    pub fn serve(&mut self, arrival: Time, service: Nanos) -> Served {
        let start = self.free.max(arrival);
        let end = start + service;
        self.free = end;
        self.busy += service;
        Served { start, end }
    }

    /// When the server has done all it was given.
    pub fn free_at(&self) -> Time {
        self.free
    }

    /// Work done up to `now`: what was given less what lies ahead.
    ///
    /// Exact as long as the work given so far is contiguous from `now` on, which first-come
    /// order guarantees for jobs that have arrived.
    pub fn busy_until(&self, now: Time) -> Nanos {
        self.busy.saturating_sub(self.free.since(now))
    }
}

/// So few servers are compared one by one.
const FEW: usize = 16;

/// Several equal servers with one queue, first come first served.
#[derive(Clone, Debug)]
pub struct Stations {
    servers: Vec<Station>,
}

impl Stations {
    /// `count` idle servers; at least one.
    pub fn new(count: usize) -> Stations {
        Stations {
            servers: vec![Station::default(); count.max(1)],
        }
    }

    /// Every server is busy until `until`, from `now` on where it has nothing to do.
    pub fn occupy_until(&mut self, until: Time, now: Time) {
        for server in &mut self.servers {
            server.serve(now, until.since(server.free.max(now)));
        }
    }

    /// Serves a job on the server that is free first.
    #[inline]
    pub fn serve(&mut self, arrival: Time, service: Nanos) -> Served {
        if self.servers.len() > FEW {
            return self.serve_first(arrival, service);
        }
        let mut first = 0;
        for server in 1..self.servers.len() {
            if self.servers[server].free < self.servers[first].free {
                first = server;
            }
        }
        self.servers[first].serve(arrival, service)
    }

    /// Serves a job on the one of the first `count` servers that is free first.
    ///
    /// Of more than `FEW` servers all take part: their order is a heap's.
    pub fn serve_on(&mut self, count: usize, arrival: Time, service: Nanos) -> Served {
        if count == 0 || count >= self.servers.len() || self.servers.len() > FEW {
            return self.serve(arrival, service);
        }
        let mut first = 0;
        for server in 1..count {
            if self.servers[server].free < self.servers[first].free {
                first = server;
            }
        }
        self.servers[first].serve(arrival, service)
    }

    /// Serves a job on many servers, a heap whose first one is free first: its cost grows with the
    /// logarithm of their number.
    fn serve_first(&mut self, arrival: Time, service: Nanos) -> Served {
        let served = self.servers[0].serve(arrival, service);
        let (mut at, count) = (0, self.servers.len());
        loop {
            let mut child = 2 * at + 1;
            if child >= count {
                return served;
            }
            if child + 1 < count && self.servers[child + 1].free < self.servers[child].free {
                child += 1;
            }
            if self.servers[at].free <= self.servers[child].free {
                return served;
            }
            self.servers.swap(at, child);
            at = child;
        }
    }

    /// Number of servers.
    pub fn count(&self) -> usize {
        self.servers.len()
    }

    /// Work done up to `now`, all servers together.
    pub fn busy_until(&self, now: Time) -> Nanos {
        self.servers
            .iter()
            .map(|server| server.busy_until(now))
            .fold(Nanos::ZERO, |sum, busy| sum + busy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_job_waits_for_the_one_before_it() {
        let mut station = Station::default();
        let first = station.serve(Time(10), Nanos(5));
        let second = station.serve(Time(12), Nanos(5));
        assert_eq!((first.start, first.end), (Time(10), Time(15)));
        assert_eq!((second.start, second.end), (Time(15), Time(20)));
        assert_eq!(station.busy_until(Time(17)), Nanos(7));
    }

    proptest! {
        /// Against the definition: at most `k` jobs in service at once, none starts early,
        /// and no server idles while a job waits.
        #[test]
        fn several_servers_serve_first_come(
            k in prop_oneof![1usize..5, 17usize..40],
            jobs in prop::collection::vec((0u64..20, 0u64..300), 1..100),
        ) {
            let mut stations = Stations::new(k);
            let mut now = 0;
            let mut ends: Vec<u64> = Vec::new();
            for (gap, service) in jobs {
                now += gap;
                let served = stations.serve(Time(now), Nanos(service));
                // The k-th latest end among the earlier jobs is when a server frees up.
                let mut sorted = ends.clone();
                sorted.sort_unstable_by(|a, b| b.cmp(a));
                let free = if sorted.len() < k { 0 } else { sorted[k - 1] };
                prop_assert_eq!(served.start, Time(free.max(now)));
                prop_assert_eq!(served.end, served.start + Nanos(service));
                ends.push(served.end.0);
            }
        }
    }
}
