//! Killed at any moment, the same command resumes; nothing of fio is left behind.

use crate::common::{Bench, gone, stderr};
use raidlab_collect::manifest::State;
use std::collections::BTreeMap;
use std::time::Duration;

const STEP: &str = "truncate -s 1M ../../raidlab-target.bin; printf '{' > $out; sleep 0.02; \
                    echo \"$json\" > $out";

#[test]
fn killed_at_random_moments_every_step_is_there_once() {
    let bench = Bench::new(STEP);
    let mut seed = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .subsec_nanos();
    println!("seed of the moments: {seed}");
    let mut kills = 0;
    for _ in 0..10 {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let mut child = bench
            .command(&[])
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(u64::from(10 + (seed >> 8) % 250)));
        if child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            kills += 1;
        }
        child.wait().unwrap();
        if let Some((job, process)) = bench.calls().last() {
            assert!(gone(*process, 5), "{job} outlived the collector");
        }
    }
    assert!(kills >= 3, "only {kills} kills came before the end");
    let output = bench.run(&[]);
    assert!(output.status.success(), "{}", stderr(&output));
    bench.assert_complete();
    // fio may have begun a step twice, but never again once it was done.
    let mut starts: BTreeMap<String, usize> = BTreeMap::new();
    for (job, _) in bench.calls() {
        *starts.entry(job).or_default() += 1;
    }
    assert_eq!(starts.len(), 21);
    let repeated: usize = starts.values().map(|count| count - 1).sum();
    assert!(repeated <= kills, "{repeated} repeated for {kills} kills");
}

#[test]
fn ctrl_c_ends_fio_and_keeps_what_is_done() {
    let bench = Bench::new(
        "case $job in 001.fio) truncate -s 1M ../../raidlab-target.bin; echo \"$json\" > $out;; \
         *) exec sleep 600;; esac",
    );
    let child = bench
        .command(&[])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    while bench.calls().len() < 2 {
        std::thread::sleep(Duration::from_millis(10));
    }
    let process = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(stderr(&output).contains("resumes"));
    for (job, process) in bench.calls() {
        assert!(gone(process, 5), "{job} outlived the collector");
    }
    let manifest = bench.manifest();
    assert_eq!(manifest.steps[0].state, State::Done);
    assert_eq!(manifest.steps[1].state, State::Pending);
}

#[test]
fn a_damaged_step_is_measured_again() {
    let bench = Bench::new(STEP);
    assert!(bench.run(&[]).status.success());
    std::fs::write(bench.path("out/steps/007.json"), "{}").unwrap();
    let calls = bench.calls().len();
    let output = bench.run(&[]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("007"), "{}", stderr(&output));
    bench.assert_complete();
    // The file was removed at the end, so it is laid out again first.
    let again: Vec<String> = bench.calls()[calls..]
        .iter()
        .map(|(job, _)| job.clone())
        .collect();
    assert_eq!(again, ["001.fio", "007.fio"]);
}

#[test]
fn another_plan_target_or_fio_is_refused_with_the_difference() {
    let bench = Bench::new(STEP);
    assert!(bench.run(&[]).status.success());
    let output = bench.run(&["--seed", "2"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("plan.setting.seed: the bundle has 1, now it is 2"));

    let output = bench
        .bare(&["--plan", "short.toml", "--fio", "fio", "--size", "2 MiB"])
        .output()
        .unwrap();
    assert!(
        stderr(&output).contains("target.size_bytes"),
        "{}",
        stderr(&output)
    );

    let fio = std::fs::read_to_string(bench.path("fio")).unwrap();
    std::fs::write(bench.path("fio"), fio.replace("fio-3.33", "fio-3.34")).unwrap();
    let output = bench.run(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output)
            .contains("fio_version: the bundle has \"fio-3.33\", now it is \"fio-3.34\""),
        "{}",
        stderr(&output)
    );
}

#[test]
fn two_collectors_do_not_share_a_bundle() {
    let bench = Bench::new("truncate -s 1M ../../raidlab-target.bin; sleep 600");
    let mut first = bench
        .command(&[])
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    while bench.calls().is_empty() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let output = bench.run(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("another collector"),
        "{}",
        stderr(&output)
    );
    first.kill().unwrap();
    first.wait().unwrap();
}

