//! The erase blocks of a drive, as a caller of the engine sees them.

use super::common::bench::Bench;
use super::common::{plan, ssd_of_one_channel, stations};
use raidlab_engine::Simulation;
use raidlab_engine::io::Op;
use raidlab_models::{BlockState, EraseBlocks};
use serde_json::{Value, json};

/// Mapping units of the drive; of a block: sixteen pages of one unit.
const UNITS: u32 = 1024;
const BLOCK: u32 = 16;

/// Two dies of 40 blocks, written once in order: each die has 32 blocks full of its 512 units.
fn filled() -> Value {
    let capacity = u64::from(UNITS) * 4096;
    let mut value = stations(2, 100_000, "fixed", 1);
    let ssd = ssd_of_one_channel(capacity, 2, 40);
    let devices = value["devices"].as_array_mut().expect("devices");
    devices.push(ssd);
    value["drives"][0]["device"] = json!(devices.len() - 1);
    value["arrays"][0]["drives"] = json!([0]);
    value["arrays"][0]["level"] = json!("jbod");
    value["workloads"] = json!([]);
    value
}

fn number(blocks: &EraseBlocks, state: BlockState) -> u32 {
    blocks.states.iter().filter(|&&each| each == state).count() as u32
}

/// By hand: four blocks' worth of the first units written anew takes two blocks of each die. All
/// the units of the four oldest blocks are out of date then; each unit still has one place.
#[test]
fn blocks_of_a_drive_that_is_written_over() {
    let mut bench = Bench::new(&filled());
    let before = bench.0.erase_blocks(0).expect("an SSD");
    assert_eq!(
        (before.dies, before.units, before.states.len()),
        (2, BLOCK, 80)
    );
    assert_eq!(before.valid.iter().sum::<u32>(), UNITS);
    assert_eq!(
        before.valid.iter().filter(|&&valid| valid == BLOCK).count(),
        64
    );
    let free = number(&before, BlockState::Free);

    for unit in 0..u64::from(4 * BLOCK) {
        bench.submit(2000 * unit, Op::Write, 8 * unit, 8);
    }
    bench.submit(400_000, Op::Flush, 0, 0);
    bench.until(600_000);
    let after = bench.0.erase_blocks(0).expect("an SSD");
    assert_eq!(after.valid.iter().sum::<u32>(), UNITS);
    assert_eq!(
        after.valid.iter().filter(|&&valid| valid == BLOCK).count(),
        64
    );
    let emptied = before.valid.iter().zip(&after.valid);
    assert_eq!(
        emptied
            .filter(|&(&was, &is)| was == BLOCK && is == 0)
            .count(),
        4
    );
    assert_eq!(free - number(&after, BlockState::Free), 4);
    assert_eq!(after.erases, vec![0; 80]);
}

#[test]
fn other_drives_have_no_erase_blocks() {
    let simulation = Simulation::new(&plan(&filled())).expect("a system");
    assert!(simulation.erase_blocks(0).is_some());
    assert_eq!(simulation.erase_blocks(1), None);
    assert_eq!(simulation.erase_blocks(2), None);
}
