//! Reasons not to touch a block device: it is in use, or it holds anything.
//!
//! Overridden only by typing what identifies the device: its serial number, or name and size.

use crate::contents::{self, Contents};
use crate::openers::{self, Known};
use crate::signature;
use crate::stop::Stop;
use crate::sysfs::{BlockDevice, Roots, entries, line};
use crate::units::show_bytes;
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Whose data a device may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    /// Anybody's.
    Unknown,
    /// The bundle says that the collector found it empty and has written to it since.
    WrittenByUs,
}

/// What a look at a device found.
#[derive(Debug, Default)]
pub struct Inspection {
    /// Why it must not be touched.
    pub reasons: Vec<String>,
    /// What was looked at, in words.
    pub seen: Vec<String>,
    /// The device, opened exclusively: while it is, nobody can mount or claim it.
    pub claim: Option<File>,
}

/// Looks for every reason not to touch `device`, whose node is `node`.
pub fn inspect(
    roots: &Roots,
    device: &BlockDevice,
    node: &Path,
    history: History,
) -> Result<Inspection, Stop> {
    let mut found = Inspection::default();
    let reasons = &mut found.reasons;
    let mut ours: BTreeSet<String> = device.partitions().into_iter().collect();
    ours.insert(device.name.clone());
    holders(roots, &ours, reasons);
    mounts(roots, &ours, reasons);
    swaps(roots, &ours, reasons);
    if let Some(root) = roots.root_device() {
        if roots.below(&root).contains(&device.name) {
            reasons.push("it holds the root file system".to_owned());
        }
    }
    let partitions = device.partitions();
    if !partitions.is_empty() {
        reasons.push(format!("it is partitioned ({})", partitions.join(", ")));
    }
    let openers = openers::find(roots, &known(roots, device, ours, node));
    reasons.extend(openers.reasons);
    let looked = format!("open files of {} processes", openers.seen);
    found.seen.push(match openers.hidden {
        0 => looked,
        hidden => format!("{looked}; those of {hidden} more are for root alone to see"),
    });
    match read(device, node, history, &mut found) {
        Err(stop) if found.reasons.is_empty() => return Err(stop),
        Err(stop) => found
            .reasons
            .push(format!("its sectors cannot be read ({stop})")),
        Ok(()) => (),
    }
    Ok(found)
}

/// The device, its partitions and its disk, as other processes may have opened them.
fn known(roots: &Roots, device: &BlockDevice, ours: BTreeSet<String>, node: &Path) -> Known {
    let mut known = Known::by_path(node);
    for name in ours.into_iter().chain(device.disk()) {
        let device = roots.named(&name);
        known.numbers.extend(device.map(|device| device.number));
    }
    known
}

fn holders(roots: &Roots, ours: &BTreeSet<String>, reasons: &mut Vec<String>) {
    for name in ours {
        let Some(device) = roots.named(name) else {
            continue;
        };
        for holder in entries(&device.folder.join("holders")) {
            let kind = roots
                .named(&holder)
                .map_or(String::new(), |holder| kind(&holder));
            reasons.push(format!("{name} is in use by {holder}{kind}"));
        }
    }
}

/// What a holder is, in parentheses: LVM, another device-mapper target, md, bcache.
fn kind(holder: &BlockDevice) -> String {
    let uuid = line(&holder.folder.join("dm/uuid")).unwrap_or_default();
    let name = line(&holder.folder.join("dm/name")).unwrap_or_default();
    if uuid.starts_with("LVM-") {
        format!(" (LVM volume {name})")
    } else if holder.folder.join("dm").exists() {
        format!(" (device-mapper {name})")
    } else if let Some(level) = line(&holder.folder.join("md/level")) {
        format!(" (md {level})")
    } else if holder.name.starts_with("bcache") {
        " (bcache)".to_owned()
    } else {
        String::new()
    }
}

