//! A tier of SSDs over an array: requests are looked up in it, hot lines move to it, dirty ones
//! back, at the pace that the array's own drives allow.
//!
//! A line is what leaves the controller's cache together: a stripe unit or, with parity, the data
//! of a stripe, so that what comes back from the tier is a full stripe. Which lines are there, and
//! which deserve to be, is decided in `raidlab_models::SsdCache`; copies are jobs like all others, and
//! compete with the load for drives.
//!
//! **Time lapse.** A tier fills in hours, while a second of load says how fast the system is with
//! the lines that the tier has now. With a time lapse of `k` each simulated second stands for `k`
//! seconds of the tier's life: beside every request `k - 1` shadows, drawn from the same
//! distribution, heat, promote and dirty lines as a request would, but move no data. See
//! docs/models/cache-tier.md.

mod copy;
mod fetch;
mod loss;
mod shadow;
mod warm;
mod way;

use crate::agenda::Call;
use crate::layout::Ranges;
use crate::load::{Load, Request};
use crate::owner::OwnerOf;
use crate::plan::{ArrayPlan, Plan, TierPlan};
use crate::raid::Volume;
use crate::system::System;
use raidlab_kernel::{IoId, Nanos, Op, Time};
use raidlab_models::{DeviceParams, Lookup, ReferenceCounts, SsdCache, SsdCacheParams};
use shadow::{BATCH, Decisions};

/// Lines on their way back to each of the array's drives at once. Assumed: enough to keep a
/// drive busy beside a load, too few to fill its queue.
const CLEANS_PER_DRIVE: u32 = 2;

/// Whether a drive of an array tells a write to be complete before it is on its medium. A tier of
/// such drives has no power failure: nobody could know which of its lines are whole afterwards.
pub(crate) fn forgets(plan: &Plan, array: &ArrayPlan) -> bool {
    let mut drives = array.drives.iter().chain(&array.spares);
    drives.any(|&drive| {
        let drive = plan.drives.get(drive as usize);
        match drive.and_then(|drive| plan.devices.get(drive.device as usize)) {
            Some(DeviceParams::Station(station)) => station.settle_ns > Nanos::ZERO,
            Some(DeviceParams::Ssd(ssd)) => !ssd.buffer.protected && !ssd.buffer.write_through,
            _ => false,
        }
    })
}

/// What a tier has done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TierCounts {
    pub reads: u64,
    pub read_hits: u64,
    pub writes: u64,
    pub write_hits: u64,
    pub promoted: u64,
    pub cleaned: u64,
}

/// An array's tier in a run.
#[derive(Debug)]
pub(crate) struct ArrayTier {
    pub tier: SsdCache,
    /// The array of the SSDs.
    pub array: u32,
    decisions: Decisions,
    /// Bytes of a unit of the array, if a line has several.
    unit: Option<u64>,
    /// Lines in a stripe of the SSDs.
    columns: u64,
    /// Lines that requests are writing past the controller's memory.
    past: ReferenceCounts,
    /// What was dirty on SSDs that cannot be read any more, and has not been written since.
    lost: Ranges,
    /// True if the SSDs have failed: the array goes on without.
    gone: bool,
    /// True if the SSDs forget what they have told to be written when the power fails.
    pub forgets: bool,
    /// Lines on their way to the SSDs, and at most.
    copies: u32,
    copies_at_once: u32,
    /// Lines on their way back, and at most.
    cleans: u32,
    cleans_at_once: u32,
    half_life: Nanos,
    cool_at: Time,
    /// Before this nothing is looked up: an empty tier begins its life when recording begins.
    begins: Time,
    /// What each simulated second stands for, and the loads that the rest is drawn from, by
    /// workload.
    lapse: u32,
    shadows: Vec<Option<Load>>,
    batch: Vec<Request>,
    /// Lines that a request has made hot.
    hot: Vec<u64>,
    pub counts: TierCounts,
}

