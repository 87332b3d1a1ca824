//! Noisy steps are measured again, and repeated steps have a spread.

use crate::attempts::{Attempt, Spread};
use crate::campaign::Campaign;
use crate::fio::Summary;
use crate::manifest::{State, StepRecord};
use crate::noise::{Noise, Watch};
use crate::plan::Plan;
use crate::progress::Progress;
use crate::step::{Purpose, Step};
use crate::stop::Stop;

/// After this number of steps in a row that no repeat made quiet, the session repeats none any more.
const IN_VAIN: u32 = 3;

/// How often noisy steps are measured again.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Further runs of a step at most.
    again: usize,
    in_vain: u32,
}

impl Patience {
    /// At most `again` further runs of each step.
    pub fn new(again: usize) -> Patience {
        Patience { again, in_vain: 0 }
    }

    /// Further runs that a step may have. One that writes has none: it would meet another state of
    /// the drive.
    fn of(&self, step: &Step) -> usize {
        let repeatable = step.purpose == Purpose::Measure && !step.writes;
        if repeatable && self.in_vain < IN_VAIN {
            self.again
        } else {
            0
        }
    }

    /// True if repeating is given up with this step.
    fn ends_with(&mut self, attempts: usize, noisy: bool) -> bool {
        if !noisy {
            self.in_vain = 0;
        } else if attempts > 1 {
            self.in_vain += 1;
            return self.in_vain == IN_VAIN;
        }
        false
    }
}

impl Campaign<'_> {
    /// Measures a step until a run of it is quiet, or patience is at its end; `record` says what
    /// the machine did meanwhile.
    pub(crate) fn measure_quietly(
        &mut self,
        record: &mut StepRecord,
        index: usize,
        progress: &mut Progress,
    ) -> Result<Summary, Stop> {
        let step = record.step.clone();
        let again = self.patience.of(&step);
        loop {
            let mut watch = self.watch.take();
            if let Some(watch) = &mut watch {
                watch.begin();
            }
            let outcome = self.measure(&step, index, watch.as_mut(), progress);
            record.noise = watch.as_mut().map(Watch::end);
            self.watch = watch;
            let summary = outcome?;
            let measured = record
                .noise
                .as_ref()
                .filter(|_| step.purpose == Purpose::Measure);
            record.noisy = measured.map_or(Vec::new(), Noise::faults);
            record.attempts.push(Attempt {
                iops: summary.iops,
                noisy: record.noisy.clone(),
            });
            let (runs, noisy) = (record.attempts.len(), !record.noisy.is_empty());
            let repeat = noisy && runs <= again;
            if noisy {
                let then = if repeat { "measured again" } else { "marked" };
                let why = record.noisy.join("; ");
                progress.warn(&format!("step {} was noisy, {then}: {why}", step.stem()));
            }
            if repeat {
                continue;
            }
            if self.patience.ends_with(runs, noisy) {
                progress.warn("the machine is noisy all the time: noisy steps are only marked now");
            }
            if runs == 1 {
                record.attempts.clear();
            }
            return Ok(summary);
        }
    }
}

/// The spread of every step that was measured in several rounds; rounds of a test for steady state
/// are none.
pub fn spreads(plan: &Plan, steps: &[StepRecord]) -> Vec<Spread> {
    let mut found: Vec<Spread> = Vec::new();
    for stage in plan.stages.iter().filter(|s| s.steady_state.is_none()) {
        let own = || {
            steps.iter().filter(|record| {
                let done = record.state == State::Done;
                done && record.step.stage == stage.name && record.step.purpose == Purpose::Measure
            })
        };
        for first in own().filter(|record| record.step.round == 1) {
            let rates: Vec<f64> = own()
                .filter(|record| record.step.name == first.step.name)
                .filter_map(|record| Some(record.summary?.iops))
                .collect();
            if rates.len() > 1 {
                found.push(spread(&stage.name, &first.step.name, &rates));
            }
        }
    }
    found
}

fn spread(stage: &str, step: &str, rates: &[f64]) -> Spread {
    let runs = rates.len();
    let mean = rates.iter().sum::<f64>() / runs as f64;
    let squares: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
    let deviation = (squares / (runs - 1) as f64).sqrt();
    Spread {
        stage: stage.to_owned(),
        step: step.to_owned(),
        runs,
        iops_mean: mean,
        iops_deviation: if mean > 0.0 { deviation / mean } else { 0.0 },
        iops_min: rates.iter().copied().fold(f64::INFINITY, f64::min),
        iops_max: rates.iter().copied().fold(0.0, f64::max),
    }
}

/// The steps that vary most, in a line; none without repeats.
pub fn show_spreads(spreads: &[Spread]) -> Option<String> {
    let most = spreads
        .iter()
        .max_by(|a, b| a.iops_deviation.total_cmp(&b.iops_deviation))?;
    let mut shares: Vec<f64> = spreads.iter().map(|each| each.iops_deviation).collect();
    shares.sort_by(f64::total_cmp);
    Some(format!(
        "spread of repeated steps (standard deviation of IO/s): median {:.1} %, most {:.1} % ({})",
        100.0 * shares[shares.len() / 2],
        100.0 * most.iops_deviation,
        most.step
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 90, 100 and 110: a mean of 100 and a standard deviation of 10.
    #[test]
    fn the_spread_by_hand() {
        let found = spread("s", "a", &[90.0, 110.0, 100.0]);
        assert_eq!((found.runs, found.iops_mean), (3, 100.0));
        assert!((found.iops_deviation - 0.1).abs() < 1e-12);
        assert_eq!((found.iops_min, found.iops_max), (90.0, 110.0));
        let quiet = spread("s", "b", &[5.0, 5.0]);
        let line = show_spreads(&[quiet.clone(), found.clone(), quiet]).unwrap();
        assert!(line.ends_with("median 0.0 %, most 10.0 % (a)"), "{line}");
        assert_eq!(show_spreads(&[]), None);
    }

    #[test]
    fn patience_ends_after_three_steps_in_vain() {
        let mut patience = Patience::new(2);
        assert!(!patience.ends_with(3, true) && !patience.ends_with(3, true));
        // A quiet step in between restores it; a step that had no repeats does not count.
        assert!(!patience.ends_with(2, false) && !patience.ends_with(1, true));
        assert!(!patience.ends_with(3, true) && !patience.ends_with(3, true));
        assert!(patience.ends_with(3, true));
        assert!(!patience.ends_with(3, true));
    }
}
