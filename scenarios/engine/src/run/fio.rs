//! fio's jobs on a system: each thread is an outside caller that goes on when its I/Os are back.
//!
//! What a thread does next is `raidlab-jobs`'; here is who goes on when, and the phases between
//! which `stonewall` stands.

use crate::ids::ArrayId;
use crate::plan::Plan;
use crate::run::report::{RunResult, WorkloadResult};
use crate::run::run_error::RunError;
use crate::run::simulation::Simulation;
use crate::state::records::{Outcome, Outside};
use raidlab_io::{ByteRange, Op};
use raidlab_jobs::plan::{JobsPlan, Start};
use raidlab_jobs::{Port, Request, Thread, Wait};
use raidlab_kernel::{Nanos, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Completions between two questions whether to go on.
const BETWEEN_LOOKS: u64 = 1024;
/// Steps of a load's timeline at the most.
const STEPS: usize = 512;

/// The path of one thread's I/Os into the system.
struct Submission<'a> {
    simulation: &'a mut Simulation,
    array: u32,
    /// Its index and the number of all threads: the mark of an I/O is `slot * threads + index`.
    index: u32,
    threads: u32,
    /// Whether its calls make the file's times durable: `fsync`, not `fdatasync`.
    times: bool,
}

impl Port for Submission<'_> {
    fn submit(&mut self, request: Request, slot: u32) -> Result<(), String> {
        let Request { op, offset, bytes } = request;
        let mark = slot * self.threads + self.index;
        if op == Op::Flush {
            return self
                .simulation
                .sync(self.array, self.times, mark)
                .map(|_| ());
        }
        self.simulation
            .submit(self.array, op, ByteRange::new(offset, bytes), mark)
            .map(|_| ())
    }
}

/// What stands between two stonewalls of a job file.
#[derive(Clone, Copy, Default)]
struct Phase {
    number: u32,
    /// Threads of it that have not ended.
    left: usize,
}

struct Jobs {
    simulation: Simulation,
    threads: Vec<Thread>,
    waits: Vec<Option<Wait>>,
    timers: BinaryHeap<Reverse<(Time, u32)>>,
    /// The present phase of each job file.
    phases: Vec<Phase>,
    /// When the last thread of each load ended.
    ends: Vec<(ArrayId, Time)>,
    begun: Vec<bool>,
    /// Threads of each load that have not ended.
    running: Vec<usize>,
}

/// Runs fio's jobs beside the plan's own loads, until all of them have ended.
///
/// # Errors
/// The plan's faults, an I/O that does not fit its array, or that the caller asked to stop.
pub(crate) fn run(
    plan: &Plan,
    jobs: &JobsPlan,
    mut should_continue: impl FnMut() -> bool,
) -> Result<RunResult, RunError> {
    let load_of_thread = jobs.threads.iter().map(|thread| thread.load).collect();
    let loads = jobs.loads.len();
    let simulation =
        Simulation::recorded_by_load(plan, load_of_thread, loads, STEPS).map_err(RunError::Plan)?;
    let array_of = |load: usize| {
        let mut of_load = jobs.threads.iter().filter(|each| each.load == load as u32);
        of_load.next().map_or(0, |thread| thread.array)
    };
    let threads_of = |load: usize| {
        let of_load = jobs.threads.iter().filter(|each| each.load == load as u32);
        of_load.count()
    };
    let files = jobs.threads.iter().map(|thread| thread.start.file + 1);
    let files = files.max().unwrap_or(0);
    let mut all = Jobs {
        simulation,
        threads: jobs.threads.iter().map(Thread::new).collect(),
        waits: vec![None; jobs.threads.len()],
        timers: BinaryHeap::new(),
        phases: vec![Phase::default(); files as usize],
        ends: (0..loads)
            .map(|load| (ArrayId::new(array_of(load)), Time::ZERO))
            .collect(),
        begun: vec![false; loads],
        running: (0..loads).map(threads_of).collect(),
    };
    all.simulation.follow(plan);
    let until = match jobs.until_ns {
        Nanos::ZERO => Time::NEVER,
        until => Time::ZERO + until,
    };
    for file in 0..files {
        all.begin_phase(file);
    }
    all.drive(until, &mut should_continue)?;
    if until < Time::NEVER && all.simulation.now() < until {
        // Loads of the plan go on up to the end.
        while all.simulation.advance(until).is_some() {}
    }
    if let Some(fault) = all.simulation.system().failure() {
        return Err(RunError::Plan(vec![fault]));
    }
    let report = all.simulation.report(plan);
    let mut report = report.ok_or_else(|| RunError::Form("nothing was recorded".into()))?;
    let file = plan.save_state.as_ref();
    report.unsaved = file.and_then(|path| all.simulation.system().save_state(path));
    let loads = WorkloadResult::of_jobs(all.simulation.system(), plan, &all.ends);
    let threads = all.threads.iter().map(Thread::result).collect();
    let mut report = report.with_jobs(loads, threads);
    report.add_tails(all.simulation.system_mut(), plan);
    if let Some(followed) = all.simulation.followed() {
        report.add_ios(all.simulation.system(), &followed);
    }
    Ok(report)
}

