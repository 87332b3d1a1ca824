//! fio itself: its path, its version, its output.

use crate::plan::Tracked;
use crate::runner::{End, Finished, Runner};
use crate::stop::Stop;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How to get fio.
const INSTALL: &str = "install it with `apt install fio`, `dnf install fio` or `zypper install \
                       fio`, or name it with --fio PATH";

/// The fio that is used.
#[derive(Clone, Debug)]
pub struct Fio {
    /// Its path.
    pub path: PathBuf,
    /// What it calls itself: `fio-3.33`.
    pub version: String,
}

impl Fio {
    /// Finds fio at `path`, or on the search path, and asks for its version.
    pub fn find(path: Option<&Path>, runner: &Runner) -> Result<Fio, Stop> {
        let path = match path {
            Some(path) if path.is_file() => path.to_owned(),
            Some(path) => {
                let message = format!("--fio {}: no such file; {INSTALL}", path.display());
                return Err(Stop::refused(message));
            }
            None => on_path("fio")
                .ok_or_else(|| Stop::refused(format!("fio was not found; {INSTALL}")))?,
        };
        let command = [path.display().to_string(), "--version".to_owned()];
        let finished = runner.run(&command, Path::new("."), Duration::from_secs(20), |_| ())?;
        let version = finished.stdout.trim().to_owned();
        if finished.end != End::Code(0) || !version.starts_with("fio-") {
            return Err(Stop::refused(format!(
                "{}: does not answer `--version` as fio does ({}): {}; {INSTALL}",
                path.display(),
                describe(finished.end),
                finished.last_words(),
            )));
        }
        Ok(Fio { path, version })
    }

    /// Lets fio parse job files without running them; the fault, if it finds one.
    pub fn parse_only(&self, job: &Path, runner: &Runner) -> Result<Option<String>, Stop> {
        let command = [
            self.path.display().to_string(),
            "--parse-only".to_owned(),
            job.display().to_string(),
        ];
        let finished = runner.run(&command, Path::new("."), Duration::from_secs(60), |_| ())?;
        Ok((finished.end != End::Code(0)).then(|| finished.last_words()))
    }
}

/// The first executable file of that name on the search path.
pub fn on_path(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(name))
        .find(|path| {
            rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok() && path.is_file()
        })
}

/// How a run ended, in words.
pub fn describe(end: End) -> String {
    match end {
        End::Code(code) => format!("exit code {code}"),
        End::Signal(signal) => format!("killed by signal {signal}"),
        End::TimedOut => "over its time limit, killed".to_owned(),
    }
}

/// The few figures of a step that progress, steady state and a first look need.
///
/// All jobs of the step together, both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// I/Os a second.
    pub iops: f64,
    /// Bytes a second.
    pub bytes_per_s: f64,
    /// Mean latency of an I/O, submission included.
    pub latency_us: f64,
    /// Greatest latency.
    pub latency_max_us: f64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
}

impl Summary {
    /// The value that a steady-state test follows.
    pub fn tracked(&self, value: Tracked) -> f64 {
        match value {
            Tracked::Iops => self.iops,
            Tracked::BytesPerS => self.bytes_per_s,
            Tracked::LatencyUs => self.latency_us,
        }
    }
}

/// Reads fio's JSON, which other text may precede; checks that every job ended well.
pub fn read_result(bytes: &[u8]) -> Result<Summary, String> {
    summarize(&parse_json(bytes)?)
}

/// fio's JSON without what precedes it.
pub fn parse_json(bytes: &[u8]) -> Result<Value, String> {
    let start = bytes
        .iter()
        .position(|&byte| byte == b'{')
        .ok_or("fio wrote no JSON")?;
    serde_json::Deserializer::from_slice(&bytes[start..])
        .into_iter::<Value>()
        .next()
        .ok_or("fio wrote no JSON")?
        .map_err(|error| format!("fio's JSON is broken: {error}"))
}

