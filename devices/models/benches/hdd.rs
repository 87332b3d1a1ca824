//! How long the model takes for an I/O; printed, not asserted, because machines differ.
//! `cargo test --release -p raidlab-models --test hdd_speed -- --nocapture --ignored`

mod common;

use common::{Rig, params};
use raidlab_kernel::Op;
use std::time::Instant;

fn measure(name: &str, outstanding: u32, write_share: f64) {
    let drive = params(include_str!("common/seven_two.json"));
    let mut rig = Rig::new(&drive);
    let blocks = rig.device.capacity_bytes() / 4096;
    let count = 1_000_000;
    let start = Instant::now();
    let (_, rate) = rig.closed_loop(outstanding, count, |draws| {
        let op = if draws.chance(write_share) {
            Op::Write
        } else {
            Op::Read
        };
        (op, draws.below(blocks) * 4096, 4096)
    });
    let each = start.elapsed().as_nanos() as f64 / count as f64;
    println!("{name}, {outstanding} outstanding: {each:.0} ns an I/O of wall time, {rate:.0} IO/s");
}

#[test]
#[ignore = "prints times, checks nothing"]
fn wall_time_of_an_io() {
    measure("read", 1, 0.0);
    measure("read", 32, 0.0);
    measure("67 % read", 32, 0.33);
    measure("write", 32, 1.0);
}
