//! One run from a plan to a result, with the self-checks at its end.

use crate::plan::Plan;
use crate::run::balance::Balancing;
use crate::run::checks;
use crate::run::fio;
use crate::run::io_trace::Observer;
use crate::run::livelock::EVENTS_BETWEEN_LOOKS;
use crate::run::past::{Compared, Seen, Start};
use crate::run::report::RunResult;
use crate::run::run_error::RunError;
use crate::run::snapshot::Snapshot;
use crate::run::system::System;
use raidlab_kernel::{Nanos, Time};

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
        let drifts = until <= steady_by && records.drift(until) && !records.falls_behind();
        if records.over().is_some() || !(fills || drifts) {
            break recording;
        }
        warm = until;
        observer = Observer::of(plan, warm);
        records.begin_recording(warm, warm + plan.duration_ns);
    };
    let save_to = plan.save_state.as_ref();
    let unsaved = save_to.and_then(|path| system.save_state(path));
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
    let found = compared.found(&system, &start);
    for (load, (kept, half)) in result.workloads.iter_mut().zip(found) {
        load.heed_past(kept, &half);
    }
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
        let mut balancing = Balancing::of(plan, self.from);
        drive(
            system,
            observer,
            |system| self.limit(system),
            should_continue,
            |system| {
                if let Some(seen) = seen {
                    seen.look(system);
                }
                let recorded = system.layers.loads.records().recorded();
                if plan.max_ios > 0 && recorded >= plan.max_ios {
                    let balancing = balancing.as_mut();
                    if balancing.is_none_or(|each| each.ends(recorded, system)) {
                        return true;
                    }
                }
                if plan.precision > 0.0 && recorded >= look_at {
                    look_at = recorded + recorded / 4;
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
