//! What this process may still take: memory, and addresses where the system limits them.
//!
//! Sources: proc_meminfo(5), proc_pid_limits(5), proc_pid_status(5), cgroups(7) of man-pages 6;
//! Documentation/admin-guide/cgroup-v2.rst and mm/overcommit-accounting.rst of Linux.

use std::fs::read_to_string;
use std::path::Path;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

const KIB: u64 = 1024;

/// Bytes of memory that the machine has free, or the process' control group if that is less; None
/// if neither says.
pub fn free() -> Option<u64> {
    let machine = kib(&read("/proc/meminfo"), "MemAvailable:");
    let groups = read("/proc/self/cgroup");
    [
        machine,
        free_of_groups(&groups, |path| read_to_string(path).ok()),
    ]
    .into_iter()
    .flatten()
    .min()
}

/// Bytes of memory that the machine has, or the process' control group may take if that is less,
/// whatever others use of it; None if neither says.
fn total() -> Option<u64> {
    let machine = kib(&read("/proc/meminfo"), "MemTotal:");
    let groups = read("/proc/self/cgroup");
    let groups = of_groups(&groups, |path| read_to_string(path).ok());
    let limits = groups.iter().map(|group| group.limit).min();
    [machine, limits].into_iter().flatten().min()
}

/// What limits a run's memory and its addresses; None where nothing does.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// As [`total`].
    pub memory: Option<u64>,
    /// As [`free_addresses`].
    pub addresses: Option<u64>,
}

/// The limits, at most [`ASK`] old: to read them takes a tenth of the time of a small run.
pub fn limits() -> Limits {
    static SEEN: Mutex<Option<(Instant, Limits)>> = Mutex::new(None);
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    match *seen {
        Some((at, limits)) if at.elapsed() < ASK => limits,
        _ => {
            let limits = Limits {
                memory: total(),
                addresses: free_addresses(),
            };
            *seen = Some((Instant::now(), limits));
            limits
        }
    }
}

/// What runs of this process take together: a run waits until there is room for it.
pub struct Room {
    taken: Mutex<u64>,
    freed: Condvar,
}

/// What all runs of this process share.
pub static ROOM: Room = Room {
    taken: Mutex::new(0),
    freed: Condvar::new(),
};

/// How often a run that waits asks whether to go on, and any run for the limits.
const ASK: Duration = Duration::from_millis(100);
/// How long a run waits for memory that other processes use.
const PATIENCE: Duration = Duration::from_secs(60);
/// Runs that take less wait for nobody: they are most, and end soon.
const SMALL: u64 = 64 << 20;

/// Why a run has no room.
#[derive(Debug, PartialEq, Eq)]
pub enum NoRoom {
    /// Nobody wants it any more.
    Stopped,
    /// Other processes use the memory, and go on using it.
    Taken,
}

/// A run's share of the room, given back when it is dropped.
#[derive(Debug)]
pub struct Place<'a> {
    room: &'a Room,
    bytes: u64,
}

impl std::fmt::Debug for Room {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Room").finish_non_exhaustive()
    }
}

impl Room {
    /// Room for `bytes` of at most `limit` for all runs together; waits for other runs to end.
    ///
    /// What is beyond `limit` waits for nothing: the check of its plan refuses it. `free`
    /// says what the machine has left.
    pub fn take(
        &self,
        bytes: u64,
        limit: u64,
        free: impl Fn() -> Option<u64>,
        mut goes_on: impl FnMut() -> bool,
    ) -> Result<Place<'_>, NoRoom> {
        let began = Instant::now();
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if (SMALL..=limit).contains(&bytes) {
            loop {
                let alone = *taken == 0;
                let fits = taken.saturating_add(bytes) <= limit;
                let is_free = free().is_none_or(|free| bytes <= free);
                if fits && is_free {
                    break;
                }
                if alone && began.elapsed() >= PATIENCE {
                    return Err(NoRoom::Taken);
                }
                let waited = self.freed.wait_timeout(taken, ASK);
                taken = waited.unwrap_or_else(PoisonError::into_inner).0;
                if !goes_on() {
                    return Err(NoRoom::Stopped);
                }
            }
        }
        *taken = taken.saturating_add(bytes);
        Ok(Place { room: self, bytes })
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let taken = self.room.taken.lock();
        let mut taken = taken.unwrap_or_else(PoisonError::into_inner);
        *taken = taken.saturating_sub(self.bytes);
        self.room.freed.notify_all();
    }
}

