//! Reads and writes of an array with an SSD cache: each line from or to where it is.

use crate::ids::{ArrayId, JobId};
use crate::layout::Extent;
use crate::path::IoPath;
use crate::path::agenda::JobCall;
use crate::raid::jobs::SlotRange;
use crate::raid::jobs::Work;
use crate::raid::lines::Lines;
use crate::raid::redirect::{Redirect, SlotPlace};
use raidlab_io::{ByteRange, IoId, Op};
use raidlab_kernel::Time;
use raidlab_models::{GroupId, SlotId};

impl Lines<'_> {
    /// What leaves the controller's cache for a group goes to the SSD cache, if that has the line and
    /// takes writes; else what it has of the line is out of date. The slot is pinned.
    pub(crate) fn redirect_write(
        &mut self,
        path: &mut IoPath,
        array: ArrayId,
        group: GroupId,
        now: Time,
    ) -> Option<SlotPlace> {
        let bytes = self.stripes.state().redirect(array)?.line_bytes();
        let line = Redirect::line_of(group);
        // A line that cannot be read any more leaves first.
        self.readable_slot(path, array, line.range(bytes).offset, now);
        let redirect = self.stripes.state_mut().redirect_mut(array)?;
        let slot = redirect.takes(line, false)?;
        Some(redirect.place(slot))
    }

    /// Reads or writes a range of an array below `parent`, each line where it is.
    pub(crate) fn go_by_line(
        &mut self,
        path: &mut IoPath,
        parent: IoId,
        op: Op,
        array: ArrayId,
        ByteRange { offset, bytes }: ByteRange,
        now: Time,
    ) {
        let (mut at, end) = (offset, offset + bytes);
        // What is not on the SSD cache goes on in one piece, across lines.
        let mut rest = offset;
        path.ios[parent].hold();
        while at < end {
            let slot = self.readable_slot(path, array, at, now);
            let Some(redirect) = self.stripes.state_mut().redirect_mut(array) else {
                break;
            };
            let (line, within) = (redirect.line_at(at), at % redirect.line_bytes());
            let piece = (redirect.line_bytes() - within).min(end - at);
            let slot = match op {
                Op::Write => redirect.takes(line, piece == redirect.line_bytes()),
                _ => slot,
            };
            let both = op == Op::Write && redirect.writes_through();
            if let Some(slot) = slot.filter(|_| both) {
                self.write_slot(path, parent, array, slot, ByteRange::new(at, piece), now);
            } else if let Some(slot) = slot {
                if rest < at {
                    self.bypass_cache(path, parent, op, array, ByteRange::between(rest, at), now);
                }
                rest = at + piece;
                if op == Op::Write {
                    self.write_slot(path, parent, array, slot, ByteRange::new(at, piece), now);
                } else {
                    self.fetch_piece(path, parent, array, slot, ByteRange::new(at, piece), now);
                }
            }
            at += piece;
        }
        if rest < end {
            self.bypass_cache(path, parent, op, array, ByteRange::between(rest, end), now);
        }
        self.stripes.let_go(path, parent, now);
    }

    /// Reads or writes a range of the array's own drives below `parent`; what was lost with the
    /// SSD cache is refused.
    pub(crate) fn bypass_cache(
        &mut self,
        path: &mut IoPath,
        parent: IoId,
        op: Op,
        array: ArrayId,
        ByteRange { offset, bytes }: ByteRange,
        now: Time,
    ) {
        path.ios[parent].hold();
        if op == Op::Read
            && self
                .stripes
                .state()
                .redirects()
                .is_lost(array, ByteRange { offset, bytes })
        {
            self.stripes.state_mut().refuse(path, parent, bytes);
        } else {
            self.stripes
                .move_array(path, parent, op, array, ByteRange { offset, bytes }, now);
        }
        self.stripes.let_go(path, parent, now);
    }

    /// Writes a piece of a line to the line's slot, which is pinned.
    fn write_slot(
        &mut self,
        path: &mut IoPath,
        parent: IoId,
        array: ArrayId,
        slot: SlotId,
        ByteRange { offset, bytes }: ByteRange,
        now: Time,
    ) {
        let Some(redirect) = self.stripes.state().redirect(array) else {
            return;
        };
        let (place, within) = (
            redirect.place(slot),
            (offset % redirect.line_bytes()) as u32,
        );
        let range = ByteRange { offset, bytes };
        let work = Work::WriteSlot(SlotRange { slot, range });
        let job =
            self.stripes
                .state_mut()
                .new_job(path, parent, place.array, place.stripe, work, now);
        let extent = Extent {
            column: place.column,
            start: within,
            end: within + bytes as u32,
        };
        self.stripes.state_mut().jobs_mut()[job]
            .extents_mut()
            .push(extent);
        self.stripes
            .state_mut()
            .follow_new_data(path, job, parent, (array, offset), extent);
        self.stripes.begin(path, job, now);
    }

    /// A write of a slot is over. If the SSD cache has failed meanwhile, the host's data go on to the
    /// array.
    pub(crate) fn slot_written(
        &mut self,
        path: &mut IoPath,
        index: JobId,
        at: SlotRange,
        now: Time,
    ) {
        let stripes = &mut *self.stripes;
        let fast = stripes.state().jobs()[index].array();
        let Some(array) = stripes.state().redirects().above(fast) else {
            return stripes.finish_job(path, index, now);
        };
        let redirect = stripes.state().redirect(array);
        if !redirect.is_some_and(|redirect| redirect.has_failed()) {
            stripes.state_mut().redirects_mut().unpin(array, at.slot);
            return stripes.finish_job(path, index, now);
        }
        let mark = path.agenda.mark();
        stripes.unlock(path, index, now);
        if path.agenda.rose(mark) {
            path.agenda.below(mark, JobCall::SlotFailed(index));
        } else {
            self.write_without_slot(path, index, now);
        }
    }

    /// A job that has given its lock away, and whose slot is gone, writes to the array instead.
    pub(crate) fn write_without_slot(&mut self, path: &mut IoPath, index: JobId, now: Time) {
        if let Some(integrity) = &mut path.integrity {
            integrity.jobs.end_job(index);
        }
        let job = &self.stripes.state().jobs()[index];
        let Some(array) = self.stripes.state().redirects().above(job.array()) else {
            return;
        };
        let Work::WriteSlot(at) = job.work() else {
            return;
        };
        let record = job.io();
        self.stripes.state_mut().jobs_mut()[index].move_to(array, Work::Bypass);
        self.bypass_cache(path, record, Op::Write, array, at.range, now);
    }
}
