//! Requests that waited for what has come into the cache.

use raidlab_kernel::Queue;

/// Requests that waited for what has come into the cache, or was refused.
#[derive(Debug)]
pub(crate) struct Readers {
    pub readers: Queue,
    pub refused: bool,
    pub controller: Option<u32>,
}
