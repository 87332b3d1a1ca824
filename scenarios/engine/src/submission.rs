//! From a load thread to the controller: *issue* and *admit*.

use crate::agenda::Up;
use crate::load::Request;
use crate::owner::Owner;
use crate::plan::Arrival;
use crate::system::{Event, Slot, System};
use raidlab_kernel::{Io, IoId, Mark, Nanos, Part, Time};

impl System {
    pub(crate) fn issue(&mut self, slot: u32, now: Time) -> Up {
        let Slot {
            workload: index,
            thread,
        } = self.slots[slot as usize];
        let workload = &mut self.workloads[index as usize];
        let Some(request) = workload.load.next(thread - workload.first_thread) else {
            self.slot_over(index, now);
            return Up::None;
        };
        let array = workload.array;
        if self.caches.of_workload[index as usize].is_some() {
            self.call(slot, request, now);
            return Up::None;
        }
        self.enter(request, array, thread, Owner::Slot(slot).into(), now)
            .1
    }

    /// A place of a load that has an end issues nothing any more.
    pub(crate) fn slot_over(&mut self, index: u32, now: Time) {
        let workload = &mut self.workloads[index as usize];
        workload.busy_slots -= 1;
        if workload.busy_slots == 0 {
            if self.caches.of_workload[index as usize].is_some() {
                self.sync(index, now);
            } else {
                self.workload_over(now);
            }
        }
    }

    /// A load has come to its end; with the last of those that have one the run is over.
    pub(crate) fn workload_over(&mut self, now: Time) {
        self.ending -= 1;
        if self.ending == 0 {
            self.over = Some(now);
        }
    }

    pub(crate) fn arrive(&mut self, index: u32, now: Time) -> Up {
        let workload = &mut self.workloads[index as usize];
        let Arrival::Poisson { per_s } = workload.arrival else {
            return Up::None;
        };
        let pause = workload
            .pauses
            .exponential(Nanos::from_seconds(1.0 / per_s));
        let own = workload.next_thread;
        workload.next_thread = (own + 1) % workload.threads;
        let Some(request) = workload.load.next(own) else {
            return Up::None;
        };
        let (array, thread) = (workload.array, workload.first_thread + own);
        self.calendar.push(now + pause, Event::Arrival(index));
        // The first slots of a Poisson workload are its threads.
        let slot = self.slot_of(index, own);
        let id = self.claim(request, array, Owner::Slot(slot).into(), now);
        if self.host.may_begin(thread, now) {
            self.hand_in(id, thread, now)
        } else {
            // It is not between host and host yet.
            self.ios[id].entered = Time::NEVER;
            self.arrived[thread as usize].push(&mut self.ios, id);
            self.look_for_core(now);
            Up::None
        }
    }

    pub(crate) fn slot_of(&self, workload: u32, thread: u32) -> u32 {
        let first = self.slots.partition_point(|slot| slot.workload < workload);
        first as u32 + thread
    }

    /// A thread turns to an I/O at `now`, which may lie ahead of the clock while the thread
    /// still works on earlier ones.
    #[inline]
    pub(crate) fn enter(
        &mut self,
        request: Request,
        array: u32,
        thread: u32,
        owner: Mark,
        now: Time,
    ) -> (IoId, Up) {
        let id = self.claim(request, array, owner, now);
        let up = self.hand_in(id, thread, now);
        (id, up)
    }

    /// The record of an I/O that a load asks for at `now`.
    #[inline]
    fn claim(&mut self, request: Request, array: u32, owner: Mark, now: Time) -> IoId {
        let id = self.ios.claim();
        let io = &mut self.ios[id];
        *io = Io::new(request.op, request.offset, request.bytes, now);
        io.owner = owner;
        io.array = array;
        self.tally.issued += 1;
        id
    }

    /// Its thread spends CPU time on it and hands it in.
    #[inline]
    pub(crate) fn hand_in(&mut self, id: IoId, thread: u32, now: Time) -> Up {
        let io = &mut self.ios[id];
        let served = self.host.submit(thread, io.op, io.bytes, now);
        io.charge_stay(Part::HostWait, Part::Host, served);
        let mut ready = served.end;
        let array = &self.arrays[io.array as usize];
        if array.software {
            let commands = array.layout.commands(io.op, io.offset, io.bytes);
            let split = self.host.split(thread, ready, commands);
            io.charge_stay(Part::HostWait, Part::Raid, split);
            ready = split.end;
        }
        io.entered = ready;
        if self.arrays[io.array as usize].in_memory {
            self.foresee(id);
        }
        if ready > self.calendar.now() {
            self.calendar.push(ready, Event::Admit(id));
            Up::None
        } else {
            self.admit(id, ready)
        }
    }

    #[inline]
    pub(crate) fn admit(&mut self, id: IoId, now: Time) -> Up {
        self.inside.change(now, 1);
        let array = &self.arrays[self.ios[id].array as usize];
        let Some(index) = array.controller else {
            return self.dispatch(id, now);
        };
        let controller = &mut self.controllers[index as usize];
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
    pub(crate) fn take_up(&mut self, index: u32, id: IoId, now: Time) -> Up {
        self.controllers[index as usize].in_work += 1;
        if self.arrays[self.ios[id].array as usize].in_memory {
            return Up::TakeUp(id);
        }
        let controller = &mut self.controllers[index as usize];
        let io = &mut self.ios[id];
        let array = &self.arrays[io.array as usize];
        let commands = array.layout.commands(io.op, io.offset, io.bytes);
        let served = controller.chip.take_up(array.path, commands, now);
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
}
