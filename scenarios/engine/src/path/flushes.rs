//! A flush goes through md to its members, and to a drive: with the other commands, alone, or not at
//! all.

use crate::ids::{ArrayId, DriveId};
use crate::path::Path;
use crate::path::agenda::Up;
use crate::plan::FlushCommand;
use crate::state::event::{Event, LoadsEvent};
use raidlab_io::{Io, IoId, Op, Part};
use raidlab_kernel::Time;

impl Path {
    /// True of a request that md passes on by its workers. One behind a write with FUA (`fua`) is not:
    /// each member's own queue sends that.
    #[inline]
    pub(crate) fn is_passed_on(&self, id: IoId) -> bool {
        let io = &self.ios[id];
        io.op == Op::Flush && !io.fua && self.arrays[io.array].md_flushes.are_passed_on()
    }

    /// A flush comes to md, which takes it up or lets it wait for another one.
    #[cold]
    pub(crate) fn flush_comes(&mut self, id: IoId, now: Time) {
        let array = self.ios[id].array;
        if self.arrays[array].md_flushes.begins(&mut self.ios, id) {
            self.hand_flush(id, LoadsEvent::FlushTaken(id), now);
        }
    }

    /// A worker takes a flush up, some time after `now`.
    fn hand_flush(&mut self, id: IoId, event: LoadsEvent, now: Time) {
        let io = &mut self.ios[id];
        let at = now + self.arrays[io.array].md_flushes.hand;
        io.charge(Part::CacheWait, now);
        io.charge(Part::Raid, at);
        self.calendar.push(at, event.into());
    }

    /// A worker of md sends a flush to the members.
    pub(crate) fn flush_taken(&mut self, id: IoId, now: Time) -> Up {
        let array = self.ios[id].array;
        self.arrays[array].md_flushes.goes_out(&mut self.ios);
        self.admit_counted(id, now)
    }

    /// All members have been flushed: another worker hears of it.
    #[cold]
    pub(crate) fn members_flushed(&mut self, id: IoId, now: Time) {
        self.hand_flush(id, LoadsEvent::Flushed(id), now);
    }

    /// One that ends with the flush of an array that is over.
    pub(crate) fn next_rider(&mut self, array: ArrayId, now: Time) -> Option<IoId> {
        let rider = self.arrays[array].md_flushes.next_rider(&self.ios)?;
        self.ios[rider].charge(Part::CacheWait, now);
        Some(rider)
    }

    /// An array's flush is over: the next one goes.
    pub(crate) fn flush_over(&mut self, array: ArrayId, now: Time) {
        let Some(next) = self.arrays[array].md_flushes.ends(&self.ios) else {
            return;
        };
        self.flush_comes(next, now);
    }

    /// The power fails: flushes that md has not passed on are gone.
    pub(crate) fn forget_waiting_flushes(&mut self) {
        for array in self.arrays.ids() {
            while let Some(id) = self.arrays[array].md_flushes.forget(&self.ios) {
                self.ios[id].pending = 1;
            }
        }
    }

    /// True if a drive gets flushes at all.
    pub(crate) fn is_flushed(&self, drive: DriveId) -> bool {
        self.drives[drive].flushes.command != FlushCommand::Dropped
    }

    /// True of a flush that must be alone at its drive.
    pub(crate) fn goes_alone(&self, io: &Io, drive: DriveId) -> bool {
        io.op == Op::Flush && self.drives[drive].flushes.command == FlushCommand::Alone
    }

    /// A flush waits until its drive is empty; later commands wait behind it.
    #[cold]
    pub(crate) fn send_alone(&mut self, id: IoId, drive: DriveId, now: Time) {
        let slot = &mut self.drives[drive];
        slot.load.change(now, 1);
        slot.flushes.waiting.push(&mut self.ios, id);
        self.flush_when_empty(drive, now);
    }

    /// Once the drive is empty one flush goes there for all that wait.
    #[cold]
    pub(crate) fn flush_when_empty(&mut self, drive: DriveId, now: Time) {
        let slot = &mut self.drives[drive];
        if slot.in_flight > 0 {
            return;
        }
        let Some(first) = slot.flushes.waiting.pop(&self.ios) else {
            return;
        };
        while let Some(other) = slot.flushes.waiting.pop(&self.ios) {
            slot.in_flight += 1;
            slot.flushes.riders.push(&mut self.ios, other);
        }
        slot.flushes.at_drive = true;
        self.descend(first, now);
    }

    /// A flush that was alone at its drive is back, and those that it stood for.
    #[cold]
    pub(crate) fn flushed(&mut self, drive: DriveId, now: Time) {
        let slot = &mut self.drives[drive];
        slot.flushes.at_drive = false;
        while let Some(rider) = slot.flushes.riders.pop(&self.ios) {
            self.ios[rider].charge(Part::CacheWait, now);
            self.calendar.push(now, Event::Returned(rider));
        }
    }

    /// The power fails: flushes that no drive has are gone.
    pub(crate) fn forget_flushes(&mut self, drive: DriveId, now: Time) {
        let slot = &mut self.drives[drive];
        while let Some(id) = slot.flushes.waiting.pop(&self.ios) {
            slot.load.change(now, -1);
            self.ios.release(id);
        }
        while let Some(id) = slot.flushes.riders.pop(&self.ios) {
            slot.load.change(now, -1);
            slot.in_flight -= 1;
            self.ios.release(id);
        }
        slot.flushes.at_drive = false;
    }
}
