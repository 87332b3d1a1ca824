//! A simulated target: `raidlab` turns the scenario into the plan that the bridge runs.
//!
//! fio itself is the system's own. The bridge, a library preloaded into it, stands in for the
//! device and for the clock.

use crate::fio::on_path;
use crate::stop::Stop;
use serde::Deserialize;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What `raidlab fio --scenario S.toml --describe` prints.
#[derive(Clone, Debug, Deserialize)]
pub struct Simulated {
    /// The scenario's title.
    pub name: String,
    /// Its seed.
    pub seed: u64,
    /// Bytes of the array that fio sees.
    pub size_bytes: u64,
    /// The file that stands for the array; the bridge makes it appear with that size.
    pub filename: String,
    /// The library to preload.
    pub library: PathBuf,
    /// What the bridge reads.
    pub plan: Value,
}

/// Tells the bridge how many jobs start at once.
pub const GROUPS: &str = "RAIDLAB_FIO_GROUPS";

impl Simulated {
    /// fio's environment, with the plan at `plan`.
    pub fn environment(&self, plan: &Path) -> Vec<(String, String)> {
        vec![
            ("LD_PRELOAD".to_owned(), self.library.display().to_string()),
            ("RAIDLAB_FIO_PLAN".to_owned(), plan.display().to_string()),
        ]
    }
}

/// Asks `raidlab`, which is installed beside this program or on the search path.
pub fn describe(scenario: &Path) -> Result<Simulated, Stop> {
    if !scenario.is_file() {
        return Err(Stop::refused(format!(
            "--simulated {}: no such file",
            scenario.display()
        )));
    }
    let beside = std::env::current_exe()
        .ok()
        .map(|program| program.with_file_name("raidlab"))
        .filter(|path| path.is_file());
    let raidlab = beside.or_else(|| on_path("raidlab")).ok_or_else(|| {
        Stop::refused("--simulated: needs the program `raidlab`; install the package raidlab")
    })?;
    let output = Command::new(&raidlab)
        .args(["fio", "--describe", "--scenario"])
        .arg(scenario)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Stop::io("start", &raidlab, &error))?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Stop::refused(words));
    }
    serde_json::from_slice(&output.stdout)
        .map_err(|error| Stop::failed(format!("{}: unexpected answer: {error}", raidlab.display())))
}
