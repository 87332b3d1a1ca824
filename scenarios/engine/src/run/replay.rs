//! A trace on a system: each request at its time, or after the one before it.

use crate::plan::Plan;
use crate::run::simulation::Simulation;
use crate::run::single::RunError;
use raidlab_kernel::{Nanos, Op, Time};

/// One request of a trace.
#[derive(Clone, Copy, Debug)]
pub struct TraceRequest {
    /// What is asked.
    pub op: Op,
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// With [`Pacing::AfterCompletion`] the pause between this request's completion and the next
    /// request; with [`Pacing::Timestamps`] when it is issued.
    pub time: Nanos,
}

/// When the requests of a trace are issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// One outstanding: the next one comes a pause after the completion.
    AfterCompletion,
    /// At the times that the trace says, whether or not earlier ones have completed.
    Timestamps,
}

/// The response time of every request, in the order of the trace.
///
/// # Errors
/// The plan's faults, or the first request that does not fit the array, by its number.
pub fn replay(
    plan: &Plan,
    array: u32,
    requests: &[TraceRequest],
    pacing: Pacing,
    mut should_continue: impl FnMut() -> bool,
) -> Result<Vec<Nanos>, RunError> {
    let mut simulation = Simulation::new(plan).map_err(RunError::Plan)?;
    let mut responses = vec![Nanos::ZERO; requests.len()];
    for (index, request) in requests.iter().enumerate() {
        if pacing == Pacing::Timestamps {
            let at = Time::ZERO + request.time;
            while let Some(done) = simulation.advance(at) {
                responses[done.owner as usize] = done.at - done.issued;
            }
        }
        simulation
            .submit(
                array,
                request.op,
                request.offset,
                request.bytes,
                index as u32,
            )
            .map_err(|why| RunError::Form(format!("request {index}: {why}")))?;
        if pacing == Pacing::AfterCompletion {
            if let Some(done) = simulation.advance(Time::NEVER) {
                responses[index] = done.at - done.issued;
                // Pauses between requests: the drive goes on with its own work meanwhile.
                simulation.advance(done.at + request.time);
            }
        }
        if index % 1024 == 0 && !should_continue() {
            return Err(RunError::Stopped);
        }
    }
    while let Some(done) = simulation.advance(Time::NEVER) {
        responses[done.owner as usize] = done.at - done.issued;
    }
    match simulation.system().failure() {
        Some(fault) => Err(RunError::Plan(vec![fault])),
        None => Ok(responses),
    }
}
