//! A controller's cache in the engine: who shares it, what it may do, what it has done.

use crate::ids::{ArrayId, ControllerId};
use crate::path::IoPath;
use crate::plan::{CachePlan, PolicyPlan, ReadAhead, WritePolicy};
use crate::raid::cache::streams::Streams;
use crate::raid::redirect::Redirect;
use crate::raid::volume::Volume;
use crate::state::event::RaidEvent;
use raidlab_io::{ByteRange, Queue};
use raidlab_kernel::{Nanos, Table, Time};
use raidlab_models::{
    Cache, GroupId, GroupSlot, LINE_SECTORS, Leaving, LineKey, SECTOR, Sectors, SpaceId, sectors,
};

/// How the cache serves one array.
#[derive(Debug)]
pub(crate) struct Caching {
    /// The controller whose cache it is.
    pub(super) controller: ControllerId,
    /// Where its dirty data wait in the cache for its drives, and for those of its SSD cache.
    pub(super) space: SpaceId,
    pub(super) ssd_space: Option<SpaceId>,
    /// Bytes of a line.
    pub(super) line: u64,
    pub(super) write: WritePolicy,
    pub(super) read_ahead: ReadAhead,
    pub(super) keep_reads: bool,
    pub(super) streams: Streams,
}

impl Caching {
    /// The cache of a controller serves a volume by a policy: its dirty data wait in a space, and
    /// in another one for its SSD cache.
    pub fn new(
        controller: ControllerId,
        space: SpaceId,
        ssd_space: Option<SpaceId>,
        volume: &Volume,
        policy: &PolicyPlan,
    ) -> Caching {
        Caching {
            controller,
            space,
            ssd_space,
            line: Caching::line_of(volume.geometry().unit()),
            write: policy.write,
            read_ahead: policy.read_ahead,
            keep_reads: policy.keep_reads,
            streams: Streams::default(),
        }
    }

    /// Bytes of a line for a stripe unit: it divides the unit, and has at most 128 sectors.
    pub fn line_of(unit: u64) -> u64 {
        let most = LINE_SECTORS * SECTOR;
        if unit <= most {
            return unit;
        }
        (unit.div_ceil(most)..)
            .map(|parts| unit / parts)
            .find(|line| unit % line == 0 && line % SECTOR == 0)
            .unwrap_or(SECTOR)
    }

    /// The lines of a range, each with the sectors that the range touches.
    pub fn lines(&self, range: ByteRange) -> impl Iterator<Item = (LineKey, Sectors)> + use<> {
        let (line, offset, end) = (self.line, range.offset, range.end());
        let base = u64::from(self.space.number()) << 48;
        (offset / line..=(end - 1) / line).map(move |number| {
            let start = number * line;
            let first = offset.saturating_sub(start) / SECTOR;
            let last = (end - start).min(line).div_ceil(SECTOR);
            (LineKey::new(base | number), sectors(first, last))
        })
    }

    /// Where new data of a group wait: with those of the same group that wait already, else by
    /// where the group belongs now.
    pub fn space_of(&self, cache: &Cache, redirect: Option<&Redirect>, group: GroupId) -> SpaceId {
        let (Some(fast), Some(redirect)) = (self.ssd_space, redirect) else {
            return self.space;
        };
        let on_ssd_cache = cache.groups().has(fast, group)
            || !cache.groups().has(self.space, group) && redirect.would_take(group);
        if on_ssd_cache { fast } else { self.space }
    }

    /// The first byte of a line on the array.
    pub fn offset(&self, key: LineKey) -> u64 {
        (key.number() & ((1 << 48) - 1)) * self.line
    }
}

/// What the cache has done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub reads: u64,
    pub read_hits: u64,
    pub writes: u64,
    pub write_hits: u64,
    pub destages: u64,
    pub full_stripes: u64,
    pub filled_bytes: u64,
}

