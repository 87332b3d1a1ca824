//! Runs plans without Python: one plan of JSON a line on standard input, one result a line out.

use raidlab_engine::{Plan, run};
use std::io::{BufRead, Write};

fn main() {
    let stdin = std::io::stdin();
    let mut out = std::io::stdout().lock();
    for line in stdin.lock().lines() {
        let line = line.expect("standard input is readable");
        let text = match Plan::from_json(&line) {
            Err(error) => format!("{{\"error\": {:?}}}", error.to_string()),
            Ok(plan) => {
                let begun = std::time::Instant::now();
                match run(&plan, || true) {
                    Ok(result) => {
                        let text = result.to_json().expect("a result is JSON");
                        let wall = begun.elapsed().as_secs_f64();
                        format!("{{\"wall_s\": {wall}, \"result\": {text}}}")
                    }
                    Err(error) => format!("{{\"error\": {:?}}}", format!("{error:?}")),
                }
            }
        };
        writeln!(out, "{text}").expect("standard output is writable");
        out.flush().expect("standard output is writable");
    }
}
