//! A system from a plan: checked whole, every fault named at once.

use crate::block_layer::BlockLayer;
use crate::drive::Drive;
use crate::layout::Layout;
use crate::load::Load;
use crate::measure::Meter;
use crate::page_cache::{PageCache, PageCaches};
use crate::plan::{
    Action, ArrayPlan, Arrival, ControllerPlan, DrivePlan, Level, Plan, ReadAhead, Sizes,
    WorkloadPlan, WritePolicy,
};
use crate::raid::{Caching, Geometry, Raid, Store, Streams, Volume};
use crate::system::{Array, Controller, Event, Slot, System, Tally, Workload};
use crate::tier::ArrayTier;
use raidlab_kernel::{Calendar, Nanos, Op, Queue, Slab, Stream, Time, TimeWeighted};
use raidlab_models::{Chip, ChipParams, Device, Fault, Host, Link, Path, Throughput};
use std::collections::VecDeque;

/// I/Os that outside callers may have under way before the slab grows.
const OUTSIDE_IOS: usize = 64;

/// Faults collected under the dotted key at which they stand.
struct Faults(Vec<Fault>);

impl Faults {
    fn add(&mut self, key: String, value: impl std::fmt::Display, allowed: impl Into<String>) {
        self.0.push(Fault::new(key, value, allowed));
    }

    fn under(&mut self, key: &str, faults: Vec<Fault>) {
        let nested = faults.into_iter().map(|fault| Fault {
            key: format!("{key}.{}", fault.key),
            ..fault
        });
        self.0.extend(nested);
    }

    fn index(&mut self, key: String, index: u32, count: usize) -> bool {
        let fits = (index as usize) < count;
        if !fits {
            self.add(key, index, format!("an index below {count}"));
        }
        fits
    }
}

impl System {
    /// The system that a plan describes, at time zero, its workloads about to start.
    ///
    /// # Errors
    /// Every fault of the plan: dotted key, value, what is allowed.
    pub fn new(plan: &Plan) -> Result<System, Vec<Fault>> {
        let mut faults = Faults(Vec::new());
        let links = build_links(plan, &mut faults);
        check_references(plan, &mut faults);
        if !faults.0.is_empty() {
            return Err(faults.0);
        }
        let mut drives = build_drives(plan, &mut faults);
        if drives.len() < plan.drives.len() {
            return Err(faults.0);
        }
        let arrays = build_arrays(plan, &drives, &mut faults);
        if arrays.len() == plan.arrays.len() {
            check_workloads(plan, &arrays, &mut faults);
        }
        if !faults.0.is_empty() {
            return Err(faults.0);
        }
        let (workloads, slots) = build_workloads(plan);
        let threads: u32 = plan.workloads.iter().map(|workload| workload.threads).sum();
        let outside_threads = plan.outside_threads.max(1);
        let requests = slots.len() + OUTSIDE_IOS;
        let ios = requests + commands_at_most(plan, &arrays);
        let mut volumes = build_volumes(plan, &mut drives, &arrays);
        let tiers = build_tiers(plan, &volumes, &mut faults);
        if !faults.0.is_empty() {
            return Err(faults.0);
        }
        let stores = build_stores(plan, &mut volumes);
        for (drive, plan) in drives.iter_mut().zip(&plan.drives) {
            drive.waiting = BlockLayer::new(plan.block_layer, threads as usize + 1, ios);
        }
        let mut system = System {
            calendar: Calendar::with_capacity(ios + 8 * drives.len()),
            ios: Slab::with_capacity(ios),
            host: Host::new(
                &plan.host,
                threads as usize + outside_threads as usize + plan.workloads.len(),
                plan.seed,
            ),
            signalled: vec![
                Queue::default();
                threads as usize + outside_threads as usize + plan.workloads.len()
            ],
            core_look: Time::NEVER,
            links,
            link_names: plan.links.iter().map(|link| link.name.clone()).collect(),
            controllers: plan.controllers.iter().map(build_controller).collect(),
            drives,
            arrays,
            workloads,
            slots,
            outside: VecDeque::with_capacity(OUTSIDE_IOS),
            outside_thread: threads,
            outside_threads,
            inside: TimeWeighted::default(),
            tally: Tally::default(),
            recorded: 0,
            segments: Vec::with_capacity(256),
            raid: Raid::new(plan, volumes, tiers, stores, ios),
            caches: build_caches(plan, threads + outside_threads),
            ending: plan.workloads.iter().filter(|load| load.passes > 0).count() as u32,
            over: None,
        };
        system.start(plan);
        Ok(system)
    }

