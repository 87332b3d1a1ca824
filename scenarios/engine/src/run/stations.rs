//! The components of a system, with the work of each.

use crate::raid::volume::Volume;
use crate::run::meets::Met;
use crate::run::report::SpellReport;
use crate::run::system::System;
use raidlab_kernel::{Nanos, Time};
use raidlab_models::{Counted, Limits, ReadUnits, Written};

/// One component's work, in the order of the report.
pub(crate) struct StationReport<'a> {
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    pub(super) met: Met,
    pub(crate) busy: Nanos,
    pub(crate) servers: usize,
    pub(super) load: Option<&'a raidlab_kernel::TimeWeighted>,
    pub(super) queue_depth: Option<u32>,
    pub(super) written: Option<Written>,
    pub(super) read_units: Option<ReadUnits>,
    pub(super) joules: Option<f64>,
    pub(super) spells: Vec<SpellReport>,
    pub(super) figures: Vec<(&'static str, f64)>,
}

impl StationReport<'_> {
    /// One server of which nothing but its work is known.
    fn new(name: String, kind: &'static str, busy: Nanos) -> Self {
        StationReport {
            name,
            kind,
            met: Met::default(),
            busy,
            servers: 1,
            load: None,
            queue_depth: None,
            written: None,
            read_units: None,
            joules: None,
            spells: Vec::new(),
            figures: Vec::new(),
        }
    }
}

/// The host's cores, where loads have more threads than there are: no thread can be busy all the
/// time then, but all cores can.
fn host_cpu(system: &System, at: Time) -> Option<StationReport<'static>> {
    let flushers = system.caches.of_workload.iter().flatten().count();
    let threads = system.load_threads as usize + flushers;
    let cores = system
        .layers
        .loads
        .threads()
        .host()
        .shared_cores()
        .filter(|&cores| cores < threads)?;
    let used = system.layers.loads.threads().host().busy_until(at);
    let used = used.fold(Nanos::ZERO, |sum, busy| sum + busy);
    // What begins on its own at the start or after a pause does not wait for a core.
    let most = at.since(Time::ZERO) * cores as u64;
    let name = match cores {
        1 => "host CPU, 1 core".into(),
        _ => format!("host CPU, {cores} cores"),
    };
    Some(StationReport {
        servers: cores,
        ..StationReport::new(name, "cpu", used.min(most))
    })
}

/// The drives, and what each has of its own that can be busy.
fn add_drives<'a>(system: &'a System, at: Time, all: &mut Vec<StationReport<'a>>) {
    for (drive, met) in system.layers.path.drives.iter().zip(&system.meets.drives) {
        let (busy, servers) = drive.device.busy_until(at);
        all.push(StationReport {
            met: met.clone(),
            servers,
            load: Some(&drive.load),
            queue_depth: Some(drive.queue_depth).filter(|&depth| depth > 0),
            written: drive.device.written(),
            read_units: drive.device.read_units(),
            joules: drive.device.joules(at),
            spells: (drive.device.spells())
                .flat_map(|(kind, spells)| SpellReport::of(kind, spells, at))
                .collect(),
            figures: drive.device.figures(),
            ..StationReport::new(drive.name.clone(), "drive", busy)
        });
        for (kind, busy, servers) in drive.device.parts_busy_until(at) {
            all.push(StationReport {
                met: met.clone(),
                servers,
                ..StationReport::new(format!("{} {kind}", drive.name), kind, busy)
            });
        }
    }
}

