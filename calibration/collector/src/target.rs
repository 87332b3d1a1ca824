//! What is measured: a file, a block device, or a simulated system.

use crate::identity;
use crate::manifest::{FileId, Manifest, TargetRecord};
use crate::openers::{self, Known};
use crate::safety::{self, History};
use crate::simulated::{self, Simulated};
use crate::stop::Stop;
use crate::sysfs::{BlockDevice, Roots, line};
use crate::text::acts;
use crate::units::{self, MIB, show_bytes};
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use serde_json::{Value, json};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{BufRead, IsTerminal, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Name of the file that is created where a folder, or nothing, is named.
const FILE_NAME: &str = "raidlab-target.bin";

/// Where device nodes are; a file that is created there measures the host's memory.
const DEVICES: &str = "/dev";

/// The target as the command line names it.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// A file, a folder or a block device.
    pub path: Option<PathBuf>,
    /// A scenario file.
    pub simulated: Option<PathBuf>,
    /// Size of a file to create.
    pub size: Option<String>,
    /// What was typed after `--destroy-data-on`.
    pub destroy_data_on: Option<String>,
    /// An existing file may be overwritten.
    pub overwrite_file: bool,
}

/// What the plan does to the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It only reads.
    ReadOnly,
    /// It writes or discards.
    Write,
}

/// Whether a missing size may be asked for on the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prompt {
    /// It may.
    Allowed,
    /// It may not.
    Never,
}

/// A target that may be measured.
#[derive(Debug)]
pub struct Target {
    /// For the manifest.
    pub record: TargetRecord,
    /// The device under it, where temperatures are read.
    pub device: Option<BlockDevice>,
    /// It can discard.
    pub discard: bool,
    /// What was looked at before it was let through, in words.
    pub seen: Vec<String>,
    /// For the manifest's warnings.
    pub warnings: Vec<String>,
    /// The simulated system, if it is one.
    pub simulated: Option<Simulated>,
    /// Held until the end: nobody can mount or claim the device meanwhile.
    _claim: Option<File>,
}

/// Refuses a path that would be another one, or more options, in a job file of fio.
fn check_path(path: &Path) -> Result<(), Stop> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let text = path.to_string_lossy();
    if path.to_str().is_some() && !text.contains(|char| acts(char) || char == '$') {
        return Ok(());
    }
    Err(Stop::refused(format!(
        "--target {}: a path of UTF-8 without control characters and `$`, which fio's job files \
         cannot hold",
        text.escape_debug()
    )))
}

impl Target {
    /// Checks that the target may be measured. Writes nothing.
    pub fn open(
        roots: &Roots,
        wanted: &Wanted,
        access: Access,
        before: Option<&Manifest>,
        prompt: Prompt,
    ) -> Result<Target, Stop> {
        if let Some(scenario) = &wanted.simulated {
            return simulated_target(scenario);
        }
        let path = wanted
            .path
            .clone()
            .unwrap_or_else(|| PathBuf::from(FILE_NAME));
        let path = if path.is_dir() {
            path.join(FILE_NAME)
        } else {
            path
        };
        check_path(&path)?;
        match fs::metadata(&path) {
            Ok(metadata) if metadata.file_type().is_block_device() => {
                block_target(roots, wanted, &path, &metadata, before)
            }
            Ok(metadata) if !metadata.is_file() => Err(Stop::refused(format!(
                "--target {}: neither a file nor a block device",
                path.display()
            ))),
            found => file_target(roots, wanted, &path, found.ok(), access, before, prompt),
        }
    }

