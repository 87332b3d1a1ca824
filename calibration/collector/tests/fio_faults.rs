//! fio that is missing, crashes, hangs, prints broken JSON, or is asked for what it does not know.

use crate::common::{Bench, gone, stderr};
use raidlab_collect::manifest::State;
use std::process::Command;
use std::time::{Duration, Instant};

const LAYOUT: &str =
    "case $job in 001.fio) truncate -s 1M target.bin; echo \"$json\" > $out; exit 0;; esac\n";

fn failing(body: &str) -> Bench {
    Bench::new(&format!("{LAYOUT}{body}"))
}

#[test]
fn no_fio_says_how_to_install_it() {
    let bench = Bench::new("");
    let output = bench
        .bare(&["--plan", "quick", "--size", "1 MiB"])
        .env("PATH", bench.folder.path().join("empty"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("apt install fio"),
        "{}",
        stderr(&output)
    );
    assert!(!bench.path("out").exists());
}

#[test]
fn something_else_called_fio_is_not_run() {
    let bench = Bench::new("");
    let output = bench
        .bare(&["--plan", "quick", "--size", "1 MiB", "--fio", "/bin/true"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--version"), "{}", stderr(&output));
}

#[test]
fn a_crash_is_reported_with_the_step_and_fios_last_words() {
    let bench = failing("echo 'out of ideas' >&2; kill -SEGV $$");
    let output = bench.run(&[]);
    assert_eq!(output.status.code(), Some(1));
    let text = stderr(&output);
    assert!(text.contains("step 002 `read iodepth=1`"), "{text}");
    assert!(
        text.contains("signal 11") && text.contains("out of ideas"),
        "{text}"
    );
    let manifest = bench.manifest();
    assert_eq!(manifest.steps[0].state, State::Done);
    assert_eq!(manifest.steps[1].state, State::Failed);
    assert!(manifest.end.is_none());
}

#[test]
fn a_failed_step_is_tried_again_by_the_next_run() {
    let bench = failing("if [ -e ../../well ]; then echo \"$json\" > $out; else exit 3; fi");
    assert_eq!(bench.run(&[]).status.code(), Some(1));
    std::fs::write(bench.path("well"), "").unwrap();
    let output = bench.run(&[]);
    assert!(output.status.success(), "{}", stderr(&output));
    bench.assert_complete();
    assert!(bench.manifest().steps[1].error.is_none());
}

#[test]
fn a_hanging_fio_is_killed_with_all_it_started() {
    let bench = failing("sleep 600 & echo \"sleeper $!\" >> ../../calls; wait");
    let started = Instant::now();
    // Without a running time the limit is size / 5 MB/s, 0.2 s here, and the grace.
    let output = bench.run(&["--grace", "300 ms"]);
    assert!(started.elapsed() < Duration::from_secs(20));
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("time limit"),
        "{}",
        stderr(&output)
    );
    for (job, process) in bench.calls() {
        assert!(gone(process, 5), "{job} still runs");
    }
}

#[test]
fn broken_json_is_a_failure_and_not_a_result() {
    let bench = failing("echo '{\"jobs\": [{\"error\"' > $out");
    let output = bench.run(&[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("JSON is broken"),
        "{}",
        stderr(&output)
    );
    let bench = failing("exit 0");
    assert!(stderr(&bench.run(&[])).contains("no JSON"));
}

#[test]
fn an_error_inside_fios_json_is_a_failure() {
    let bench = failing("echo '{\"jobs\": [{\"jobname\": \"x\", \"error\": 5}]}' > $out; exit 1");
    let output = bench.run(&[]);
    assert!(
        stderr(&output).contains("Input/output error"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_wrong_option_is_found_before_anything_runs() {
    let bench = Bench::new("echo \"$json\" > $out");
    let plan = std::fs::read_to_string(bench.path("short.toml")).unwrap();
    let plan = plan.replace("rw = 'randread'", "rw = 'randread', no_such_option = 1");
    std::fs::write(bench.path("short.toml"), plan).unwrap();
    let output = bench.run(&[]);
    assert_eq!(output.status.code(), Some(2));
    let text = stderr(&output);
    assert!(
        text.contains("no_such_option") && text.contains("stage `only`"),
        "{text}"
    );
    assert!(bench.calls().is_empty());
}

#[test]
fn steps_that_only_read_are_read_only_to_fio_too() {
    let bench = Bench::new(
        "echo \"$@\" >> ../../words; truncate -s 1M ../../raidlab-target.bin; echo \"$json\" > $out",
    );
    assert!(bench.run(&[]).status.success());
    let words = std::fs::read_to_string(bench.path("words")).unwrap();
    let (layout, steps) = words.split_once('\n').unwrap();
    assert!(!layout.contains("--readonly"));
    assert_eq!(steps.lines().count(), 20);
    assert!(steps.lines().all(|line| line.contains("--readonly")));
}

#[test]
fn an_existing_file_is_not_overwritten() {
    let bench = Bench::new("echo \"$json\" > $out");
    std::fs::write(bench.path("mine.bin"), vec![7; 2 << 20]).unwrap();
    let output = bench
        .bare(&["--plan", "quick", "--fio", "fio", "mine.bin"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("--overwrite-file"),
        "{}",
        stderr(&output)
    );
    let output = bench
        .bare(&[
            "--plan",
            "short.toml",
            "--fio",
            "fio",
            "--target",
            "mine.bin",
        ])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        bench.path("mine.bin").exists(),
        "only what the collector created is removed"
    );
    assert!(!bench.manifest().target.created);
}

#[test]
fn a_file_that_does_not_fit_is_refused_before_anything_is_written() {
    let bench = Bench::new("");
    let output = bench
        .bare(&["--plan", "short.toml", "--fio", "fio", "--size", "900 TiB"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("do not fit"),
        "{}",
        stderr(&output)
    );
    assert!(!bench.path("out").exists());
}

#[test]
fn no_file_takes_the_place_of_a_missing_device() {
    let bench = Bench::new("");
    for more in [
        &["--target", "/dev/raidlab-none"][..],
        &["--target", "/dev"],
    ] {
        let output = bench.run(more);
        assert_eq!(output.status.code(), Some(2));
        let message = stderr(&output);
        assert!(message.contains("no such device"), "{message}");
        assert!(!bench.path("out").exists());
    }
    let plan = [
        "--plan",
        "short.toml",
        "--fio",
        "fio",
        "--target",
        "/dev/raidlab-none",
    ];
    let message = stderr(&bench.bare(&plan).output().unwrap());
    assert!(
        message.contains("no such device") && !message.contains("--size"),
        "{message}"
    );
}

#[test]
fn bad_arguments_are_named_all_at_once() {
    let bench = Bench::new("");
    let output = bench.run(&["--area", "12", "--runtime", "soon", "--grace", "5 parsec"]);
    assert_eq!(output.status.code(), Some(2));
    let text = stderr(&output);
    for key in ["--area", "--runtime", "--grace"] {
        assert!(text.contains(key), "{key} missing in {text}");
    }
}

#[test]
fn a_dry_run_shows_jobs_time_and_bytes_and_touches_nothing() {
    let bench = Bench::new("");
    let output = bench
        .bare(&[
            "--plan",
            "profiles",
            "--fio",
            "fio",
            "--size",
            "64 GiB",
            "--dry-run",
        ])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.matches("filename=").count(), 46, "layout and 45 steps");
    assert!(text.contains("[database iodepth=512]") && text.contains("rwmixread=67"));
    // 45 steps of 35 s, each with 0.3 s around it: 1588 s; 64 GiB at 500 MB/s.
    assert!(text.contains("26m 28s by the clock"), "{text}");
    assert!(text.contains("64.00 GiB by size"), "{text}");
    assert!(!bench.path("out").exists() && !bench.path("raidlab-target.bin").exists());
    assert!(bench.calls().is_empty());
}

#[test]
fn events_are_json_lines() {
    let bench = Bench::new("truncate -s 1M ../../raidlab-target.bin; echo \"$json\" > $out");
    let output = bench.run(&["--json"]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let events: Vec<String> = text
        .lines()
        .map(|line| {
            let event: serde_json::Value = serde_json::from_str(line).unwrap();
            event["event"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(
        events.iter().filter(|event| *event == "step_done").count(),
        21
    );
    assert!(events.contains(&"start".to_owned()));
    assert_eq!(events.last().unwrap(), "end");
}

/// The first two minutes of a stranger, shortened: the real fio on a real file.
#[test]
fn quick_works_on_a_file_with_the_real_fio() {
    if Command::new("fio").arg("--version").output().is_err() {
        eprintln!("skipped: fio is not installed");
        return;
    }
    let bench = Bench::new("");
    let quick = ["--plan", "quick", "--size", "16 MiB", "--runtime", "100 ms"];
    let output = bench.bare(&quick).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    bench.assert_complete();
    let manifest = bench.manifest();
    assert_eq!(manifest.steps.len(), 13);
    assert!(
        manifest
            .steps
            .iter()
            .all(|record| record.summary.unwrap().iops > 0.0)
    );
    // A finished bundle stays as it is.
    let output = bench.bare(&quick).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    bench.assert_complete();
}
