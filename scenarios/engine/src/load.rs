//! The load generator: which I/O a workload issues next.

use crate::plan::{Access, WorkloadPlan};
use raidlab_kernel::{Op, Stream};

/// What an I/O asks for, before it has a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Read or write.
    pub op: Op,
    /// First byte on the array.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u64,
}

/// Draws the I/Os of one workload.
#[derive(Debug)]
pub struct Load {
    access: Access,
    read_share: f64,
    block: u64,
    align: u64,
    start: u64,
    /// Number of aligned places at which an I/O may begin.
    places: u64,
    /// Where each thread's sequential stream goes on.
    cursors: Vec<u64>,
    /// Bytes between the starts of the threads' sequential streams.
    share: u64,
    offsets: Stream,
    kinds: Stream,
}

impl Load {
    /// The generator of `plan`, whose area holds at least one block.
    pub fn new(plan: &WorkloadPlan, seed: u64) -> Load {
        let threads = u64::from(plan.threads);
        let share = plan.area_bytes / threads / plan.align_bytes * plan.align_bytes;
        Load {
            access: plan.access,
            read_share: plan.read_share,
            block: plan.block_bytes,
            align: plan.align_bytes,
            start: plan.area_start_bytes,
            places: (plan.area_bytes - plan.block_bytes) / plan.align_bytes + 1,
            cursors: (0..threads).map(|thread| thread * share).collect(),
            share: share.max(plan.block_bytes),
            offsets: Stream::new(seed, &plan.name, "offset"),
            kinds: Stream::new(seed, &plan.name, "read or write"),
        }
    }

    /// The next I/O of `thread`.
    #[inline]
    pub fn next(&mut self, thread: u32) -> Request {
        let op = if self.read_share >= 1.0 {
            Op::Read
        } else if self.read_share <= 0.0 {
            Op::Write
        } else if self.kinds.chance(self.read_share) {
            Op::Read
        } else {
            Op::Write
        };
        let within = match self.access {
            Access::Random => self.offsets.below(self.places) * self.align,
            Access::Sequential => self.next_in_sequence(thread),
        };
        Request {
            op,
            offset: self.start + within,
            bytes: self.block,
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
            arrival: Arrival::Closed {
                outstanding: 1,
                think_ns: Nanos::ZERO,
                exponential: false,
            },
        }
    }

    #[test]
    fn sequential_streams_of_threads_start_apart_and_wrap() {
        let mut load = Load::new(&plan(Access::Sequential, 2, 8 * 4096, 4096), 1);
        let offsets: Vec<u64> = (0..5).map(|_| load.next(1).offset - (1 << 20)).collect();
        assert_eq!(offsets, [16384, 20480, 24576, 28672, 16384]);
        assert_eq!(load.next(0).offset, 1 << 20);
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
                let request = load.next(n % threads);
                prop_assert!(request.offset % 512 == 0);
                prop_assert!(request.offset >= 1 << 20);
                prop_assert!(request.offset + request.bytes <= (1 << 20) + area);
            }
        }

        #[test]
        fn the_read_share_is_what_was_asked(share in 0.0f64..=1.0) {
            let mut plan = plan(Access::Random, 1, 1 << 30, 8192);
            plan.read_share = share;
            let mut load = Load::new(&plan, 5);
            let reads = (0..20_000).filter(|_| load.next(0).op == Op::Read).count();
            // Five standard deviations of a binomial at its widest: 5 sqrt(0.25 / 20000).
            prop_assert!((reads as f64 / 20_000.0 - share).abs() < 0.0177);
        }
    }
}
