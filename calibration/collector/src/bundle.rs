//! The bundle on disk. A kill, a crash or a power failure at any instant leaves every finished
//! step whole.
//!
//! Every file is written under a temporary name, fsynced and renamed; then the folder is fsynced.
//! A step counts as done when the manifest on disk has its state and the sha-256 of its files.

use crate::digest::sha256;
use crate::manifest::{FORMAT, Manifest, State, StepRecord};
use crate::stop::Stop;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

const MANIFEST: &str = "manifest.json";
const STEPS: &str = "steps";
/// The end of a partial file's name.
const PART: &str = ".part";

/// A bundle that this process alone writes.
#[derive(Debug)]
pub struct Bundle {
    folder: PathBuf,
    /// Its table of contents.
    pub manifest: Manifest,
    _lock: File,
}

/// What opening a bundle found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Steps that were done before.
    pub done: usize,
    /// Steps whose files do not match their checksums, to be measured again.
    pub damaged: Vec<String>,
}

impl Bundle {
    /// Opens the bundle in `folder` to resume it, or begins it as `fresh`.
    pub fn open(folder: &Path, fresh: Manifest) -> Result<(Bundle, Found), Stop> {
        check_folder(folder)?;
        fs::create_dir_all(folder.join(STEPS))
            .map_err(|error| Stop::io("create the bundle", folder, &error))?;
        check_owner(folder)?;
        let lock = lock(folder)?;
        remove_leftovers(folder)?;
        let Some(mut manifest) = read_manifest(folder)? else {
            let bundle = Bundle {
                folder: folder.to_owned(),
                manifest: fresh,
                _lock: lock,
            };
            bundle.save()?;
            return Ok((bundle, Found::default()));
        };
        let differences = manifest.differences(&fresh);
        if !differences.is_empty() {
            let head = format!(
                "--out {}: holds a bundle of another measurement; resume it with the same plan, \
                 target and fio, or choose another folder. It differs in:",
                folder.display()
            );
            let lines = differences.iter().map(|line| format!("  {line}"));
            return Err(Stop::Refused(std::iter::once(head).chain(lines).collect()));
        }
        let found = check_steps(folder, &mut manifest);
        manifest.sessions.extend(fresh.sessions);
        for warning in fresh.warnings {
            if !manifest.warnings.contains(&warning) {
                manifest.warnings.push(warning);
            }
        }
        let bundle = Bundle {
            folder: folder.to_owned(),
            manifest,
            _lock: lock,
        };
        bundle.save()?;
        Ok((bundle, found))
    }

    /// The manifest of the bundle in `folder`, if there is one.
    pub fn peek(folder: &Path) -> Result<Option<Manifest>, Stop> {
        read_manifest(folder)
    }

    /// The folder of the steps' files.
    pub fn steps_folder(&self) -> PathBuf {
        self.folder.join(STEPS)
    }

    /// Puts the manifest on disk.
    pub fn save(&self) -> Result<(), Stop> {
        let mut text = serde_json::to_string_pretty(&self.manifest).expect("plain data");
        text.push('\n');
        write_whole(&self.folder.join(MANIFEST), text.as_bytes())
    }

    /// Writes a file of a step whole and returns its path inside the bundle.
    pub fn write_step_file(&self, name: &str, bytes: &[u8]) -> Result<String, Stop> {
        write_whole(&self.steps_folder().join(name), bytes)?;
        Ok(format!("{STEPS}/{name}"))
    }

    /// Commits a finished step: fsyncs and checksums its files, then records them in the manifest.
    pub fn commit(
        &mut self,
        index: usize,
        record: StepRecord,
        names: &[String],
    ) -> Result<(), Stop> {
        let mut record = record;
        record.state = State::Done;
        record.error = None;
        for name in names {
            let path = self.steps_folder().join(name);
            let sum = sync_and_sum(&path).map_err(|error| Stop::io("sync", &path, &error))?;
            record.sha256.insert(format!("{STEPS}/{name}"), sum);
        }
        sync_folder(&self.steps_folder())?;
        self.manifest.steps[index] = record;
        self.save()
    }
}

fn check_folder(folder: &Path) -> Result<(), Stop> {
    let Ok(mut entries) = fs::read_dir(folder) else {
        return Ok(());
    };
    let foreign = entries.any(|entry| entry.is_ok_and(|entry| entry.file_name() != STEPS));
    if foreign && !folder.join(MANIFEST).exists() && !folder.join(".lock").exists() {
        return Err(Stop::refused(format!(
            "--out {}: holds files but no {MANIFEST}; choose an empty or a new folder",
            folder.display()
        )));
    }
    Ok(())
}

