//! What the operating system puts between loads and drives: the block layer and the page cache.

use raidlab_kernel::Nanos;
use raidlab_models::{Bounds, Fault, LowerBound};
use schemars::JsonSchema;
use serde::Deserialize;

/// The order of waiting requests.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Scheduler {
    /// As they came.
    #[default]
    None,
    /// By position, reads first, none for ever.
    Deadline,
    /// By thread in time slices, by position within a slice.
    Fair,
}

/// The queue in the plan.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct BlockLayerParams {
    /// Order of what waits.
    pub scheduler: Scheduler,
    /// Requests that the scheduler sees, waiting and at the drive; further ones wait in their
    /// threads. 0 for no limit.
    #[schemars(transform = Self::REQUESTS.said())]
    pub requests: u32,
}

impl BlockLayerParams {
    const REQUESTS: Bounds<u32> = Bounds::new(0, 1 << 20);

    /// Every number that is out of its range.
    pub(crate) fn faults(&self) -> Vec<Fault> {
        Vec::from_iter(Self::REQUESTS.fault("requests", self.requests))
    }
}

/// How md passes on the flushes of an array (`md_flush_request` in Linux, drivers/md/md.c).
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum FlushOrder {
    /// Each by itself, beside the others.
    #[default]
    Together,
    /// One after the other.
    OneByOne,
    /// One at a time; all that came before it went out end with it.
    Batches,
}

/// What Linux md costs and allows an array in the host, beyond its host's CPU times.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields, default)]
pub struct MdPlan {
    /// Time for which each read has the cache line that all load threads of the array share.
    pub shared_read_ns: Nanos,
    /// Time for which each write has that cache line.
    pub shared_write_ns: Nanos,
    /// Threads that handle stripes; 0 for one.
    pub threads: u32,
    /// Stripes of a page of each member that its stripe cache holds; 0 for no limit.
    pub stripe_cache: u32,
    /// Bytes of a member that work in the background moves in a second while the host wants the
    /// drives; 0 where its share of the time decides.
    pub least_bytes_per_s: u64,
    /// True if reads of level 10 find their copy on flash as on disks: before kernel 5.4.
    pub flash_as_disks: bool,
    /// How several flushes pass.
    pub flush_order: FlushOrder,
    /// Until a worker takes a flush up, once before it goes to the members and once when all are
    /// back; 0 where the caller's own thread does both.
    pub flush_hand_ns: Nanos,
}

/// A page cache in the plan.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct PageCacheParams {
    /// Bytes of pages that memory holds.
    #[schemars(transform = Self::MEMORY_BYTES.said())]
    pub memory_bytes: u64,
    /// Share of them that may be dirty before writing back begins.
    pub background_share: f64,
    /// Share of them that may be dirty or in flight to the drives before writers sleep.
    pub dirty_share: f64,
    /// Age at which what is dirty is written back in any case.
    #[schemars(transform = Self::EXPIRE_NS.said())]
    pub expire_ns: Nanos,
    /// Bytes read ahead of a stream at most.
    pub read_ahead_bytes: u64,
    /// Bytes of neighbouring pages that become one request at most.
    #[schemars(transform = Self::REQUEST_BYTES.said())]
    pub request_bytes: u64,
    /// Requests of writing back that are in flight at most.
    #[schemars(transform = Self::REQUESTS.said())]
    pub requests: u32,
    /// CPU time of a read call.
    pub read_call_ns: Nanos,
    /// CPU time of a write call.
    pub write_call_ns: Nanos,
    /// CPU time to look up a page and copy it to the reader.
    pub read_page_ns: Nanos,
    /// CPU time to find or make a page and copy a writer's data into it.
    pub write_page_ns: Nanos,
    /// True if memory holds the end of the area at the start, as after writing it.
    pub holds_end: bool,
}

impl PageCacheParams {
    const MEMORY_BYTES: Bounds<u64> = Bounds::new(1 << 20, 1 << 50);
    const EXPIRE_NS: LowerBound<u64> = LowerBound(1);
    const REQUEST_BYTES: LowerBound<u64> = LowerBound(4096);
    const REQUESTS: Bounds<u32> = Bounds::new(1, 1 << 16);

    /// Every number that is out of its range.
    pub(crate) fn faults(&self) -> Vec<Fault> {
        let share = |key, share: f64| {
            let above_0 = share > 0.0 && share <= 1.0;
            (!above_0).then(|| Fault::new(key, share, "above 0, at most 1"))
        };
        let faults = [
            Self::MEMORY_BYTES.fault("memory_bytes", self.memory_bytes),
            share("background_share", self.background_share),
            share("dirty_share", self.dirty_share),
            Self::EXPIRE_NS.fault("expire_ns", self.expire_ns.0),
            Self::REQUEST_BYTES.fault("request_bytes", self.request_bytes),
            Self::REQUESTS.fault("requests", self.requests),
        ];
        faults.into_iter().flatten().collect()
    }
}