    /// Creates the file to be measured, or makes sure that it is the one that was created before.
    ///
    /// It is made exclusively, so that neither a link nor another file is ever written to.
    pub fn create(&self, known: Option<FileId>) -> Result<Option<FileId>, Stop> {
        if !self.record.created {
            return Ok(None);
        }
        let path = Path::new(&self.record.path);
        if let Ok(found) = fs::symlink_metadata(path) {
            // A kill between the file and the manifest leaves an empty one that is not known.
            let is_new = known.is_none() && found.len() == 0;
            let id = FileId::of(&found);
            if found.is_file() && (is_new || known == Some(id)) {
                return Ok(Some(id));
            }
            return Err(Stop::refused(format!(
                "--target {}: not the file that this bundle created; move it away, or begin \
                 another bundle",
                path.display()
            )));
        }
        let made = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)
            .and_then(|file| file.metadata())
            .map_err(|error| Stop::io("create", path, &error))?;
        Ok(Some(FileId::of(&made)))
    }

    /// Removes the file that the collector created, if it still is that one.
    pub fn remove(&self, known: Option<FileId>) -> Result<(), Stop> {
        let path = Path::new(&self.record.path);
        let id = fs::symlink_metadata(path).map(|found| FileId::of(&found));
        if !self.record.created || id.ok() != known {
            return Ok(());
        }
        match fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Stop::io("remove", path, &error))
            }
            _ => Ok(()),
        }
    }

    /// Gives the file that the collector created its full length.
    ///
    /// fio removes a shorter file and makes another one, which would not be known any more.
    pub fn grow(&self) -> Result<(), Stop> {
        if !self.record.created || self.laid_out() {
            return Ok(());
        }
        let (path, size) = (Path::new(&self.record.path), self.record.size_bytes);
        let grown = OpenOptions::new().write(true).open(path).and_then(|file| {
            match fallocate(&file, FallocateFlags::empty(), 0, size) {
                Err(Errno::OPNOTSUPP) => file.set_len(size),
                result => Ok(result?),
            }
        });
        grown.map_err(|error| Stop::io("allocate", path, &error))
    }

    /// True if the file to be measured exists in full size.
    pub fn laid_out(&self) -> bool {
        fs::metadata(&self.record.path)
            .is_ok_and(|metadata| metadata.len() >= self.record.size_bytes)
    }

    /// Refuses if a file of the target's size would not fit.
    pub fn check_space(&self) -> Result<(), Stop> {
        if !self.record.created {
            return Ok(());
        }
        let path = Path::new(&self.record.path);
        let there = fs::metadata(path).map_or(0, |metadata| metadata.blocks() * 512);
        let needed = self.record.size_bytes.saturating_sub(there);
        let free = free_bytes(path.parent().expect("an absolute path"))?;
        if needed > free {
            return Err(Stop::refused(format!(
                "--size: {} do not fit: {} has {} free",
                show_bytes(self.record.size_bytes),
                path.parent().expect("an absolute path").display(),
                show_bytes(free)
            )));
        }
        Ok(())
    }
}

/// Free bytes for an unprivileged user in the file system of `folder`.
pub fn free_bytes(folder: &Path) -> Result<u64, Stop> {
    let found = rustix::fs::statvfs(folder)
        .map_err(|error| Stop::io("ask for free space", folder, &error.into()))?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

fn simulated_target(scenario: &Path) -> Result<Target, Stop> {
    let simulated = simulated::describe(scenario)?;
    let record = TargetRecord {
        kind: "simulated".to_owned(),
        path: simulated.filename.clone(),
        size_bytes: simulated.size_bytes,
        created: false,
        identity: json!({
            "scenario": scenario.file_name().map(|name| name.to_string_lossy()),
            "name": simulated.name,
            "seed": simulated.seed,
            "plan_sha256": crate::digest::sha256(simulated.plan.to_string().as_bytes()),
        }),
        details: Value::Null,
    };
    Ok(Target {
        record,
        device: None,
        discard: false,
        seen: Vec::new(),
        warnings: Vec::new(),
        simulated: Some(simulated),
        _claim: None,
    })
}

fn block_target(
    roots: &Roots,
    wanted: &Wanted,
    path: &Path,
    metadata: &Metadata,
    before: Option<&Manifest>,
) -> Result<Target, Stop> {
    let number = (
        rustix::fs::major(metadata.rdev()),
        rustix::fs::minor(metadata.rdev()),
    );
    let device = roots.device(number).ok_or_else(|| {
        Stop::refused(format!(
            "--target {}: the kernel shows no such device",
            path.display()
        ))
    })?;
    let identity = identity::identity(roots, &device);
    let ours = before.is_some_and(|manifest| {
        manifest.written_since.is_some() && manifest.target.identity == identity
    });
    let history = if ours {
        History::WrittenByUs
    } else {
        History::Unknown
    };
    let typed = wanted.destroy_data_on.as_deref();
    let found = safety::check(roots, &device, path, history, typed)?;
    let size = device.size().unwrap_or(0) / MIB * MIB;
    if size == 0 {
        return Err(Stop::refused(format!(
            "--target {}: its size is 0",
            path.display()
        )));
    }
    let mut details = identity::details(roots, &device);
    details["checked"] = json!(found.seen);
    let discard =
        line(&device.disk_folder().join("queue/discard_max_bytes")).is_some_and(|text| text != "0");
    Ok(Target {
        record: TargetRecord {
            kind: "block".to_owned(),
            path: path.display().to_string(),
            size_bytes: size,
            created: false,
            identity,
            details,
        },
        device: Some(device),
        discard,
        seen: found.seen,
        _claim: found.claim,
        warnings: found
            .reasons
            .iter()
            .map(|reason| format!("measured although {reason}"))
            .collect(),
        simulated: None,
    })
}

fn file_target(
    roots: &Roots,
    wanted: &Wanted,
    path: &Path,
    found: Option<Metadata>,
    access: Access,
    before: Option<&Manifest>,
    prompt: Prompt,
) -> Result<Target, Stop> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).map_err(|error| {
        Stop::refused(format!("--target {}: its folder: {error}", path.display()))
    })?;
    let Some(name) = path.file_name() else {
        return Err(Stop::refused(format!(
            "--target {}: not a file's name",
            path.display()
        )));
    };
    let path = folder.join(name);
    let ours = before
        .map(|manifest| &manifest.target)
        .filter(|target| target.created && Path::new(&target.path) == path);
    if found.is_none() && fs::symlink_metadata(&path).is_ok() {
        return Err(Stop::refused(format!(
            "--target {}: a link to a file that is not there",
            path.display()
        )));
    }
    let created = found.is_none() || ours.is_some();
    if created && path.starts_with(DEVICES) {
        return Err(Stop::refused(format!(
            "--target {}: no such device; a file under {DEVICES} would lie in memory",
            path.display()
        )));
    }
    let size_bytes = if created {
        created_size(wanted, ours, prompt)?
    } else {
        existing_size(roots, wanted, &path, found.as_ref(), access)?
    };
    let device = device_below(roots, &folder)?;
    Ok(Target {
        record: TargetRecord {
            kind: "file".to_owned(),
            path: path.display().to_string(),
            size_bytes,
            created,
            identity: device
                .as_ref()
                .map_or(Value::Null, |device| identity::identity(roots, device)),
            details: device
                .as_ref()
                .map_or(Value::Null, |device| identity::details(roots, device)),
        },
        device,
        discard: false,
        seen: Vec::new(),
        _claim: None,
        warnings: vec![
            "the target is a file: the file system is part of what was measured".to_owned(),
        ],
        simulated: None,
    })
}

