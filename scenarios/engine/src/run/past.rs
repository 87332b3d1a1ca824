//! What a run owes to the one past that its flash drives had.
//!
//! Two runs with other seeds differ by the state in which preconditioning leaves the drives, and a
//! run that is short against a drive cannot see by how much. So its begin is run once more after
//! another past, in which collection has noticeably more or less to do. By how much a rate or a
//! latency differs, over by how much write amplification does, is the figure's slope. The slope
//! times the scatter of write amplification between pasts (`Device::past_scatter`) is the figure's.

use crate::plan::Plan;
use crate::run::system::System;
use raidlab_kernel::{Batches, Estimate, Histogram, Nanos, PERCENTILES, Side, Time, student_t_975};
use raidlab_models::{DeviceParams, Written};

/// I/Os of the begin that is compared: enough for a slope, and a fraction of a second's work.
const COMPARED: u64 = 1 << 17;
/// Normal quantile of a 95 % interval.
const NORMAL: f64 = 1.96;

/// By how much a latency's mean and ranks may differ after another past: half 95 % widths.
#[derive(Clone, Debug, Default)]
pub(crate) struct SidePast {
    /// As a share of the mean.
    pub(crate) mean: f64,
    /// In shares of the I/Os.
    pub(crate) ranks: [f64; PERCENTILES.len()],
}

/// In shares of the I/Os of a load: all, reads, writes.
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
        let (amplification, ..) = start.work(system)?;
        let loads = system.layers.loads.records().workloads().iter();
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
            ios: system.layers.loads.records().recorded(),
            amplification,
        })
    }

    /// Half widths by what differs in the same begin after another past; `half` is that of the
    /// logarithm of write amplification.
    fn against(&self, other: &Begin, kept: &[Kept], half: f64) -> Vec<LoadPast> {
        let work = (other.amplification / self.amplification).ln();
        let loads = self.loads.iter().zip(&other.loads).zip(kept);
        let found = loads.map(|((own, other), kept)| own.against(other, kept, (work, half)));
        found.collect()
    }
}

/// How far a figure may differ after another past, by how far it does for a difference `work` of the
/// logarithm of write amplification, of which `half` is the half width between pasts.
///
/// `differs` has the error `error`. Of a figure that nothing is known of it is expected that it
/// changes about as `usual` times the logarithm: 1 for a rate or a latency that collection bounds.
/// So its slope is normal around zero with that deviation before, and after what was seen has the
/// mean square that counts here (linear regression with a normal prior).
fn half_width(differs: f64, error: f64, usual: f64, (work, half): (f64, f64)) -> f64 {
    let (signal, noise) = ((usual * work).powi(2), error * error);
    if signal + noise == 0.0 {
        return 0.0;
    }
    let mean = differs * work * usual * usual / (signal + noise);
    let variance = usual * usual * noise / (signal + noise);
    half * (mean * mean + variance).sqrt()
}

impl Recorded {
    fn rate(&self) -> f64 {
        self.histograms[0].count() as f64 / self.span.float()
    }

    fn against(&self, other: &Recorded, kept: &Kept, work: (f64, f64)) -> LoadPast {
        let own_ios = self.histograms[0].count().max(1) as f64;
        // The error of a difference between two begins, of that of the whole run.
        let longer = kept.histograms[0].count() as f64 / own_ios;
        let error = |half: f64| half / NORMAL * (2.0 * longer).sqrt();
        let apart = |own: f64, other: f64, half: f64| {
            let known = own > 0.0 && other > 0.0;
            if known {
                half_width((other / own).ln(), error(half), 1.0, work)
            } else {
                0.0
            }
        };
        let share = |found: Option<Estimate>| found.map_or(0.0, |it| it.half / it.mean.max(1e-9));
        let mut found = LoadPast {
            rate: apart(self.rate(), other.rate(), share(kept.batches.gap())),
            ..LoadPast::default()
        };
        for (at, side) in found.sides.iter_mut().enumerate() {
            let (own, other) = (&self.histograms[at], &other.histograms[at]);
            let (Some(mean), Some(other_mean)) = (own.mean(), other.mean()) else {
                continue;
            };
            let half = share(kept.batches.latency(SIDES[at]));
            side.mean = apart(mean, other_mean, half);
            let (own, other) = (own.distribution(), other.distribution());
            for (rank, (_, share)) in side.ranks.iter_mut().zip(PERCENTILES) {
                let Some(latency) = own.quantile(share) else {
                    continue;
                };
                let whole = kept.batches.rank(SIDES[at], share);
                let error = error(whole.map_or(0.0, |it| it.half));
                let below = own.rank(latency);
                let slower = own.rank(latency * (-work.1).exp());
                let usual = (below - slower) / work.1.max(1e-9);
                *rank = half_width(other.rank(latency) - below, error, usual, work);
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
    /// The next number of recorded I/Os at which `look` asks the drives.
    next_look: u64,
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
            next_look: COMPARED,
            whole: !plan.events.is_empty() || plan.after_rebuild_ns > Nanos::ZERO,
        })
    }

