//! What is wrong with a plan: every fault at once, each under its dotted key.

use crate::plan::{
    Action, Arrival, ControllerPlan, EventPlan, Pattern, Plan, SLOWEST_IOS, SharePlan, Sizes,
    TRACED_IOS, WorkloadPlan,
};
use crate::raid::bitmap::{Bitmap, MOST_REGIONS};
use crate::run::build::durability::check_durability;
use crate::run::build::faults::Faults;
use crate::ssd_cache::forgets;
use crate::state::owner::PLACES;
use crate::state::records::Array;
use raidlab_kernel::Nanos;
use raidlab_models::{Bounds, LimitParams, cpu_time_fault};

/// Thousandths of a token a second that a limit lets through at most.
const LARGEST_LIMIT: u64 = 1 << 60;
/// What a limit collects tokens for at most: ten days.
const LONGEST_BURST: Nanos = Nanos(10 * 86_400 * 1_000_000_000);

impl ControllerPlan {
    /// Cores.
    pub(crate) const CORES: Bounds<u32> = Bounds::new(1, 1024);
}

/// Threads of an array that handle stripes at most.
const MD_THREADS: u32 = 4096;

/// References to what the plan lists, and what may not stand together.
pub(crate) fn check_references(plan: &Plan, faults: &mut Faults) {
    faults.under("host", plan.host.faults());
    for (key, asked, most) in [
        ("trace_ios", plan.details.trace_ios, TRACED_IOS),
        ("slowest", plan.details.slowest, SLOWEST_IOS),
    ] {
        if asked > most {
            faults.add(
                format!("details.{key}"),
                asked,
                format!("at most {most} I/Os"),
            );
        }
    }
    check_drives(plan, faults);
    check_owners(plan, faults);
    check_caches(plan, faults);
    check_ssd_caches(plan, faults);
    check_controllers(plan, faults);
    check_events(plan, faults);
    check_declustered(plan, faults);
    for (i, workload) in plan.workloads.iter().enumerate() {
        let key = format!("workloads.{i}.array");
        faults.index(key, workload.array, plan.arrays.len());
        if let Some(cache) = &workload.page_cache {
            faults.under(&format!("workloads.{i}.page_cache"), cache.faults());
        }
        if let Some(client) = workload.client {
            let key = |end: &str| format!("workloads.{i}.client.{end}");
            faults.index(key("link"), client.link, plan.links.len());
            faults.index(key("target"), client.target, plan.links.len());
        }
    }
}

fn check_drives(plan: &Plan, faults: &mut Faults) {
    for (i, drive) in plan.drives.iter().enumerate() {
        let key = format!("drives.{i}.device");
        faults.index(key, drive.device, plan.devices.len());
        faults.under(
            &format!("drives.{i}.block_layer"),
            drive.block_layer.faults(),
        );
        if drive.path.len() > usize::from(u8::MAX) {
            let most = format!("at most {} links", u8::MAX);
            faults.add(format!("drives.{i}.path"), drive.path.len(), most);
        }
        for &link in &drive.path {
            faults.index(format!("drives.{i}.path"), link, plan.links.len());
        }
    }
}

/// No drive belongs to two arrays.
fn check_owners(plan: &Plan, faults: &mut Faults) {
    let mut owned = vec![false; plan.drives.len()];
    for (i, array) in plan.arrays.iter().enumerate() {
        for &drive in array.drives.iter().chain(&array.spares) {
            let key = format!("arrays.{i}.drives");
            if faults.index(key.clone(), drive, plan.drives.len()) {
                if owned[drive as usize] {
                    faults.add(key, drive, "a drive that no array holds yet");
                }
                owned[drive as usize] = true;
            }
        }
        if let Some(controller) = array.controller {
            let key = format!("arrays.{i}.controller");
            faults.index(key, controller, plan.controllers.len());
        }
    }
}

/// No controller's cache knows of an array in the host.
fn check_caches(plan: &Plan, faults: &mut Faults) {
    for (i, array) in plan.arrays.iter().enumerate() {
        if array.software && array.cache.is_some() {
            let allowed = "left out: the controller sees single drives";
            faults.add(format!("arrays.{i}.cache"), &array.name, allowed);
        }
        if array.md_reads && !(array.software && array.level.has_copies()) {
            let allowed = "a mirror in the host: no other's reads are md's";
            faults.add(format!("arrays.{i}.md_reads"), &array.name, allowed);
        }
    }
}

