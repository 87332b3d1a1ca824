//! Refusals on real block devices: loop devices, where the machine and the user can make them.

mod common;

use common::{Bench, stderr};
use std::path::Path;
use std::process::Command;

struct Loop {
    node: String,
    _file: tempfile::NamedTempFile,
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["-d", &self.node]).status();
    }
}

/// A loop device of 16 MiB; none, with a word about it, where that is not possible.
fn loop_device() -> Option<Loop> {
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
    Some(Loop { node, _file: file })
}

fn run(program: &str, arguments: &[&str]) -> bool {
    Command::new(program)
        .args(arguments)
        .output()
        .is_ok_and(|output| output.status.success())
}

fn refused(bench: &Bench, node: &str, words: &str) {
    let output = bench
        .bare(&[
            "--plan",
            "short.toml",
            "--fio",
            "fio",
            node,
            "--destroy-data-on",
            "guess",
        ])
        .output()
        .unwrap();
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
    let output = bench
        .bare(&["--plan", "short.toml", "--fio", "fio", &device.node])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    bench.assert_complete();
    let manifest = bench.manifest();
    assert_eq!(manifest.target.kind, "block");
    assert_eq!(manifest.target.size_bytes, 16 << 20);
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
