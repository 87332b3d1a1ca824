//! The bundle's table of contents, `manifest.json`. Described in `docs/reference/formats/bundle.md`.

use crate::attempts::{Attempt, Spread};
use crate::fio::Summary;
use crate::noise::{Noise, Rest};
use crate::plan::Plan;
use crate::steady_state::Assessment;
use crate::step::{Setting, Step};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::time::UNIX_EPOCH;

/// The form of the manifest, raised when a reader of an older form could misread it.
pub const FORMAT: u32 = 1;

/// Everything about a bundle but fio's own output.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// `FORMAT` of the program that began it.
    pub format: u32,
    /// Version of the program that began it.
    pub collector: String,
    /// What is measured.
    pub plan: PlanRecord,
    /// On what.
    pub target: TargetRecord,
    /// The machine: CPU, memory, governor.
    pub host: Value,
    /// The kernel's release.
    pub kernel: String,
    /// The version that fio reports.
    pub fio_version: String,
    /// Arguments of the command, without the program's name.
    pub options: Vec<String>,
    /// When the first step began, RFC 3339, UTC.
    pub start: String,
    /// When the last step ended; none while steps are left.
    pub end: Option<String>,
    /// When the command was started: the first time and each time that it resumed.
    pub sessions: Vec<String>,
    /// Warnings for readers of the figures.
    pub warnings: Vec<String>,
    /// The outcome of every steady-state test.
    pub steady_state: Vec<SteadyRecord>,
    /// When the collector first began to write to the target; none before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_since: Option<String>,
    /// The file that the collector created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_file: Option<FileId>,
    /// Spread of the steps that were measured in several rounds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spreads: Vec<Spread>,
    /// What the device moved at rest, behind the last step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest_after: Option<Rest>,
    /// All steps in order.
    pub steps: Vec<StepRecord>,
}

/// The whole plan, and its settings for the target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanRecord {
    /// Its name.
    pub name: String,
    /// Sha-256 of the plan and the setting in their JSON form.
    pub sha256: String,
    /// Area, overrides, seed.
    pub setting: Setting,
    /// The plan.
    pub plan: Plan,
}

/// The target: what must not change, and further details.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetRecord {
    /// `file`, `block` or `simulated`.
    pub kind: String,
    /// As fio gets it.
    pub path: String,
    /// Its size.
    pub size_bytes: u64,
    /// True if the collector created it and removes it.
    pub created: bool,
    /// Must be the same when the bundle is resumed.
    pub identity: Value,
    /// May differ when the bundle is resumed; `checked` says what was looked at.
    pub details: Value,
}

/// Which file it is, whatever its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileId {
    /// Number of the file system's device.
    pub device: u64,
    /// Inode.
    pub inode: u64,
    /// When it was made, in nanoseconds since 1970, where the file system knows: inodes are used
    /// again.
    pub born_ns: Option<u64>,
}

impl FileId {
    /// Of the file with this metadata.
    pub fn of(found: &Metadata) -> FileId {
        let born = found.created().ok();
        let since = born.and_then(|born| born.duration_since(UNIX_EPOCH).ok());
        FileId {
            device: found.dev(),
            inode: found.ino(),
            born_ns: since.and_then(|time| u64::try_from(time.as_nanos()).ok()),
        }
    }
}

/// The outcome of a stage's steady-state test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SteadyRecord {
    /// The stage.
    pub stage: String,
    /// The step and value that were followed.
    pub tracked: String,
    /// True if the last window is steady.
    pub reached: bool,
    /// Rounds done.
    pub rounds: u32,
    /// The last window; none with fewer rounds than a window has.
    pub assessment: Option<Assessment>,
}

/// How far a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Not begun, or not finished: runs when the bundle is resumed.
    Pending,
    /// Finished, its files on disk.
    Done,
    /// Its round was not needed.
    NotNeeded,
    /// fio failed; tried again when the bundle is resumed.
    Failed,
}

/// A step and its outcome.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StepRecord {
    /// What fio was asked.
    #[serde(flatten)]
    pub step: Step,
    /// How far it is.
    pub state: State,
    /// Sha-256 of its files, by path inside the bundle.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sha256: BTreeMap<String, String>,
    /// When fio was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// When fio ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// Temperature of the target before and after, where it can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_c: Option<[Option<f64>; 2]>,
    /// What else the machine did meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<Noise>,
    /// What of it was too much, in words: its figures may be off.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub noisy: Vec<String>,
    /// All runs, if it was measured again for its noise; the last one counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<Attempt>,
    /// The figures in short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl StepRecord {
    /// A step not begun.
    pub fn pending(step: Step) -> StepRecord {
        StepRecord {
            step,
            state: State::Pending,
            sha256: BTreeMap::new(),
            start: None,
            end: None,
            temperature_c: None,
            noise: None,
            noisy: Vec::new(),
            attempts: Vec::new(),
            summary: None,
            error: None,
        }
    }
}

impl PlanRecord {
    /// The record of a plan as set to a target.
    pub fn new(plan: &Plan, setting: &Setting) -> PlanRecord {
        let text = serde_json::to_vec(&(plan, setting)).expect("plain data");
        PlanRecord {
            name: plan.name.clone(),
            sha256: crate::digest::sha256(&text),
            setting: setting.clone(),
            plan: plan.clone(),
        }
    }
}

impl Manifest {
    /// Why `now` cannot resume this bundle: one line for each difference.
    pub fn differences(&self, now: &Manifest) -> Vec<String> {
        let mut found = Vec::new();
        let pair = |record: &Manifest| {
            let mut plan = serde_json::to_value(&record.plan).expect("plain data");
            // A checksum of the rest: its difference adds nothing.
            plan.as_object_mut().expect("a record").remove("sha256");
            let mut target = serde_json::to_value(&record.target).expect("plain data");
            target.as_object_mut().expect("a record").remove("details");
            serde_json::json!({
                "plan": plan, "target": target, "fio_version": record.fio_version,
            })
        };
        compare("", &pair(self), &pair(now), &mut found);
        found
    }
}

fn compare(path: &str, old: &Value, new: &Value, found: &mut Vec<String>) {
    let at = |key: &str| {
        if path.is_empty() {
            key.to_owned()
        } else {
            format!("{path}.{key}")
        }
    };
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            for key in old
                .keys()
                .chain(new.keys().filter(|key| !old.contains_key(*key)))
            {
                let null = Value::Null;
                let (old, new) = (old.get(key), new.get(key));
                compare(&at(key), old.unwrap_or(&null), new.unwrap_or(&null), found);
            }
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            for (index, (old, new)) in old.iter().zip(new).enumerate() {
                compare(&at(&index.to_string()), old, new, found);
            }
        }
        _ if old == new => (),
        _ => found.push(format!("{path}: the bundle has {old}, now it is {new}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn differences_name_the_key_and_both_values() {
        let mut found = Vec::new();
        compare(
            "",
            &json!({"target": {"size_bytes": 1, "path": "a"}, "list": [1, 2]}),
            &json!({"target": {"size_bytes": 2, "path": "a"}, "list": [1, 2], "new": true}),
            &mut found,
        );
        assert_eq!(
            found,
            [
                "target.size_bytes: the bundle has 1, now it is 2",
                "new: the bundle has null, now it is true",
            ]
        );
    }
}
