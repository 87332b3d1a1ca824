//! Block devices as `/sys`, `/proc` and `/dev` show them.
//!
//! The three roots are data, so that tests hand in folders of their own.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Where the kernel's views are mounted.
#[derive(Clone, Debug)]
pub struct Roots {
    /// `/sys`
    pub sys: PathBuf,
    /// `/proc`
    pub proc: PathBuf,
    /// `/run`, for what udev knows.
    pub run: PathBuf,
}

impl Default for Roots {
    fn default() -> Self {
        Roots::under(Path::new("/"))
    }
}

/// A device number: major and minor.
pub type Number = (u32, u32);

/// A disk, a partition or a device made of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockDevice {
    /// Its folder in sysfs, without links.
    pub folder: PathBuf,
    /// The kernel's name: `sda`, `nvme0n1p2`, `dm-0`.
    pub name: String,
    /// Its number.
    pub number: Number,
}

/// The content of a one-line file, without white space at its ends; none if it cannot be read
/// or is empty.
pub fn line(path: &Path) -> Option<String> {
    let text = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&text);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}

/// Names of a folder's entries, sorted; empty if it cannot be read.
pub fn entries(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn number(text: &str) -> Option<Number> {
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

impl Roots {
    /// The views below `root`.
    pub fn under(root: &Path) -> Roots {
        Roots {
            sys: root.join("sys"),
            proc: root.join("proc"),
            run: root.join("run"),
        }
    }

    /// The device of that number.
    pub fn device(&self, (major, minor): Number) -> Option<BlockDevice> {
        let link = self.sys.join(format!("dev/block/{major}:{minor}"));
        self.device_in(&link)
    }

    /// The device of that name.
    pub fn named(&self, name: &str) -> Option<BlockDevice> {
        self.device_in(&self.sys.join("class/block").join(name))
    }

    fn device_in(&self, folder: &Path) -> Option<BlockDevice> {
        let folder = fs::canonicalize(folder).ok()?;
        let number = number(&line(&folder.join("dev"))?)?;
        let name = folder.file_name()?.to_string_lossy().into_owned();
        Some(BlockDevice {
            folder,
            name,
            number,
        })
    }

    /// Mounted file systems: (device number, source, mount point).
    pub fn mounts(&self) -> Vec<(Number, String, String)> {
        let text = fs::read_to_string(self.proc.join("self/mountinfo")).unwrap_or_default();
        text.lines()
            .filter_map(|line| {
                let (left, right) = line.split_once(" - ")?;
                let left: Vec<&str> = left.split(' ').collect();
                let source = right.split(' ').nth(1)?;
                Some((
                    number(left.get(2)?)?,
                    unescape(source),
                    unescape(left.get(4)?),
                ))
            })
            .collect()
    }

    /// Paths in use as swap.
    pub fn swaps(&self) -> Vec<String> {
        let text = fs::read_to_string(self.proc.join("swaps")).unwrap_or_default();
        text.lines()
            .skip(1)
            .filter_map(|line| line.split_whitespace().next())
            .map(unescape)
            .collect()
    }

    /// The device that a path such as `/dev/mapper/x` or a mount's source names.
    pub fn by_node(&self, path: &str) -> Option<BlockDevice> {
        let real = fs::canonicalize(path).unwrap_or_else(|_| PathBuf::from(path));
        let name = real.file_name()?.to_string_lossy().into_owned();
        real.starts_with("/dev").then(|| self.named(&name))?
    }

    /// A device, what it is made of, and the disks those are partitions of, recursively.
    pub fn below(&self, device: &BlockDevice) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut open = vec![device.clone()];
        while let Some(device) = open.pop() {
            if !found.insert(device.name.clone()) {
                continue;
            }
            open.extend(self.slaves(&device));
            open.extend(device.disk().and_then(|name| self.named(&name)));
        }
        found
    }

    /// The devices that a device-mapper or md device is made of.
    pub fn slaves(&self, device: &BlockDevice) -> Vec<BlockDevice> {
        entries(&device.folder.join("slaves"))
            .iter()
            .filter_map(|name| self.named(name))
            .collect()
    }

    /// The device that holds the root file system.
    pub fn root_device(&self) -> Option<BlockDevice> {
        // The last mount on a point is the one that is seen.
        let (number, source, _) = self
            .mounts()
            .into_iter()
            .rev()
            .find(|(_, _, point)| point == "/")?;
        self.device(number).or_else(|| self.by_node(&source))
    }
}

/// Undoes the octal escapes of white space in mountinfo and swaps.
fn unescape(text: &str) -> String {
    [
        ("\\040", " "),
        ("\\011", "\t"),
        ("\\012", "\n"),
        ("\\134", "\\"),
    ]
    .iter()
    .fold(text.to_owned(), |text, (code, character)| {
        text.replace(code, character)
    })
}

impl BlockDevice {
    /// Bytes.
    pub fn size(&self) -> Option<u64> {
        // The kernel counts in 512 bytes, whatever the device's sectors are.
        Some(line(&self.folder.join("size"))?.parse::<u64>().ok()? * 512)
    }

    /// Its partitions.
    pub fn partitions(&self) -> Vec<String> {
        entries(&self.folder)
            .into_iter()
            .filter(|name| self.folder.join(name).join("partition").exists())
            .collect()
    }

    /// The disk it is a partition of.
    pub fn disk(&self) -> Option<String> {
        if !self.folder.join("partition").exists() {
            return None;
        }
        Some(
            self.folder
                .parent()?
                .file_name()?
                .to_string_lossy()
                .into_owned(),
        )
    }

    /// The folder of its disk, where model and queue stand.
    pub fn disk_folder(&self) -> PathBuf {
        match (self.disk(), self.folder.parent()) {
            (Some(_), Some(parent)) => parent.to_owned(),
            _ => self.folder.clone(),
        }
    }

    /// The serial number, where the kernel or udev knows it.
    pub fn serial(&self, roots: &Roots) -> Option<String> {
        let disk = self.disk_folder();
        line(&disk.join("device/serial"))
            .or_else(|| line(&disk.join("serial")))
            .or_else(|| {
                // Vital product data, page 0x80: four bytes of header, then the serial.
                let page = fs::read(disk.join("device/vpd_pg80")).ok()?;
                let text = String::from_utf8_lossy(page.get(4..)?).trim().to_owned();
                (!text.is_empty()).then_some(text)
            })
            .or_else(|| {
                let number = line(&disk.join("dev"))?;
                let record =
                    fs::read_to_string(roots.run.join("udev/data").join(format!("b{number}")));
                record
                    .ok()?
                    .lines()
                    .find_map(|line| line.strip_prefix("E:ID_SERIAL_SHORT=").map(str::to_owned))
            })
    }
}
