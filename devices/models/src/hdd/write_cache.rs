//! The cache for writes: runs of sectors that the medium does not hold yet, and which of them
//! is written next.
//!
//! Thousands of runs may wait. They hang in bins of consecutive sectors, so both questions that
//! are asked of them look at few: what overlaps a request, and what the arm reaches first.
//! For the latter bins are visited outwards from the arm until even the seek to the next bin
//! takes longer than the best access found. A cache for few runs looks at all of them.

use super::mechanics::Arm;
use super::model::Model;
use super::outlook::Outlook;
use super::params::{SchedulerParams, WriteCacheParams};
use raidlab_kernel::Time;

const NONE: u16 = u16::MAX;

/// A cache for so few runs looks at all of them: bins pay where there are many.
const FEW: usize = 32;

/// A run of sectors to be written; empty in a slot that is free.
#[derive(Clone, Copy, Debug, Default)]
struct Extent {
    lbn: u64,
    end: u64,
    /// Cylinder, head and angle of its first sector.
    target: (u32, u32, u32),
    next: u16,
    /// Flushes that had been asked for when its oldest sector came.
    epoch: u32,
}

/// Bins of consecutive sectors, shared by all drives of a model.
#[derive(Debug)]
pub struct Bins {
    shift: u32,
    /// First cylinder of each bin, and one beyond the last.
    first_cylinder: Box<[u32]>,
}

impl Bins {
    /// About four bins for each run that can wait.
    pub fn new(params: &WriteCacheParams, geometry: &super::geometry::Geometry) -> Bins {
        let wanted = u64::from(params.extents * 4).clamp(64, 8192);
        let sectors = geometry.sectors();
        let shift = (0..64)
            .find(|shift| (sectors >> shift) < wanted)
            .unwrap_or(63);
        let count = (sectors >> shift) + 1;
        let cylinder = |bin: u64| match bin << shift {
            first if first < sectors => geometry.place(first).cylinder,
            _ => geometry.cylinders(),
        };
        Bins {
            shift,
            first_cylinder: (0..=count).map(cylinder).collect(),
        }
    }

    fn count(&self) -> usize {
        self.first_cylinder.len() - 1
    }
}

/// Runs of sectors that the medium does not hold yet.
#[derive(Debug)]
pub struct WriteCache {
    extents: Box<[Extent]>,
    free: Vec<u16>,
    bins: Box<[u16]>,
    /// A bit for each bin that holds something.
    occupied: Box<[u64]>,
    shift: u32,
    sectors_max: u64,
    extent_sectors: u64,
    flush_sectors: u64,
    flush_extents: usize,
    /// Sectors held, those being written included.
    sectors: u64,
    /// Longest run ever held.
    longest: u64,
    /// The run that is being written, and its epoch.
    writing: Option<(u64, u64, u32)>,
    epoch: u32,
    /// Runs of epochs before `epoch`, the one being written included.
    old: u32,
    /// Sectors that found no room and went to the medium since a run was last written out.
    passed_by: u64,
    /// What is old goes before commands.
    overdue: bool,
}

