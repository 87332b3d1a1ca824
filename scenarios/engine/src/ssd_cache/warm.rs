//! Preconditioning of an SSD cache: the content that its loads give it in the long run.

use crate::plan::{Arrival, Plan, WorkloadPlan};
use crate::ssd_cache::shadow::{BATCH, Decisions, imagine_cleaned};
use crate::state::load::{Load, Request};
use raidlab_kernel::Nanos;
use raidlab_models::{Memo, SsdCache, SsdCacheParams};

/// Accesses to each line of a hot spot after which an SSD cache is as the load makes it in the long
/// run: with a third access to promote, all but e^-12 (1 + 12 + 72), one in 2000, have come.
const WARM_ACCESSES: u64 = 12;
/// The most accesses that warming up takes.
const WARM_AT_MOST: u64 = 100_000_000;

/// Everything that the preconditioning depends on.
#[derive(Clone, Debug, PartialEq)]
struct History {
    params: SsdCacheParams,
    decisions: Decisions,
    seed: u64,
    loads: Vec<WorkloadPlan>,
}

/// Points of a curve share one preconditioned map.
static MEMO: Memo<History, SsdCache> = Memo::new(64 << 20);

/// The SSD cache of array `index` as the workloads of a plan make it in the long run.
///
/// # Errors
/// Says what does not fit.
pub(crate) fn warm(
    params: SsdCacheParams,
    decisions: Decisions,
    plan: &Plan,
    index: usize,
) -> Result<SsdCache, String> {
    let of_array = |load: &&WorkloadPlan| load.array as usize == index;
    // When requests come does not matter to which lines they make hot.
    let timeless = |load: &WorkloadPlan| WorkloadPlan {
        arrival: Arrival::Closed {
            outstanding: 1,
            think_ns: Nanos::ZERO,
            exponential: false,
        },
        ..load.clone()
    };
    let history = History {
        loads: plan
            .workloads
            .iter()
            .filter(of_array)
            .map(timeless)
            .collect(),
        seed: plan.seed,
        params,
        decisions,
    };
    let empty = SsdCache::new(&history.params)?;
    let end = MEMO.get(&history, || history.end(empty), SsdCache::bytes);
    Ok((*end).clone())
}

impl History {
    fn end(&self, mut map: SsdCache) -> SsdCache {
        let mut loads: Vec<Load> = self
            .loads
            .iter()
            .map(|load| Load::shadow(load, self.seed, "past"))
            .collect();
        let accesses = |load: &WorkloadPlan| {
            let spot = load.hot_spot.as_ref().map_or(load.area_bytes, |s| s.bytes);
            WARM_ACCESSES * (spot / load.block_bytes.max(self.decisions.line).max(1) + 1)
        };
        let wanted: u64 = self.loads.iter().map(accesses).sum();
        let rounds = wanted.min(WARM_AT_MOST) / loads.len().max(1) as u64;
        let mut batch: Vec<Request> = Vec::with_capacity(BATCH + loads.len());
        let mut thread: u32 = 0;
        for round in 1..=rounds {
            for (load, plan) in loads.iter_mut().zip(&self.loads) {
                batch.extend(load.next(thread % plan.threads));
            }
            thread = thread.wrapping_add(1);
            if batch.len() >= BATCH || round == rounds {
                self.decisions.fetch(&map, &batch);
                for request in batch.drain(..) {
                    self.decisions.imagine(&mut map, &request, true);
                    while imagine_cleaned(&mut map) {}
                }
            }
        }
        map
    }
}
