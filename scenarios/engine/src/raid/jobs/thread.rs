//! Turns of jobs at the thread of the host that handles the stripes of an array in the host.

use crate::path::Path;
use crate::raid::jobs::Stripes;
use crate::raid::jobs::lock::works_in_pages;
use crate::raid::jobs::table::Phase;
use raidlab_kernel::{Part, Time};

/// Whether a job has to wait for its first turn: what has to be read is decided there.
pub(super) fn waits(stripes: &mut Stripes, path: &mut Path, index: u32, now: Time) -> bool {
    let Stripes { volumes, jobs, .. } = stripes;
    let job = &mut jobs[index];
    if job.flags.queued || !works_in_pages(job, volumes) {
        return false;
    }
    job.flags.queued = true;
    let at = volumes.of(job.array).thread().free_at(now);
    path.ios[job.io].charge(Part::Raid, at);
    if at > now {
        stripes.step_job_at(path, index, Phase::Plan, at, now);
    }
    at > now
}

/// The thread makes the parity of a job, of so many bytes.
pub(super) fn compute(
    stripes: &mut Stripes,
    path: &mut Path,
    index: u32,
    taken_in: u64,
    now: Time,
) {
    let Stripes { volumes, jobs, .. } = &mut *stripes;
    let job = &jobs[index];
    let io = job.io;
    let moved = path.ios[io].moved + job.written;
    let thread = volumes.of_mut(job.array).thread_mut();
    let served = thread.serve(now, taken_in, moved);
    path.ios[io].charge(Part::Raid, served.end);
    stripes.step_job_at(path, index, Phase::Write, served.end, now);
}
