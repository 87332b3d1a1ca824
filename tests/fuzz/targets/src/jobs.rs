//! Threads of fio's jobs on a device of a few servers: each comes to its end, asks for nothing
//! beyond its files, for no more at once than its depth, and counts what it did.

use crate::driver::Target;
use crate::job_draws::{self, DEVICE_BYTES};
use raidlab_engine::io::Op;
use raidlab_engine::jobs::{JobPlan, Port, Request, Thread, Wait};
use raidlab_engine::kernel::{Stream, Time};
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// I/Os before a thread is stopped.
const IOS: usize = 2000;
/// Steps in which it has to come to its end then.
const STEPS: u64 = 200_000;
/// Longest time of an I/O.
const LONGEST_NS: u64 = 10_000_000;

/// Threads of jobs.
pub struct Jobs {
    seed: u64,
}

impl Jobs {
    /// Threads by this seed.
    pub fn new(seed: u64) -> Jobs {
        Jobs { seed }
    }
}

impl Target for Jobs {
    /// A thread's plan and the seed of its device.
    type Input = (Value, u64);

    fn input(&self, number: u64) -> (Value, u64) {
        let mut draws = Stream::new(self.seed, &number.to_string(), "jobs");
        (job_draws::thread(&mut draws), draws.bits())
    }

    fn show(&self, (plan, seed): &(Value, u64)) -> String {
        format!("{plan}\nseed of the device: {seed}")
    }

    fn judge(&self, (plan, seed): &(Value, u64)) -> Result<&'static str, String> {
        let plan = JobPlan::from_json(&plan.to_string()).map_err(|e| e.to_string())?;
        run(&plan, *seed)
    }
}

/// A device whose I/Os take any time.
struct Device<'a> {
    now: u64,
    draws: Stream,
    ends: BinaryHeap<Reverse<(u64, u32)>>,
    plan: &'a JobPlan,
    /// I/Os and bytes asked for: reads, writes, trims.
    asked: [(u64, u64); 3],
    flushes: u64,
    wrong: Option<String>,
}

impl Port for Device<'_> {
    fn submit(&mut self, request: Request, slot: u32) -> Result<(), String> {
        let Request { op, offset, bytes } = request;
        let side = match op {
            Op::Read => Some(0),
            Op::Write => Some(1),
            Op::Trim => Some(2),
            _ => None,
        };
        if let Some(side) = side {
            self.asked[side].0 += 1;
            self.asked[side].1 += bytes;
            let end = offset.saturating_add(bytes);
            let within = self.plan.files.iter().any(|file| {
                let begin = file.start_bytes;
                begin <= offset && end <= begin + file.real_bytes
            });
            if bytes == 0 || end > DEVICE_BYTES || !within {
                self.wrong = Some(format!("beyond its files: {request:?}"));
            }
        } else {
            self.flushes += 1;
        }
        let took = 1 + self.draws.below(LONGEST_NS);
        self.ends.push(Reverse((self.now + took, slot)));
        if self.ends.len() > self.plan.depth.depth as usize + 1 {
            self.wrong = Some(format!("{} I/Os at once", self.ends.len()));
        }
        Ok(())
    }
}

/// Runs a thread to its end.
fn run(plan: &JobPlan, seed: u64) -> Result<&'static str, String> {
    let mut device = Device {
        now: 0,
        draws: Stream::new(seed, "device", "times"),
        ends: BinaryHeap::new(),
        plan,
        asked: [(0, 0); 3],
        flushes: 0,
        wrong: None,
    };
    let mut thread = Thread::new(plan);
    let mut stopped = false;
    for _ in 0..STEPS {
        let wait = thread.go_on(Time(device.now), &mut device)?;
        if let Some(wrong) = device.wrong.take() {
            return Err(wrong);
        }
        let asked: u64 = device.asked.iter().map(|side| side.0).sum();
        if !stopped && asked + device.flushes > IOS as u64 {
            thread.stop();
            stopped = true;
        }
        let until = match wait {
            Wait::Over => return over(&thread, &device, stopped),
            Wait::Until(at) if at.0 < device.now => return Err("waits for the past".into()),
            Wait::Until(at) => at.0,
            _ => u64::MAX,
        };
        while device.ends.peek().is_some_and(|end| end.0.0 <= until) && !thread.may_go_on(wait) {
            let Some(Reverse((at, slot))) = device.ends.pop() else {
                break;
            };
            device.now = at;
            thread.completed(slot, false);
        }
        match wait {
            Wait::Until(at) => device.now = at.0,
            _ if !thread.may_go_on(wait) => return Err(format!("{wait:?}, but nothing comes")),
            _ => {}
        }
    }
    Err(format!("no end after {STEPS} steps"))
}

/// What a thread says at its end against what was asked of the device.
fn over(thread: &Thread, device: &Device<'_>, stopped: bool) -> Result<&'static str, String> {
    if !device.ends.is_empty() {
        return Err(format!("over, with {} I/Os in flight", device.ends.len()));
    }
    let result = thread.result();
    for (side, (ios, bytes)) in result.sides.iter().zip(device.asked) {
        if side.ios > ios || side.bytes > bytes {
            return Err(format!("{} I/Os recorded of {ios}", side.ios));
        }
    }
    Ok(if stopped { "stopped" } else { "ended" })
}
