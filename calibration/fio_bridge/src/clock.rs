//! The virtual monotonic clock.
//!
//! It stands still unless it is read or the world moves on: fio calibrates itself by reading
//! the clock until time has passed, and spins on it for short pauses, so every read takes a
//! little time. While jobs run only the reads of the running job count, so the same
//! run reads the same times.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Where the clock begins, in nanoseconds: years ahead of the system's own, to which fio's
/// main thread hands deadlines read off this one. An expired deadline would let it spin on
/// a lock that a starting job needs.
const BEGIN_NS: u64 = 100_000_000 * 1_000_000_000;

/// A read before any job has begun: as slow as fio's calibration can do with.
const IDLE_TICK_NS: u64 = 100;

/// A read by a job: less than any model's shortest time.
const JOB_TICK_NS: u64 = 1;

/// After so many reads in a row a job is spinning, and time passes faster.
const SPINNING_READS: u32 = 256;
const SPINNING_TICK_NS: u64 = 250;

static NOW: AtomicU64 = AtomicU64::new(BEGIN_NS);
static JOBS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static IS_JOB: Cell<bool> = const { Cell::new(false) };
    static READS: Cell<u32> = const { Cell::new(0) };
}

/// The present, without any time taken by looking.
pub fn present() -> u64 {
    NOW.load(Ordering::Relaxed)
}

/// The present as fio reads it.
pub fn read() -> u64 {
    if IS_JOB.get() {
        let reads = READS.get().saturating_add(1);
        READS.set(reads);
        let spinning = reads > SPINNING_READS;
        let tick = if spinning {
            SPINNING_TICK_NS
        } else {
            JOB_TICK_NS
        };
        NOW.fetch_add(tick, Ordering::Relaxed) + tick
    } else if JOBS.load(Ordering::Relaxed) == 0 {
        NOW.fetch_add(IDLE_TICK_NS, Ordering::Relaxed) + IDLE_TICK_NS
    } else {
        present()
    }
}

/// Moves the clock on, never back.
pub fn advance_to(time: u64) {
    NOW.fetch_max(time, Ordering::Relaxed);
}

/// This thread did something other than reading the clock.
pub fn acted() {
    READS.set(0);
}

/// This thread becomes a job.
pub fn become_job() {
    if !IS_JOB.replace(true) {
        JOBS.fetch_add(1, Ordering::Relaxed);
    }
}

/// This thread is a job no more.
pub fn end_job() {
    if IS_JOB.replace(false) {
        JOBS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// True on a job's thread.
pub fn is_job() -> bool {
    IS_JOB.get()
}
