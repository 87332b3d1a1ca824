//! The write cache: runs of sectors that are not on the medium yet, and which of them is destaged
//! next.
//!
//! Thousands of runs may wait. They hang in bins of consecutive sectors, so that a search for runs
//! that overlap a request, or for the run with the shortest access, compares few of them. The
//! latter visits bins outwards from the arm until even the seek to the next bin takes longer than
//! the best access found. A cache of few runs compares all of them.

use super::geometry::Target;
use super::ids::{CacheSlot, CylinderId, HeadId};
use super::mechanics::Arm;
use super::media_op::MediaOp;
use super::model::Model;
use super::params::{WriteCacheParams, WriteOrder};
use super::positioning::Estimate;
use super::sector_range::SectorRange;
use super::write_bins::Bins;
use raidlab_kernel::{Bits, Table, Time, prefetch, prefetch_all};

/// A cache of so few runs compares all of them; bins are faster where there are more.
const FEW: usize = 32;

/// A cache of so few runs is prefetched as a whole.
const NEAR: usize = 64;

/// The sectors of a run.
#[derive(Clone, Copy, Debug, Default)]
struct Extent {
    lbn: u64,
    end: u64,
    /// Writes that came before its oldest.
    number: u64,
}

/// What a choice reads of a run: few bytes, because many runs of many drives are compared.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    /// Cylinder and angle of its first sector.
    cylinder: CylinderId,
    angle: u32,
    /// Its head; none in a slot that is free.
    head: HeadId,
    /// The next run of the same bin.
    next: CacheSlot,
    /// Number of flushes before its oldest sector was written.
    epoch: u32,
}

const FREE: Candidate = Candidate {
    cylinder: CylinderId::new(0),
    angle: 0,
    head: HeadId::NONE,
    next: CacheSlot::NONE,
    epoch: 0,
};

impl Candidate {
    #[inline(always)]
    fn target(&self) -> Target {
        Target {
            cylinder: self.cylinder,
            angle: self.angle,
            head: self.head,
        }
    }
}

/// Runs of sectors that are not on the medium yet.
#[derive(Debug)]
pub struct WriteCache {
    extents: Table<CacheSlot, Extent>,
    candidates: Table<CacheSlot, Candidate>,
    free: Vec<CacheSlot>,
    bins: Box<[CacheSlot]>,
    /// A bit for each bin, set if it has runs.
    occupied: Bits,
    shift: u32,
    /// Runs are destaged in the order in which they came.
    first_come: bool,
    arrivals: u64,
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
    /// Bytes of its tables: runs, and as many bins as there can be.
    pub fn table_bytes(params: &WriteCacheParams) -> u64 {
        let run = size_of::<Extent>() + size_of::<Candidate>() + size_of::<CacheSlot>();
        let bin = size_of::<CacheSlot>() as u64 * Bins::wanted(params);
        u64::from(params.extents) * run as u64 + bin + Bins::wanted(params) / 8
    }

