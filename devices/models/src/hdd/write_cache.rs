//! The write cache: runs of sectors that are not on the medium yet, and which of them is destaged
//! next.
//!
//! Thousands of runs may wait. They hang in bins of consecutive sectors, so that a search for runs
//! that overlap a request, or for the run with the shortest access, compares few of them. The
//! latter visits bins outwards from the arm until even the seek to the next bin takes longer than
//! the best access found. A cache of few runs compares all of them.

use super::geometry::Target;
use super::mechanics::Arm;
use super::media_op::MediaOp;
use super::model::Model;
use super::params::{SchedulerParams, WriteCacheParams};
use super::positioning::Estimate;
use super::write_bins::Bins;
use raidlab_kernel::{Bits, Time, prefetch};

const NONE: u16 = u16::MAX;

/// A cache of so few runs compares all of them; bins are faster where there are more.
const FEW: usize = 32;

/// A run of sectors to be written; empty in a slot that is free.
#[derive(Clone, Copy, Debug, Default)]
struct Extent {
    lbn: u64,
    end: u64,
    /// Where its first sector lies.
    target: Target,
    next: u16,
    /// Number of flushes before its oldest sector was written.
    epoch: u32,
}

/// Runs of sectors that are not on the medium yet.
#[derive(Debug)]
pub struct WriteCache {
    extents: Box<[Extent]>,
    free: Vec<u16>,
    bins: Box<[u16]>,
    /// A bit for each bin, set if it has runs.
    occupied: Bits,
    shift: u32,
    sectors_max: u64,
    extent_sectors: u64,
    flush_sectors: u64,
    flush_extents: usize,
    /// Sectors in the cache, those being destaged included.
    sectors: u64,
    /// Longest run so far.
    longest: u64,
    /// The run that is being destaged, and its epoch.
    writing: Option<(u64, u64, u32)>,
    epoch: u32,
    /// Runs of epochs before `epoch`, the one being destaged included.
    old: u32,
    /// Sectors written to the medium for lack of room since a run was last destaged.
    bypassed: u64,
    /// Old runs are served before commands.
    overdue: bool,
}

impl WriteCache {
    /// An empty cache.
    pub fn new(params: &WriteCacheParams, bins: &Bins) -> WriteCache {
        WriteCache {
            extents: vec![Extent::default(); params.extents as usize].into(),
            free: (0..params.extents as u16).rev().collect(),
            bins: vec![NONE; bins.count()].into(),
            occupied: Bits::new(bins.count()),
            shift: bins.shift,
            sectors_max: params.sectors,
            extent_sectors: u64::from(params.extent_sectors),
            flush_sectors: (params.sectors as f64 * params.flush_above) as u64,
            flush_extents: (f64::from(params.extents) * params.flush_above) as usize,
            sectors: 0,
            longest: 0,
            writing: None,
            epoch: 0,
            old: 0,
            bypassed: 0,
            overdue: false,
        }
    }

    /// Runs that wait.
    pub fn waiting(&self) -> usize {
        self.extents.len() - self.free.len()
    }

    /// True if everything is on the medium.
    pub fn is_clean(&self) -> bool {
        self.sectors == 0
    }

    /// True if the cache is so full that destaging competes with commands.
    pub fn needs_destage(&self) -> bool {
        self.sectors > self.flush_sectors || self.waiting() > self.flush_extents
    }

    /// True if a write of so many sectors ever fits.
    pub fn can_fit(&self, sectors: u64) -> bool {
        sectors <= self.sectors_max
    }

    /// True if a write of so many sectors fits now.
    pub fn has_room(&self, sectors: u64) -> bool {
        !self.free.is_empty() && self.sectors + sectors <= self.sectors_max
    }

    /// Begins a flush: `flushed` is true once all runs of this moment are on the medium.
    pub fn flush(&mut self) {
        self.epoch += 1;
        self.old = self.waiting() as u32 + u32::from(self.writing.is_some());
    }