/// The figures of all jobs of a document of fio, if every one of them ended well.
pub fn summarize(document: &Value) -> Result<Summary, String> {
    let jobs = document["jobs"].as_array().filter(|jobs| !jobs.is_empty());
    let jobs = jobs.ok_or("fio's JSON has no jobs")?;
    let mut summary = Summary::default();
    let (mut count, mut total_ns) = (0.0, 0.0);
    for job in jobs {
        let error = job["error"]
            .as_i64()
            .ok_or("a job in fio's JSON has no `error`")?;
        if error != 0 {
            let name = job["jobname"].as_str().unwrap_or("?");
            let why = std::io::Error::from_raw_os_error(i32::try_from(error).unwrap_or(0));
            return Err(format!("job `{name}` ended with error {error}: {why}"));
        }
        for direction in ["read", "write", "trim"] {
            let part = &job[direction];
            let number = |key: &str| part[key].as_f64().unwrap_or(0.0);
            summary.iops += number("iops");
            summary.bytes_per_s += number("bw_bytes");
            let latency = &part["lat_ns"];
            let ios = latency["N"].as_f64().unwrap_or(0.0);
            count += ios;
            total_ns += ios * latency["mean"].as_f64().unwrap_or(0.0);
            let most = latency["max"].as_f64().unwrap_or(0.0) / 1e3;
            summary.latency_max_us = summary.latency_max_us.max(most);
        }
        summary.read_bytes += job["read"]["io_bytes"].as_u64().unwrap_or(0);
        summary.written_bytes += job["write"]["io_bytes"].as_u64().unwrap_or(0);
    }
    if count > 0.0 {
        summary.latency_us = total_ns / count / 1e3;
    }
    Ok(summary)
}

/// The present rate in I/Os a second from fio's line of progress: `[r=45.2k,w=22.3k IOPS]`.
pub fn live_iops(line: &str) -> Option<f64> {
    let end = line.find(" IOPS]")?;
    let start = line[..end].rfind('[')? + 1;
    let mut total = 0.0;
    for part in line[start..end].split(',') {
        let text = part.split_once('=')?.1;
        let (number, factor) = match text.chars().last()? {
            'k' => (&text[..text.len() - 1], 1e3),
            'M' | 'm' => (&text[..text.len() - 1], 1e6),
            'G' | 'g' => (&text[..text.len() - 1], 1e9),
            _ => (text, 1.0),
        };
        total += number.parse::<f64>().ok()? * factor;
    }
    Some(total)
}

/// The message for a run that did not end well.
pub fn complaint(finished: &Finished) -> String {
    let words = finished.last_words();
    if words.is_empty() {
        format!("fio: {}", describe(finished.end))
    } else {
        format!("fio: {}: {words}", describe(finished.end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn live_rates_add_up() {
        let line = "Jobs: 1 (f=1): [m(1)][-.-%][r=353MiB/s,w=175MiB/s][r=45.2k,w=22.3k IOPS][eta]";
        assert_eq!(live_iops(line), Some(67_500.0));
        assert_eq!(
            live_iops("Jobs: 1 (f=1): [r(1)][r=3MiB/s][r=812 IOPS][eta 1s]"),
            Some(812.0)
        );
        assert_eq!(live_iops("Jobs: 1 (f=1)"), None);
    }

    #[test]
    fn text_before_the_json_is_skipped_and_jobs_add_up() {
        let job = |iops: f64, n: u64, mean: f64| {
            serde_json::json!({"jobname": "x", "error": 0,
                "read": {"iops": iops, "bw_bytes": 4096, "io_bytes": 10,
                         "lat_ns": {"N": n, "mean": mean, "max": 9000}},
                "write": {"iops": 0, "bw_bytes": 0, "io_bytes": 0, "lat_ns": {"N": 0}}})
        };
        let document = serde_json::json!({"jobs": [job(10.0, 1, 1000.0), job(20.0, 3, 5000.0)]});
        let summary = read_result(format!("note: hello\n{document}").as_bytes()).unwrap();
        assert_eq!(summary.iops, 30.0);
        assert_eq!(summary.latency_us, 4.0);
        assert_eq!(summary.latency_max_us, 9.0);
        assert_eq!(summary.read_bytes, 20);
    }

    #[test]
    fn broken_results_are_named() {
        assert!(read_result(b"no json").unwrap_err().contains("no JSON"));
        assert!(
            read_result(b"{\"jobs\": [{")
                .unwrap_err()
                .contains("broken")
        );
        assert!(
            read_result(b"{\"jobs\": []}")
                .unwrap_err()
                .contains("no jobs")
        );
        let failed = br#"{"jobs": [{"jobname": "x", "error": 28}]}"#;
        assert!(read_result(failed).unwrap_err().contains("No space left"));
    }
}
