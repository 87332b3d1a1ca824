//! Events a second of the kernel alone: the hold model, in which every event that is taken
//! schedules one more at a random time ahead. Goal: 30 million a second with 32 pending.
//!
//! Prints one JSON object a line. Run: `cargo bench -p raidlab-kernel`.

use raidlab_kernel::{Calendar, Nanos, Stream};
use std::time::Instant;

fn main() {
    for pending in [32_u32, 4096] {
        let mut calendar = Calendar::with_capacity(pending as usize + 1);
        let mut draws = Stream::new(1, "bench", "hold");
        for event in 0..pending {
            calendar.push(raidlab_kernel::Time(draws.below(10_000)), event);
        }
        let events = 20_000_000_u64;
        let start = Instant::now();
        for _ in 0..events {
            if let Some((now, event)) = calendar.pop() {
                calendar.push(now + Nanos(draws.below(10_000)), event);
            }
        }
        let seconds = start.elapsed().as_secs_f64();
        println!(
            r#"{{"work": "kernel alone, {pending} pending", "per_s": {:.0}}}"#,
            events as f64 / seconds
        );
    }
}
