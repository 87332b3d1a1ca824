//! The state of drives as a file.
//!
//! The file has the map, the counters of the blocks, the frontiers and the random stream of the
//! policy, as after an orderly shutdown: the content of the buffer is in NAND, clocks start anew.
//! It also has the temperature and the throttling steps in effect. Of the map only what differs
//! from the drive's own start is written. The layout of the file is in docs/reference/formats/state.md.

use crate::fault::Fault;
use crate::ssd::nand::temperature::SavedTemperature;
use crate::ssd::params::SsdParams;
use crate::ssd::translation::{SavedTranslation, Shape, Translation};
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::Path;

const MAGIC: &[u8; 16] = b"raidlab state\0\0\n";
/// Raised with every change of what is written; files of other versions are refused.
const FORMAT: u32 = 6;
/// Magic, format, length and checksum of what follows.
const HEADER: usize = 16 + 4 + 8 + 4;

/// The state of one drive.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
pub struct DriveState {
    /// The drive's name in its scenario.
    pub drive: String,
    /// Hash of its data sheet: a state fits no other drive.
    pub fingerprint: u64,
    /// The state, in a form of the drive's own.
    pub state: Vec<u8>,
}

/// Writes the states of drives: the whole file, or none.
///
/// # Errors
/// The system's own.
pub fn write_states(path: &Path, states: &[DriveState]) -> std::io::Result<()> {
    let payload = postcard::to_allocvec(states).map_err(std::io::Error::other)?;
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(MAGIC)?;
    file.write_all(&FORMAT.to_le_bytes())?;
    file.write_all(&(payload.len() as u64).to_le_bytes())?;
    file.write_all(&crc32fast::hash(&payload).to_le_bytes())?;
    file.write_all(&payload)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

/// The states that a file holds.
///
/// # Errors
/// Says what is wrong with the file.
pub fn read_states(path: &Path) -> Result<Vec<DriveState>, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("a file that can be read: {error}"))?;
    if bytes.len() < HEADER || &bytes[..16] != MAGIC {
        return Err("a file that --save-state has written".into());
    }
    let number = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| bytes[at + byte]));
    if number(16) != FORMAT {
        let format = number(16);
        return Err(format!("a state of format {FORMAT}; this one has {format}"));
    }
    let length = u64::from(number(20)) | u64::from(number(24)) << 32;
    let payload = &bytes[HEADER..];
    if payload.len() as u64 != length {
        let there = payload.len();
        return Err(format!(
            "a whole file: {length} bytes of it should follow the header, {there} do"
        ));
    }
    if crc32fast::hash(payload) != number(28) {
        return Err("an undamaged file: the checksum does not agree".into());
    }
    postcard::from_bytes(payload).map_err(|error| format!("an undamaged file: {error}"))
}

/// A hash that differs between data sheets: of all parameters but those of the run.
fn fingerprint(params: &SsdParams) -> u64 {
    let sheet = SsdParams {
        history: Vec::new(),
        power: None,
        idle_states: Vec::new(),
        thermal: None,
        rated_host_bytes: 0,
        snapshot: None,
        ..params.clone()
    };
    let text = serde_json::to_vec(&sheet).unwrap_or_default();
    // FNV-1a.
    text.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The state of a drive.
pub(crate) fn save(
    params: &SsdParams,
    name: &str,
    translation: &Translation,
    temperature: Option<SavedTemperature>,
) -> DriveState {
    DriveState {
        drive: name.to_owned(),
        fingerprint: fingerprint(params),
        state: postcard::to_allocvec(&(translation, temperature)).expect("memory holds any state"),
    }
}

/// The drive `name` as the file at `path` has it.
pub(crate) fn load(
    params: &SsdParams,
    shape: Shape,
    name: &str,
    path: &str,
) -> Result<(Translation, Option<SavedTemperature>), Vec<Fault>> {
    let wrong = |allowed: String| vec![Fault::new("snapshot", path, allowed)];
    let states = read_states(Path::new(path)).map_err(wrong)?;
    let state = match &states[..] {
        [only] => only,
        _ => states
            .iter()
            .find(|state| state.drive == name)
            .ok_or_else(|| {
                let names: Vec<&str> = states.iter().map(|state| &state.drive[..]).collect();
                wrong(format!(
                    "a state of drive {name}; it holds {}",
                    names.join(", ")
                ))
            })?,
    };
    if state.fingerprint != fingerprint(params) {
        let drive = &state.drive;
        return Err(wrong(format!(
            "a state of the same model and format: {drive} had another data sheet"
        )));
    }
    let (saved, temperature): (SavedTranslation, Option<SavedTemperature>) =
        postcard::from_bytes(&state.state)
            .map_err(|error| wrong(format!("an undamaged file: {error}")))?;
    if temperature.is_some_and(|saved: SavedTemperature| !saved.celsius.is_finite()) {
        return Err(wrong(
            "an undamaged file: a temperature is no number".into(),
        ));
    }
    let translation = saved.restore(shape, &params.collection).map_err(wrong)?;
    Ok((translation, temperature))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_as_it_was_written_and_not_if_a_byte_of_it_differs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("drives.state");
        let states = [DriveState {
            drive: "data/x.0".into(),
            fingerprint: 7,
            state: vec![1, 2, 3],
        }];
        write_states(&path, &states).unwrap();
        assert_eq!(read_states(&path).unwrap(), states);
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            std::fs::write(&path, &damaged).unwrap();
            assert!(read_states(&path).is_err(), "byte {at}");
            std::fs::write(&path, &whole[..at]).unwrap();
            assert!(read_states(&path).is_err(), "cut at {at}");
        }
    }

    #[test]
    fn a_folder_that_is_not_there_leaves_no_file() {
        let path = Path::new("/nowhere/at/all/drives.state");
        assert!(write_states(path, &[]).is_err());
    }
}