fn mounts(roots: &Roots, ours: &BTreeSet<String>, reasons: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    for (number, source, point) in roots.mounts() {
        // Btrfs shows a number of no device; its source names one.
        let Some(mounted) = roots.device(number).or_else(|| roots.by_node(&source)) else {
            continue;
        };
        let on_us = roots.below(&mounted).intersection(ours).next().is_some();
        if on_us && seen.insert((mounted.name.clone(), point.clone())) {
            reasons.push(format!("{} is mounted on {point}", mounted.name));
        }
    }
}

fn swaps(roots: &Roots, ours: &BTreeSet<String>, reasons: &mut Vec<String>) {
    for path in roots.swaps() {
        let Some(swap) = roots.by_node(&path) else {
            continue;
        };
        if roots.below(&swap).intersection(ours).next().is_some() {
            reasons.push(format!("{} is in use as swap", swap.name));
        }
    }
}

/// Opens the device for reading, exclusively: the kernel refuses if it is in use. Then looks for
/// signatures and, if there is no reason yet, for any data at all.
fn read(
    device: &BlockDevice,
    node: &Path,
    history: History,
    found: &mut Inspection,
) -> Result<(), Stop> {
    let exclusive = rustix::fs::OFlags::EXCL.bits() as i32;
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(exclusive)
        .open(node);
    let file = match opened {
        Ok(file) => found.claim.insert(file),
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::BUSY.raw_os_error()) => {
            let reason = "the kernel says that it is in use";
            found.reasons.push(reason.to_owned());
            &open(node)?
        }
        Err(_) => &open(node)?,
    };
    let size = device.size().unwrap_or(0);
    let failed = |error| Stop::io("read its sectors", node, &error);
    for name in signature::find(file, size).map_err(failed)? {
        found.reasons.push(format!("it holds a signature: {name}"));
    }
    if !found.reasons.is_empty() {
        return Ok(());
    }
    if history == History::WrittenByUs {
        let note = "its contents were not sampled: this bundle's earlier steps wrote to it";
        found.seen.push(note.to_owned());
        return Ok(());
    }
    match contents::sample(file, size).map_err(failed)? {
        Contents::Empty { byte, read } => found.seen.push(format!(
            "{} of {} sampled: all bytes are 0x{byte:02x}",
            show_bytes(read),
            show_bytes(size)
        )),
        Contents::Data { at, kind } => found.reasons.push(format!(
            "it holds data without a known signature: {kind} at byte {at}"
        )),
    }
    Ok(())
}

fn open(node: &Path) -> Result<File, Stop> {
    File::open(node).map_err(|error| {
        let hint = if error.kind() == std::io::ErrorKind::PermissionDenied {
            "; raw devices need root, or membership of the group that owns them (often `disk`)"
        } else {
            ""
        };
        Stop::refused(format!(
            "{}: cannot be opened for reading: {error}{hint}",
            node.display()
        ))
    })
}

/// Refuses the device unless there is no reason to, or what identifies it was typed.
///
/// In the inspection that is returned, reasons are those that were overridden.
pub fn check(
    roots: &Roots,
    device: &BlockDevice,
    node: &Path,
    history: History,
    typed: Option<&str>,
) -> Result<Inspection, Stop> {
    let found = inspect(roots, device, node, history)?;
    let serial = device.serial(roots);
    let (what, command) = match serial {
        Some(_) => ("serial number", "lsblk -o NAME,SERIAL"),
        None => (
            "name and size in bytes, as NAME:BYTES,",
            "lsblk -b -o NAME,SIZE",
        ),
    };
    let wanted = serial.unwrap_or_else(|| {
        let size = device.size().unwrap_or(0);
        format!("{}:{size}", device.name)
    });
    if found.reasons.is_empty() || typed == Some(&wanted) {
        return Ok(found);
    }
    let node = node.display();
    let mut faults: Vec<String> = found
        .reasons
        .iter()
        .map(|reason| format!("--target {node}: refused: {reason}"))
        .collect();
    faults.push(match typed {
        Some(typed) => format!("--destroy-data-on {typed}: not the {what} of {node}"),
        None => format!(
            "to measure it anyway, type its {what} after --destroy-data-on (`{command}` shows \
             it); a plan that writes destroys what it holds"
        ),
    });
    Err(Stop::Refused(faults))
}