fn check_ssd_caches(plan: &Plan, faults: &mut Faults) {
    for (i, array) in plan.arrays.iter().enumerate() {
        let Some(tier) = &array.tier else { continue };
        let key = format!("arrays.{i}.tier.array");
        faults.index(key.clone(), tier.array, plan.arrays.len());
        if tier.array as usize == i {
            faults.add(key, tier.array, "another array");
        }
        for (at, load) in plan.workloads.iter().enumerate() {
            if load.array == tier.array {
                let key = format!("workloads.{at}.array");
                faults.add(key, load.array, "an array that is no SSD cache of another");
            }
        }
        let costs = |event: &EventPlan| event.action.can_cost_data();
        if plan.time_lapse > 1 && (plan.data || plan.events.iter().any(costs)) {
            let allowed = "1: what shadows bring to a tier has no versions to follow";
            faults.add("time_lapse".into(), plan.time_lapse, allowed);
        }
        let fails = |event: &EventPlan| matches!(event.action, Action::PowerFail { .. });
        let Some(fast) = plan.arrays.get(tier.array as usize) else {
            continue;
        };
        if forgets(plan, fast) && plan.events.iter().any(fails) {
            let allowed = "drives that forget nothing when the power fails";
            faults.add(format!("arrays.{i}.tier.array"), tier.array, allowed);
        }
    }
}

/// Bitmaps against the arrays whose regions they hold.
pub(crate) fn check_bitmaps(plan: &Plan, arrays: &[Array], faults: &mut Faults) {
    for (i, (plan, array)) in plan.arrays.iter().zip(arrays).enumerate() {
        let Some(bitmap) = plan.bitmap else { continue };
        if Bitmap::regions(bitmap, &array.layout) > MOST_REGIONS {
            let key = format!("arrays.{i}.bitmap.chunk_bytes");
            let allowed = format!("large enough that the array has at most {MOST_REGIONS} regions");
            faults.add(key, bitmap.chunk_bytes, allowed);
        }
    }
}

/// Events against declustered arrays: what is modelled is one drive that fails and is replaced.
fn check_declustered(plan: &Plan, faults: &mut Faults) {
    for array in plan.arrays.iter().filter(|it| it.declustered.is_some()) {
        let mut failed = None;
        for (i, event) in plan.events.iter().enumerate() {
            let (here, what) = match event.action {
                Action::FailDrive { drive } => {
                    let another = failed.is_some_and(|first| first != drive);
                    let here = array.drives.contains(&drive);
                    failed = failed.or(here.then_some(drive));
                    (here && another, "fail_drive")
                }
                Action::UnreadableSectors { drive, .. } => {
                    (array.drives.contains(&drive), "unreadable_sectors")
                }
                Action::PowerFail { .. } => (true, "power_fail"),
                _ => (false, ""),
            };
            if here {
                let allowed = format!(
                    "one drive of {} that fails and may be replaced: more is not modelled of a \
                     declustered array",
                    array.name
                );
                faults.add(format!("events.{i}.action"), what, allowed);
            }
        }
    }
}

fn check_controllers(plan: &Plan, faults: &mut Faults) {
    for (i, array) in plan.arrays.iter().enumerate() {
        let most = array.md.shared_read_ns.max(array.md.shared_write_ns);
        let most = most.max(array.md.flush_hand_ns);
        let fault = cpu_time_fault(format!("arrays.{i}.md"), most);
        faults.0.extend(fault);
        if array.md.threads > MD_THREADS {
            let key = format!("arrays.{i}.md.threads");
            faults.add(key, array.md.threads, format!("at most {MD_THREADS}"));
        }
        let share = array.background_share;
        if !(share > 0.0 && share <= 1.0) {
            let key = format!("arrays.{i}.background_share");
            faults.add(key, share, "above 0, at most 1");
        }
    }
    for (i, controller) in plan.controllers.iter().enumerate() {
        let key = format!("controllers.{i}.cores");
        faults
            .0
            .extend(ControllerPlan::CORES.fault(key, controller.cores));
        if let Some(cache) = &controller.cache {
            let key = |name| format!("controllers.{i}.cache.{name}");
            let (dirty, low, flush) = (cache.dirty_share, cache.low_share, cache.flush_interval_ns);
            if !(dirty > 0.0 && dirty <= 1.0) {
                faults.add(key("dirty_share"), dirty, "above 0, at most 1");
            }
            if !(0.0..=1.0).contains(&low) {
                faults.add(key("low_share"), low, "0 to 1");
            }
            if flush < Nanos(1_000_000) {
                faults.add(key("flush_interval_ns"), flush.0, "at least 1000000");
            }
        }
        if let Some(link) = controller.link {
            faults.index(format!("controllers.{i}.link"), link, plan.links.len());
        }
    }
}