    /// A write bypassed the cache for lack of room. Once as many sectors as the cache can take have
    /// bypassed it without a destage, its runs would wait for ever: they are served first then.
    pub fn bypass(&mut self, sectors: u64) {
        self.bypassed += sectors;
        if self.bypassed >= self.sectors_max && !self.overdue && self.waiting() > 0 {
            // If a flush is in progress, its runs come first.
            if self.flushed() {
                self.flush();
            }
            self.overdue = true;
        }
    }

    /// True if old runs are served before commands.
    pub fn is_overdue(&self) -> bool {
        self.overdue
    }

    /// True if everything that came before the last call of `flush` is on the medium.
    pub fn flushed(&self) -> bool {
        self.old == 0
    }

    /// Slots of the runs in the bins from `first` to `last`.
    fn slots(&self, first: u64, last: u64) -> impl Iterator<Item = u16> + '_ {
        (first >> self.shift..=last >> self.shift).flat_map(move |bin| {
            let head = self.bins[bin as usize];
            std::iter::successors((head != NONE).then_some(head), |&slot| {
                let next = self.extents[slot as usize].next;
                (next != NONE).then_some(next)
            })
        })
    }

    /// True if one run has all sectors from `lbn` to before `end`.
    pub fn covers(&self, lbn: u64, end: u64) -> bool {
        if self.sectors == 0 {
            return false;
        }
        let covers = |from: u64, to: u64| from <= lbn && end <= to;
        if self.writing.is_some_and(|(from, to, _)| covers(from, to)) {
            return true;
        }
        self.slots(lbn.saturating_sub(self.longest), lbn)
            .any(|slot| {
                let extent = &self.extents[slot as usize];
                covers(extent.lbn, extent.end)
            })
    }

    /// Takes in a write; there must be room.
    ///
    /// Runs that it overlaps become one with it, and so do those that it touches, as long as the
    /// whole stays within the longest run allowed.
    pub fn insert(&mut self, model: &Model, lbn: u64, end: u64) {
        let (mut from, mut to, mut epoch) = (lbn, end, self.epoch);
        let mut target = None;
        // At most two runs touch the ends; those inside are few.
        while let Some(slot) = self.partner(lbn, end, from, to) {
            let extent = self.remove(slot);
            epoch = epoch.min(extent.epoch);
            if extent.lbn <= from {
                target = Some(extent.target);
            }
            from = from.min(extent.lbn);
            to = to.max(extent.end);
        }
        let target = match target {
            Some(target) => target,
            None => model.geometry.place(from).target(),
        };
        let Some(slot) = self.free.pop() else {
            unreachable!("a write was let in although there is no room for it");
        };
        let bin = (from >> self.shift) as usize;
        self.extents[slot as usize] = Extent {
            lbn: from,
            end: to,
            target,
            next: self.bins[bin],
            epoch,
        };
        self.bins[bin] = slot;
        self.occupied.set(bin as u32);
        self.sectors += to - from;
        self.longest = self.longest.max(to - from);
        self.old += u32::from(epoch < self.epoch);
    }

    /// A run that a write of `lbn` to before `end`, grown to `from` and `to`, joins with.
    fn partner(&self, lbn: u64, end: u64, from: u64, to: u64) -> Option<u16> {
        let last = (self.bins.len() as u64) << self.shift;
        self.slots(lbn.saturating_sub(self.longest), end.min(last - 1))
            .find(|&slot| {
                let extent = &self.extents[slot as usize];
                let overlaps = extent.lbn < end && lbn < extent.end;
                let touches = extent.lbn <= to && from <= extent.end;
                let length = extent.end.max(to) - extent.lbn.min(from);
                overlaps || (touches && length <= self.extent_sectors)
            })
    }

    fn remove(&mut self, slot: u16) -> Extent {
        let extent = self.extents[slot as usize];
        let bin = (extent.lbn >> self.shift) as usize;
        if self.bins[bin] == slot {
            self.bins[bin] = extent.next;
            if extent.next == NONE {
                self.occupied.clear(bin as u32);
            }
        } else {
            let mut before = self.bins[bin];
            while self.extents[before as usize].next != slot {
                before = self.extents[before as usize].next;
            }
            self.extents[before as usize].next = extent.next;
        }
        self.extents[slot as usize].end = extent.lbn;
        self.free.push(slot);
        self.sectors -= extent.end - extent.lbn;
        self.old -= u32::from(extent.epoch < self.epoch);
        extent
    }

    /// Prefetches its own fields, not what they point to.
    #[inline]
    pub fn prefetch_fields(&self) {
        prefetch(&self.extents);
        prefetch(&self.bins);
        prefetch(&self.sectors);
        prefetch(&self.overdue);
    }

    /// Prefetches the runs nearest to sector `at`, at which a choice looks first.
    #[inline]
    pub fn prefetch(&self, at: u64) {
        let here = (at >> self.shift) as usize;
        let nearest = [self.occupied_from(here), self.occupied_before(here)];
        for bin in nearest.into_iter().flatten() {
            if let Some(extent) = self.extents.get(usize::from(self.bins[bin])) {
                prefetch(extent);
            }
        }
    }

    /// The run to destage next by an arm that stands at sector `at` and is free from `now` on,
    /// and the access time, if that is less than `bound`. During a flush only older runs count.
    pub fn choose(
        &self,
        model: &Model,
        arm: &Arm,
        at: u64,
        now: Time,
        bound: u64,
    ) -> Option<(u16, u64)> {
        let bins = model.bins.as_ref()?;
        if self.waiting() == 0 {
            return None;
        }
        let wanted = |extent: &Extent| self.old == 0 || extent.epoch < self.epoch;
        let estimate = Estimate::new(model, arm, now);
        let access = |extent: &Extent| estimate.access(&extent.target, MediaOp::Write).0;
        if !matches!(model.scheduler, SchedulerParams::ShortestAccess { .. }) {
            let found = self.ascending(at, wanted, access);
            return found.filter(|&(_, time)| time < bound);
        }
        if self.extents.len() <= FEW {
            if let Some(found) = self.soonest(wanted, access, bound) {
                return found;
            }
        }
        let here = (at >> self.shift) as usize;
        let mut up = self.occupied_from(here);
        let mut down = self.occupied_before(here);
        let mut best: Option<(u16, u64)> = None;
        loop {
            let far = |bin: Option<usize>, cylinder: fn(&Bins, usize) -> u32| match bin {
                Some(bin) if bin == here => Some(0),
                Some(bin) => Some(arm.cylinder.abs_diff(cylinder(bins, bin))),
                None => None,
            };
            let above = far(up, |bins, bin| bins.first_cylinder[bin]);
            let below = far(down, |bins, bin| bins.first_cylinder[bin + 1]);
            let (bin, distance) = match (above, below) {
                (Some(a), b) if b.is_none_or(|b| a <= b) => (up?, a),
                (_, Some(b)) => (down?, b),
                _ => return best,
            };
            let limit = model.geometry.cylinders() - 1;
            let seek = estimate.movement(distance.min(limit), MediaOp::Write).0;
            let least = best.map_or(bound, |(_, least)| least);
            if seek >= least {
                return best;
            }
            let first = (bin as u64) << self.shift;
            for slot in self.slots(first, first) {
                let extent = &self.extents[slot as usize];
                if wanted(extent) {
                    let time = access(extent);
                    if time < best.map_or(bound, |(_, least)| least) {
                        best = Some((slot, time));
                    }
                }
            }
            if up == Some(bin) {
                up = self.occupied_from(bin + 1);
            } else {
                down = self.occupied_before(bin);
            }
        }
    }

    /// Of all runs the one with the shortest access below `bound`. Nothing if several accesses are
    /// equally short: then the order of bins decides.
    #[inline]
    fn soonest(
        &self,
        wanted: impl Fn(&Extent) -> bool,
        access: impl Fn(&Extent) -> u64,
        bound: u64,
    ) -> Option<Option<(u16, u64)>> {
        let (mut best, mut least, mut tied) = (None, bound, false);
        for (slot, extent) in (0..).zip(&self.extents) {
            if extent.lbn == extent.end || !wanted(extent) {
                continue;
            }
            let time = access(extent);
            if time <= least {
                tied = time == least;
                (best, least) = (Some(slot), time);
            }
        }
        (!tied).then_some(best.map(|slot| (slot, least)))
    }

    /// The next run from sector `at` upwards, or else the lowest.
    fn ascending(
        &self,
        at: u64,
        wanted: impl Fn(&Extent) -> bool,
        access: impl Fn(&Extent) -> u64,
    ) -> Option<(u16, u64)> {
        let mut best: Option<(u16, u64)> = None;
        let mut bin = self.occupied_from(0);
        while let Some(found) = bin {
            let first = (found as u64) << self.shift;
            for slot in self.slots(first, first) {
                let extent = &self.extents[slot as usize];
                let key = extent.lbn.wrapping_sub(at);
                if wanted(extent) && best.is_none_or(|(_, least)| key < least) {
                    best = Some((slot, key));
                }
            }
            bin = self.occupied_from(found + 1);
        }
        best.map(|(slot, _)| (slot, access(&self.extents[slot as usize])))
    }

    fn occupied_from(&self, bin: usize) -> Option<usize> {
        self.occupied.next(bin as u32).map(|bin| bin as usize)
    }

    fn occupied_before(&self, bin: usize) -> Option<usize> {
        self.occupied
            .last_before(bin as u32)
            .map(|bin| bin as usize)
    }

    /// Begins to destage a run: its first sector and the one after its last.
    pub fn start(&mut self, slot: u16) -> (u64, u64) {
        debug_assert!(self.writing.is_none());
        self.bypassed = 0;
        let extent = self.remove(slot);
        // Its sectors stay in the cache until they are on the medium.
        self.sectors += extent.end - extent.lbn;
        self.old += u32::from(extent.epoch < self.epoch);
        self.writing = Some((extent.lbn, extent.end, extent.epoch));
        (extent.lbn, extent.end)
    }

    /// The run that was being destaged is on the medium.
    pub fn finish(&mut self) {
        if let Some((lbn, end, epoch)) = self.writing.take() {
            self.sectors -= end - lbn;
            self.old -= u32::from(epoch < self.epoch);
            self.overdue &= self.old > 0;
        }
    }

    /// Everything is lost.
    pub fn clear(&mut self) {
        self.free.clear();
        self.free.extend((0..self.extents.len() as u16).rev());
        self.extents.fill(Extent::default());
        self.bins.fill(NONE);
        self.occupied.clear_all();
        (self.sectors, self.longest, self.old) = (0, 0, 0);
        (self.bypassed, self.overdue) = (0, false);
        self.writing = None;
    }

    /// The counts of sectors and runs must match the runs.
    pub fn check(&self) -> Result<(), String> {
        let last = (self.bins.len() as u64 - 1) << self.shift;
        let (mut sectors, mut count) = (0, 0);
        for slot in self.slots(0, last) {
            let extent = &self.extents[slot as usize];
            sectors += extent.end - extent.lbn;
            count += 1;
        }
        sectors += self.writing.map_or(0, |(lbn, end, _)| end - lbn);
        if sectors != self.sectors || count != self.waiting() {
            return Err(format!(
                "write cache has {sectors} sectors in {count} runs but counts {} in {}",
                self.sectors,
                self.waiting()
            ));
        }
        Ok(())
    }
}
