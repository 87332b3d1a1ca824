//! Arrays from a plan: layouts, volumes whose data pass through memory, caches, SSD caches.

use crate::ids::{ArrayId, ControllerId, DriveId, LinkId};
use crate::layout::Layout;
use crate::plan::{
    Arrangement, ArrayPlan, ControllerPlan, Level, Plan, ReadAhead, TierPlan, WritePolicy,
};
use crate::raid::cache::memory::{Caching, ControllerMemory, Lane, Memories};
use crate::raid::redirect::Redirect;
use crate::raid::volume::Volume;
use crate::run::build::faults::Faults;
use crate::ssd_cache::{self, SsdCaches};
use crate::state::drive::Drive;
use crate::state::flushes::MdFlushes;
use crate::state::read_balance::{CopyChoice, ReadBalance};
use crate::state::records::{Array, SharedLine};
use raidlab_kernel::Table;
use raidlab_models::{FirmwareRoute, PageTimes, SpaceId, StripeThread};

pub(crate) fn build_arrays(plan: &Plan, drives: &[Drive], faults: &mut Faults) -> Vec<Array> {
    let mut arrays = Vec::new();
    for (index, array) in plan.arrays.iter().enumerate() {
        match layout(array, drives) {
            Ok(layout) => arrays.push(Array {
                name: array.name.clone(),
                layout,
                drives: ids(&array.drives).into(),
                spares: ids(&array.spares),
                single: match array.drives[..] {
                    [drive] if array.level == Level::Jbod => Some(DriveId::new(drive)),
                    _ => None,
                },
                controller: array.controller.map(ControllerId::new),
                software: array.software,
                shared: SharedLine::of(array.md),
                md_flushes: MdFlushes::of(array.md),
                choice: copy_choice(plan, array),
                path: if array.fast_path {
                    FirmwareRoute::Fast
                } else if array.level.has_parity() && !array.software {
                    FirmwareRoute::Parity
                } else {
                    FirmwareRoute::Uncached
                },
                in_memory: in_memory(plan, array),
                straight: !passes_memory(plan, array),
                cached_by_host: array.tier.is_some() && array.controller.is_none(),
                mirrors: mirrors(plan, array),
            }),
            Err(why) => faults.add(format!("arrays.{index}"), &array.name, why),
        }
    }
    arrays
}

/// Whether `raid/` does an array's work: its data pass through memory, or what becomes of them is
/// asked.
fn in_memory(plan: &Plan, array: &ArrayPlan) -> bool {
    let asked = plan.data || plan.can_fail() || !array.spares.is_empty();
    passes_memory(plan, array) || mirrors(plan, array) || array.bitmap.is_some() || asked
}

/// What a mirror chooses a copy by.
fn copy_choice(plan: &Plan, array: &ArrayPlan) -> CopyChoice {
    if array.md_reads {
        let by_load = !array.md.flash_as_disks;
        let arrangement = array.copies.map(|copies| copies.arrangement);
        return CopyChoice::Md(match (array.level, arrangement) {
            (Level::Raid1, _) => ReadBalance::Streams,
            (Level::Raid1e, _) | (_, Some(Arrangement::Far | Arrangement::Offset)) => {
                ReadBalance::Lowest { by_load }
            }
            _ => ReadBalance::Idle { by_load },
        });
    }
    let drives = array.drives.iter().chain(&array.spares);
    let mut models = drives.map(|&drive| plan.drives.get(drive as usize).map(|it| it.device));
    let first = models.next();
    if !models.all(|model| Some(model) == first) {
        CopyChoice::Expected
    } else if array.software {
        CopyChoice::ShortestQueue
    } else if array.one_copy_streams {
        CopyChoice::OneForStream
    } else {
        CopyChoice::Nearest
    }
}

/// Whether copies are made in memory: by a controller that has one.
fn mirrors(plan: &Plan, array: &ArrayPlan) -> bool {
    let controller = array.controller.filter(|_| !array.software);
    let memory = controller.and_then(|at| plan.controllers[at as usize].cache.as_ref());
    array.level.has_copies() && memory.is_some()
}

/// Whether an array's data pass through memory, where parity is made and the cache lies.
fn passes_memory(plan: &Plan, array: &ArrayPlan) -> bool {
    let cached = array.cache.as_ref().is_some_and(|policy| {
        policy.keep_reads
            || policy.write != WritePolicy::WriteThrough
            || policy.read_ahead != ReadAhead::None
    });
    let redirected = array.tier.is_some() || ssd_cache_of(plan, array).is_some();
    array.level.has_parity() || cached || redirected
}

/// Drives by their numbers in the plan.
fn ids(drives: &[u32]) -> Vec<DriveId> {
    drives.iter().copied().map(DriveId::new).collect()
}

/// The array whose SSD cache an array is.
fn ssd_cache_of(plan: &Plan, array: &ArrayPlan) -> Option<usize> {
    plan.arrays.iter().position(|other| {
        let tier = other.tier.as_ref().map(|tier| tier.array as usize);
        tier.is_some_and(|tier| plan.arrays[tier].name == array.name)
    })
}

