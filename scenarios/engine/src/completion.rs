//! A command's or a request's end: *complete*.

use crate::agenda::{Call, Up};
use crate::owner::{Owner, OwnerOf};
use crate::plan::Arrival;
use crate::raid::job_of;
use crate::system::{Event, Outcome, Outside, System};
use raidlab_kernel::{Io, IoId, Nanos, Part, Time};

/// A load thread takes so long over an I/O that was refused before it issues the next one. Assumed:
/// without it an array that is offline would refuse without end in no time.
const ERROR_PAUSE: Nanos = Nanos(1_000_000);

impl System {
    /// A command has come back from its drive, which has a place for another one.
    pub(crate) fn returned(&mut self, id: IoId, now: Time) -> Up {
        let Io { drive, parent, .. } = self.ios[id];
        let slot = &mut self.drives[drive as usize];
        slot.in_flight -= 1;
        slot.load.change(now, -1);
        if let Some(queue) = slot.waiting.plain() {
            if let Some(next) = queue.pop(&self.ios) {
                self.descend(next, now);
            }
        } else {
            let thread = self.thread_of(id);
            let slot = &mut self.drives[drive as usize];
            slot.waiting.returned(&mut self.ios, thread, now);
            self.dispatch_waiting(drive, now);
        }
        if parent != Io::NONE {
            if self.raid.watch {
                return Up::Examine(id);
            }
            return self.join(id, now);
        }
        let io = &mut self.ios[id];
        io.moved = io.bytes;
        io.charge(Part::Link, now);
        Up::Complete(id)
    }

    /// A command's time and bytes become its request's, or its job's.
    #[inline]
    pub(crate) fn join(&mut self, id: IoId, now: Time) -> Up {
        let Io { parent, bytes, .. } = self.ios[id];
        let request = &mut self.ios[parent];
        request.moved += bytes;
        request.pending -= 1;
        if request.pending == 0 {
            request.mark = now;
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
            None if self.arrays[io.array as usize].in_memory => Up::PassOn(id),
            None => Up::Complete(id),
        }
    }

    /// A request is complete: the controller has a place for another one, the thread hears of it.
    #[inline]
    pub(crate) fn complete(&mut self, id: IoId, now: Time) -> Up {
        self.inside.change(now, -1);
        let io = &self.ios[id];
        let array = &self.arrays[io.array as usize];
        let expected = if array.in_memory {
            io.bytes
        } else {
            array.layout.bytes_moved(io.op, io.bytes)
        };
        self.tally.wrong_bytes += u64::from(io.moved != expected);
        if let Some(fate) = &mut self.raid.fate {
            fate.complete(id, io.array, io.offset, io.bytes);
        }
        self.tally.stay += now - io.entered;
        if let Some(index) = array.controller {
            let controller = &mut self.controllers[index as usize];
            controller.in_work -= 1;
            controller.load.change(now, -1);
            if let Some(next) = controller.waiting.pop(&self.ios) {
                if controller.waiting.is_empty() {
                    controller.full.change(now, -1);
                }
                let up = self.take_up(index, next, now);
                if up != Up::None {
                    self.agenda.rest(Call::Signal(id));
                    return up;
                }
            }
        }
        self.signal(id, now);
        Up::None
    }

    /// The thread of a complete request hears of it, or has to wait for a core.
    #[inline]
    pub(crate) fn signal(&mut self, id: IoId, now: Time) {
        let thread = match self.ios[id].owner.slot() {
            Some(slot) => self.slots[slot as usize].thread,
            None => self.thread_behind_no_slot(id),
        };
        if self.host.may_complete(thread, now) {
            self.reap(id, thread, now);
        } else {
            // It is no longer between host and host.
            self.ios[id].entered = Time::NEVER;
            self.signalled[thread as usize].push(&mut self.ios, id);
            self.look_for_core(now);
        }
    }

    /// The load thread turns to an I/O that is complete.
    #[inline]
    pub(crate) fn reap(&mut self, id: IoId, thread: u32, now: Time) {
        let owner = self.ios[id].owner;
        let served = self.host.complete(thread, now);
        let io = &mut self.ios[id];
        io.charge_stay(Part::HostWait, Part::Host, served);
        self.tally.completed += 1;
        debug_assert_eq!(io.parts.total(), io.latency());
        match owner.slot() {
            Some(slot) => self.turn(id, slot, served.end),
            None => match owner.into() {
                Owner::Outside(mark) => {
                    let outcome = if self.ios[id].refused {
                        Outcome::Refused
                    } else {
                        Outcome::Done
                    };
                    self.hand_back(id, mark, outcome);
                }
                _ => return self.calendar.push(served.end, Event::Pages(id)),
            },
        }
        self.ios.release(id);
    }

