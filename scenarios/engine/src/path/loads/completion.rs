//! A command's or a request's end: *complete*.

use crate::ids::{PlaceId, ThreadId};
use crate::path::IoPath;
use crate::path::agenda::{LoadsCall, Up};
use crate::path::loads::Loads;
use crate::path::loads::durable::is_synced;
use crate::plan::Arrival;
use crate::state::event::{Event, RunEvent};
use crate::state::owner::{Owner, OwnerOf};
use crate::state::records::Outcome;
use raidlab_io::{IoId, Op, Part};
use raidlab_kernel::{Nanos, Time};

/// A load thread takes so long over an I/O that was refused before it issues the next one. Assumed:
/// without it an array that is offline would refuse without end in no time.
const ERROR_PAUSE: Nanos = Nanos(1_000_000);

impl Loads {
    /// A request is complete: the controller has a place for another one, the thread hears of it.
    #[inline]
    pub(crate) fn complete(&mut self, path: &mut IoPath, id: IoId, now: Time) -> Up {
        path.inside.change(now, -1);
        let io = &path.ios[id];
        let array = &path.arrays[io.array];
        let expected = if array.in_memory {
            io.bytes
        } else {
            array.layout.bytes_moved(io.op, io.bytes)
        };
        self.records.tally.wrong_bytes += u64::from(io.moved != expected);
        if let Some(integrity) = &mut path.integrity {
            integrity.complete(id, io.array, io.range());
        }
        self.records.tally.stay += now - io.entered;
        if let Some(index) = array.controller {
            let controller = &mut path.controllers[index];
            controller.in_work -= 1;
            controller.load.change(now, -1);
            if let Some(next) = controller.waiting.pop(&path.ios) {
                if controller.waiting.is_empty() {
                    controller.full.change(now, -1);
                }
                let up = path.take_up(index, next, now);
                if up != Up::None {
                    path.agenda.rest(LoadsCall::Signal(id));
                    return up;
                }
            }
        }
        self.signal(path, id, now);
        Up::None
    }

    /// A flush is complete by another one of its array: no controller has had it.
    pub(crate) fn flushed_beside(&mut self, path: &mut IoPath, id: IoId, now: Time) {
        path.inside.change(now, -1);
        self.records.tally.stay += now - path.ios[id].entered;
        self.signal(path, id, now);
    }

    /// The thread of a complete request hears of it, or has to wait for a core.
    #[inline]
    pub(crate) fn signal(&mut self, path: &mut IoPath, id: IoId, now: Time) {
        let thread = self.threads.behind(path, id);
        match self.threads.crossed(&path.ios[id], thread, Op::Read) {
            Some(client) => client.receive(path, id, now),
            None => self.received(path, id, thread, now),
        }
    }

    /// A complete request and its data are at the host of its thread.
    #[inline]
    pub(crate) fn received(&mut self, path: &mut IoPath, id: IoId, thread: ThreadId, now: Time) {
        if self.threads.hears(path, id, thread, now) {
            self.reap(path, id, thread, now);
        }
    }

    /// The load thread processes an I/O that is complete.
    #[inline]
    pub(crate) fn reap(&mut self, path: &mut IoPath, id: IoId, thread: ThreadId, now: Time) {
        let owner = path.ios[id].owner;
        let served = self.threads.host.complete(thread, now);
        let io = &mut path.ios[id];
        io.charge_stay(Part::HostWait, Part::Host, served);
        debug_assert_eq!(io.parts.total(), io.latency());
        match owner.slot() {
            Some(slot) if is_synced(self, path, id, slot) => {
                path.ios[id].entered = Time::NEVER;
                return path.calendar.push(served.end, RunEvent::Synced(id).into());
            }
            Some(slot) => self.count_and_issue(path, id, slot, served.end),
            None => match owner.into() {
                Owner::Outside(mark) => {
                    self.record_outside(&path.ios[id]);
                    let outcome = if path.ios[id].refused {
                        Outcome::Refused
                    } else {
                        Outcome::Done
                    };
                    path.outside.hand_back(id, &path.ios[id], mark, outcome);
                    if let Some(index) = self.tenant_behind(mark) {
                        self.leave_share(path, id, index, served.end);
                    }
                }
                Owner::Sync(_) => {
                    path.ios[id].entered = Time::NEVER;
                    return path.calendar.push(served.end, RunEvent::Synced(id).into());
                }
                _ => {
                    // It counts as complete once the page cache has its pages.
                    path.ios[id].entered = Time::NEVER;
                    return path.calendar.push(served.end, RunEvent::Pages(id).into());
                }
            },
        }
        self.records.tally.completed += 1;
        path.ios.release(id);
    }

