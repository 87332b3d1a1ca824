//! Temperature: the power that activity costs, one thermal mass, and throttling.
//!
//! The temperature follows C dT/dt = P - (T - ambient) / R. It is solved exactly over each step,
//! with the power constant within it. Above a throttling step's temperature the drive slows its
//! NAND down; it returns to full speed when it has cooled by the hysteresis. The time constant RC
//! is minutes. So a plan of some seconds may give a starting temperature, as an earlier load of the
//! same kind has left it.

use crate::fault::Fault;
use crate::ssd::nand::job::{Operations, UNTHROTTLED};
use raidlab_kernel::{Nanos, Spells, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A throttling step in the plan.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ThrottleStep {
    /// Takes effect at this temperature.
    pub above_c: f64,
    /// Share of its full speed at which NAND then works, more than 0 and at most 1.
    pub speed: f64,
}

/// Temperature and throttling in the plan.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct TemperatureParams {
    /// Air around the drive.
    pub ambient_c: f64,
    /// Drive to air, under the cooling that it has.
    pub resistance_k_per_w: f64,
    /// Of the drive.
    pub capacity_j_per_k: f64,
    /// Power without activity.
    pub idle_w: f64,
    /// Energy of an array read of a page set.
    pub read_nj: f64,
    /// Energy of a program of a page set.
    pub program_nj: f64,
    /// Energy of such a program with one bit a cell; none for as much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_slc_nj: Option<f64>,
    /// Energy of a block's erase.
    pub erase_nj: f64,
    /// Energy of a byte of the host through the controller and over the link.
    pub byte_nj: f64,
    /// Temperature at the start; the idle drive's if none is given.
    #[serde(default)]
    pub start_c: Option<f64>,
    /// Throttling, from the lowest temperature up.
    pub steps: Vec<ThrottleStep>,
    /// A step ends when the drive is this much cooler than where it began.
    pub hysteresis_k: f64,
    /// Time between two updates of the temperature.
    pub interval_ns: Nanos,
}

impl TemperatureParams {
    pub(crate) fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        for (key, value) in [
            ("thermal.resistance_k_per_w", self.resistance_k_per_w),
            ("thermal.capacity_j_per_k", self.capacity_j_per_k),
        ] {
            if value.is_nan() || value <= 0.0 {
                faults.push(Fault::new(key, value, "more than 0"));
            }
        }
        for (index, step) in self.steps.iter().enumerate() {
            if step.above_c.is_nan() || step.above_c <= self.ambient_c {
                faults.push(Fault::new(
                    format!("thermal.steps.{index}.above_c"),
                    step.above_c,
                    format!("above the ambient {} degrees", self.ambient_c),
                ));
            }
            if !(0.01..=1.0).contains(&step.speed) {
                let key = format!("thermal.steps.{index}.speed");
                faults.push(Fault::new(key, step.speed, "0.01 to 1"));
            }
        }
        if !self.steps.is_sorted_by(|a, b| a.above_c < b.above_c) {
            let allowed = "in rising order of temperature";
            faults.push(Fault::new("thermal.steps", self.steps.len(), allowed));
        }
        if self.interval_ns == Nanos::ZERO {
            faults.push(Fault::new("thermal.interval_ns", 0, "more than 0"));
        }
        faults
    }
}

/// The temperature of a drive, for a file of its state.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq)]
pub(crate) struct SavedTemperature {
    pub(crate) celsius: f64,
    /// Throttling steps in effect: by the hysteresis they may outlast their temperature.
    pub(crate) level: u32,
}

/// A drive's temperature in a run.
#[derive(Debug)]
pub(crate) struct Temperature {
    params: TemperatureParams,
    celsius: f64,
    highest: f64,
    /// Throttling steps in effect.
    level: usize,
    seen: Operations,
    updated: Time,
    /// Time spent throttled.
    throttled: Nanos,
    /// When.
    spells: Spells,
    joules: f64,
}

impl Temperature {
    pub(crate) fn new(params: &TemperatureParams) -> Temperature {
        let idle = params.ambient_c + params.idle_w * params.resistance_k_per_w;
        let celsius = params.start_c.unwrap_or(idle);
        let steps = params.steps.iter();
        Temperature {
            celsius,
            highest: celsius,
            level: steps.filter(|step| celsius >= step.above_c).count(),
            seen: Operations::default(),
            updated: Time::ZERO,
            throttled: Nanos::ZERO,
            spells: Spells::new(Nanos::ZERO),
            joules: 0.0,
            params: params.clone(),
        }
    }

    /// This drive at the temperature of a saved state.
    pub(crate) fn resume(mut self, saved: SavedTemperature) -> Temperature {
        self.celsius = saved.celsius;
        self.highest = saved.celsius;
        // Another cooling may have other steps; the next update corrects the level.
        self.level = self.params.steps.len().min(saved.level as usize);
        self
    }

    pub(crate) fn saved(&self) -> SavedTemperature {
        SavedTemperature {
            celsius: self.celsius,
            level: self.level as u32,
        }
    }

