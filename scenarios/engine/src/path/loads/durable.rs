//! Writes that are complete when they are durable, and what makes them so.

use crate::path::Path;
use crate::path::loads::Loads;
use crate::state::owner::{Owner, OwnerOf};
use crate::state::records::Outcome;
use raidlab_kernel::{IoId, Op, Time};

impl Loads {
    /// True of a load's write that is to be durable.
    #[inline]
    pub(crate) fn is_synced(&self, path: &Path, id: IoId, slot: u32) -> bool {
        let workload = path.slots[slot as usize].workload;
        let io = &path.ios[id];
        self.workloads[workload as usize].syncs && io.op == Op::Write && !io.refused
    }

    /// A thread issues a request that makes writes durable, and will hear of its completion.
    pub(crate) fn set_sync_thread(&mut self, step: u32, thread: u32) {
        let step = step as usize;
        if step >= self.sync_threads.len() {
            self.sync_threads.resize(step + 1, 0);
        }
        self.sync_threads[step] = thread;
    }

    /// A load's write is durable, or an outside caller's call is done.
    pub(crate) fn durable(&mut self, path: &mut Path, id: IoId, at: Time) {
        let owner = path.ios[id].owner;
        if let Some(slot) = owner.slot() {
            self.count_and_issue(path, id, slot, at);
        } else if let Owner::Outside(mark) = owner.into() {
            self.record_outside(&path.ios[id]);
            path.hand_back(id, mark, Outcome::Done);
        }
        self.own_request_done(path, id);
    }

    /// A request is over that is recorded nowhere.
    pub(crate) fn own_request_done(&mut self, path: &mut Path, id: IoId) {
        self.tally.completed += 1;
        path.ios.release(id);
    }
}
