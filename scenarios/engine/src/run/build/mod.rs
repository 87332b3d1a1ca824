//! A system from a plan: checked whole, every fault named at once.

mod arrays;
mod check;
mod durability;
mod faults;
mod memory;

use crate::host::durability::{Durability, own_threads};
use crate::host::page_cache::{PageCache, PageCaches};
use crate::ids::{ArrayId, DriveId, LinkId, PlaceId, ThreadId, WorkloadId};
use crate::integrity::Integrity;
use crate::layout::Layout;
use crate::path::IoPath;
use crate::path::agenda::Agenda;
use crate::path::interrupts::Interrupts;
use crate::path::loads::Loads;
use crate::path::loads::clients::Clients;
use crate::path::loads::tenants::Tenants;
use crate::path::loads::threads::Threads;
use crate::path::outside::{Outbox, OutsideThreads};
use crate::plan::{ArrayPlan, Arrival, ControllerPlan, DrivePlan, Plan, UNTIL_OVER, WorkloadPlan};
use crate::raid::Raid;
use crate::raid::background::Background;
use crate::raid::background::window::Rows;
use crate::raid::cache::ControllerCache;
use crate::raid::jobs::Stripes;
use crate::raid::redirect::Redirects;
use crate::raid::volume::Volumes;
use crate::run::build::arrays::{build_arrays, build_memories, build_ssd_caches, build_volumes};
use crate::run::build::check::{check_bitmaps, check_references, check_workloads};
use crate::run::build::faults::Faults;
use crate::run::build::memory::Needs;
use crate::run::layers::Layers;
use crate::run::livelock::Clock;
use crate::run::meets::Meets;
use crate::run::system::System;
use crate::state::arrivals::Arrivals;
use crate::state::backlog::Backlog;
use crate::state::block_layer::BlockLayer;
use crate::state::drive::Drive;
use crate::state::drive::Health;
use crate::state::event::{Event, RunEvent};
use crate::state::flushes::Flushes;
use crate::state::load::Load;
use crate::state::log::Log;
use crate::state::measure::Meter;
use crate::state::records::Array;
use crate::state::records::Controller;
use crate::state::records::Slot;
use crate::state::records::Workload;
use crate::state::shares::Shares;
use crate::state::traced::Traced;
use raidlab_io::{ByteRange, Io, Op, Queue};
use raidlab_kernel::{Calendar, Slab, Stream, Table, Time, TimeWeighted};
use raidlab_models::{Chip, ChipParams, Device, Fault, Host, Limits, Link, Pauses};
use raidlab_traces::Options;

/// I/Os that outside callers may have in flight before the slab grows.
const OUTSIDE_IOS: usize = 64;
/// From this number of drives on a system's state exceeds the processor's cache. About 20 KB a
/// drive and its load, against 1 to 2 MB.
const LARGE: usize = 64;

