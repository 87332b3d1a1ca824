//! fio's generators of random numbers and their seeds.
//!
//! Source: P. L'Ecuyer, Maximally equidistributed combined Tausworthe generators, Mathematics of
//! Computation 65 (1996) 203, and Tables of maximally equidistributed combined LFSR generators,
//! Mathematics of Computation 68 (1999) 261. How fio 3.33 seeds them was read off its behaviour
//! and source.

use crate::plan::Seeds;

/// Draws that are thrown away behind a seed.
const WARM_UP: u32 = 6;
/// What a state begins with: fio's source has exclusive-ors of small numbers here.
const FIRST: u64 = 29 + 19 + 5;
const FIXED_SEED: u64 = 0xb189_9bed;
const SEED_FACTOR: u64 = 0x9e37_0001;

/// taus88: 32 bits.
#[derive(Clone, Debug)]
pub(crate) struct Taus88([u32; 3]);

impl Taus88 {
    pub(crate) fn new(seed: u64) -> Taus88 {
        let seed = seed as u32;
        let step = |from: u32, least: u32| {
            let next = from.wrapping_mul(69069) ^ seed;
            if next < least { next + least } else { next }
        };
        let s1 = step(FIRST as u32, 1);
        let s2 = step(s1, 7);
        let s3 = step(s2, 15);
        let mut new = Taus88([s1, s2, s3]);
        for _ in 0..WARM_UP {
            new.bits();
        }
        new
    }

    pub(crate) fn bits(&mut self) -> u32 {
        let [s1, s2, s3] = &mut self.0;
        *s1 = ((*s1 & 0xffff_fffe) << 12) ^ (((*s1 << 13) ^ *s1) >> 19);
        *s2 = ((*s2 & 0xffff_fff8) << 4) ^ (((*s2 << 2) ^ *s2) >> 25);
        *s3 = ((*s3 & 0xffff_fff0) << 17) ^ (((*s3 << 3) ^ *s3) >> 11);
        *s1 ^ *s2 ^ *s3
    }

    /// A whole number from 1 to 100.
    pub(crate) fn percent(&mut self) -> u32 {
        1 + (100.0 * (f64::from(self.bits()) / 4_294_967_296.0)) as u32
    }
}

/// taus258: 64 bits.
#[derive(Clone, Debug)]
pub(crate) struct Taus258([u64; 5]);

impl Taus258 {
    fn new(seed: u64) -> Taus258 {
        let step = |from: u64, least: u64| {
            let next = from.wrapping_mul(6_906_969_069) ^ seed;
            if next < least { next + least } else { next }
        };
        let mut state = [0; 5];
        let mut last = FIRST;
        for (each, least) in state.iter_mut().zip([1, 7, 15, 33, 49]) {
            last = step(last, least);
            *each = last;
        }
        let mut new = Taus258(state);
        for _ in 0..WARM_UP {
            new.bits();
        }
        new
    }

    fn bits(&mut self) -> u64 {
        /// Left shift, right shift, cleared low bits and second left shift of each component.
        const STEPS: [(u32, u32, u32, u32); 5] = [
            (1, 53, 1, 10),
            (24, 50, 9, 5),
            (3, 23, 12, 29),
            (5, 24, 17, 23),
            (3, 33, 23, 8),
        ];
        let mut all = 0;
        for (state, (q, shift, low, s)) in self.0.iter_mut().zip(STEPS) {
            let fed = ((*state << q) ^ *state) >> shift;
            *state = ((*state & (u64::MAX << low)) << s) ^ fed;
            all ^= *state;
        }
        all
    }
}

/// Either of them.
#[derive(Clone, Debug)]
pub(crate) enum Random {
    Narrow(Taus88),
    Wide(Box<Taus258>),
}

impl Random {
    pub(crate) fn new(seed: u64, wide: bool) -> Random {
        if wide {
            Random::Wide(Box::new(Taus258::new(seed)))
        } else {
            Random::Narrow(Taus88::new(seed))
        }
    }

    pub(crate) fn bits(&mut self) -> u64 {
        match self {
            Random::Narrow(random) => u64::from(random.bits()),
            Random::Wide(random) => random.bits(),
        }
    }

    /// The greatest number that it gives.
    pub(crate) fn most(&self) -> u64 {
        match self {
            Random::Narrow(_) => u64::from(u32::MAX),
            Random::Wide(_) => u64::MAX,
        }
    }

    /// A whole number below `bound`, as fio rounds it.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        let share = self.bits() as f64 / (self.most() as f64 + 1.0);
        (bound as f64 * share) as u64
    }
}

/// What is drawn, by its place among a thread's seeds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    ReadSizes = 0,
    WriteSizes = 1,
    TrimSizes = 2,
    Mix = 4,
    Files = 5,
    Blocks = 6,
    Order = 10,
    ReadGaps = 15,
    Zones = 16,
    WriteGaps = 17,
    TrimGaps = 18,
}

const PURPOSES: usize = 21;

/// The seeds of one thread.
#[derive(Clone, Debug)]
pub(crate) struct SeedTable([u64; PURPOSES]);

impl SeedTable {
    pub(crate) fn new(seeds: &Seeds, number: u32, random: bool) -> SeedTable {
        let number = u64::from(number);
        let mut seed = seeds.seed;
        for _ in 0..4 {
            seed = seed.wrapping_mul(SEED_FACTOR);
        }
        let mut table = [0; PURPOSES];
        for (at, each) in (0..).zip(&mut table) {
            *each = seed.wrapping_mul(number).wrapping_add(at);
            seed = seed.wrapping_mul(SEED_FACTOR);
        }
        if seeds.repeat_all {
            for (at, each) in (0..).zip(&mut table) {
                *each = FIXED_SEED.wrapping_mul(number).wrapping_add(at);
            }
        }
        if random && seeds.repeat_offsets {
            table[Purpose::Blocks as usize] = FIXED_SEED.wrapping_mul(number);
        }
        SeedTable(table)
    }

    pub(crate) fn of(&self, purpose: Purpose) -> u64 {
        self.0[purpose as usize]
    }
}
