//! Reasons not to touch a block device: it is in use, or it contains data.
//!
//! Overridden only by typing the device's serial number.

use crate::signature;
use crate::stop::Stop;
use crate::sysfs::{BlockDevice, Roots, entries, line};
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Every reason not to touch `device`, whose node is `node`; empty if there is none.
pub fn reasons(roots: &Roots, device: &BlockDevice, node: &Path) -> Result<Vec<String>, Stop> {
    let mut reasons = Vec::new();
    let mut ours: BTreeSet<String> = device.partitions().into_iter().collect();
    ours.insert(device.name.clone());
    holders(roots, &ours, &mut reasons);
    mounts(roots, &ours, &mut reasons);
    swaps(roots, &ours, &mut reasons);
    if let Some(root) = roots.root_device() {
        if roots.below(&root).contains(&device.name) {
            reasons.push("it holds the root file system".to_owned());
        }
    }
    let partitions = device.partitions();
    if !partitions.is_empty() {
        reasons.push(format!("it is partitioned ({})", partitions.join(", ")));
    }
    match contents(device, node, &mut reasons) {
        Err(stop) if reasons.is_empty() => return Err(stop),
        Err(stop) => reasons.push(format!("its sectors cannot be read ({stop})")),
        Ok(()) => (),
    }
    Ok(reasons)
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

/// Opens the device for reading, exclusively: the kernel refuses if it is in use.
fn contents(device: &BlockDevice, node: &Path, reasons: &mut Vec<String>) -> Result<(), Stop> {
    let exclusive = rustix::fs::OFlags::EXCL.bits() as i32;
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(exclusive)
        .open(node);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::BUSY.raw_os_error()) => {
            reasons.push("the kernel says that it is in use".to_owned());
            open(node)?
        }
        Err(_) => open(node)?,
    };
    let size = device.size().unwrap_or(0);
    let found = signature::find(&file, size)
        .map_err(|error| Stop::io("read the first and last sectors", node, &error))?;
    for name in found {
        reasons.push(format!("it holds a signature: {name}"));
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

/// Refuses the device unless there is no reason to, or its serial number was typed.
///
/// Returns the reasons that were overridden.
pub fn check(
    roots: &Roots,
    device: &BlockDevice,
    node: &Path,
    typed_serial: Option<&str>,
) -> Result<Vec<String>, Stop> {
    let reasons = reasons(roots, device, node)?;
    if reasons.is_empty() {
        return Ok(reasons);
    }
    let serial = device.serial(roots);
    let mut faults: Vec<String> = reasons
        .iter()
        .map(|reason| format!("--target {}: refused: {reason}", node.display()))
        .collect();
    match (typed_serial, serial) {
        (Some(typed), Some(serial)) if typed == serial => return Ok(reasons),
        (Some(typed), Some(_)) => faults.push(format!(
            "--destroy-data-on {typed}: not the serial number of {}",
            node.display()
        )),
        (_, None) => faults.push(
            "the device shows no serial number to type, so this cannot be overridden; `wipefs` \
             clears signatures, if nothing on it is needed any more"
                .to_owned(),
        ),
        (None, Some(_)) => faults.push(
            "to measure it anyway, type its serial number after --destroy-data-on \
             (`lsblk -o NAME,SERIAL` shows it); a plan that writes destroys what it holds"
                .to_owned(),
        ),
    }
    Err(Stop::Refused(faults))
}
