//! What a trace is like: mix, sizes, order, rate over time, hot spots, reuse.

mod arrivals;
mod blocks;
mod fenwick;
mod sequence;
mod sizes;

pub use arrivals::Arrivals;
pub use blocks::{Blocks, HotSpot, MissRatio};
pub use sequence::Sequence;
pub use sizes::Sizes;

use crate::requests::Request;
use raidlab_io::Op;
use raidlab_kernel::{Histogram, Nanos};
use schemars::JsonSchema;
use serde::Serialize;

/// Statistics of a trace, made request by request in bounded memory.
pub struct Description {
    by_op: [u64; 4],
    bytes: [u64; 4],
    sizes: Sizes,
    sequence: Sequence,
    arrivals: Arrivals,
    blocks: Blocks,
    /// Measured response times.
    pub measured: Histogram,
}

/// Reads, writes, trims and flushes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Mix {
    /// Requests.
    pub requests: [u64; 4],
    /// Bytes.
    pub bytes: [u64; 4],
}

/// All that is described.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Described {
    /// Requests.
    pub requests: u64,
    /// Reads among reads and writes; none without either.
    pub read_share: Option<f64>,
    /// By kind: read, write, trim, flush.
    pub mix: Mix,
    /// Numbers of reads and of writes by size in bytes.
    pub sizes: Vec<(u64, u64, u64)>,
    /// Share of reads and writes that begin where a recent one ended.
    pub sequential_share: f64,
    /// Bytes that were read or written, each once, in blocks of 4 KiB.
    pub footprint_bytes: f64,
    /// Bytes that were written, each once.
    pub written_footprint_bytes: f64,
    /// Share of the blocks that was looked at; 1 for all.
    pub sampled_share: f64,
    /// Share of the blocks by their accesses, the busiest first, and share of the accesses.
    pub hot_spot: Vec<HotSpot>,
    /// Bytes of a cache that forgets the block that was used longest ago, and share of the
    /// accesses to blocks that miss it.
    pub miss_ratio: Vec<MissRatio>,
    /// Accesses to blocks that nothing accessed before: the least miss ratio.
    pub first_access_share: f64,
    /// Arrivals over time; none of a closed trace.
    pub arrivals: Option<arrivals::Summary>,
}

impl Description {
    /// Of no request yet; at most `most_blocks` blocks are followed.
    pub fn new(most_blocks: usize) -> Description {
        Description {
            by_op: [0; 4],
            bytes: [0; 4],
            sizes: Sizes::default(),
            sequence: Sequence::default(),
            arrivals: Arrivals::default(),
            blocks: Blocks::new(most_blocks),
            measured: Histogram::default(),
        }
    }

    /// Counts the next request.
    pub fn add(&mut self, request: &Request) {
        self.by_op[request.op as usize] += 1;
        self.bytes[request.op as usize] += request.bytes;
        self.arrivals.add(request.time, request.bytes);
        if !request.response_us.is_nan() {
            self.measured
                .record(Nanos((request.response_us * 1e3) as u64));
        }
        if matches!(request.op, Op::Read | Op::Write) {
            self.sizes.add(request.op, request.bytes);
            self.sequence.add(request);
            self.blocks.add(request);
        }
    }

    /// What was found; `closed` if times are pauses.
    pub fn described(&self, closed: bool) -> Described {
        let [reads, writes, ..] = self.by_op;
        let both = reads + writes;
        Described {
            requests: self.by_op.iter().sum(),
            read_share: (both > 0).then(|| reads as f64 / both as f64),
            mix: Mix {
                requests: self.by_op,
                bytes: self.bytes,
            },
            sizes: self.sizes.all(),
            sequential_share: self.sequence.share(),
            footprint_bytes: self.blocks.footprint_bytes(),
            written_footprint_bytes: self.blocks.written_bytes(),
            sampled_share: self.blocks.sampled_share(),
            hot_spot: self.blocks.hot_spot(),
            miss_ratio: self.blocks.miss_ratio(),
            first_access_share: self.blocks.first_access_share(),
            arrivals: (!closed).then(|| self.arrivals.summary()).flatten(),
        }
    }
}
