//! Threads on a device of one server: what waits for what, by hand.

use raidlab_io::Op;
use raidlab_jobs::plan::JobPlan;
use raidlab_jobs::{Port, Request, Thread, ThreadResult, Wait};
use raidlab_kernel::Time;
use serde_json::{Value, json};
use std::collections::VecDeque;

const MS: u64 = 1_000_000;

/// One server of 1 ms.
#[derive(Default)]
struct Server {
    now: u64,
    free: u64,
    ends: VecDeque<(u64, u32)>,
    asked: Vec<Request>,
}

impl Port for Server {
    fn submit(&mut self, request: Request, slot: u32) -> Result<(), String> {
        self.free = self.free.max(self.now) + MS;
        self.ends.push_back((self.free, slot));
        self.asked.push(request);
        Ok(())
    }
}

/// Runs a thread until it ends.
fn run(plan: &Value) -> (ThreadResult, Vec<Request>) {
    let plan = JobPlan::from_json(&plan.to_string()).unwrap();
    let (mut thread, mut server) = (Thread::new(&plan), Server::default());
    loop {
        let wait = thread.go_on(Time(server.now), &mut server).unwrap();
        match wait {
            Wait::Over => return (thread.result(), server.asked),
            Wait::Until(at) => {
                while server.ends.front().is_some_and(|end| end.0 <= at.0) {
                    thread.completed(server.ends.pop_front().unwrap().1, false);
                }
                server.now = at.0;
            }
            _ => {
                while !thread.may_go_on(wait) {
                    let (at, slot) = server.ends.pop_front().expect("something is in flight");
                    server.now = at;
                    thread.completed(slot, false);
                }
            }
        }
    }
}

fn plan() -> Value {
    let sizes = json!({"min": 4096, "max": 4096, "align": 4096, "percent_random": 100});
    json!({
        "load": 0, "array": 0, "number": 1,
        "start": {"file": 0, "phase": 0, "delay_ns": 0, "ends_others": false},
        "extent": {"size": 40_960, "io_size": 0, "loops": 1, "number_ios": 0, "runtime_ns": 0,
                   "time_based": false, "ramp_ns": 0},
        "direction": "write", "random": false, "read_percent": 50,
        "sequence": {"every": 1, "step_bytes": 0, "between": "sequential"},
        "sizes": [sizes, sizes, sizes], "unaligned": false, "sizes_by_order": false,
        "distribution": {"kind": "uniform"}, "random_map": true, "generator": "tausworthe",
        "seeds": {"seed": 137, "repeat_offsets": true, "repeat_passes": true, "repeat_all": false},
        "files": [{"start_bytes": 1 << 20, "offset_bytes": 0, "io_bytes": 40_960,
                   "real_bytes": 1 << 20, "name_hash": 1}],
        "file_service": "round_robin", "file_service_ios": 1,
        "depth": {"depth": 1, "batch": 1, "complete_min": 1, "complete_max": 1, "low": 1},
        "synchronous": false,
        "syncs": {"fsync": 0, "fdatasync": 0, "at_end": false, "each_write": false},
        "max_latency_ns": 0, "sample_ns": 0,
    })
}

#[test]
fn a_pass_covers_its_file_in_order() {
    let (result, asked) = run(&plan());
    assert_eq!(result.ended_ns, 10 * MS);
    let offsets = asked
        .iter()
        .map(|request| (request.offset - (1 << 20)) / 4096);
    assert!(offsets.eq(0..10));
    assert_eq!(result.sides[1].completion.as_ref().unwrap().max, MS);
}

#[test]
fn loops_repeat_and_io_size_goes_on() {
    let mut of = plan();
    of["extent"]["loops"] = 3.into();
    assert_eq!(run(&of).1.len(), 30);
    let mut of = plan();
    of["extent"]["io_size"] = (4096 * 25).into();
    assert_eq!(run(&of).1.len(), 25);
}