    /// The thread that completes a request of an outside caller or of a page cache.
    fn thread_behind_no_slot(&self, id: IoId) -> u32 {
        let io = &self.ios[id];
        match io.owner.into() {
            Owner::Pages(command) => self.thread_of_command(command, io.op),
            _ => self.outside_thread_of(io.owner.outside_number()),
        }
    }

    /// Threads that wait for a core take those that are free, with all that waits for them.
    pub(crate) fn core_due(&mut self, now: Time) -> Up {
        self.core_look = Time::NEVER;
        self.hand_over_cores(now)
    }

    pub(crate) fn hand_over_cores(&mut self, now: Time) -> Up {
        while let Some(thread) = self.host.hand_over(now) {
            let mark = self.agenda.mark();
            let up = self.work_off(thread, now);
            if up != Up::None {
                self.agenda.below(mark, Call::Cores);
                return up;
            }
        }
        self.look_for_core(now);
        Up::None
    }

    /// A thread turns to all that waits for it.
    pub(crate) fn work_off(&mut self, thread: u32, now: Time) -> Up {
        while let Some(id) = self.signalled[thread as usize].pop(&self.ios) {
            self.reap(id, thread, now);
        }
        while let Some(id) = self.arrived[thread as usize].pop(&self.ios) {
            let up = self.hand_in(id, thread, now);
            if up != Up::None {
                self.agenda.rest(Call::WorkOff(thread));
                return up;
            }
        }
        Up::None
    }

    /// One look is due at a time.
    pub(crate) fn look_for_core(&mut self, now: Time) {
        if let Some(at) = self.host.next_look()
            && self.core_look == Time::NEVER
        {
            self.core_look = at.max(now);
            self.calendar.push(self.core_look, Event::Core);
        }
    }

    /// All that waits for its thread is taken at once.
    pub(crate) fn reap_all(&mut self, now: Time) {
        self.host.forget_waiting();
        for thread in 0..self.signalled.len() {
            let up = self.work_off(thread as u32, now);
            self.settle(up, now);
        }
    }

    /// The load thread counts a completed I/O and issues the next one of its slot.
    pub(crate) fn turn(&mut self, id: IoId, slot: u32, done: Time) {
        let index = self.slots[slot as usize].workload as usize;
        let workload = &mut self.workloads[index];
        let refused = self.ios[id].refused;
        if refused {
            workload.meter.fail(done);
        } else {
            self.recorded += u64::from(workload.meter.record(&self.ios[id]));
        }
        let Arrival::Closed { .. } = workload.arrival else {
            return;
        };
        let mut pause = workload.pause();
        if refused {
            pause = pause.max(ERROR_PAUSE);
        }
        if pause == Nanos::ZERO && done > self.calendar.now() {
            // The thread goes straight on to the next I/O, before others can claim it.
            // Its CPU time lies ahead of the clock, so that nothing goes up.
            let up = self.issue(slot, done);
            debug_assert_eq!(up, Up::None);
        } else {
            self.calendar.push(done + pause, Event::Issue(slot));
        }
    }

    /// The load thread of an outside caller's I/O.
    pub(crate) fn outside_thread_of(&self, number: u32) -> u32 {
        self.outside_thread + number % self.outside_threads
    }

    /// An I/O goes back to the outside caller, with the caller's own number.
    pub(crate) fn hand_back(&mut self, id: IoId, owner: u32, outcome: Outcome) {
        let io = &self.ios[id];
        // In order of time: another thread's CPU may be done with a later one before.
        let at = io.mark;
        let behind = self.outside.iter().rev().take_while(|out| out.at > at);
        let position = self.outside.len() - behind.count();
        let back = Outside {
            io: id,
            drive: None,
            op: io.op,
            offset: io.offset,
            bytes: io.bytes,
            owner,
            at,
            issued: io.issued,
            outcome,
        };
        self.outside.insert(position, back);
    }
}
