//! I/Os that are held before their thread takes them up: by the limits of their load, then until
//! their load's share of the array lets them in.

use crate::ids::{PlaceId, TenantId, WorkloadId};
use crate::path::IoPath;
use crate::path::agenda::Up;
use crate::path::loads::Loads;
use crate::state::event::{Event, LoadsEvent};
use crate::state::owner::{Owner, OwnerOf};
use crate::state::records::Slot;
use raidlab_io::{IoId, Op, Part};
use raidlab_kernel::Time;

impl Loads {
    /// A place of a closed load asks for its next I/O.
    #[inline(never)]
    pub(crate) fn issue_held(&mut self, path: &mut IoPath, slot: PlaceId, now: Time) -> Up {
        if now > path.calendar.now() {
            // I/Os are held in the order of their times.
            path.calendar.push(now, Event::Issue(slot));
            return Up::None;
        }
        let Slot {
            workload: index,
            own,
            ..
        } = path.slots[slot];
        let workload = &mut self.records.workloads[index];
        let Some(request) = workload.load.next(own) else {
            self.records.place_over(index, now);
            return Up::None;
        };
        let array = workload.array;
        let id = self.claim(path, request, array, Owner::Slot(slot).into(), now);
        self.hold(path, id, index.into(), now)
    }

    /// An I/O goes in, or waits for tokens, or for its share; it is heard of again.
    pub(crate) fn hold(&mut self, path: &mut IoPath, id: IoId, index: TenantId, now: Time) -> Up {
        let io = &mut path.ios[id];
        let limits = match self
            .records
            .workloads
            .get_mut(WorkloadId::new(index.number()))
        {
            Some(load) => load.limits.as_deref_mut(),
            None => {
                let outside = index.index() - self.records.workloads.len();
                self.tenants.all_mut()[outside].limits_mut()
            }
        };
        // A flush moves nothing: it passes without tokens, behind what came before it.
        let counts = u64::from(io.op != Op::Flush);
        let at = limits.map_or(now, |limits| limits.pass(counts, io.bytes, now));
        if at == now {
            return self.offer(path, id, index, now);
        }
        io.charge(Part::LimitWait, at);
        // It is not between host and host yet.
        io.entered = Time::NEVER;
        path.calendar.push(at, LoadsEvent::Released(id).into());
        Up::None
    }

    /// An I/O has its tokens.
    pub(crate) fn released(&mut self, path: &mut IoPath, id: IoId, now: Time) -> Up {
        let index = match path.ios[id].owner.into() {
            Owner::Slot(slot) => Some(path.slots[slot].workload.into()),
            Owner::Outside(number) => self.tenant_behind(number),
            _ => None,
        };
        index.map_or(Up::None, |index| self.offer(path, id, index, now))
    }

    /// The tenant of an outside caller's I/O: its index is behind those of the loads.
    #[inline]
    pub(crate) fn tenant_behind(&self, number: u32) -> Option<TenantId> {
        let found = self.tenants.behind(number);
        found.map(|at| TenantId::new(self.records.workloads.len() as u32 + at))
    }

    /// An outside caller's I/O goes in, or is held as its tenant says.
    pub(crate) fn take_outside(
        &mut self,
        path: &mut IoPath,
        id: IoId,
        number: u32,
        now: Time,
    ) -> Up {
        match self.tenant_behind(number) {
            Some(index) => self.hold(path, id, index, now),
            None => self
                .threads
                .hand_in(path, id, path.outside_threads.of(number), now),
        }
    }

    /// An I/O goes in, or waits until its load's share lets it.
    fn offer(&mut self, path: &mut IoPath, id: IoId, index: TenantId, now: Time) -> Up {
        let array = path.ios[id].array;
        if let Some(shares) = &mut self.shares[array]
            && !shares.offer(&mut path.ios, id, index)
        {
            let io = &mut path.ios[id];
            io.entered = Time::NEVER;
            // A record on which no event is to come.
            io.pending = 1;
            return Up::None;
        }
        self.take_up(path, id, now)
    }

    /// An I/O of the array's tenants is complete: others may go in.
    pub(crate) fn leave_share(&mut self, path: &mut IoPath, id: IoId, index: TenantId, done: Time) {
        let array = path.ios[id].array;
        if let Some(shares) = &mut self.shares[array] {
            shares.leave(index);
            while let Some(id) = shares.next(&path.ios) {
                path.ios[id].pending = 0;
                path.calendar.push(done, LoadsEvent::Granted(id).into());
            }
        }
    }

    /// An I/O has its place.
    pub(crate) fn granted(&mut self, path: &mut IoPath, id: IoId, now: Time) -> Up {
        path.ios[id].charge(Part::ShareWait, now);
        self.take_up(path, id, now)
    }

    /// The thread of an I/O that nothing holds takes it up.
    fn take_up(&mut self, path: &mut IoPath, id: IoId, now: Time) -> Up {
        let Some(slot) = path.ios[id].owner.slot() else {
            let number = path.ios[id].owner.outside_number();
            return self
                .threads
                .hand_in(path, id, path.outside_threads.of(number), now);
        };
        let Slot {
            workload, thread, ..
        } = path.slots[slot];
        if self.records.workloads[workload].is_open() {
            self.threads.begin(path, id, thread, now)
        } else {
            self.threads.hand_in(path, id, thread, now)
        }
    }

    /// What is held is gone with the power.
    pub(crate) fn restart_limits(&mut self, now: Time) {
        let loads = self.records.workloads.iter_mut();
        let loads = loads.filter_map(|load| load.limits.as_deref_mut());
        let outside = self.tenants.all_mut().iter_mut();
        let outside = outside.filter_map(|tenant| tenant.limits_mut());
        for limits in loads.chain(outside) {
            limits.restart(now);
        }
        for shares in self.shares.iter_mut().flatten() {
            shares.restart();
        }
    }
}
