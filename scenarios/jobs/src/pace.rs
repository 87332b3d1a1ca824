//! Caps of a thread: when its next I/O of each direction may come.
//!
//! Like fio, who is late catches up: an even cap is a token bucket without a limit of its size that
//! begins empty, and an I/O may leave a debt. Random gaps add up from the begin of the job.

use crate::plan::{Cap, JobPlan};
use crate::random::{Purpose, SeedTable, Taus88};
use raidlab_kernel::{Nanos, Time, TokenBucket};

/// Tokens collect for a day.
const BURST: Nanos = Nanos(86_400_000_000_000);
const MILLI: u64 = 1000;
const SECOND_US: u64 = 1_000_000;

#[derive(Debug)]
enum Law {
    Even(TokenBucket),
    Poisson {
        mean: Gap,
        sum: Nanos,
        random: Taus88,
    },
}

/// The mean of exponential gaps.
#[derive(Clone, Copy, Debug)]
enum Gap {
    /// Each gap is cut down to whole microseconds.
    Micros(u64),
    Nanos(f64),
}

impl Gap {
    /// The gap of a share of them, from above 0 to 1, that are longer.
    fn drawn(self, share: f32) -> Nanos {
        let times = -libm::logf(share);
        match self {
            Gap::Micros(mean) => Nanos((mean as f32 * times) as u64 * MILLI),
            Gap::Nanos(mean) => Nanos((mean * f64::from(times)) as u64),
        }
    }
}

/// The caps of a thread.
#[derive(Debug)]
pub(crate) struct Pace {
    laws: [Option<Law>; 3],
    began: Time,
}

impl Pace {
    pub(crate) fn new(plan: &JobPlan, now: Time) -> Pace {
        let seeds = SeedTable::new(&plan.seeds, plan.number, plan.random);
        let purposes = [Purpose::ReadGaps, Purpose::WriteGaps, Purpose::TrimGaps];
        let law = |at: usize| {
            let Cap {
                bytes_per_s,
                poisson,
                exact,
            } = plan.caps[at];
            if bytes_per_s == 0 {
                return None;
            }
            Some(if poisson {
                let bytes = plan.sizes[at].min;
                let mean = if exact {
                    Gap::Nanos(1e9 * bytes as f64 / bytes_per_s as f64)
                } else {
                    Gap::Micros(SECOND_US / (bytes_per_s / bytes).max(1))
                };
                Law::Poisson {
                    mean,
                    sum: Nanos::ZERO,
                    random: Taus88::new(seeds.of(purposes[at])),
                }
            } else {
                let mut bucket = TokenBucket::new(bytes_per_s * MILLI, BURST);
                bucket.take(bytes_per_s * (BURST.0 / 1_000_000_000), now);
                Law::Even(bucket)
            })
        };
        Pace {
            laws: [law(0), law(1), law(2)],
            began: now,
        }
    }

    /// When an I/O of a direction may come, from `now` on.
    pub(crate) fn ready(&self, direction: usize, now: Time) -> Time {
        match &self.laws[direction] {
            None => now,
            Some(Law::Even(bucket)) => bucket.ready(0, now),
            Some(Law::Poisson { sum, .. }) => now.max(self.began + *sum),
        }
    }

    /// An I/O of `bytes` bytes comes.
    pub(crate) fn take(&mut self, direction: usize, bytes: u64, now: Time) {
        match &mut self.laws[direction] {
            None => {}
            Some(Law::Even(bucket)) => bucket.take(bytes, now),
            Some(Law::Poisson { mean, sum, random }) => {
                let share = (f64::from(random.bits()) + 1.0) / 4_294_967_296.0;
                *sum += mean.drawn(share as f32);
            }
        }
    }
}
