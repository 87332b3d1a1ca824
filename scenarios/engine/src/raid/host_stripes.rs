//! How the host handles the stripes of an array of its own, as Linux md does.

use raidlab_models::{PageTimes, StripeThread};

/// The threads that handle the stripes of an array, and the cache that these lie in meanwhile.
#[derive(Debug)]
pub(crate) struct HostStripes {
    thread: StripeThread,
    cache: u32,
    in_pages: bool,
}

impl HostStripes {
    /// Those of an array that a controller manages.
    pub fn none() -> HostStripes {
        HostStripes::new(StripeThread::new(0, PageTimes::NONE, 1), 0, false)
    }

    /// Threads handle them; `cache` stripes fit their cache, any number if it is 0.
    pub fn new(thread: StripeThread, cache: u32, in_pages: bool) -> HostStripes {
        HostStripes {
            thread,
            cache,
            in_pages,
        }
    }

    /// Whether they are handled page by page, as in the stripe cache of Linux md.
    #[inline]
    pub fn in_pages(&self) -> bool {
        self.in_pages
    }

    /// The threads that handle them.
    pub fn thread(&self) -> &StripeThread {
        &self.thread
    }

    pub fn thread_mut(&mut self) -> &mut StripeThread {
        &mut self.thread
    }

    /// Stripes of a page of each member that the cache holds; 0 for no limit.
    pub fn cache(&self) -> u32 {
        self.cache
    }
}
