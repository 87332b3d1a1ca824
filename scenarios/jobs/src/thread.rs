//! A thread of a job: it hands in I/Os, waits, takes completions back, until it ends.
//!
//! It goes on from step to step (`thread_steps`) until it has to wait; its driver says when
//! the wait is over.

use crate::generator::{Generator, Request};
use crate::history::History;
use crate::pace::Pace;
use crate::plan::JobPlan;
use crate::record::{Record, ThreadResult, direction};
use raidlab_io::Op;
use raidlab_kernel::{Nanos, Time};
use std::collections::VecDeque;

/// fio's error numbers: an I/O failed, a latency was too long.
const EIO: u32 = 5;
const ETIMEDOUT: u32 = 110;

/// Where a thread's I/Os go.
pub trait Port {
    /// An I/O goes in now; `slot` comes back with its completion.
    ///
    /// # Errors
    /// Why it cannot.
    fn submit(&mut self, request: Request, slot: u32) -> Result<(), String>;
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// At least this number of completions.
    Completions(usize),
    /// Its `fsync`.
    Sync,
    /// This time.
    Until(Time),
    /// Nothing: it has ended.
    Over,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The first pass begins.
    Begin,
    /// Another I/O.
    Next,
    /// Completions are taken back; `full` if the queue was.
    Reap { full: bool },
    /// An I/O that is made durable, or an `fsync`, is under way.
    Syncing { since: Time },
    /// All I/Os in flight are waited for, then comes a pause.
    Quiesce { pause: Nanos },
    /// A pause until then.
    Think { until: Time },
    /// The pass ends when all I/Os are back.
    Drain,
    /// The last `fsync`.
    LastSync,
    /// The end.
    Over,
}

/// An I/O that a thread has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) request: Request,
    pub(crate) started: Time,
    pub(crate) issued: Time,
    /// Of a write that will be read back: its number in the history.
    pub(crate) number: u64,
}

/// The search for the depth whose latency keeps a limit.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Search {
    pub(crate) depth: u32,
    pub(crate) low: u32,
    pub(crate) high: u32,
    pub(crate) since: Time,
    pub(crate) ios: u64,
    pub(crate) failed: u64,
    pub(crate) stable: u32,
    pub(crate) last_run: bool,
    /// The depth became less: I/Os in flight belong to no window.
    pub(crate) settles: bool,
}

/// One clone of a job.
#[derive(Debug)]
pub struct Thread {
    pub(crate) plan: JobPlan,
    pub(crate) generator: Generator,
    pub(crate) record: Record,
    pub(crate) step: Step,
    pub(crate) held: Vec<Held>,
    pub(crate) free: Vec<u32>,
    /// Drawn and not handed in.
    pub(crate) queued: Vec<u32>,
    /// Completed and not taken back.
    pub(crate) back: VecDeque<u32>,
    pub(crate) in_flight: usize,
    /// I/Os that it has: queued, in flight or back.
    pub(crate) depth: usize,
    pub(crate) sync_done: bool,
    pub(crate) began: Time,
    /// Since then it is recorded.
    pub(crate) epoch: Time,
    pub(crate) pass_began: Time,
    pub(crate) ended: Time,
    pub(crate) ramping: bool,
    pub(crate) stopped: bool,
    pub(crate) loops: u64,
    /// Bytes and I/Os handed in, by direction; bytes of this pass.
    pub(crate) issued_bytes: [u64; 3],
    pub(crate) issued_ios: [u64; 3],
    pub(crate) pass_bytes: u64,
    /// Of completed I/Os.
    pub(crate) done_bytes: u64,
    pub(crate) done_ios: u64,
    pub(crate) pass_done: u64,
    pub(crate) thought_at: u64,
    pub(crate) thought_since: Time,
    pub(crate) search: Search,
    pub(crate) pace: Pace,
    pub(crate) history: Option<History>,
    /// All is written and is read back now.
    pub(crate) verifying: bool,
    pub(crate) error: u32,
}

/// The slot of an `fsync`, behind those of the I/Os.
pub(crate) fn sync_slot(plan: &JobPlan) -> u32 {
    plan.depth.depth
}