impl Jobs {
    fn is_over(&self, thread: usize) -> bool {
        self.waits[thread] == Some(Wait::Over)
    }

    /// The threads of a job file's present phase are about to begin; an empty one is over.
    fn begin_phase(&mut self, file: u32) {
        let now = self.simulation.now();
        let phase = &mut self.phases[file as usize];
        for (index, thread) in (0..).zip(&self.threads) {
            let start = thread.plan().start;
            if (start.file, start.phase) == (file, phase.number) {
                phase.left += usize::from(self.waits[index as usize].is_none());
                if start
                    .after
                    .is_none_or(|load| self.running[load as usize] == 0)
                {
                    self.timers.push(Reverse((now + start.delay_ns, index)));
                }
            }
        }
        if phase.left == 0 {
            self.next_phase(file);
        }
    }

    /// The next phase of a job file begins, if there is one.
    fn next_phase(&mut self, file: u32) {
        let starts = self.threads.iter().map(|thread| thread.plan().start);
        let phases = starts.filter(|start| start.file == file);
        let present = self.phases[file as usize].number;
        let later = phases
            .map(|start| start.phase)
            .filter(|&phase| phase > present);
        if let Some(number) = later.min() {
            self.phases[file as usize] = Phase { number, left: 0 };
            self.begin_phase(file);
        }
    }

    fn drive(
        &mut self,
        until: Time,
        should_continue: &mut impl FnMut() -> bool,
    ) -> Result<(), RunError> {
        let mut left = BETWEEN_LOOKS;
        let mut until = until;
        loop {
            let timer = self.timers.peek().map_or(Time::NEVER, |first| first.0.0);
            let limit = timer.min(until);
            if let Some(back) = self.simulation.advance(limit) {
                self.came_back(&back)?;
            } else if self.simulation.system().failure().is_some() {
                return Ok(());
            } else if limit == Time::NEVER {
                let why = "threads of fio's jobs wait for ever";
                return Err(RunError::Form(why.into()));
            } else if until <= timer {
                self.stop_all()?;
                until = Time::NEVER;
            } else if let Some(Reverse((_, index))) = self.timers.pop() {
                self.go_on(index as usize)?;
            }
            if self.phases.iter().all(|phase| phase.left == 0) {
                return Ok(());
            }
            left -= 1;
            if left == 0 {
                left = BETWEEN_LOOKS;
                if !should_continue() {
                    return Err(RunError::Stopped);
                }
            }
        }
    }

