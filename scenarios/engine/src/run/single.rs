//! One run from a plan to a result, with the self-checks at its end.

use crate::plan::Plan;
use crate::raid::volume::Volume;
use crate::run::cache_report::CountsBefore;
use crate::run::checks;
use crate::run::fio;
use crate::run::io_trace::Observer;
use crate::run::livelock::EVENTS_BETWEEN_LOOKS;
use crate::run::past::{Compared, Seen, Start};
use crate::run::report::{Component, Power, RunResult, SpellReport};
use crate::run::system::System;
use raidlab_kernel::{Nanos, Time};
use raidlab_models::{Counted, Fault, Limits, ReadUnits, Written, write_states};
use std::path::Path;

/// Why a run gave no result.
#[derive(Debug)]
pub enum RunError {
    /// The plan has faults.
    Plan(Vec<Fault>),
    /// The plan is not in the plan's form.
    Form(String),
    /// The caller asked to stop.
    Stopped,
}

/// Recorded I/Os before the precision of the rate is looked at.
const LEAST_FOR_PRECISION: u64 = 4096;

/// Runs a plan; `should_continue` is called at intervals; false ends the run.
///
/// Where the plan allows a longer warm-up, a recording without a steady state becomes part of it,
/// and another one begins: the automatic warm-up of Hoad, Robinson and Davies (Automating warm-up
/// length estimation, J. Operational Research Society 61, 2010), with a fixed length of recording.
///
/// # Errors
/// The plan's faults, or that the caller asked to stop.
pub fn run(plan: &Plan, mut should_continue: impl FnMut() -> bool) -> Result<RunResult, RunError> {
    run_watched(plan, |_, _| should_continue())
}

/// Runs a plan; `should_continue` hears how many requests of recorded traces were taken, and of how
/// many: none where the load is no trace.
///
/// # Errors
/// As [`run`].
pub fn run_watched(
    plan: &Plan,
    mut should_continue: impl FnMut(u64, u64) -> bool,
) -> Result<RunResult, RunError> {
    if let Some(jobs) = &plan.jobs {
        return fio::run(plan, jobs, || should_continue(0, 0));
    }
    let mut system = System::new(plan).map_err(RunError::Plan)?;
    let mut warm = Time::ZERO + plan.warm_up_ns;
    let mut steady_by = Time::ZERO + plan.warm_up_most_ns;
    let mut observer = Observer::of(plan, warm);
    let mut seen;
    let recording = loop {
        let drove = drive(
            &mut system,
            &mut observer,
            |_| warm,
            &mut should_continue,
            |_| false,
        );
        let recording = Recording::of(plan, &mut system, warm);
        seen = Seen::of(plan, &system);
        let finished = drove
            && recording.drive(
                &mut system,
                &mut observer,
                plan,
                &mut should_continue,
                &mut seen,
            );
        let failure = system.failure();
        if let Some(fault) = failure.or_else(|| system.layers.loads.records().trace_fault()) {
            return Err(RunError::Plan(vec![fault]));
        }
        if !finished {
            return Err(RunError::Stopped);
        }
        let (_, until) = recording.ended(&mut system);
        let records = system.layers.loads.records_mut();
        records.compare_backlog(recording.in_flight);
        let fills = recording.fills(&system, plan, until);
        if fills {
            steady_by = plan.steady_by(until);
        }
        let records = system.layers.loads.records_mut();
        let drifts = until <= steady_by && records.drift(until);
        if records.over().is_some() || !(fills || drifts) {
            break recording;
        }
        warm = until;
        observer = Observer::of(plan, warm);
        records.begin_recording(warm, warm + plan.duration_ns);
    };
    let save_to = plan.save_state.as_ref();
    let unsaved = save_to.and_then(|path| save_state(&system, path));
    let (handled, until) = recording.ended(&mut system);
    let components = recording.before.components(&system, until);
    let caches = recording.before.counts.reports(&system);
    let breaches = checks::check(&system, handled);
    let mut result = RunResult::new(
        plan,
        &mut system,
        until,
        components,
        caches,
        breaches,
        unsaved,
    );
    result.add_start(recording.from, until, recording.rebuilding);
    if let Some(observer) = observer {
        let traced = observer.finish(&mut system);
        result.add_ios(&system, &traced);
    }
    result.add_tails(&mut system, plan);
    if let Some(compared) = seen.and_then(|seen| seen.ended(&system)) {
        drop(system);
        heed_past(&mut result, plan, &compared, warm, &mut should_continue)?;
    }
    Ok(result)
}