/// Others could plant links where fio is about to write.
fn check_owner(folder: &Path) -> Result<(), Stop> {
    let user = rustix::process::geteuid().as_raw();
    let by_sudo = std::env::var("SUDO_UID").ok();
    let mut faults = Vec::new();
    let steps = folder.join(STEPS);
    for (folder, found) in [
        (folder, fs::metadata(folder)),
        (&steps, fs::symlink_metadata(&steps)),
    ] {
        let found = found.map_err(|error| Stop::io("look at", folder, &error))?;
        let owner = found.uid();
        let own = owner == user || (user == 0 && by_sudo == Some(owner.to_string()));
        let folder = folder.display();
        if !found.is_dir() || !own {
            faults.push(format!(
                "--out: {folder} is a link or another user's; choose another folder"
            ));
        } else if found.mode() & 0o002 != 0 {
            faults.push(format!(
                "--out: everybody may write in {folder}; choose another folder, or `chmod o-w` it"
            ));
        }
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(Stop::Refused(faults))
    }
}

fn lock(folder: &Path) -> Result<File, Stop> {
    let path = folder.join(".lock");
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32)
        .open(&path)
        .map_err(|error| Stop::io("lock", &path, &error))?;
    rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive).map_err(
        |_| {
            let folder = folder.display();
            Stop::refused(format!(
                "--out {folder}: another collector is writing this bundle"
            ))
        },
    )?;
    Ok(file)
}

/// Removes partial files of a run that was killed.
fn remove_leftovers(folder: &Path) -> Result<(), Stop> {
    for folder in [folder.to_owned(), folder.join(STEPS)] {
        let entries = fs::read_dir(&folder).map_err(|error| Stop::io("read", &folder, &error))?;
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().ends_with(PART) {
                let path = entry.path();
                fs::remove_file(&path).map_err(|error| Stop::io("remove", &path, &error))?;
            }
        }
    }
    Ok(())
}

fn read_manifest(folder: &Path) -> Result<Option<Manifest>, Stop> {
    let path = folder.join(MANIFEST);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Stop::io("read", &path, &error)),
    };
    let manifest: Manifest = serde_json::from_slice(&bytes).map_err(|error| {
        let path = path.display();
        Stop::refused(format!(
            "{path}: not a manifest that this program reads: {error}"
        ))
    })?;
    if manifest.format != FORMAT {
        return Err(Stop::refused(format!(
            "{}: format {}; this program resumes format {FORMAT}",
            path.display(),
            manifest.format
        )));
    }
    Ok(Some(manifest))
}

/// Sets steps whose files are missing or changed back to pending.
fn check_steps(folder: &Path, manifest: &mut Manifest) -> Found {
    let mut found = Found::default();
    for record in &mut manifest.steps {
        if record.state != State::Done {
            continue;
        }
        let sound = record.sha256.iter().all(|(name, sum)| {
            fs::read(folder.join(name)).is_ok_and(|bytes| sha256(&bytes) == *sum)
        });
        if sound {
            found.done += 1;
        } else {
            found
                .damaged
                .push(format!("{} `{}`", record.step.stem(), record.step.name));
            *record = StepRecord::pending(record.step.clone());
        }
    }
    if !found.damaged.is_empty() {
        manifest.end = None;
    }
    found
}

fn sync_and_sum(path: &Path) -> std::io::Result<String> {
    File::open(path)?.sync_all()?;
    Ok(sha256(&fs::read(path)?))
}

fn sync_folder(folder: &Path) -> Result<(), Stop> {
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|error| Stop::io("sync", folder, &error))
}

/// Writes a file atomically: it is either the old one or the new one, never a part.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Stop> {
    let folder = path.parent().expect("a file has a folder");
    let write = || {
        let mut part = temporary(folder)?;
        part.write_all(bytes)?;
        if let Ok(old) = fs::metadata(path) {
            part.as_file().set_permissions(old.permissions())?;
        }
        part.as_file().sync_all()?;
        part.persist(path).map_err(|error| error.error)
    };
    write().map_err(|error| Stop::io("write", path, &error))?;
    sync_folder(folder)
}

/// A new file of a name that nobody can guess, removed when it is dropped.
pub fn temporary(folder: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    tempfile::Builder::new()
        .prefix(".")
        .suffix(PART)
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(folder)
}

/// Moves a file that fio wrote to its final name.
pub fn publish(part: &Path, path: &Path) -> Result<(), Stop> {
    File::open(part)
        .and_then(|file| file.sync_all())
        .and_then(|()| fs::rename(part, path))
        .map_err(|error| Stop::io("rename", path, &error))
}
