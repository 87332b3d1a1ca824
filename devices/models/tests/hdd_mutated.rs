//! Whatever stands in a plan: a drive that works, or faults; never a panic.

use crate::common::{Rig, params};
use proptest::prelude::*;
use raidlab_io::Op;
use raidlab_models::Device;
use serde_json::{Value, json};

/// Pointers to every number of a document.
fn numbers(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, item) in map {
                numbers(item, &format!("{path}/{key}"), found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                numbers(item, &format!("{path}/{index}"), found);
            }
        }
        Value::Number(_) => found.push(path.to_string()),
        _ => {}
    }
}

fn small() -> Value {
    let mut drive: Value = serde_json::from_str(include_str!("common/seven_two.json")).unwrap();
    for (index, last) in [99, 199, 299].into_iter().enumerate() {
        drive["geometry"]["zones"][index]["first_cylinder"] = json!(last - 99);
        drive["geometry"]["zones"][index]["last_cylinder"] = json!(last);
    }
    drive["geometry"]["zones"][0]["slips"] = json!([5, 9]);
    drive["geometry"]["zones"][0]["spares"] = json!(10);
    drive["geometry"]["zones"][1]["defects"] = json!([[3, 1_279_999]]);
    drive["geometry"]["zones"][1]["spares"] = json!(10);
    drive
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn mutated_parameters_make_a_drive_or_faults(
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![
            Just(json!(0)), Just(json!(1)), Just(json!(2)), Just(json!(-1)), Just(json!(0.5)),
            Just(json!(255)), Just(json!(65_535)), Just(json!(4_294_967_295_u64)),
            Just(json!(u64::MAX)), Just(json!(1e300)),
        ]), 1..4),
        offsets in prop::collection::vec((any::<bool>(), any::<u64>(), 1u64..300), 1..20),
    ) {
        let mut drive = small();
        let mut pointers = Vec::new();
        numbers(&drive, "", &mut pointers);
        for (index, value) in changes {
            let pointer: &String = index.get(&pointers);
            *drive.pointer_mut(pointer).unwrap() = value;
        }
        let Ok(drive) = serde_json::from_str(&drive.to_string()) else {
            return Ok(());
        };
        match Device::new(&drive, 1, "drive") {
            Err(faults) => prop_assert!(!faults.is_empty()),
            Ok(device) => {
                let sectors = device.capacity_bytes() / 512;
                let mut rig = Rig::new(&drive);
                for (write, lbn, count) in offsets {
                    let count = count.min(sectors);
                    let lbn = lbn % (sectors - count + 1);
                    let op = if write { Op::Write } else { Op::Read };
                    rig.serve(op, lbn * 512, count * 512);
                }
                prop_assert_eq!(rig.device.check(), Ok(()));
            }
        }
    }
}

#[test]
fn the_unchanged_drive_is_accepted() {
    let drive = params(&small().to_string());
    assert!(Device::new(&drive, 1, "drive").is_ok());
}
