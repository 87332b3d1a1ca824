//! How many bytes an I/O has: one size, a range, or shares of several sizes.

use crate::plan::{JobPlan, Sizes};
use crate::random::{Purpose, Random, SeedTable};

/// Draws the sizes of one direction.
#[derive(Debug)]
pub(crate) struct SizeDraw {
    min: u64,
    max: u64,
    split: Vec<(u64, u64)>,
    unaligned: bool,
    random: Random,
}

impl SizeDraw {
    /// Of all three directions.
    pub(crate) fn of_all(plan: &JobPlan, seeds: &SeedTable, wide: bool) -> [SizeDraw; 3] {
        let writes_as = if plan.seeds.same_sizes {
            Purpose::ReadSizes
        } else {
            Purpose::WriteSizes
        };
        let trims = if plan.direction == crate::plan::Direction::TrimWrite {
            writes_as
        } else {
            Purpose::TrimSizes
        };
        let draw = |sizes: &Sizes, purpose| SizeDraw {
            min: sizes.min,
            max: sizes.max,
            split: sizes.split.clone(),
            unaligned: plan.unaligned,
            random: Random::new(seeds.of(purpose), wide),
        };
        let [reads, writes, trimmed] = &plan.sizes;
        [
            draw(reads, Purpose::ReadSizes),
            draw(writes, writes_as),
            draw(trimmed, trims),
        ]
    }

    /// The next size of at most `space` bytes; none if there is no such size.
    pub(crate) fn next(&mut self, space: u64) -> Option<u64> {
        if self.min == self.max {
            return Some(self.min);
        }
        if self.least() > space {
            return None;
        }
        loop {
            let drawn = self.random.bits();
            let mut bytes = if self.split.is_empty() {
                let share = drawn as f64 / (self.random.most() as f64 + 1.0);
                self.min + (self.max as f64 * share) as u64
            } else {
                self.of_split(drawn, space)
            };
            if !self.unaligned {
                bytes -= bytes % self.min;
            }
            bytes = bytes.min(self.max);
            if bytes <= space {
                return Some(bytes);
            }
        }
    }

    /// The least size that is ever drawn.
    fn least(&self) -> u64 {
        let drawn = self.split.iter().filter(|(_, percent)| *percent > 0);
        drawn.map(|&(size, _)| size).min().unwrap_or(self.min)
    }

    fn of_split(&self, drawn: u64, space: u64) -> u64 {
        let part = self.random.most() / 100;
        let (mut sum, mut bytes) = (0, self.min);
        for &(size, percent) in self.split.iter().filter(|(_, percent)| *percent > 0) {
            bytes = size;
            sum += percent;
            if drawn / sum <= part && size <= space {
                break;
            }
        }
        bytes
    }
}