#[test]
fn syncs_come_between_writes_and_at_the_end() {
    let mut of = plan();
    of["syncs"]["fsync"] = 4.into();
    of["syncs"]["at_end"] = true.into();
    let (result, asked) = run(&of);
    let ops: Vec<usize> = asked
        .iter()
        .enumerate()
        .filter(|(_, request)| request.op == Op::Flush)
        .map(|(at, _)| at)
        .collect();
    assert_eq!(ops, [4, 9, 12]);
    // fio counts the flush at the end to none.
    assert_eq!(result.syncs.unwrap().count, 2);
    assert_eq!(result.sides[1].ios, 10);
}

#[test]
fn batches_are_taken_back_together() {
    let mut of = plan();
    of["extent"]["size"] = (4096 * 8).into();
    of["depth"] = json!({"depth": 4, "batch": 4, "complete_min": 4, "complete_max": 4, "low": 4});
    let (result, _) = run(&of);
    let latencies = result.sides[1].total.as_ref().unwrap();
    assert_eq!((latencies.min, latencies.max), (4 * MS, 4 * MS));
    assert_eq!((result.submits[1], result.completes[1]), (2, 2));
}

#[test]
fn an_even_cap_spaces_and_catches_up() {
    let mut of = plan();
    // 4096 B every 5 ms.
    of["caps"] = json!([{"bytes_per_s": 0, "poisson": false},
                        {"bytes_per_s": 819_200, "poisson": false},
                        {"bytes_per_s": 0, "poisson": false}]);
    let (result, _) = run(&of);
    // The last of ten begins at 45 ms.
    assert_eq!(result.ended_ns, 46 * MS);
}

#[test]
fn a_failed_io_ends_the_job_with_its_error() {
    let plan = JobPlan::from_json(&plan().to_string()).unwrap();
    let (mut thread, mut server) = (Thread::new(&plan), Server::default());
    assert_eq!(thread.go_on(Time(0), &mut server), Ok(Wait::Completions(1)));
    thread.completed(0, true);
    assert_eq!(thread.go_on(Time(MS), &mut server), Ok(Wait::Over));
    assert_eq!(thread.result().error, 5);
}

fn verified(by_offset: bool, backlog: u64, batch: u64) -> Value {
    let mut of = plan();
    of["verify"] = json!({"by_offset": by_offset, "backlog": backlog, "batch": batch});
    of
}