fn check_events(plan: &Plan, faults: &mut Faults) {
    let sizes = Sizes {
        drives: plan.drives.len(),
        arrays: plan.arrays.len(),
        controllers: plan.controllers.len(),
        workloads: plan.workloads.len(),
    };
    let cached = plan.workloads.iter().any(|load| load.page_cache.is_some());
    for (i, event) in plan.events.iter().enumerate() {
        if let Err((key, index, count)) = event.action.check(sizes) {
            faults.index(format!("events.{i}.{key}"), index, count);
        }
        if cached && matches!(event.action, Action::PowerFail { .. }) {
            let allowed =
                "left out where loads go through a page cache, whose loss is not modelled";
            faults.add(format!("events.{i}.action"), "power_fail", allowed);
        }
    }
}

/// Loads against the arrays that they run on.
pub(crate) fn check_workloads(plan: &Plan, arrays: &[Array], faults: &mut Faults) {
    check_moves(plan, faults);
    check_places(plan, faults);
    for (index, workload) in plan.workloads.iter().enumerate() {
        let capacity = arrays[workload.array as usize].layout.capacity();
        check_workload(index, workload, capacity, faults);
    }
    check_tenants(plan, faults);
    check_durability(plan, arrays, faults);
    check_balance(plan, faults);
}

/// Little's law says what is outstanding where every load is closed.
fn check_balance(plan: &Plan, faults: &mut Faults) {
    let Some(balance) = plan.balance else {
        return;
    };
    if !(balance.share > 0.0 && balance.share <= 1.0) {
        let allowed = "above 0, at most 1";
        faults.add("balance.share".into(), balance.share, allowed);
    }
    let thinks = |load: &WorkloadPlan| !matches!(load.arrival, Arrival::Closed { think_ns, .. } if think_ns == Nanos::ZERO);
    if let Some(load) = plan.workloads.iter().position(thinks) {
        let path = format!("workloads[{load}].arrival");
        let allowed = "closed without think time, with balance";
        faults.add(path, "another", allowed);
    }
}

/// Every place of every load has a number that an I/O's record has room for.
fn check_places(plan: &Plan, faults: &mut Faults) {
    let places = |load: &WorkloadPlan| u64::from(load.places());
    let all: u64 = plan.workloads.iter().map(places).sum();
    if all >= PLACES {
        let allowed = format!(
            "fewer than {PLACES} I/Os outstanding, and threads of open arrivals, over all workloads"
        );
        faults.add("workloads".into(), all, allowed);
    }
}

