//! What goes by lines of an SSD cache: requests, destages, copies, and losses.

mod fetch;
mod loss;
mod moves;

use crate::raid::cache::memory::Memories;
use crate::raid::jobs::Stripes;

/// Requests and copies that go by lines: what they need of the stripes, and of the controllers'
/// memory for what an SSD cache loses.
pub(crate) struct Lines<'a> {
    stripes: &'a mut Stripes,
    memories: &'a mut Memories,
}

impl<'a> Lines<'a> {
    pub fn new(stripes: &'a mut Stripes, memories: &'a mut Memories) -> Lines<'a> {
        Lines { stripes, memories }
    }
}
