//! Skewed distributions of blocks: Zipf, Pareto, normal.
//!
//! Source: J. Gray et al., Quickly generating billion-record synthetic databases, SIGMOD 1994, for
//! Zipf; fio's manual, `random_distribution`. A block's rank is multiplied by 2^64 over the golden
//! ratio, so that hot blocks lie scattered.

use crate::plan::Distribution;
use crate::random::Taus88;

/// 2^64 over the golden ratio, odd.
const GOLDEN: u64 = 0x61C8_8646_80B5_83EB;
/// Terms of the zeta function at the most, as fio has it.
const MOST_TERMS: u64 = 10_000_000;
/// This number of terms is summed one by one; the rest is Euler's and Maclaurin's sum.
const TERMS: u64 = 1000;
/// Uniform numbers in a normal one.
const SUMMED: u64 = 12;

/// Draws block numbers below `blocks`.
#[derive(Debug)]
pub(crate) struct Skewed {
    blocks: u64,
    shift: u64,
    law: Law,
    random: Taus88,
    /// True if hot blocks lie scattered, not side by side.
    scattered: bool,
}

#[derive(Clone, Copy, Debug)]
enum Law {
    Zipf {
        zeta: f64,
        alpha: f64,
        eta: f64,
        second: f64,
    },
    Pareto {
        power: f64,
    },
    Normal {
        deviation: u32,
    },
}

/// The sum of `1 / n^theta` for `n` from 1 to `last`.
pub(crate) fn zeta(last: u64, theta: f64) -> f64 {
    let term = |n: u64| libm::pow(1.0 / n as f64, theta);
    let direct: f64 = (1..=last.min(TERMS)).map(term).sum();
    if last <= TERMS {
        return direct;
    }
    let (from, to) = (TERMS as f64, last as f64);
    let power = 1.0 - theta;
    let area = if power.abs() < 1e-12 {
        libm::log(to / from)
    } else {
        (libm::pow(to, power) - libm::pow(from, power)) / power
    };
    let slope = |n: f64| -theta * libm::pow(n, -theta - 1.0);
    let third = |n: f64| -theta * (theta + 1.0) * (theta + 2.0) * libm::pow(n, -theta - 3.0);
    direct + area + (term(last) - term(TERMS)) / 2.0 + (slope(to) - slope(from)) / 12.0
        - (third(to) - third(from)) / 720.0
}

impl Skewed {
    /// None for a distribution that draws no skewed numbers.
    pub(crate) fn new(plan: Distribution, blocks: u64, seed: u32) -> Option<Skewed> {
        let mut random = Taus88::new(u64::from(seed));
        let mut shift = |center: Option<f64>| {
            let any = u64::from(random.bits());
            center.map_or(any, |center| (blocks as f64 * center) as u64)
        };
        let (shift, law) = match plan {
            Distribution::Zipf { theta, center } => {
                let zeta = zeta(blocks.min(MOST_TERMS), theta);
                let second = libm::pow(0.5, theta);
                let law = Law::Zipf {
                    zeta,
                    alpha: 1.0 / (1.0 - theta),
                    eta: (1.0 - libm::pow(2.0 / blocks as f64, 1.0 - theta))
                        / (1.0 - (1.0 + second) / zeta),
                    second,
                };
                (shift(center), law)
            }
            Distribution::Pareto { h, center } => {
                let power = libm::log(h) / libm::log(1.0 - h);
                (shift(center), Law::Pareto { power })
            }
            Distribution::Normal { deviation, center } => {
                let width = libm::ceil(blocks as f64 * deviation / 100.0);
                let deviation = width.min((blocks / 2) as f64) as u32;
                // fio adds a place left of the first block modulo 2^32.
                let from = |center: f64| {
                    let place = (blocks as f64 * (center - 0.5)) as i64;
                    u64::from(place as u32)
                };
                (center.map_or(0, from), Law::Normal { deviation })
            }
            _ => return None,
        };
        Some(Skewed {
            blocks,
            shift,
            law,
            random,
            scattered: true,
        })
    }

    /// These numbers, hot ones side by side.
    pub(crate) fn side_by_side(self) -> Skewed {
        Skewed {
            scattered: false,
            ..self
        }
    }

    /// The next block.
    pub(crate) fn next(&mut self) -> u64 {
        let rank = match self.law {
            Law::Zipf {
                zeta,
                alpha,
                eta,
                second,
            } => {
                let share = self.share();
                let sum = share * zeta;
                if sum < 1.0 {
                    0
                } else if sum < 1.0 + second {
                    1
                } else {
                    (self.blocks as f64 * libm::pow(eta * share - eta + 1.0, alpha)) as u64
                }
            }
            Law::Pareto { power } => {
                ((self.blocks - 1) as f64 * libm::pow(self.share(), power)) as u64
            }
            Law::Normal { deviation } => self.normal(deviation),
        };
        let place = if self.scattered {
            rank.wrapping_mul(GOLDEN)
        } else {
            rank
        };
        place.wrapping_add(self.shift) % self.blocks
    }

    fn share(&mut self) -> f64 {
        f64::from(self.random.bits()) / f64::from(u32::MAX)
    }

    fn normal(&mut self, deviation: u32) -> u64 {
        let draws = (0..SUMMED).map(|_| u64::from(self.random.bits()) % (self.blocks + 1));
        let sum = draws.sum::<u64>().div_ceil(SUMMED) as i64;
        if deviation == 0 {
            return sum as u64;
        }
        let share = f64::from(self.random.bits()) / (f64::from(u32::MAX) + 1.0);
        let mut apart = (f64::from(deviation) * share) as i64 - i64::from(deviation / 2);
        while apart != 0 && !(0..self.blocks as i64).contains(&(sum + apart)) {
            apart /= 2;
        }
        (sum + apart) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_zeta_sum_is_that_of_its_terms() {
        for theta in [0.5, 0.9, 1.2, 2.0] {
            let terms = (1..=50_000u64).map(|n| libm::pow(1.0 / n as f64, theta));
            let direct: f64 = terms.sum();
            assert!(
                (zeta(50_000, theta) / direct - 1.0).abs() < 1e-12,
                "{theta}"
            );
        }
    }
}
