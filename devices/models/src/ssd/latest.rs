//! What a load that went on until the run began has left in the write buffer.
//!
//! A buffer that fills by the difference between what a host sends and what NAND takes in may
//! need seconds to become full, and until then writes are faster than they can go on. So a drive
//! on which a load has been going on starts with a full buffer; if NAND is the faster one, the
//! buffer is empty again soon.

use super::state::{PastAccess, PastLoad};
use raidlab_kernel::Stream;

/// Draws the units that were written last.
#[derive(Debug)]
pub(super) struct Latest {
    loads: Vec<PastLoad>,
    draws: Stream,
    unit_bytes: u64,
}

impl Latest {
    /// What the loads of `history` that went on to the end have written; none if all had ended.
    pub(super) fn of(history: &[PastLoad], unit_bytes: u32, draws: Stream) -> Option<Box<Latest>> {
        let ongoing = history.iter().filter(|load| load.ongoing);
        let loads: Vec<PastLoad> = ongoing.copied().collect();
        (!loads.is_empty()).then(|| {
            Box::new(Latest {
                loads,
                draws,
                unit_bytes: u64::from(unit_bytes),
            })
        })
    }

    /// The units of `count`, in the order of their writing.
    pub(super) fn units(&mut self, count: u32) -> impl Iterator<Item = u32> + '_ {
        (0..u64::from(count)).map(move |index| {
            let among = self.loads.len() as u64;
            let load = &self.loads[(index % among) as usize];
            let units = (load.area_bytes / self.unit_bytes).max(1);
            let first = load.start_bytes / self.unit_bytes;
            let block = (load.block_bytes / self.unit_bytes).clamp(1, units);
            let offset = match load.access {
                // The end of the area, up to its last unit.
                PastAccess::Sequential => (units + index / among)
                    .saturating_sub(u64::from(count) / among)
                    .min(units - 1),
                PastAccess::Random => self.draws.below(units / block) * block + index % block,
            };
            (first + offset) as u32
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(access: PastAccess, ongoing: bool) -> PastLoad {
        PastLoad {
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
        let history = [load(PastAccess::Sequential, true)];
        let mut latest = Latest::of(&history, 4096, draws.clone()).unwrap();
        assert_eq!(latest.units(3).collect::<Vec<_>>(), [27, 28, 29]);
        let history = [load(PastAccess::Random, true)];
        let mut latest = Latest::of(&history, 4096, draws.clone()).unwrap();
        assert!(latest.units(100).all(|unit| (10..30).contains(&unit)));
        let history = [load(PastAccess::Random, false)];
        assert!(Latest::of(&history, 4096, draws).is_none());
    }
}