impl WriteCache {
    /// An empty cache.
    pub fn new(params: &WriteCacheParams, bins: &Bins) -> WriteCache {
        WriteCache {
            extents: vec![Extent::default(); params.extents as usize].into(),
            free: (0..params.extents as u16).rev().collect(),
            bins: vec![NONE; bins.count()].into(),
            occupied: vec![0; bins.count().div_ceil(64)].into(),
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
            passed_by: 0,
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

    /// True if there is so much that writing out competes with commands.
    pub fn presses(&self) -> bool {
        self.sectors > self.flush_sectors || self.waiting() > self.flush_extents
    }

    /// True if a write of so many sectors can ever be held.
    pub fn can_hold(&self, sectors: u64) -> bool {
        sectors <= self.sectors_max
    }

    /// True if a write of so many sectors can be held now.
    pub fn has_room(&self, sectors: u64) -> bool {
        !self.free.is_empty() && self.sectors + sectors <= self.sectors_max
    }

    /// What came so far must be written before `flushed` says so.
    pub fn flush(&mut self) {
        self.epoch += 1;
        self.old = self.waiting() as u32 + u32::from(self.writing.is_some());
    }

    /// A write that found no room goes to the medium. When as much as the cache holds has gone past
    /// its runs and none of them was written out, none would ever be: then they go first.
    pub fn passed_by(&mut self, sectors: u64) {
        self.passed_by += sectors;
        if self.passed_by >= self.sectors_max && !self.overdue && self.waiting() > 0 {
            // Those that a flush waits for come first, if one does.
            if self.flushed() {
                self.flush();
            }
            self.overdue = true;
        }
    }

    /// True if runs go before commands.
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

    /// True if all sectors from `lbn` to before `end` are held in one run.
    pub fn covers(&self, lbn: u64, end: u64) -> bool {
        if self.sectors == 0 {
            return false;
        }
        let holds = |from: u64, to: u64| from <= lbn && end <= to;
        if self.writing.is_some_and(|(from, to, _)| holds(from, to)) {
            return true;
        }
        self.slots(lbn.saturating_sub(self.longest), lbn)
            .any(|slot| {
                let extent = &self.extents[slot as usize];
                holds(extent.lbn, extent.end)
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
            None => {
                let place = model.geometry.place(from);
                (place.cylinder, place.head, place.angle)
            }
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
        self.occupied[bin / 64] |= 1 << (bin % 64);
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
                self.occupied[bin / 64] &= !(1 << (bin % 64));
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

    /// The run to write next by an arm that stands at sector `at` and is free from `now` on,
    /// and the time to get there, if that is less than `bound`. While a flush waits only what came
    /// before it counts.
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
        let outlook = Outlook::new(model, arm, now);
        let access = |extent: &Extent| outlook.access(extent.target, true).0;
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
            let seek = outlook.movement(distance.min(limit), true).0;
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

    /// Of all runs the one that is reached first, if that takes less than `bound`; nothing is
    /// known if several are reached at once, of which the one that bins meet first must go.
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
        let mut word = bin / 64;
        let mut bits = *self.occupied.get(word)? & (u64::MAX << (bin % 64));
        while bits == 0 {
            word += 1;
            bits = *self.occupied.get(word)?;
        }
        Some(word * 64 + bits.trailing_zeros() as usize)
    }

    fn occupied_before(&self, bin: usize) -> Option<usize> {
        let mut word = bin / 64;
        let mut bits = match self.occupied.get(word) {
            Some(bits) => bits & !(u64::MAX << (bin % 64)),
            None => 0,
        };
        while bits == 0 {
            word = word.checked_sub(1)?;
            bits = *self.occupied.get(word)?;
        }
        Some(word * 64 + 63 - bits.leading_zeros() as usize)
    }

    /// Begins to write a run: its first sector and the one after its last.
    pub fn start(&mut self, slot: u16) -> (u64, u64) {
        debug_assert!(self.writing.is_none());
        self.passed_by = 0;
        let extent = self.remove(slot);
        // It holds its sectors until it is on the medium.
        self.sectors += extent.end - extent.lbn;
        self.old += u32::from(extent.epoch < self.epoch);
        self.writing = Some((extent.lbn, extent.end, extent.epoch));
        (extent.lbn, extent.end)
    }

    /// The run that was being written is on the medium.
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
        self.occupied.fill(0);
        (self.sectors, self.longest, self.old) = (0, 0, 0);
        (self.passed_by, self.overdue) = (0, false);
        self.writing = None;
    }

    /// Sectors held must be those of the runs.
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
                "write cache holds {sectors} sectors in {count} runs but counts {} in {}",
                self.sectors,
                self.waiting()
            ));
        }
        Ok(())
    }
}
