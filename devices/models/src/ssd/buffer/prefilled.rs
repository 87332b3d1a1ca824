//! The write buffer as a load before the run has left it.
//!
//! A buffer fills by the difference between what a host sends and what NAND takes in. That may take
//! seconds, in which writes are faster than in the steady state. So a drive whose last load goes on
//! until the run starts with a full buffer. If NAND is faster than the load, the buffer is empty
//! again soon.

use crate::ssd::preconditioning::load::{HistoryAccess, HistoryLoad};
use raidlab_kernel::Stream;

/// The units that were written last before the run.
#[derive(Debug)]
pub(crate) struct Prefilled {
    loads: Vec<HistoryLoad>,
    draws: Stream,
    unit_bytes: u64,
}

impl Prefilled {
    /// The buffer after the loads of `history` that go on until the run; none if all have ended.
    pub(crate) fn of(
        history: &[HistoryLoad],
        unit_bytes: u32,
        draws: Stream,
    ) -> Option<Box<Prefilled>> {
        let ongoing = history.iter().filter(|load| load.ongoing);
        let loads: Vec<HistoryLoad> = ongoing.copied().collect();
        (!loads.is_empty()).then(|| {
            Box::new(Prefilled {
                loads,
                draws,
                unit_bytes: u64::from(unit_bytes),
            })
        })
    }

    /// The units of `count`, in the order of their writing.
    pub(crate) fn units(&mut self, count: u32) -> impl Iterator<Item = u32> + '_ {
        (0..u64::from(count)).map(move |index| {
            let among = self.loads.len() as u64;
            let load = &self.loads[(index % among) as usize];
            let units = (load.area_bytes / self.unit_bytes).max(1);
            let first = load.start_bytes / self.unit_bytes;
            let block = (load.block_bytes / self.unit_bytes).clamp(1, units);
            let offset = match load.access {
                // The end of the area, up to its last unit.
                HistoryAccess::Sequential => (units + index / among)
                    .saturating_sub(u64::from(count) / among)
                    .min(units - 1),
                HistoryAccess::Random => self.draws.below(units / block) * block + index % block,
            };
            (first + offset) as u32
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(access: HistoryAccess, ongoing: bool) -> HistoryLoad {
        HistoryLoad {
            access,
            start_bytes: 40_960,
            area_bytes: 81_920,
            block_bytes: 8192,
            written_bytes: 0,
            ongoing,
            weight: 1,
            then_rests: false,
        }
    }

    #[test]
    fn the_end_of_a_sequential_stream_and_any_part_of_a_random_one() {
        let draws = Stream::new(1, "drive", "latest writes");
        let history = [load(HistoryAccess::Sequential, true)];
        let mut prefilled = Prefilled::of(&history, 4096, draws.clone()).unwrap();
        assert_eq!(prefilled.units(3).collect::<Vec<_>>(), [27, 28, 29]);
        let history = [load(HistoryAccess::Random, true)];
        let mut prefilled = Prefilled::of(&history, 4096, draws.clone()).unwrap();
        assert!(prefilled.units(100).all(|unit| (10..30).contains(&unit)));
        let history = [load(HistoryAccess::Random, false)];
        assert!(Prefilled::of(&history, 4096, draws).is_none());
    }
}
