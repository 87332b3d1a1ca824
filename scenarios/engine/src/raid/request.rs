//! The host's requests to a volume: data cross the host's link and the controller's memory. Those of
//! an array in the host are in memory already; its commands cross the links.

use crate::ids::{ArrayId, CopyId};
use crate::path::IoPath;
use crate::path::agenda::{RaidCall, SsdCacheCall, Up};
use crate::path::submission::moved_by;
use crate::raid::Raid;
use crate::raid::bitmap::updates;
use crate::raid::member::State;
use crate::state::event::RaidEvent;
use crate::state::owner::Owner;
use raidlab_io::{ByteRange, IoId, Op, Part, Stage};
use raidlab_kernel::Time;
use raidlab_models::{Direction, FirmwareRoute, Found, Task};

impl Raid {
    /// The controller takes up a request whose data pass through its memory, or a cache of the host's
    /// looks it up.
    #[inline(never)]
    pub(crate) fn take_up_in_memory(&mut self, path: &mut IoPath, id: IoId, now: Time) -> Up {
        let (array, op) = (path.ios[id].array, path.ios[id].op);
        let Some(index) = path.arrays[array].controller else {
            // A cache that the host keeps counts the access; no firmware takes the request up.
            path.agenda.rest(RaidCall::Ready(id, now));
            path.agenda.up(SsdCacheCall::Access(id));
            return Up::None;
        };
        let caching = self.stripes.state().volume(array).is_cached();
        let hit = match op {
            Op::Read => caching && self.cache.look_up(&self.stripes, path, id) == Found::All,
            Op::Write => self.cache.writes_back(array),
            Op::Trim | Op::Flush => false,
        };
        let array = &path.arrays[array];
        let io = &mut path.ios[id];
        // Jobs on stripes count their commands themselves where parity or a cache is.
        let commands = if array.straight || op == Op::Read && !hit {
            array.layout.commands(io.op, io.range())
        } else {
            0
        };
        let chip = &mut path.controllers[index].chip;
        let redirected = self.stripes.state().redirect(io.array).is_some();
        let route = match hit {
            true => FirmwareRoute::Cached,
            false => array.route(commands),
        };
        let task = Task {
            in_write_cache: hit && op == Op::Write,
            ..Task::new(route, commands, moved_by(io))
        };
        let served = if redirected && !array.software {
            chip.take_up_and_look_up(task, now)
        } else {
            array.take_up(chip, task, now)
        };
        io.charge_stay(Part::ControllerWait, Part::Controller, served);
        let ready = served.end + chip.latency();
        io.charge(Part::Controller, ready);
        if redirected && !(hit && op == Op::Read) {
            path.agenda.rest(RaidCall::Ready(id, ready));
            path.agenda.up(SsdCacheCall::Access(id));
            return Up::None;
        }
        self.ready(path, id, ready, now)
    }

    /// The firmware is done with a request at a time, and the request goes on.
    #[inline]
    pub(crate) fn ready(&mut self, path: &mut IoPath, id: IoId, ready: Time, now: Time) -> Up {
        if ready > now {
            path.calendar.push(ready, RaidEvent::GoOn(id).into());
            Up::None
        } else {
            self.go_on(path, id, now)
        }
    }

    /// A request goes on: taken up, its data in memory, or all done.
    pub(crate) fn go_on(&mut self, path: &mut IoPath, id: IoId, now: Time) -> Up {
        path.agenda.must_be_open();
        if [Stage::TakenUp, Stage::Awaited].contains(&path.ios[id].stage) {
            follow_begin(path, id);
        }
        if path.can_fail && self.is_refused(path, id) {
            let bytes = path.ios[id].bytes;
            self.stripes.state_mut().refuse(path, id, bytes);
            path.ios[id].stage = Stage::Done;
            return Up::Complete(id);
        }
        let io = &mut path.ios[id];
        match (io.stage, io.op) {
            (Stage::TakenUp, Op::Write) => {
                io.stage = Stage::DataIn;
                // In here; going out is charged to the job that writes them.
                self.cross(path, id, Direction::Down, 1, now)
            }
            (Stage::TakenUp | Stage::Awaited, Op::Read) => {
                self.cache.read_through(&mut self.stripes, path, id, now)
            }
            (Stage::DataIn, _) => {
                if updates::waits(&mut self.stripes, path, id, now) {
                    return Up::None;
                }
                self.cache.write_on(&mut self.stripes, path, id, now)
            }
            (Stage::Marked, _) => self.cache.write_on(&mut self.stripes, path, id, now),
            (Stage::TakenUp, Op::Trim) => {
                io.stage = Stage::Working;
                let array = io.array;
                if path.arrays[array].straight {
                    self.trim_drives(path, id, array, now);
                    Up::None
                } else {
                    self.pass_on(path, id, now)
                }
            }
            (Stage::TakenUp, Op::Flush) => {
                io.stage = Stage::Working;
                let array = io.array;
                if self.cache.writes_back(array) {
                    // The cache's content is as good as on the drives.
                    self.pass_on(path, id, now)
                } else {
                    self.flush_drives(path, id, array, now);
                    Up::None
                }
            }
            _ => Up::Complete(id),
        }
    }