/// Runs the begin of a recording once more after another past, and widens the result's intervals by
/// what differs.
fn heed_past(
    result: &mut RunResult,
    plan: &Plan,
    compared: &Compared,
    warm: Time,
    should_continue: &mut impl FnMut(u64, u64) -> bool,
) -> Result<(), RunError> {
    let plan = compared.plan(plan, warm);
    let mut system = System::new(&plan).map_err(RunError::Plan)?;
    let drove = drive(&mut system, &mut None, |_| warm, should_continue, |_| false);
    let start = Start::take(&system);
    let recording = Recording::of(&plan, &mut system, warm);
    let finished =
        drove && recording.drive(&mut system, &mut None, &plan, should_continue, &mut None);
    if !finished {
        return Err(RunError::Stopped);
    }
    compared.widen(result, &system, &start);
    Ok(())
}

/// A recording from the end of the warm-up on.
struct Recording {
    from: Time,
    /// Its end at the latest.
    end: Time,
    /// Time from the last rebuild to its end; 0 if a rebuild does not end it.
    after_rebuild: Nanos,
    before: Snapshot,
    /// Requests issued before it and not completed.
    in_flight: u64,
    /// The share that each rebuild has done before it.
    rebuilding: Vec<f64>,
}

impl Recording {
    /// That of a plan, from the end of the warm-up on.
    fn of(plan: &Plan, system: &mut System, from: Time) -> Recording {
        Recording {
            from,
            end: from + plan.duration_ns,
            after_rebuild: plan.after_rebuild_ns,
            before: Snapshot::take(system, from),
            in_flight: system.layers.loads.records().in_flight(),
            rebuilding: system
                .layers
                .raid
                .background()
                .rebuilding(system.layers.raid.stripes()),
        }
    }

    /// Handles events up to the end that the plan sets; false if the caller asked to stop.
    fn drive(
        &self,
        system: &mut System,
        observer: &mut Option<Observer>,
        plan: &Plan,
        should_continue: &mut impl FnMut(u64, u64) -> bool,
        seen: &mut Option<Seen>,
    ) -> bool {
        let mut look_at = LEAST_FOR_PRECISION;
        drive(
            system,
            observer,
            |system| self.limit(system),
            should_continue,
            |system| {
                if let Some(seen) = seen {
                    seen.look(system);
                }
                if plan.max_ios > 0 && system.layers.loads.records().recorded() >= plan.max_ios {
                    return true;
                }
                if plan.precision > 0.0 && system.layers.loads.records().recorded() >= look_at {
                    look_at = system.layers.loads.records().recorded()
                        + system.layers.loads.records().recorded() / 4;
                    let mut loads = system.layers.loads.records().workloads().iter();
                    return loads.all(|load| load.meter.relative_error() <= plan.precision);
                }
                false
            },
        )
    }

    /// When it ends: after its duration or, if the plan says so, some time after the last rebuild,
    /// whether anybody uses the system then or not.
    #[inline]
    fn limit(&self, system: &System) -> Time {
        if self.after_rebuild == Nanos::ZERO {
            return self.end;
        }
        match system.layers.raid.background().rebuilt() {
            Some(at) => self.end.min(self.from.max(at + self.after_rebuild)),
            None => self.end,
        }
    }

    /// Whether a controller's memory has kept much of what was written, and may go on to fill.
    fn fills(&self, system: &System, plan: &Plan, until: Time) -> bool {
        let Some(filling) = plan.filling else {
            return false;
        };
        let loads = system.layers.loads.records().workloads().iter();
        let written: u64 = loads.map(|load| load.meter.bytes[1]).sum();
        let most = filling.share * written as f64;
        let caches = self.before.counts.reports(system);
        until <= Time::ZERO + filling.most_ns
            && caches
                .iter()
                .any(|cache| cache.gathered_bytes as f64 > most)
    }

    /// Up to when every event has been handled, and the end of what was recorded.
    fn ended(&self, system: &mut System) -> (Time, Time) {
        if let Some(over) = system.layers.loads.records().over() {
            return (over, over.max(self.from));
        }
        let end = self.limit(system);
        let next = system.layers.path.calendar.next_time();
        if next.is_none_or(|next| next > end) {
            return (end, end);
        }
        let handled = system.now();
        // What completed up to now may keep its load thread busy for a while yet.
        (handled, last_recorded(system).max(handled).min(end))
    }
}

/// Writes the state of all drives that have one; says why if it cannot: what was simulated is
/// reported all the same.
pub(crate) fn save_state(system: &System, path: &str) -> Option<String> {
    let drives = system.layers.path.drives.iter();
    let states: Vec<_> = drives
        .filter_map(|drive| drive.device.state(&drive.name))
        .collect();
    let error = write_states(Path::new(path), &states).err()?.to_string();
    // What follows is a number, and the name of a file that was to take this path.
    let why = error.split(" (os error").next();
    why.map(str::to_owned)
}

fn last_recorded(system: &System) -> Time {
    let last = system
        .layers
        .loads
        .records()
        .workloads()
        .iter()
        .map(|load| load.meter.last());
    last.max().unwrap_or(Time::ZERO)
}