/// Dirty data in flight to the drives of one array, or of one SSD cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lane {
    /// The array whose data they are.
    pub(super) array: ArrayId,
    /// Destages in flight, at most, and at most where the next one is less than a whole group.
    pub(super) in_flight: u32,
    pub(super) at_most: u32,
    pub(super) parts_at_most: u32,
}

impl Lane {
    /// Of an array, with destages in flight at most: of whole groups, and of parts of them.
    pub fn new(array: ArrayId, at_most: u32, parts_at_most: u32) -> Lane {
        Lane {
            array,
            in_flight: 0,
            at_most,
            parts_at_most,
        }
    }

    pub fn has_room(&self) -> bool {
        self.in_flight < self.at_most
    }

    pub fn has_room_for_part(&self) -> bool {
        self.in_flight < self.parts_at_most
    }
}

/// Steps of a flush at most.
const STEPS: u64 = 1024;

/// Data that are due: what waits when an interval begins goes out evenly over it, so that reads of
/// the host find the drives as busy at any time of it.
#[derive(Debug)]
pub(crate) struct Flush {
    pub(super) interval: Nanos,
    /// True if the next step is scheduled.
    pub(super) armed: bool,
    /// Of this interval.
    pub(super) steps_left: u64,
    /// From one step to the next.
    pub(super) step_interval: Nanos,
    /// Groups of a step.
    pub(super) groups: u64,
}

impl Flush {
    fn new(interval: Nanos) -> Flush {
        Flush {
            interval,
            armed: false,
            steps_left: 0,
            step_interval: interval,
            groups: 0,
        }
    }

    /// How many of the groups that wait may go out with this step, which may begin an interval.
    pub fn step(&mut self, waiting: u64) -> u64 {
        if self.steps_left == 0 {
            self.groups = waiting.div_ceil(STEPS).max(1);
            self.steps_left = waiting.div_ceil(self.groups).max(1);
            self.step_interval = Nanos(self.interval.0 / self.steps_left);
        }
        self.steps_left -= 1;
        self.groups
    }
}

/// A controller's cache.
#[derive(Debug)]
pub(crate) struct ControllerMemory {
    pub(super) cache: Cache,
    pub(super) lanes: Table<SpaceId, Lane>,
    /// Share of the dirty limit below which data wait for neighbours.
    pub(super) low_share: f64,
    pub(super) flush: Flush,
    /// Groups that go out whatever the share.
    pub(super) sweep: u64,
    /// Requests that wait for room.
    pub(super) waiting: Queue,
    pub(super) leaving: Vec<Leaving>,
    /// True if the content outlives an outage.
    pub(super) safe: bool,
    /// For how long.
    pub(super) hold: Nanos,
    /// True if it survives the outage that is on.
    pub(super) survives: bool,
    pub(super) counts: Counts,
}

impl ControllerMemory {
    /// The cache of a plan for these lanes with their groups (number, sectors of one).
    pub fn new(
        plan: &CachePlan,
        lanes: Table<SpaceId, Lane>,
        spaces: &[(u64, u32)],
    ) -> ControllerMemory {
        let dirty = (plan.bytes as f64 * plan.dirty_share) as u64;
        ControllerMemory {
            cache: Cache::new(plan.bytes, dirty, spaces),
            lanes,
            low_share: plan.low_share,
            flush: Flush::new(plan.flush_interval_ns),
            sweep: 0,
            waiting: Queue::default(),
            leaving: Vec::with_capacity(256),
            safe: plan.hold_ns > Nanos::ZERO,
            hold: plan.hold_ns,
            survives: false,
            counts: Counts::default(),
        }
    }

    /// What the cache has done.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Bytes that wait for the drives.
    pub fn dirty_bytes(&self) -> u64 {
        self.cache.dirty_bytes()
    }

    /// What must hold of the cache.
    ///
    /// # Errors
    /// Says what does not.
    pub fn check(&self) -> Result<(), String> {
        self.cache.check()
    }

    /// All groups that wait go out.
    pub(super) fn sweep_all(&mut self) {
        self.sweep = self.cache.groups().waiting();
    }

