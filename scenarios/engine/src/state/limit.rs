//! A load's limits: token buckets that its I/Os pass in order, as a hypervisor or a control group
//! limits a tenant.
//!
//! An I/O passes when every bucket has its tokens, and takes them from all of them then.

use crate::plan::{Counted, LimitPlan};
use raidlab_kernel::{Nanos, Time, TokenBucket};

/// The limits of one load.
#[derive(Debug)]
pub(crate) struct Limit {
    buckets: Vec<(Counted, TokenBucket)>,
    /// When the last I/O passes: nothing waits from then on.
    last: Time,
}

impl Limit {
    /// None without limits.
    pub(crate) fn of(plans: &[LimitPlan]) -> Option<Box<Limit>> {
        let bucket = |plan: &LimitPlan| {
            (
                plan.counts,
                TokenBucket::new(plan.milli_per_s, plan.burst_ns),
            )
        };
        (!plans.is_empty()).then(|| {
            Box::new(Limit {
                buckets: plans.iter().map(bucket).collect(),
                last: Time::ZERO,
            })
        })
    }

    /// When an I/O of so many bytes that comes at `now` passes, behind those that came before it.
    pub(crate) fn pass(&mut self, bytes: u64, now: Time) -> Time {
        let tokens = |counted: Counted| match counted {
            Counted::Ios => 1,
            Counted::Bytes => bytes,
        };
        let free = now.max(self.last);
        let at = self.buckets.iter().fold(free, |at, (counted, bucket)| {
            at.max(bucket.ready(tokens(*counted), now))
        });
        for (counted, bucket) in &mut self.buckets {
            bucket.take(tokens(*counted), at);
        }
        self.last = at;
        at
    }

    /// What each bucket counts, and for how long up to `now` it was not full.
    pub(crate) fn busy_until(&self, now: Time) -> impl Iterator<Item = (Counted, Nanos)> {
        let busy =
            move |(counted, bucket): &(Counted, TokenBucket)| (*counted, bucket.busy_until(now));
        self.buckets.iter().map(busy)
    }

    /// All that waits is gone, and every bucket full.
    pub(crate) fn restart(&mut self, now: Time) {
        self.last = now;
        for (_, bucket) in &mut self.buckets {
            bucket.fill(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(counts: Counted, per_s: u64, burst_ns: u64) -> LimitPlan {
        LimitPlan {
            counts,
            milli_per_s: per_s * 1000,
            burst_ns: Nanos(burst_ns),
        }
    }

    /// By hand: 1000 I/Os and 1 MB a second. Blocks of 500 bytes are held up by the number of
    /// I/Os, blocks of 4000 bytes by their bytes.
    #[test]
    fn the_tighter_of_two_limits_holds() {
        let both = [
            limit(Counted::Ios, 1000, 0),
            limit(Counted::Bytes, 1_000_000, 0),
        ];
        let mut limit = Limit::of(&both).unwrap();
        let at: Vec<u64> = [500, 500, 4000, 4000, 500]
            .map(|bytes| limit.pass(bytes, Time::ZERO).0)
            .into();
        assert_eq!(at, [0, 1_000_000, 2_000_000, 6_000_000, 10_000_000]);
        // Five I/Os take 5 ms of the one, 9500 bytes 9.5 ms of the other; the last began at 10 ms.
        let busy: Vec<_> = limit.busy_until(Time(20_000_000)).collect();
        let of = |counted, ns| (counted, Nanos(ns));
        assert_eq!(
            busy,
            [of(Counted::Ios, 5_000_000), of(Counted::Bytes, 9_500_000)]
        );
    }

    #[test]
    fn after_a_restart_nothing_waits() {
        let mut limit = Limit::of(&[limit(Counted::Ios, 1, 0)]).unwrap();
        for _ in 0..5 {
            limit.pass(512, Time::ZERO);
        }
        limit.restart(Time(2_500_000_000));
        assert_eq!(limit.pass(512, Time(3_000_000_000)), Time(3_000_000_000));
    }
}
