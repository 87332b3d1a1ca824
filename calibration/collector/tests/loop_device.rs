//! Refusals on real block devices: loop devices, where the machine and the user can make them.

use crate::common::{Bench, stderr};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// `losetup` opens devices that other tests may be looking at.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

struct Loop {
    node: String,
    _alone: MutexGuard<'static, ()>,
    _file: tempfile::NamedTempFile,
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["-d", &self.node]).status();
    }
}

/// A loop device of 16 MiB; none, with a word about it, where that is not possible.
fn loop_device() -> Option<Loop> {
    let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(16 << 20).unwrap();
    let made = Command::new("losetup")
        .args(["-f", "--show"])
        .arg(file.path())
        .output();
    let Some(output) = made.ok().filter(|output| output.status.success()) else {
        eprintln!("skipped: no loop device can be made here");
        return None;
    };
    let node = String::from_utf8(output.stdout).unwrap().trim().to_owned();
    Some(Loop {
        node,
        _alone: alone,
        _file: file,
    })
}

fn run(program: &str, arguments: &[&str]) -> bool {
    Command::new(program)
        .args(arguments)
        .output()
        .is_ok_and(|output| output.status.success())
}

fn collect(bench: &Bench, node: &str, more: &[&str]) -> std::process::Output {
    let mut words = vec!["--plan", "short.toml", "--fio", "fio", node];
    words.extend(more);
    bench.bare(&words).output().unwrap()
}

fn refused(bench: &Bench, node: &str, words: &str) {
    let output = collect(bench, node, &["--destroy-data-on", "guess"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(
        stderr(&output).contains(words),
        "{words}: {}",
        stderr(&output)
    );
    assert!(bench.calls().is_empty() && !bench.path("out").exists());
}

#[test]
fn an_empty_loop_device_is_measured_and_stays() {
    let Some(device) = loop_device() else { return };
    let bench = Bench::new("echo \"$json\" > $out");
    let output = collect(&bench, &device.node, &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    bench.assert_complete();
    let manifest = bench.manifest();
    assert_eq!(manifest.target.kind, "block");
    assert_eq!(manifest.target.size_bytes, 16 << 20);
    assert!(stderr(&output).contains("16.00 MiB of 16.00 MiB sampled: all bytes are 0x00"));
    let checked = manifest.target.details["checked"].to_string();
    assert!(checked.contains("all bytes are 0x00"), "{checked}");
    assert!(Path::new(&device.node).exists());
}

#[test]
fn a_file_system_a_mount_and_swap_are_refused() {
    let Some(device) = loop_device() else { return };
    let bench = Bench::new("echo \"$json\" > $out");
    if run("mkswap", &[&device.node]) {
        refused(&bench, &device.node, "signature: swap area");
        if run("swapon", &[&device.node]) {
            refused(&bench, &device.node, "is in use as swap");
            assert!(run("swapoff", &[&device.node]));
        }
    }
    if run("mkfs.ext4", &["-q", "-F", &device.node]) {
        refused(&bench, &device.node, "signature: ext2/3/4 file system");
        let point = tempfile::tempdir().unwrap();
        if run("mount", &[&device.node, point.path().to_str().unwrap()]) {
            refused(&bench, &device.node, "is mounted on");
            refused(&bench, &device.node, "the kernel says that it is in use");
            assert!(run("umount", &[&device.node]));
        }
    }
}

/// What has no signature that is known, or none at all.
#[test]
fn unsigned_contents_are_refused_until_the_device_is_named() {
    let Some(device) = loop_device() else { return };
    let bench = Bench::new("echo \"$json\" > $out");
    for (program, words) in [
        ("mkfs.minix", "signature: Minix file system"),
        ("mkfs.bfs", "signature: BFS file system (SCO)"),
    ] {
        if run(program, &[&device.node]) {
            refused(&bench, &device.node, words);
        }
    }
    let node = std::fs::OpenOptions::new()
        .write(true)
        .open(&device.node)
        .unwrap();
    node.write_all_at(&vec![0; 16 << 20], 0).unwrap();
    node.write_all_at(b"the only copy of a thesis", 9 << 20)
        .unwrap();
    node.sync_all().unwrap();
    drop(node);
    refused(&bench, &device.node, "text at byte 9437184");
    let name = device.node.trim_start_matches("/dev/");
    let word = format!("{name}:{}", 16 << 20);
    let output = collect(&bench, &device.node, &["--destroy-data-on", &word]);
    assert!(output.status.success(), "{}", stderr(&output));
    let manifest = bench.manifest();
    assert!(
        manifest.warnings[0].contains("measured although it holds data"),
        "{:?}",
        manifest.warnings
    );
    assert!(!manifest.options.contains(&word));
}

#[test]
fn an_opened_device_and_one_below_another_loop_device_are_refused() {
    let Some(device) = loop_device() else { return };
    let bench = Bench::new("echo \"$json\" > $out");
    let mut other = Command::new("sleep")
        .arg("600")
        .stdin(std::fs::File::open(&device.node).unwrap())
        .spawn()
        .unwrap();
    refused(&bench, &device.node, "(sleep) has it open");
    other.kill().unwrap();
    other.wait().unwrap();
    let above = Command::new("losetup")
        .args(["-f", "--show", &device.node])
        .output()
        .unwrap();
    let above = String::from_utf8(above.stdout).unwrap().trim().to_owned();
    if !above.is_empty() {
        let name = above.trim_start_matches("/dev/");
        refused(
            &bench,
            &device.node,
            &format!("{name} is a loop device on it"),
        );
        assert!(run("losetup", &["-d", &above]));
    }
}

/// While it is measured nobody can mount it.
#[test]
fn the_device_is_claimed_while_it_is_measured() {
    let Some(device) = loop_device() else { return };
    let body = "echo \"$json\" > $out; python3 -c \"import os; \
                os.open('NODE', os.O_RDWR | os.O_EXCL)\" 2>> ../../claims || true";
    let bench = Bench::new(&body.replace("NODE", &device.node));
    let output = collect(&bench, &device.node, &["--rounds", "1"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let claims = std::fs::read_to_string(bench.path("claims")).unwrap();
    assert_eq!(claims.matches("Device or resource busy").count(), 5);
}

/// A plan that writes leaves data behind: the same bundle resumes, another one is refused.
#[test]
fn a_resumed_bundle_accepts_what_it_wrote_itself() {
    let Some(device) = loop_device() else { return };
    let body = "[ -e ../../stop ] && exit 1; touch ../../stop; \
                printf data | dd of=NODE conv=notrunc 2> /dev/null; echo \"$json\" > $out";
    let bench = Bench::new(&body.replace("NODE", &device.node));
    let plan = std::fs::read_to_string(bench.path("short.toml")).unwrap();
    std::fs::write(
        bench.path("short.toml"),
        plan.replace("randread", "randwrite"),
    )
    .unwrap();
    let output = collect(&bench, &device.node, &[]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(bench.manifest().written_since.is_some());
    let other = collect(&bench, &device.node, &["--out", "other"]);
    assert_eq!(other.status.code(), Some(2), "{}", stderr(&other));
    assert!(stderr(&other).contains("text at byte 0"));
    let script = std::fs::read_to_string(bench.path("fio")).unwrap();
    std::fs::write(
        bench.path("fio"),
        script.replace("[ -e ../../stop ] && exit 1;", ""),
    )
    .unwrap();
    let output = collect(&bench, &device.node, &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    bench.assert_complete();
}
