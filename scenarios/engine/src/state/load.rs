//! The load generator: which I/O a workload issues next.

use crate::plan::{Access, HotSpotPlan, WorkloadPlan};
use raidlab_io::{ByteRange, Op};
use raidlab_kernel::{Stream, prefetch};

/// What an I/O asks for, before it has a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Read or write.
    pub op: Op,
    /// First byte on the array.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// True of a write with FUA.
    pub fua: bool,
}

impl Request {
    /// The bytes of the array that it is about.
    pub const fn range(&self) -> ByteRange {
        ByteRange::new(self.offset, self.bytes)
    }
}

/// Draws the I/Os of one workload.
#[derive(Debug)]
pub struct Load {
    access: Access,
    read_share: f64,
    /// True if its writes carry FUA.
    fua: bool,
    block: u64,
    align: u64,
    start: u64,
    /// Number of aligned places at which an I/O may begin.
    places: u64,
    /// Where each thread's sequential stream goes on.
    cursors: Vec<u64>,
    /// Bytes between the starts of the threads' sequential streams.
    share: u64,
    /// I/Os that each thread still makes; empty if there is no end to them.
    left: Vec<u64>,
    /// The order of the blocks of a random load that covers its area.
    cover: Option<Cover>,
    hot_spot: Option<HotSpot>,
    offsets: Stream,
    kinds: Stream,
    /// Whether an I/O goes to the hot spot.
    spots: Stream,
}

#[derive(Clone, Copy, Debug)]
struct HotSpot {
    share: f64,
    /// First place, and number of places.
    first: u64,
    places: u64,
}

/// Every block of an area once, in random order: a permutation that needs no memory, four rounds
/// of a Feistel network over the next even power of two; what falls beyond goes through it again.
#[derive(Debug)]
struct Cover {
    blocks: u64,
    half_bits: u32,
    keys: [u64; 4],
    taken: u64,
}

impl Cover {
    fn new(blocks: u64, draws: &mut Stream) -> Cover {
        let bits = 64 - (blocks - 1).leading_zeros();
        Cover {
            blocks,
            half_bits: bits.div_ceil(2).max(1),
            keys: std::array::from_fn(|_| draws.bits()),
            taken: 0,
        }
    }

    fn next(&mut self) -> u64 {
        let mut block = self.permute(self.taken % self.blocks);
        while block >= self.blocks {
            block = self.permute(block);
        }
        self.taken += 1;
        block
    }

    fn permute(&self, block: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (block >> self.half_bits, block & mask);
        for key in self.keys {
            // A product's highest bits depend on all bits of its factors, others may not change at all.
            let mixed = (right ^ key).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - self.half_bits);
            (left, right) = (right, left ^ mixed);
        }
        (left << self.half_bits) | right
    }
}

impl Load {
    /// The generator of `plan`, whose area holds at least one block.
    pub fn new(plan: &WorkloadPlan, seed: u64) -> Load {
        Load::of(plan, seed, "")
    }

    /// This load with other random numbers: `purpose` distinguishes them.
    pub fn shadow(plan: &WorkloadPlan, seed: u64, purpose: &str) -> Load {
        Load::of(plan, seed, &format!("{purpose} "))
    }