/// Handles events up to `limit` or until `done`; false if the caller asked to stop.
fn drive(
    system: &mut System,
    observer: &mut Option<Observer>,
    limit: impl Fn(&System) -> Time,
    should_continue: &mut impl FnMut(u64, u64) -> bool,
    done: impl FnMut(&System) -> bool,
) -> bool {
    match observer {
        None => drive_by(System::step_inlined, system, limit, should_continue, done),
        Some(observer) => {
            let step = |system: &mut System, limit| observer.step(system, limit);
            drive_by(step, system, limit, should_continue, done)
        }
    }
}

/// As `drive`, by a step of its own.
#[inline]
fn drive_by(
    mut step: impl FnMut(&mut System, Time) -> bool,
    system: &mut System,
    limit: impl Fn(&System) -> Time,
    should_continue: &mut impl FnMut(u64, u64) -> bool,
    mut done: impl FnMut(&System) -> bool,
) -> bool {
    let mut recorded = system.layers.loads.records().recorded();
    loop {
        for _ in 0..EVENTS_BETWEEN_LOOKS {
            let until = limit(system);
            if !step(system, until) {
                return true;
            }
            if system.layers.loads.records().recorded() != recorded {
                recorded = system.layers.loads.records().recorded();
                system.look_at_slow();
                if done(system) {
                    return true;
                }
            }
        }
        system.look_at_clock();
        system.look_at_backlog();
        let (taken, all) = system.layers.loads.records().traced();
        if !should_continue(taken, all) {
            return false;
        }
    }
}

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

/// One component's work, in the order of the report.
pub(crate) struct StationReport<'a> {
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    pub(crate) busy: Nanos,
    pub(crate) servers: usize,
    load: Option<&'a raidlab_kernel::TimeWeighted>,
    queue_depth: Option<u32>,
    written: Option<Written>,
    read_units: Option<ReadUnits>,
    joules: Option<f64>,
    spells: Vec<SpellReport>,
    figures: Vec<(&'static str, f64)>,
}

impl StationReport<'_> {
    /// One server of which nothing but its work is known.
    fn new(name: String, kind: &'static str, busy: Nanos) -> Self {
        StationReport {
            name,
            kind,
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
    for drive in &system.layers.path.drives {
        let (busy, servers) = drive.device.busy_until(at);
        all.push(StationReport {
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

pub(crate) fn stations(system: &System, at: Time) -> Vec<StationReport<'_>> {
    let mut all = Vec::from_iter(host_cpu(system, at));
    for (thread, busy) in system
        .layers
        .loads
        .threads()
        .host()
        .busy_until(at)
        .enumerate()
    {
        if (thread as u32) < system.load_threads {
            all.push(StationReport::new(
                format!("host thread {thread}"),
                "host",
                busy,
            ));
        }
    }
    all.extend(limits(system, at));
    for controller in &system.layers.path.controllers {
        let cores = &controller.chip.cores;
        all.push(StationReport {
            servers: cores.count(),
            load: Some(&controller.load),
            ..StationReport::new(controller.name.clone(), "controller", cores.busy_until(at))
        });
        if controller.queue_depth > 0 {
            all.push(StationReport::new(
                format!("{} queue", controller.name),
                "queue",
                Nanos(controller.full.area(at) as u64),
            ));
        }
        for (kind, station) in [
            ("parity", &controller.chip.parity),
            ("memory", &controller.chip.memory),
        ] {
            if station.is_limited() {
                all.push(StationReport::new(
                    format!("{} {kind}", controller.name),
                    kind,
                    station.busy_until(at),
                ));
            }
        }
    }
    for (array, volume) in system
        .layers
        .path
        .arrays
        .iter()
        .zip(system.layers.raid.stripes().state().volumes().iter())
    {
        let in_host = volume.filter(|volume| volume.host().thread().takes_time());
        if let Some(volume) = in_host {
            all.push(StationReport::new(
                format!("{} parity thread", array.name),
                "host",
                volume.host().thread().busy_until(at),
            ));
        }
        if let Some(busy) = array.shared.busy_until(at) {
            let name = format!("{} counters of md", array.name);
            all.push(StationReport::new(name, "host", busy));
        }
        if let Some(bitmap) = volume.and_then(Volume::bitmap) {
            let (name, busy) = (format!("{} bitmap", array.name), bitmap.busy_until(at));
            all.push(StationReport {
                load: Some(bitmap.held()),
                ..StationReport::new(name, "bitmap", busy)
            });
        }
    }
    for (link, name) in system.layers.path.links.iter().zip(&system.link_names) {
        all.push(StationReport::new(
            name.clone(),
            "link",
            link.busy_until(at),
        ));
    }
    add_drives(system, at, &mut all);
    all
}
