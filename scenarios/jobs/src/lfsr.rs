//! A linear feedback shift register: every block once, without a map.
//!
//! Source: P. Alfke, Efficient shift registers, LFSR counters, and long pseudo-random sequence
//! generators, Xilinx XAPP 052 (1996): registers with exclusive-nor of the taps, whose all-ones
//! state is forbidden. The taps are those that fio 3.33 has.

/// Taps of registers of 3 bits and more.
const TAPS: [&[u32]; 61] = [
    &[3, 2],
    &[4, 3],
    &[5, 3],
    &[6, 5],
    &[7, 6],
    &[8, 6, 5, 4],
    &[9, 5],
    &[10, 7],
    &[11, 9],
    &[12, 6, 4, 1],
    &[13, 4, 3, 1],
    &[14, 5, 3, 1],
    &[15, 14],
    &[16, 15, 13, 4],
    &[17, 14],
    &[18, 11],
    &[19, 6, 2, 1],
    &[20, 17],
    &[21, 19],
    &[22, 21],
    &[23, 18],
    &[24, 23, 22, 17],
    &[25, 22],
    &[26, 6, 2, 1],
    &[27, 5, 2, 1],
    &[28, 25],
    &[29, 27],
    &[30, 6, 4, 1],
    &[31, 28],
    &[32, 31, 29, 1],
    &[33, 20],
    &[34, 27, 2, 1],
    &[35, 33],
    &[36, 25],
    &[37, 5, 4, 3, 2, 1],
    &[38, 6, 5, 1],
    &[39, 35],
    &[40, 38, 21, 19],
    &[41, 38],
    &[42, 41, 20, 19],
    &[43, 42, 38, 37],
    &[44, 43, 18, 17],
    &[45, 44, 42, 41],
    &[46, 45, 26, 25],
    &[47, 42],
    &[48, 47, 21, 20],
    &[49, 40],
    &[50, 49, 24, 23],
    &[51, 50, 36, 35],
    &[52, 49],
    &[53, 52, 38, 37],
    &[54, 53, 18, 17],
    &[55, 31],
    &[56, 55, 35, 34],
    &[57, 50],
    &[58, 39],
    &[59, 58, 38, 37],
    &[60, 59],
    &[61, 60, 46, 45],
    &[62, 61, 6, 5],
    &[63, 62],
];
const LEAST_BITS: u32 = 3;

/// Whole numbers below `count`, each once, in an order that the seed says.
#[derive(Debug)]
pub(crate) struct Lfsr {
    count: u64,
    given: u64,
    state: u64,
    taps: u64,
    top: u64,
}

impl Lfsr {
    pub(crate) fn new(count: u64, seed: u64) -> Lfsr {
        let bits = (u64::BITS - count.leading_zeros()).clamp(LEAST_BITS, 63);
        let taps = TAPS[(bits - LEAST_BITS) as usize].iter();
        let mut new = Lfsr {
            count,
            given: 0,
            state: 0,
            taps: taps.fold(0, |all, tap| all | 1 << (tap - 1)),
            top: 1 << (bits - 1),
        };
        new.reset(seed);
        new
    }

    pub(crate) fn reset(&mut self, seed: u64) {
        let mask = (self.top << 1) - 1;
        self.given = 0;
        self.state = seed & mask;
        if self.state == mask {
            self.state = 0;
        }
    }

    pub(crate) fn next(&mut self) -> Option<u64> {
        if self.given >= self.count {
            return None;
        }
        self.given += 1;
        loop {
            let feed = (self.state & 1).wrapping_sub(1) & self.taps;
            self.state = ((self.state >> 1) | self.top) ^ feed;
            if self.state < self.count {
                return Some(self.state);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_number_comes_once(count in 1u64..5000, seed: u64) {
            let mut register = Lfsr::new(count, seed);
            let mut all: Vec<u64> = std::iter::from_fn(|| register.next()).collect();
            all.sort_unstable();
            prop_assert!(all.into_iter().eq(0..count));
        }
    }
}