/// Bytes of addresses that the process may still reserve; None where nothing limits them.
///
/// Limits are those of `ulimit -v` and `ulimit -d`, and the machine's commit limit where it does
/// not overcommit (`vm.overcommit_memory = 2`).
fn free_addresses() -> Option<u64> {
    let limits = read("/proc/self/limits");
    let status = read("/proc/self/status");
    let own = left(&limits, &status);
    let strict = read("/proc/sys/vm/overcommit_memory").trim() == "2";
    let machine = strict
        .then(|| uncommitted(&read("/proc/meminfo")))
        .flatten();
    [own, machine].into_iter().flatten().min()
}

fn read(path: &str) -> String {
    read_to_string(path).unwrap_or_default()
}

/// A figure of a table of the kernel's in kB, in bytes.
fn kib(table: &str, name: &str) -> Option<u64> {
    let line = table.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    kib.checked_mul(KIB)
}

/// What soft limits of addresses leave of a process with this status.
fn left(limits: &str, status: &str) -> Option<u64> {
    let of = |limit: &str, used: &str| {
        let line = limits.lines().find_map(|line| line.strip_prefix(limit))?;
        let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
        Some(limit.saturating_sub(kib(status, used)?))
    };
    let found = [
        of("Max address space", "VmSize:"),
        of("Max data size", "VmData:"),
    ];
    found.into_iter().flatten().min()
}

/// What a machine that does not overcommit may still promise.
fn uncommitted(meminfo: &str) -> Option<u64> {
    let limit = kib(meminfo, "CommitLimit:")?;
    Some(limit.saturating_sub(kib(meminfo, "Committed_AS:")?))
}

/// The least that a control group of the process, or one above it, has left.
///
/// `groups` is /proc/self/cgroup; inside a container the path is often the host's, and the group
/// itself is mounted at the root.
fn free_of_groups(groups: &str, read: impl Fn(&Path) -> Option<String>) -> Option<u64> {
    let groups = of_groups(groups, read);
    groups.iter().map(|group| group.left).min()
}

/// A control group's memory.
struct Group {
    limit: u64,
    left: u64,
}

fn of_groups(groups: &str, read: impl Fn(&Path) -> Option<String>) -> Vec<Group> {
    let number = |path: &Path| read(path)?.trim().parse::<u64>().ok();
    let mut found = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
            continue;
        };
        let (root, limit, used) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max", "memory.current"),
            _ if controllers.split(',').any(|name| name == "memory") => {
                let names = ("memory.limit_in_bytes", "memory.usage_in_bytes");
                ("/sys/fs/cgroup/memory", names.0, names.1)
            }
            _ => continue,
        };
        for part in Path::new(path.trim_start_matches('/')).ancestors() {
            let folder = Path::new(root).join(part);
            let limit = number(&folder.join(limit));
            if let (Some(limit), Some(used)) = (limit, number(&folder.join(used))) {
                let stat = read(&folder.join("memory.stat")).unwrap_or_default();
                let left = limit.saturating_sub(used.saturating_sub(file_pages(&stat)));
                found.push(Group { limit, left });
            }
        }
    }
    found
}