/// What was asked for, as a letter each, and the block.
fn asked_for(asked: &[Request]) -> String {
    let word = |request: &Request| match request.op {
        Op::Read => format!("r{}", (request.offset >> 12) % 256),
        Op::Write => format!("w{}", (request.offset >> 12) % 256),
        Op::Flush => "f".to_string(),
        Op::Trim => "t".to_string(),
    };
    asked.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn what_was_written_is_read_back_when_all_is_written() {
    let mut of = verified(true, 0, 0);
    of["extent"]["size"] = (4096 * 4).into();
    of["sequence"]["step_bytes"] = (-8192).into();
    of["files"][0]["offset_bytes"] = 65_536.into();
    let (result, asked) = run(&of);
    let words = asked_for(&asked);
    let (written, read) = words.split_once(" r").unwrap();
    let mut blocks: Vec<u64> = written
        .split(' ')
        .map(|word| word[1..].parse().unwrap())
        .collect();
    blocks.sort_unstable();
    let sorted = blocks.iter().map(|block| format!("r{block}"));
    assert_eq!(format!("r{read}"), sorted.collect::<Vec<_>>().join(" "));
    assert_eq!((result.sides[0].ios, result.sides[1].ios), (4, 4));
    // Four writes, then four reads: each direction has its own time.
    assert_eq!(result.ended_ns, 8 * MS);
    assert_eq!(result.sides[1].runtime_ns, 4 * MS);
    assert_eq!(result.sides[0].runtime_ns, 4 * MS);
}

#[test]
fn a_backlog_is_read_back_among_the_writes() {
    let mut of = verified(false, 2, 2);
    of["extent"]["size"] = (4096 * 5).into();
    let (_, asked) = run(&of);
    let words = "w0 w1 r0 r1 w2 w3 r2 r3 w4 r4";
    assert_eq!(asked_for(&asked), words);
    of["verify"] = json!({"by_offset": false, "backlog": 2, "batch": 1});
    let (_, asked) = run(&of);
    // Behind a read the next one waits for a write; with the last write the pass is over.
    assert_eq!(asked_for(&asked), "w0 w1 r0 w2 r1 w3 r2 w4 r3 r4");
}

#[test]
fn each_loop_is_read_back() {
    let mut of = verified(false, 0, 0);
    of["extent"]["size"] = (4096 * 2).into();
    of["extent"]["loops"] = 2.into();
    let (_, asked) = run(&of);
    assert_eq!(asked_for(&asked), "w0 w1 r0 r1 w0 w1 r0 r1");
}

#[test]
fn what_its_runtime_cuts_off_is_not_read_back() {
    let mut of = verified(true, 0, 0);
    of["extent"]["runtime_ns"] = (3 * MS).into();
    assert_eq!(asked_for(&run(&of).1), "w0 w1 w2");
    of["extent"]["runtime_ns"] = (11 * MS).into();
    assert_eq!(asked_for(&run(&of).1), "w0 w1 w2 w3 w4 w5 w6 w7 w8 w9 r0");
    of["extent"]["time_based"] = true.into();
    of["extent"]["size"] = (4096 * 3).into();
    assert_eq!(asked_for(&run(&of).1), "w0 w1 w2 r0 r1 r2 w0 w1 w2 r0 r1");
}

#[test]
fn a_number_of_ios_is_that_of_each_loop() {
    let mut of = plan();
    of["extent"]["number_ios"] = 6.into();
    of["extent"]["loops"] = 3.into();
    // As fio: 18 in all, of which the first pass makes as many as the file has.
    assert_eq!(run(&of).1.len(), 18);
}

#[test]
fn exponential_gaps_have_the_mean_of_an_exact_cap() {
    let ends = |blocks_per_s: f64, exact: bool| {
        let mut of = plan();
        of["extent"]["size"] = (4096 * 400).into();
        of["files"][0]["io_bytes"] = (4096 * 400).into();
        of["files"][0]["real_bytes"] = (4096 * 400).into();
        let bytes_per_s = (4096.0 * blocks_per_s) as u64;
        let cap = json!({"bytes_per_s": bytes_per_s, "poisson": true, "exact": exact});
        of["caps"] = json!([cap, cap, cap]);
        run(&of).0.ended_ns as f64 / 1e9
    };
    // 400 gaps: their sum is certain to 5 %, and the same numbers are drawn.
    let mean = ends(1.0, false);
    assert!((340.0..460.0).contains(&mean), "{mean}");
    // fio takes a quarter, and one and three quarters, for one.
    for (blocks_per_s, of_fio) in [(0.25, 1.0), (1.75, 1.0)] {
        let exact = ends(blocks_per_s, true) * blocks_per_s / mean;
        assert!((0.99..1.01).contains(&exact), "{exact}");
        let taken = ends(blocks_per_s, false) * of_fio / mean;
        assert!((0.99..1.01).contains(&taken), "{taken}");
    }
}

#[test]
fn a_file_whose_rest_no_size_fits_is_done() {
    let mut of = plan();
    of["random"] = true.into();
    of["random_map"] = false.into();
    // 4 KiB are never drawn, 64 KiB fit nowhere: fio itself hangs here.
    for split in [json!([[4096, 0], [65_536, 100]]), json!([[65_536, 100]])] {
        for side in 0..3 {
            of["sizes"][side]["max"] = 65_536.into();
            of["sizes"][side]["split"] = split.clone();
        }
        assert_eq!(run(&of).1.len(), 0);
    }
}

#[test]
fn a_capped_job_whose_ramp_is_longer_than_its_runtime_comes_to_its_end() {
    let mut of = plan();
    of["extent"]["ramp_ns"] = (40 * MS).into();
    of["extent"]["runtime_ns"] = (20 * MS).into();
    of["extent"]["time_based"] = true.into();
    // An I/O in 10 ms.
    let cap = json!({"bytes_per_s": 409_600, "poisson": false});
    of["caps"] = json!([cap, cap, cap]);
    let (result, _) = run(&of);
    assert_eq!(result.runtime_ns, 20 * MS);
    assert_eq!(result.sides[1].ios, 2);
}