    fn start(&mut self, plan: &Plan) {
        for (index, event) in plan.events.iter().enumerate() {
            let action = Event::Action(index as u32);
            self.calendar.push(Time::ZERO + event.at_ns, action);
        }
        for (index, workload) in plan.workloads.iter().enumerate() {
            match workload.arrival {
                Arrival::Poisson { per_s } => {
                    let mean = Nanos::from_seconds(1.0 / per_s);
                    let first = self.workloads[index].pauses.exponential(mean);
                    let event = Event::Arrival(index as u32);
                    self.calendar.push(Time::ZERO + first, event);
                }
                Arrival::Closed { .. } => {
                    for slot in 0..self.slots.len() {
                        if self.slots[slot].workload == index as u32 {
                            self.calendar.push(Time::ZERO, Event::Issue(slot as u32));
                        }
                    }
                }
            }
        }
    }
}

/// The bytes that each drive of a plan holds.
///
/// # Errors
/// Every fault of the plan's devices.
pub fn capacities(plan: &Plan) -> Result<Vec<u64>, Vec<Fault>> {
    let mut faults = Faults(Vec::new());
    check_references(plan, &mut faults);
    if !faults.0.is_empty() {
        return Err(faults.0);
    }
    let drives = build_drives(plan, &mut faults);
    if !faults.0.is_empty() {
        return Err(faults.0);
    }
    Ok(drives.iter().map(|d| d.device.capacity_bytes()).collect())
}

/// Commands under way when every slot's request is split into as many as it can be.
fn commands_at_most(plan: &Plan, arrays: &[Array]) -> usize {
    let of_workload = |workload: &WorkloadPlan| {
        let array = &arrays[workload.array as usize];
        let unaligned = plan.arrays[workload.array as usize].stripe_unit_bytes - 1;
        let commands = array
            .layout
            .fan_out(Op::Write, unaligned, workload.block_bytes);
        let places = match workload.arrival {
            Arrival::Closed { outstanding, .. } => outstanding,
            Arrival::Poisson { .. } => workload.threads,
        };
        // A page cache's own requests: writing back, and two windows of each reader.
        let cached = workload.page_cache.as_ref();
        let behind = cached.map_or(0, |cache| cache.requests as usize + 2 * places as usize);
        commands as usize * places as usize + behind
    };
    let widest = arrays.iter().map(|array| array.drives.len()).max();
    let loads: usize = plan.workloads.iter().map(of_workload).sum();
    loads + OUTSIDE_IOS * widest.unwrap_or(1)
}

fn build_links(plan: &Plan, faults: &mut Faults) -> Vec<Link> {
    let mut links = Vec::new();
    for (index, link) in plan.links.iter().enumerate() {
        match Link::new(link) {
            Ok(link) => links.push(link),
            Err(found) => faults.under(&format!("links.{index}"), found),
        }
    }
    links
}

