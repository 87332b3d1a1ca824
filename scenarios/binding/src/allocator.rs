//! Where large tables get their memory.
//!
//! Drives have tables of a number for each unit, of which a run touches little: an operating system
//! gives memory for what is touched. The C library does not ask it for each of them. From the first
//! large table that is freed on it takes tables of up to 32 MiB out of memory that was used before,
//! which it has to clear, so that all of it counts.

/// Bytes from which on memory comes from the operating system, and goes back to it when it is free.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: libc::c_int = 1 << 20;

/// Large tables come from the operating system, each by itself.
pub fn keep_large_tables_apart() {
    // SAFETY: a setting of the allocator, which it may be given at any time.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
    }
}
