//! What a drive counts for the report.

use raidlab_kernel::Nanos;

/// Commands, cache hits, and where the arm's time went.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub reads: u64,
    pub writes: u64,
    pub read_hits: u64,
    pub cached_writes: u64,
    pub destaged: u64,
    pub seek: Nanos,
    pub rotation: Nanos,
    pub accesses: u64,
}
