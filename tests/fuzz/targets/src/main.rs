//! Tries changed inputs of one kind: each must give a sound result, or name its faults.
//!
//!     raidlab-fuzz KIND END SEED FOLDER [ONLY]
//!
//! `KIND` is `plans`, `states`, `traces` or `jobs`; `END` is a number of inputs (`3000`) or seconds
//! (`60s`). `FOLDER` has `plans.jsonl`, sound plans, one a line, and takes the files that are tried:
//! let it lie in memory. Input number n follows from the plans, the seed and n alone, so `ONLY`
//! repeats one input, and prints it. A panic, a failed self-check, an input that takes longer than a
//! minute or more than 2 GB: each is named with its number, and the status is 1. Run it under
//! `ulimit -v`: an input that takes more memory aborts.

mod driver;
mod job_draws;
mod jobs;
mod plan_changes;
mod plans;
mod states;
mod traces;

use driver::{End, drive};
use std::path::Path;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [kind, end, seed, folder, only @ ..] = args.as_slice() else {
        usage();
    };
    let (Some(end), Ok(seed)) = (End::read(end), seed.parse()) else {
        usage();
    };
    let only = only.first().map(|number| number.parse().expect("a number"));
    let folder = Path::new(folder);
    let corpus = || std::fs::read_to_string(folder.join("plans.jsonl")).expect("plans.jsonl");
    let found = match kind.as_str() {
        "plans" => drive(&plans::Plans::new(&corpus(), seed), kind, end, only),
        "states" => drive(
            &states::States::new(&corpus(), seed, folder),
            kind,
            end,
            only,
        ),
        "traces" => drive(&traces::Traces::new(seed, folder), kind, end, only),
        "jobs" => drive(&jobs::Jobs::new(seed), kind, end, only),
        _ => usage(),
    };
    std::process::exit(i32::from(found > 0));
}

fn usage() -> ! {
    eprintln!("usage: raidlab-fuzz plans|states|traces|jobs END SEED FOLDER [ONLY]");
    std::process::exit(2);
}