/// The limits of the loads.
fn limits(system: &System, at: Time) -> impl Iterator<Item = StationReport<'_>> {
    let of_load = move |(name, limits): (&str, Option<&Limits>)| {
        let used = limits.into_iter();
        let used = used.flat_map(|limits| limits.busy_until(at).zip(limits.spells_of_each()));
        let reports = used.map(|((counted, busy), spent)| {
            let of = match counted {
                Counted::Ios => "IOPS",
                Counted::Bytes => "bandwidth",
            };
            let spells = spent.map(|it| SpellReport::of("burst-credits", it, at));
            StationReport {
                met: Met::by(name),
                spells: spells.unwrap_or_default(),
                ..StationReport::new(format!("{name} {of} limit"), "limit", busy)
            }
        });
        reports.collect::<Vec<_>>()
    };
    let loads = &system.layers.loads;
    let own = loads.records().workloads().iter();
    let own = own.map(|load| (load.name.as_str(), load.limits.as_deref()));
    let outside = loads.tenants().iter();
    let outside = outside.map(|tenant| (tenant.name(), tenant.limits()));
    own.chain(outside).flat_map(of_load)
}

/// All components up to a time, in the order of the report.
pub(crate) fn stations(system: &System, at: Time) -> Vec<StationReport<'_>> {
    let mut all = Vec::from_iter(host_cpu(system, at));
    let threads = system.layers.loads.threads().host().busy_until(at);
    let of_loads = threads.take(system.load_threads as usize).enumerate();
    all.extend(of_loads.map(|(thread, busy)| {
        StationReport {
            met: system
                .meets
                .threads
                .get(thread)
                .cloned()
                .unwrap_or_default(),
            ..StationReport::new(format!("host thread {thread}"), "host", busy)
        }
    }));
    all.extend(limits(system, at));
    add_controllers(system, at, &mut all);
    add_arrays(system, at, &mut all);
    let links = system.layers.path.links.iter().zip(&system.link_names);
    for ((link, name), met) in links.zip(&system.meets.links) {
        all.push(StationReport {
            met: met.clone(),
            ..StationReport::new(name.clone(), "link", link.busy_until(at))
        });
    }
    add_drives(system, at, &mut all);
    all
}

/// The controllers with their queues, parity engines and memories.
fn add_controllers<'a>(system: &'a System, at: Time, all: &mut Vec<StationReport<'a>>) {
    let controllers = system.layers.path.controllers.iter();
    for (controller, met) in controllers.zip(&system.meets.controllers) {
        let new = |name, kind, busy| StationReport {
            met: met.clone(),
            ..StationReport::new(name, kind, busy)
        };
        let cores = &controller.chip.cores;
        all.push(StationReport {
            servers: cores.count(),
            load: Some(&controller.load),
            ..new(controller.name.clone(), "controller", cores.busy_until(at))
        });
        if controller.queue_depth > 0 {
            let name = format!("{} queue", controller.name);
            let full = Nanos(controller.full.area(at) as u64);
            all.push(new(name, "queue", full));
        }
        let parts = [
            ("parity", &controller.chip.parity),
            ("memory", &controller.chip.memory),
        ];
        for (kind, station) in parts.into_iter().filter(|(_, part)| part.is_limited()) {
            let name = format!("{} {kind}", controller.name);
            all.push(new(name, kind, station.busy_until(at)));
        }
    }
}

/// What arrays in the host share: threads, counters, bitmaps.
fn add_arrays<'a>(system: &'a System, at: Time, all: &mut Vec<StationReport<'a>>) {
    let volumes = system.layers.raid.stripes().state().volumes().iter();
    let arrays = system.layers.path.arrays.iter().zip(volumes);
    for ((array, volume), met) in arrays.zip(&system.meets.arrays) {
        let new = |name, kind, busy| StationReport {
            met: met.clone(),
            ..StationReport::new(name, kind, busy)
        };
        let in_host = volume.filter(|volume| volume.host().thread().takes_time());
        if let Some(volume) = in_host {
            let name = format!("{} parity thread", array.name);
            all.push(new(name, "host", volume.host().thread().busy_until(at)));
        }
        if let Some(busy) = array.shared.busy_until(at) {
            all.push(new(format!("{} counters of md", array.name), "host", busy));
        }
        if let Some(bitmap) = volume.and_then(Volume::bitmap) {
            let name = format!("{} bitmap", array.name);
            all.push(StationReport {
                load: Some(bitmap.held()),
                ..new(name, "bitmap", bitmap.busy_until(at))
            });
        }
    }
}