fn check_references(plan: &Plan, faults: &mut Faults) {
    for (i, drive) in plan.drives.iter().enumerate() {
        faults.index(
            format!("drives.{i}.device"),
            drive.device,
            plan.devices.len(),
        );
        for &link in &drive.path {
            faults.index(format!("drives.{i}.path"), link, plan.links.len());
        }
    }
    let mut owner = vec![None; plan.drives.len()];
    for (i, array) in plan.arrays.iter().enumerate() {
        for &drive in array.drives.iter().chain(&array.spares) {
            let key = format!("arrays.{i}.drives");
            if faults.index(key.clone(), drive, plan.drives.len()) {
                if owner[drive as usize].is_some() {
                    faults.add(key, drive, "a drive that no array holds yet");
                }
                owner[drive as usize] = Some(i);
            }
        }
        if let Some(controller) = array.controller {
            let key = format!("arrays.{i}.controller");
            faults.index(key, controller, plan.controllers.len());
        }
    }
    for (i, array) in plan.arrays.iter().enumerate() {
        if let Some(tier) = &array.tier {
            let key = format!("arrays.{i}.tier.array");
            faults.index(key.clone(), tier.array, plan.arrays.len());
            if tier.array as usize == i {
                faults.add(key, tier.array, "another array");
            }
            if plan.data || plan.can_fail() {
                let allowed = "no events but moves of a hot spot: versions stop at the tier";
                faults.add(format!("arrays.{i}.tier"), tier.array, allowed);
            }
        }
    }
    for (i, controller) in plan.controllers.iter().enumerate() {
        if let Some(cache) = &controller.cache {
            for (key, share) in [
                ("dirty_share", cache.dirty_share),
                ("low_share", cache.low_share),
            ] {
                if !(share > 0.0 && share <= 1.0) {
                    let key = format!("controllers.{i}.cache.{key}");
                    faults.add(key, share, "above 0, at most 1");
                }
            }
        }
        if let Some(link) = controller.link {
            faults.index(format!("controllers.{i}.link"), link, plan.links.len());
        }
    }
    for (i, event) in plan.events.iter().enumerate() {
        let sizes = Sizes {
            drives: plan.drives.len(),
            arrays: plan.arrays.len(),
            controllers: plan.controllers.len(),
            workloads: plan.workloads.len(),
        };
        if let Err((key, index, count)) = event.action.check(sizes) {
            faults.index(format!("events.{i}.{key}"), index, count);
        }
        let power = matches!(event.action, Action::PowerFail { .. });
        if power && plan.workloads.iter().any(|w| w.page_cache.is_some()) {
            let allowed =
                "left out where loads go through a page cache, whose loss is not modelled";
            faults.add(format!("events.{i}.action"), "power_fail", allowed);
        }
    }
    for (i, workload) in plan.workloads.iter().enumerate() {
        let key = format!("workloads.{i}.array");
        faults.index(key, workload.array, plan.arrays.len());
    }
}

fn build_drives(plan: &Plan, faults: &mut Faults) -> Vec<Drive> {
    let mut drives = Vec::new();
    for drive in &plan.drives {
        let DrivePlan {
            name, device, path, ..
        } = drive;
        match Device::new(&plan.devices[*device as usize], plan.seed, name) {
            Ok(device) => drives.push(Drive {
                name: name.clone(),
                device,
                path: path.clone(),
                queue_depth: drive.queue_depth,
                in_flight: 0,
                waiting: BlockLayer::new(drive.block_layer, 0, 0),
                load: TimeWeighted::default(),
                position: 0,
            }),
            Err(found) => faults.under(&format!("devices.{device}"), found),
        }
    }
    drives
}

fn build_arrays(plan: &Plan, drives: &[Drive], faults: &mut Faults) -> Vec<Array> {
    let mut arrays = Vec::new();
    for (index, array) in plan.arrays.iter().enumerate() {
        let layout = if in_memory(plan, array) {
            geometry(array, drives).map(|geometry| Layout::of(array.level, &geometry))
        } else {
            Layout::new(array.level, array.stripe_unit_bytes, &sizes(array, drives))
        };
        match layout {
            Ok(layout) => arrays.push(Array {
                name: array.name.clone(),
                layout,
                drives: array.drives.clone(),
                controller: array.controller,
                software: array.software,
                path: if array.fast_path {
                    Path::Fast
                } else if array.level.has_parity() {
                    Path::Parity
                } else {
                    Path::Uncached
                },
                in_memory: in_memory(plan, array),
            }),
            Err(why) => faults.add(format!("arrays.{index}"), &array.name, why),
        }
    }
    arrays
}

