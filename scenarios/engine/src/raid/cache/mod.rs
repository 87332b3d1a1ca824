//! The controller's cache: requests that meet it, read-ahead, destaging.

pub(crate) mod destage;
pub(crate) mod memory;
pub(crate) mod outage;
pub(crate) mod read_ahead;
pub(crate) mod readers;
pub(crate) mod requests;
pub(crate) mod streams;
pub(crate) mod view;

use crate::raid::cache::memory::Memories;
use crate::raid::cache::readers::Readers;

/// The caches of the controllers, and what goes on in them.
#[derive(Debug)]
pub(crate) struct ControllerCache {
    memories: Memories,
    /// Those who go on since something has come into a cache, the last to come last.
    readers: Vec<Readers>,
}

impl ControllerCache {
    pub fn new(memories: Memories) -> ControllerCache {
        ControllerCache {
            memories,
            readers: Vec::with_capacity(8),
        }
    }

    pub fn memories(&self) -> &Memories {
        &self.memories
    }

    pub fn memories_mut(&mut self) -> &mut Memories {
        &mut self.memories
    }
}