    fn of(plan: &WorkloadPlan, seed: u64, purpose: &str) -> Load {
        let stream = |what| Stream::new(seed, &plan.name, &format!("{purpose}{what}"));
        let hot_spot = |spot: &HotSpotPlan| HotSpot {
            share: spot.share,
            first: (spot.start_bytes - plan.area_start_bytes) / plan.align_bytes,
            places: spot.bytes.saturating_sub(plan.block_bytes) / plan.align_bytes + 1,
        };
        let threads = u64::from(plan.threads);
        let share = plan.area_bytes / threads / plan.align_bytes * plan.align_bytes;
        let share = share.max(plan.block_bytes);
        let blocks = plan.area_bytes / plan.block_bytes;
        let passes = u64::from(plan.passes);
        let each = match plan.access {
            Access::Random => (blocks / threads).max(1).saturating_mul(passes),
            Access::Sequential => (share / plan.block_bytes).saturating_mul(passes),
        };
        let mut order = Stream::new(seed, &plan.name, "order");
        let covers = passes > 0 && plan.access == Access::Random;
        Load {
            access: plan.access,
            read_share: plan.read_share,
            fua: plan.sync.is_some_and(|sync| sync.fua),
            block: plan.block_bytes,
            align: plan.align_bytes,
            start: plan.area_start_bytes,
            places: (plan.area_bytes - plan.block_bytes) / plan.align_bytes + 1,
            cursors: (0..threads).map(|thread| thread * share).collect(),
            share,
            left: vec![each; if passes > 0 { threads as usize } else { 0 }],
            cover: covers.then(|| Cover::new(blocks, &mut order)),
            hot_spot: plan.hot_spot.as_ref().map(hot_spot),
            offsets: stream("offset"),
            kinds: stream("read or write"),
            spots: stream("hot or cold"),
        }
    }

