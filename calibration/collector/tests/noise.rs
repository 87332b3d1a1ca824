//! What the machine does beside fio, and repeats, in the manifest.

use crate::common::{Bench, stderr};
use raidlab_collect::manifest::State;
use std::process::{Child, Command, Stdio};

const STEP: &str = "truncate -s 1M ../../raidlab-target.bin; sleep 0.1; echo \"$json\" > $out";

/// Programs that use all CPUs, until they are dropped.
struct Neighbours(Vec<Child>);

impl Neighbours {
    fn move_in() -> Neighbours {
        let cpus = std::thread::available_parallelism().unwrap().get();
        let burn = || {
            let mut command = Command::new("sh");
            command.args(["-c", "while :; do :; done"]);
            command.stdin(Stdio::null()).spawn().unwrap()
        };
        Neighbours((0..cpus).map(|_| burn()).collect())
    }
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn noisy_steps_are_measured_again_marked_and_then_given_up() {
    let bench = Bench::new(STEP);
    let neighbours = Neighbours::move_in();
    let output = bench.run(&["--rounds", "1", "--repeat-noisy", "2"]);
    drop(neighbours);
    assert!(output.status.success(), "{}", stderr(&output));
    let manifest = bench.manifest();
    // The layout is no measurement; three steps are repeated twice in vain, two are marked.
    let runs: Vec<usize> = manifest.steps.iter().map(|s| s.attempts.len()).collect();
    assert_eq!(runs, [0, 3, 3, 3, 0, 0], "{}", stderr(&output));
    assert!(manifest.steps[0].noisy.is_empty() && manifest.steps[0].noise.is_some());
    for record in &manifest.steps[1..] {
        assert_eq!(record.state, State::Done);
        let words = record.noisy.join("; ");
        assert!(words.contains("of the CPU time (allowed:"), "{words}");
        assert!(record.noise.as_ref().unwrap().load[1].is_some());
    }
    assert_eq!(bench.calls().len(), 6 + 3 * 2);
    let text = stderr(&output);
    assert!(
        text.contains("step 002 was noisy, measured again: "),
        "{text}"
    );
    assert!(text.contains("only marked now"), "{text}");
    assert!(
        text.contains("5 of 6 steps are noisy: [2, 3, 4, 5, 6]"),
        "{text}"
    );
    bench.assert_complete();
}

#[test]
fn a_step_that_writes_is_marked_and_not_repeated() {
    let bench = Bench::new(STEP);
    let plan = std::fs::read_to_string(bench.path("short.toml")).unwrap();
    let plan = plan.replace("randread", "randwrite");
    std::fs::write(bench.path("short.toml"), plan).unwrap();
    let neighbours = Neighbours::move_in();
    let output = bench.run(&["--rounds", "1", "--repeat-noisy", "2"]);
    drop(neighbours);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(bench.calls().len(), 6);
    assert!(!bench.manifest().steps[3].noisy.is_empty());
}

#[test]
fn repeats_have_a_spread() {
    // Step n shows a rate of 100, in the second round 110, in the third 120.
    let bench = Bench::new(
        "truncate -s 1M ../../raidlab-target.bin; n=$(expr ${job%.fio} - 2); \
         rate=$(expr 100 + $n / 5 \\* 10)\n\
         echo \"$json\" | sed \"s/\\\"iops\\\":100/\\\"iops\\\":$rate/\" > $out",
    );
    let plan = std::fs::read_to_string(bench.path("short.toml")).unwrap();
    std::fs::write(bench.path("short.toml"), plan.replace("rounds = 4\n", "")).unwrap();
    let output = bench.run(&["--repeats", "3"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let manifest = bench.manifest();
    assert_eq!(manifest.steps.len(), 1 + 3 * 5);
    assert_eq!(manifest.spreads.len(), 5);
    for spread in &manifest.spreads {
        assert_eq!((spread.runs, spread.iops_mean), (3, 110.0));
        assert!((spread.iops_deviation - 10.0 / 110.0).abs() < 1e-9);
    }
    assert!(
        stderr(&output).contains("median 9.1 %, most 9.1 %"),
        "{}",
        stderr(&output)
    );
    let other = bench.run(&["--repeats", "2"]);
    assert!(stderr(&other).contains("plan.setting.repeats: the bundle has 3, now it is 2"));
}
