//! Dirty data in flight to the drives: when, which, how many at once.

use crate::ids::{ArrayId, ControllerId, JobId, StripeId};
use crate::layout::{Extent, join};
use crate::path::IoPath;
use crate::path::agenda::CacheCall;
use crate::raid::cache::ControllerCache;
use crate::raid::cache::memory::{ControllerMemory, Lane};
use crate::raid::cache::view::Cached;
use crate::raid::jobs::Stripes;
use crate::raid::jobs::{Destage, Work};
use crate::raid::lines::Lines;
use crate::state::event::RaidEvent;
use raidlab_io::{ByteRange, Io};
use raidlab_kernel::Time;
use raidlab_models::{Eligible, GroupId, GroupSlot, LINE_SECTORS, SECTOR, SpaceId};

impl ControllerCache {
    /// Starts as many destages as may run: full stripes at once, others above the low mark or
    /// when they are due.
    pub(crate) fn destage(
        &mut self,
        stripes: &mut Stripes,
        path: &mut IoPath,
        controller: ControllerId,
        now: Time,
    ) {
        path.agenda.must_be_open();
        while let Some(memory) = self.memories.get_mut(controller) {
            if !memory.lanes.iter().any(Lane::has_room) {
                return;
            }
            let due = memory.sweep > 0
                || !memory.waiting.is_empty()
                || memory.cache.dirty_share() >= memory.low_share;
            if !due && !memory.cache.groups().has_full() {
                return;
            }
            let whole = |space: SpaceId| memory.lanes[space].has_room();
            let part = |space: SpaceId| memory.lanes[space].has_room_for_part();
            let mut next = memory.cache.next_to_leave(Eligible::Full, whole);
            if due && next.is_none() {
                next = memory.cache.next_to_leave(Eligible::Any, part);
            }
            let Some((group, space, number)) = next else {
                memory.sweep = memory.sweep.min(memory.cache.groups().waiting());
                return;
            };
            memory.sweep = memory.sweep.saturating_sub(1);
            let lane = &mut memory.lanes[space];
            lane.in_flight += 1;
            let array = lane.array;
            memory.counts.destages += 1;
            if path.can_fail && stripes.state().volume(array).is_offline() {
                self.memories.pin(controller, group);
                continue;
            }
            let mark = path.agenda.mark();
            self.start_destage(stripes, path, (controller, array), (group, number), now);
            if path.agenda.rose(mark) {
                return path.agenda.below(mark, CacheCall::Destage(controller));
            }
        }
    }

    /// A group of the cache, of a number among those of its array, goes out.
    fn start_destage(
        &mut self,
        stripes: &mut Stripes,
        path: &mut IoPath,
        (controller, array): (ControllerId, ArrayId),
        (group, number): (GroupSlot, GroupId),
        now: Time,
    ) {
        let geometry = stripes.state().volume(array).geometry();
        let stripe = StripeId::new(if geometry.parities() > 0 {
            number.number()
        } else {
            number.number() / u64::from(geometry.columns())
        });
        if let Some(memory) = self.memories.get_mut(controller) {
            memory.cache.leave(group, &mut memory.leaving);
        }
        let redirected =
            Lines::new(stripes, &mut self.memories).redirect_write(path, array, number, now);
        let (target, at) = redirected.map_or((array, stripe), |place| (place.array, place.stripe));
        let slot = redirected.map(|place| place.slot);
        let work = Work::Destage(Destage { group, slot });
        let job = stripes
            .state_mut()
            .new_job(path, Io::NONE, target, at, work, now);
        let (filled, volumes, redirects) = stripes.state_mut().job_beside(job);
        let extents = filled.extents_mut();
        if let Some(cached) = self.memories.cached_beside(volumes, redirects, array) {
            cached.list_leaving(extents);
        }
        if let Some(place) = redirected {
            for extent in extents.iter_mut() {
                *extent = place.extent(*extent);
            }
        }
        join(extents);
        if path.integrity.is_some() {
            for nth in 0..stripes.state().jobs()[job].extents().len() {
                let extent = stripes.state().jobs()[job].extents()[nth];
                let unit = stripes
                    .state()
                    .volume(target)
                    .geometry()
                    .offset(at, extent.column);
                let start = unit + u64::from(extent.start);
                stripes
                    .state_mut()
                    .follow_new_data(path, job, Io::NONE, (target, start), extent);
            }
        }
        stripes.begin(path, job, now);
    }

