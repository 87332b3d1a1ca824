//! What makes writes durable: whether the plan's file systems and calls can be.

use crate::plan::{Action, Plan};
use crate::run::build::faults::Faults;
use crate::state::records::Array;

/// A journal that no commit fits: descriptor, a block of inodes, two of allocations, commit block.
const LEAST_JOURNAL: u64 = 64 * 4096;

/// Calls behind writes, journals on their arrays, and no loss of power beside them.
pub(crate) fn check_durability(plan: &Plan, arrays: &[Array], faults: &mut Faults) {
    let mut beside = false;
    for (index, load) in plan.workloads.iter().enumerate() {
        let Some(sync) = load.sync else { continue };
        beside = true;
        let key = format!("workloads.{index}.sync");
        if sync.every == 0 {
            faults.add(format!("{key}.every"), 0, "1 or more");
        }
        if load.page_cache.is_some() {
            faults.add(key, "beside page_cache", "left out beside `page_cache`");
        }
    }
    for (index, array) in plan.arrays.iter().enumerate() {
        let Some(system) = array.file_system else {
            continue;
        };
        beside = true;
        let key = |part: &str| format!("arrays.{index}.file_system.{part}");
        if system.bytes < LEAST_JOURNAL {
            let allowed = format!("at least {LEAST_JOURNAL}");
            faults.add(key("bytes"), system.bytes, allowed);
        }
        if system.tick_ns.0 == 0 {
            faults.add(key("tick_ns"), 0, "1 or more");
        }
        let capacity = arrays[index].layout.capacity();
        let end = system.start_bytes.checked_add(system.bytes);
        if end.is_none_or(|end| end > capacity) {
            let allowed = format!("a journal that ends at {capacity} or before");
            faults.add(key("start_bytes"), system.start_bytes, allowed);
        }
    }
    for (index, event) in plan.events.iter().enumerate().filter(|_| beside) {
        if matches!(event.action, Action::PowerFail { .. }) {
            let allowed = "left out beside file systems and calls that make writes durable: what \
                           they lose is not modelled";
            faults.add(format!("events.{index}.action"), "power_fail", allowed);
        }
    }
}
