//! Changed state files of SSDs: each gives drives that work, or is refused by name.
//!
//! Header and checksum are made anew for most of them, so that what lies behind is reached.

use crate::driver::Target;
use crate::plans::judge;
use raidlab_engine::kernel::Stream;
use raidlab_engine::{Plan, run};
use raidlab_models::{DriveState, read_states, write_states};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// I/Os before a state is saved, and with a changed one.
const IOS: [u64; 2] = [2000, 100];
/// Bytes before the checksum, which is over all behind it.
const CHECKSUM_AT: usize = 28;

/// State files.
pub struct States {
    /// Plans of SSDs that begin with the file, and the states that they can begin with.
    sound: Vec<(Plan, Vec<DriveState>)>,
    seed: u64,
    file: PathBuf,
}

impl States {
    /// States of those plans in `text`, one a line, that have SSDs.
    pub fn new(text: &str, seed: u64, folder: &Path) -> States {
        let file = folder.join("changed.state");
        let plans = text
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"));
        let sound: Vec<_> = plans.filter_map(|plan| sound(plan, &file)).collect();
        assert!(!sound.is_empty(), "no plan has SSDs");
        States { sound, seed, file }
    }
}

/// A plan that begins with a state, and the state; none for a plan without SSDs.
fn sound(mut plan: Value, file: &Path) -> Option<(Plan, Vec<DriveState>)> {
    let is_ssd = |device: &Value| device.get("history").is_some();
    if !plan["devices"].as_array()?.iter().any(is_ssd) {
        return None;
    }
    plan["max_ios"] = json!(IOS[0]);
    plan["save_state"] = json!(file);
    let whole = Plan::from_json(&plan.to_string()).ok()?;
    run(&whole, || true).ok()?.unsaved.is_none().then_some(())?;
    plan.as_object_mut()?.remove("save_state");
    plan["max_ios"] = json!(IOS[1]);
    plan["warm_up_ns"] = json!(0);
    plan["warm_up_most_ns"] = json!(0);
    for device in plan["devices"].as_array_mut()? {
        if is_ssd(device) {
            (device["history"], device["snapshot"]) = (json!([]), json!(file));
        }
    }
    Some((
        Plan::from_json(&plan.to_string()).ok()?,
        read_states(file).ok()?,
    ))
}

/// A plan by its number, and the bytes of the file.
pub struct Changed {
    plan: usize,
    bytes: Vec<u8>,
}

impl Target for States {
    type Input = Changed;

    fn input(&self, number: u64) -> Changed {
        let mut draws = Stream::new(self.seed, &number.to_string(), "states");
        let plan = draws.below(self.sound.len() as u64) as usize;
        let mut states = self.sound[plan].1.clone();
        let of_file = draws.below(8) == 0;
        if !of_file {
            let at = draws.below(states.len() as u64) as usize;
            match draws.below(16) {
                0 => states[at].fingerprint ^= 1 << draws.below(64),
                1 => states[at].drive.push('x'),
                2 => drop(states.remove(at)),
                _ => change(&mut states[at].state, &mut draws),
            }
        }
        write_states(&self.file, &states).expect("the folder takes files");
        let mut bytes = std::fs::read(&self.file).expect("it was written");
        if of_file {
            change(&mut bytes, &mut draws);
            if draws.below(2) == 0 && bytes.len() > CHECKSUM_AT + 4 {
                let sum = crc32fast::hash(&bytes[CHECKSUM_AT + 4..]);
                bytes[CHECKSUM_AT..CHECKSUM_AT + 4].copy_from_slice(&sum.to_le_bytes());
            }
        }
        Changed { plan, bytes }
    }

    fn show(&self, input: &Changed) -> String {
        format!("plan {}, {} bytes", input.plan, input.bytes.len())
    }

    fn judge(&self, input: &Changed) -> Result<&'static str, String> {
        std::fs::write(&self.file, &input.bytes).map_err(|error| error.to_string())?;
        judge(&self.sound[input.plan].0)
    }
}

/// One to three changes: most in the first bytes, where lengths, counters and shapes stand.
fn change(bytes: &mut Vec<u8>, draws: &mut Stream) {
    for _ in 0..=draws.below(3) {
        let within = match draws.below(3) {
            0 => bytes.len().min(64),
            1 => bytes.len().min(4096),
            _ => bytes.len(),
        };
        let at = draws.below(within as u64 + 1) as usize;
        let byte = draws.below(256) as u8;
        match draws.below(8) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, byte),
            2 if at < bytes.len() => drop(bytes.remove(at)),
            // The largest number of postcard's form.
            3 => drop(bytes.splice(at..at, [0xff; 9].into_iter().chain([1]))),
            4 if at < bytes.len() => bytes[at] ^= 1 << (byte & 7),
            5 if at < bytes.len() => bytes[at] = bytes[at].wrapping_add(1),
            6 if at < bytes.len() => bytes[at] = 0,
            _ if at < bytes.len() => bytes[at] = byte,
            _ => bytes.push(byte),
        }
    }
}