impl Thread {
    /// The thread before its begin.
    pub fn new(plan: &JobPlan) -> Thread {
        let empty = Held {
            request: Request {
                op: Op::Read,
                offset: 0,
                bytes: 0,
            },
            started: Time::ZERO,
            issued: Time::ZERO,
            number: 0,
        };
        let depth = plan.depth.depth;
        Thread {
            generator: Generator::new(plan),
            record: Record::new(plan, Time::ZERO),
            step: Step::Begin,
            held: vec![empty; depth as usize + 1],
            free: (0..depth).rev().collect(),
            queued: Vec::with_capacity(depth as usize),
            back: VecDeque::with_capacity(depth as usize),
            in_flight: 0,
            depth: 0,
            sync_done: false,
            began: Time::ZERO,
            epoch: Time::ZERO,
            pass_began: Time::ZERO,
            ended: Time::ZERO,
            ramping: plan.extent.ramp_ns > Nanos::ZERO,
            stopped: false,
            loops: plan.extent.loops.max(1),
            issued_bytes: [0; 3],
            issued_ios: [0; 3],
            pass_bytes: 0,
            done_bytes: 0,
            done_ios: 0,
            pass_done: 0,
            thought_at: 0,
            thought_since: Time::ZERO,
            search: Search::default(),
            pace: Pace::new(plan, Time::ZERO),
            history: plan.verify.map(History::new),
            verifying: false,
            error: 0,
            plan: plan.clone(),
        }
    }

    /// The thread's plan.
    pub fn plan(&self) -> &JobPlan {
        &self.plan
    }

    /// It shall end as soon as its I/Os are back.
    pub fn stop(&mut self) {
        self.stopped = true;
        if let Step::Think { .. } = self.step {
            self.step = Step::Drain;
        }
    }

    /// The I/O of `slot` is complete, or has failed.
    pub fn completed(&mut self, slot: u32, failed: bool) {
        if failed {
            self.error = EIO;
            self.stopped = true;
        }
        if slot == sync_slot(&self.plan) {
            self.sync_done = true;
            return;
        }
        self.in_flight -= 1;
        self.back.push_back(slot);
    }

    /// True if what it waits for is there.
    pub fn may_go_on(&self, wait: Wait) -> bool {
        match wait {
            Wait::Completions(wanted) => self.back.len() >= wanted,
            Wait::Sync => self.sync_done,
            Wait::Until(_) | Wait::Over => false,
        }
    }

    /// What it did, when it is over.
    pub fn result(&self) -> ThreadResult {
        ThreadResult {
            error: self.error,
            began_ns: self.began.0,
            ended_ns: self.ended.0,
            runtime_ns: self.ended.since(self.epoch).0,
            latency_depth: self.search.depth,
            ..self.record.result(self.plan.number)
        }
    }

    /// Hands in what is queued.
    pub(crate) fn commit(&mut self, now: Time, port: &mut impl Port) -> Result<(), String> {
        if self.queued.is_empty() {
            return Ok(());
        }
        self.record.submitted(self.queued.len(), self.depth);
        for slot in self.queued.drain(..) {
            let held = &mut self.held[slot as usize];
            held.issued = now;
            self.in_flight += 1;
            port.submit(held.request, slot)?;
        }
        Ok(())
    }

    /// Takes back `most` completions.
    pub(crate) fn reap(&mut self, most: usize, now: Time) {
        let count = most.min(self.back.len());
        self.record.reaped(count);
        for _ in 0..count {
            let Some(slot) = self.back.pop_front() else {
                return;
            };
            let Held {
                request,
                started,
                issued,
                number,
            } = self.held[slot as usize];
            self.free.push(slot);
            self.depth -= 1;
            self.generator.completed(request.op);
            if request.op == Op::Flush {
                self.record.synced(now.since(issued));
                continue;
            }
            if let Some(history) = &mut self.history {
                history.taken_back(request, number);
            }
            self.done_bytes += request.bytes;
            self.pass_done += request.bytes;
            self.done_ios += 1;
            if self.error != 0 {
                continue;
            }
            self.record
                .completed(request.op, request.bytes, (started, issued, now));
            let took = now.since(started);
            let most = self.plan.max_latency_ns;
            if most > Nanos::ZERO && took > most {
                (self.error, self.stopped) = (ETIMEDOUT, true);
            }
            self.judge(took, now);
        }
    }

    pub(crate) fn hold(&mut self, request: Request, now: Time) {
        if let Some(slot) = self.free.pop() {
            let number = match &mut self.history {
                Some(history) if request.op == Op::Write => history.begins(request),
                _ => 0,
            };
            self.held[slot as usize] = Held {
                request,
                started: now,
                issued: now,
                number,
            };
            self.queued.push(slot);
            self.depth += 1;
            if request.op != Op::Flush {
                self.pace.take(direction(request.op), request.bytes, now);
                self.pass_bytes += request.bytes;
            }
        }
    }
}
