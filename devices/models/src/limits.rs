//! Limits of I/Os and bytes a second: token buckets that I/Os pass in their order, as a hypervisor,
//! a control group or a cloud's provider limits a tenant.
//!
//! An I/O passes when every bucket has its tokens, and takes them from all of them then.

use raidlab_kernel::{Nanos, Spells, Time, TokenBucket};
use schemars::JsonSchema;
use serde::Deserialize;

/// A bucket that holds more than what flows in within this time saves credit.
const CREDIT: Nanos = Nanos(1_000_000_000);

/// What a limit counts.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    /// I/Os.
    Ios,
    /// Bytes.
    Bytes,
}

/// A limit in the plan: a token bucket.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct LimitParams {
    /// What a token stands for.
    pub counts: Counted,
    /// Thousandths of a token that flow in each second.
    pub milli_per_s: u64,
    /// The bucket holds what flows in within this time.
    pub burst_ns: Nanos,
}

impl LimitParams {
    /// Whole tokens in a full bucket.
    fn capacity(&self) -> u64 {
        let tokens = u128::from(self.milli_per_s) * u128::from(self.burst_ns.0) / 1_000_000_000_000;
        u64::try_from(tokens).unwrap_or(u64::MAX)
    }
}

/// One limit in a run.
#[derive(Debug)]
struct Limit {
    counts: Counted,
    bucket: TokenBucket,
    /// Of one that saves credit, when I/Os were held up: while there is some, it holds nothing up.
    spent: Option<Spells>,
    /// For how long I/Os were held up by it.
    held: Nanos,
}

/// Limits that hold at once; all buckets are full at first.
#[derive(Debug)]
pub struct Limits {
    all: Vec<Limit>,
    /// When the last I/O passes: nothing waits from then on.
    last: Time,
}

impl Limits {
    /// The limits of a plan.
    pub fn new(params: &[LimitParams]) -> Limits {
        let limit = |params: &LimitParams| Limit {
            counts: params.counts,
            bucket: TokenBucket::new(params.milli_per_s, params.burst_ns),
            spent: (params.burst_ns > CREDIT).then(|| Spells::new(CREDIT)),
            held: Nanos::ZERO,
        };
        Limits {
            all: params.iter().map(limit).collect(),
            last: Time::ZERO,
        }
    }

    /// The limits of a plan, with empty buckets.
    pub fn spent(params: &[LimitParams]) -> Limits {
        let mut limits = Limits::new(params);
        for (limit, params) in limits.all.iter_mut().zip(params) {
            limit.bucket.take(params.capacity(), Time::ZERO);
        }
        limits
    }

    /// When a request of `ios` I/Os and `bytes` bytes that comes at `now` passes, behind those that
    /// came before it. A request that counts as none does not wait for tokens.
    pub fn pass(&mut self, ios: u64, bytes: u64, now: Time) -> Time {
        let tokens = |counted: Counted| match counted {
            Counted::Ios => ios,
            Counted::Bytes => bytes,
        };
        let mut at = now.max(self.last);
        let counted = |limit: &Limit| tokens(limit.counts) > 0;
        for limit in self.all.iter_mut().filter(|limit| counted(limit)) {
            let ready = limit.bucket.ready(tokens(limit.counts), at);
            limit.held += ready - at;
            if let Some(spent) = &mut limit.spent
                && ready > at
            {
                spent.add(at, ready);
            }
            at = ready;
        }
        for limit in self.all.iter_mut().filter(|limit| counted(limit)) {
            limit.bucket.take(tokens(limit.counts), at);
        }
        self.last = at;
        at
    }

    /// What each limit counts, and for how long up to `now` its bucket was not full.
    pub fn busy_until(&self, now: Time) -> impl Iterator<Item = (Counted, Nanos)> {
        let busy = move |limit: &Limit| (limit.counts, limit.bucket.busy_until(now));
        self.all.iter().map(busy)
    }

    /// For how long the limit that is used most was used up to `now`. One that saves credit was
    /// while it held I/Os up.
    pub fn most_used_until(&self, now: Time) -> Nanos {
        let ahead = self.last.since(self.last.min(now));
        let used = |limit: &Limit| match limit.spent {
            Some(_) => limit.held.saturating_sub(ahead),
            None => limit.bucket.busy_until(now),
        };
        self.all.iter().map(used).max().unwrap_or(Nanos::ZERO)
    }

    /// For each limit, when its credit was spent and it held I/Os up; none where it saves no credit.
    pub fn spells_of_each(&self) -> impl Iterator<Item = Option<&Spells>> {
        self.all.iter().map(|limit| limit.spent.as_ref())
    }

    /// For each limit that saves credit, when it was spent and held I/Os up.
    pub fn spells(&self) -> impl Iterator<Item = &Spells> {
        self.spells_of_each().flatten()
    }

    /// All that waits is gone, and every bucket full.
    pub fn restart(&mut self, now: Time) {
        self.last = now;
        for limit in &mut self.all {
            limit.bucket.fill(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(counts: Counted, per_s: u64, burst_ns: u64) -> LimitParams {
        LimitParams {
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
        let mut limits = Limits::new(&both);
        let at: Vec<u64> = [500, 500, 4000, 4000, 500]
            .map(|bytes| limits.pass(1, bytes, Time::ZERO).0)
            .into();
        assert_eq!(at, [0, 1_000_000, 2_000_000, 6_000_000, 10_000_000]);
        // Five I/Os take 5 ms of the one, 9500 bytes 9.5 ms of the other; the last began at 10 ms.
        let busy: Vec<_> = limits.busy_until(Time(20_000_000)).collect();
        let of = |counted, ns| (counted, Nanos(ns));
        assert_eq!(
            busy,
            [of(Counted::Ios, 5_000_000), of(Counted::Bytes, 9_500_000)]
        );
        assert_eq!(limits.most_used_until(Time(20_000_000)), Nanos(9_500_000));
    }

    #[test]
    fn after_a_restart_nothing_waits() {
        let mut limits = Limits::new(&[limit(Counted::Ios, 1, 0)]);
        for _ in 0..5 {
            limits.pass(1, 512, Time::ZERO);
        }
        limits.restart(Time(2_500_000_000));
        assert_eq!(
            limits.pass(1, 512, Time(3_000_000_000)),
            Time(3_000_000_000)
        );
    }

    /// Credit for 2 s at one I/O a second: two pass at once, and it is used while the third waits.
    /// Without credit the second one waits already.
    #[test]
    fn credit_holds_nothing_up_until_it_is_spent() {
        let params = [limit(Counted::Ios, 1, 2_000_000_000)];
        let mut limits = Limits::new(&params);
        let at: Vec<u64> = (0..3).map(|_| limits.pass(1, 512, Time::ZERO).0).collect();
        assert_eq!(at, [0, 0, 1_000_000_000]);
        assert_eq!(
            limits.most_used_until(Time(500_000_000)),
            Nanos(500_000_000)
        );
        assert_eq!(
            limits.most_used_until(Time(4_000_000_000)),
            Nanos(1_000_000_000)
        );
        // Two pass at once, the third waits from 0 to 1 s.
        let spells = limits.spells().flat_map(|it| it.until(Time(9_000_000_000)));
        assert_eq!(
            spells.collect::<Vec<_>>(),
            [(Time::ZERO, Time(1_000_000_000))]
        );
        let mut limits = Limits::spent(&params);
        let at: Vec<u64> = (0..2).map(|_| limits.pass(1, 512, Time::ZERO).0).collect();
        assert_eq!(at, [1_000_000_000, 2_000_000_000]);
    }
}