/// Bytes of a group's pages of files, which it gives back when it needs memory.
///
/// Version 1 has the sums of the groups below under names that begin with `total_`.
fn file_pages(stat: &str) -> u64 {
    let of = |name: &str| {
        let mut lines = stat.lines().filter_map(|line| line.split_once(' '));
        lines.find_map(|(key, value)| (key == name).then(|| value.trim().parse().ok())?)
    };
    let sum = |kind: &str| {
        of(&format!("total_{kind}"))
            .or_else(|| of(kind))
            .unwrap_or(0)
    };
    sum("inactive_file") + sum("active_file")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: &str = "Limit            Soft Limit  Hard Limit  Units\n\
        Max data size    unlimited   unlimited   bytes\n\
        Max address space 2000000000 unlimited   bytes\n";

    #[test]
    fn a_limit_leaves_what_is_not_used() {
        let status = "VmPeak: 700000 kB\nVmSize:\t  500000 kB\nVmData:\t 100 kB\n";
        assert_eq!(left(LIMITS, status), Some(2_000_000_000 - 512_000_000));
        assert_eq!(left(LIMITS, "VmSize: 9000000 kB\n"), Some(0));
        let none = LIMITS.replace("2000000000", "unlimited");
        assert_eq!(left(&none, status), None);
        let data = LIMITS.replace("size    unlimited", "size    1000000");
        assert_eq!(left(&data, status), Some(1_000_000 - 102_400));
    }

    #[test]
    fn a_strict_machine_promises_up_to_its_limit() {
        let meminfo = "CommitLimit: 3000 kB\nCommitted_AS: 1000 kB\n";
        assert_eq!(uncommitted(meminfo), Some(2000 * 1024));
    }

    const GIB: u64 = 1 << 30;

    fn room() -> Room {
        Room {
            taken: Mutex::new(0),
            freed: Condvar::new(),
        }
    }

    #[test]
    fn runs_share_the_room() {
        let room = room();
        assert!(room.take(6 * GIB, 4 * GIB, || Some(0), || false).is_ok());
        let first = room.take(4 * GIB, 4 * GIB, || None, || true).unwrap();
        let stopped = room.take(GIB, 4 * GIB, || None, || false);
        assert_eq!(stopped.unwrap_err(), NoRoom::Stopped);
        // Small runs do not wait for large ones.
        let small = room.take(1000, 4 * GIB, || None, || false).unwrap();
        drop(first);
        let second = room.take(3 * GIB, 4 * GIB, || None, || false).unwrap();
        drop((small, second));
        assert_eq!(*room.taken.lock().unwrap(), 0);
    }

    #[test]
    fn a_run_waits_until_another_has_ended() {
        let room = room();
        let first = room.take(3 * GIB, 4 * GIB, || None, || true).unwrap();
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| {
                let place = room.take(2 * GIB, 4 * GIB, || None, || true).unwrap();
                let taken = *room.taken.lock().unwrap();
                drop(place);
                taken
            });
            std::thread::sleep(Duration::from_millis(20));
            drop(first);
            assert_eq!(waits.join().unwrap(), 2 * GIB);
        });
    }

    #[test]
    fn what_neighbours_use_is_waited_for() {
        let room = room();
        let asked = std::cell::Cell::new(0);
        let free = || {
            asked.set(asked.get() + 1);
            Some(if asked.get() < 3 { GIB } else { 2 * GIB })
        };
        assert!(room.take(2 * GIB, 4 * GIB, free, || true).is_ok());
        assert_eq!(asked.get(), 3);
    }

    #[test]
    fn the_tightest_group_counts() {
        let files = |path: &Path| match path.to_str()? {
            "/sys/fs/cgroup/a/memory.max" => Some("5000\n".to_owned()),
            "/sys/fs/cgroup/a/memory.current" => Some("4500\n".to_owned()),
            "/sys/fs/cgroup/a/memory.stat" => {
                Some("anon 4000\ninactive_file 400\nactive_file 100\n".to_owned())
            }
            "/sys/fs/cgroup/a/b/memory.max" => Some("max\n".to_owned()),
            "/sys/fs/cgroup/a/b/memory.current" => Some("100\n".to_owned()),
            "/sys/fs/cgroup/memory/memory.limit_in_bytes" => Some("900\n".to_owned()),
            "/sys/fs/cgroup/memory/memory.usage_in_bytes" => Some("100\n".to_owned()),
            _ => None,
        };
        assert_eq!(free_of_groups("0::/a/b\n", files), Some(1000));
        assert_eq!(
            free_of_groups("4:memory:/docker/x\n0::/\n", files),
            Some(800)
        );
        assert_eq!(free_of_groups("3:cpu:/a\n0::/c\n", files), None);
    }
}
