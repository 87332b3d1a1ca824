//! A request becomes commands, and a command waits for a place at its drive: *dispatch*.

use crate::ids::{CopyId, DriveId, ThreadId};
use crate::path::IoPath;
use crate::path::agenda::Up;
use crate::state::owner::OwnerOf;
use raidlab_io::{ByteRange, Io, IoId, Op, Stage};
use raidlab_kernel::Time;

impl IoPath {
    #[inline(always)]
    pub(crate) fn dispatch(&mut self, id: IoId, now: Time) -> Up {
        let io = &mut self.ios[id];
        let array = &self.arrays[io.array];
        if io.op == Op::Flush {
            return self.dispatch_flush(id, now);
        } else if let Some(drive) = array.single {
            io.drive = drive;
            self.send(id, drive, now);
        } else {
            self.dispatch_runs(id, now);
        }
        Up::None
    }

    /// A request goes to the drives that its data lie on.
    fn dispatch_runs(&mut self, id: IoId, now: Time) {
        let (op, range, array_index) = {
            let io = &self.ios[id];
            (io.op, io.range(), io.array)
        };
        let array = &self.arrays[array_index];
        let mut runs = array.layout.runs(range);
        let mut next = array.layout.next_run(&mut runs);
        let copies = if op == Op::Read {
            1
        } else {
            array.layout.copies()
        };
        if let (Some(only), true, 1) = (&next, runs.is_empty(), copies) {
            // The one command of a request is the request's own record.
            let (drive, offset) = array.choose_copy(&self.drives, only, now);
            let io = &mut self.ios[id];
            io.drive = drive;
            io.offset = offset;
            self.send(id, drive, now);
            return;
        }
        self.ios[id].pending = (1 + array.layout.count(runs)) * copies;
        while let Some(run) = next {
            if op == Op::Read {
                let array = &self.arrays[array_index];
                let (drive, offset) = array.choose_copy(&self.drives, &run, now);
                self.command(id, op, drive, ByteRange::new(offset, run.bytes), now);
            } else {
                for copy in CopyId::first(copies) {
                    let array = &self.arrays[array_index];
                    let (drive, offset) = array.place(&run, copy);
                    self.command(id, op, drive, ByteRange::new(offset, run.bytes), now);
                }
            }
            next = self.arrays[array_index].layout.next_run(&mut runs);
        }
    }

    fn dispatch_flush(&mut self, id: IoId, now: Time) -> Up {
        let array = self.ios[id].array;
        let members = self.arrays[array].drives.iter();
        let flushed = members
            .filter(|&&drive| self.drives[drive].flushes.are_sent())
            .count();
        if flushed == 0 {
            return Up::Complete(id);
        }
        self.ios[id].pending = flushed as u32;
        for member in self.arrays[array].drives.ids() {
            let drive = self.arrays[array].drives[member];
            if self.drives[drive].flushes.are_sent() {
                self.command(id, Op::Flush, drive, ByteRange::default(), now);
            }
        }
        Up::None
    }

    /// Sends one command of a request to a drive.
    #[inline]
    pub(crate) fn command(
        &mut self,
        parent: IoId,
        op: Op,
        drive: DriveId,
        range: ByteRange,
        now: Time,
    ) {
        let id = self.new_command(parent, op, drive, range, now);
        self.send(id, drive, now);
    }

    /// A command that has not been sent yet.
    #[inline]
    pub(crate) fn new_command(
        &mut self,
        parent: IoId,
        op: Op,
        drive: DriveId,
        range: ByteRange,
        now: Time,
    ) -> IoId {
        let id = self.ios.claim();
        let fua = self.ios[parent].fua && op == Op::Write;
        let io = &mut self.ios[id];
        *io = Io::new(op, range, now);
        (io.parent, io.fua) = (parent, fua);
        io.drive = drive;
        id
    }

    /// The command waits for a place at its drive, or goes there at once.
    #[inline]
    pub(crate) fn send(&mut self, id: IoId, drive: DriveId, now: Time) {
        self.agenda.must_be_open();
        if self.drives[drive].flushes.go_alone(self.ios[id].op) {
            return self.send_alone(id, drive, now);
        }
        let slot = &mut self.drives[drive];
        slot.load.change(now, 1);
        let io = &self.ios[id];
        slot.position = io.offset + io.bytes;
        if io.op == Op::Read {
            slot.read_to = slot.position;
        }
        let has_place = slot.has_place();
        match slot.waiting.plain() {
            None => self.schedule(id, drive, now),
            Some(_) if has_place => self.descend(id, now),
            Some(queue) => queue.push(&mut self.ios, id),
        }
    }

    /// The command goes to its drive at once, and until it is back no others do: what a controller
    /// has queued for a drive waits. Those that the drive has already it orders itself. A scheduler
    /// of the host knows no such priority.
    pub(crate) fn send_ahead(&mut self, id: IoId, drive: DriveId, now: Time) {
        let slot = &mut self.drives[drive];
        if !slot.waiting.is_plain() {
            return self.send(id, drive, now);
        }
        self.agenda.must_be_open();
        slot.load.change(now, 1);
        slot.ahead += 1;
        let io = &mut self.ios[id];
        io.stage = Stage::Ahead;
        slot.position = io.offset + io.bytes;
        self.descend(id, now);
    }

    /// The command of a destage: of what waits for a place at its drive the host's own goes first.
    pub(crate) fn send_behind(&mut self, id: IoId, drive: DriveId, now: Time) {
        self.ios[id].stage = Stage::Behind;
        self.send(id, drive, now);
    }

    /// The command goes through the host's scheduler, even if the drive has a place for it.
    pub(crate) fn schedule(&mut self, id: IoId, drive: DriveId, now: Time) {
        let thread = self.thread_of(id);
        let slot = &mut self.drives[drive];
        slot.waiting.push(&mut self.ios, id, thread, now);
        self.dispatch_waiting(drive, now);
    }

    /// What the scheduler lets go moves to the drive, as long as it has places.
    pub(crate) fn dispatch_waiting(&mut self, drive: DriveId, now: Time) {
        loop {
            let slot = &mut self.drives[drive];
            if !slot.has_place() {
                return;
            }
            let Some(next) = slot.waiting.pop(&mut self.ios, now) else {
                return;
            };
            self.descend(next, now);
        }
    }

    /// The load thread that a request, or the request of a command, belongs to.
    pub(crate) fn thread_of(&self, id: IoId) -> ThreadId {
        let io = &self.ios[id];
        let owner = match io.parent {
            Io::NONE => io.owner,
            request => self.ios[request].owner,
        };
        match owner.slot() {
            Some(slot) => self.slots[slot].thread,
            None => self.outside_threads.of(owner.outside_number()),
        }
    }
}
