//! The guard between the collector and fio: nothing of fio outlives the collector.
//!
//! The collector starts itself again as `raidlab-collect guard -- fio ...` in a process group
//! of its own and holds the other end of the guard's standard input. However the collector
//! ends, by SIGKILL too, the kernel closes that end; the guard then kills its whole group.
//! fio's jobs run as threads (forked jobs would leave the group by `setsid`).

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode, ExitStatus, Stdio};

/// Exit code of the guard if the command cannot be started, as shells have it.
pub const NOT_STARTED: u8 = 127;

/// The word by which the collector starts itself as a guard.
pub const WORD: &str = "guard";

/// Runs `words`, which are `NAME=VALUE ... -- PROGRAM ARGUMENT ...`, until the program ends or
/// standard input does. The names are set for the program alone: a library preloaded into fio
/// must not be preloaded into its guard.
pub fn run(words: &[String]) -> ExitCode {
    let mut parts = words.splitn(2, |word| word == "--");
    let environment = parts.next().unwrap_or_default();
    let Some((program, arguments)) = parts.next().and_then(|command| command.split_first()) else {
        return ExitCode::from(2);
    };
    std::thread::spawn(|| {
        // Whatever arrives is ignored; the end is what counts.
        let mut sink = [0; 64];
        while std::io::stdin()
            .read(&mut sink)
            .is_ok_and(|count| count > 0)
        {}
        let group = rustix::process::getpgrp();
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    });
    let child = Command::new(program)
        .args(arguments)
        .envs(environment.iter().filter_map(|pair| pair.split_once('=')))
        .stdin(Stdio::null())
        .spawn();
    match child.and_then(|mut child| child.wait()) {
        Ok(status) => ExitCode::from(code(status)),
        Err(error) => {
            eprintln!("{program}: cannot be started: {error}");
            ExitCode::from(NOT_STARTED)
        }
    }
}

/// The exit code of a shell: 128 + the signal's number for a death by signal.
pub fn code(status: ExitStatus) -> u8 {
    let code = status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal))
        .unwrap_or(255);
    u8::try_from(code).unwrap_or(255)
}
