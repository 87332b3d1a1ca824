//! A trace on a system: each request at its time, or so many at once.

use crate::plan::Plan;
use crate::run::report::RunResult;
use crate::run::simulation::Simulation;
use crate::run::single::RunError;
use crate::state::records::Outside;
use raidlab_kernel::{Nanos, Op, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Requests in the system at once; further ones wait before it, and for the reader of the trace.
const MOST_IN_FLIGHT: usize = 1 << 16;
/// Requests between two questions whether to go on.
const BETWEEN_LOOKS: u64 = 1024;
/// Steps of its timeline at the most.
const STEPS: usize = 512;
/// What a trace is called among the results.
const NAME: &str = "trace";

/// One request of a trace.
#[derive(Clone, Copy, Debug)]
pub struct TraceRequest {
    /// What is asked.
    pub op: Op,
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// With [`Timing::Timestamps`] when it is issued; else the pause between its completion and
    /// the request that takes its place.
    pub time: Nanos,
}

/// When the requests of a trace are issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// At the times that the trace says, whether or not earlier ones have completed.
    Timestamps,
    /// So many are outstanding: the next one comes a pause after a completion.
    Closed(u32),
}

/// A request that is in the system.
struct InFlight<T> {
    tag: T,
    number: u64,
    pause: Nanos,
}

/// The requests in the system by their marks; a mark is used again.
struct Marks<T> {
    in_flight: Vec<Option<InFlight<T>>>,
    free: Vec<u32>,
}

impl<T> Marks<T> {
    fn len(&self) -> usize {
        self.in_flight.len() - self.free.len()
    }

    fn claim(&mut self, request: InFlight<T>) -> u32 {
        if let Some(mark) = self.free.pop() {
            self.in_flight[mark as usize] = Some(request);
            return mark;
        }
        self.in_flight.push(Some(request));
        self.in_flight.len() as u32 - 1
    }

    fn release(&mut self, mark: u32) -> Option<InFlight<T>> {
        let found = self.in_flight.get_mut(mark as usize)?.take();
        self.free.extend(found.is_some().then_some(mark));
        found
    }
}

struct Replay<'a, T, D: FnMut(T, u64, &Outside)> {
    simulation: Simulation,
    array: u32,
    marks: Marks<T>,
    done: &'a mut D,
}

impl<T, D: FnMut(T, u64, &Outside)> Replay<'_, T, D> {
    /// Runs up to a completion or to `limit`; gives the completion and the pause behind it.
    fn advance(&mut self, limit: Time) -> Option<(Time, Nanos)> {
        let back = self.simulation.advance(limit)?;
        let request = self.marks.release(back.owner)?;
        (self.done)(request.tag, request.number, &back);
        Some((back.at, request.pause))
    }

    fn submit(
        &mut self,
        number: u64,
        request: TraceRequest,
        tag: T,
        since: Time,
    ) -> Result<(), RunError> {
        let TraceRequest {
            op, offset, bytes, ..
        } = request;
        let mark = self.marks.claim(InFlight {
            tag,
            number,
            pause: request.time,
        });
        let submitted = self
            .simulation
            .submit_since(self.array, (op, offset, bytes), mark, since);
        let refused = |why| RunError::Form(format!("request {number}: {why}"));
        submitted.map(|_| ()).map_err(refused)
    }

    fn at_timestamp(&mut self, number: u64, request: TraceRequest, tag: T) -> Result<(), RunError> {
        let since = Time::ZERO + request.time;
        while self.advance(since).is_some() {}
        while self.marks.len() >= MOST_IN_FLIGHT && self.advance(Time::NEVER).is_some() {}
        self.submit(number, request, tag, since)
    }
}

/// Replays a trace on an array of a plan.
///
/// # Arguments
/// `requests` gives one after the other, each with a tag. `done` has the tag back at its
/// completion, with its number from 0. `should_continue` is asked at intervals, with the number of
/// requests so far.
///
/// # Returns
/// What the system did, with the trace as its load.
///
/// # Errors
/// The plan's faults, the fault that `requests` gives, or the first request that does not fit the
/// array, by its number.
pub fn replay<T, D: FnMut(T, u64, &Outside)>(
    plan: &Plan,
    array: u32,
    requests: impl Iterator<Item = Result<(TraceRequest, T), RunError>>,
    timing: Timing,
    mut done: D,
    mut should_continue: impl FnMut(u64) -> bool,
) -> Result<RunResult, RunError> {
    let mut replay = Replay {
        simulation: Simulation::recorded_in_steps(plan, STEPS).map_err(RunError::Plan)?,
        array,
        marks: Marks {
            in_flight: Vec::new(),
            free: Vec::new(),
        },
        done: &mut done,
    };
    // When each place of a closed loop is free.
    let mut places = BinaryHeap::new();
    if let Timing::Closed(outstanding) = timing {
        places.extend((0..outstanding.max(1)).map(|_| Reverse(Time::ZERO)));
    }
    for (number, next) in (0..).zip(requests) {
        let (request, tag) = next?;
        match timing {
            Timing::Timestamps => replay.at_timestamp(number, request, tag)?,
            Timing::Closed(_) => {
                // The place that is free first; a completion may free another before it.
                while let Some((at, pause)) =
                    replay.advance(places.peek().map_or(Time::NEVER, |free| free.0))
                {
                    places.push(Reverse(at + pause));
                }
                let now = replay.simulation.now();
                let due = places.pop().map_or(now, |free| free.0.max(now));
                replay.submit(number, request, tag, due)?;
            }
        }
        if number % BETWEEN_LOOKS == 0 {
            if replay.simulation.system().failure().is_some() {
                break;
            }
            if !should_continue(number) {
                return Err(RunError::Stopped);
            }
        }
    }
    finish(replay, plan, should_continue)
}

/// What is under way comes to its end.
fn finish<T, D: FnMut(T, u64, &Outside)>(
    mut replay: Replay<'_, T, D>,
    plan: &Plan,
    mut should_continue: impl FnMut(u64) -> bool,
) -> Result<RunResult, RunError> {
    while replay.marks.len() > 0 && replay.advance(Time::NEVER).is_some() {
        if !should_continue(u64::MAX) {
            return Err(RunError::Stopped);
        }
    }
    if let Some(fault) = replay.simulation.system().failure() {
        return Err(RunError::Plan(vec![fault]));
    }
    let report = replay.simulation.report(plan);
    let report = report.ok_or_else(|| RunError::Form("nothing was recorded".into()))?;
    Ok(report.of_load_on(replay.array, NAME))
}
