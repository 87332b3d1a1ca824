//! Prefetches: the processor fetches memory that will be read soon, while other work goes on.

use prefetch_index::prefetch_index;

/// Prefetches the first line of a value.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    prefetch_index(std::slice::from_ref(value), 0);
}

/// Bytes that the processor fetches together.
const LINE: usize = 64;

/// Prefetches all lines of a slice.
#[inline]
pub fn prefetch_all<T>(values: &[T]) {
    for index in (0..values.len()).step_by((LINE / size_of::<T>().max(1)).max(1)) {
        prefetch_index(values, index);
    }
}
