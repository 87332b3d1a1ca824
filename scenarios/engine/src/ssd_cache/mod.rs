//! An SSD cache over an array: requests are looked up in it, hot lines move to it, dirty ones
//! back, as fast as the array's own drives allow.
//!
//! A line is what leaves the controller's cache together: a stripe unit or, with parity, the data
//! of a stripe, so that what comes back from the SSD cache is a full stripe. Which lines are there, and
//! which deserve to be, is decided in `raidlab_models::SsdCache`; copies are jobs like all others, and
//! compete with the load for drives.
//!
//! **Time lapse.** An SSD cache fills in hours, while a second of load says how fast the system is with
//! the lines that the SSD cache has now. With a time lapse of `k` each simulated second stands for `k`
//! seconds of the SSD cache's life: beside every request `k - 1` shadows, drawn from the same
//! distribution, count accesses, promote and dirty lines as a request would, but move no data. See
//! docs/explanation/ssd-cache.md.

pub(crate) mod copy;
mod sequential;
pub(crate) mod shadow;
pub(crate) mod warm;

use crate::ids::{ArrayId, WorkloadId};
use crate::path::IoPath;
use crate::path::agenda::SsdCacheCall;
use crate::plan::{ArrayPlan, Plan, TierPlan};
use crate::raid::Raid;
use crate::raid::redirect::{NewData, Redirect, SlotLayout};
use crate::raid::volume::Volume;
use crate::ssd_cache::sequential::Sequential;
use crate::ssd_cache::shadow::{BATCH, Decisions, Shadow};
use crate::state::load::Load;
use crate::state::owner::OwnerOf;
use raidlab_io::{IoId, Op};
use raidlab_kernel::{Divider, Nanos, Table, Time};
use raidlab_models::{ArrayLine, DeviceParams, Lookup, SsdCache, SsdCacheParams};

/// Lines being written back to each of the array's drives at once. Assumed: enough to keep a
/// drive busy beside a load, too few to fill its queue.
const CLEANS_PER_DRIVE: u32 = 2;

/// Whether a drive of an array acknowledges a write before it is on its medium. An SSD cache of
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

/// What an SSD cache has done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SsdCacheCounts {
    pub reads: u64,
    pub read_hits: u64,
    pub writes: u64,
    pub write_hits: u64,
    pub promoted: u64,
    pub cleaned: u64,
}

/// When lines move between an array and its SSD cache, and how many at once.
#[derive(Debug)]
pub(crate) struct CachePolicy {
    decisions: Decisions,
    /// True if the SSDs forget what they have acknowledged when the power fails.
    pub forgets: bool,
    /// Lines in flight to the SSDs, and at most.
    copies: u32,
    copies_at_once: u32,
    /// Lines being written back, and at most.
    cleans: u32,
    cleans_at_once: u32,
    half_life: Nanos,
    cool_at: Time,
    /// Before this nothing is looked up: an empty cache begins its life when recording begins.
    begins: Time,
    /// What each simulated second stands for, and the loads that the rest is drawn from, by
    /// workload.
    lapse: u32,
    shadows: Table<WorkloadId, Option<Load>>,
    batch: Vec<Shadow>,
    /// Lines that a request has made hot, the next one last.
    hot: Vec<ArrayLine>,
    /// What of its loads is a stream that no line of moves to the SSDs.
    sequential: Sequential,
    /// True if writes make no line hot.
    reads_alone_promote: bool,
    pub counts: SsdCacheCounts,
}

/// All SSD caches of a system.
#[derive(Debug)]
pub(crate) struct SsdCaches {
    /// By array.
    pub of_array: Table<ArrayId, Option<CachePolicy>>,
}

/// The SSD cache of array `index` of a plan whose volumes are built: where its lines lie, and when
/// they move.
///
/// # Errors
/// Says what does not fit.
pub(crate) fn build(
    plan: &Plan,
    index: usize,
    tier: &TierPlan,
    volumes: &[Option<Volume>],
) -> Result<(Redirect, CachePolicy), String> {
    let own = volumes[index]
        .as_ref()
        .ok_or("an array that bypasses controller memory")?;
    let fast = volumes[tier.array as usize].as_ref();
    let fast = fast.ok_or("an SSD cache that bypasses controller memory")?;
    let (lines, sectors) = own.groups();
    let line = u64::from(sectors) * raidlab_models::SECTOR;
    if fast.geometry().unit() != line || fast.geometry().parities() > 0 {
        return Err(format!("a stripe unit of {line} bytes, without parity"));
    }
    let divider = u32::try_from(line).map(Divider::new);
    let divider = divider.map_err(|_| format!("a line of {line} bytes; less than 4 GiB"))?;
    let params = SsdCacheParams {
        slots: u32::try_from(fast.geometry().capacity() / line).unwrap_or(u32::MAX),
        lines,
        promote_after: tier.promote_after,
        dirty_share: tier.dirty_share,
    };
    let new_data = match (tier.write_back, tier.host) {
        (true, host) if host.allocates => NewData::ToNewSlots,
        (true, _) => NewData::ToSsds,
        (false, host) if host.through => NewData::ToBoth,
        (false, _) => NewData::Bypass,
    };
    let decisions = Decisions {
        line: divider,
        new_data,
    };
    let map = if tier.warm {
        warm::warm(params, decisions, tier.half_life_ns, plan, index)?
    } else {
        SsdCache::new(&params)?
    };
    let slots = SlotLayout {
        array: ArrayId::new(tier.array),
        line: divider,
        columns: u64::from(fast.geometry().columns()),
        unit: (own.geometry().parities() > 0).then_some(own.geometry().unit()),
    };
    let redirect = Redirect::new(map, slots, new_data);
    let cleans_at_once = own.places().all().len() as u32 * CLEANS_PER_DRIVE;
    Ok((
        redirect,
        CachePolicy::new(plan, index, tier, decisions, cleans_at_once),
    ))
}

