//! The host's requests to a volume: data cross the host's link and the controller's memory.

use crate::system::{Event, System};
use raidlab_kernel::{IoId, Op, Part, Time};
use raidlab_models::Direction;

/// How far a request has come, kept in its record's `leg`.
mod stage {
    /// The controller has taken it up.
    pub const TAKEN_UP: u32 = 0;
    /// Write data are in memory.
    pub const DATA_IN: u32 = 1;
    /// Commands or jobs are under way.
    pub const WORKING: u32 = 2;
    /// Nothing is left but to tell the host.
    pub const DONE: u32 = 3;
}

impl System {
    /// A request goes on: taken up, its data in memory, or all done.
    pub(crate) fn go_on(&mut self, id: IoId, now: Time) {
        let io = &mut self.ios[id];
        match (io.leg, io.op) {
            (stage::TAKEN_UP, Op::Write) => {
                io.leg = stage::DATA_IN;
                self.cross(id, Direction::Down, now);
            }
            (stage::TAKEN_UP, Op::Read) => {
                io.leg = stage::WORKING;
                let (array, offset, bytes) = (io.array, io.offset, io.bytes);
                self.read_range(id, array, offset, bytes, now);
            }
            (stage::DATA_IN, _) => {
                io.leg = stage::WORKING;
                let (array, offset, bytes) = (io.array, io.offset, io.bytes);
                self.write_range(id, array, offset, bytes, now);
            }
            (stage::TAKEN_UP, Op::Trim) => {
                io.leg = stage::DONE;
                io.moved = io.bytes;
                self.complete(id, now);
            }
            (stage::TAKEN_UP, Op::Flush) => {
                io.leg = stage::WORKING;
                let array = io.array;
                self.flush_drives(id, array, now);
            }
            _ => self.complete(id, now),
        }
    }

    /// All that a request waited for has come.
    pub(crate) fn pass_on(&mut self, id: IoId, now: Time) {
        let io = &mut self.ios[id];
        io.leg = stage::DONE;
        if io.op == Op::Read {
            self.cross(id, Direction::Up, now);
        } else {
            self.complete(id, now);
        }
    }

    /// Data of a request pass the memory and the link to the host; then it goes on.
    fn cross(&mut self, id: IoId, way: Direction, now: Time) {
        let io = &mut self.ios[id];
        let array = &self.arrays[io.array as usize];
        let mut ready = now;
        // Read data came in from the drives and go out again: twice through the memory. Write
        // data come in here; going out is charged to whoever writes them.
        let passes = match way {
            Direction::Up => 2,
            Direction::Down => 1,
        };
        if let Some(controller) = array.controller {
            let chip = &mut self.controllers[controller as usize].chip;
            let served = chip.memory.pass(now, passes * io.bytes);
            io.charge(Part::Cache, served.end);
            ready = served.end;
        }
        if let Some(link) = self.volume_link(self.ios[id].array) {
            let io = &mut self.ios[id];
            let served = self.links[link as usize].transfer(way, io.bytes, ready, ready);
            io.charge_stay(Part::LinkWait, Part::Link, served);
            ready = served.end;
        }
        if ready > now {
            self.calendar.push(ready, Event::Dispatch(id));
        } else {
            self.go_on(id, now);
        }
    }

    fn volume_link(&self, array: u32) -> Option<u32> {
        self.volume(array).host_link
    }

    fn flush_drives(&mut self, id: IoId, array: u32, now: Time) {
        self.hold(id);
        for member in 0..self.volume(array).members.len() {
            let member = self.volume(array).members[member];
            if member.state != super::volume::State::Failed {
                self.ios[id].pending += 1;
                self.command(id, Op::Flush, member.drive, 0, 0, now);
            }
        }
        self.let_go(id, now);
    }
}