    /// All that a request waited for has come.
    pub(crate) fn pass_on(&mut self, path: &mut IoPath, id: IoId, now: Time) -> Up {
        let io = &path.ios[id];
        if io.op == Op::Read {
            // From the cache: once through the memory. From the drives: in and out again, but
            // around the memory where no parity is.
            let parity = path.arrays[io.array].path == FirmwareRoute::Parity;
            let passes = match io.stage {
                Stage::Working if parity => 2,
                Stage::Working => 0,
                _ => 1,
            };
            path.ios[id].stage = Stage::Done;
            self.cross(path, id, Direction::Up, passes, now)
        } else {
            path.ios[id].stage = Stage::Done;
            let io = &path.ios[id];
            if io.op == Op::Write {
                self.stripes
                    .state_mut()
                    .redirects_mut()
                    .bypass_ends(io.array, io.range());
                if self.stripes.state().redirects().writes_through(io.array) {
                    // What array and SSDs both were given counts once.
                    path.ios[id].moved = path.ios[id].bytes;
                }
                // What was read beside it may be older.
                self.cache.forget(&self.stripes, path, id);
            } else {
                // However many drives have heard of it.
                path.ios[id].moved = path.ios[id].bytes;
            }
            Up::Complete(id)
        }
    }

    /// Data of a request pass the memory `times` times, and the link to the host, unless they go
    /// straight there with their commands; then the request goes on.
    fn cross(
        &mut self,
        path: &mut IoPath,
        id: IoId,
        direction: Direction,
        passes: u64,
        now: Time,
    ) -> Up {
        let io = &mut path.ios[id];
        let array = &path.arrays[io.array];
        let mirrored = array.mirrors && direction == Direction::Down;
        if array.straight && !mirrored {
            return self.go_on(path, id, now);
        }
        let mut ready = now;
        if let Some(controller) = array.raid_controller() {
            let chip = &mut path.controllers[controller].chip;
            let served = chip.memory.pass(now, passes * io.bytes);
            io.charge(Part::Cache, served.end);
            ready = served.end;
        }
        if let Some(link) = self.stripes.state().volume(path.ios[id].array).host_link() {
            let io = &mut path.ios[id];
            let served = path.links[link].transfer(direction, io.bytes, ready, ready);
            io.charge_stay(Part::LinkWait, Part::Link, served);
            ready = served.end;
        }
        if ready > now {
            path.calendar.push(ready, RaidEvent::GoOn(id).into());
            Up::None
        } else {
            self.go_on(path, id, now)
        }
    }

    fn flush_drives(&mut self, path: &mut IoPath, id: IoId, array: ArrayId, now: Time) {
        path.ios[id].hold();
        for member in self.stripes.state().volume(array).places().all() {
            let stands = member.state() != State::Failed && member.spare().is_none();
            if stands && path.drives[member.drive()].flushes.are_sent() {
                path.ios[id].pending += 1;
                path.command(id, Op::Flush, member.drive(), ByteRange::default(), now);
            }
        }
        self.stripes.let_go(path, id, now);
    }

    /// Every copy that can be written hears of it. The versions of the data do not: until they are
    /// written over, what was trimmed may be read as it was.
    fn trim_drives(&mut self, path: &mut IoPath, id: IoId, array: ArrayId, now: Time) {
        let io = &path.ios[id];
        let mut runs = self
            .stripes
            .state()
            .volume(array)
            .geometry()
            .runs(io.range());
        path.ios[id].hold();
        while let Some(run) = self
            .stripes
            .state()
            .volume(array)
            .geometry()
            .next_run(&mut runs)
        {
            for copy in CopyId::first(self.stripes.state().volume(array).geometry().copies()) {
                let volume = self.stripes.state().volume(array);
                let unit = volume.geometry().data(run.stripe, run.column, copy);
                let offset = unit.offset + u64::from(run.start);
                let takers = volume.takers(unit, run.start, run.bytes);
                for (drive, bytes) in takers.into_iter().flatten() {
                    path.ios[id].pending += 1;
                    path.command(id, Op::Trim, drive, ByteRange { offset, bytes }, now);
                }
            }
        }
        self.stripes.let_go(path, id, now);
    }

    /// An array that is offline serves nothing.
    fn is_refused(&self, path: &IoPath, id: IoId) -> bool {
        let io = &path.ios[id];
        let data = matches!(io.op, Op::Read | Op::Write);
        let begins = [Stage::TakenUp, Stage::DataIn, Stage::Marked, Stage::Awaited];
        let begins = begins.contains(&io.stage);
        data && begins && self.stripes.state().volume(io.array).is_offline()
    }
}

/// The versions of the data take note of a request; once, though it may come here again
/// after waiting for what is read into the cache.
fn follow_begin(path: &mut IoPath, id: IoId) {
    let io = &path.ios[id];
    let data = matches!(io.op, Op::Read | Op::Write);
    if let Some(integrity) = path.integrity.as_mut().filter(|_| data) {
        integrity.begin(id, io.array, io.op, io.range());
        if let Owner::Outside(mark) = io.owner.into() {
            integrity.outside_begins(id, mark);
        }
    }
}
