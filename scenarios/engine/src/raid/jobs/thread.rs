//! Turns at the threads of the host that handle the stripes of an array with parity in the host: one,
//! or more where md is asked for them (`group_thread_cnt`).
//!
//! Each takes up one stripe after the other, as `raid5d` of Linux md does. In its turn a job decides
//! what has to be read. If anything has, the turn ends, and the job comes back for another one with
//! what it has read. Else the thread makes parity, and hands the writes over at the end.

use crate::ids::{ArrayId, JobId};
use crate::path::IoPath;
use crate::raid::jobs::lock::works_in_pages;
use crate::raid::jobs::state::StripeState;
use crate::raid::jobs::table::{Jobs, Turn, Waiters};
use crate::state::event::RaidEvent;
use raidlab_io::Part;
use raidlab_kernel::{Table, Time};
use raidlab_models::STRIPE_PAGE;

/// Those of an array.
#[derive(Clone, Copy, Debug)]
struct ArrayTurns {
    /// The jobs that wait for theirs.
    waiting: Waiters,
    /// Jobs that have theirs: at most one for each thread.
    taken: u32,
}

impl ArrayTurns {
    /// Nobody wants one.
    const NONE: ArrayTurns = ArrayTurns {
        waiting: Waiters::NONE,
        taken: 0,
    };
}

/// The turns at the threads of all arrays.
#[derive(Debug)]
pub(super) struct Turns {
    of_array: Table<ArrayId, ArrayTurns>,
}

impl Turns {
    /// Nobody wants one.
    pub fn new(arrays: usize) -> Turns {
        Turns {
            of_array: vec![ArrayTurns::NONE; arrays].into(),
        }
    }

    /// Nobody has one any more, and nobody waits for one.
    pub fn clear(&mut self) {
        for turns in &mut self.of_array {
            *turns = ArrayTurns::NONE;
        }
    }

    /// Whether a job has to wait for its turn; it goes on then with the phase in which it is.
    pub fn waits(
        &mut self,
        state: &mut StripeState,
        path: &mut IoPath,
        index: JobId,
        now: Time,
    ) -> bool {
        let StripeState { volumes, jobs, .. } = state;
        let job = &mut jobs[index];
        if job.turn == Turn::Taken || !works_in_pages(job, volumes) {
            return false;
        }
        path.ios[job.io].charge(Part::Raid, now);
        let threads = volumes.of(job.array).host().thread().threads();
        let turns = &mut self.of_array[job.array];
        if turns.taken < threads {
            turns.taken += 1;
            job.turn = Turn::Taken;
            return false;
        }
        jobs.push(&mut turns.waiting, index);
        true
    }

    /// A job's turn is over, if it has it.
    pub fn end(&mut self, jobs: &mut Jobs, path: &mut IoPath, index: JobId, now: Time) {
        if jobs[index].turn == Turn::Taken {
            self.pass_on(jobs, path, index, now);
        }
    }

    /// A job's turn is over: the next one that waits for the array's thread has it.
    pub fn pass_on(&mut self, jobs: &mut Jobs, path: &mut IoPath, index: JobId, now: Time) {
        jobs[index].turn = Turn::None;
        let turns = &mut self.of_array[jobs[index].array];
        let Some(next) = jobs.pop(&mut turns.waiting) else {
            turns.taken -= 1;
            return;
        };
        let job = &mut jobs[next];
        job.turn = Turn::Taken;
        job.schedule();
        path.ios[job.io].charge(Part::Raid, now);
        path.calendar.push(now, RaidEvent::Job(next).into());
    }

    /// The host makes the parity of a job, for which a core reads and makes `passed` bytes. Gives
    /// when the core is done and the writes can go.
    pub fn compute(
        &mut self,
        state: &mut StripeState,
        path: &mut IoPath,
        index: JobId,
        passed: u64,
        now: Time,
    ) -> Time {
        let StripeState { volumes, jobs, .. } = state;
        let job = &mut jobs[index];
        let pages = match job.transfers.are_listed() {
            true => job.transfers.pages(),
            // Whole units, or what is left of them.
            false => (path.ios[job.io].moved + job.written).div_ceil(STRIPE_PAGE),
        };
        let rereads = job.work.is_write() && !job.is_full_stripe();
        let thread = volumes.of_mut(job.array).host_mut().thread_mut();
        let served = thread.serve(now, passed, pages, rereads);
        path.ios[job.io].charge(Part::Raid, served.end);
        if served.end > now && job.turn == Turn::Taken {
            job.turn = Turn::AtWork;
        } else {
            self.end(jobs, path, index, now);
        }
        served.end
    }
}