    /// A group that was leaving does so no more.
    pub(super) fn end(&mut self, group: GroupSlot) {
        let space = self.cache.groups().space(group);
        self.lanes[space].in_flight -= 1;
    }
}

/// The caches of all controllers, and how they serve the arrays.
#[derive(Debug)]
pub(crate) struct Memories {
    /// By array: how it is served, if it is.
    caching: Table<ArrayId, Option<Caching>>,
    /// By controller: its cache, if it has one that is used.
    of_controller: Table<ControllerId, Option<ControllerMemory>>,
}

impl Memories {
    /// How each array is served, and the cache of each controller.
    pub fn new(
        caching: Table<ArrayId, Option<Caching>>,
        of_controller: Table<ControllerId, Option<ControllerMemory>>,
    ) -> Memories {
        Memories {
            caching,
            of_controller,
        }
    }

    /// The cache of a controller, if it has one that is used.
    #[inline]
    pub fn get(&self, controller: ControllerId) -> Option<&ControllerMemory> {
        self.of_controller[controller].as_ref()
    }

    #[inline]
    pub(super) fn get_mut(&mut self, controller: ControllerId) -> Option<&mut ControllerMemory> {
        self.of_controller[controller].as_mut()
    }

    /// By controller: its cache, if it has one that is used.
    pub fn iter(&self) -> impl Iterator<Item = Option<&ControllerMemory>> {
        self.of_controller.iter().map(Option::as_ref)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut ControllerMemory> {
        self.of_controller.iter_mut().flatten()
    }

    /// How an array is served, if it is.
    #[inline]
    pub(super) fn caching(&self, array: ArrayId) -> Option<&Caching> {
        self.caching[array].as_ref()
    }

    #[inline]
    pub(super) fn caching_mut(&mut self, array: ArrayId) -> Option<&mut Caching> {
        self.caching[array].as_mut()
    }

    /// How an array is served, and the cache that does.
    #[inline]
    pub(super) fn serving(&mut self, array: ArrayId) -> Option<(&Caching, &mut ControllerMemory)> {
        let caching = self.caching[array].as_ref()?;
        let memory = self.of_controller[caching.controller].as_mut()?;
        Some((caching, memory))
    }

    /// Sees to it that dirty data go out in time.
    pub(super) fn arm_flush(&mut self, path: &mut IoPath, controller: ControllerId, now: Time) {
        if let Some(memory) = self.get_mut(controller) {
            if !memory.flush.armed {
                memory.flush.armed = true;
                let at = now + memory.flush.interval;
                path.calendar.push(at, RaidEvent::Flush(controller).into());
            }
        }
    }

    /// Dirty data of an array that is offline stay where they are.
    pub(super) fn pin(&mut self, controller: ControllerId, group: GroupSlot) {
        if let Some(memory) = self.get_mut(controller) {
            memory.end(group);
            memory.cache.groups_mut().pin(group);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten groups leave one by one over the interval, ten thousand ten at a time.
    #[test]
    fn a_flush_is_spread_over_its_interval() {
        let mut flush = Flush::new(Nanos(4_096_000));
        assert_eq!((flush.step(10), flush.step_interval), (1, Nanos(409_600)));
        assert!((0..9).all(|left| flush.step(left) == 1));
        assert_eq!(
            (flush.step(10_000), flush.step_interval),
            (10, Nanos(4_096))
        );
        assert!((1..1000).all(|_| flush.step(0) == 10));
        assert_eq!((flush.step(0), flush.step_interval), (1, Nanos(4_096_000)));
    }

    #[test]
    fn lines_divide_the_unit() {
        for (unit, line) in [
            (4096, 4096),
            (65_536, 65_536),
            (131_072, 65_536),
            (1 << 20, 65_536),
            (99 * 1024, 49_152 + 1536),
        ] {
            assert_eq!(Caching::line_of(unit), line, "{unit}");
        }
    }
}
