//! Runs fio: in a process group of its own, with a time limit, ended with the collector.

use crate::stop::Stop;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Last bytes of each output stream that are stored.
const TAIL_BYTES: usize = 64 << 10;

/// How a run ended, and its last words.
#[derive(Clone, Debug)]
pub struct Finished {
    /// How it ended.
    pub end: End,
    /// Standard output, the last 64 KiB.
    pub stdout: String,
    /// Standard error, the last 64 KiB.
    pub stderr: String,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this exit code.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// It took longer than it may and was killed.
    TimedOut,
}

/// Starts fio and watches it.
#[derive(Clone)]
pub struct Runner {
    /// This program, which guards what it starts.
    pub guard: PathBuf,
    /// Environment of fio, beside the collector's own.
    pub environment: Vec<(String, String)>,
    /// Set by a signal handler.
    pub interrupted: Arc<AtomicBool>,
}

impl Runner {
    /// A runner that sets one more name in fio's environment.
    pub fn with(&self, name: &str, value: String) -> Runner {
        let mut runner = self.clone();
        runner.environment.push((name.to_owned(), value));
        runner
    }

    /// Runs `command` in `folder`; hands each piece of standard output (split at carriage
    /// returns and newlines) to `on_output`, and an empty one at least every 200 ms.
    pub fn run(
        &self,
        command: &[String],
        folder: &Path,
        limit: Duration,
        mut on_output: impl FnMut(&str),
    ) -> Result<Finished, Stop> {
        let mut child = self.start(command, folder)?;
        let group = Group(rustix::process::Pid::from_child(&child));
        let (sender, pieces) = channel();
        let stdout = tail(child.stdout.take().expect("piped"), Some(sender));
        let stderr = tail(child.stderr.take().expect("piped"), None);
        let status = self.wait(&mut child, &pieces, limit, &mut on_output);
        drop(group);
        // The guard is gone, and its group with it; what is left in the pipes is there now.
        let _ = child.wait();
        let end = status?;
        let until = Instant::now() + Duration::from_millis(500);
        while Instant::now() < until && Arc::strong_count(&stdout) + Arc::strong_count(&stderr) > 2
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(Finished {
            end,
            stdout: text(&stdout),
            stderr: text(&stderr),
        })
    }

    fn start(&self, command: &[String], folder: &Path) -> Result<Child, Stop> {
        let environment = self
            .environment
            .iter()
            .map(|(key, value)| format!("{key}={value}"));
        Command::new(&self.guard)
            .arg(crate::guard::WORD)
            .args(environment)
            .arg("--")
            .args(command)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| Stop::io("start", &self.guard, &error))
    }

    fn wait(
        &self,
        child: &mut Child,
        pieces: &Receiver<String>,
        limit: Duration,
        on_output: &mut impl FnMut(&str),
    ) -> Result<End, Stop> {
        let started = Instant::now();
        let mut silent = false;
        loop {
            if self.interrupted.load(Ordering::Relaxed) {
                return Err(Stop::Interrupted);
            }
            if started.elapsed() > limit {
                return Ok(End::TimedOut);
            }
            let status = child
                .try_wait()
                .map_err(|error| Stop::failed(format!("cannot wait for fio: {error}")))?;
            if let Some(status) = status {
                return Ok(match i32::from(crate::guard::code(status)) {
                    code @ 129..=192 => End::Signal(code - 128),
                    code => End::Code(code),
                });
            }
            if silent {
                std::thread::sleep(Duration::from_millis(5));
                on_output("");
                continue;
            }
            match pieces.recv_timeout(Duration::from_millis(20)) {
                Ok(piece) => on_output(&piece),
                Err(RecvTimeoutError::Timeout) => on_output(""),
                Err(RecvTimeoutError::Disconnected) => silent = true,
            }
        }
    }
}

/// The guard's process group; killed when dropped.
struct Group(rustix::process::Pid);

impl Drop for Group {
    fn drop(&mut self) {
        let _ = rustix::process::kill_process_group(self.0, rustix::process::Signal::KILL);
    }
}

/// Reads a stream in a thread of its own; retains its tail, sends its pieces.
fn tail(
    mut stream: impl Read + Send + 'static,
    sender: Option<Sender<String>>,
) -> Arc<Mutex<Vec<u8>>> {
    let tail = Arc::new(Mutex::new(Vec::new()));
    let mine = Arc::clone(&tail);
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        let mut piece = Vec::new();
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            let mut tail = mine.lock().expect("no holder panics");
            tail.extend_from_slice(&buffer[..count]);
            let excess = tail.len().saturating_sub(TAIL_BYTES);
            tail.drain(..excess);
            drop(tail);
            let Some(sender) = &sender else { continue };
            for &byte in &buffer[..count] {
                if byte == b'\r' || byte == b'\n' {
                    let _ = sender.send(String::from_utf8_lossy(&piece).into_owned());
                    piece.clear();
                } else if piece.len() < TAIL_BYTES {
                    piece.push(byte);
                }
            }
        }
    });
    tail
}

fn text(tail: &Mutex<Vec<u8>>) -> String {
    String::from_utf8_lossy(&tail.lock().expect("no holder panics")).into_owned()
}

impl Finished {
    /// What fio said last, for a message.
    pub fn last_words(&self) -> String {
        let said = if self.stderr.trim().is_empty() {
            &self.stdout
        } else {
            &self.stderr
        };
        let lines: Vec<&str> = said
            .split(['\n', '\r'])
            .filter(|line| !line.trim().is_empty())
            .collect();
        lines[lines.len().saturating_sub(5)..].join("\n")
    }
}
