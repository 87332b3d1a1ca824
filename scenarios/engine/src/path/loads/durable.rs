//! Writes that are complete when they are durable, and what makes them so.

use crate::ids::PlaceId;
use crate::path::IoPath;
use crate::path::loads::Loads;
use crate::state::owner::{Owner, OwnerOf};
use crate::state::records::Outcome;
use raidlab_io::{IoId, Op};
use raidlab_kernel::Time;

/// True of a load's write that is to be durable.
#[inline]
pub(super) fn is_synced(loads: &Loads, path: &IoPath, id: IoId, slot: PlaceId) -> bool {
    let workload = path.slots[slot].workload;
    let io = &path.ios[id];
    loads.records.workloads[workload].syncs && io.op == Op::Write && !io.refused
}

/// A load's write is durable, or an outside caller's call is done.
pub(crate) fn durable(loads: &mut Loads, path: &mut IoPath, id: IoId, at: Time) {
    let owner = path.ios[id].owner;
    if let Some(slot) = owner.slot() {
        loads.count_and_issue(path, id, slot, at);
    } else if let Owner::Outside(mark) = owner.into() {
        loads.record_outside(&path.ios[id]);
        path.outside
            .hand_back(id, &path.ios[id], mark, Outcome::Done);
    }
    loads.own_request_done(path, id);
}

impl Loads {
    /// A request is over that is recorded nowhere.
    pub(crate) fn own_request_done(&mut self, path: &mut IoPath, id: IoId) {
        self.records.tally.completed += 1;
        path.ios.release(id);
    }
}
