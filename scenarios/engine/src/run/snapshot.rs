//! What each component had done at the end of the warm-up, and what it has done since.

use crate::run::cache_report::CountsBefore;
use crate::run::report::{Component, Power};
use crate::run::stations::{StationReport, stations};
use crate::run::system::System;
use raidlab_kernel::{Nanos, Time};
use raidlab_models::{ReadUnits, Written};

/// What one component had done.
struct Before {
    busy: Nanos,
    written: Option<Written>,
    read_units: Option<ReadUnits>,
    joules: Option<f64>,
}

/// Work done by every component up to the end of the warm-up.
pub(crate) struct Snapshot {
    at: Time,
    stations: Vec<Before>,
    pub(crate) counts: CountsBefore,
}

impl Snapshot {
    pub(crate) fn take(system: &mut System, at: Time) -> Snapshot {
        let before = |station: StationReport<'_>| Before {
            busy: station.busy,
            written: station.written,
            read_units: station.read_units,
            joules: station.joules,
        };
        let before = stations(system, at).into_iter().map(before).collect();
        for drive in &mut system.layers.path.drives {
            drive.load.restart(at);
        }
        for controller in &mut system.layers.path.controllers {
            controller.load.restart(at);
        }
        system
            .layers
            .raid
            .stripes_mut()
            .state_mut()
            .volumes_mut()
            .restart(at);
        let counts = CountsBefore::take(system);
        Snapshot {
            at,
            stations: before,
            counts,
        }
    }

    /// Utilisation, queue and writes of every component since the snapshot.
    pub(crate) fn components(&self, system: &System, until: Time) -> Vec<Component> {
        let span = until.since(self.at);
        stations(system, until)
            .into_iter()
            .zip(&self.stations)
            .map(|(station, before)| {
                // What arrives at time zero comes before the snapshot.
                let read_before = before.read_units.filter(|_| self.at > Time::ZERO);
                // Stations know of work that lies ahead how much it is, not when: at an edge of the
                // window they may count a little too much.
                let busy = station.busy.saturating_sub(before.busy).0 as f64;
                let available = span.0 as f64 * station.servers as f64;
                Component {
                    name: station.name,
                    kind: station.kind,
                    met: station.met,
                    utilization: if available > 0.0 {
                        busy.min(available) / available
                    } else {
                        0.0
                    },
                    queue_mean: station.load.map(|load| load.mean(until, span)),
                    queue_depth: station.queue_depth,
                    written: station
                        .written
                        .map(|now| now.since(before.written.unwrap_or_default())),
                    read_units: station
                        .read_units
                        .map(|now| now.since(read_before.unwrap_or_default())),
                    power: station
                        .joules
                        .map(|now| Power::new(now - before.joules.unwrap_or_default(), span)),
                    spells: station.spells,
                    figures: station.figures,
                }
            })
            .collect()
    }
}
