//! When the I/Os of an open load arrive.
//!
//! All but even arrivals are Poisson streams whose rate changes: by phases that last exponentially
//! long (a Markov-modulated Poisson process, Fischer and Meier-Hellstern 1993), by the number of
//! sources whose phases have Pareto lengths (self-similar, Willinger et al. 1997), or by the time of
//! day. At a change of the rate the gap is drawn anew, which is exact: exponential gaps have no
//! memory.

use crate::plan::{Arrival, Pattern};
use crate::state::traced::Traced;
use raidlab_kernel::{Nanos, Stream, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A billion nanoseconds a second, in thousandths: what a gap at a thousandth of an I/O a second is.
const SCALE: f64 = 1e12;

/// The arrivals of one load.
#[derive(Debug)]
pub(crate) enum Arrivals {
    /// Independent of each other, with this mean gap.
    Poisson(Nanos),
    /// Every other pattern.
    Patterned(Box<Patterned>),
    /// As a file has recorded.
    Traced(Box<Traced>),
}

/// Arrivals whose next instant depends on more than the mean.
#[derive(Debug)]
pub(crate) enum Patterned {
    /// Even gaps: 10^12 over thousandths of an I/O a second, with what the last one left over.
    Even { milli_per_s: u64, rest: u64 },
    /// A Poisson stream at a rate that changes.
    Changing { rate: Rate, until: Time },
}

/// A rate that changes at instants.
#[derive(Debug)]
pub(crate) enum Rate {
    Phases(Phases),
    Sources(Sources),
    Day(Day),
}

/// Two rates in turn, each for an exponential time.
#[derive(Debug)]
pub(crate) struct Phases {
    per_s: [f64; 2],
    means: [Nanos; 2],
    now_in: usize,
}

/// Sources that are on and off for Pareto times; `per_s` is the rate of one that is on.
#[derive(Debug)]
pub(crate) struct Sources {
    per_s: f64,
    means: [Nanos; 2],
    shape: f64,
    /// When each source changes, and whether it is on until then.
    changes: BinaryHeap<Reverse<(Time, bool)>>,
    on: u32,
}

/// Rates by the time of day, each for a step.
#[derive(Debug)]
pub(crate) struct Day {
    per_s: Vec<f64>,
    step: Nanos,
}

impl Arrivals {
    /// The arrivals that a plan asks for; none of a closed load, and of a trace, which is opened.
    pub(crate) fn of(arrival: &Arrival, draws: &mut Stream) -> Option<Arrivals> {
        match arrival {
            Arrival::Closed { .. } | Arrival::Traced { .. } => None,
            Arrival::Poisson { per_s } => Some(Arrivals::Poisson(mean_gap(*per_s))),
            Arrival::Patterned { per_s, pattern } => Some(Arrivals::Patterned(Box::new(
                Patterned::of(*per_s, pattern, draws),
            ))),
        }
    }

    /// The arrival behind one at `now`.
    #[inline]
    pub(crate) fn next(&mut self, now: Time, draws: &mut Stream) -> Time {
        match self {
            Arrivals::Poisson(mean) => now + draws.exponential(*mean),
            Arrivals::Patterned(patterned) => patterned.next(now, draws),
            Arrivals::Traced(traced) => traced.advance(),
        }
    }
}

fn mean_gap(per_s: f64) -> Nanos {
    Nanos::from_seconds(1.0 / per_s)
}

impl Patterned {
    fn of(per_s: f64, pattern: &Pattern, draws: &mut Stream) -> Patterned {
        let rate = match pattern {
            Pattern::Even => {
                let milli_per_s = ((per_s * 1000.0).round() as u64).max(1);
                return Patterned::Even {
                    milli_per_s,
                    rest: 0,
                };
            }
            Pattern::OnOff {
                on_ns,
                off_ns,
                off_rate,
            } => {
                let (on, off) = (on_ns.0 as f64, off_ns.0 as f64);
                let peak = per_s * (on + off) / (on + off_rate * off);
                let is_on = draws.chance(on / (on + off));
                Rate::Phases(Phases {
                    per_s: [peak, off_rate * peak],
                    means: [*on_ns, *off_ns],
                    // The first change begins the phase.
                    now_in: usize::from(is_on),
                })
            }
            Pattern::SelfSimilar {
                on_ns,
                off_ns,
                hurst,
                sources,
            } => Rate::Sources(Sources::new(
                per_s,
                [*on_ns, *off_ns],
                3.0 - 2.0 * hurst,
                *sources,
                draws,
            )),
            Pattern::Daily { step_ns, shares } => {
                let mean = shares.iter().sum::<f64>() / shares.len() as f64;
                Rate::Day(Day {
                    per_s: shares.iter().map(|share| per_s * share / mean).collect(),
                    step: *step_ns,
                })
            }
        };
        Patterned::Changing {
            rate,
            until: Time::ZERO,
        }
    }

    #[inline(never)]
    fn next(&mut self, mut now: Time, draws: &mut Stream) -> Time {
        match self {
            Patterned::Even { milli_per_s, rest } => {
                let whole = SCALE as u64 + *rest;
                *rest = whole % *milli_per_s;
                now + Nanos(whole / *milli_per_s)
            }
            Patterned::Changing { rate, until } => loop {
                while *until <= now {
                    *until = rate.change(*until, draws);
                }
                let per_s = rate.per_s(now);
                if per_s > 0.0 {
                    let at = now + draws.exponential(mean_gap(per_s));
                    if at < *until {
                        return at;
                    }
                }
                now = *until;
            },
        }
    }
}

impl Rate {
    /// I/Os a second at `now`, before the next change.
    fn per_s(&self, now: Time) -> f64 {
        match self {
            Rate::Phases(phases) => phases.per_s[phases.now_in],
            Rate::Sources(sources) => f64::from(sources.on) * sources.per_s,
            Rate::Day(day) => day.per_s[(now.0 / day.step.0) as usize % day.per_s.len()],
        }
    }

    /// The rate changes at `at`; when it changes next.
    fn change(&mut self, at: Time, draws: &mut Stream) -> Time {
        match self {
            Rate::Phases(phases) => {
                phases.now_in = 1 - phases.now_in;
                at + draws.exponential(phases.means[phases.now_in]).max(Nanos(1))
            }
            Rate::Sources(sources) => sources.change(draws),
            Rate::Day(day) => at + day.step,
        }
    }
}

impl Sources {
    /// Sources as they are found long after their start.
    fn new(per_s: f64, means: [Nanos; 2], shape: f64, count: u32, draws: &mut Stream) -> Sources {
        let share = means[0].0 as f64 / (means[0].0 + means[1].0) as f64;
        let mut sources = Sources {
            per_s: per_s / (f64::from(count) * share),
            means,
            shape,
            changes: BinaryHeap::with_capacity(count as usize),
            on: 0,
        };
        for _ in 0..count {
            let on = draws.chance(share);
            sources.on += u32::from(on);
            let rest = draws.pareto_rest(means[usize::from(!on)], shape);
            sources.changes.push(Reverse((Time::ZERO + rest, on)));
        }
        sources
    }

    /// What is due changes; when the next source does.
    fn change(&mut self, draws: &mut Stream) -> Time {
        let Some(Reverse((due, _))) = self.changes.peek().copied() else {
            return Time::NEVER;
        };
        while let Some(Reverse((at, was_on))) = self.changes.peek().copied() {
            if at > due {
                return at;
            }
            self.changes.pop();
            let on = !was_on;
            self.on = if on { self.on + 1 } else { self.on - 1 };
            let length = draws.pareto(self.means[usize::from(!on)], self.shape);
            self.changes.push(Reverse((at + length.max(Nanos(1)), on)));
        }
        Time::NEVER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(pattern: Pattern, per_s: f64, window_ns: u64, windows: usize) -> Vec<f64> {
        let mut draws = Stream::new(5, "load", "pause");
        let arrival = Arrival::Patterned { per_s, pattern };
        let mut arrivals = Arrivals::of(&arrival, &mut draws).unwrap();
        let mut counts = vec![0.0; windows];
        let mut now = arrivals.next(Time::ZERO, &mut draws);
        while let Some(count) = counts.get_mut((now.0 / window_ns) as usize) {
            *count += 1.0;
            now = arrivals.next(now, &mut draws);
        }
        counts
    }

    fn mean_and_variance(values: &[f64]) -> (f64, f64) {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let square = values.iter().map(|value| (value - mean).powi(2));
        (mean, square.sum::<f64>() / values.len() as f64)
    }

    /// Three I/Os a second divide into no whole nanoseconds, and yet 3000 come in 1000 s.
    #[test]
    fn even_arrivals_keep_their_rate() {
        let mut draws = Stream::new(1, "load", "pause");
        let arrival = Arrival::Patterned {
            per_s: 3.0,
            pattern: Pattern::Even,
        };
        let mut arrivals = Arrivals::of(&arrival, &mut draws).unwrap();
        let mut now = Time::ZERO;
        for _ in 0..3000 {
            now = arrivals.next(now, &mut draws);
        }
        assert_eq!(now, Time(1_000_000_000_000));
    }

    /// In windows far longer than the phases the variance of a count over its mean is
    /// 1 + 2 v t / rate. With rate 1000, phases of 10 ms on and 30 ms off: peak 4000, relaxation
    /// time t = on off / (on + off) = 7.5 ms, variance of the rate v = 4000² x 1/4 x 3/4 =
    /// 3 x 10^6, so 1 + 2 x 3 x 10^6 x 0.0075 / 1000 = 46.
    #[test]
    fn on_off_arrivals_have_their_index_of_dispersion() {
        let pattern = Pattern::OnOff {
            on_ns: Nanos(10_000_000),
            off_ns: Nanos(30_000_000),
            off_rate: 0.0,
        };
        let (mean, variance) = mean_and_variance(&counts(pattern, 1000.0, 2_000_000_000, 1000));
        // Standard error of the mean: sqrt(46 x 2000 / 1000) = 9.6.
        assert!((mean - 2000.0).abs() < 48.0, "{mean}");
        // Of the index: 46 sqrt(2 / 1000) = 2; windows of 2 s lose 0.4 % of it.
        let index = variance / mean;
        assert!((index - 46.0).abs() < 10.0, "{index}");
    }

    /// The variance of counts over windows grows with the length to the power of 2 H.
    #[test]
    fn self_similar_arrivals_have_their_hurst_parameter() {
        for hurst in [0.7, 0.9] {
            let pattern = Pattern::SelfSimilar {
                on_ns: Nanos(20_000_000),
                off_ns: Nanos(20_000_000),
                hurst,
                sources: 50,
            };
            let counts = counts(pattern, 2000.0, 200_000_000, 1 << 14);
            let variances: Vec<f64> = (0..8)
                .map(|level| {
                    let sums: Vec<f64> = counts
                        .chunks(1 << level)
                        .map(|chunk| chunk.iter().sum())
                        .collect();
                    mean_and_variance(&sums).1.log2()
                })
                .collect();
            // Least squares over lengths of 0.2 to 25 s.
            let slope = variances
                .iter()
                .zip(0..)
                .map(|(v, x)| v * (f64::from(x) - 3.5));
            let found = slope.sum::<f64>() / 42.0 / 2.0;
            assert!((found - hurst).abs() < 0.08, "{found} for {hurst}");
        }
    }

    /// A day of four steps with shares 0, 1, 2 and 1: Poisson counts within five deviations.
    #[test]
    fn a_day_has_its_rates() {
        let pattern = Pattern::Daily {
            step_ns: Nanos(10_000_000_000),
            shares: vec![0.0, 1.0, 2.0, 1.0],
        };
        let found = counts(pattern, 1000.0, 10_000_000_000, 8);
        for (count, exact) in found.iter().zip([0.0, 1e4, 2e4, 1e4, 0.0, 1e4, 2e4, 1e4]) {
            assert!((count - exact).abs() <= 5.0 * f64::sqrt(exact), "{found:?}");
        }
    }
}
