//! Tries one input after the other, counts what came of them and names those that failed.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// An input that takes longer hangs.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// Memory that all inputs may take.
const MOST_KIB: u64 = 2 << 20;
/// Inputs between two looks at the clock and the memory.
const BETWEEN_LOOKS: u64 = 256;
/// Failures after which the rest is not tried.
const ENOUGH: u64 = 10;

/// A kind of input.
pub trait Target {
    /// What is tried.
    type Input;

    /// Input number `number`.
    fn input(&self, number: u64) -> Self::Input;

    /// The input as text, to look at.
    fn show(&self, input: &Self::Input) -> String;

    /// What came of it.
    ///
    /// # Errors
    /// What is wrong.
    fn judge(&self, input: &Self::Input) -> Result<&'static str, String>;
}

/// When to end.
#[derive(Clone, Copy)]
pub enum End {
    /// After this number of inputs.
    Inputs(u64),
    /// After so long.
    Time(Duration),
}

impl End {
    /// `3000`, or `60s`.
    pub fn read(text: &str) -> Option<End> {
        match text.strip_suffix('s') {
            Some(seconds) => Some(End::Time(Duration::from_secs(seconds.parse().ok()?))),
            None => Some(End::Inputs(text.parse().ok()?)),
        }
    }
}

/// Tries inputs until the end, or `only` one; how many failed.
pub fn drive<T: Target>(target: &T, kind: &str, end: End, only: Option<u64>) -> u64 {
    if let Some(number) = only {
        println!("{}", target.show(&target.input(number)));
        return tried(target, number).map_or_else(|why| failed(kind, number, &why), |_| 0);
    }
    let begun = Instant::now();
    let current = watch(kind);
    let mut tally: BTreeMap<&str, u64> = BTreeMap::new();
    let (mut number, mut failures, mut longest) = (0, 0, (Duration::ZERO, 0));
    while failures < ENOUGH {
        let over = match end {
            End::Inputs(most) => number >= most,
            End::Time(most) => number % BETWEEN_LOOKS == 0 && begun.elapsed() >= most,
        };
        if over {
            break;
        }
        current.store(number, Ordering::Relaxed);
        if number % BETWEEN_LOOKS == 0 {
            // An abort says no number: one of the next few.
            eprint!("\r{kind}: from input {number} on ");
            let most = resident_kib();
            if most > MOST_KIB {
                failures += failed(kind, number, &format!("at {most} KiB, or one before"));
                break;
            }
        }
        let began = Instant::now();
        let outcome = tried(target, number);
        longest = longest.max((began.elapsed(), number));
        match outcome {
            Ok(outcome) => *tally.entry(outcome).or_default() += 1,
            Err(why) => failures += failed(kind, number, &why),
        }
        number += 1;
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "{number} {kind}: {tally:?}, {failures} failed, {seconds:.0} s; longest {:.1?}, input {}",
        longest.0, longest.1
    );
    failures
}

fn tried<T: Target>(target: &T, number: u64) -> Result<&'static str, String> {
    let trial = || target.judge(&target.input(number));
    catch_unwind(AssertUnwindSafe(trial)).unwrap_or_else(|_| Err("a panic".into()))
}

fn failed(kind: &str, number: u64, why: &str) -> u64 {
    eprintln!("{kind}: input {number}: {why}");
    1
}

/// A thread that ends the program if one input takes too long.
fn watch(kind: &str) -> Arc<AtomicU64> {
    let current = Arc::new(AtomicU64::new(0));
    let (watched, kind) = (Arc::clone(&current), kind.to_owned());
    std::thread::spawn(move || {
        loop {
            let before = watched.load(Ordering::Relaxed);
            std::thread::sleep(PATIENCE);
            if watched.load(Ordering::Relaxed) == before {
                failed(&kind, before, &format!("longer than {PATIENCE:?}"));
                std::process::exit(1);
            }
        }
    });
    current
}

/// The most memory that this process has had, KiB; 0 where the system does not say.
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|rest| rest.split_whitespace().next());
    number.and_then(|text| text.parse().ok()).unwrap_or(0)
}