    pub(crate) fn finish_destage(
        &mut self,
        stripes: &mut Stripes,
        path: &mut IoPath,
        index: JobId,
        destage: Destage,
        now: Time,
    ) {
        let job = &stripes.state().jobs()[index];
        let (array, group) = (job.array(), destage.group);
        let full = job.is_full_stripe();
        if let Some(slot) = destage.slot
            && let Some(above) = stripes.state().redirects().above(array)
        {
            stripes.state_mut().redirects_mut().unpin(above, slot);
        }
        let mark = path.agenda.mark();
        stripes.finish_job(path, index, now);
        if path.agenda.rose(mark) {
            let left = CacheCall::Destaged { array, group, full };
            return path.agenda.below(mark, left);
        }
        self.destaged(stripes, path, array, group, full, now);
    }

    /// A group has left the cache, or stays since its array is offline.
    pub(crate) fn destaged(
        &mut self,
        stripes: &mut Stripes,
        path: &mut IoPath,
        array: ArrayId,
        group: GroupSlot,
        full: bool,
        now: Time,
    ) {
        let Some(controller) = path.arrays[array].controller else {
            return;
        };
        let destaged = !path.can_fail || !stripes.state().volume(array).is_offline();
        let on_ssd_cache = stripes.state().redirects().above(array).is_some();
        if let Some(memory) = self.memories.get_mut(controller) {
            if destaged {
                memory.end(group);
                memory.cache.left(group);
            } else {
                memory.cache.stay(group);
                if on_ssd_cache {
                    // Without its SSD cache the array takes them.
                    memory.end(group);
                } else {
                    self.memories.pin(controller, group);
                }
            }
        }
        if let Some(memory) = self.memories.get_mut(controller) {
            memory.counts.full_stripes += u64::from(destaged && full);
        }
        let mark = path.agenda.mark();
        self.admit_waiting(stripes, path, controller, now);
        if path.agenda.rose(mark) {
            return path.agenda.below(mark, CacheCall::Destage(controller));
        }
        self.destage(stripes, path, controller, now);
    }

    /// A write has come into a controller's cache: it goes out in time.
    pub(crate) fn flush_and_destage(
        &mut self,
        stripes: &mut Stripes,
        path: &mut IoPath,
        controller: ControllerId,
        now: Time,
    ) {
        self.memories.arm_flush(path, controller, now);
        self.destage(stripes, path, controller, now);
    }

    /// The next step of a flush: its groups may go out.
    pub(crate) fn flush_due(
        &mut self,
        stripes: &mut Stripes,
        path: &mut IoPath,
        controller: ControllerId,
        now: Time,
    ) {
        if let Some(memory) = self.memories.get_mut(controller) {
            memory.flush.armed = !memory.cache.is_clean();
            if memory.flush.armed {
                let waiting = memory.cache.groups().waiting();
                memory.sweep = waiting.min(memory.sweep + memory.flush.step(waiting));
                let at = now + memory.flush.step_interval;
                path.calendar.push(at, RaidEvent::Flush(controller).into());
                self.destage(stripes, path, controller, now);
            } else {
                memory.flush.steps_left = 0;
            }
        }
    }
}

impl Cached<'_, &mut ControllerMemory> {
    /// Lists the dirty sectors of the group that leaves as extents of their stripe.
    fn list_leaving(&self, extents: &mut Vec<Extent>) {
        for leaving in &self.memory.leaving {
            let start = self.caching.offset(leaving.key);
            let piece = self.volume.geometry().piece(ByteRange::new(start, 1));
            let mut at = leaving.dirty.trailing_zeros();
            while u64::from(at) < LINE_SECTORS {
                let run = (!(leaving.dirty >> at)).trailing_zeros();
                extents.push(Extent {
                    column: piece.column,
                    start: piece.start + at * SECTOR as u32,
                    end: piece.start + (at + run) * SECTOR as u32,
                });
                let rest = at + run;
                if u64::from(rest) >= LINE_SECTORS {
                    break;
                }
                let left = leaving.dirty >> rest;
                at = if left == 0 {
                    LINE_SECTORS as u32
                } else {
                    rest + left.trailing_zeros()
                };
            }
        }
    }
}
