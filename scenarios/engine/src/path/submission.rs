//! A request gets a place in its controller's queue, and firmware time: *admit*, *take up*.

use crate::ids::{ArrayId, ControllerId};
use crate::path::IoPath;
use crate::path::agenda::Up;
use crate::state::event::Event;
use raidlab_io::{Io, IoId, Op, Part};
use raidlab_kernel::{Served, Time};
use raidlab_models::Task;

impl IoPath {
    /// Admits a request out of the hot path: its thread takes no time.
    #[inline(never)]
    pub(crate) fn admit_at_once(&mut self, id: IoId, now: Time) -> Up {
        self.admit(id, now)
    }

    #[inline(always)]
    pub(crate) fn admit(&mut self, id: IoId, now: Time) -> Up {
        self.inside.change(now, 1);
        let io = &mut self.ios[id];
        if self.arrays[io.array].md_flushes.pass_on(io) {
            let flushes = &mut self.arrays[io.array].md_flushes;
            flushes.comes(&mut self.ios, &mut self.calendar, id, now);
            return Up::None;
        }
        if let Some(had) = self.arrays[io.array].shared.pass(io.op, now) {
            io.charge(Part::Raid, had.end);
            self.calendar.push(had.end, Event::Counted(id));
            return Up::None;
        }
        self.admit_counted(id, now)
    }

    /// A request has passed what its array's load threads share.
    #[inline(always)]
    pub(crate) fn admit_counted(&mut self, id: IoId, now: Time) -> Up {
        let array = &self.arrays[self.ios[id].array];
        let Some(index) = array.controller else {
            return match (array.cached_by_host, array.in_memory) {
                (true, _) => Up::Firmware(id),
                (false, true) => Up::GoOn(id),
                (false, false) => self.dispatch(id, now),
            };
        };
        let controller = &mut self.controllers[index];
        controller.load.change(now, 1);
        if controller.queue_depth > 0 && controller.in_work >= controller.queue_depth {
            if controller.waiting.is_empty() {
                controller.full.change(now, 1);
            }
            controller.waiting.push(&mut self.ios, id);
            Up::None
        } else {
            self.take_up(index, id, now)
        }
    }

    /// The controller takes a request up: firmware time on a core, then dispatch.
    pub(crate) fn take_up(&mut self, index: ControllerId, id: IoId, now: Time) -> Up {
        self.controllers[index].in_work += 1;
        if self.arrays[self.ios[id].array].in_memory {
            return Up::Firmware(id);
        }
        let controller = &mut self.controllers[index];
        let io = &mut self.ios[id];
        let array = &self.arrays[io.array];
        let commands = array.layout.commands(io.op, io.range());
        let route = array.route(commands);
        let task = Task::new(route, commands, moved_by(io));
        let served = array.take_up(&mut controller.chip, task, now);
        io.charge_stay(Part::ControllerWait, Part::Controller, served);
        let ready = served.end + controller.chip.latency();
        io.charge(Part::Controller, ready);
        if ready > now {
            self.calendar.push(ready, Event::Dispatch(id));
            Up::None
        } else {
            self.dispatch(id, now)
        }
    }

    /// Firmware time for commands of work that goes on, with data that leave the write cache by
    /// pages, if a controller does it; on a core that may change the cache, or on any.
    pub(crate) fn firmware(
        &mut self,
        array: ArrayId,
        commands: u64,
        bytes: u64,
        in_write_cache: bool,
        now: Time,
    ) -> Served {
        let array = &self.arrays[array];
        match array.controller {
            Some(controller) => {
                let chip = &mut self.controllers[controller].chip;
                let task = Task::new(array.path, commands, bytes);
                if array.software {
                    chip.pass_on(task, now)
                } else {
                    chip.issue(
                        Task {
                            in_write_cache,
                            ..task
                        },
                        now,
                    )
                }
            }
            None => Served {
                start: now,
                end: now,
            },
        }
    }

    /// Requests in work at an array's controller; where the host is that itself, all of its own.
    pub(crate) fn in_work_for(&self, array: ArrayId) -> u64 {
        match self.arrays[array].controller {
            Some(controller) => self.controllers[controller].load.level(),
            None => self.inside.level(),
        }
    }
}

/// Bytes that a request moves between the host and the controller.
pub(crate) fn moved_by(io: &Io) -> u64 {
    match io.op {
        Op::Read | Op::Write => io.bytes,
        Op::Trim | Op::Flush => 0,
    }
}
