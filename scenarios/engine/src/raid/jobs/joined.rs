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
use crate::path::IoPath;
use crate::raid::jobs::lock::{Locks, pages};
use crate::raid::jobs::state::StripeState;
use crate::raid::jobs::table::{Company, Job, Jobs, Phase};
use crate::raid::jobs::work::Work;
use crate::raid::volume::Volume;
use raidlab_io::Part;
use raidlab_kernel::Time;

impl Locks {
    /// A write joins one that is about the same pages of its stripe; false if none takes it in.
    pub fn join(&self, state: &mut StripeState, path: &mut IoPath, index: JobId) -> bool {
        let StripeState { volumes, jobs, .. } = state;
        let Some(other) = self.in_the_way(jobs, volumes, index) else {
            return false;
        };
        if !takes_in(&jobs[other], &jobs[index], volumes.of(jobs[index].array)) {
            return false;
        }
        jobs.join(index, other);
        let (leader, forced) = (jobs[other].io, path.ios[jobs[index].io].fua);
        path.ios[leader].fua |= forced;
        if let Some(integrity) = &mut path.integrity {
            integrity.jobs.join(index, other);
        }
        true
    }
}

impl Jobs {
    /// A job's data become those of another one, too, which it waits for.
    fn join(&mut self, index: JobId, other: JobId) {
        if self[other].company == Company::Alone {
            self.keep_own(other);
        }
        let extents = std::mem::take(&mut self[index].extents);
        let into = &mut self[other];
        into.extents.extend_from_slice(&extents);
        join_extents(&mut into.extents);
        into.company = match (into.phase, into.company) {
            (Phase::Compute, _) | (_, Company::Grown) => Company::Grown,
            _ => Company::Planned,
        };
        let mut queue = into.joined;
        self.push(&mut queue, index);
        (self[other].joined, self[index].extents) = (queue, extents);
    }

    /// A job begins to write: its time from here on is that of the writes that have joined it, too.
    pub(super) fn begin_to_write(&mut self, path: &mut IoPath, index: JobId, now: Time) {
        if self[index].company == Company::Alone {
            return;
        }
        self.joined(index).before = path.ios[self[index].io].parts;
        let mut next = self[index].joined.next;
        while next != JobId::NONE {
            path.ios[self[next].io].charge(Part::Raid, now);
            next = self[next].behind;
        }
    }

    /// A job has been written, and with it the next one that has joined it, whose record has its
    /// time now. None if none is left.
    pub(super) fn next_joined(
        &mut self,
        path: &mut IoPath,
        index: JobId,
        now: Time,
    ) -> Option<JobId> {
        let mut queue = self[index].joined;
        let joined = self.pop(&mut queue)?;
        self[index].joined = queue;
        let (of, io) = (self[index].io, self[joined].io);
        let written = path.ios[of].parts.since(&self.joined(index).before);
        let drive = path.ios[of].drive;
        let record = &mut path.ios[io];
        record.parts.add(&written);
        (record.mark, record.drive) = (now, drive);
        Some(joined)
    }
}

/// Whether a job takes in what another one of its stripe writes.
fn takes_in(job: &Job, other: &Job, volume: &Volume) -> bool {
    let writes = |job: &Job| matches!(job.work, Work::Write);
    let reads =
        job.phase == Phase::Compute && job.transfers.are_listed() && volume.places().changes() == 0;
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