    /// An I/O is complete; its thread goes on if that was all it waited for.
    fn came_back(&mut self, back: &Outside) -> Result<(), RunError> {
        let count = self.threads.len() as u32;
        let (slot, index) = (back.owner / count, (back.owner % count) as usize);
        let thread = &mut self.threads[index];
        let failed = back.outcome != Outcome::Done;
        let (array, syncs) = (thread.plan().array, thread.plan().syncs);
        let is_durable = syncs.fua && self.simulation.has_file_system(array);
        if back.op == Op::Write && syncs.each_write && !is_durable && !failed {
            let times = !syncs.data_only;
            let submitted = self.simulation.sync(array, times, back.owner).map(|_| ());
            return submitted.map_err(RunError::Form);
        }
        thread.completed(slot, failed);
        match self.waits[index] {
            Some(wait) if self.threads[index].may_go_on(wait) => self.go_on(index),
            _ => Ok(()),
        }
    }

    fn go_on(&mut self, index: usize) -> Result<(), RunError> {
        if self.is_over(index) {
            return Ok(());
        }
        let now = self.simulation.now();
        let thread = &mut self.threads[index];
        let (load, array) = (thread.plan().load, thread.plan().array);
        let syncs = thread.plan().syncs;
        let times = syncs.fsync > 0 || syncs.fdatasync == 0;
        if !self.begun[load as usize] {
            self.begun[load as usize] = true;
            let from = now + thread.plan().extent.ramp_ns;
            self.simulation.begin_load(load, from, STEPS);
        }
        let mut port = Submission {
            simulation: &mut self.simulation,
            array,
            index: index as u32,
            threads: self.waits.len() as u32,
            times,
        };
        let wait = thread.go_on(now, &mut port).map_err(RunError::Form)?;
        self.waits[index] = Some(wait);
        match wait {
            Wait::Until(at) => self.timers.push(Reverse((at, index as u32))),
            Wait::Over => self.ended(index, now)?,
            _ => {}
        }
        Ok(())
    }

    fn ended(&mut self, index: usize, now: Time) -> Result<(), RunError> {
        let start = self.threads[index].plan().start;
        let load = self.threads[index].plan().load;
        self.running[load as usize] -= 1;
        if self.running[load as usize] == 0 {
            self.begin_after(load, now);
        }
        let end = &mut self.ends[load as usize].1;
        *end = now.max(*end);
        if start.ends_others {
            self.stop(|other| (other.file, other.phase) == (start.file, start.phase))?;
        }
        self.leave(start);
        Ok(())
    }

    /// Threads that wait for the end of a load begin, if their phase has.
    fn begin_after(&mut self, load: u32, now: Time) {
        for (index, thread) in (0..).zip(&self.threads) {
            let start = thread.plan().start;
            let begun = self.phases[start.file as usize].number >= start.phase;
            if start.after == Some(load) && begun && self.waits[index as usize].is_none() {
                self.timers.push(Reverse((now + start.delay_ns, index)));
            }
        }
    }

    /// A thread has ended; with the last one of its phase the next phase begins.
    fn leave(&mut self, start: Start) {
        let phase = &mut self.phases[start.file as usize];
        if phase.number == start.phase {
            phase.left -= 1;
            if phase.left == 0 {
                self.next_phase(start.file);
            }
        }
    }

    /// Those that have begun end when their I/Os are back, the others never begin.
    fn stop(&mut self, which: impl Fn(Start) -> bool) -> Result<(), RunError> {
        for index in 0..self.threads.len() {
            let start = self.threads[index].plan().start;
            if self.is_over(index) || !which(start) {
                continue;
            }
            self.threads[index].stop();
            match self.waits[index] {
                None => {
                    self.waits[index] = Some(Wait::Over);
                    self.running[self.threads[index].plan().load as usize] -= 1;
                    self.leave(start);
                }
                Some(Wait::Until(_)) => self.go_on(index)?,
                Some(_) => {}
            }
        }
        Ok(())
    }

    fn stop_all(&mut self) -> Result<(), RunError> {
        self.stop(|_| true)
    }
}
