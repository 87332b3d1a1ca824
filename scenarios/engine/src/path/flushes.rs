//! A flush goes to a drive: with the other commands, alone, or not at all.

use crate::ids::DriveId;
use crate::path::Path;
use crate::plan::FlushCommand;
use crate::state::event::Event;
use raidlab_io::{Io, IoId, Op, Part};
use raidlab_kernel::Time;

impl Path {
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
