//! How much memory a system takes, reckoned before it is taken: a plan that asks for more than
//! there is names its largest part.

use crate::layout::Layout;
use crate::plan::{Arrival, DrivePlan, Level, Plan, Scheduler, WorkloadPlan};
use crate::run::build::faults::Faults;
use crate::state::drive::Drive;
use crate::state::measure::{Meter, Step};
use raidlab_io::Io;
use raidlab_models::{About, Cache, Fault, Memory, SsdCache};

/// Zeros that are reserved may be this many times the limit: a run touches a small part of them.
const RESERVED: u64 = 16;
/// Bytes of a page of a page cache: a flag and two links.
const CACHED_PAGE: u64 = 9;

/// Bytes of a mapping unit that has moved: up to 14 of where it lies, 4 of what lies there, 9 of the
/// mark of its old place.
const MOVED_UNIT: f64 = 27.0;
/// Bytes of the smallest usual mapping unit, which an I/O may touch at both of its ends.
const UNIT: f64 = 4096.0;
/// What collection moves and a shorter run of luck adds to what is written.
const AMPLIFIED: f64 = 4.0;

/// Bytes of a drive's name, of its line in the plan and in the result (about four times the text).
const RECORD: u64 = 4096;

/// A part of the plan, with what it takes.
struct Part {
    /// In words, for the message.
    what: String,
    memory: Memory,
}

/// The parts of a plan and their sum.
pub(crate) struct Needs<'a> {
    plan: &'a Plan,
    parts: Vec<Part>,
}