    /// Threads that wait for a core take those that are free, with all that waits for them.
    pub(crate) fn core_due(&mut self, path: &mut IoPath, now: Time) -> Up {
        self.threads.core_look = Time::NEVER;
        self.hand_over_cores(path, now)
    }

    pub(crate) fn hand_over_cores(&mut self, path: &mut IoPath, now: Time) -> Up {
        while let Some(thread) = self.threads.host.hand_over(now) {
            let mark = path.agenda.mark();
            let up = self.work_off(path, thread, now);
            if up != Up::None {
                path.agenda.below(mark, LoadsCall::Cores);
                return up;
            }
        }
        self.threads.look_for_core(path, now);
        Up::None
    }

    /// A thread processes everything that waits for it, or one completion where it takes one at a
    /// time.
    pub(crate) fn work_off(&mut self, path: &mut IoPath, thread: ThreadId, now: Time) -> Up {
        while let Some(id) = self.threads.signalled[thread].pop(&path.ios) {
            self.reap(path, id, thread, now);
            if let Some(next) = self.threads.signalled[thread].front()
                && self.threads.waits(path, next, thread, now)
            {
                self.threads.look_again(path, thread, now);
                return Up::None;
            }
        }
        while let Some(id) = self.threads.arrived[thread].pop(&path.ios) {
            let up = self.threads.hand_in(path, id, thread, now);
            if up != Up::None {
                path.agenda.rest(LoadsCall::WorkOff(thread));
                return up;
            }
        }
        Up::None
    }

    /// A call into a page cache is done: it is recorded, and its place issues the next one.
    pub(crate) fn call_done(&mut self, path: &mut IoPath, id: IoId, slot: PlaceId, at: Time) {
        if self.records.noted < path.log.len() {
            self.records.note_log(path);
        }
        let index = path.slots[slot].workload;
        path.ios[id].moved = path.ios[id].bytes;
        self.records.record(index, &path.ios[id]);
        path.ios.release(id);
        let pause = self.records.workloads[index].pause();
        path.calendar.push(at + pause, Event::Issue(slot));
    }

    /// The load thread counts a completed I/O and issues the next one of its slot.
    #[inline]
    pub(crate) fn count_and_issue(
        &mut self,
        path: &mut IoPath,
        id: IoId,
        slot: PlaceId,
        done: Time,
    ) {
        let index = path.slots[slot].workload;
        if self.records.noted < path.log.len() {
            self.records.note_log(path);
        }
        let refused = path.ios[id].refused;
        if refused {
            self.records.workloads[index].meter.fail(done);
        } else {
            self.records.record(index, &path.ios[id]);
        }
        let workload = &mut self.records.workloads[index];
        if workload.is_held {
            self.leave_share(path, id, index.into(), done);
        }
        let workload = &mut self.records.workloads[index];
        let Arrival::Closed { .. } = workload.arrival else {
            workload.backlog.leaves(done);
            if workload.ends {
                let took = (!refused).then(|| path.ios[id].latency());
                self.records.trace_request_over(path, id, took, index, done);
            }
            return;
        };
        let mut pause = workload.pause();
        if refused {
            pause = pause.max(ERROR_PAUSE);
        }
        let at_once = pause == Nanos::ZERO && !self.threads.host.has_run_queues();
        if at_once && done > path.calendar.now() {
            // The thread goes straight on to the next I/O, before others can claim it.
            // Its CPU time lies ahead of the clock, so that nothing goes up.
            let up = self.issue(path, slot, done);
            debug_assert_eq!(up, Up::None);
        } else {
            path.calendar.push(done + pause, Event::Issue(slot));
        }
    }
}
