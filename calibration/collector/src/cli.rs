//! The command line.

use crate::bundle::{Bundle, write_whole};
use crate::campaign::{Campaign, check_options};
use crate::estimate;
use crate::fio::Fio;
use crate::identity;
use crate::manifest::{FORMAT, Manifest, PlanRecord, StepRecord};
use crate::noise::Watch;
use crate::plan::{BUILT_IN, Plan};
use crate::progress::{Output, Progress};
use crate::repeats::Patience;
use crate::runner::Runner;
use crate::step::{Setting, Step, expand};
use crate::stop::Stop;
use crate::sysfs::Roots;
use crate::target::{Access, Prompt, Target, Wanted, free_bytes};
use crate::text::printable_lines;
use crate::units::{self, show_bytes, show_seconds, timestamp};
use clap::Parser;
use serde_json::json;
use std::collections::BTreeSet;
use std::io::Write;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What a step's files take in the bundle, at most: json+ holds a line for each latency bucket.
const STEP_BYTES: u64 = 300 << 10;

/// Measures storage with fio and stores the result as a bundle that raidlab reads.
///
/// The target is a file (one that does not exist is created and removed again), a block device,
/// or a simulated system. The command, given again, resumes after an interruption.
#[derive(Debug, Parser)]
#[command(name = "raidlab-collect", version, max_term_width = 100)]
struct Arguments {
    /// The target: a file, a folder to create a file in, or a block device
    #[arg(value_name = "TARGET", conflicts_with_all = ["target", "simulated"])]
    place: Option<PathBuf>,
    /// The target, as TARGET gives it
    #[arg(long, value_name = "TARGET", conflicts_with = "simulated")]
    target: Option<PathBuf>,
    /// Measure the simulated system of a scenario file instead, through the same fio
    #[arg(long, value_name = "SCENARIO.toml")]
    simulated: Option<PathBuf>,
    /// A built-in plan (see --list) or the TOML file of one's own
    #[arg(long, value_name = "PLAN", default_value = "quick")]
    plan: String,
    /// Folder of the bundle [default: PLAN.bundle]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Size of the file to create, for example "8 GiB"
    #[arg(long)]
    size: Option<String>,
    /// Overrides the plan's area, for example "1 GiB"
    #[arg(long)]
    area: Option<String>,
    /// Overrides the running time of every timed step, for example "2 s"
    #[arg(long, value_name = "TIME")]
    runtime: Option<String>,
    /// Maximum number of rounds of each stage
    #[arg(long)]
    rounds: Option<u32>,
    /// Measure each step this many times and state the spread; stages with rounds have their own
    #[arg(long, value_name = "N")]
    repeats: Option<u32>,
    /// Measure a noisy step that only reads up to this many times again; others are marked
    #[arg(long, value_name = "N", default_value_t = 2)]
    repeat_noisy: usize,
    /// Seed of all random offsets
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Leave out the steps that write
    #[arg(long)]
    read_only: bool,
    /// Let an existing file's content be destroyed
    #[arg(long)]
    overwrite_file: bool,
    /// Measure a device that is in use or holds anything: type its serial number, or NAME:BYTES
    /// where it has none
    #[arg(long, value_name = "SERIAL")]
    destroy_data_on: Option<String>,
    /// Path of fio [default: the first on the search path]
    #[arg(long, value_name = "PATH")]
    fio: Option<PathBuf>,
    /// Beyond its expected time by so much, fio counts as hanging and is killed
    #[arg(long, value_name = "TIME", default_value = "2 min")]
    grace: String,
    /// Rate assumed in estimates, in bytes, for example "500 MB" a second
    #[arg(long, value_name = "BYTES", default_value = "500 MB")]
    assume_rate: String,
    /// Print the job files and the time and bytes they will take; measure nothing
    #[arg(long)]
    dry_run: bool,
    /// Events as JSON lines on standard output
    #[arg(long)]
    json: bool,
    /// List the built-in plans
    #[arg(long)]
    list: bool,
}

/// The program.
pub fn main() -> ExitCode {
    let words: Vec<String> = std::env::args_os()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    if words.get(1).is_some_and(|word| word == crate::guard::WORD) {
        return crate::guard::run(&words[2..]);
    }
    let arguments = Arguments::parse();
    let mut progress = Progress::new(if arguments.json {
        Output::Json
    } else {
        Output::Text
    });
    match run(&arguments, &mut progress) {
        Ok(()) => ExitCode::SUCCESS,
        Err(stop) => {
            let code = stop.exit_code();
            let fields = json!({"exit_code": code, "message": stop.to_string()});
            progress.event("error", fields, &format!("raidlab-collect: {stop}"));
            ExitCode::from(code)
        }
    }
}