    /// An empty cache.
    pub fn new(params: &WriteCacheParams, bins: &Bins) -> WriteCache {
        WriteCache {
            extents: vec![Extent::default(); params.extents as usize].into(),
            candidates: vec![FREE; params.extents as usize].into(),
            free: CacheSlot::first(params.extents as u16).rev().collect(),
            bins: vec![CacheSlot::NONE; bins.count()].into(),
            occupied: Bits::new(bins.count()),
            shift: bins.shift,
            first_come: params.order == WriteOrder::FirstCome,
            arrivals: 0,
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

    /// Prefetches its own fields and, of a small cache, what a choice compares.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(&self.extents);
        prefetch(&self.sectors);
        prefetch(&self.overdue);
        if self.extents.len() <= NEAR {
            prefetch_all(self.candidates.as_slice());
            prefetch_all(&self.bins);
            self.occupied.prefetch_words();
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

    /// True if the cache is large enough for a write of `sectors` sectors.
    pub fn can_fit(&self, sectors: u64) -> bool {
        sectors <= self.sectors_max
    }

    /// True if a write of `sectors` sectors fits now. The run that is being destaged stays in the cache
    /// until it is on the medium: its slot is free already, but counts as taken.
    pub fn has_room(&self, sectors: u64) -> bool {
        self.free.len() > usize::from(self.writing.is_some())
            && self.sectors + sectors <= self.sectors_max
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

    /// True if a write that finds no room waits for the oldest run's, however near it lies.
    pub fn is_first_come(&self) -> bool {
        self.first_come
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
    fn slots(&self, first: u64, last: u64) -> impl Iterator<Item = CacheSlot> + '_ {
        (first >> self.shift..=last >> self.shift).flat_map(move |bin| {
            let head = self.bins[bin as usize];
            std::iter::successors(head.some(), |&slot| self.candidates[slot].next.some())
        })
    }

    /// True if one run has all of these sectors.
    pub fn covers(&self, SectorRange { lbn, end }: SectorRange) -> bool {
        if self.sectors == 0 {
            return false;
        }
        let covers = |from: u64, to: u64| from <= lbn && end <= to;
        if self.writing.is_some_and(|(from, to, _)| covers(from, to)) {
            return true;
        }
        self.slots(lbn.saturating_sub(self.longest), lbn)
            .any(|slot| {
                let extent = &self.extents[slot];
                covers(extent.lbn, extent.end)
            })
    }

    /// Takes in a write; there must be room.
    ///
    /// Runs that it overlaps become one with it, and so do those that it touches, as long as the
    /// whole stays within the longest run allowed.
    pub fn insert(&mut self, model: &Model, written: SectorRange) {
        let SectorRange {
            lbn: mut from,
            end: mut to,
        } = written;
        let mut epoch = self.epoch;
        let mut number = self.arrivals;
        self.arrivals += 1;
        let mut target = None;
        // At most two runs touch the ends; those inside are few.
        while let Some(slot) = self.partner(written, SectorRange::new(from, to)) {
            let (extent, candidate) = self.remove(slot);
            epoch = epoch.min(candidate.epoch);
            number = number.min(extent.number);
            if extent.lbn <= from {
                target = Some(candidate.target());
            }
            from = from.min(extent.lbn);
            to = to.max(extent.end);
        }
        let Target {
            cylinder,
            angle,
            head,
        } = target.unwrap_or_else(|| model.geometry.place(from).target());
        let Some(slot) = self.free.pop() else {
            unreachable!("a write was let in although there is no room for it");
        };
        let bin = (from >> self.shift) as usize;
        self.extents[slot] = Extent {
            lbn: from,
            end: to,
            number,
        };
        self.candidates[slot] = Candidate {
            cylinder,
            angle,
            head,
            next: self.bins[bin],
            epoch,
        };
        self.bins[bin] = slot;
        self.occupied.set(bin as u32);
        self.sectors += to - from;
        self.longest = self.longest.max(to - from);
        self.old += u32::from(epoch < self.epoch);
    }

    /// A run that a write joins with, of which so far is grown what `joined` has.
    fn partner(&self, written: SectorRange, joined: SectorRange) -> Option<CacheSlot> {
        let last = (self.bins.len() as u64) << self.shift;
        self.slots(
            written.lbn.saturating_sub(self.longest),
            written.end.min(last - 1),
        )
        .find(|&slot| {
            let extent = &self.extents[slot];
            let overlaps = extent.lbn < written.end && written.lbn < extent.end;
            let touches = extent.lbn <= joined.end && joined.lbn <= extent.end;
            let length = extent.end.max(joined.end) - extent.lbn.min(joined.lbn);
            overlaps || (touches && length <= self.extent_sectors)
        })
    }

    fn remove(&mut self, slot: CacheSlot) -> (Extent, Candidate) {
        let extent = self.extents[slot];
        let candidate = std::mem::replace(&mut self.candidates[slot], FREE);
        let bin = (extent.lbn >> self.shift) as usize;
        if self.bins[bin] == slot {
            self.bins[bin] = candidate.next;
            if candidate.next == CacheSlot::NONE {
                self.occupied.clear(bin as u32);
            }
        } else {
            let mut before = self.bins[bin];
            while self.candidates[before].next != slot {
                before = self.candidates[before].next;
            }
            self.candidates[before].next = candidate.next;
        }
        self.free.push(slot);
        self.sectors -= extent.end - extent.lbn;
        self.old -= u32::from(candidate.epoch < self.epoch);
        (extent, candidate)
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
    ) -> Option<(CacheSlot, u64)> {
        let bins = model.bins.as_ref()?;
        if self.waiting() == 0 {
            return None;
        }
        let wanted = |run: &Candidate| self.old == 0 || run.epoch < self.epoch;
        let estimate = Estimate::new(model, arm, now);
        let access = |run: &Candidate| estimate.access(run.target(), MediaOp::Write).0;
        if self.first_come {
            return self.oldest(access).filter(|&(_, time)| time < bound);
        }
        if !model.scheduler.is_by_access() {
            let found = self.ascending(at, wanted, access);
            return found.filter(|&(_, time)| time < bound);
        }
        let found = match self.extents.len() <= FEW {
            true => self.soonest(wanted, access, bound),
            false => None,
        };
        let wanted_access = |run: &Candidate| wanted(run).then(|| access(run));
        let found =
            found.unwrap_or_else(|| self.outwards(bins, &estimate, at, bound, wanted_access));
        let (chosen, time) = found?;
        let first = self.first_of_chain(chosen, wanted);
        let time = match first == chosen {
            true => time,
            false => access(&self.candidates[first]),
        };
        (time < bound).then_some((first, time))
    }

    /// The first of the runs that lie one behind the other up to the one in `slot`: who begins in
    /// their middle has to come back for the others.
    fn first_of_chain(
        &self,
        mut slot: CacheSlot,
        wanted: impl Fn(&Candidate) -> bool,
    ) -> CacheSlot {
        while let Some(before) = self.ending_at(self.extents[slot].lbn) {
            if !wanted(&self.candidates[before]) {
                break;
            }
            slot = before;
        }
        slot
    }

    /// The run that begins with a sector.
    #[inline]
    pub fn beginning_at(&self, lbn: u64) -> Option<CacheSlot> {
        let beyond = lbn >> self.shift >= self.bins.len() as u64;
        if self.sectors == 0 || beyond {
            return None;
        }
        self.slots(lbn, lbn)
            .find(|&slot| self.extents[slot].lbn == lbn)
    }

    /// The run that ends where a sector begins.
    #[inline]
    pub fn ending_at(&self, lbn: u64) -> Option<CacheSlot> {
        if lbn == 0 || self.sectors == 0 {
            return None;
        }
        self.slots(lbn.saturating_sub(self.longest), lbn - 1)
            .find(|&slot| self.extents[slot].end == lbn)
    }

    /// The run with the shortest access below `bound`, by bins outwards from sector `at`.
    ///
    /// `access` gives the time to a run, if that may be chosen.
    #[inline]
    fn outwards(
        &self,
        bins: &Bins,
        estimate: &Estimate<'_>,
        at: u64,
        bound: u64,
        access: impl Fn(&Candidate) -> Option<u64>,
    ) -> Option<(CacheSlot, u64)> {
        let here = (at >> self.shift) as usize;
        let full_stroke = estimate.full_stroke();
        // Bins with the distance to their nearer edge.
        let above = |from: usize| {
            let bin = self.occupied_from(from)?;
            let distance = if bin == here {
                0
            } else {
                estimate.distance(bins.first_cylinder[bin])
            };
            Some((distance, bin))
        };
        let below = |end: usize| {
            let bin = self.occupied_before(end)?;
            Some((estimate.distance(bins.first_cylinder[bin + 1]), bin))
        };
        let (mut up, mut down) = (above(here), below(here));
        let (mut best, mut least) = (None, bound);
        loop {
            let (distance, bin, is_up) = match (up, down) {
                (Some((near, bin)), other) if other.is_none_or(|(far, _)| near <= far) => {
                    (near, bin, true)
                }
                (_, Some((near, bin))) => (near, bin, false),
                _ => return best,
            };
            if estimate
                .movement(distance.min(full_stroke), MediaOp::Write)
                .0
                >= least
            {
                return best;
            }
            let mut slot = self.bins[bin];
            while slot != CacheSlot::NONE {
                let run = &self.candidates[slot];
                if let Some(time) = access(run).filter(|&time| time < least) {
                    (best, least) = (Some((slot, time)), time);
                }
                slot = run.next;
            }
            if is_up {
                up = above(bin + 1);
            } else {
                down = below(bin);
            }
        }
    }

    /// Of all runs the one with the shortest access below `bound`. Nothing if several accesses are
    /// equally short: then the order of bins decides.
    #[inline]
    fn soonest(
        &self,
        wanted: impl Fn(&Candidate) -> bool,
        access: impl Fn(&Candidate) -> u64,
        bound: u64,
    ) -> Option<Option<(CacheSlot, u64)>> {
        let (mut best, mut least, mut tied) = (None, bound, false);
        for (slot, run) in self.candidates.entries() {
            if run.head == HeadId::NONE || !wanted(run) {
                continue;
            }
            let time = access(run);
            if time <= least {
                tied = time == least;
                (best, least) = (Some(slot), time);
            }
        }
        (!tied).then_some(best.map(|slot| (slot, least)))
    }

    /// The run that came first, and its access time.
    fn oldest(&self, access: impl Fn(&Candidate) -> u64) -> Option<(CacheSlot, u64)> {
        let runs = self.candidates.entries();
        let waiting = runs.filter(|(_, run)| run.head != HeadId::NONE);
        let (slot, run) = waiting.min_by_key(|&(slot, _)| self.extents[slot].number)?;
        Some((slot, access(run)))
    }

    /// The next run from sector `at` upwards, or else the lowest.
    fn ascending(
        &self,
        at: u64,
        wanted: impl Fn(&Candidate) -> bool,
        access: impl Fn(&Candidate) -> u64,
    ) -> Option<(CacheSlot, u64)> {
        let mut best: Option<(CacheSlot, u64)> = None;
        let mut bin = self.occupied_from(0);
        while let Some(found) = bin {
            let first = (found as u64) << self.shift;
            for slot in self.slots(first, first) {
                let key = self.extents[slot].lbn.wrapping_sub(at);
                let run = &self.candidates[slot];
                if wanted(run) && best.is_none_or(|(_, least)| key < least) {
                    best = Some((slot, key));
                }
            }
            bin = self.occupied_from(found + 1);
        }
        best.map(|(slot, _)| (slot, access(&self.candidates[slot])))
    }

    fn occupied_from(&self, bin: usize) -> Option<usize> {
        self.occupied.next(bin as u32).map(|bin| bin as usize)
    }

    fn occupied_before(&self, bin: usize) -> Option<usize> {
        self.occupied
            .last_before(bin as u32)
            .map(|bin| bin as usize)
    }

    /// The first sector of a run.
    pub fn first(&self, slot: CacheSlot) -> u64 {
        self.extents[slot].lbn
    }

    /// One beyond the last sector of a run.
    pub fn end(&self, slot: CacheSlot) -> u64 {
        self.extents[slot].end
    }

    /// True if a run that begins with `lbn` is in this slot.
    pub fn begins(&self, slot: CacheSlot, lbn: u64) -> bool {
        self.candidates[slot].head != HeadId::NONE && self.extents[slot].lbn == lbn
    }

    /// Begins to destage a run: its first sector and the one after its last.
    pub fn start(&mut self, slot: CacheSlot) -> (u64, u64) {
        debug_assert!(self.writing.is_none());
        self.bypassed = 0;
        let (extent, candidate) = self.remove(slot);
        // Its sectors stay in the cache until they are on the medium.
        self.sectors += extent.end - extent.lbn;
        self.old += u32::from(candidate.epoch < self.epoch);
        self.writing = Some((extent.lbn, extent.end, candidate.epoch));
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
        self.free.extend(self.extents.ids().rev());
        self.candidates.as_mut_slice().fill(FREE);
        self.bins.fill(CacheSlot::NONE);
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
            let extent = &self.extents[slot];
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