impl<'a> Needs<'a> {
    /// What the drives take.
    pub(crate) fn of_drives(plan: &'a Plan) -> Needs<'a> {
        let mut needs = Needs {
            plan,
            parts: Vec::new(),
        };
        let each: Vec<Memory> = plan.devices.iter().map(|device| device.memory()).collect();
        let moved = moved_at_most(plan).map(|bytes| bytes / (plan.drives.len() as u64).max(1));
        for drive in &plan.drives {
            let mut memory = each.get(drive.device as usize).copied().unwrap_or_default();
            if let Some(moved) = moved {
                memory.reserved = memory.reserved.min(moved.saturating_mul(RESERVED));
            }
            memory.resident += RECORD + size_of::<Drive>() as u64;
            needs.add(format!("drive {}", drive.name), memory);
        }
        needs
    }

    /// Lines of an array that its loads can touch at most; none if only outside callers touch it.
    fn lines_of_loads(&self, array: usize, line: u64) -> Option<u64> {
        let plan = self.plan;
        let loads = plan.workloads.iter();
        let own = loads.filter(|load| load.array as usize == array);
        own.map(|load| load.area_bytes / line + 2)
            .reduce(u64::saturating_add)
    }

    /// What caches and I/Os take; `layouts` are those of the arrays, `ios` is the number of records.
    pub(crate) fn add_the_rest(&mut self, layouts: &[&Layout], ios: usize) {
        let plan = self.plan;
        self.add_controllers();
        for (index, array) in plan.arrays.iter().enumerate() {
            let Some(tier) = &array.tier else { continue };
            let line = array.stripe_unit_bytes.max(512);
            let lines = layouts[index].capacity() / line;
            let slots = layouts[tier.array as usize].capacity() / line;
            let what = format!("the SSD cache of array {}", array.name);
            let used = slots.min(self.lines_of_loads(index, line).unwrap_or(slots));
            self.add(what, SsdCache::memory(used, lines));
        }
        for load in &plan.workloads {
            if load.page_cache.is_some() {
                let reserved = CACHED_PAGE * (load.area_bytes / 4096);
                let memory = Memory {
                    resident: 0,
                    reserved,
                    addresses: reserved,
                };
                self.add(format!("the page cache of {}", load.name), memory);
            }
        }
        let steps = plan.timeline_steps();
        if steps > 0 {
            let resident = steps.saturating_mul((plan.workloads.len() * size_of::<Step>()) as u64);
            let memory = Memory {
                resident,
                ..Memory::default()
            };
            self.add("the timeline".into(), memory);
        }
        let loads = plan.workloads.len();
        let memory = Memory {
            resident: (loads as u64).saturating_mul(Meter::table_bytes(loads)),
            ..Memory::default()
        };
        self.add("the records of the loads".into(), memory);
        // A thread is a station with a name in the report, and has a queue in each block layer that
        // looks at threads.
        let threads: u64 = plan
            .workloads
            .iter()
            .map(|load| u64::from(load.threads))
            .sum();
        let threads = threads + u64::from(plan.outside_threads);
        let knows_threads = |drive: &&DrivePlan| {
            let layer = drive.block_layer;
            layer.requests > 0 || layer.scheduler == Scheduler::Fair
        };
        let by_thread = plan.drives.iter().filter(knows_threads).count() as u64;
        let resident = threads.saturating_mul(512 + 32 * by_thread);
        let memory = Memory {
            resident,
            ..Memory::default()
        };
        self.add("the load threads".into(), memory);
        // A record of an I/O, its job and its events.
        let resident = (ios as u64).saturating_mul(2 * size_of::<Io>() as u64);
        let memory = Memory {
            resident,
            ..Memory::default()
        };
        self.add("the I/Os outstanding".into(), memory);
    }

    /// What the memories of controllers take.
    pub(crate) fn add_controllers(&mut self) {
        for controller in &self.plan.controllers {
            if let Some(cache) = &controller.cache {
                let memory = Cache::memory(cache.bytes);
                self.add(format!("the cache of {}", controller.name), memory);
            }
        }
    }

    /// Bytes of all parts; of what is reserved the part that a run may touch.
    pub(crate) fn bytes(&self) -> u64 {
        let mut sum = Memory::default();
        self.parts.iter().for_each(|part| sum += part.memory);
        weighed(sum)
    }

    fn add(&mut self, what: String, memory: Memory) {
        self.parts.push(Part { what, memory });
    }

    /// Faults if it is more than the plan's limits; each names the largest part.
    pub(crate) fn check(&self, faults: &mut Faults) -> Result<(), Vec<Fault>> {
        let limit = self.plan.memory_bytes;
        let here = "on this machine, half of its memory";
        self.check_one("memory", limit, here, weighed, faults);
        let addresses = |m: Memory| m.resident.saturating_add(m.addresses);
        let limit = self.plan.address_bytes;
        let limited = "here, where addresses are limited (ulimit -v, vm.overcommit_memory)";
        self.check_one("address space", limit, limited, addresses, faults);
        faults.none()
    }

    fn check_one(
        &self,
        key: &str,
        limit: u64,
        here: &str,
        weight: impl Fn(Memory) -> u64,
        faults: &mut Faults,
    ) {
        let mut sum = Memory::default();
        self.parts.iter().for_each(|part| sum += part.memory);
        if limit == 0 || weight(sum) <= limit {
            return;
        }
        let largest = self.parts.iter().max_by_key(|part| weight(part.memory));
        if let Some(part) = largest {
            let allowed = format!(
                "at most {} {here}; the largest part is {} with {}",
                gigabytes(limit),
                part.what,
                gigabytes(weight(part.memory))
            );
            faults
                .0
                .push(Fault::new(key, gigabytes(weight(sum)), allowed).about(About::Memory));
        }
    }
}

/// Bytes of the tables of all drives that a run touches at most, where its loads say how much they
/// write: those that come at a rate, on arrays that nothing else writes to.
fn moved_at_most(plan: &Plan) -> Option<u64> {
    let others = !plan.events.is_empty() || plan.jobs.is_some() || plan.workloads.is_empty();
    let more = |load: &WorkloadPlan| load.page_cache.is_some() || load.sync.is_some();
    if others || plan.workloads.iter().any(more) {
        return None;
    }
    let most = plan.last_begin().max(plan.warm_up_ns) + plan.duration_ns;
    let mut units = 0.0;
    for load in &plan.workloads {
        let array = plan.arrays.get(load.array as usize)?;
        let (Arrival::Poisson { per_s } | Arrival::Patterned { per_s, .. }) = load.arrival else {
            return None;
        };
        if array.tier.is_some() {
            return None;
        }
        let drives = match array.level {
            Level::Raid1 => array.drives.len() as u32,
            level if level.has_copies() => 3,
            level => 1 + level.parities(),
        };
        let each = load.block_bytes as f64 / UNIT + 2.0;
        units += per_s * (1.0 - load.read_share) * each * f64::from(drives);
    }
    Some((units * most.seconds() * AMPLIFIED * MOVED_UNIT) as u64)
}

fn weighed(memory: Memory) -> u64 {
    memory.resident.max(memory.reserved / RESERVED)
}

fn gigabytes(bytes: u64) -> String {
    format!("{:.3} GB", bytes as f64 / 1e9)
}