    /// Computes the temperature if the interval is over; then returns the stretch of NAND
    /// operations, in 256ths.
    #[inline]
    pub(crate) fn update(&mut self, now: Time, done: &Operations) -> Option<u64> {
        if now.since(self.updated) < self.params.interval_ns {
            return None;
        }
        self.step(now, done);
        Some(self.stretch())
    }

    fn step(&mut self, now: Time, done: &Operations) {
        let p = &self.params;
        let seconds = now.since(self.updated).seconds();
        let slc = p.program_slc_nj.map_or(0.0, |slc| slc - p.program_nj);
        let energy = (done.reads - self.seen.reads) as f64 * p.read_nj
            + (done.programs - self.seen.programs) as f64 * p.program_nj
            + (done.slc_programs - self.seen.slc_programs) as f64 * slc
            + (done.erases - self.seen.erases) as f64 * p.erase_nj
            + (done.host_bytes - self.seen.host_bytes) as f64 * p.byte_nj;
        let joules = p.idle_w * seconds + energy * 1e-9;
        let settled = p.ambient_c + joules / seconds * p.resistance_k_per_w;
        let decay = libm::exp(-seconds / (p.resistance_k_per_w * p.capacity_j_per_k));
        self.celsius = settled + (self.celsius - settled) * decay;
        self.highest = self.highest.max(self.celsius);
        self.joules += joules;
        if self.level > 0 {
            self.throttled += now.since(self.updated);
            self.spells.add(self.updated, now);
        }
        self.seen = *done;
        self.updated = now;
        while self.level < p.steps.len() && self.celsius >= p.steps[self.level].above_c {
            self.level += 1;
        }
        while self.level > 0 && self.celsius < p.steps[self.level - 1].above_c - p.hysteresis_k {
            self.level -= 1;
        }
    }

    pub(crate) fn stretch(&self) -> u64 {
        match self.level {
            0 => UNTHROTTLED,
            level => (UNTHROTTLED as f64 / self.params.steps[level - 1].speed) as u64,
        }
    }

    /// When it was throttled.
    pub(crate) fn spells(&self) -> &Spells {
        &self.spells
    }

    /// (temperature now, highest so far, seconds throttled, joules)
    pub(crate) fn figures(&self) -> (f64, f64, f64, f64) {
        (
            self.celsius,
            self.highest,
            self.throttled.seconds(),
            self.joules,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params() -> TemperatureParams {
        TemperatureParams {
            ambient_c: 25.0,
            resistance_k_per_w: 2.0,
            capacity_j_per_k: 10.0,
            idle_w: 5.0,
            read_nj: 0.0,
            program_nj: 1e6,
            program_slc_nj: None,
            erase_nj: 0.0,
            byte_nj: 0.0,
            start_c: Some(25.0),
            steps: vec![ThrottleStep {
                above_c: 60.0,
                speed: 0.5,
            }],
            hysteresis_k: 5.0,
            interval_ns: Nanos(100_000_000),
        }
    }

    #[test]
    fn an_idle_drive_warms_up_by_the_exponential_law() {
        let mut drive = Temperature::new(&params());
        // One time constant is 20 s: 63.2 % of the step from 25 to 35 degrees.
        for tenth in 1..=200 {
            drive.update(Time(tenth * 100_000_000), &Operations::default());
        }
        let expected = 35.0 - 10.0 * libm::exp(-1.0);
        assert!((drive.figures().0 - expected).abs() < 1e-9, "{drive:?}");
    }

    /// Between the two temperatures of the hysteresis only the level decides whether a drive is
    /// throttled: it goes on as it was, at the temperature that it had.
    #[test]
    fn a_saved_drive_is_as_warm_and_as_throttled_as_it_was() {
        let mut drive = Temperature::new(&params());
        let busy = Operations {
            programs: 360_000,
            ..Operations::default()
        };
        drive.update(Time(1_000_000_000), &busy);
        drive.update(Time(2_600_000_000), &busy);
        assert!((55.0..60.0).contains(&drive.figures().0), "{drive:?}");
        let again = Temperature::new(&params()).resume(drive.saved());
        assert_eq!(again.stretch(), 2 * UNTHROTTLED);
        assert_eq!(again.figures().0, drive.figures().0);
        let mut other = params();
        other.steps.clear();
        let elsewhere = Temperature::new(&other).resume(drive.saved());
        assert_eq!(elsewhere.stretch(), UNTHROTTLED);
    }

    #[test]
    fn throttling_begins_above_the_step_and_ends_below_the_hysteresis() {
        let mut drive = Temperature::new(&params());
        let mut done = Operations::default();
        let mut now = 0;
        // 5 W + 20,000 programs a second of 1 mJ: towards 75 degrees.
        while drive.stretch() == UNTHROTTLED {
            now += 100_000_000;
            done.programs += 2000;
            drive.update(Time(now), &done);
        }
        assert!((60.0..60.5).contains(&drive.figures().0));
        assert_eq!(drive.stretch(), 2 * UNTHROTTLED);
        while drive.stretch() != UNTHROTTLED {
            now += 100_000_000;
            drive.update(Time(now), &done);
        }
        assert!((54.5..55.0).contains(&drive.figures().0));
    }
}