impl System {
    /// The system that a plan describes, at time zero, its workloads about to start.
    ///
    /// # Errors
    /// Every fault of the plan: dotted key, value, what is allowed.
    pub fn new(plan: &Plan) -> Result<System, Vec<Fault>> {
        let mut faults = Faults(Vec::new());
        let links = build_links(plan, &mut faults);
        check_references(plan, &mut faults);
        faults.none()?;
        let mut needs = Needs::of_drives(plan);
        needs.check(&mut faults)?;
        let mut drives = build_drives(plan, &mut faults);
        if drives.len() < plan.drives.len() {
            return Err(faults.0);
        }
        let arrays = build_arrays(plan, drives.as_slice(), &mut faults);
        if arrays.len() == plan.arrays.len() {
            check_workloads(plan, &arrays, &mut faults);
            check_bitmaps(plan, &arrays, &mut faults);
        }
        faults.none()?;
        let commands = commands_at_most(plan, &arrays);
        let layouts: Vec<&Layout> = arrays.iter().map(|array| &array.layout).collect();
        needs.add_the_rest(&layouts, commands);
        needs.check(&mut faults)?;
        let (workloads, slots) = build_workloads(plan, &mut faults);
        let threads: u32 = plan.workloads.iter().map(|workload| workload.threads).sum();
        let outside_threads = plan.outside_threads.max(1);
        let all_threads = (threads + outside_threads) as usize + own_threads(plan);
        let ios = slots.len() + OUTSIDE_IOS + commands;
        let durability = Durability::new(plan, slots.len());
        let mut volumes = build_volumes(plan, &mut drives, &arrays);
        let (redirects, ssd_caches) = build_ssd_caches(plan, &volumes, &mut faults);
        faults.none()?;
        let memories = build_memories(plan, &mut volumes);
        for (drive, plan) in drives.iter_mut().zip(&plan.drives) {
            drive.waiting = BlockLayer::new(plan.block_layer, all_threads, ios);
        }
        let stripes = Stripes::new(Volumes::new(volumes), Redirects::new(redirects), ios);
        let background = Background::new(plan);
        let path = IoPath {
            calendar: Calendar::with_capacity(ios + 8 * drives.len()),
            ios: Slab::with_capacity(ios),
            agenda: Agenda::with_capacity(64),
            handed_in: Io::NONE,
            interrupts: plan.host.coalescing.as_ref().map(Interrupts::new),
            links: links.into(),
            controllers: plan.controllers.iter().map(build_controller).collect(),
            arrays: arrays.into(),
            slots,
            outside_threads: OutsideThreads::new(ThreadId::new(threads), outside_threads),
            outside: Outbox::with_capacity(OUTSIDE_IOS),
            inside: TimeWeighted::default(),
            can_fail: plan.data || plan.can_fail(),
            off_until: Time::ZERO,
            integrity: plan
                .data
                .then(|| Integrity::new(plan.seed, drives.len(), plan.arrays.len())),
            log: Log::default(),
            drives,
        };
        let caches = build_caches(plan, threads + outside_threads);
        let loads = build_loads(plan, workloads, all_threads);
        let mut system = System {
            layers: Layers {
                path,
                loads,
                raid: Raid::new(stripes, ControllerCache::new(memories), background),
                ssd_caches,
            },
            caches,
            durability,
            load_threads: threads + plan.jobs.as_ref().map_or(0, |_| outside_threads),
            meets: Meets::of(plan),
            link_names: plan.links.iter().map(|link| link.name.clone()).collect(),
            actions: Vec::from_iter(plan.events.iter().map(|event| event.action.clone())),
            failed: None,
            clock: Clock::default(),
            memory_bytes: plan.memory_bytes,
            is_large: plan.drives.len() >= LARGE,
        };
        system.start(plan);
        Ok(system)
    }

    pub(crate) fn start(&mut self, plan: &Plan) {
        for (index, event) in plan.events.iter().enumerate() {
            let action = RunEvent::Action(index as u32).into();
            self.layers
                .path
                .calendar
                .push(Time::ZERO + event.at_ns, action);
        }
        for (id, workload) in (0..).map(WorkloadId::new).zip(&plan.workloads) {
            match workload.arrival {
                Arrival::Poisson { .. } | Arrival::Patterned { .. } | Arrival::Traced { .. } => {
                    let load = self.layers.loads.records_mut().workload_mut(id);
                    let Some(arrivals) = &mut load.arrivals else {
                        continue;
                    };
                    let first = arrivals.next(Time::ZERO, &mut load.pauses);
                    let event = Event::Arrival(id);
                    // Each place of a closed loop over a trace takes a request.
                    let places = match workload.arrival {
                        _ if first == Time::NEVER => 0,
                        Arrival::Traced { outstanding, .. } => outstanding.max(1),
                        _ => 1,
                    };
                    for _ in 0..places {
                        self.layers.path.calendar.push(first, event);
                    }
                }
                Arrival::Closed { .. } => {
                    let Layers { path, loads, .. } = &mut self.layers;
                    let first = loads.slot_of(path, id, 0).index();
                    let own = path.slots.entries().skip(first);
                    for (place, _) in own.take_while(|(_, slot)| slot.workload == id) {
                        path.calendar.push(Time::ZERO, Event::Issue(place));
                    }
                }
            }
        }
    }
}

