//! Devices that must not be touched, shown by stand-ins for `/sys` and `/proc`.

use raidlab_collect::safety::{self, History};
use raidlab_collect::sysfs::{BlockDevice, Roots};
use std::fs;
use std::path::{Path, PathBuf};

const SIZE: u64 = 4 << 20;

/// A machine with an empty, unused disk `sda` of number 8:0 and serial S1.
struct Machine {
    folder: tempfile::TempDir,
}

impl Machine {
    fn new() -> Machine {
        let machine = Machine {
            folder: tempfile::tempdir().unwrap(),
        };
        machine.device("sda", "8:0", "");
        machine.write("sys/devices/sda/serial", "S1\n");
        machine.write(
            "proc/self/mountinfo",
            "1 0 0:20 / /proc rw - proc proc rw\n",
        );
        machine.write("proc/swaps", "Filename Type Size Used Priority\n");
        let node = fs::File::create(machine.node()).unwrap();
        node.set_len(SIZE).unwrap();
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn node(&self) -> PathBuf {
        self.path("node")
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    /// Adds a device, with its links, below `parent` if that is not empty.
    fn device(&self, name: &str, number: &str, parent: &str) {
        let folder = Path::new("sys/devices").join(parent).join(name);
        let folder = folder.to_str().unwrap().to_owned();
        self.write(&format!("{folder}/dev"), &format!("{number}\n"));
        self.write(&format!("{folder}/size"), &format!("{}\n", SIZE / 512));
        if !parent.is_empty() {
            self.write(&format!("{folder}/partition"), "1\n");
        }
        for link in [
            format!("sys/dev/block/{number}"),
            format!("sys/class/block/{name}"),
        ] {
            fs::create_dir_all(self.path(&link).parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(self.path(&folder), self.path(&link)).unwrap();
        }
    }

    /// `upper` is made of `lower`.
    fn stack(&self, upper: &str, lower: &str) {
        let real = |name: &str| fs::canonicalize(self.path("sys/class/block").join(name)).unwrap();
        for (of, kind, is) in [(upper, "slaves", lower), (lower, "holders", upper)] {
            fs::create_dir_all(real(of).join(kind)).unwrap();
            std::os::unix::fs::symlink(real(is), real(of).join(kind).join(is)).unwrap();
        }
    }

    fn mount(&self, number: &str, point: &str, source: &str) {
        let line = format!("9 1 {number} / {point} rw - ext4 {source} rw\n");
        let old = fs::read_to_string(self.path("proc/self/mountinfo")).unwrap();
        self.write("proc/self/mountinfo", &(old + &line));
    }

    fn roots(&self) -> Roots {
        Roots::under(self.folder.path())
    }

    fn sda(&self) -> BlockDevice {
        self.roots().device((8, 0)).unwrap()
    }

    fn reasons(&self) -> Vec<String> {
        self.inspect(History::Unknown).reasons
    }

    fn inspect(&self, history: History) -> safety::Inspection {
        safety::inspect(&self.roots(), &self.sda(), &self.node(), history).unwrap()
    }

    fn check(&self, typed: Option<&str>) -> Result<Vec<String>, raidlab_collect::stop::Stop> {
        let (roots, history) = (self.roots(), History::Unknown);
        safety::check(&roots, &self.sda(), &self.node(), history, typed).map(|found| found.reasons)
    }

    fn hold(&self, at: usize, bytes: &[u8]) {
        let mut content = vec![0; SIZE as usize];
        content[at..at + bytes.len()].copy_from_slice(bytes);
        fs::write(self.node(), content).unwrap();
    }

    fn refused_because(&self, reason: &str) {
        let reasons = self.reasons();
        assert!(
            reasons.iter().any(|found| found.contains(reason)),
            "{reason}: {reasons:?}"
        );
        let stop = self.check(None).unwrap_err();
        assert_eq!(stop.exit_code(), 2);
        assert!(stop.to_string().contains("--destroy-data-on"), "{stop}");
    }
}

#[test]
fn an_unused_empty_disk_is_accepted() {
    assert_eq!(Machine::new().reasons(), Vec::<String>::new());
}

#[test]
fn a_mounted_disk() {
    let machine = Machine::new();
    machine.mount("8:0", "/mnt/my\\040data", "/dev/sda");
    machine.refused_because("sda is mounted on /mnt/my data");
}

#[test]
fn a_mounted_partition() {
    let machine = Machine::new();
    machine.device("sda1", "8:1", "sda");
    machine.mount("8:1", "/home", "/dev/sda1");
    machine.refused_because("sda1 is mounted on /home");
    machine.refused_because("it is partitioned (sda1)");
}

#[test]
fn a_partition_beside_a_mounted_one_is_free() {
    let machine = Machine::new();
    machine.device("sda1", "8:1", "sda");
    machine.device("sda2", "8:2", "sda");
    machine.mount("8:1", "/home", "/dev/sda1");
    let roots = machine.roots();
    let second = roots.device((8, 2)).unwrap();
    assert_eq!(second.disk().as_deref(), Some("sda"));
    let history = History::Unknown;
    let reasons = safety::inspect(&roots, &second, &machine.node(), history)
        .unwrap()
        .reasons;
    assert_eq!(reasons, Vec::<String>::new());
    assert_eq!(
        second.serial(&roots).as_deref(),
        Some("S1"),
        "the serial is the disk's"
    );
}

#[test]
fn an_lvm_volume_a_mapper_target_and_an_md_array() {
    for (file, text, words) in [
        ("dm/uuid", "LVM-abc\n", "in use by dm-0 (LVM volume"),
        ("dm/name", "crypt\n", "in use by dm-0 (device-mapper crypt"),
        ("md/level", "raid5\n", "in use by dm-0 (md raid5"),
    ] {
        let machine = Machine::new();
        machine.device("dm-0", "253:0", "");
        machine.write(&format!("sys/devices/dm-0/{file}"), text);
        machine.stack("dm-0", "sda");
        machine.refused_because(words);
    }
}

#[test]
fn the_roots_disk_through_lvm() {
    let machine = Machine::new();
    machine.device("sda3", "8:3", "sda");
    machine.device("dm-0", "253:0", "");
    machine.stack("dm-0", "sda3");
    machine.mount("253:0", "/", "/dev/mapper/vg-root");
    machine.refused_because("it holds the root file system");
    machine.refused_because("dm-0 is mounted on /");
}

#[test]
fn swap() {
    let machine = Machine::new();
    machine.write(
        "proc/swaps",
        "Filename Type Size Used Priority\n/dev/sda partition 9 0 -2\n",
    );
    machine.refused_because("sda is in use as swap");
}

#[test]
fn a_signature() {
    let machine = Machine::new();
    let mut bytes = vec![0; SIZE as usize];
    bytes[512..520].copy_from_slice(b"LABELONE");
    fs::write(machine.node(), bytes).unwrap();
    machine.refused_because("it holds a signature: LVM physical volume");
}

#[test]
fn only_the_right_serial_overrides() {
    let machine = Machine::new();
    machine.mount("8:0", "/data", "/dev/sda");
    for wrong in ["", "S2", "s1", "S1 "] {
        let stop = machine.check(Some(wrong)).unwrap_err();
        assert!(stop.to_string().contains("not the serial number"), "{stop}");
        assert!(
            !stop.to_string().contains("S1 is"),
            "the serial is not given away"
        );
    }
    assert_eq!(
        machine.check(Some("S1")).unwrap(),
        ["sda is mounted on /data"]
    );
}

#[test]
fn without_a_serial_name_and_size_override() {
    let machine = Machine::new();
    machine.mount("8:0", "/data", "/dev/sda");
    fs::remove_file(machine.path("sys/devices/sda/serial")).unwrap();
    for wrong in [None, Some(""), Some("sda"), Some("sda:1")] {
        let stop = machine.check(wrong).unwrap_err();
        assert!(stop.to_string().contains("name and size"), "{stop}");
    }
    let typed = format!("sda:{SIZE}");
    assert_eq!(
        machine.check(Some(&typed)).unwrap(),
        ["sda is mounted on /data"]
    );
}

#[test]
fn anything_at_all_without_a_signature() {
    let text = b"2026-11-23;4711;paid\n".repeat(40);
    let random: Vec<u8> = (0..8192_u32)
        .flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes())
        .collect();
    for (at, bytes, words) in [
        (0, &text[..], "signature: text at byte 0"),
        (3 << 20, &random[..], "data at byte 3145728"),
        (SIZE as usize - 1, b"\x01", "binary data at byte"),
    ] {
        let machine = Machine::new();
        machine.hold(at, bytes);
        machine.refused_because(words);
        assert_eq!(machine.check(Some("S1")).unwrap().len(), 1);
    }
}

/// Erased flash may read as ones: one byte everywhere is nothing.
#[test]
fn a_disk_of_one_byte_is_accepted_and_the_look_is_stated() {
    let machine = Machine::new();
    machine.hold(0, &vec![0xff; SIZE as usize]);
    let found = machine.inspect(History::Unknown);
    assert_eq!(found.reasons, Vec::<String>::new());
    assert_eq!(
        found.seen,
        [
            "open files of 0 processes",
            "4.00 MiB of 4.00 MiB sampled: all bytes are 0xff"
        ]
    );
    assert!(found.claim.is_some());
}

/// A resumed bundle meets its own data; a file system made since is still refused.
#[test]
fn ones_own_data_are_accepted_and_a_signature_is_not() {
    let machine = Machine::new();
    machine.hold(70_000, b"written by an earlier step");
    assert!(machine.inspect(History::WrittenByUs).reasons.is_empty());
    assert_eq!(machine.inspect(History::Unknown).reasons.len(), 1);
    machine.hold(0, b"XFSB");
    assert_eq!(machine.inspect(History::WrittenByUs).reasons.len(), 1);
}

#[test]
fn a_disk_that_a_process_has_open() {
    let machine = Machine::new();
    machine.write("proc/77/comm", "oracle\n");
    fs::create_dir_all(machine.path("proc/77/fd")).unwrap();
    std::os::unix::fs::symlink(machine.node(), machine.path("proc/77/fd/9")).unwrap();
    machine.refused_because("process 77 (oracle) has it open");
}

#[test]
fn serials_of_scsi_nvme_and_ata_are_found() {
    let machine = Machine::new();
    fs::remove_file(machine.path("sys/devices/sda/serial")).unwrap();
    machine.write("run/udev/data/b8:0", "S:x\nE:ID_SERIAL_SHORT=ATA9\n");
    let serial = || machine.sda().serial(&machine.roots());
    assert_eq!(serial().as_deref(), Some("ATA9"));
    machine.write("sys/devices/sda/device/vpd_pg80", "\0\u{1}\0\u{8}  SCSI77");
    assert_eq!(serial().as_deref(), Some("SCSI77"));
    machine.write("sys/devices/sda/device/serial", "NVME5  \n");
    assert_eq!(serial().as_deref(), Some("NVME5"));
}

#[test]
fn the_record_hides_the_serial_and_shows_the_rest() {
    let machine = Machine::new();
    machine.write("sys/devices/sda/device/model", "FAST 9000\n");
    machine.write("sys/devices/sda/device/vendor", "ATA     \n");
    machine.write("sys/devices/sda/queue/scheduler", "none [mq-deadline]\n");
    machine.write("sys/devices/sda/queue/rotational", "1\n");
    machine.write("sys/devices/sda/device/hwmon3/temp1_input", "31850\n");
    let (roots, sda) = (machine.roots(), machine.sda());
    let identity = raidlab_collect::identity::identity(&roots, &sda);
    assert_eq!(identity["model"], "FAST 9000");
    assert_eq!(
        identity["serial_sha256"],
        raidlab_collect::digest::sha256(b"S1")
    );
    let details = raidlab_collect::identity::details(&roots, &sda);
    assert_eq!(details["scheduler"], "mq-deadline");
    assert_eq!(details["rotational"], true);
    assert_eq!(details["temperature_c"], 31.85);
    assert!(!format!("{identity}{details}").contains("\"S1\""));
}

/// The machine's own root: whatever it is, it must be refused.
#[test]
fn this_machines_root_device_is_refused() {
    let roots = Roots::default();
    let Some(device) = roots.root_device() else {
        eprintln!("skipped: this machine's root is on no block device");
        return;
    };
    let node = Path::new("/dev").join(&device.name);
    let reasons = safety::inspect(&roots, &device, &node, History::Unknown)
        .unwrap()
        .reasons;
    assert!(
        reasons
            .iter()
            .any(|reason| reason.contains("root file system")),
        "{reasons:?}"
    );
}

/// A control sequence reached the terminal, an end of line feigned an error and added an option to
/// fio's job file, and fio itself replaces `$ncpus` and `${HOME}` in the names of files.
#[test]
fn a_path_that_fio_or_a_terminal_would_read_otherwise_is_refused() {
    for name in ["x\u{1b}[31mred", "x\nioengine=null", "x$ncpus"] {
        let bench = crate::common::Bench::new("echo \"$json\" > $out");
        let output = bench.run(&[name]);
        let said = crate::common::stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("control characters"), "{said}");
        assert!(!said.contains('\u{1b}') && said.lines().all(|line| !line.starts_with("ioengine")));
        assert!(!bench.path("out").exists());
    }
}

/// Names in plans, too, went to the terminal as they were.
#[test]
fn text_of_plans_and_of_fio_is_text() {
    let bench = crate::common::Bench::new(
        "printf 'broken\\033[31m\\nraidlab-collect: feigned\\n' >&2; exit 1",
    );
    let plan = fs::read_to_string(bench.path("short.toml")).unwrap();
    let plan = plan.replace(
        "name = 'read'",
        "name = \"read\\u001B[31m\\nerror: feigned\"",
    );
    fs::write(bench.path("short.toml"), plan).unwrap();
    let own = fs::read_to_string(bench.path("short.toml")).unwrap();
    let usual = own.replace("\\u001B[31m\\nerror: feigned", "");
    for (plan, more) in [(&own, &["--dry-run"][..]), (&own, &[]), (&usual, &[])] {
        fs::write(bench.path("short.toml"), plan).unwrap();
        let output = bench.run(more);
        let said = crate::common::stderr(&output) + &String::from_utf8_lossy(&output.stdout);
        assert!(!said.contains('\u{1b}'), "{said}");
        assert!(
            !said.lines().any(|line| line.starts_with("error: feigned")),
            "{said}"
        );
        assert!(!said.contains("\nraidlab-collect: feigned"), "{said}");
        assert!(said.contains("\\x1b[31m"), "{said}");
    }
}
