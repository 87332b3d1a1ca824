//! The virtual monotonic clock.
//!
//! It stands still unless it is read or the world moves on: fio calibrates itself by reading
//! the clock until time has passed, and spins on it for short pauses, so every read takes a
//! little time. One thread runs at a time, so the same run reads the same times.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Where the clock begins, in nanoseconds: fio takes a time of zero for "never".
const BEGIN_NS: u64 = 1_000_000_000;

/// A read before any I/O: as slow as fio's calibration can do with.
const EARLY_TICK_NS: u64 = 100;

/// A read later on: less than any model's shortest time.
const TICK_NS: u64 = 1;

/// After this number of reads in a row a thread is spinning.
const SPINNING_READS: u32 = 256;

static NOW: AtomicU64 = AtomicU64::new(BEGIN_NS);
static EARLY: AtomicBool = AtomicBool::new(true);

thread_local! {
    static READS: Cell<u32> = const { Cell::new(0) };
}

/// The present, without any time taken by looking.
pub fn present() -> u64 {
    NOW.load(Ordering::Relaxed)
}

/// The present as fio reads it; `spin` is called where the thread does nothing but look: what it
/// looks for may be another thread's to do.
pub fn read(spin: impl FnOnce()) -> u64 {
    if EARLY.load(Ordering::Relaxed) {
        return NOW.fetch_add(EARLY_TICK_NS, Ordering::Relaxed) + EARLY_TICK_NS;
    }
    let reads = READS.get() + 1;
    if reads > SPINNING_READS {
        spin();
        READS.set(SPINNING_READS);
        return present();
    }
    READS.set(reads);
    NOW.fetch_add(TICK_NS, Ordering::Relaxed) + TICK_NS
}

/// Moves the clock on, never back.
pub fn advance_to(time: u64) {
    NOW.fetch_max(time, Ordering::Relaxed);
}

/// This thread did something other than reading the clock.
pub fn acted() {
    READS.set(0);
}

/// The first I/O is on its way.
pub fn io_begins() {
    EARLY.store(false, Ordering::Relaxed);
}