/// Whether an array's data pass through memory, where parity is made and the cache lies.
fn in_memory(plan: &Plan, array: &ArrayPlan) -> bool {
    let cached = array.cache.as_ref().is_some_and(|policy| {
        policy.keep_reads
            || policy.write != WritePolicy::WriteThrough
            || policy.read_ahead != ReadAhead::None
    });
    let watched = plan.data || plan.can_fail() || !array.spares.is_empty();
    let tiered = array.tier.is_some() || tier_of(plan, array).is_some();
    array.level.has_parity() || cached || watched || tiered
}

/// The array whose tier an array is.
fn tier_of(plan: &Plan, array: &ArrayPlan) -> Option<usize> {
    plan.arrays.iter().position(|other| {
        let tier = other.tier.as_ref().map(|tier| tier.array as usize);
        tier.is_some_and(|tier| plan.arrays[tier].name == array.name)
    })
}

/// The tiers of the arrays, warm where the plan says so.
fn build_tiers(
    plan: &Plan,
    volumes: &[Option<Volume>],
    faults: &mut Faults,
) -> Vec<Option<ArrayTier>> {
    let mut tiers = Vec::new();
    for (index, array) in plan.arrays.iter().enumerate() {
        let built = array.tier.as_ref().map(|tier| {
            let mut built = ArrayTier::new(plan, index, tier, volumes)?;
            if tier.warm {
                built.warm_up(plan);
            }
            Ok(built)
        });
        match built {
            Some(Err(allowed)) => {
                let _: String = allowed;
                faults.add(format!("arrays.{index}.tier"), &array.name, allowed);
                tiers.push(None);
            }
            Some(Ok(tier)) => tiers.push(Some(tier)),
            None => tiers.push(None),
        }
    }
    tiers
}

/// The caches of the controllers, and how they serve their arrays.
fn build_stores(plan: &Plan, volumes: &mut [Option<Volume>]) -> Vec<Option<Store>> {
    let build = |(index, controller): (usize, &ControllerPlan)| {
        let cache = controller.cache.as_ref()?;
        let (mut arrays, mut spaces, mut drives) = (Vec::new(), Vec::new(), 0);
        for (at, array) in plan.arrays.iter().enumerate() {
            let (Some(policy), Some(volume)) = (&array.cache, &mut volumes[at]) else {
                continue;
            };
            if array.controller != Some(index as u32) {
                continue;
            }
            volume.caching = Some(Caching {
                space: arrays.len() as u32,
                line: Caching::line_of(volume.geometry.unit()),
                write: policy.write,
                read_ahead: policy.read_ahead,
                keep_reads: policy.keep_reads,
                streams: Streams::default(),
            });
            arrays.push(at as u32);
            spaces.push(volume.groups());
            drives += volume.members.len() as u32;
        }
        (!arrays.is_empty()).then(|| Store::new(cache, arrays, &spaces, drives))
    };
    plan.controllers.iter().enumerate().map(build).collect()
}

fn new_meter(plan: &Plan, from: Time, steps: usize) -> Meter {
    let end = from + plan.duration_ns;
    let mut meter = Meter::new(from, end, plan.timeline_step_ns, steps);
    if !plan.events.is_empty() {
        meter.begin_period(Time::ZERO, "the run begins");
    }
    meter
}

fn sizes(array: &ArrayPlan, drives: &[Drive]) -> Vec<u64> {
    let used = match array.used_bytes {
        0 => u64::MAX,
        used => used,
    };
    let size = |&drive: &u32| drives[drive as usize].device.capacity_bytes().min(used);
    array.drives.iter().map(size).collect()
}

