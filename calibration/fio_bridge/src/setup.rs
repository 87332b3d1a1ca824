//! What the environment hands over: the file that `RAIDLAB_FIO_PLAN` names.

use raidlab_engine::Plan;
use serde::Deserialize;

/// The environment variable.
pub const VARIABLE: &str = "RAIDLAB_FIO_PLAN";

/// Says how many jobs start at once, in place of the file's `groups`: `4,1`.
pub const GROUPS_VARIABLE: &str = "RAIDLAB_FIO_GROUPS";

/// The file's content; the Python side has checked what a person wrote.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// Bytes that fio's file shall show.
    pub size_bytes: u64,
    /// Index of the array that fio's file stands for.
    pub array: u32,
    /// Job threads of each group that starts at once (jobs between `stonewall`s), in order;
    /// empty if their sizes are unknown.
    #[serde(default)]
    pub groups: Vec<u32>,
    /// The engine's plan, without workloads of its own.
    pub plan: Plan,
}

impl Setup {
    /// Reads the file that the environment names; none if it names none.
    ///
    /// # Errors
    /// Says what is wrong with the file.
    pub fn from_environment() -> Result<Option<Setup>, String> {
        let Some(path) = std::env::var_os(VARIABLE) else {
            return Ok(None);
        };
        let name = path.to_string_lossy().into_owned();
        let text = std::fs::read(&path).map_err(|error| format!("{name}: {error}"))?;
        let mut setup: Setup =
            serde_json::from_slice(&text).map_err(|error| format!("{name}: {error}"))?;
        if let Ok(groups) = std::env::var(GROUPS_VARIABLE) {
            let numbers: Result<_, _> = groups.split(',').map(str::parse).collect();
            setup.groups =
                numbers.map_err(|error| format!("{GROUPS_VARIABLE} = {groups}: {error}"))?;
        }
        Ok(Some(setup))
    }
}
