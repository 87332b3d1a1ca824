//! A controller's cache in the engine: who shares it, what it may do, what it has done.

use crate::plan::{CachePlan, ReadAhead, WritePolicy};
use crate::raid::cache::streams::Streams;
use crate::raid::redirect::Redirect;
use raidlab_kernel::{Nanos, Queue};
use raidlab_models::{Cache, LINE_SECTORS, Leaving, SECTOR, Sectors, sectors};

/// How the cache serves one array.
#[derive(Debug)]
pub(crate) struct Caching {
    /// The controller whose cache it is.
    pub controller: u32,
    /// Where its dirty data wait in the cache for its drives, and for those of its SSD cache.
    pub space: u32,
    pub ssd_space: Option<u32>,
    /// Bytes of a line.
    pub line: u64,
    pub write: WritePolicy,
    pub read_ahead: ReadAhead,
    pub keep_reads: bool,
    pub streams: Streams,
}

impl Caching {
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
    pub fn lines(&self, offset: u64, bytes: u64) -> impl Iterator<Item = (u64, Sectors)> + use<> {
        let (line, end) = (self.line, offset + bytes);
        let base = u64::from(self.space) << 48;
        (offset / line..=(end - 1) / line).map(move |number| {
            let start = number * line;
            let first = offset.saturating_sub(start) / SECTOR;
            let last = (end - start).min(line).div_ceil(SECTOR);
            (base | number, sectors(first, last))
        })
    }

    /// Where new data of a group wait: with those of the same group that wait already, else by
    /// where the group belongs now.
    pub fn space_of(&self, cache: &Cache, redirect: Option<&Redirect>, group: u64) -> u32 {
        let (Some(fast), Some(redirect)) = (self.ssd_space, redirect) else {
            return self.space;
        };
        let on_ssd_cache = cache.has_group(fast, group)
            || !cache.has_group(self.space, group) && redirect.would_take(group);
        if on_ssd_cache { fast } else { self.space }
    }

    /// The first byte of a line on the array.
    pub fn offset(&self, key: u64) -> u64 {
        (key & ((1 << 48) - 1)) * self.line
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
    pub array: u32,
    /// Destages in flight, and at most.
    pub in_flight: u32,
    pub at_most: u32,
}

impl Lane {
    pub fn has_room(&self) -> bool {
        self.in_flight < self.at_most
    }
}

/// Steps of a flush at most.
const STEPS: u64 = 1024;

/// Data that are due: what waits when an interval begins goes out evenly over it, so that reads of
/// the host find the drives as busy at any time of it.
#[derive(Debug)]
pub(crate) struct Flush {
    pub interval: Nanos,
    /// True if the next step is scheduled.
    pub armed: bool,
    /// Of this interval.
    pub steps_left: u64,
    /// From one step to the next.
    pub step_interval: Nanos,
    /// Groups of a step.
    pub groups: u64,
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
    pub cache: Cache,
    /// By space of the cache.
    pub lanes: Vec<Lane>,
    /// Share of the dirty limit below which data wait for neighbours.
    pub low_share: f64,
    pub flush: Flush,
    /// Groups that go out whatever the share.
    pub sweep: u64,
    /// Requests that wait for room.
    pub waiting: Queue,
    pub leaving: Vec<Leaving>,
    /// True if the content outlives an outage.
    pub safe: bool,
    /// For how long.
    pub hold: Nanos,
    /// True if it survives the outage that is on.
    pub survives: bool,
    pub counts: Counts,
}

impl ControllerMemory {
    /// The cache of a plan for these lanes with their groups (number, sectors of one).
    pub fn new(plan: &CachePlan, lanes: Vec<Lane>, spaces: &[(u64, u32)]) -> ControllerMemory {
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

    /// A group that was leaving does so no more.
    pub fn end(&mut self, group: u32) {
        let space = self.cache.space(group);
        self.lanes[space as usize].in_flight -= 1;
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