fn geometry(array: &ArrayPlan, drives: &[Drive]) -> Result<Geometry, String> {
    let sizes = sizes(array, drives);
    Geometry::new(
        array.level,
        array.rotation,
        array.stripe_unit_bytes,
        array.spans,
        &sizes,
    )
}

/// The volumes of arrays whose data pass through memory: their drives' paths end there, and
/// the controller's link to the host is crossed by the requests themselves.
fn build_volumes(plan: &Plan, drives: &mut [Drive], arrays: &[Array]) -> Vec<Option<Volume>> {
    let build = |(array, built): (&ArrayPlan, &Array)| {
        if !built.in_memory {
            return None;
        }
        let geometry = geometry(array, drives).ok()?;
        let controller = array
            .controller
            .map(|index| &plan.controllers[index as usize]);
        let link = controller.and_then(|controller| controller.link);
        for &drive in array.drives.iter().chain(&array.spares) {
            let path = &mut drives[drive as usize].path;
            if link.is_some() && path.last().copied() == link {
                path.pop();
            }
        }
        let mut volume = Volume::new(geometry, &array.drives, link);
        volume.spares = array.spares.iter().rev().copied().collect();
        volume.background_share = array.background_share;
        if array.controller.is_none() {
            volume.parity = Throughput::new(match array.level {
                Level::Raid6 | Level::Raid60 => plan.host.two_parities_bytes_per_s,
                _ => plan.host.parity_bytes_per_s,
            });
        }
        Some(volume)
    };
    plan.arrays.iter().zip(arrays).map(build).collect()
}

fn check_workloads(plan: &Plan, arrays: &[Array], faults: &mut Faults) {
    for (index, event) in plan.events.iter().enumerate() {
        if let Action::MoveHotSpot {
            workload,
            start_bytes,
        } = event.action
        {
            let load = &plan.workloads[workload as usize];
            let spot = load.hot_spot.as_ref().map(|spot| spot.bytes);
            let end = load.area_start_bytes + load.area_bytes;
            let inside = spot.is_some_and(|bytes| {
                start_bytes >= load.area_start_bytes && start_bytes.saturating_add(bytes) <= end
            });
            if !inside {
                let allowed = "inside the area of a workload with a hot spot";
                faults.add(format!("events.{index}.start_bytes"), start_bytes, allowed);
            }
        }
    }
    for (index, workload) in plan.workloads.iter().enumerate() {
        let mut check = |fits: bool, key: &str, value: String, allowed: String| {
            if !fits {
                faults.add(format!("workloads.{index}.{key}"), value, allowed);
            }
        };
        let capacity = arrays[workload.array as usize].layout.capacity();
        let WorkloadPlan {
            threads,
            read_share,
            block_bytes,
            align_bytes,
            area_start_bytes,
            area_bytes,
            ..
        } = *workload;
        check(
            threads > 0,
            "threads",
            threads.to_string(),
            "1 or more".into(),
        );
        check(
            (0.0..=1.0).contains(&read_share),
            "read_share",
            read_share.to_string(),
            "0 to 1".into(),
        );
        check(
            block_bytes > 0,
            "block_bytes",
            block_bytes.to_string(),
            "1 or more".into(),
        );
        check(
            align_bytes > 0,
            "align_bytes",
            align_bytes.to_string(),
            "1 or more".into(),
        );
        check(
            area_start_bytes % align_bytes.max(1) == 0,
            "area_start_bytes",
            area_start_bytes.to_string(),
            format!("a multiple of {align_bytes}"),
        );
        check(
            area_bytes >= block_bytes.saturating_mul(u64::from(threads)),
            "area_bytes",
            area_bytes.to_string(),
            format!("at least a block of {block_bytes} for each thread"),
        );
        check(
            area_start_bytes.saturating_add(area_bytes) <= capacity,
            "area_bytes",
            area_bytes.to_string(),
            format!("at most {capacity} from the start of the array"),
        );
        if let Some(spot) = &workload.hot_spot {
            let (first, end) = (
                spot.start_bytes,
                spot.start_bytes.saturating_add(spot.bytes),
            );
            let inside = first >= area_start_bytes && end <= area_start_bytes + area_bytes;
            check(
                inside && spot.bytes >= block_bytes && (0.0..=1.0).contains(&spot.share),
                "hot_spot",
                format!("{} of {first} to {end}", spot.share),
                "a share of 0 to 1; a block or more inside the area".into(),
            );
        }
        match workload.arrival {
            Arrival::Closed { outstanding, .. } => check(
                outstanding > 0 && outstanding <= 1 << 20,
                "arrival.outstanding",
                outstanding.to_string(),
                "1 to 1048576".into(),
            ),
            Arrival::Poisson { per_s } => check(
                per_s > 0.0 && per_s <= 1e8,
                "arrival.per_s",
                per_s.to_string(),
                "above 0, at most 1e8".into(),
            ),
        }
    }
}

