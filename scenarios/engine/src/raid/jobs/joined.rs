//! Writes that join another one of their stripe, as in the stripe cache of Linux' md.
//!
//! md holds the pages of a stripe from the first write to the end of the last one. Until it takes
//! the new data out to make parity, it takes in further writes of the same pages. So neighbours that
//! come while a stripe waits for the thread, or for what it has to read, are written with it: what
//! they replace needs no more to be read, and a stripe whose units are all new needs nothing else.
//! Writes of data that are just being replaced wait (`R5_Overlap`). See `raid5_make_request` and
//! `handle_stripe_dirtying` in Linux, drivers/md/raid5.c. Since Linux 4.10 it does not put off a
//! stripe that has to read if its write is synchronous, as direct ones are (`REQ_SYNC`).

use crate::layout::{Extent, join as join_extents};
use crate::path::Path;
use crate::raid::jobs::lock::pages;
use crate::raid::jobs::table::{Job, Phase};
use crate::raid::jobs::{Stripes, Work};
use crate::raid::volume::Volume;
use crate::state::owner::Owner;
use raidlab_kernel::{Io, IoId, Part, Time};

/// A write joins one that is about the same pages of its stripe; false if none takes it in.
pub(super) fn join(stripes: &mut Stripes, path: &mut Path, index: u32) -> bool {
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
    let extents = std::mem::take(&mut jobs[index].extents);
    let into = &mut jobs[other];
    into.extents.extend_from_slice(&extents);
    join_extents(&mut into.extents);
    into.flags.joined = true;
    into.flags.grown |= into.phase == Phase::Compute;
    jobs[index].extents = extents;
    if let Some(integrity) = &mut path.integrity {
        integrity.join(index, other);
    }
    let io = jobs[index].io;
    jobs.release(index);
    path.ios[io].owner = Owner::Job(other).into();
    jobs.joined(other).records.push(&mut path.ios, io);
    true
}

/// A job begins to write: its time from here on is that of the writes that have joined it, too.
pub(super) fn begin_to_write(stripes: &mut Stripes, path: &mut Path, index: u32, now: Time) {
    if !stripes.jobs[index].flags.joined {
        return;
    }
    let parts = path.ios[stripes.jobs[index].io].parts;
    let joined = stripes.jobs.joined(index);
    joined.before = parts;
    let mut next = joined.records.front();
    while let Some(io) = next {
        path.ios[io].charge(Part::Raid, now);
        next = joined.records.behind(&path.ios, io);
    }
}

/// A job has been written, and with it the next one that has joined it. False if none is left.
pub(super) fn finish_next(stripes: &mut Stripes, path: &mut Path, index: u32, now: Time) -> bool {
    if !stripes.jobs[index].flags.joined {
        return false;
    }
    let of = stripes.jobs[index].io;
    let joined = stripes.jobs.joined(index);
    let Some(io) = joined.records.pop(&path.ios) else {
        return false;
    };
    let written = path.ios[of].parts.since(&joined.before);
    let drive = path.ios[of].drive;
    let record = &mut path.ios[io];
    record.parts.add(&written);
    (record.mark, record.drive) = (now, drive);
    if path.can_fail {
        refuse_if_lost(stripes, path, index, io);
    }
    stripes.child_returned(path, io, now);
    true
}

/// Refuses a write, of those whose data a job has written, if its own cannot be read back.
pub(super) fn refuse_if_lost(stripes: &mut Stripes, path: &mut Path, index: u32, io: IoId) {
    let job = &stripes.jobs[index];
    let volume = stripes.volume(job.array);
    let lost = &stripes.jobs.repair(index).lost;
    let (mut at, end) = (
        path.ios[io].offset,
        path.ios[io].offset + path.ios[io].bytes,
    );
    let mut keeps = true;
    while at < end {
        let piece = volume.geometry().piece(at, end - at);
        keeps &= volume.keeps(job.stripe, piece.extent(), lost);
        at += u64::from(piece.end - piece.start);
    }
    let parent = path.ios[io].parent;
    if !keeps && parent != Io::NONE {
        stripes.refuse(path, parent, 0);
    }
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
