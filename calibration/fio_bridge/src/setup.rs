//! What the environment hands over: the file that `RAIDLAB_FIO_PLAN` names.

use raidlab_engine::Plan;
use serde::de::{Deserialize, Deserializer, Error};
use serde_json::value::RawValue;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

/// The environment variable.
pub const VARIABLE: &str = "RAIDLAB_FIO_PLAN";

/// The file's content; the Python side has checked what a person wrote.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// Bytes that fio's file shall show.
    pub size_bytes: u64,
    /// Index of the array that fio's file stands for.
    pub array: u32,
    /// True if reads shall find what was written.
    #[serde(default)]
    pub content: bool,
    /// A file for what the system's SSDs have read when fio ends.
    #[serde(default)]
    pub report: Option<PathBuf>,
    /// The engine's plan, without workloads of its own.
    #[serde(deserialize_with = "plan")]
    pub plan: Plan,
}

/// What is asked often.
struct Known {
    size_bytes: u64,
    content: bool,
    report: Option<PathBuf>,
}

static KNOWN: OnceLock<Known> = OnceLock::new();

static SETUP: Mutex<Option<Setup>> = Mutex::new(None);

/// Reads the file that the environment names; false if it names none.
///
/// # Errors
/// Says what is wrong with the file.
pub fn begin() -> Result<bool, String> {
    let Some(path) = std::env::var_os(VARIABLE) else {
        return Ok(false);
    };
    let setup = parse(Path::new(&path))?;
    let known = Known {
        size_bytes: setup.size_bytes,
        content: setup.content,
        report: setup.report.clone(),
    };
    *SETUP.lock().map_err(|error| error.to_string())? = Some(setup);
    Ok(KNOWN.set(known).is_ok())
}

/// True if a system stands behind fio.
pub fn is_there() -> bool {
    KNOWN.get().is_some()
}

/// Bytes of the array; 0 without a system.
pub fn size_bytes() -> u64 {
    KNOWN.get().map_or(0, |known| known.size_bytes)
}

/// True if reads shall find what was written.
pub fn follows_content() -> bool {
    KNOWN.get().is_some_and(|known| known.content)
}

/// The file for what the system's SSDs have read.
pub fn report() -> Option<&'static Path> {
    KNOWN.get()?.report.as_deref()
}

/// The file's content, once.
///
/// # Errors
/// There is none, or it was taken before.
pub fn take() -> Result<Setup, String> {
    let mut setup = SETUP.lock().map_err(|error| error.to_string())?;
    setup.take().ok_or_else(|| "no plan is named".into())
}

fn plan<'de, D: Deserializer<'de>>(from: D) -> Result<Plan, D::Error> {
    let text = Box::<RawValue>::deserialize(from)?;
    Plan::from_json(text.get()).map_err(D::Error::custom)
}

fn parse(path: &Path) -> Result<Setup, String> {
    let name = path.display();
    let text = std::fs::read(path).map_err(|error| format!("{name}: {error}"))?;
    serde_json::from_slice(&text).map_err(|error| format!("{name}: {error}"))
}