fn list() -> String {
    BUILT_IN
        .iter()
        .map(|(name, _)| {
            let plan = Plan::load(name).expect("a test loads them all");
            format!("{name:22}{}\n", plan.title)
        })
        .collect()
}

/// Prints to standard output; a closed pipe is no error.
fn print(text: &str) {
    let _ = std::io::stdout()
        .lock()
        .write_all(printable_lines(text).as_bytes());
}

/// The numbers among the arguments, all checked at once.
struct Numbers {
    area: Option<u64>,
    runtime_s: Option<f64>,
    grace: std::time::Duration,
    assumed_bytes_per_s: f64,
}

impl Numbers {
    fn read(arguments: &Arguments) -> Result<Numbers, Stop> {
        let mut faults = Vec::new();
        let area = check(
            "--area",
            arguments.area.as_deref(),
            units::bytes,
            &mut faults,
        );
        let runtime = check(
            "--runtime",
            arguments.runtime.as_deref(),
            units::duration,
            &mut faults,
        );
        let grace = check(
            "--grace",
            Some(arguments.grace.as_str()),
            units::duration,
            &mut faults,
        );
        let rate = check(
            "--assume-rate",
            Some(arguments.assume_rate.as_str()),
            units::bytes,
            &mut faults,
        );
        if area.is_some_and(|bytes| bytes < units::MIB) {
            faults.push("--area: allowed: 1 MiB and more".to_owned());
        }
        for (key, is_zero) in [
            ("--runtime", runtime.is_some_and(|time| time.is_zero())),
            ("--rounds", arguments.rounds == Some(0)),
            ("--repeats", arguments.repeats == Some(0)),
        ] {
            if is_zero {
                faults.push(format!("{key} 0: allowed: more than 0"));
            }
        }
        if rate == Some(0) {
            faults.push("--assume-rate: allowed: more than 0".to_owned());
        }
        match (grace, rate, faults.is_empty()) {
            (Some(grace), Some(rate), true) => Ok(Numbers {
                area,
                runtime_s: runtime.map(|time| time.as_secs_f64()),
                grace,
                assumed_bytes_per_s: rate as f64,
            }),
            _ => Err(Stop::Refused(faults)),
        }
    }
}

fn check<T>(
    key: &str,
    text: Option<&str>,
    read: impl Fn(&str) -> Result<T, String>,
    faults: &mut Vec<String>,
) -> Option<T> {
    match read(text?) {
        Ok(value) => Some(value),
        Err(fault) => {
            faults.push(format!("{key}: {fault}"));
            None
        }
    }
}

fn run(arguments: &Arguments, progress: &mut Progress) -> Result<(), Stop> {
    if arguments.list {
        print(&list());
        return Ok(());
    }
    let numbers = Numbers::read(arguments)?;
    let plan = Plan::load(&arguments.plan)?;
    let mut runner = runner()?;
    let fio = find_fio(arguments, &runner)?;
    let out = bundle_folder(arguments, &plan)?;
    let before = Bundle::peek(&out)?;
    let roots = Roots::default();
    announce_check(&wanted(arguments), progress);
    let target = Target::open(
        &roots,
        &wanted(arguments),
        access(arguments, &plan),
        before.as_ref(),
        if arguments.dry_run {
            Prompt::Never
        } else {
            Prompt::Allowed
        },
    )?;
    let setting = setting(arguments, &numbers, &plan, &target)?;
    let steps = expand(&plan, &setting).map_err(Stop::Refused)?;
    if arguments.dry_run {
        print(&dry_run(&steps, &target, &numbers));
        return Ok(());
    }
    let unfinished = before
        .as_ref()
        .is_none_or(|manifest| manifest.end.is_none());
    if unfinished {
        target.check_space()?;
    }
    let manifest = manifest(arguments, &roots, &plan, setting, &target, &fio, &steps);
    let (mut bundle, found) = Bundle::open(&out, manifest)?;
    check_bundle_space(&out, steps.len() - found.done)?;
    if let Some(simulated) = &target.simulated {
        let file = out.join("simulated.json");
        write_whole(&file, simulated.plan.to_string().as_bytes())?;
        runner.environment = simulated.environment(&file);
    }
    let seen = &target.seen;
    announce(
        &bundle,
        seen,
        &found.damaged,
        found.done,
        &numbers,
        progress,
    );
    check_options(&fio, &runner, &steps, &target.record.path, &out)?;
    if unfinished || !found.damaged.is_empty() {
        let known = bundle.manifest.created_file;
        bundle.manifest.created_file = target.create(known)?;
        bundle.save()?;
    }
    let device = target.device.as_ref();
    let watch = target
        .simulated
        .is_none()
        .then(|| Watch::new(&roots, device));
    let mut campaign = Campaign {
        bundle,
        target: &target,
        plan: &plan,
        fio: &fio,
        runner: &runner,
        grace: numbers.grace,
        assumed_bytes_per_s: numbers.assumed_bytes_per_s,
        watch,
        patience: Patience::new(arguments.repeat_noisy),
    };
    let done = campaign.run(progress)?;
    let fields = json!({"bundle": out, "steps_done": done});
    progress.event("end", fields, &format!("bundle: {}", out.display()));
    Ok(())
}

