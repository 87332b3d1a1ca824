//! The thread of the host that handles the stripes of an array with parity.
//!
//! Linux' md has one for each array (`raid5d`). It works in pages: a page of each member at the same
//! offset is a stripe of its own, whose requests to members it sends and takes back one by one, and
//! whose parity it makes. The time for each such request is what ends the rate of fast members: the
//! first patches for several threads say that one does not keep up with 450,000 requests to members
//! a second (S. Li, linux-raid, 2012). A small write on RAID 5 makes four of them.

use crate::controller::Throughput;
use raidlab_kernel::{Nanos, Served, Time};

/// Bytes of a page.
pub const STRIPE_PAGE: u64 = 4096;

/// A first-come server: parity by bytes, requests to members by pages.
#[derive(Debug)]
pub struct StripeThread {
    parity: Throughput,
    page: Nanos,
}

impl StripeThread {
    /// An idle thread.
    ///
    /// `parity_bytes_per_s` is the rate of what it reads for parity and the parity that it makes, 0
    /// for no time; `page` its time for each page that a member reads or writes.
    pub fn new(parity_bytes_per_s: u64, page: Nanos) -> StripeThread {
        StripeThread {
            parity: Throughput::new(parity_bytes_per_s),
            page,
        }
    }

    /// Makes parity, of which and for which `passed` bytes are made and read; members read and wrote
    /// so many pages for it, parts counted as whole ones.
    pub fn serve(&mut self, now: Time, passed: u64, pages: u64) -> Served {
        self.parity.pass_beside(now, passed, self.page * pages)
    }

    /// True if its work takes time.
    pub fn takes_time(&self) -> bool {
        self.parity.is_limited() || self.page > Nanos::ZERO
    }

    /// Work done up to `now`.
    pub fn busy_until(&self, now: Time) -> Nanos {
        self.parity.busy_until(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 4 KiB into RAID 5: 12 KiB are read and 4 KiB made at 1.6384 GB/s, 10 us, and four pages move, 2 us
    /// each: 18 us. The next one waits for it.
    #[test]
    fn a_small_write_takes_parity_and_four_pages() {
        let mut thread = StripeThread::new(1_638_400_000, Nanos(2000));
        let first = thread.serve(Time::ZERO, 4 * 4096, 4);
        // The rate is kept in fractions of a nanosecond, rounded down.
        assert!((17_999..=18_000).contains(&first.end.0));
        let second = thread.serve(Time::ZERO, 4 * 4096, 4);
        assert_eq!(second.end.0, 2 * first.end.0);
        assert!(thread.takes_time());
    }

    #[test]
    fn what_costs_nothing_takes_no_time() {
        let mut thread = StripeThread::new(0, Nanos(1000));
        assert_eq!(thread.serve(Time::ZERO, 512, 1).end, Time(1000));
        assert!(!StripeThread::new(0, Nanos::ZERO).takes_time());
    }
}