    /// Looks whether the begin is over. Where collection has had nothing to do so far, it looks
    /// again at twice as many I/Os: a look asks every drive.
    #[inline]
    pub(crate) fn look(&mut self, system: &System) {
        let recorded = system.layers.loads.records().recorded();
        if self.begin.is_none() && !self.whole && recorded >= self.next_look {
            self.begin = Begin::of(system, &self.start);
            self.next_look = recorded * 2;
        }
    }

    /// The end of the recording; none where collection had nothing to do, and in an overload.
    pub(crate) fn ended(self, system: &System) -> Option<Compared> {
        let records = system.layers.loads.records();
        if records.falls_behind() {
            return None;
        }
        let (_, deviation, degrees) = self.start.work(system)?;
        let whole = self.begin.is_none();
        let begin = match self.begin {
            Some(begin) => begin,
            None => Begin::of(system, &self.start)?,
        };
        let loads = records.workloads().iter();
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
        other.balance = None;
        other.max_ios = if self.whole && plan.precision == 0.0 {
            plan.max_ios
        } else {
            self.begin.ios
        };
        other.save_state = None;
        other.details = crate::plan::Details::default();
        other
    }

    /// By load: what was kept of it, and what the same begin found after another past adds to its
    /// intervals. Nothing if that did not get as far.
    pub(crate) fn found(&self, other: &System, start: &Start) -> Vec<(&Kept, LoadPast)> {
        let Some(found) = Begin::of(other, start) else {
            return Vec::new();
        };
        let halves = self.begin.against(&found, &self.kept, self.half);
        self.kept.iter().zip(halves).collect()
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
        }
    }

    /// A record whose batches are all alike: what differs is no chance.
    fn kept(load: &Recorded) -> Vec<Kept> {
        vec![Kept {
            batches: Batches::new(64),
            histograms: load.histograms.clone(),
        }]
    }

    /// By hand: write amplification is 2 % higher and so is each latency, the rate is 2 % lower. So
    /// slopes are 1 and -1, and half a per cent of write amplification is half a per cent of each.
    /// From 1000 to 1999 ns one in a thousand latencies lies at each: at 1499 ns 1470 / 1.02 lie
    /// below, about 29.4 of 1000 fewer; their rank moves by 0.0294 / ln 1.02 * 0.005 = 0.0074.
    #[test]
    fn a_figure_differs_by_its_slope_times_the_scatter() {
        let load = recorded(1000..2000, 1_000_000);
        let kept = kept(&load);
        let own = begin(load, 2.0);
        let slower = recorded((1000..2000).map(|ns| ns * 102 / 100), 1_020_000);
        let found = &own.against(&begin(slower, 2.04), &kept, 0.005)[0];
        assert!((found.rate - 0.005).abs() < 1e-6, "{found:?}");
        let [all, reads, writes] = &found.sides;
        assert!((all.mean - 0.005).abs() < 1e-4, "{found:?}");
        assert!((all.ranks[0] - 0.0074).abs() < 0.0008, "{found:?}");
        assert_eq!((writes.mean, reads.mean), (all.mean, 0.0));
    }

    /// By hand. Without an error: slope 2. With an error as large as the usual change the slope is
    /// half of what was seen, 1, with a variance of half: sqrt(1.5). Pasts alike: as usual. Figures
    /// that cannot change do not, such as those of a buffer that is never full.
    #[test]
    fn what_is_not_seen_for_certain_is_as_usual() {
        let near = |one: f64, other: f64| assert!((one - other).abs() < 1e-9, "{one} {other}");
        near(half_width(0.02, 0.0, 1.0, (0.01, 0.005)), 0.01);
        near(
            half_width(0.02, 0.01, 1.0, (0.01, 0.005)),
            0.005 * 1.5_f64.sqrt(),
        );
        near(half_width(0.001, 0.01, 1.0, (0.0, 0.005)), 0.005);
        near(half_width(0.0, 0.0, 1.0, (0.01, 0.005)), 0.0);
        near(half_width(0.0, 0.0, 1.0, (0.0, 0.005)), 0.0);
    }
}
