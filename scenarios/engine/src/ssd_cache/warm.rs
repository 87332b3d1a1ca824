//! Preconditioning of an SSD cache: the content that its loads give it in the long run.
//!
//! Accesses are drawn from the loads and pass through the cache's own decisions, without time. How
//! many are needed depends on the line that is accessed least. Beside a hot spot those are the cold
//! lines: each of them becomes hot too, if it is accessed often enough before its count is halved,
//! and then takes the place of another.

use crate::plan::{Access, Arrival, Plan, WorkloadPlan};
use crate::ssd_cache::shadow::{BATCH, Decisions, Shadow, fetch, imagine_cleaned};
use crate::state::load::Load;
use raidlab_kernel::Nanos;
use raidlab_models::{Memo, SsdCache, SsdCacheParams};

/// Accesses to each line after which an SSD cache is as the load makes it in the long run: with a
/// third access to promote, all but e^-12 (1 + 12 + 72), one in 2000, have come.
const WARM_ACCESSES: f64 = 12.0;
/// Half-lives of the counts after which nothing that is halved changes any more: a day, usually.
const WARM_HALF_LIVES: f64 = 24.0;
/// Accesses to a line in a half-life below which it does not become hot. A third access within the
/// half-life has a probability of x^3 / 6, one in 6000.
const SELDOM: f64 = 0.1;
/// The most accesses that warming up takes.
const WARM_AT_MOST: f64 = 1e8;
/// Time of a random access of a disk: says how many accesses of a closed load pass in a half-life.
/// Assumed; a factor of two changes the hit share by a percent at most where it matters at all.
const DISK_ACCESS: Nanos = Nanos(8_000_000);

/// Everything that the preconditioning depends on.
#[derive(Clone, Debug, PartialEq)]
struct History {
    params: SsdCacheParams,
    decisions: Decisions,
    /// Accesses in a half-life of the counts.
    half_life: u64,
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
    half_life: Nanos,
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
        limits: Vec::new(),
        share: None,
        client: None,
        ..load.clone()
    };
    let loads: Vec<&WorkloadPlan> = plan.workloads.iter().filter(of_array).collect();
    let rate = rate(
        &loads,
        &params,
        u64::from(decisions.line.get()),
        plan.arrays[index].drives.len(),
    );
    let history = History {
        half_life: ((rate * half_life.0 as f64 / 1e9) as u64).max(1),
        loads: loads.into_iter().map(timeless).collect(),
        seed: plan.seed,
        params,
        decisions,
    };
    let empty = SsdCache::new(&history.params)?;
    let end = MEMO.get(&history, || history.end(empty), SsdCache::bytes);
    Ok((*end).clone())
}

/// Accesses a second: what open loads say, else as many as keep the disks busy with the misses.
fn rate(loads: &[&WorkloadPlan], params: &SsdCacheParams, line: u64, disks: usize) -> f64 {
    let open = loads.iter().map(|load| load.arrival.per_s());
    if let Some(rate) = open.sum() {
        return rate;
    }
    let hits = loads.iter().map(|load| {
        let (share, bytes) = load
            .hot_spot
            .as_ref()
            .map_or((1.0, load.area_bytes), |spot| (spot.share, spot.bytes));
        share * (f64::from(params.slots) * line as f64 / bytes as f64).min(1.0)
    });
    let misses = (1.0 - hits.sum::<f64>() / loads.len().max(1) as f64).max(0.01);
    disks as f64 * 1e9 / DISK_ACCESS.0 as f64 / misses
}

/// Lines of a load that are accessed alike: its hot spot, or all of its area.
#[derive(Clone, Copy, Debug)]
struct Part {
    start: u64,
    bytes: u64,
    /// Accesses to each line with each request of the load.
    frequency: f64,
}

impl Part {
    /// Requests until each line was accessed often enough.
    fn requests(self) -> f64 {
        WARM_ACCESSES / self.frequency
    }
}