fn build_controller(plan: &ControllerPlan) -> Controller {
    let request = plan.request_ns;
    Controller {
        name: plan.name.clone(),
        queue_depth: plan.queue_depth,
        chip: Chip::new(&ChipParams {
            cores: plan.cores,
            uncached_ns: request,
            cached_ns: plan.cached_request_ns.unwrap_or(request),
            parity_ns: plan.parity_request_ns.unwrap_or(request),
            fast_path_ns: plan.fast_path_request_ns.unwrap_or(request),
            command_ns: plan.command_ns,
            tier_ns: plan.tier_ns,
            latency_ns: plan.latency_ns,
            parity_bytes_per_s: plan.parity_bytes_per_s,
            memory_bytes_per_s: plan.memory_bytes_per_s,
        }),
        in_work: 0,
        waiting: Queue::default(),
        load: TimeWeighted::default(),
    }
}

/// The page caches of the loads that go through one; their flushers' threads come last.
fn build_caches(plan: &Plan, first_flusher: u32) -> PageCaches {
    let build = |(load, flusher): (&WorkloadPlan, u32)| {
        let params = load.page_cache?;
        Some(Box::new(PageCache::new(load, params, flusher)))
    };
    PageCaches {
        of_workload: plan
            .workloads
            .iter()
            .zip(first_flusher..)
            .map(build)
            .collect(),
        ..PageCaches::default()
    }
}

fn build_workloads(plan: &Plan) -> (Vec<Workload>, Vec<Slot>) {
    let steps = (plan.warm_up_ns + plan.duration_ns)
        .0
        .checked_div(plan.timeline_step_ns.0);
    let steps = steps.map_or(0, |steps| steps as usize + 1);
    let (mut workloads, mut slots) = (Vec::new(), Vec::new());
    let mut first_thread = 0;
    for (index, workload) in plan.workloads.iter().enumerate() {
        let places = match workload.arrival {
            Arrival::Closed { outstanding, .. } => outstanding,
            Arrival::Poisson { .. } => workload.threads,
        };
        slots.extend((0..places).map(|place| Slot {
            workload: index as u32,
            thread: first_thread + place % workload.threads,
        }));
        let from = Time::ZERO + plan.warm_up_ns;
        workloads.push(Workload {
            name: workload.name.clone(),
            array: workload.array,
            meter: new_meter(plan, from, steps),
            load: Load::new(workload, plan.seed),
            arrival: workload.arrival,
            threads: workload.threads,
            first_thread,
            next_thread: 0,
            pauses: Stream::new(plan.seed, &workload.name, "pause"),
            busy_slots: places,
        });
        first_thread += workload.threads;
    }
    (workloads, slots)
}
