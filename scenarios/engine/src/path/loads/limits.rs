//! I/Os of a load with a limit: they wait for its tokens before their thread takes them up.

use crate::path::Path;
use crate::path::agenda::Up;
use crate::path::loads::Loads;
use crate::state::event::Event;
use crate::state::owner::{Owner, OwnerOf};
use crate::state::records::Slot;
use raidlab_kernel::{IoId, Part, Time};

impl Loads {
    /// A place of a closed load asks for its next I/O.
    #[inline(never)]
    pub(crate) fn issue_limited(&mut self, path: &mut Path, slot: u32, now: Time) -> Up {
        if now > path.calendar.now() {
            // I/Os reach the limit in the order of their times.
            path.calendar.push(now, Event::Issue(slot));
            return Up::None;
        }
        let Slot {
            workload: index,
            thread,
            own,
        } = path.slots[slot as usize];
        let workload = &mut self.workloads[index as usize];
        let Some(request) = workload.load.next(own) else {
            self.place_over(index, now);
            return Up::None;
        };
        let array = workload.array;
        let id = self.claim(path, request, array, Owner::Slot(slot).into(), now);
        if self.waits(path, id, index, now) {
            return Up::None;
        }
        self.hand_in(path, id, thread, now)
    }

    /// True if an I/O has to wait for tokens; it is heard of again when it has them.
    pub(crate) fn waits(&mut self, path: &mut Path, id: IoId, index: u32, now: Time) -> bool {
        let io = &mut path.ios[id];
        let limit = self.workloads[index as usize].limit.as_mut();
        let at = limit.map_or(now, |limit| limit.pass(io.bytes, now));
        if at == now {
            return false;
        }
        io.charge(Part::LimitWait, at);
        // It is not between host and host yet.
        io.entered = Time::NEVER;
        path.calendar.push(at, Event::Released(id));
        true
    }

    /// An I/O has its tokens.
    pub(crate) fn released(&mut self, path: &mut Path, id: IoId, now: Time) -> Up {
        let Some(slot) = path.ios[id].owner.slot() else {
            return Up::None;
        };
        let Slot {
            workload, thread, ..
        } = path.slots[slot as usize];
        if self.workloads[workload as usize].is_open() {
            self.begin(path, id, thread, now)
        } else {
            self.hand_in(path, id, thread, now)
        }
    }

    /// What waits for tokens is gone with the power.
    pub(crate) fn restart_limits(&mut self, now: Time) {
        for workload in &mut self.workloads {
            if let Some(limit) = &mut workload.limit {
                limit.restart(now);
            }
        }
    }
}