/// The loads, and the host's threads on which they run.
fn build_loads(plan: &Plan, workloads: Table<WorkloadId, Workload>, threads: usize) -> Loads {
    let ends = |load: &&Workload| load.ends || load.load.has_end();
    let ending = workloads.iter().filter(ends).count();
    let host = Host::new(&plan.host, threads, plan.seed);
    let shares = plan.arrays.iter().enumerate();
    let shares = shares.map(|(index, array)| Shares::of(plan, index, array));
    let threads = Threads::new(host, threads, Clients::of(&plan.workloads));
    Loads::new(
        workloads,
        shares.collect(),
        Tenants::of(plan),
        threads,
        ending as u32,
    )
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

/// Bytes that the drives and caches of a plan take: nearly all of what a run takes.
pub fn memory_of(plan: &Plan) -> u64 {
    let mut needs = Needs::of_drives(plan);
    needs.add_controllers();
    needs.bytes()
}

/// Commands in flight when every slot's request is split into as many as it can be.
fn commands_at_most(plan: &Plan, arrays: &[Array]) -> usize {
    let of_workload = |workload: &WorkloadPlan| {
        let array = &arrays[workload.array as usize];
        let unaligned = plan.arrays[workload.array as usize].stripe_unit_bytes - 1;
        let commands = array
            .layout
            .commands(Op::Write, ByteRange::new(unaligned, workload.block_bytes));
        let places = workload.places();
        // A page cache's own requests: writing back, and two windows of each reader.
        let cached = workload.page_cache.as_ref();
        let behind = cached.map_or(0, |cache| cache.requests as usize + 2 * places as usize);
        // An SSD cache's copies, and a job above each command to its drives.
        let tier = plan.arrays[workload.array as usize].tier.as_ref();
        let (jobs, copies) = tier.map_or((1, 0), |tier| (2, 2 * tier.copies_at_once as usize));
        (jobs as usize)
            .saturating_mul(commands as usize)
            .saturating_mul(places as usize)
            .saturating_add(copies + behind)
    };
    // A row of a task in the background is a job with a command for each drive.
    let of_tasks = |array: &ArrayPlan| {
        let rows = Rows::of_array(plan, array).most as usize;
        rows * (array.drives.len() + 1)
    };
    let tasks = plan.arrays.iter().filter(|_| plan.can_fail()).map(of_tasks);
    let widest = arrays.iter().map(|array| array.drives.len()).max();
    let loads = plan.workloads.iter().map(of_workload);
    let loads = loads.fold(0, usize::saturating_add);
    loads.saturating_add(tasks.sum::<usize>() + OUTSIDE_IOS * widest.unwrap_or(1))
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

fn build_drives(plan: &Plan, faults: &mut Faults) -> Table<DriveId, Drive> {
    let mut drives = Table::default();
    for drive in &plan.drives {
        let DrivePlan {
            name, device, path, ..
        } = drive;
        match Device::new(&plan.devices[*device as usize], plan.seed, name) {
            Ok(device) => {
                _ = drives.push(Drive {
                    name: name.clone(),
                    device,
                    path: path.iter().copied().map(LinkId::new).collect(),
                    own_hops: path.len() as u8,
                    queue_depth: drive.queue_depth,
                    in_flight: 0,
                    ahead: 0,
                    pauses: Pauses::of(&drive.pauses, plan.seed, name),
                    waiting: BlockLayer::new(drive.block_layer, 0, 0),
                    load: TimeWeighted::default(),
                    position: 0,
                    read_to: 0,
                    head: 0,
                    health: Health::default(),
                    flushes: Flushes::new(drive.flush),
                })
            }
            Err(found) => faults.under(&format!("devices.{device}"), found),
        }
    }
    for (index, drive) in plan.drives.iter().enumerate() {
        for (at, pause) in drive.pauses.iter().enumerate() {
            faults.under(&format!("drives.{index}.pauses.{at}"), pause.faults());
        }
    }
    drives
}

fn new_meter(plan: &Plan, from: Time, steps: usize) -> Meter {
    let end = from + plan.duration_ns;
    let meter = Meter::new(from, end, plan.timeline_step_ns, steps);
    let meter = if plan.duration_ns >= UNTIL_OVER {
        meter.without_end()
    } else {
        meter
    };
    let meter = meter.followed_until(Time::ZERO + plan.last_begin());
    let meter = meter.with_details(&plan.details);
    let mut meter = meter.one_of(plan.workloads.len());
    if !plan.events.is_empty() {
        meter.begin_period(Time::ZERO, "the run begins");
    }
    meter
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
            page_ns: plan.page_ns,
            cache_cores: plan.cache_cores,
            tier_ns: plan.tier_ns,
            latency_ns: plan.latency_ns,
            parity_bytes_per_s: plan.parity_bytes_per_s,
            memory_bytes_per_s: plan.memory_bytes_per_s,
        }),
        in_work: 0,
        waiting: Queue::default(),
        load: TimeWeighted::default(),
        full: TimeWeighted::default(),
    }
}

