//! The thread of the host that handles the stripes of an array with parity.
//!
//! Linux md has one for each array (`raid5d`). It works in pages: a page of each member at the same
//! offset is a stripe of its own, whose requests to members it sends and takes back one by one, and
//! whose parity it makes. The time for each such request is what ends the rate of fast members (S. Li,
//! linux-raid, 2012: 450,000 a second are 2.3 times too many for one thread). A small write on RAID 5
//! makes four of them. `group_thread_cnt` adds threads that take stripes beside it.

use crate::controller::Throughput;
use raidlab_kernel::{Nanos, Served, Time};

/// Bytes of a page.
pub const STRIPE_PAGE: u64 = 4096;

/// CPU time of the threads for what members read or write.
#[derive(Clone, Copy, Debug)]
pub struct PageTimes {
    /// For each page of a stripe that is written whole, or only read.
    pub whole: Nanos,
    /// For each page of a stripe that has to read before it is written: it comes back to its thread
    /// between the two.
    pub reread: Nanos,
}

impl PageTimes {
    /// Stripes take no time.
    pub const NONE: PageTimes = PageTimes {
        whole: Nanos::ZERO,
        reread: Nanos::ZERO,
    };

    /// For a stripe that reads first, or does not.
    #[inline]
    fn of(self, rereads: bool) -> Nanos {
        if rereads { self.reread } else { self.whole }
    }
}

/// First-come servers, one or several: parity by bytes, requests to members by pages.
#[derive(Debug)]
pub struct StripeThread {
    threads: Vec<Throughput>,
    times: PageTimes,
}

impl StripeThread {
    /// `threads` idle threads, at least one.
    ///
    /// `parity_bytes_per_s` is the rate of what each reads for parity and the parity that it makes, 0
    /// for no time.
    pub fn new(parity_bytes_per_s: u64, times: PageTimes, threads: u32) -> StripeThread {
        let thread = Throughput::new(parity_bytes_per_s);
        StripeThread {
            threads: vec![thread; threads.max(1) as usize],
            times,
        }
    }

    /// How many stripes are handled at once.
    #[inline]
    pub fn threads(&self) -> u32 {
        self.threads.len() as u32
    }

    /// Makes parity, of which and for which `passed` bytes are made and read; members read and wrote
    /// `pages` pages for it, parts counted as whole ones, and did or did not read first. The thread
    /// that is free first does it.
    pub fn serve(&mut self, now: Time, passed: u64, pages: u64, rereads: bool) -> Served {
        let time = self.times.of(rereads) * pages;
        let first = self.threads.iter_mut().min_by_key(|it| it.free_at());
        match first {
            Some(thread) => thread.pass_beside(now, passed, time),
            None => Served {
                start: now,
                end: now,
            },
        }
    }

    /// True if its work takes time.
    pub fn takes_time(&self) -> bool {
        self.times.whole > Nanos::ZERO || self.threads.iter().any(Throughput::is_limited)
    }

    /// Work done up to `now`, on average over the threads.
    pub fn busy_until(&self, now: Time) -> Nanos {
        let all: u64 = self.threads.iter().map(|it| it.busy_until(now).0).sum();
        Nanos(all / u64::from(self.threads()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAME: PageTimes = PageTimes {
        whole: Nanos(2000),
        reread: Nanos(2000),
    };

    /// 4 KiB into RAID 5: 12 KiB are read and 4 KiB made at 1.6384 GB/s, 10 us, and four pages move, 2 us
    /// each: 18 us. The next one waits for it.
    #[test]
    fn a_small_write_takes_parity_and_four_pages() {
        let mut thread = StripeThread::new(1_638_400_000, SAME, 1);
        let first = thread.serve(Time::ZERO, 4 * 4096, 4, true);
        // The rate is kept in fractions of a nanosecond, rounded down.
        assert!((17_999..=18_000).contains(&first.end.0));
        let second = thread.serve(Time::ZERO, 4 * 4096, 4, true);
        assert_eq!(second.end.0, 2 * first.end.0);
        assert!(thread.takes_time());
    }

    #[test]
    fn what_costs_nothing_takes_no_time() {
        let mut thread = StripeThread::new(0, SAME, 1);
        assert_eq!(thread.serve(Time::ZERO, 512, 1, false).end, Time(2000));
        assert!(!StripeThread::new(0, PageTimes::NONE, 1).takes_time());
    }

    /// Three pages of 5 us for a stripe that reads, of 2 us for one that does not. Of three stripes at
    /// two threads the third one waits for the first thread.
    #[test]
    fn stripes_that_read_first_take_longer_and_threads_share_them() {
        let times = PageTimes {
            whole: Nanos(2000),
            reread: Nanos(5000),
        };
        let mut threads = StripeThread::new(0, times, 2);
        assert_eq!(threads.serve(Time::ZERO, 0, 3, true).end, Time(15_000));
        assert_eq!(threads.serve(Time::ZERO, 0, 3, false).end, Time(6000));
        assert_eq!(threads.serve(Time::ZERO, 0, 1, false).end, Time(8000));
        assert_eq!(threads.busy_until(Time(15_000)), Nanos(11_500));
    }
}
