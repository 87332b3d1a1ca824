//! Dirty data on their way to the drives: when, which, how many at once.

use crate::layout::{Extent, WriteStrategy};
use crate::path::Path;
use crate::path::agenda::Call;
use crate::raid::Raid;
use crate::raid::cache::store::{Lane, Store};
use crate::raid::cache::view::Cached;
use crate::raid::jobs::{Destage, Work};
use crate::state::event::Event;
use raidlab_kernel::{Io, Time};
use raidlab_models::{Eligible, LINE_SECTORS, SECTOR};

impl Raid {
    /// Starts as many destages as may run: full stripes at once, others above the low mark or
    /// when they are due.
    pub(crate) fn destage(&mut self, path: &mut Path, controller: u32, now: Time) {
        path.agenda.must_be_open();
        while let Some(store) = self.stores[controller as usize].as_mut() {
            if !store.lanes.iter().any(Lane::has_room) {
                return;
            }
            let due = store.sweep > 0
                || !store.waiting.is_empty()
                || store.cache.dirty_share() >= store.low_share;
            if !due && !store.cache.has_full() {
                return;
            }
            let eligible = if due { Eligible::Any } else { Eligible::Full };
            let may = |space: usize| store.lanes[space].has_room();
            let Some((group, space, number)) = store.cache.next_to_leave(eligible, may) else {
                store.sweep = store.sweep.min(store.cache.groups_waiting());
                return;
            };
            store.sweep = store.sweep.saturating_sub(1);
            let lane = &mut store.lanes[space as usize];
            lane.under_way += 1;
            let array = lane.array;
            store.counts.destages += 1;
            if path.watch && self.volume(array).offline {
                self.pin(controller, group);
                continue;
            }
            let mark = path.agenda.mark();
            self.start_destage(path, controller, array, group, number, now);
            if path.agenda.rose(mark) {
                return path.agenda.below(mark, Call::Destage(controller));
            }
        }
    }

    fn start_destage(
        &mut self,
        path: &mut Path,
        controller: u32,
        array: u32,
        group: u32,
        number: u64,
        now: Time,
    ) {
        let geometry = &self.volume(array).geometry;
        let stripe = if geometry.parities() > 0 {
            number
        } else {
            number / u64::from(geometry.columns())
        };
        if let Some(store) = self.stores[controller as usize].as_mut() {
            store.cache.leave(group, &mut store.leaving);
        }
        let tiered = self.tier_takes(path, array, number, now);
        let (target, at) = tiered.map_or((array, stripe), |place| (place.array, place.stripe));
        let slot = tiered.map(|place| place.slot);
        let work = Work::Destage(Destage { group, slot });
        let job = self.new_job(path, Io::NONE, target, at, work, now);
        let Raid {
            volumes,
            stores,
            tiers,
            jobs,
            ..
        } = self;
        let extents = &mut jobs[job].extents;
        if let Some(cached) = Cached::of(array, volumes, stores, tiers) {
            cached.list_leaving(extents);
        }
        if let Some(place) = tiered {
            for extent in extents.iter_mut() {
                *extent = place.extent(*extent);
            }
        }
        join(extents);
        if path.integrity.is_some() {
            for nth in 0..self.jobs[job].extents.len() {
                let extent = self.jobs[job].extents[nth];
                let unit = self.volume(target).geometry.offset(at, extent.column);
                let start = unit + u64::from(extent.start);
                self.follow_new_data(path, job, Io::NONE, (target, start), extent);
            }
        }
        self.begin(path, job, now);
    }

    /// Dirty data of an array that is offline stay where they are.
    pub(crate) fn pin(&mut self, controller: u32, group: u32) {
        if let Some(store) = self.stores[controller as usize].as_mut() {
            store.end(group);
            store.cache.pin(group);
        }
    }

    pub(crate) fn finish_destage(
        &mut self,
        path: &mut Path,
        index: u32,
        destage: Destage,
        now: Time,
    ) {
        let job = &self.jobs[index];
        let (array, group) = (job.array, destage.group);
        let full = job.strategy == WriteStrategy::Full;
        let mark = path.agenda.mark();
        self.finish_job(path, index, now);
        if path.agenda.rose(mark) {
            let left = Call::Destaged { array, group, full };
            return path.agenda.below(mark, left);
        }
        self.destaged(path, array, group, full, now);
    }

    /// A group has left the cache, or stays since its array is offline.
    pub(crate) fn destaged(
        &mut self,
        path: &mut Path,
        array: u32,
        group: u32,
        full: bool,
        now: Time,
    ) {
        let Some(controller) = path.arrays[array as usize].controller else {
            return;
        };
        let kept = !path.watch || !self.volume(array).offline;
        let on_tier = self.tier_of[array as usize].is_some();
        if let Some(store) = self.stores[controller as usize].as_mut() {
            if kept {
                store.end(group);
                store.cache.left(group);
            } else {
                store.cache.stay(group);
                if on_tier {
                    // Without its tier the array takes them.
                    store.end(group);
                } else {
                    self.pin(controller, group);
                }
            }
        }
        if let Some(store) = self.stores[controller as usize].as_mut() {
            store.counts.full_stripes += u64::from(kept && full);
        }
        let mark = path.agenda.mark();
        self.admit_waiting(path, controller, now);
        if path.agenda.rose(mark) {
            return path.agenda.below(mark, Call::Destage(controller));
        }
        self.destage(path, controller, now);
    }

    /// Sees to it that dirty data go out in time.
    pub(crate) fn arm_flush(&mut self, path: &mut Path, controller: u32, now: Time) {
        if let Some(store) = self.stores[controller as usize].as_mut() {
            if !store.flush.armed {
                store.flush.armed = true;
                let at = now + store.flush.interval;
                path.calendar.push(at, Event::Flush(controller));
            }
        }
    }

    /// The next step of a flush: its groups may go out.
    pub(crate) fn flush_due(&mut self, path: &mut Path, controller: u32, now: Time) {
        if let Some(store) = self.stores[controller as usize].as_mut() {
            store.flush.armed = !store.cache.is_clean();
            if store.flush.armed {
                let waiting = store.cache.groups_waiting();
                store.sweep = waiting.min(store.sweep + store.flush.step(waiting));
                let at = now + store.flush.pace;
                path.calendar.push(at, Event::Flush(controller));
                self.destage(path, controller, now);
            } else {
                store.flush.steps_left = 0;
            }
        }
    }
}

impl Cached<'_, &mut Store> {
    /// Lists the dirty sectors of the group that leaves as extents of their stripe.
    fn list_leaving(&self, extents: &mut Vec<Extent>) {
        for leaving in &self.store.leaving {
            let start = self.caching.offset(leaving.key);
            let piece = self.volume.geometry.piece(start, 1);
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

/// Brings extents into order and joins those that touch.
fn join(extents: &mut Vec<Extent>) {
    extents.sort_unstable_by_key(|extent| (extent.column, extent.start));
    let mut kept = 0;
    for at in 1..extents.len() {
        let next = extents[at];
        let last = &mut extents[kept];
        if last.column == next.column && last.end == next.start {
            last.end = next.end;
        } else {
            kept += 1;
            extents[kept] = next;
        }
    }
    extents.truncate(kept + 1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touching_extents_become_one() {
        let extent = |column, start, end| Extent { column, start, end };
        let mut extents = vec![
            extent(1, 8, 16),
            extent(0, 4, 8),
            extent(1, 0, 8),
            extent(0, 0, 2),
        ];
        join(&mut extents);
        assert_eq!(
            extents,
            [extent(0, 0, 2), extent(0, 4, 8), extent(1, 0, 16)]
        );
    }
}