impl History {
    /// The hot spot of a load, and its area.
    fn parts(&self, load: &WorkloadPlan) -> (Option<Part>, Part) {
        let lines = |bytes: u64| bytes as f64 / f64::from(self.decisions.line.get());
        let each = lines(load.block_bytes).max(1.0);
        let part = |start, bytes, share: f64| Part {
            start,
            bytes,
            frequency: share * each / lines(bytes).max(1.0),
        };
        let spot = load.hot_spot.as_ref();
        let rest = 1.0 - spot.map_or(0.0, |spot| spot.share);
        (
            spot.map(|spot| part(spot.start_bytes, spot.bytes, spot.share)),
            part(load.area_start_bytes, load.area_bytes, rest),
        )
    }

    /// Accesses of a load in a half-life of the counts.
    fn half_life(&self) -> f64 {
        self.half_life as f64 / self.loads.len().max(1) as f64
    }

    /// The most requests of a load.
    fn most(&self) -> f64 {
        WARM_AT_MOST / self.loads.len().max(1) as f64
    }

    /// Requests of each load until each of its lines was accessed often enough.
    fn rounds(&self) -> u64 {
        let half_life = self.half_life();
        let wanted = self.loads.iter().map(|load| {
            let (spot, area) = self.parts(load);
            let hot = spot.map_or(0.0, Part::requests);
            if area.frequency * half_life < SELDOM {
                return hot;
            }
            hot.max(area.requests().min(WARM_HALF_LIVES * half_life))
        });
        wanted.fold(0.0, f64::max).min(self.most()) as u64
    }

    /// Parts of which each line becomes hot, but not within the requests that are drawn.
    fn to_pass(&self, load: &WorkloadPlan) -> impl Iterator<Item = Part> {
        let (spot, area) = self.parts(load);
        let sure = |part: &Part| {
            self.params.promote_after == 1 || part.frequency * self.half_life() >= WARM_ACCESSES
        };
        let random = load.access == Access::Random;
        [Some(area), spot]
            .into_iter()
            .flatten()
            .filter(move |part| random && part.requests() > self.most() && sure(part))
    }

    /// Each line of a part is accessed until it is hot, in random order: that of the last accesses
    /// to lines that are accessed alike.
    fn pass(&self, map: &mut SsdCache, load: &WorkloadPlan, part: Part) {
        let line = u64::from(self.decisions.line.get());
        let once = WorkloadPlan {
            threads: 1,
            passes: 1,
            block_bytes: line,
            align_bytes: line,
            area_start_bytes: part.start,
            area_bytes: part.bytes.max(line),
            hot_spot: None,
            ..load.clone()
        };
        let mut lines = Load::shadow(&once, self.seed, "pass");
        let mut batch: Vec<Shadow> = Vec::with_capacity(BATCH);
        loop {
            let drawn = std::iter::from_fn(|| lines.next(0)).take(BATCH);
            batch.extend(drawn.map(|request| self.decisions.shadow(&request)));
            if batch.is_empty() {
                return;
            }
            fetch(map, &batch);
            for shadow in batch.drain(..) {
                for _ in 0..self.params.promote_after {
                    self.decisions.imagine(map, shadow, true);
                }
                while imagine_cleaned(map) {}
            }
        }
    }

