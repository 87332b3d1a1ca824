//! Who else has the target open: processes, and loop devices that stand on it.

use crate::sysfs::{Number, Roots, entries, line};
use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A target as other processes may know it.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Numbers of the block device, its partitions and its disk.
    pub numbers: BTreeSet<Number>,
    /// Paths of it, without links.
    pub paths: BTreeSet<PathBuf>,
}

impl Known {
    /// A file or a node that is reached by `path`.
    pub fn by_path(path: &Path) -> Known {
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        Known {
            numbers: BTreeSet::new(),
            paths: BTreeSet::from([path]),
        }
    }

    fn is(&self, opened: &Path) -> bool {
        let Ok(found) = fs::metadata(opened) else {
            return false;
        };
        let number = || {
            let device = found.rdev();
            (rustix::fs::major(device), rustix::fs::minor(device))
        };
        let same = |path: &PathBuf| {
            fs::metadata(path).is_ok_and(|own| (own.dev(), own.ino()) == (found.dev(), found.ino()))
        };
        (found.file_type().is_block_device() && self.numbers.contains(&number()))
            || self.paths.iter().any(same)
    }
}

/// What the look at all processes found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Openers {
    /// One line for each that has the target open or mapped.
    pub reasons: Vec<String>,
    /// Processes looked at.
    pub seen: usize,
    /// Processes of other users, whose files only root may see.
    pub hidden: usize,
}

/// Tools such as `udevd` and `smartd` open devices for an instant; who is there after this pause
/// stays.
const PAUSE: Duration = Duration::from_millis(500);

/// Looks at the open and mapped files of all processes but this one, and at loop devices.
pub fn find(roots: &Roots, target: &Known) -> Openers {
    let found = look(roots, target);
    if found.reasons.is_empty() {
        return found;
    }
    std::thread::sleep(PAUSE);
    look(roots, target)
}

fn look(roots: &Roots, target: &Known) -> Openers {
    let mut found = Openers::default();
    let own = std::process::id();
    for name in entries(&roots.proc) {
        let Ok(process) = name.parse::<u32>() else {
            continue;
        };
        if process == own {
            continue;
        }
        let folder = roots.proc.join(&name);
        match how(&folder, target) {
            Ok(None) => found.seen += 1,
            Ok(Some(how)) => {
                found.seen += 1;
                let program = line(&folder.join("comm")).unwrap_or_else(|| "?".to_owned());
                let reason = format!("process {process} ({program}) has it {how}");
                found.reasons.push(reason);
            }
            // It ended meanwhile.
            Err(ErrorKind::NotFound) => (),
            Err(_) => found.hidden += 1,
        }
    }
    found.reasons.extend(loops(roots, target));
    found
}

/// How a process uses the target, if it does.
fn how(folder: &Path, target: &Known) -> Result<Option<&'static str>, ErrorKind> {
    let open = fs::read_dir(folder.join("fd")).map_err(|error| error.kind())?;
    if open.flatten().any(|entry| target.is(&entry.path())) {
        return Ok(Some("open"));
    }
    // A mapping outlives the descriptor that made it.
    let maps = fs::read(folder.join("maps")).unwrap_or_default();
    let mapped = String::from_utf8_lossy(&maps).lines().any(|line| {
        let path = line.find('/').map(|at| Path::new(&line[at..]));
        path.is_some_and(|path| target.paths.contains(path))
    });
    Ok(mapped.then_some("mapped"))
}

/// Loop devices do not claim what they stand on.
fn loops(roots: &Roots, target: &Known) -> Vec<String> {
    entries(&roots.sys.join("class/block"))
        .into_iter()
        .filter(|name| name.starts_with("loop"))
        .filter(|name| {
            let file = roots.sys.join("class/block").join(name);
            line(&file.join("loop/backing_file"))
                .is_some_and(|backing| target.is(Path::new(&backing)))
        })
        .map(|name| format!("{name} is a loop device on it"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Machine(tempfile::TempDir);

    impl Machine {
        fn new() -> Machine {
            let machine = Machine(tempfile::tempdir().unwrap());
            machine.write("node", "");
            machine.write("proc/4711/comm", "postgres\n");
            fs::create_dir_all(machine.path("proc/4711/fd")).unwrap();
            machine
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn write(&self, name: &str, text: &str) {
            fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
            fs::write(self.path(name), text).unwrap();
        }

        fn find(&self) -> Openers {
            let roots = Roots::under(self.0.path());
            find(&roots, &Known::by_path(&self.path("node")))
        }
    }

    #[test]
    fn a_process_without_the_target_is_seen_and_no_reason() {
        let machine = Machine::new();
        std::os::unix::fs::symlink("/dev/null", machine.path("proc/4711/fd/0")).unwrap();
        let found = machine.find();
        assert_eq!((found.reasons.len(), found.seen, found.hidden), (0, 1, 0));
    }

    #[test]
    fn an_open_descriptor_is_a_reason_that_names_the_process() {
        let machine = Machine::new();
        let link = machine.path("proc/4711/fd/3");
        std::os::unix::fs::symlink(machine.path("node"), link).unwrap();
        assert_eq!(
            machine.find().reasons,
            ["process 4711 (postgres) has it open"]
        );
    }

    #[test]
    fn a_mapping_without_a_descriptor_is_a_reason() {
        let machine = Machine::new();
        let node = fs::canonicalize(machine.path("node")).unwrap();
        let line = format!("7f0-7f1 rw-s 00000000 00:05 12 {}\n", node.display());
        machine.write("proc/4711/maps", &line);
        assert_eq!(
            machine.find().reasons,
            ["process 4711 (postgres) has it mapped"]
        );
    }

    #[test]
    fn a_loop_device_on_it_is_a_reason() {
        let machine = Machine::new();
        let node = machine.path("node");
        machine.write(
            "sys/class/block/loop5/loop/backing_file",
            &format!("{}\n", node.display()),
        );
        assert_eq!(machine.find().reasons, ["loop5 is a loop device on it"]);
    }

    /// The number of the device counts, not the path: another node of the same device.
    #[test]
    fn a_device_is_known_by_its_number() {
        let Ok(found) = fs::metadata("/dev/loop0") else {
            eprintln!("skipped: no block device is here");
            return;
        };
        let number = (
            rustix::fs::major(found.rdev()),
            rustix::fs::minor(found.rdev()),
        );
        let known = Known {
            numbers: BTreeSet::from([number]),
            paths: BTreeSet::new(),
        };
        assert!(known.is(Path::new("/dev/loop0")));
        assert!(!known.is(Path::new("/dev/null")));
    }

    #[test]
    fn processes_of_others_are_counted_as_hidden() {
        let machine = Machine::new();
        fs::remove_dir(machine.path("proc/4711/fd")).unwrap();
        // A file in place of the folder: it cannot be listed.
        machine.write("proc/4711/fd", "");
        assert_eq!(machine.find().hidden, 1);
    }
}