/// The page caches of the loads that go through one; their flushers' threads come last.
fn build_caches(plan: &Plan, first_flusher: u32) -> PageCaches {
    let build = |(load, flusher): (&WorkloadPlan, ThreadId)| {
        let params = load.page_cache?;
        Some(Box::new(PageCache::new(load, params, flusher)))
    };
    PageCaches {
        of_workload: plan
            .workloads
            .iter()
            .zip((first_flusher..).map(ThreadId::new))
            .map(build)
            .collect(),
        ..PageCaches::default()
    }
}

fn open_trace(
    index: usize,
    (trace, outstanding, each): (&Options, u32, bool),
    faults: &mut Faults,
) -> Option<Arrivals> {
    match Traced::open(trace, outstanding, each) {
        Ok(traced) => Some(Arrivals::Traced(Box::new(traced))),
        Err(found) => {
            for fault in found {
                let key = format!("workloads.{index}.trace {}", fault.key);
                faults.add(key.trim_end().into(), trace.path.display(), fault.allowed);
            }
            None
        }
    }
}

fn new_backlog(plan: &Plan, from: Time) -> Backlog {
    let mut backlog = Backlog::default();
    backlog.begin(from, from + plan.duration_ns);
    backlog
}

fn build_workloads(
    plan: &Plan,
    faults: &mut Faults,
) -> (Table<WorkloadId, Workload>, Table<PlaceId, Slot>) {
    let steps = plan.timeline_steps() as usize;
    let (mut workloads, mut slots) = (Table::default(), Vec::new());
    let mut first_thread = 0;
    for (index, workload) in plan.workloads.iter().enumerate() {
        let places = workload.places();
        slots.extend((0..places).map(|place| Slot {
            workload: WorkloadId::new(index as u32),
            thread: ThreadId::new(first_thread + place % workload.threads),
            own: place % workload.threads,
        }));
        let from = Time::ZERO + plan.warm_up_ns;
        let mut pauses = Stream::new(plan.seed, &workload.name, "pause");
        let arrivals = match &workload.arrival {
            Arrival::Traced {
                trace,
                outstanding,
                each,
            } => open_trace(index, (trace, *outstanding, *each), faults),
            arrival => Arrivals::of(arrival, &mut pauses),
        };
        let ends = matches!(workload.arrival, Arrival::Traced { .. });
        workloads.push(Workload {
            name: workload.name.clone(),
            array: ArrayId::new(workload.array),
            meter: new_meter(plan, from, steps),
            load: Load::new(workload, plan.seed),
            arrival: workload.arrival.clone(),
            arrivals,
            syncs: workload.sync.is_some(),
            backlog: new_backlog(plan, from),
            limits: (!workload.limits.is_empty()).then(|| Box::new(Limits::new(&workload.limits))),
            is_held: !workload.limits.is_empty() || workload.share.is_some(),
            threads: workload.threads,
            first_thread: ThreadId::new(first_thread),
            next_thread: 0,
            pauses,
            // A trace's requests count as places, and so does the next one.
            busy_slots: if ends { 1 } else { places },
            ends,
        });
        first_thread += workload.threads;
    }
    (workloads, slots.into())
}