    fn end(&self, mut map: SsdCache) -> SsdCache {
        for load in &self.loads {
            for part in self.to_pass(load) {
                self.pass(&mut map, load, part);
            }
        }
        let mut loads: Vec<Load> = self
            .loads
            .iter()
            .map(|load| Load::shadow(load, self.seed, "past"))
            .collect();
        let rounds = self.rounds();
        let mut until_halved = self.half_life;
        let mut batch: Vec<Shadow> = Vec::with_capacity(BATCH + loads.len());
        let mut thread: u32 = 0;
        for round in 1..=rounds {
            for (load, plan) in loads.iter_mut().zip(&self.loads) {
                let drawn = load.next(thread % plan.threads);
                batch.extend(drawn.map(|request| self.decisions.shadow(&request)));
            }
            thread = thread.wrapping_add(1);
            if batch.len() >= BATCH || round == rounds {
                fetch(&map, &batch);
                for shadow in batch.drain(..) {
                    self.decisions.imagine(&mut map, shadow, true);
                    while imagine_cleaned(&mut map) {}
                    until_halved -= 1;
                    if until_halved == 0 {
                        map.halve_counts();
                        until_halved = self.half_life;
                    }
                }
            }
        }
        map
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::HotSpotPlan;
    use crate::raid::redirect::NewData;
    use raidlab_kernel::Divider;
    use raidlab_models::ArrayLine;

    const LINE: u64 = 65_536;

    /// Requests of a line to an area of `area` lines, 85 % of them to its hot spot.
    fn history(slots: u32, area: u64, spot: u64, half_life: u64) -> History {
        let load = WorkloadPlan {
            name: "load".into(),
            array: 0,
            threads: 1,
            access: Access::Random,
            read_share: 0.67,
            block_bytes: LINE,
            align_bytes: LINE,
            area_start_bytes: 0,
            area_bytes: area * LINE,
            hot_spot: Some(HotSpotPlan {
                share: 0.85,
                start_bytes: 0,
                bytes: spot * LINE,
            }),
            arrival: Arrival::Poisson { per_s: 1000.0 },
            limits: Vec::new(),
            share: None,
            client: None,
            passes: 0,
            page_cache: None,
            sync: None,
        };
        History {
            params: SsdCacheParams {
                slots,
                lines: area,
                promote_after: 3,
                dirty_share: 0.5,
            },
            decisions: Decisions {
                line: Divider::new(LINE as u32),
                new_data: NewData::ToSsds,
            },
            half_life,
            seed: 1,
            loads: vec![load],
        }
    }

    /// The share of a number of further requests that hit, by the same decisions.
    fn hits(history: &History, map: &mut SsdCache, requests: u64) -> f64 {
        let mut load = Load::shadow(&history.loads[0], 2, "afterwards");
        let mut hits = 0;
        for request in 1..=requests {
            let access = load.next(0).unwrap();
            let line = ArrayLine::of(access.offset, history.decisions.line);
            hits += u64::from(map.slot(line).is_some());
            history
                .decisions
                .imagine(map, history.decisions.shadow(&access), true);
            while imagine_cleaned(map) {}
            if request % history.half_life == 0 {
                map.halve_counts();
            }
        }
        hits as f64 / requests as f64
    }

    /// 200 GB in lines of 4 KiB, each access of which makes a line hot: 49 million lines, for which
    /// twelve accesses each are too many. With three accesses to promote it depends on the time.
    #[test]
    fn a_pass_makes_hot_what_draws_do_not_reach() {
        let mut large = history(6_000, 49_000_000, 6_000, 10_000);
        large.loads[0].hot_spot = None;
        assert_eq!(large.to_pass(&large.loads[0]).count(), 0);
        large.params.promote_after = 1;
        assert_eq!(large.to_pass(&large.loads[0]).count(), 1);
        large.loads[0].access = Access::Sequential;
        assert_eq!(large.to_pass(&large.loads[0]).count(), 0);
    }

    /// All of 5,000 lines where there is room, else as many as fit.
    #[test]
    fn a_pass_leaves_a_cache_as_full_as_it_can_be() {
        for (slots, held) in [(6_000, 5_000), (3_000, 3_000)] {
            let history = history(slots, 5_000, 1_000, 10_000);
            let mut map = SsdCache::new(&history.params).unwrap();
            let (_, area) = history.parts(&history.loads[0]);
            history.pass(&mut map, &history.loads[0], area);
            assert_eq!(map.len(), held);
            map.check().unwrap();
        }
    }

    /// Less, about as much and more room than the hot spot takes; counts that are hardly halved, and
    /// counts that are before a cold line has had three accesses.
    #[test]
    fn a_warm_cache_hits_as_often_as_the_long_run() {
        for (slots, area, spot) in [
            (3_000, 60_000, 6_000),
            (6_000, 60_000, 6_000),
            (6_000, 20_000, 3_000),
        ] {
            for half_life in [10_000_000, 100_000] {
                let history = history(slots, area, spot, half_life);
                let empty = SsdCache::new(&history.params).unwrap();
                let mut map = history.end(empty);
                let first = hits(&history, &mut map, 100_000);
                hits(&history, &mut map, 3_000_000);
                let later = hits(&history, &mut map, 400_000);
                assert!(
                    (first / later - 1.0).abs() < 0.03,
                    "{slots} slots, {area} lines, {spot} hot, halved after {half_life}: {first}, \
                     in the long run {later}"
                );
            }
        }
    }
}