fn runner() -> Result<Runner, Stop> {
    Ok(Runner {
        guard: std::env::current_exe()
            .map_err(|error| Stop::failed(format!("cannot find this program: {error}")))?,
        environment: Vec::new(),
        interrupted: interrupts()?,
    })
}

fn find_fio(arguments: &Arguments, runner: &Runner) -> Result<Fio, Stop> {
    let path = arguments
        .fio
        .as_ref()
        .map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone()));
    Fio::find(path.as_deref(), runner)
}

fn wanted(arguments: &Arguments) -> Wanted {
    Wanted {
        path: arguments.place.clone().or_else(|| arguments.target.clone()),
        simulated: arguments.simulated.clone(),
        size: arguments.size.clone(),
        destroy_data_on: arguments.destroy_data_on.clone(),
        overwrite_file: arguments.overwrite_file,
    }
}

/// Ctrl-C and SIGTERM set a flag that the runner polls.
fn interrupts() -> Result<Arc<AtomicBool>, Stop> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [
        signal_hook::consts::SIGINT,
        signal_hook::consts::SIGTERM,
        signal_hook::consts::SIGHUP,
    ] {
        signal_hook::flag::register(signal, Arc::clone(&flag))
            .map_err(|error| Stop::failed(format!("cannot catch signals: {error}")))?;
    }
    Ok(flag)
}

fn bundle_folder(arguments: &Arguments, plan: &Plan) -> Result<PathBuf, Stop> {
    let folder = arguments
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("{}.bundle", plan.name)));
    if folder.exists() && !folder.is_dir() {
        return Err(Stop::refused(format!(
            "--out {}: not a folder",
            folder.display()
        )));
    }
    std::path::absolute(&folder).map_err(|error| Stop::io("find", &folder, &error))
}

/// What the steps may do to a target of any size.
fn access(arguments: &Arguments, plan: &Plan) -> Access {
    let huge = Setting {
        capacity_bytes: 1 << 50,
        area_bytes: 1 << 50,
        discard: true,
        ..Setting::default()
    };
    let writes = expand(plan, &huge).is_ok_and(|steps| steps.iter().any(|step| step.writes));
    if writes && !arguments.read_only {
        Access::Write
    } else {
        Access::ReadOnly
    }
}

fn setting(
    arguments: &Arguments,
    numbers: &Numbers,
    plan: &Plan,
    target: &Target,
) -> Result<Setting, Stop> {
    let capacity = target.record.size_bytes;
    let wanted = match numbers.area {
        Some(area) => area,
        None => units::bytes(&plan.area).map_err(Stop::refused)?,
    };
    Ok(Setting {
        capacity_bytes: capacity,
        area_bytes: Setting::area(wanted, capacity),
        layout: target.record.created,
        discard: target.discard,
        simulated: target.simulated.is_some(),
        runtime_s: numbers.runtime_s,
        rounds: arguments.rounds,
        repeats: arguments.repeats,
        read_only: arguments.read_only,
        seed: arguments.seed,
    })
}

fn dry_run(steps: &[Step], target: &Target, numbers: &Numbers) -> String {
    let mut seen = BTreeSet::new();
    let mut text = String::new();
    for step in steps {
        if seen.insert((&step.stage, &step.name)) {
            let job = step.job_file(&target.record.path);
            text += &format!("# steps/{}.fio: stage {}\n{job}\n", step.stem(), step.stage);
        }
    }
    let rounds = steps.iter().map(|step| step.round).max().unwrap_or(1);
    if rounds > 1 {
        let (all, kinds) = (steps.len(), seen.len());
        text += &format!("# {rounds} rounds at most: {all} steps of {kinds} kinds\n");
    }
    let rate = numbers.assumed_bytes_per_s;
    let total = estimate::total(steps.iter(), target.record.size_bytes, rate);
    for line in total.show(rate).lines() {
        text += &format!("# {line}\n");
    }
    text
}

