//! How much memory a system takes, reckoned before it is taken: a plan that asks for more than
//! there is names its largest part.

use crate::layout::Layout;
use crate::plan::Plan;
use crate::run::build::check::Faults;
use crate::state::measure::Step;
use raidlab_kernel::Io;
use raidlab_models::{Cache, Memory, SsdCache};

/// Zeros that are reserved may be this many times the limit: a run touches a small part of them.
const RESERVED: u64 = 16;
/// Bytes of a page of a page cache: a flag and two links.
const CACHED_PAGE: u64 = 9;

/// A part of the plan, with what it takes.
struct Part {
    key: String,
    name: String,
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
        for (index, drive) in plan.drives.iter().enumerate() {
            let memory = each.get(drive.device as usize).copied();
            needs.add(
                format!("drives.{index}"),
                &drive.name,
                memory.unwrap_or_default(),
            );
        }
        needs
    }

    /// What caches and I/Os take; `layouts` are those of the arrays, `ios` is the number of records.
    pub(crate) fn add_the_rest(&mut self, layouts: &[&Layout], ios: usize) {
        let plan = self.plan;
        for (index, controller) in plan.controllers.iter().enumerate() {
            if let Some(cache) = &controller.cache {
                let memory = Cache::memory(cache.bytes);
                self.add(
                    format!("controllers.{index}.cache"),
                    &controller.name,
                    memory,
                );
            }
        }
        for (index, array) in plan.arrays.iter().enumerate() {
            let Some(tier) = &array.tier else { continue };
            let line = array.stripe_unit_bytes.max(512);
            let lines = layouts[index].capacity() / line;
            let slots = layouts[tier.array as usize].capacity() / line;
            self.add(
                format!("arrays.{index}.tier"),
                &array.name,
                SsdCache::memory(slots, lines),
            );
        }
        for (index, load) in plan.workloads.iter().enumerate() {
            if load.page_cache.is_some() {
                let reserved = CACHED_PAGE * (load.area_bytes / 4096);
                let memory = Memory {
                    resident: 0,
                    reserved,
                };
                self.add(format!("workloads.{index}.page_cache"), &load.name, memory);
            }
        }
        if plan.timeline_step_ns.0 > 0 {
            let steps = plan.duration_ns.0 / plan.timeline_step_ns.0;
            let resident = steps.saturating_mul((plan.workloads.len() * size_of::<Step>()) as u64);
            let memory = Memory {
                resident,
                reserved: 0,
            };
            self.add("timeline_step_ns".into(), "the timeline", memory);
        }
        // A thread is a station with a name in the report, and has a queue in each block layer.
        let threads: u64 = plan
            .workloads
            .iter()
            .map(|load| u64::from(load.threads))
            .sum();
        let threads = threads + u64::from(plan.outside_threads);
        let resident = threads.saturating_mul(512 + 32 * plan.drives.len() as u64);
        let memory = Memory {
            resident,
            reserved: 0,
        };
        self.add("workloads".into(), "all threads", memory);
        // A record of an I/O, its job and its events.
        let resident = (ios as u64).saturating_mul(2 * size_of::<Io>() as u64);
        let memory = Memory {
            resident,
            reserved: 0,
        };
        self.add("workloads".into(), "all I/Os outstanding", memory);
    }

    fn add(&mut self, key: String, name: &str, memory: Memory) {
        let name = name.to_owned();
        self.parts.push(Part { key, name, memory });
    }

    /// A fault if it is more than the plan's limit, under the key of the largest part.
    pub(crate) fn check(&self, faults: &mut Faults) {
        let limit = self.plan.memory_bytes;
        let mut sum = Memory::default();
        self.parts.iter().for_each(|part| sum += part.memory);
        let weight = |memory: Memory| memory.resident.max(memory.reserved / RESERVED);
        if limit == 0 || weight(sum) <= limit {
            return;
        }
        let largest = self.parts.iter().max_by_key(|part| weight(part.memory));
        if let Some(part) = largest {
            let allowed = format!(
                "a system that fits in {limit} bytes of memory; it takes about {}, this part {}",
                weight(sum),
                weight(part.memory)
            );
            faults.add(part.key.clone(), &part.name, allowed);
        }
    }
}