impl ArrayTier {
    /// The tier of array `index` of a plan whose volumes are built.
    ///
    /// # Errors
    /// Says what does not fit.
    pub fn new(
        plan: &Plan,
        index: usize,
        tier: &TierPlan,
        volumes: &[Option<Volume>],
    ) -> Result<ArrayTier, String> {
        let own = volumes[index].as_ref().ok_or("an array past memory")?;
        let fast = volumes[tier.array as usize].as_ref();
        let fast = fast.ok_or("a tier past memory")?;
        let (lines, sectors) = own.groups();
        let line = u64::from(sectors) * raidlab_models::SECTOR;
        if fast.geometry.unit() != line || fast.geometry.parities() > 0 {
            return Err(format!("a stripe unit of {line} bytes, without parity"));
        }
        let lapse = plan.time_lapse.max(1);
        let shadow = |load: &crate::plan::WorkloadPlan| {
            (load.array as usize == index).then(|| Load::shadow(load, plan.seed, "shadow"))
        };
        let begins = Time::ZERO
            + if tier.warm {
                Nanos::ZERO
            } else {
                plan.warm_up_ns
            };
        let half_life = Nanos(tier.half_life_ns.0 / u64::from(lapse));
        let params = SsdCacheParams {
            slots: u32::try_from(fast.geometry.capacity() / line).unwrap_or(u32::MAX),
            lines,
            promote_after: tier.promote_after,
            dirty_share: tier.dirty_share,
        };
        let decisions = Decisions {
            line,
            write_back: tier.write_back,
        };
        Ok(ArrayTier {
            tier: if tier.warm {
                warm::warm(params, decisions, plan, index)?
            } else {
                SsdCache::new(&params)?
            },
            array: tier.array,
            decisions,
            unit: (own.geometry.parities() > 0).then_some(own.geometry.unit()),
            columns: u64::from(fast.geometry.columns()),
            past: ReferenceCounts::with_capacity(64),
            lost: Ranges::default(),
            gone: false,
            forgets: forgets(plan, &plan.arrays[tier.array as usize]),
            copies: 0,
            copies_at_once: tier.copies_at_once,
            cleans: 0,
            cleans_at_once: own.members.len() as u32 * CLEANS_PER_DRIVE,
            half_life,
            cool_at: begins + half_life,
            begins,
            lapse,
            shadows: plan.workloads.iter().map(shadow).collect(),
            batch: Vec::with_capacity(BATCH),
            hot: Vec::with_capacity(64),
            counts: TierCounts::default(),
        })
    }

    /// Bytes of a line.
    pub fn line_bytes(&self) -> u64 {
        self.decisions.line
    }

    fn lines(&self, offset: u64, bytes: u64) -> std::ops::RangeInclusive<u64> {
        self.decisions.lines(offset, bytes)
    }
}

impl System {
    /// A request that the controller's memory cannot serve heats its lines; hot ones are copied to
    /// the tier.
    pub(crate) fn heat(&mut self, id: IoId, now: Time) {
        let io = &self.ios[id];
        let (array, op, offset, bytes, owner) = (io.array, io.op, io.offset, io.bytes, io.owner);
        let Some(tier) = self.raid.tiers[array as usize].as_mut() else {
            return;
        };
        if !matches!(op, Op::Read | Op::Write) || now < tier.begins {
            return;
        }
        if now >= tier.cool_at {
            tier.tier.halve_counts();
            tier.cool_at = now + tier.half_life;
        }
        // What comes from outside callers has no distribution to draw shadows from.
        if let Some(slot) = owner.slot().filter(|_| tier.lapse > 1) {
            let slot = self.slots[slot as usize];
            let thread = slot.thread - self.workloads[slot.workload as usize].first_thread;
            tier.shadow(slot.workload, thread);
        }
        debug_assert!(tier.hot.is_empty());
        let mut here = true;
        for line in tier.lines(offset, bytes) {
            match tier.tier.access(line) {
                Lookup::Hit => {}
                Lookup::Hot => {
                    here = false;
                    tier.hot.push(line);
                }
                Lookup::Cold => here = false,
            }
        }
        let counts = &mut tier.counts;
        if op == Op::Read {
            counts.reads += 1;
            counts.read_hits += u64::from(here);
        } else {
            counts.writes += 1;
            counts.write_hits += u64::from(here && tier.decisions.write_back);
        }
        tier.hot.reverse();
        self.promote_hot(array, now);
    }

    /// Lines that have become hot are copied to the tier; then dirty ones are written back.
    pub(crate) fn promote_hot(&mut self, array: u32, now: Time) {
        let mark = self.agenda.mark();
        while let Some(tier) = self.raid.tiers[array as usize].as_mut() {
            let Some(line) = tier.hot.pop() else {
                break;
            };
            self.promote(array, line, now);
            if self.agenda.rose(mark) {
                return self.agenda.below(mark, Call::Promote(array));
            }
        }
        self.clean_tier(array, now);
    }

    /// The hot spot of a workload moves, and that of its shadow with it.
    pub(crate) fn move_hot_spot(&mut self, workload: u32, start: u64, now: Time) {
        let load = &mut self.workloads[workload as usize];
        load.load.move_hot_spot(start);
        let what = format!("hot spot of {} moves to byte {start}", load.name);
        let array = load.array;
        if let Some(tier) = self.raid.tiers[array as usize].as_mut() {
            if let Some(shadow) = &mut tier.shadows[workload as usize] {
                shadow.move_hot_spot(start);
            }
        }
        self.log(now, what);
    }
}