/// A hot spot moves inside its workload's area.
fn check_moves(plan: &Plan, faults: &mut Faults) {
    for (index, event) in plan.events.iter().enumerate() {
        let Action::MoveHotSpot {
            workload,
            start_bytes,
        } = event.action
        else {
            continue;
        };
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

fn check_workload(index: usize, workload: &WorkloadPlan, capacity: u64, faults: &mut Faults) {
    let mut check = |fits: bool, key: &str, value: String, allowed: String| {
        if !fits {
            faults.add(format!("workloads.{index}.{key}"), value, allowed);
        }
    };
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
    if let Arrival::Traced { trace, .. } = &workload.arrival {
        check(
            (1..=capacity).contains(&trace.capacity),
            "arrival.trace.capacity",
            trace.capacity.to_string(),
            format!("1 to {capacity}, the array's"),
        );
    }
    check_spot_and_arrival(workload, &mut check);
}

/// What holds I/Os before they reach the host's CPU.
fn check_held(
    limits: &[LimitParams],
    share: Option<SharePlan>,
    check: &mut impl FnMut(bool, &str, String, String),
) {
    for limit in limits {
        check(
            (1..=LARGEST_LIMIT).contains(&limit.milli_per_s) && limit.burst_ns <= LONGEST_BURST,
            "limits",
            format!("{} for {} ns", limit.milli_per_s, limit.burst_ns.0),
            format!("1 to {LARGEST_LIMIT} for at most {} ns", LONGEST_BURST.0),
        );
    }
    if let Some(share) = share {
        check(
            (1..=10_000).contains(&share.weight) && share.priority <= 10,
            "share",
            format!("{} of {}", share.weight, share.priority),
            "a weight of 1 to 10000, a priority of 0 to 10".into(),
        );
    }
}

/// Tenants among outside threads are on an array that there is, and have threads that there are.
fn check_tenants(plan: &Plan, faults: &mut Faults) {
    for (index, tenant) in plan.tenants.iter().enumerate() {
        let mut check = |fits: bool, key: &str, value: String, allowed: String| {
            if !fits {
                faults.add(format!("tenants.{index}.{key}"), value, allowed);
            }
        };
        let arrays = plan.arrays.len();
        check(
            (tenant.array as usize) < arrays,
            "array",
            tenant.array.to_string(),
            format!("below {arrays}"),
        );
        check(
            tenant.first_thread.saturating_add(tenant.threads) <= plan.outside_threads,
            "threads",
            format!("{} from {} on", tenant.threads, tenant.first_thread),
            format!("threads of {}", plan.outside_threads),
        );
        check_held(&tenant.limits, tenant.share, &mut check);
    }
}

/// The hot spot lies in the area, and I/Os arrive.
fn check_spot_and_arrival(
    workload: &WorkloadPlan,
    check: &mut impl FnMut(bool, &str, String, String),
) {
    let (start, end_of_area) = (
        workload.area_start_bytes,
        workload.area_start_bytes + workload.area_bytes,
    );
    if let Some(spot) = &workload.hot_spot {
        let (first, end) = (
            spot.start_bytes,
            spot.start_bytes.saturating_add(spot.bytes),
        );
        let inside = first >= start && end <= end_of_area;
        check(
            inside && spot.bytes >= workload.block_bytes && (0.0..=1.0).contains(&spot.share),
            "hot_spot",
            format!("{} of {first} to {end}", spot.share),
            "a share of 0 to 1; a block or more inside the area".into(),
        );
    }
    check_held(&workload.limits, workload.share, check);
    check(
        workload.limits.is_empty() && workload.share.is_none() || workload.page_cache.is_none(),
        "limits",
        workload.limits.len().to_string(),
        "none of a load that goes through a page cache".into(),
    );
    check(
        workload.page_cache.is_none() || matches!(workload.arrival, Arrival::Closed { .. }),
        "arrival",
        format!("{:?}", workload.arrival),
        "closed, for a load that goes through a page cache".into(),
    );
    if let Arrival::Closed { outstanding, .. } = workload.arrival {
        check(
            outstanding > 0 && outstanding <= 1 << 20,
            "arrival.outstanding",
            outstanding.to_string(),
            "1 to 1048576".into(),
        );
    }
    if let Some(per_s) = workload.arrival.per_s() {
        check(
            per_s > 0.0 && per_s <= 1e8,
            "arrival.per_s",
            per_s.to_string(),
            "above 0, at most 1e8".into(),
        );
    }
    if let Arrival::Patterned { pattern, .. } = &workload.arrival {
        check(
            is_possible(pattern),
            "arrival.pattern",
            format!("{pattern:?}"),
            "phases of 1 us to ten days, a share of 0 to 1, a Hurst parameter between 0.5 and 1, 1 \
             to 10000 sources, up to 10000 steps of 1 us to ten days that are not all 0"
                .into(),
        );
    }
}

/// Whether I/Os can come in a pattern.
fn is_possible(pattern: &Pattern) -> bool {
    let lasts = |time: &Nanos| (Nanos(1000)..=LONGEST_BURST).contains(time);
    match pattern {
        Pattern::Even => true,
        Pattern::OnOff {
            on_ns,
            off_ns,
            off_rate,
        } => lasts(on_ns) && lasts(off_ns) && (0.0..=1.0).contains(off_rate),
        Pattern::SelfSimilar {
            on_ns,
            off_ns,
            hurst,
            sources,
        } => {
            let bursts = *hurst > 0.5 && *hurst < 1.0 && (1..=10_000).contains(sources);
            lasts(on_ns) && lasts(off_ns) && bursts
        }
        Pattern::Daily { step_ns, shares } => {
            let rates = shares.iter().all(|share| (0.0..=1e9).contains(share));
            lasts(step_ns) && rates && shares.len() <= 10_000 && shares.iter().sum::<f64>() > 0.0
        }
    }
}
