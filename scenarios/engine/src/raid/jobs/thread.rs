//! Turns at the threads of the host that handle the stripes of an array with parity in the host: one,
//! or more where md is asked for them (`group_thread_cnt`).
//!
//! Each takes up one stripe after the other, as `raid5d` of Linux md does. In its turn a job decides
//! what has to be read. If anything has, the turn ends, and the job comes back for another one with
//! what it has read. Else the thread makes parity, and hands the writes over at the end.

use crate::ids::{ArrayId, JobId};
use crate::path::Path;
use crate::raid::jobs::Stripes;
use crate::raid::jobs::lock::works_in_pages;
use crate::raid::jobs::table::Phase;
use crate::state::event::RaidEvent;
use raidlab_io::Part;
use raidlab_kernel::Time;
use raidlab_models::STRIPE_PAGE;

/// Whether a job has to wait for its turn; it goes on then with the phase in which it is.
pub(super) fn waits(stripes: &mut Stripes, path: &mut Path, index: JobId, now: Time) -> bool {
    let Stripes {
        volumes,
        jobs,
        turns,
        ..
    } = stripes;
    let job = &mut jobs[index];
    if job.flags.turn || !works_in_pages(job, volumes) {
        return false;
    }
    path.ios[job.io].charge(Part::Raid, now);
    let threads = volumes.of(job.array).thread().threads();
    let turns = &mut turns[job.array];
    if turns.taken < threads {
        turns.taken += 1;
        job.flags.turn = true;
        return false;
    }
    jobs.push(&mut turns.waiting, index);
    true
}

/// A job's turn is over, if it has it.
pub(super) fn end(stripes: &mut Stripes, path: &mut Path, index: JobId, now: Time) {
    let job = &mut stripes.jobs[index];
    if std::mem::take(&mut job.flags.turn) {
        let array = job.array;
        pass_on(stripes, path, array, now);
    }
}

/// The next job that waits for an array's thread has its turn.
pub(super) fn pass_on(stripes: &mut Stripes, path: &mut Path, array: ArrayId, now: Time) {
    let Stripes { jobs, turns, .. } = stripes;
    let turns = &mut turns[array];
    let Some(next) = jobs.pop(&mut turns.waiting) else {
        turns.taken -= 1;
        return;
    };
    let job = &mut jobs[next];
    (job.flags.turn, job.flags.scheduled) = (true, true);
    path.ios[job.io].charge(Part::Raid, now);
    path.calendar.push(now, RaidEvent::Job(next).into());
}

/// The host makes the parity of a job, for which a core reads and makes `passed` bytes, and sends the
/// writes.
pub(super) fn compute(
    stripes: &mut Stripes,
    path: &mut Path,
    index: JobId,
    passed: u64,
    now: Time,
) {
    let Stripes { volumes, jobs, .. } = &mut *stripes;
    let job = &mut jobs[index];
    let pages = match job.flags.listed {
        true => job.transfers.pages(),
        // Whole units, or what is left of them.
        false => (path.ios[job.io].moved + job.written).div_ceil(STRIPE_PAGE),
    };
    let rereads = job.work.is_write() && !job.is_full_stripe();
    let thread = volumes.of_mut(job.array).thread_mut();
    let served = thread.serve(now, passed, pages, rereads);
    path.ios[job.io].charge(Part::Raid, served.end);
    if served.end > now {
        job.flags.served = std::mem::take(&mut job.flags.turn);
    } else {
        end(stripes, path, index, now);
    }
    stripes.step_job_at(path, index, Phase::Write, served.end, now);
}
