//! Pauses of a device: for a while it takes up no command, for reasons of its own.
//!
//! Firmware has other work: it scrubs pages that reads disturb, writes its own tables, levels wear,
//! answers the health log. Nobody states how often. A *kind* of pause begins after an exponentially
//! distributed gap since its last one ended and is exponentially long; several kinds make any tail
//! that falls ever more slowly (a hyperexponential; Feldmann and Whitt, "Fitting mixtures of
//! exponentials to long-tail distributions", Performance Evaluation 31, 1998). Commands in the
//! device go on. docs/explanation/pauses.md has the equations.

use crate::bounds::LowerBound;
use crate::fault::Fault;
use raidlab_kernel::{Nanos, Stream, Time};
use schemars::JsonSchema;
use serde::Deserialize;

/// One kind of pause in the plan.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct PauseParams {
    /// Mean time from the end of a pause to the next.
    #[schemars(transform = Self::EVERY_NS.said())]
    pub every_ns: Nanos,
    /// Mean length.
    #[schemars(transform = Self::LENGTH_NS.said())]
    pub length_ns: Nanos,
}

impl PauseParams {
    /// Nanoseconds from one pause to the next.
    pub(crate) const EVERY_NS: LowerBound<u64> = LowerBound(1_000);
    /// Nanoseconds of a pause.
    pub(crate) const LENGTH_NS: LowerBound<u64> = LowerBound(1);
}

impl PauseParams {
    /// What is out of its range.
    pub fn faults(&self) -> Vec<Fault> {
        let every = Self::EVERY_NS.fault("every_ns", self.every_ns.0);
        let length = Self::LENGTH_NS.fault("length_ns", self.length_ns.0);
        every.into_iter().chain(length).collect()
    }
}

/// The pauses of one device in a run.
#[derive(Debug)]
pub struct Pauses {
    kinds: Vec<Kind>,
}

#[derive(Debug)]
struct Kind {
    params: PauseParams,
    draws: Stream,
    start: Time,
    end: Time,
}

impl Pauses {
    /// None where there are none. `name` and `seed` give the random streams, one for each kind.
    pub fn of(params: &[PauseParams], seed: u64, name: &str) -> Option<Box<Pauses>> {
        let kind = |(at, &params): (usize, &PauseParams)| Kind {
            params,
            draws: Stream::new(seed, name, &format!("pauses {at}")),
            start: Time::ZERO,
            end: Time::ZERO,
        };
        let kinds: Vec<Kind> = params.iter().enumerate().map(kind).collect();
        (!kinds.is_empty()).then(|| Box::new(Pauses { kinds }))
    }

    /// When the device takes up a command that comes at `now`. Times do not go back.
    pub fn taken_up(&mut self, now: Time) -> Time {
        let mut at = now;
        for kind in &mut self.kinds {
            at = at.max(kind.ends(now));
        }
        at
    }
}

impl Kind {
    /// The end of the pause that lasts at `now`; `now` without one.
    fn ends(&mut self, now: Time) -> Time {
        while self.end <= now {
            self.start = self.end + self.draws.exponential(self.params.every_ns);
            self.end = self.start + self.draws.exponential(self.params.length_ns);
        }
        if self.start <= now { self.end } else { now }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pauses(each: &[(u64, u64)]) -> Pauses {
        let params: Vec<PauseParams> = (each.iter())
            .map(|&(every, length)| PauseParams {
                every_ns: Nanos(every),
                length_ns: Nanos(length),
            })
            .collect();
        *Pauses::of(&params, 1, "drive").unwrap()
    }

    #[test]
    fn a_pause_lasts_for_its_share_of_the_time_and_what_is_left_of_it_is_exponential() {
        // Every 9 ms for 1 ms: a tenth of all instants lie in a pause. Of those exp(-2) = 0.1353
        // lie more than 2 ms before its end: 1.353 % of all.
        let mut pauses = pauses(&[(9_000_000, 1_000_000)]);
        let looks = 2_000_000u64;
        let (mut within, mut longer, mut waited) = (0u64, 0u64, 0u64);
        for look in 0..looks {
            let now = Time(look * 100_003);
            let left = pauses.taken_up(now).since(now).0;
            within += u64::from(left > 0);
            longer += u64::from(left > 2_000_000);
            waited += left;
        }
        let share = |count: u64| count as f64 / looks as f64;
        assert!((share(within) - 0.1).abs() < 0.002, "{}", share(within));
        assert!(
            (share(longer) - 0.013_53).abs() < 0.000_9,
            "{}",
            share(longer)
        );
        // The mean wait is a tenth of 1 ms.
        assert!((waited as f64 / looks as f64 - 100_000.0).abs() < 4_000.0);
    }

    #[test]
    fn kinds_are_beside_each_other_and_draws_are_the_seeds() {
        let at = |pauses: &mut Pauses| -> Vec<u64> {
            let look = |n: u64| pauses.taken_up(Time(n * 10_000)).0;
            (0..20_000).map(look).collect()
        };
        let (mut one, mut other) = (pauses(&[(50_000, 5_000)]), pauses(&[(700_000, 40_000)]));
        let mut both = pauses(&[(50_000, 5_000), (700_000, 40_000)]);
        let (first, together) = (at(&mut one), at(&mut both));
        assert_eq!(first, at(&mut pauses(&[(50_000, 5_000)])));
        assert!(first.iter().zip(&together).all(|(one, both)| one <= both));
        assert!(first != together && at(&mut other) != together);
    }

    #[test]
    fn no_kinds_are_no_pauses() {
        assert!(Pauses::of(&[], 1, "drive").is_none());
        let never = PauseParams {
            every_ns: Nanos(0),
            length_ns: Nanos(0),
        };
        assert_eq!(never.faults().len(), 2);
    }
}
