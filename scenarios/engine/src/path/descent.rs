//! A command between the host and the medium: *descend*, the *device*, *ascend*.

use crate::ids::DriveId;
use crate::path::IoPath;
use crate::path::agenda::Up;
use crate::state::drive::DrivePort;
use crate::state::event::Event;
use raidlab_io::{IoId, Op, Part};
use raidlab_kernel::Time;
use raidlab_models::{Device, Direction};

impl IoPath {
    /// The drive has a place for the command: write data move down the links to it.
    #[inline]
    pub(crate) fn descend(&mut self, id: IoId, now: Time) {
        let io = &mut self.ios[id];
        io.charge(Part::Queue, now);
        self.drives[io.drive].in_flight += 1;
        let drive = &self.drives[io.drive];
        if io.op == Op::Write && drive.set_out(io) {
            io.data_end = now;
            drive.device.prefetch_tables(io.range());
            self.next_leg(id, now);
        } else {
            self.at_drive(id);
        }
    }

    /// Data of a command reach the next link of its path; both directions.
    pub(crate) fn next_leg(&mut self, id: IoId, now: Time) {
        let io = &mut self.ios[id];
        let path = &self.drives[io.drive].path;
        let (direction, link) = if io.op == Op::Write {
            (Direction::Down, path[(io.hops - 1 - io.hop) as usize])
        } else {
            (Direction::Up, path[io.hop as usize])
        };
        let link = &mut self.links[link];
        // On the path up, the first link has been fed by the medium since before now.
        let ready = if io.hop == 0 {
            now.min(io.data_end)
        } else {
            now
        };
        let last = if io.hop == 0 { now } else { io.data_end };
        let served = link.transfer(direction, io.bytes, ready, last);
        io.charge(Part::Link, now);
        io.charge(Part::LinkWait, served.start);
        io.data_end = served.end;
        io.hop += 1;
        if io.hop < io.hops {
            let at = now.max(served.start + link.frame(io.bytes));
            self.calendar.push(at, Event::Leg(id));
            return;
        }
        io.charge(Part::Link, served.end);
        let arrived = match direction {
            Direction::Down => Event::AtDrive(id),
            Direction::Up => Event::Returned(id),
        };
        self.calendar.push(served.end, arrived);
    }

    #[inline(always)]
    pub(crate) fn at_drive(&mut self, id: IoId) {
        let io = &self.ios[id];
        let drive = io.drive;
        let slot = &mut self.drives[drive];
        if let Device::External { .. } = slot.device {
            return self.outside.hand_out(id, io, drive, self.calendar.now());
        }
        if let Some(pauses) = &mut slot.pauses {
            let now = self.calendar.now();
            let taken_up = pauses.taken_up(now);
            if taken_up > now {
                self.ios[id].charge(Part::Overhead, taken_up);
                self.calendar.push(taken_up, Event::AtDrive(id));
                return;
            }
        }
        let mut port = DrivePort {
            drive,
            calendar: &mut self.calendar,
            ios: &mut self.ios,
            integrity: self.integrity.as_mut(),
        };
        slot.device.submit(&mut port, id);
    }

    pub(crate) fn device_event(&mut self, drive: DriveId, token: u32) {
        let mut port = DrivePort {
            drive,
            calendar: &mut self.calendar,
            ios: &mut self.ios,
            integrity: self.integrity.as_mut(),
        };
        self.drives[drive].device.event(&mut port, token);
    }

    #[inline(always)]
    pub(crate) fn device_done(&mut self, id: IoId, now: Time) -> Up {
        if self.can_fail {
            return Up::AtMedium(id);
        }
        self.ascend(id, now)
    }

    /// A command has been served: read data move up the links.
    #[inline]
    pub(crate) fn ascend(&mut self, id: IoId, now: Time) -> Up {
        let io = &mut self.ios[id];
        if io.op == Op::Read && self.drives[io.drive].set_out(io) {
            self.next_leg(id, now);
            Up::None
        } else {
            self.returned_at_once(id, now)
        }
    }
}
