//! What a run owes to the one past that its flash drives had.
//!
//! Two runs with other seeds differ by the state in which preconditioning leaves the drives, and a
//! run that is short against a drive cannot see by how much. So its begin is run once more after
//! another past, in which collection has noticeably more or less to do. By how much a rate or a
//! latency differs, over by how much write amplification does, is the figure's slope. The slope
//! times the scatter of write amplification between pasts (`Device::past_scatter`) is the figure's.

use crate::plan::Plan;
use crate::run::report::RunResult;
use crate::run::system::System;
use raidlab_kernel::{Batches, Histogram, Nanos, PERCENTILES, Side, Time, student_t_975};
use raidlab_models::{DeviceParams, Written};

/// I/Os of the begin that is compared: enough for a slope, and a fraction of a second's work.
const COMPARED: u64 = 1 << 17;
/// Pasts that turned out closer than this part of a standard deviation say nothing of a slope.
const CLOSE: f64 = 0.5;

/// By how much a latency's mean and ranks may differ after another past: half 95 % widths.
#[derive(Clone, Debug, Default)]
pub(crate) struct SidePast {
    /// As a share of the mean.
    pub(crate) mean: f64,
    /// In shares of the I/Os.
    pub(crate) ranks: [f64; PERCENTILES.len()],
}

/// The same of a load: all I/Os, reads, writes.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoadPast {
    /// As a share of the rate.
    pub(crate) rate: f64,
    pub(crate) sides: [SidePast; 3],
}

/// What a load has recorded.
#[derive(Clone, Debug)]
struct Recorded {
    span: Nanos,
    histograms: [Histogram; 3],
}

/// What the loads have recorded up to a moment, and what the drives did for it.
#[derive(Debug)]
pub(crate) struct Begin {
    loads: Vec<Recorded>,
    ios: u64,
    amplification: f64,
    /// Of its logarithm between pasts, over this time.
    deviation: f64,
}

/// What flash had been written before the recording, drive by drive.
#[derive(Debug)]
pub(crate) struct Start(Vec<Written>);

impl Start {
    pub(crate) fn take(system: &System) -> Start {
        let drives = system.layers.path.drives.iter();
        Start(
            drives
                .map(|drive| drive.device.written().unwrap_or_default())
                .collect(),
        )
    }

    /// Write amplification of all drives since then, how far it differs between pasts, and with how
    /// many degrees of freedom that is known. None where collection had nothing to do.
    ///
    /// Drives of one model have one past, so their deviations add up.
    fn work(&self, system: &System) -> Option<(f64, f64, f64)> {
        let (mut host, mut all, mut scattered) = (0.0, 0.0, 0.0);
        let mut degrees = f64::INFINITY;
        for (drive, before) in system.layers.path.drives.iter().zip(&self.0) {
            let Some(now) = drive.device.written() else {
                continue;
            };
            let done = now.since(*before);
            let units = (done.host_units + done.moved_units) as f64;
            host += done.host_units as f64;
            all += units;
            if done.moved_units > 0
                && let Some(found) = drive.device.past_scatter(done.host_units)
            {
                scattered += units * found.deviation;
                degrees = degrees.min(found.degrees);
            }
        }
        let known = host > 0.0 && scattered > 0.0;
        known.then(|| (all / host, scattered / all, degrees))
    }
}

impl Begin {
    fn of(system: &System, start: &Start) -> Option<Begin> {
        let (amplification, deviation, _) = start.work(system)?;
        let loads = system.layers.loads.workloads().iter();
        let loads = loads.map(|load| {
            let meter = &load.meter;
            let mut all = meter.reads.clone();
            all.merge(&meter.writes);
            Recorded {
                span: meter.last().since(meter.from()),
                histograms: [all, meter.reads.clone(), meter.writes.clone()],
            }
        });
        Some(Begin {
            loads: loads.collect(),
            ios: system.layers.loads.recorded(),
            amplification,
            deviation,
        })
    }

    /// Half widths by what differs in the same begin after another past; `half` is that of the
    /// logarithm of write amplification.
    fn against(&self, other: &Begin, half: f64) -> Vec<LoadPast> {
        let apart = (other.amplification / self.amplification).ln().abs();
        let scale = half / apart.max(CLOSE * self.deviation);
        let loads = self.loads.iter().zip(&other.loads);
        loads
            .map(|(own, other)| own.against(other, scale))
            .collect()
    }
}

impl Recorded {
    fn against(&self, other: &Recorded, scale: f64) -> LoadPast {
        let apart = |own: f64, other: f64| {
            let known = own > 0.0 && other > 0.0;
            if known {
                (other / own).ln().abs() * scale
            } else {
                0.0
            }
        };
        let rate = |load: &Recorded| load.histograms[0].count() as f64 / load.span.float();
        let mut found = LoadPast {
            rate: apart(rate(self), rate(other)),
            ..LoadPast::default()
        };
        let histograms = self.histograms.iter().zip(&other.histograms);
        for (side, (own, other)) in found.sides.iter_mut().zip(histograms) {
            let (Some(mean), Some(other_mean)) = (own.mean(), other.mean()) else {
                continue;
            };
            side.mean = apart(mean, other_mean);
            let (own, other) = (own.distribution(), other.distribution());
            for (half, (_, share)) in side.ranks.iter_mut().zip(PERCENTILES) {
                let at = own.quantile(share);
                *half = at.map_or(0.0, |at| (other.rank(at) - own.rank(at)).abs() * scale);
            }
        }
        found
    }
}

