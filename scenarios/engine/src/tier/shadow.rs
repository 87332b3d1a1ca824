//! The life of a tier faster than the clock: a time lapse, and a past that made it warm.

use super::ArrayTier;
use crate::load::Request;
use crate::plan::{Plan, WorkloadPlan};
use raidlab_kernel::Op;
use raidlab_models::Heat;

/// Accesses to each line of a hot spot after which a tier is as the load makes it in the long
/// run: with a third access to promote, all but e^-12 (1 + 12 + 72), one in 2000, have come.
const WARM_ACCESSES: u64 = 12;
/// The most accesses that warming up takes.
const WARM_AT_MOST: u64 = 100_000_000;

impl ArrayTier {
    /// What happens to the tier beside one request of a workload's thread, in a time lapse.
    pub(super) fn shadow(&mut self, workload: u32, thread: u32) {
        let at = workload as usize;
        let Some(mut load) = self.shadows[at].take() else {
            return;
        };
        for _ in 1..self.lapse {
            let Some(request) = load.next(thread) else {
                break;
            };
            let room = self.copies < self.copies_at_once;
            self.imagine(&request, room);
        }
        self.shadows[at] = Some(load);
    }

    /// A request that moves no data; lines that it makes hot are here at once, if there is `room`
    /// for their copies.
    fn imagine(&mut self, request: &Request, room: bool) {
        for line in self.lines(request.offset, request.bytes) {
            let heat = self.tier.access(line);
            if heat == Heat::Hot && room {
                if let Some(slot) = self.tier.begin(line) {
                    self.tier.arrived(slot, true);
                }
            }
            if request.op == Op::Write {
                if self.write_back {
                    self.tier.write(line);
                } else {
                    self.tier.written_past(line);
                }
            }
        }
    }

    /// As many lines have been written back beside one that really was, in a time lapse.
    pub(super) fn shadow_cleaned(&mut self) {
        for _ in 1..self.lapse {
            self.imagine_cleaned();
        }
    }

    fn imagine_cleaned(&mut self) -> bool {
        let next = self.tier.next_to_clean();
        if let Some(slot) = next {
            self.tier.cleaned(slot, true);
        }
        next.is_some()
    }

    /// The tier as the workloads of a plan make it in the long run.
    pub(crate) fn warm_up(&mut self, plan: &Plan) {
        let loads: Vec<(usize, &WorkloadPlan)> = plan
            .workloads
            .iter()
            .enumerate()
            .filter(|&(at, _)| self.shadows[at].is_some())
            .collect();
        let accesses = |load: &WorkloadPlan| {
            let spot = load.hot_spot.as_ref().map_or(load.area_bytes, |s| s.bytes);
            WARM_ACCESSES * (spot / load.block_bytes.max(self.line).max(1) + 1)
        };
        let wanted: u64 = loads.iter().map(|&(_, load)| accesses(load)).sum();
        let rounds = wanted.min(WARM_AT_MOST) / loads.len().max(1) as u64;
        let mut thread = 0;
        for _ in 0..rounds {
            for &(at, load) in &loads {
                let Some(mut shadow) = self.shadows[at].take() else {
                    continue;
                };
                if let Some(request) = shadow.next(thread % load.threads) {
                    self.imagine(&request, true);
                }
                self.shadows[at] = Some(shadow);
                while self.imagine_cleaned() {}
            }
            thread = thread.wrapping_add(1);
        }
    }
}