impl CachePolicy {
    fn new(
        plan: &Plan,
        index: usize,
        tier: &TierPlan,
        decisions: Decisions,
        cleans_at_once: u32,
    ) -> CachePolicy {
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
        CachePolicy {
            decisions,
            forgets: forgets(plan, &plan.arrays[tier.array as usize]),
            copies: 0,
            copies_at_once: tier.copies_at_once,
            cleans: 0,
            cleans_at_once,
            half_life,
            cool_at: begins + half_life,
            begins,
            lapse,
            shadows: plan.workloads.iter().map(shadow).collect(),
            batch: Vec::with_capacity(BATCH),
            hot: Vec::with_capacity(64),
            sequential: Sequential::new(tier.host.sequential_cutoff_bytes),
            reads_alone_promote: tier.host.reads_alone_promote,
            counts: SsdCacheCounts::default(),
        }
    }
}

impl SsdCaches {
    /// A request that the controller's memory cannot serve counts as an access to its lines; hot
    /// ones are copied to the SSD cache.
    pub(crate) fn count_access(&mut self, raid: &mut Raid, path: &mut IoPath, id: IoId, now: Time) {
        let io = &path.ios[id];
        let (array, op, range, owner) = (io.array, io.op, io.range(), io.owner);
        let Some(redirect) = raid.stripes_mut().state_mut().redirect_mut(array) else {
            return;
        };
        let Some(cache) = self.of_array[array].as_mut() else {
            return;
        };
        if !matches!(op, Op::Read | Op::Write) || now < cache.begins || redirect.has_failed() {
            return;
        }
        if now >= cache.cool_at {
            redirect.map_mut().halve_counts();
            cache.cool_at = now + cache.half_life;
        }
        // What comes from outside callers has no distribution to draw shadows from.
        if let Some(slot) = owner.slot().filter(|_| cache.lapse > 1) {
            let slot = path.slots[slot];
            cache.shadow(redirect.map_mut(), slot.workload, slot.own);
        }
        debug_assert!(cache.hot.is_empty());
        let streams = cache.sequential.meet(range);
        let promotes = !streams && (op == Op::Read || !cache.reads_alone_promote);
        let mut here = true;
        for line in redirect.lines(range) {
            match redirect.map_mut().access(line) {
                Lookup::Hit => {}
                Lookup::Hot => {
                    here = false;
                    if promotes {
                        cache.hot.push(line);
                    }
                }
                Lookup::Cold => here = false,
            }
        }
        let counts = &mut cache.counts;
        if op == Op::Read {
            counts.reads += 1;
            counts.read_hits += u64::from(here);
        } else {
            counts.writes += 1;
            counts.write_hits += u64::from(here && redirect.writes_back());
        }
        cache.hot.reverse();
        self.promote_hot(raid, path, array, now);
    }

    /// Lines that have become hot are copied to the SSD cache; then dirty ones are written back.
    pub(crate) fn promote_hot(
        &mut self,
        raid: &mut Raid,
        path: &mut IoPath,
        array: ArrayId,
        now: Time,
    ) {
        let mark = path.agenda.mark();
        while let Some(cache) = self.of_array[array].as_mut() {
            let Some(line) = cache.hot.pop() else {
                break;
            };
            self.promote(raid, path, array, line, now);
            if path.agenda.rose(mark) {
                return path.agenda.below(mark, SsdCacheCall::Promote(array));
            }
        }
        self.write_lines_back(raid, path, array, now);
    }

    /// The hot spot of a workload moves, and that of its shadow with it.
    pub(crate) fn move_shadow_spot(&mut self, array: ArrayId, workload: WorkloadId, start: u64) {
        if let Some(cache) = self.of_array[array].as_mut() {
            if let Some(shadow) = &mut cache.shadows[workload] {
                shadow.move_hot_spot(start);
            }
        }
    }

    /// The power fails: copies end with it.
    pub(crate) fn forget_copies(&mut self) {
        for cache in self.of_array.iter_mut().flatten() {
            (cache.copies, cache.cleans) = (0, 0);
        }
    }
}
