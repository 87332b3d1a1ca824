//! Prefetches: the processor fetches memory that will be read soon, while other work goes on.

use prefetch_index::prefetch_index;

/// Prefetches the first line of a value.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    prefetch_index(std::slice::from_ref(value), 0);
}