/// The device that a folder's file system lies on, if it is one.
fn device_below(roots: &Roots, folder: &Path) -> Result<Option<BlockDevice>, Stop> {
    let metadata = fs::metadata(folder).map_err(|error| Stop::io("look at", folder, &error))?;
    let number = (
        rustix::fs::major(metadata.dev()),
        rustix::fs::minor(metadata.dev()),
    );
    let by_source = || {
        // The last mount of that number is the one that is seen.
        let mut mounts = roots.mounts().into_iter().rev();
        let (_, source, _) = mounts.find(|(mounted, _, _)| *mounted == number)?;
        roots.by_node(&source)
    };
    Ok(roots.device(number).or_else(by_source))
}

fn created_size(wanted: &Wanted, ours: Option<&TargetRecord>, prompt: Prompt) -> Result<u64, Stop> {
    let size = match (&wanted.size, ours) {
        (Some(text), _) => text.clone(),
        (None, Some(target)) => return Ok(target.size_bytes),
        (None, None) if prompt == Prompt::Allowed && std::io::stdin().is_terminal() => ask_size()?,
        (None, None) => {
            return Err(Stop::refused(
                "--size: needed to create the target file; for example --size \"8 GiB\"",
            ));
        }
    };
    let size = units::bytes(&size).map_err(|fault| Stop::refused(format!("--size: {fault}")))?;
    if size < MIB {
        return Err(Stop::refused("--size: allowed: 1 MiB and more"));
    }
    Ok(size / MIB * MIB)
}

fn ask_size() -> Result<String, Stop> {
    eprint!("Size of the file to create (for example 8 GiB): ");
    let _ = std::io::stderr().flush();
    let mut answer = String::new();
    std::io::stdin()
        .lock()
        .read_line(&mut answer)
        .map_err(|error| Stop::failed(format!("cannot read the answer: {error}")))?;
    Ok(answer.trim().to_owned())
}

fn existing_size(
    roots: &Roots,
    wanted: &Wanted,
    path: &Path,
    found: Option<&Metadata>,
    access: Access,
) -> Result<u64, Stop> {
    let openers = openers::find(roots, &Known::by_path(path));
    let mut faults: Vec<String> = openers
        .reasons
        .iter()
        .map(|reason| format!("--target {}: refused: {reason}", path.display()))
        .collect();
    if access == Access::Write && !wanted.overwrite_file {
        faults.push(format!(
            "--target {}: exists, and this plan writes; name a new file, add --read-only, or \
             let its content be destroyed by --overwrite-file",
            path.display()
        ));
    }
    if wanted.size.is_some() {
        faults.push(format!(
            "--size: {} exists and has its size",
            path.display()
        ));
    }
    let size = found.map_or(0, Metadata::len) / MIB * MIB;
    if size == 0 {
        faults.push(format!("--target {}: smaller than 1 MiB", path.display()));
    }
    if faults.is_empty() {
        Ok(size)
    } else {
        Err(Stop::Refused(faults))
    }
}