fn manifest(
    arguments: &Arguments,
    roots: &Roots,
    plan: &Plan,
    setting: Setting,
    target: &Target,
    fio: &Fio,
    steps: &[Step],
) -> Manifest {
    let now = timestamp();
    let warnings = warnings(arguments, plan, &setting, target);
    Manifest {
        format: FORMAT,
        collector: env!("CARGO_PKG_VERSION").to_owned(),
        plan: PlanRecord::new(plan, &setting),
        target: target.record.clone(),
        host: identity::host(roots),
        kernel: identity::kernel(roots),
        fio_version: fio.version.clone(),
        options: recorded_options(),
        start: now.clone(),
        end: None,
        sessions: vec![now],
        warnings,
        steady_state: Vec::new(),
        written_since: None,
        created_file: None,
        spreads: Vec::new(),
        rest_after: None,
        steps: steps.iter().cloned().map(StepRecord::pending).collect(),
    }
}

/// The command's arguments, without what identifies the device.
fn recorded_options() -> Vec<String> {
    let mut words: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    for index in 0..words.len() {
        if words[index] == "--destroy-data-on" && index + 1 < words.len() {
            words[index + 1] = "(serial)".to_owned();
        } else if words[index].starts_with("--destroy-data-on=") {
            words[index] = "--destroy-data-on=(serial)".to_owned();
        }
    }
    words
}

fn warnings(arguments: &Arguments, plan: &Plan, setting: &Setting, target: &Target) -> Vec<String> {
    let mut warnings = target.warnings.clone();
    let wanted = arguments.area.as_deref().unwrap_or(&plan.area);
    let wanted = units::bytes(wanted).map_or(0, |bytes| bytes / units::MIB * units::MIB);
    if wanted > setting.area_bytes {
        warnings.push(format!(
            "the area is {} and not {}: the target has no more",
            show_bytes(setting.area_bytes),
            show_bytes(wanted)
        ));
    }
    let purges = plan
        .stages
        .iter()
        .flat_map(|stage| &stage.steps)
        .any(|step| step.purge);
    if purges && !setting.discard && !setting.read_only {
        warnings.push("not purged: the target cannot discard".to_owned());
    }
    if plan.name.starts_with("pts-") && target.record.details["rotational"] == json!(true) {
        warnings.push("SNIA's tests are made for SSDs; this is a hard disk".to_owned());
    }
    if !rustix::process::geteuid().is_root() && target.record.kind != "simulated" {
        warnings.push(
            "not root: SMART and health data are missing, and raw devices may not open".to_owned(),
        );
    }
    warnings
}

fn check_bundle_space(out: &Path, left: usize) -> Result<(), Stop> {
    let needed = left as u64 * STEP_BYTES;
    let free = free_bytes(out)?;
    if free < needed {
        return Err(Stop::refused(format!(
            "--out {}: {} may be needed, {} are free",
            out.display(),
            show_bytes(needed),
            show_bytes(free)
        )));
    }
    Ok(())
}

/// Samples of a whole hard disk take half a minute.
fn announce_check(wanted: &Wanted, progress: &mut Progress) {
    let is_block = |path: &PathBuf| {
        let found = std::fs::metadata(path);
        found.is_ok_and(|found| found.file_type().is_block_device())
    };
    if let Some(path) = wanted.path.as_ref().filter(|path| is_block(path)) {
        let line = format!(
            "checking {}: who uses it, what it holds (up to half a minute)",
            path.display()
        );
        progress.event("checking", json!({"target": path}), &line);
    }
}

fn announce(
    bundle: &Bundle,
    seen: &[String],
    damaged: &[String],
    done: usize,
    numbers: &Numbers,
    progress: &mut Progress,
) {
    let manifest = &bundle.manifest;
    if !seen.is_empty() {
        let line = format!("checked {}: {}", manifest.target.path, seen.join("; "));
        let fields = json!({"target": manifest.target.path, "seen": seen});
        progress.event("checked", fields, &line);
    }
    for warning in &manifest.warnings {
        progress.warn(warning);
    }
    for name in damaged {
        progress.warn(&format!(
            "step {name} is damaged on disk and is measured again"
        ));
    }
    let left = manifest
        .steps
        .iter()
        .filter(|record| record.sha256.is_empty());
    let left = left.map(|record| &record.step);
    let total = estimate::total(
        left,
        manifest.target.size_bytes,
        numbers.assumed_bytes_per_s,
    );
    let (steps, seconds) = (manifest.steps.len(), total.seconds());
    let simulated = manifest.target.kind == "simulated";
    let line = format!(
        "{} on {}: {steps} steps at most, {done} done before, about {} left{}",
        manifest.plan.name,
        manifest.target.path,
        show_seconds(seconds),
        if simulated { " in virtual time" } else { "" },
    );
    let fields = json!({
        "plan": manifest.plan.name, "target": manifest.target.path, "steps": steps,
        "done_before": done, "left_s": seconds, "fio_version": manifest.fio_version,
    });
    progress.event("start", fields, &line);
}
