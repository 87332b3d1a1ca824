//! A flush goes to a drive: with the other commands, alone, or not at all.

use crate::ids::DriveId;
use crate::path::IoPath;
use crate::state::event::Event;
use raidlab_io::{IoId, Part};
use raidlab_kernel::Time;

impl IoPath {
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
}