    /// Prefetches what the next I/O is drawn from.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(&self.access);
        prefetch(&self.block);
        prefetch(&self.left);
        prefetch(&self.hot_spot);
        prefetch(&self.offsets);
        prefetch(&self.kinds);
    }

    /// True if it covers its area a given number of times and not for ever.
    pub fn has_end(&self) -> bool {
        !self.left.is_empty()
    }

    /// True if the load writes nothing.
    pub fn only_reads(&self) -> bool {
        self.read_share >= 1.0
    }

    /// The next I/O of `thread`; none if it has made all of its own.
    #[inline(always)]
    pub fn next(&mut self, thread: u32) -> Option<Request> {
        if let Some(left) = self.left.get_mut(thread as usize) {
            *left = left.checked_sub(1)?;
        }
        let op = if self.read_share >= 1.0 {
            Op::Read
        } else if self.read_share <= 0.0 {
            Op::Write
        } else if self.kinds.chance(self.read_share) {
            Op::Read
        } else {
            Op::Write
        };
        let within = match (self.access, &mut self.cover) {
            (Access::Random, Some(cover)) => cover.next() * self.block,
            (Access::Random, None) => self.random_place() * self.align,
            (Access::Sequential, _) => self.next_in_sequence(thread),
        };
        Some(Request {
            op,
            offset: self.start + within,
            bytes: self.block,
            fua: self.fua && op == Op::Write,
        })
    }

    fn random_place(&mut self) -> u64 {
        match self.hot_spot {
            Some(spot) if self.spots.chance(spot.share) => {
                spot.first + self.offsets.below(spot.places)
            }
            _ => self.offsets.below(self.places),
        }
    }

    /// The hot spot begins at this byte from now on.
    pub fn move_hot_spot(&mut self, start: u64) {
        if let Some(spot) = &mut self.hot_spot {
            spot.first = start.saturating_sub(self.start) / self.align;
        }
    }

    fn next_in_sequence(&mut self, thread: u32) -> u64 {
        let first = u64::from(thread) * self.share;
        let cursor = &mut self.cursors[thread as usize];
        let last = (self.places - 1) * self.align;
        if *cursor + self.block > first + self.share || *cursor > last {
            *cursor = first.min(last);
        }
        let offset = *cursor;
        *cursor += self.block;
        offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Arrival;
    use proptest::prelude::*;
    use raidlab_kernel::Nanos;

    fn plan(access: Access, threads: u32, area: u64, block: u64) -> WorkloadPlan {
        WorkloadPlan {
            name: "load".into(),
            array: 0,
            threads,
            access,
            read_share: 0.67,
            block_bytes: block,
            align_bytes: 512,
            area_start_bytes: 1 << 20,
            area_bytes: area,
            hot_spot: None,
            arrival: Arrival::Closed {
                outstanding: 1,
                think_ns: Nanos::ZERO,
                exponential: false,
            },
            limits: Vec::new(),
            share: None,
            client: None,
            passes: 0,
            page_cache: None,
            sync: None,
        }
    }

    #[test]
    fn sequential_streams_of_threads_start_apart_and_wrap() {
        let mut load = Load::new(&plan(Access::Sequential, 2, 8 * 4096, 4096), 1);
        let offsets: Vec<u64> = (0..5)
            .map(|_| load.next(1).unwrap().offset - (1 << 20))
            .collect();
        assert_eq!(offsets, [16384, 20480, 24576, 28672, 16384]);
        assert_eq!(load.next(0).unwrap().offset, 1 << 20);
    }

    /// 2^53 blocks, 2^31 times: the number of blocks is more than 64 bits hold, and came out as 0.
    #[test]
    fn passes_beyond_all_counting_do_not_end_at_once() {
        let mut plan = plan(Access::Sequential, 1, 1 << 62, 512);
        plan.passes = 1 << 31;
        assert!(Load::new(&plan, 1).next(0).is_some());
    }

    proptest! {
        #[test]
        fn offsets_are_aligned_and_inside_the_area(
            random in any::<bool>(),
            threads in 1u32..5,
            blocks in 1u64..100,
            extra in 0u64..5000,
            block in 1u64..20,
        ) {
            let access = if random { Access::Random } else { Access::Sequential };
            let (block, area) = (block * 512, blocks * block * 512 + extra);
            let plan = plan(access, threads, area, block);
            let mut load = Load::new(&plan, 3);
            for n in 0..200 {
                let request = load.next(n % threads).unwrap();
                prop_assert!(request.offset % 512 == 0);
                prop_assert!(request.offset >= 1 << 20);
                prop_assert!(request.offset + request.bytes <= (1 << 20) + area);
            }
        }

        /// Four fifths of the I/Os, and a tenth of the rest, meet a tenth of the area.
        #[test]
        fn a_hot_spot_has_its_share_wherever_it_is(start in 0u64..(9 << 20)) {
            let mut plan = plan(Access::Random, 1, 10 << 20, 512);
            plan.hot_spot = Some(HotSpotPlan { share: 0.8, start_bytes: 1 << 20, bytes: 1 << 20 });
            let mut load = Load::new(&plan, 5);
            let start = (1 << 20) + start / 512 * 512;
            load.move_hot_spot(start);
            let spot = start..start + (1 << 20);
            let hits = (0..20_000).filter(|_| spot.contains(&load.next(0).unwrap().offset)).count();
            // Five standard deviations: 5 sqrt(0.82 * 0.18 / 20000).
            prop_assert!((hits as f64 / 20_000.0 - 0.82).abs() < 0.0136);
        }

        #[test]
        fn a_load_that_covers_its_area_asks_for_every_block_once(
            blocks in 1u64..3000, random: bool, seed: u64,
        ) {
            let access = if random { Access::Random } else { Access::Sequential };
            let mut plan = plan(access, 1, blocks * 4096, 4096);
            plan.passes = 1;
            let mut load = Load::new(&plan, seed);
            let mut asked: Vec<u64> = std::iter::from_fn(|| load.next(0))
                .map(|request| (request.offset - (1 << 20)) / 4096)
                .collect();
            if random && blocks > 100 {
                prop_assert!(asked.windows(2).any(|pair| pair[1] < pair[0]));
            }
            asked.sort_unstable();
            prop_assert!(asked.into_iter().eq(0..blocks));
        }

        #[test]
        fn the_read_share_is_what_was_asked(share in 0.0f64..=1.0) {
            let mut plan = plan(Access::Random, 1, 1 << 30, 8192);
            plan.read_share = share;
            let mut load = Load::new(&plan, 5);
            let reads = (0..20_000).filter(|_| load.next(0).unwrap().op == Op::Read).count();
            // Five standard deviations of a binomial at its widest: 5 sqrt(0.25 / 20000).
            prop_assert!((reads as f64 / 20_000.0 - share).abs() < 0.0177);
        }
    }
}
