//! Updates of the bitmap on the members, and the writes that wait for them.

use crate::ids::{ArrayId, JobId, StripeId};
use crate::path::IoPath;
use crate::path::agenda::JobCall;
use crate::raid::bitmap::{Bitmap, Update};
use crate::raid::jobs::{Phase, Stripes, Work};
use crate::raid::member::State;
use crate::state::event::RaidEvent;
use raidlab_io::{ByteRange, Io, IoId, Op, Part, Queue, Stage};
use raidlab_kernel::Time;

/// Bytes of a page of bits, which an update writes to each member.
const PAGE: u64 = 4096;

/// A write comes to an array: true if it waits for its bits to be set on the members.
pub(crate) fn waits(stripes: &mut Stripes, path: &mut IoPath, id: IoId, now: Time) -> bool {
    let (array, offset, bytes) = (path.ios[id].array, path.ios[id].offset, path.ios[id].bytes);
    let volume = stripes.state_mut().volume_mut(array);
    if volume.bitmap().is_none() {
        return false;
    }
    let degraded = volume
        .places()
        .all()
        .iter()
        .any(|m| m.state() != State::Good);
    let start = Bitmap::place(volume.geometry(), offset);
    let end = Bitmap::place(volume.geometry(), offset + bytes.max(1) - 1);
    let Some(bitmap) = volume.bitmap_mut() else {
        return false;
    };
    let chunk = bitmap.plan.chunk_bytes.max(1);
    let cleared = bitmap.sweep(now, degraded);
    let clear = bitmap.write((start / chunk, end / chunk), now);
    let begins = clear && !bitmap.setting;
    let waits = clear || bitmap.setting;
    bitmap.held.change(now, i64::from(waits));
    if begins {
        bitmap.set_updating(now, true);
        bitmap.served.push(&mut path.ios, id);
    } else if waits {
        bitmap.wanted |= clear;
        bitmap.waiting.push(&mut path.ios, id);
    }
    if cleared > 0 && !begins {
        begin(stripes, path, array, Update::Clear, now);
    }
    if begins {
        begin(stripes, path, array, Update::Set, now);
    }
    waits
}

fn begin(stripes: &mut Stripes, path: &mut IoPath, array: ArrayId, update: Update, now: Time) {
    let job = stripes.state_mut().new_job(
        path,
        Io::NONE,
        array,
        StripeId::new(0),
        Work::Bitmap(update),
        now,
    );
    path.agenda.rest(JobCall::Done(job));
}

/// An update goes on: flush, write, flush; where the members take FUA, flush and such a write;
/// without volatile caches it only writes.
pub(crate) fn step(
    stripes: &mut Stripes,
    path: &mut IoPath,
    index: JobId,
    update: Update,
    now: Time,
) {
    let job = &stripes.state().jobs()[index];
    let (io, array, work) = (job.io(), job.array(), job.work());
    let bitmap = stripes.state().volume(array).bitmap();
    let flushes = bitmap.is_some_and(|bitmap| bitmap.plan.flushes);
    let forced = bitmap.is_some_and(|bitmap| bitmap.plan.fua);
    let (op, bytes, next) = match job.phase() {
        Phase::Plan if flushes => (Op::Flush, 0, Phase::Read),
        Phase::Plan | Phase::Read => (Op::Write, PAGE, Phase::Compute),
        Phase::Compute if flushes && !forced => (Op::Flush, 0, Phase::Finish),
        _ => return finish(stripes, path, index, update, now),
    };
    stripes.state_mut().jobs_mut()[index].go_on_with(work, next);
    path.ios[io].fua = forced && op == Op::Write;
    path.ios[io].hold();
    for member in stripes.state().volume(array).places().all().ids() {
        let member = stripes.state().volume(array).places().of(member);
        if member.state() != State::Failed {
            let drive = member.drive();
            path.ios[io].pending += 1;
            let command =
                stripes
                    .state()
                    .new_command(path, io, op, drive, ByteRange::new(0, bytes), now);
            path.send(command, drive, now);
        }
    }
    stripes.let_go(path, io, now);
}

/// An update is done: those it served go on, and the next one begins if it is wanted.
fn finish(stripes: &mut Stripes, path: &mut IoPath, job: JobId, update: Update, now: Time) {
    let (array, io) = (
        stripes.state().jobs()[job].array(),
        stripes.state().jobs()[job].io(),
    );
    stripes.state_mut().jobs_mut().release(job);
    path.ios.release(io);
    if update == Update::Clear {
        return;
    }
    let Some(bitmap) = stripes.state_mut().volume_mut(array).bitmap_mut() else {
        return;
    };
    let more = std::mem::take(&mut bitmap.wanted);
    bitmap.set_updating(now, more);
    let mut gone = go_on(path, &mut bitmap.served, now);
    if !more {
        gone += go_on(path, &mut bitmap.waiting, now);
    }
    bitmap.held.change(now, -gone);
    if !more {
        return;
    }
    std::mem::swap(&mut bitmap.served, &mut bitmap.waiting);
    begin(stripes, path, array, Update::Set, now);
}

/// Writes that wait in a queue have their bits set: how many.
fn go_on(path: &mut IoPath, queue: &mut Queue, now: Time) -> i64 {
    let mut gone = 0;
    while let Some(id) = queue.pop(&path.ios) {
        gone += 1;
        path.ios[id].charge(Part::Raid, now);
        path.ios[id].stage = Stage::Marked;
        path.calendar.push(now, RaidEvent::GoOn(id).into());
    }
    gone
}
