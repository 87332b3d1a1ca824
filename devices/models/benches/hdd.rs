//! Wall time of an I/O of one 7200 rpm disk, without an engine around it.
//! Goal: 500 ns an I/O of random reads with a queue depth of 32.
//!
//! Prints one JSON object a line. Run: `cargo bench -p raidlab-models --bench hdd`.

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Rig, params};
use raidlab_io::Op;
use std::time::Instant;

const IOS: u64 = 1_000_000;

fn measure(work: &str, outstanding: u32, write_share: f64) {
    let drive = params(include_str!("../tests/common/seven_two.json"));
    let mut rig = Rig::new(&drive);
    let blocks = rig.device.capacity_bytes() / 4096;
    let start = Instant::now();
    let (_, simulated) = rig.closed_loop(outstanding, IOS, |draws| {
        let op = if draws.chance(write_share) {
            Op::Write
        } else {
            Op::Read
        };
        (op, draws.below(blocks) * 4096, 4096)
    });
    let ns = start.elapsed().as_nanos() as f64 / IOS as f64;
    println!(
        r#"{{"work": "HDD alone, {work}, queue depth {outstanding}", "wall_ns_per_io": {ns:.0}, "simulated_iops": {simulated:.0}}}"#
    );
}

fn main() {
    measure("reads", 1, 0.0);
    measure("reads", 32, 0.0);
    measure("67 % reads", 32, 0.33);
    measure("writes", 32, 1.0);
}
