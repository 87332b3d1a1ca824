//! The power fails: what a controller's cache holds survives, or is lost.

use crate::ids::{ArrayId, ControllerId, JobId};
use crate::path::IoPath;
use crate::raid::cache::ControllerCache;
use crate::raid::cache::memory::Memories;
use crate::raid::jobs::{Stripes, Work};
use raidlab_kernel::{Nanos, Table, Time};
use raidlab_models::{LINE_SECTORS, SECTOR, SpaceId};

impl ControllerCache {
    /// The power fails for some time: what is safe for so long survives.
    pub(crate) fn power_fails(&mut self, off: Nanos) {
        for memory in self.memories.iter_mut() {
            memory.survives = memory.safe && off <= memory.hold;
        }
    }

    /// Groups that were leaving stay where the cache survives, but for those of preserved jobs.
    pub(crate) fn end_destages(&mut self, stripes: &Stripes, path: &IoPath, preserved: &[JobId]) {
        let jobs = stripes.state().jobs();
        for index in jobs.ids().filter(|index| !preserved.contains(index)) {
            if jobs[index].is_aborted() {
                continue;
            }
            let Work::Destage(destage) = jobs[index].work() else {
                continue;
            };
            let controller = path.arrays[jobs[index].array()].controller;
            let memory = controller.and_then(|at| self.memories.get_mut(at));
            if let Some(memory) = memory.filter(|memory| memory.survives) {
                memory.cache.stay(destage.group);
                memory.end(destage.group);
            }
        }
    }

    /// Requests that wait for room in a cache are taken out.
    pub(crate) fn drop_waiting(&mut self, path: &mut IoPath, controller: ControllerId) {
        if let Some(memory) = self.memories.get_mut(controller) {
            while let Some(id) = memory.waiting.pop(&path.ios) {
                path.ios[id].pending = 1;
            }
        }
    }

    /// All that waits in a cache goes out.
    pub(crate) fn sweep(
        &mut self,
        stripes: &mut Stripes,
        path: &mut IoPath,
        controller: ControllerId,
        now: Time,
    ) {
        if let Some(memory) = self.memories.get_mut(controller) {
            memory.sweep_all();
            self.destage(stripes, path, controller, now);
        }
    }

    /// The backup of a cache is ready, or not: without it nothing dirty may stay. False if the
    /// controller has no cache that is used.
    pub(crate) fn set_safe(&mut self, controller: ControllerId, safe: bool) -> bool {
        let memory = self.memories.get_mut(controller);
        memory.is_some_and(|memory| {
            memory.safe = safe;
            memory.sweep_all();
            true
        })
    }
}

impl Memories {
    /// Whether a controller's memory survives the outage that is on.
    pub(crate) fn survives(&self, controller: ControllerId) -> bool {
        self.get(controller).is_some_and(|memory| memory.survives)
    }

    /// A controller's memory has only dirty data after an outage if it survives, and else nothing.
    /// Gives the sectors of dirty data that are lost, as (array, offset).
    pub(crate) fn lose(&mut self, controller: ControllerId) -> Vec<(ArrayId, u64)> {
        let Some(memory) = self.get_mut(controller) else {
            return Vec::new();
        };
        if memory.survives {
            memory.cache.retain_dirty();
            return Vec::new();
        }
        let dirty = memory.cache.dirty_lines();
        memory.cache.clear();
        for lane in &mut memory.lanes {
            lane.in_flight = 0;
        }
        let arrays: Table<SpaceId, _> = memory.lanes.iter().map(|lane| lane.array).collect();
        let mut lost = Vec::new();
        for line in dirty {
            let array = arrays[SpaceId::new((line.key.number() >> 48) as u32)];
            let Some(caching) = self.caching(array) else {
                continue;
            };
            let start = caching.offset(line.key);
            let sectors = (0..LINE_SECTORS).filter(|s| line.dirty >> s & 1 == 1);
            lost.extend(sectors.map(|sector| (array, start + sector * SECTOR)));
        }
        lost
    }
}