/// A load's record, from which its intervals are made anew.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) batches: Batches,
    pub(crate) histograms: [Histogram; 3],
}

/// What a run that is over leaves to be compared.
#[derive(Debug)]
pub(crate) struct Seen {
    start: Start,
    begin: Option<Begin>,
    /// True if the course of the run is the question: all of it is compared.
    whole: bool,
}

/// All that a run with another past is compared with, once the system is gone.
#[derive(Debug)]
pub(crate) struct Compared {
    begin: Begin,
    whole: bool,
    kept: Vec<Kept>,
    /// Half of the 95 % interval of the logarithm of write amplification between pasts.
    half: f64,
}

impl Seen {
    /// None where a plan does not ask for it.
    pub(crate) fn of(plan: &Plan, system: &System) -> Option<Seen> {
        plan.heeds_past.then(|| Seen {
            start: Start::take(system),
            begin: None,
            whole: !plan.events.is_empty() || plan.after_rebuild_ns > Nanos::ZERO,
        })
    }

    /// Looks whether the begin is over.
    #[inline]
    pub(crate) fn look(&mut self, system: &System) {
        if self.begin.is_none() && !self.whole && system.layers.loads.recorded() >= COMPARED {
            self.begin = Begin::of(system, &self.start);
        }
    }

    /// The end of the recording; none where collection had nothing to do.
    pub(crate) fn ended(self, system: &System) -> Option<Compared> {
        let (_, deviation, degrees) = self.start.work(system)?;
        let whole = self.begin.is_none();
        let begin = match self.begin {
            Some(begin) => begin,
            None => Begin::of(system, &self.start)?,
        };
        let loads = system.layers.loads.workloads().iter();
        let kept = loads.map(|load| {
            let meter = &load.meter;
            let mut all = meter.reads.clone();
            all.merge(&meter.writes);
            Kept {
                batches: meter.batches.clone(),
                histograms: [all, meter.reads.clone(), meter.writes.clone()],
            }
        });
        Some(Compared {
            begin,
            whole,
            kept: kept.collect(),
            half: student_t_975(degrees) * deviation,
        })
    }
}

impl Compared {
    /// The plan of the same begin after another past, which records from `warm` on.
    pub(crate) fn plan(&self, plan: &Plan, warm: Time) -> Plan {
        let mut other = plan.clone();
        for device in &mut other.devices {
            if let DeviceParams::Ssd(params) = device {
                params.another_past = true;
            }
        }
        other.warm_up_ns = warm.since(Time::ZERO);
        other.warm_up_most_ns = Nanos::ZERO;
        other.precision = 0.0;
        other.max_ios = if self.whole && plan.precision == 0.0 {
            plan.max_ios
        } else {
            self.begin.ios
        };
        other.save_state = None;
        other.details = crate::plan::Details::default();
        other
    }

    /// Widens the intervals of a result by what the same begin found after another past.
    pub(crate) fn widen(&self, result: &mut RunResult, other: &System, start: &Start) {
        let Some(found) = Begin::of(other, start) else {
            return;
        };
        let halves = self.begin.against(&found, self.half);
        for ((load, kept), half) in result.workloads.iter_mut().zip(&self.kept).zip(&halves) {
            load.heed_past(kept, half);
        }
    }
}

/// All I/Os, reads, writes: the order of [`LoadPast::sides`].
pub(crate) const SIDES: [Side; 3] = [Side::All, Side::Reads, Side::Writes];

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(latencies: impl Iterator<Item = u64>, span: u64) -> Recorded {
        let mut writes = Histogram::default();
        latencies.for_each(|latency| writes.record(Nanos(latency)));
        Recorded {
            span: Nanos(span),
            histograms: [writes.clone(), Histogram::default(), writes],
        }
    }

    fn begin(load: Recorded, amplification: f64) -> Begin {
        Begin {
            loads: vec![load],
            ios: 1000,
            amplification,
            deviation: 0.01,
        }
    }

    /// By hand: write amplification is 2 % higher and so is each latency, the rate is 2 % lower. So
    /// slopes are 1 and -1, and half a per cent of write amplification is half a per cent of each.
    /// From 1000 to 1999 ns one in a thousand latencies lies at each: at 1499 ns 1470 / 1.02 lie
    /// below, about 29.4 of 1000 fewer; their rank moves by 0.0294 / ln 1.02 * 0.005 = 0.0074.
    #[test]
    fn a_figure_differs_by_its_slope_times_the_scatter() {
        let own = begin(recorded(1000..2000, 1_000_000), 2.0);
        let slower = recorded((1000..2000).map(|ns| ns * 102 / 100), 1_020_000);
        let found = &own.against(&begin(slower, 2.04), 0.005)[0];
        assert!((found.rate - 0.005).abs() < 1e-6, "{found:?}");
        let [all, reads, writes] = &found.sides;
        assert!((all.mean - 0.005).abs() < 1e-4, "{found:?}");
        assert!((all.ranks[0] - 0.0074).abs() < 0.0008, "{found:?}");
        assert_eq!((writes.mean, reads.mean), (all.mean, 0.0));
    }

    /// Pasts that are nearly alike say nothing of a slope: what differs is chance.
    #[test]
    fn pasts_that_are_alike_are_taken_to_be_half_a_deviation_apart() {
        let own = begin(recorded(1000..2000, 1_000_000), 2.0);
        let other = begin(recorded(1000..2000, 1_010_000), 2.0);
        let found = &own.against(&other, 0.02)[0];
        assert!((found.rate - 1.01_f64.ln() * 0.02 / 0.005).abs() < 1e-9);
    }
}
