//! Requests that waited for what has come into the cache.

use crate::ids::ControllerId;
use raidlab_io::Queue;

/// Requests that waited for what has come into the cache, or was refused.
#[derive(Debug)]
pub(super) struct Readers {
    pub(super) readers: Queue,
    pub(super) refused: bool,
    pub(super) controller: Option<ControllerId>,
}
