//! Writes that join another one of their stripe, as in the stripe cache of Linux md.
//!
//! md holds the pages of a stripe from the first write to the end of the last one. Until it takes
//! the new data out to make parity, it takes in further writes of the same pages. So neighbours that
//! come while a stripe waits for the thread, or for what it has to read, are written with it: what
//! they replace needs no more to be read, and a stripe whose units are all new needs nothing else.
//! Writes of data that are just being replaced wait (`R5_Overlap`). A job that has joined another one
//! does nothing but wait for its end. See `raid5_make_request` and `handle_stripe_dirtying` in
//! Linux, drivers/md/raid5.c. A stripe that has to read is not put off if its write is synchronous,
//! as direct ones are (`REQ_SYNC` there; older kernels put off those, too).

use crate::ids::JobId;
use crate::layout::{Extent, join as join_extents};
use crate::path::Path;
use crate::raid::jobs::lock::pages;
use crate::raid::jobs::table::{Job, Phase};
use crate::raid::jobs::{Stripes, Work};
use crate::raid::volume::Volume;
use raidlab_io::Part;
use raidlab_kernel::Time;

/// A write joins one that is about the same pages of its stripe; false if none takes it in.
pub(super) fn join(stripes: &mut Stripes, path: &mut Path, index: JobId) -> bool {
    let Stripes {
        volumes,
        jobs,
        locks,
        ..
    } = stripes;
    let Some(other) = locks.in_the_way(jobs, volumes, index) else {
        return false;
    };
    if !takes_in(&jobs[other], &jobs[index], volumes.of(jobs[index].array)) {
        return false;
    }
    if !jobs[other].flags.joined {
        jobs.keep_own(other);
    }
    let extents = std::mem::take(&mut jobs[index].extents);
    let into = &mut jobs[other];
    into.extents.extend_from_slice(&extents);
    join_extents(&mut into.extents);
    into.flags.joined = true;
    let (leader, forced) = (into.io, path.ios[jobs[index].io].fua);
    path.ios[leader].fua |= forced;
    let into = &mut jobs[other];
    into.flags.grown |= into.phase == Phase::Compute;
    let mut queue = into.joined;
    jobs.push(&mut queue, index);
    (jobs[other].joined, jobs[index].extents) = (queue, extents);
    if let Some(integrity) = &mut path.integrity {
        integrity.join(index, other);
    }
    true
}

/// A job begins to write: its time from here on is that of the writes that have joined it, too.
pub(super) fn begin_to_write(stripes: &mut Stripes, path: &mut Path, index: JobId, now: Time) {
    let jobs = &mut stripes.jobs;
    if !jobs[index].flags.joined {
        return;
    }
    jobs.joined(index).before = path.ios[jobs[index].io].parts;
    let mut next = jobs[index].joined.next;
    while next != JobId::NONE {
        path.ios[jobs[next].io].charge(Part::Raid, now);
        next = jobs[next].behind;
    }
}

/// A job has been written, and with it the next one that has joined it. False if none is left.
pub(super) fn finish_next(stripes: &mut Stripes, path: &mut Path, index: JobId, now: Time) -> bool {
    let jobs = &mut stripes.jobs;
    let mut queue = jobs[index].joined;
    let Some(joined) = jobs.pop(&mut queue) else {
        return false;
    };
    jobs[index].joined = queue;
    let (of, io) = (jobs[index].io, jobs[joined].io);
    let written = path.ios[of].parts.since(&jobs.joined(index).before);
    let drive = path.ios[of].drive;
    let record = &mut path.ios[io];
    record.parts.add(&written);
    (record.mark, record.drive) = (now, drive);
    if path.can_fail {
        stripes.refuse_what_is_lost(path, index, joined);
    }
    stripes.jobs.release(joined);
    stripes.child_returned(path, io, now);
    true
}

/// Whether a job takes in what another one of its stripe writes.
fn takes_in(job: &Job, other: &Job, volume: &Volume) -> bool {
    let writes = |job: &Job| matches!(job.work, Work::Write);
    let reads = job.phase == Phase::Compute && job.flags.listed && volume.changes() == 0;
    if !writes(job) || !writes(other) || !(job.phase == Phase::Plan || reads) {
        return false;
    }
    let ((start, end), (from, to)) = (pages(job, volume), pages(other, volume));
    let replaces = job.extents.iter().any(|a| {
        let replaced = |b: &Extent| a.column == b.column && a.start < b.end && b.start < a.end;
        other.extents.iter().any(replaced)
    });
    start <= from && to <= end && !replaces
}
