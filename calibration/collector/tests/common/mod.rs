//! A stand-in for fio, as a shell script, and a runner of the collector.
#![allow(dead_code, missing_docs)]

use raidlab_collect::digest::sha256;
use raidlab_collect::manifest::{Manifest, State};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What a step's result needs.
pub const JSON: &str = r#"{"jobs":[{"jobname":"x","error":0,
 "read":{"iops":100,"bw_bytes":409600,"io_bytes":4096,"lat_ns":{"N":1,"mean":1000,"max":1000}},
 "write":{"iops":0,"bw_bytes":0,"io_bytes":4096,"lat_ns":{"N":0}}}]}"#;

/// A folder with a stand-in for fio in it.
pub struct Bench {
    pub folder: tempfile::TempDir,
}

impl Bench {
    /// `body` runs for every step; it finds `$out`, `$job` and `$json`.
    pub fn new(body: &str) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().display();
        let script = format!(
            "#!/bin/sh\n\
             case \"$1\" in\n\
             --version) echo fio-3.33; exit 0;;\n\
             --parse-only) if grep -q no_such_option \"$2\"; then\n\
               echo 'Bad option <no_such_option=1>' >&2; exit 1; fi; exit 0;;\n\
             esac\n\
             for word in \"$@\"; do case $word in\n\
             --output=*) out=${{word#--output=}};; *.fio) job=$word;; esac; done\n\
             echo \"$job $$\" >> {here}/calls\n\
             json='{JSON}'\n\
             {body}\n"
        );
        let fio = folder.path().join("fio");
        std::fs::write(&fio, script).unwrap();
        std::fs::set_permissions(&fio, std::fs::Permissions::from_mode(0o755)).unwrap();
        let plan = "name = 'short'\ntitle = 'short'\n[[stage]]\nname = 'only'\nrounds = 4\n\
                    [[stage.step]]\nname = 'read'\noptions = { rw = 'randread', size = '{area}' }\n\
                    sweep = [{ option = 'iodepth', values = [1, 2, 4, 8, 16] }]\n";
        std::fs::write(folder.path().join("short.toml"), plan).unwrap();
        Bench { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The collector on the stand-in, a file of 1 MiB and the short plan.
    pub fn command(&self, more: &[&str]) -> Command {
        let mut words = vec!["--plan", "short.toml", "--size", "1 MiB", "--fio", "fio"];
        words.extend(more);
        self.bare(&words)
    }

    /// The collector with the bundle in `out`.
    pub fn bare(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_raidlab-collect"));
        command
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .args(arguments);
        for (option, value) in [("--out", "out"), ("--repeat-noisy", "0")] {
            if !arguments.contains(&option) {
                command.args([option, value]);
            }
        }
        command
    }

    pub fn run(&self, more: &[&str]) -> Output {
        self.command(more).output().unwrap()
    }

    pub fn manifest(&self) -> Manifest {
        let text = std::fs::read(self.path("out/manifest.json")).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    /// Process numbers of every start of the stand-in.
    pub fn calls(&self) -> Vec<(String, u32)> {
        let text = std::fs::read_to_string(self.path("calls")).unwrap_or_default();
        text.lines()
            .filter_map(|line| {
                let (job, process) = line.split_once(' ')?;
                Some((job.to_owned(), process.parse().ok()?))
            })
            .collect()
    }

    /// Every step once, whole, nothing half-written, and the file gone.
    pub fn assert_complete(&self) {
        let manifest = self.manifest();
        assert!(manifest.end.is_some());
        let out = self.path("out");
        for (index, record) in manifest.steps.iter().enumerate() {
            assert_eq!(record.step.number, index + 1);
            if record.state == State::NotNeeded {
                continue;
            }
            assert_eq!(record.state, State::Done, "{}", record.step.name);
            assert!(record.sha256.len() >= 2);
            for (name, sum) in &record.sha256 {
                let bytes = std::fs::read(out.join(name)).unwrap();
                assert_eq!(sha256(&bytes), *sum, "{name}");
            }
        }
        let left = |folder: &Path| -> Vec<String> {
            raidlab_collect::sysfs::entries(folder)
                .into_iter()
                .filter(|name| name.ends_with(".part"))
                .collect()
        };
        assert!(left(&out).is_empty() && left(&out.join("steps")).is_empty());
        assert!(!Path::new(&manifest.target.path).exists() || !manifest.target.created);
    }
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// True once no process of that number runs, within `seconds`.
pub fn gone(process: u32, seconds: u64) -> bool {
    let until = std::time::Instant::now() + std::time::Duration::from_secs(seconds);
    loop {
        let state = std::fs::read_to_string(format!("/proc/{process}/stat")).ok();
        let running = state.is_some_and(|text| !text.contains(") Z "));
        if !running {
            return true;
        }
        if std::time::Instant::now() > until {
            return false;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}
