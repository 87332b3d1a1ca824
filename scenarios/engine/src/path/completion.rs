//! A command comes back from its drive: *join*.

use crate::ids::DriveId;
use crate::path::IoPath;
use crate::path::agenda::Up;
use crate::state::owner::job_of;
use raidlab_io::{Io, IoId, Op, Part, Stage};
use raidlab_kernel::Time;

impl IoPath {
    /// A command returns to the host at once: its data cross no link.
    #[inline(never)]
    pub(crate) fn returned_at_once(&mut self, id: IoId, now: Time) -> Up {
        self.arrived(id, now)
    }

    /// A command has come back from its drive, which has a place for another one.
    #[inline(always)]
    pub(crate) fn returned(&mut self, id: IoId, now: Time) -> Up {
        let Io { drive, parent, .. } = self.ios[id];
        self.leaves(id, drive, now);
        let slot = &mut self.drives[drive];
        if slot.waiting.is_plain() {
            self.dispatch_plain(drive, now);
        } else {
            let thread = self.thread_of(id);
            let slot = &mut self.drives[drive];
            slot.waiting.returned(&mut self.ios, thread, now);
            self.dispatch_waiting(drive, now);
        }
        if parent != Io::NONE {
            if self.can_fail {
                return Up::Examine(id);
            }
            return self.join(id, now);
        }
        let io = &mut self.ios[id];
        io.moved = io.bytes;
        io.charge(Part::Link, now);
        Up::Complete(id)
    }

    /// A command is no longer at its drive.
    #[inline(always)]
    pub(crate) fn leaves(&mut self, id: IoId, drive: DriveId, now: Time) {
        let slot = &mut self.drives[drive];
        slot.in_flight -= 1;
        slot.load.change(now, -1);
        let io = &mut self.ios[id];
        slot.head = io.offset + io.bytes;
        if slot.flushes.stop_others() {
            return self.leaves_alone(id, drive, now);
        }
        if io.stage == Stage::Ahead {
            io.stage = Stage::default();
            slot.ahead -= 1;
        }
    }

    /// A command leaves its drive, where a flush is at the drive alone or is to be.
    #[cold]
    fn leaves_alone(&mut self, id: IoId, drive: DriveId, now: Time) {
        let slot = &mut self.drives[drive];
        let io = &mut self.ios[id];
        if io.stage == Stage::Ahead {
            io.stage = Stage::default();
            slot.ahead -= 1;
        }
        if io.op == Op::Flush && slot.flushes.at_drive {
            self.flushed(drive, now);
        }
        self.flush_when_empty(drive, now);
    }

    /// What waits moves to the drive in its order, as long as it has places.
    #[inline(always)]
    fn dispatch_plain(&mut self, drive: DriveId, now: Time) {
        loop {
            let slot = &mut self.drives[drive];
            let has_place = slot.has_place();
            let Some(queue) = slot.waiting.plain().filter(|_| has_place) else {
                return;
            };
            let Some(next) = queue.pop(&self.ios) else {
                return;
            };
            self.descend(next, now);
        }
    }

    /// A command's time and bytes become its request's, or its job's.
    #[inline]
    pub(crate) fn join(&mut self, id: IoId, now: Time) -> Up {
        let Io {
            parent,
            bytes,
            drive,
            ..
        } = self.ios[id];
        let request = &mut self.ios[parent];
        request.moved += bytes;
        request.pending -= 1;
        if request.pending == 0 {
            (request.mark, request.drive) = (now, drive);
            let parts = self.ios[id].parts;
            self.ios[parent].parts.add(&parts);
            self.ios.release(id);
            self.all_returned(parent)
        } else {
            self.ios.release(id);
            Up::None
        }
    }

    /// Everything that a record waited for has come.
    #[inline]
    pub(crate) fn all_returned(&self, id: IoId) -> Up {
        let io = &self.ios[id];
        match job_of(io) {
            Some(job) => Up::Job(job),
            None if self.arrays[io.array].in_memory => Up::PassOn(id),
            None => Up::Complete(id),
        }
    }
}