/// The SSD caches of the arrays: where lines lie, and when they move.
pub(crate) fn build_ssd_caches(
    plan: &Plan,
    volumes: &[Option<Volume>],
    faults: &mut Faults,
) -> (Vec<Option<Redirect>>, SsdCaches) {
    let (mut redirects, mut policies) = (Vec::new(), Vec::new());
    for (index, array) in plan.arrays.iter().enumerate() {
        let tier = array.tier.as_ref();
        let built = tier.map(|tier| ssd_cache::build(plan, index, tier, volumes));
        if let Some(Err(allowed)) = &built {
            faults.add(format!("arrays.{index}.tier"), &array.name, allowed.clone());
        }
        let (redirect, policy) = built.and_then(Result::ok).unzip();
        redirects.push(redirect);
        policies.push(policy);
    }
    let caches = SsdCaches {
        of_array: policies.into(),
    };
    (redirects, caches)
}

/// The caches of the controllers, and how they serve their arrays.
pub(crate) fn build_memories(plan: &Plan, volumes: &mut [Option<Volume>]) -> Memories {
    let mut served: Vec<Option<Caching>> = plan.arrays.iter().map(|_| None).collect();
    let build = |(index, controller): (usize, &ControllerPlan)| {
        let cache = controller.cache.as_ref()?;
        let (mut lanes, mut spaces) = (Vec::new(), Vec::new());
        for (at, array) in plan.arrays.iter().enumerate() {
            let lane = |drives: usize, units: usize| {
                let parts = (drives as u32).saturating_mul(cache.destages_per_drive);
                let at_most = parts.saturating_mul(units as u32);
                Lane::new(ArrayId::new(at as u32), at_most.max(1), parts.max(1))
            };
            let on_ssd_cache = |tier: &TierPlan| plan.arrays[tier.array as usize].drives.len();
            let fast = array.tier.as_ref().map(on_ssd_cache);
            let (Some(policy), Some(volume)) = (&array.cache, &mut volumes[at]) else {
                continue;
            };
            if array.controller != Some(index as u32) {
                continue;
            }
            let space = SpaceId::new(lanes.len() as u32);
            volume.set_cached();
            let ssd_space = fast.map(|_| space.plus(1));
            let caching = Caching::new(
                ControllerId::new(index as u32),
                space,
                ssd_space,
                volume,
                policy,
            );
            served[at] = Some(caching);
            // Without parity a group is a unit on one drive, not a stripe on all of them: a stream
            // needs as many in flight. Parts of units are counted as a stripe's are.
            let units = match volume.geometry().parities() {
                0 => volume.geometry().columns() as usize,
                _ => 1,
            };
            lanes.push(lane(volume.places().all().len(), units));
            lanes.extend(fast.map(|drives| lane(drives, 1)));
            spaces.resize(lanes.len(), volume.groups());
        }
        (!lanes.is_empty()).then(|| ControllerMemory::new(cache, lanes.into(), &spaces))
    };
    let caches = plan.controllers.iter().enumerate().map(build).collect();
    Memories::new(served.into(), caches)
}

fn sizes(array: &ArrayPlan, drives: &[Drive]) -> Vec<u64> {
    let used = match array.used_bytes {
        0 => u64::MAX,
        used => used,
    };
    let size = |&drive: &u32| drives[drive as usize].device.capacity_bytes().min(used);
    array.drives.iter().map(size).collect()
}

fn layout(array: &ArrayPlan, drives: &[Drive]) -> Result<Layout, String> {
    let sizes = sizes(array, drives);
    if let Some(copies) = array.copies {
        return Layout::copied(copies, array.stripe_unit_bytes, &sizes);
    }
    if let Some(plan) = array.declustered {
        return Layout::declustered(array.level, plan, array.stripe_unit_bytes, &sizes);
    }
    Layout::new(
        array.level,
        array.rotation,
        array.stripe_unit_bytes,
        array.spans,
        &sizes,
    )
}

/// The volumes of arrays: where data pass through a controller's memory, their drives' paths end
/// there, and its link to the host is crossed by the requests themselves; elsewhere only the paths
/// of the controller's own work end there. All paths of an array in the host go on to it.
pub(crate) fn build_volumes(
    plan: &Plan,
    drives: &mut Table<DriveId, Drive>,
    arrays: &[Array],
) -> Vec<Option<Volume>> {
    let build = |(array, built): (&ArrayPlan, &Array)| {
        if !built.in_memory {
            return None;
        }
        let controller = built
            .raid_controller()
            .map(|id| &plan.controllers[id.index()]);
        let link = controller.and_then(|controller| controller.link);
        let link = link.map(LinkId::new);
        for &drive in built.drives.iter().chain(&built.spares) {
            let drive = &mut drives[drive];
            if link.is_some() && drive.path.last().copied() == link {
                drive.own_hops = drive.path.len() as u8 - 1;
                if !built.straight {
                    drive.path.pop();
                }
            }
        }
        let host_link = link.filter(|_| !built.straight || built.mirrors);
        let mut volume = Volume::new(built.layout.clone(), built.drives.as_slice(), host_link);
        if controller.is_none() {
            let rate = match array.level.parities() {
                2.. => plan.host.two_parities_bytes_per_s,
                _ => plan.host.parity_bytes_per_s,
            };
            let whole = plan.host.stripe_page_ns;
            let times = PageTimes {
                whole,
                reread: plan.host.stripe_reread_ns.unwrap_or(whole),
            };
            let thread = StripeThread::new(rate, times, array.md.threads);
            volume.set_host(thread, array.md.stripe_cache);
            if let Some(bitmap) = array.bitmap {
                volume.set_bitmap(bitmap);
            }
        }
        Some(volume)
    };
    plan.arrays.iter().zip(arrays).map(build).collect()
}