#[test]
fn a_folder_of_other_things_is_left_alone() {
    let bench = Bench::new(STEP);
    std::fs::create_dir(bench.path("out")).unwrap();
    std::fs::write(bench.path("out/thesis.txt"), "years of work").unwrap();
    let output = bench.run(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("no manifest.json"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn rounds_end_once_steady() {
    let bench = Bench::new(
        "n=${job%.fio}; truncate -s 1M ../../raidlab-target.bin; \
         case $n in 00*) rate=$((1000 / ${n#00}));; *) rate=100;; esac\n\
         echo \"$json\" | sed \"s/\\\"iops\\\":100/\\\"iops\\\":$rate/\" > $out",
    );
    let plan = "name = 'short'\ntitle = 'short'\n[[stage]]\nname = 'rounds'\nrounds = 25\n\
                steady_state = { step = 'read', value = 'iops' }\n\
                [[stage.step]]\nname = 'read'\noptions = { rw = 'randread', size = '{area}' }\n";
    std::fs::write(bench.path("short.toml"), plan).unwrap();
    let output = bench.run(&[]);
    assert!(output.status.success(), "{}", stderr(&output));
    bench.assert_complete();
    let manifest = bench.manifest();
    // Step n of 2 to 9 shows 1000 / n, then 100: 500 333 250 200 166 142 125 111 | 100 100 ...
    // The window 111 100 100 100 100 of rounds 8 to 12 has an excursion of 11 of 102 and a slope
    // of -2.2 a round, 8.6 % over the window; the one before holds 125 and has 25 of 107.
    let test = &manifest.steady_state[0];
    assert!(test.reached);
    assert_eq!(test.rounds, 12);
    let found = test.assessment.as_ref().unwrap();
    assert_eq!(found.window, [111.0, 100.0, 100.0, 100.0, 100.0]);
    assert!((found.slope + 2.2).abs() < 1e-9);
    let done = manifest
        .steps
        .iter()
        .filter(|record| record.state == State::Done)
        .count();
    assert_eq!(done, 13, "layout and twelve rounds");
}

/// Where a small file system can be mounted: a disk that fills up in the middle of a step.
#[test]
fn a_full_disk_loses_no_finished_step() {
    let bench = Bench::new(
        "truncate -s 1M ../../raidlab-target.bin; \
         if [ $job = 009.fio ] && [ ! -e ../../freed ]; then \
         dd if=/dev/zero of=../filler bs=4k 2> /dev/null; fi; echo \"$json\" > $out || exit 1",
    );
    let out = bench.path("out");
    std::fs::create_dir(&out).unwrap();
    let mount = |words: &[&str]| {
        let output = std::process::Command::new(words[0])
            .args(&words[1..])
            .arg(&out)
            .output();
        output.is_ok_and(|output| output.status.success())
    };
    if !mount(&["mount", "-t", "tmpfs", "-o", "size=8m,mode=755", "none"]) {
        eprintln!("skipped: nothing can be mounted here");
        return;
    }
    let full = bench.run(&[]);
    let kept = bench.manifest();
    std::fs::remove_file(out.join("filler")).unwrap();
    std::fs::write(bench.path("freed"), "").unwrap();
    let calls = bench.calls().len();
    let again = bench.run(&[]);
    let done = kept.steps.iter().filter(|step| step.state == State::Done);
    let done = done.count();
    let repeated = bench.calls()[calls..].len();
    if again.status.success() {
        bench.assert_complete();
    }
    assert!(mount(&["umount"]));
    assert_eq!(full.status.code(), Some(1), "{}", stderr(&full));
    assert!(stderr(&full).contains("No space left"), "{}", stderr(&full));
    assert_eq!(done, 8);
    assert!(again.status.success(), "{}", stderr(&again));
    assert_eq!(repeated, 21 - 8);
}

/// In a folder that others may write to, what lies there is not what it seems.
#[test]
fn planted_links_and_files_are_refused() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let refused = |bench: &Bench, words: &str| {
        let output = bench.run(&[]);
        let code = output.status.code();
        assert!(matches!(code, Some(1 | 2)), "{words}");
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    };
    let victim = |bench: &Bench| {
        std::fs::write(bench.path("victim"), "precious").unwrap();
        bench.path("victim")
    };
    let whole = |bench: &Bench| {
        assert_eq!(
            std::fs::read_to_string(bench.path("victim")).unwrap(),
            "precious"
        );
    };
    // The target's name is a link to what does not exist.
    let bench = Bench::new(STEP);
    symlink(bench.path("elsewhere"), bench.path("raidlab-target.bin")).unwrap();
    refused(&bench, "a link to a file that is not there");
    assert!(!bench.path("elsewhere").exists());
    // The lock of a bundle is a link.
    let bench = Bench::new(STEP);
    std::fs::create_dir(bench.path("out")).unwrap();
    symlink(victim(&bench), bench.path("out/.lock")).unwrap();
    refused(&bench, "cannot lock");
    whole(&bench);
    // The folder of the steps is a link; everybody may write there.
    let bench = Bench::new(STEP);
    std::fs::create_dir(bench.path("out")).unwrap();
    std::fs::create_dir(bench.path("other")).unwrap();
    symlink(bench.path("other"), bench.path("out/steps")).unwrap();
    refused(&bench, "is a link or another user's");
    let bench = Bench::new(STEP);
    std::fs::create_dir(bench.path("out")).unwrap();
    let mode = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(bench.path("out"), mode).unwrap();
    refused(&bench, "everybody may write in");
    // Between two sessions another file took the target's place: it is neither written nor removed.
    let bench = Bench::new(&format!("[ $job = 003.fio ] && exit 1\n{STEP}"));
    assert_eq!(bench.run(&[]).status.code(), Some(1));
    std::fs::remove_file(bench.path("raidlab-target.bin")).unwrap();
    std::fs::rename(victim(&bench), bench.path("raidlab-target.bin")).unwrap();
    refused(&bench, "not the file that this bundle created");
    let kept = std::fs::read_to_string(bench.path("raidlab-target.bin")).unwrap();
    assert_eq!(kept, "precious");
}

#[test]
fn files_of_the_bundle_have_the_mode_of_any_other() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::new(STEP);
    assert!(bench.run(&["--rounds", "1"]).status.success());
    let mode = |name: &str| {
        let found = std::fs::metadata(bench.path(name)).unwrap();
        found.permissions().mode() & 0o777
    };
    // The stand-in writes its answer with the umask of this process.
    assert_eq!(mode("out/manifest.json"), mode("out/steps/003.json"));
    let narrow = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(bench.path("out/manifest.json"), narrow).unwrap();
    assert!(bench.run(&["--rounds", "1"]).status.success());
    assert_eq!(mode("out/manifest.json"), 0o600);
}
