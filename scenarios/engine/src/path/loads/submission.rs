//! From a load thread to the controller: *issue* and *admit*.

use crate::ids::{ArrayId, PlaceId, ThreadId, WorkloadId};
use crate::path::IoPath;
use crate::path::agenda::Up;
use crate::path::loads::Loads;
use crate::state::arrivals::Arrivals;
use crate::state::event::Event;
use crate::state::load::Request;
use crate::state::owner::Owner;
use crate::state::records::Slot;
use raidlab_io::{Io, IoId, Mark};
use raidlab_kernel::Time;

impl Loads {
    pub(crate) fn issue(&mut self, path: &mut IoPath, slot: PlaceId, now: Time) -> Up {
        let Slot {
            workload: index,
            thread,
            own,
        } = path.slots[slot];
        let workload = &mut self.records.workloads[index];
        if workload.is_held {
            return self.issue_held(path, slot, now);
        }
        let Some(request) = workload.load.next(own) else {
            self.records.place_over(index, now);
            return Up::None;
        };
        let array = workload.array;
        self.enter(path, request, array, thread, Owner::Slot(slot).into(), now)
            .1
    }

    pub(crate) fn arrive(&mut self, path: &mut IoPath, index: WorkloadId, now: Time) -> Up {
        let workload = &mut self.records.workloads[index];
        let Some(arrivals) = &mut workload.arrivals else {
            return Up::None;
        };
        if let Arrivals::Traced(_) = arrivals {
            return self.arrive_traced(path, index, now);
        }
        let own = workload.next_thread;
        workload.next_thread = (own + 1) % workload.threads;
        let request = workload.load.next(own);
        let next = arrivals.next(now, &mut workload.pauses);
        let Some(request) = request else {
            return Up::None;
        };
        let array = workload.array;
        workload.backlog.arrives(now);
        path.calendar.push(next, Event::Arrival(index));
        // The first slots of an open workload are its threads.
        let slot = self.slot_of(path, index, own);
        let id = self.claim(path, request, array, Owner::Slot(slot).into(), now);
        self.arrived(path, id, slot, now)
    }

    /// The next request of a trace, if there is one and it has a place.
    #[inline(never)]
    fn arrive_traced(&mut self, path: &mut IoPath, index: WorkloadId, now: Time) -> Up {
        let workload = &mut self.records.workloads[index];
        let Some(Arrivals::Traced(traced)) = &mut workload.arrivals else {
            return Up::None;
        };
        let Some((request, since)) = traced.take(now) else {
            return Up::None;
        };
        let own = workload.next_thread;
        workload.next_thread = (own + 1) % workload.threads;
        let next = traced.advance();
        if next == Time::NEVER {
            // The load is over with the last of its requests.
            workload.busy_slots -= 1;
        } else if !traced.is_closed() {
            // While the power was off requests may have come late.
            path.calendar.push(next.max(now), Event::Arrival(index));
        }
        workload.busy_slots += 1;
        workload.backlog.arrives(now);
        let array = workload.array;
        let slot = self.slot_of(path, index, own);
        let asked = Request {
            op: request.op,
            offset: request.offset,
            bytes: request.bytes,
            fua: false,
        };
        let id = self.claim(path, asked, array, Owner::Slot(slot).into(), since);
        let load = &mut self.records.workloads[index];
        if let Some(Arrivals::Traced(traced)) = &mut load.arrivals {
            traced.begin(id, &request);
        }
        self.arrived(path, id, slot, now)
    }

    /// An open load's I/O is there.
    #[inline(always)]
    fn arrived(&mut self, path: &mut IoPath, id: IoId, slot: PlaceId, now: Time) -> Up {
        let Slot {
            workload, thread, ..
        } = path.slots[slot];
        if self.records.workloads[workload].is_held {
            return self.hold(path, id, workload.into(), now);
        }
        self.threads.begin(path, id, thread, now)
    }

    pub(crate) fn slot_of(&self, path: &IoPath, workload: WorkloadId, own: u32) -> PlaceId {
        let slots = path.slots.as_slice();
        let first = slots.partition_point(|slot| slot.workload < workload);
        PlaceId::new(first as u32 + own)
    }

    /// A thread processes an I/O at `now`, which may lie ahead of the clock while the thread
    /// still works on earlier ones.
    #[inline]
    pub(crate) fn enter(
        &mut self,
        path: &mut IoPath,
        request: Request,
        array: ArrayId,
        thread: ThreadId,
        owner: Mark,
        now: Time,
    ) -> (IoId, Up) {
        let id = self.claim(path, request, array, owner, now);
        let up = self.threads.hand_in(path, id, thread, now);
        (id, up)
    }

    /// The record of an I/O that a load asks for at `now`.
    #[inline]
    pub(crate) fn claim(
        &mut self,
        path: &mut IoPath,
        request: Request,
        array: ArrayId,
        owner: Mark,
        now: Time,
    ) -> IoId {
        let id = path.ios.claim();
        let io = &mut path.ios[id];
        *io = Io::new(request.op, request.range(), now);
        io.owner = owner;
        io.array = array;
        io.fua = request.fua;
        self.records.tally.issued += 1;
        id
    }
}
