//! Steps: a plan spread out for one target, and the job files that fio reads.

use crate::plan::{Options, Plan, Stage, StepPlan, combinations, full_name};
use crate::units::{self, MIB};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What a step is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Fills a file that the collector created, so that reads meet data.
    Layout,
    /// Discards the target.
    Purge,
    /// Measures.
    Measure,
}

/// One run of fio.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// From 1, in the order of running.
    pub number: usize,
    /// Unique together with stage and round.
    pub name: String,
    /// The stage's name.
    pub stage: String,
    /// From 1.
    pub round: u32,
    /// What it is for.
    pub purpose: Purpose,
    /// True if fio writes or discards.
    pub writes: bool,
    /// Keep logs over time.
    pub logs: bool,
    /// Options of fio, except the target's name and what logging needs.
    pub options: BTreeMap<String, String>,
}

/// What the plan needs to know of the target, and what the user overrides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// Bytes of the target.
    pub capacity_bytes: u64,
    /// Bytes that `{area}` stands for.
    pub area_bytes: u64,
    /// The target is a file to be created and filled.
    pub layout: bool,
    /// The target can discard.
    pub discard: bool,
    /// The target is simulated: fio reads the clock that the bridge moves.
    #[serde(default)]
    pub simulated: bool,
    /// Overrides the running time of every timed step, in seconds.
    pub runtime_s: Option<f64>,
    /// Overrides the rounds of every stage that has more.
    pub rounds: Option<u32>,
    /// Rounds of every stage that has a single one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<u32>,
    /// Leaves out the steps that write.
    pub read_only: bool,
    /// Random offsets of all steps derive from it.
    pub seed: u64,
}

impl Setting {
    /// The setting's area: the plan's or the user's, no more than the target has.
    pub fn area(wanted: u64, capacity: u64) -> u64 {
        wanted.min(capacity) / MIB * MIB
    }
}

/// All steps of a plan in order, or all faults.
pub fn expand(plan: &Plan, setting: &Setting) -> Result<Vec<Step>, Vec<String>> {
    let mut steps = Vec::new();
    let mut faults = Vec::new();
    if setting.layout {
        steps.push(layout_step(setting));
    }
    for stage in &plan.stages {
        let planned = match setting.repeats {
            Some(repeats) if stage.rounds == 1 => repeats,
            _ => stage.rounds,
        };
        let rounds = setting.rounds.map_or(planned, |most| most.min(planned));
        let round = stage_steps(plan, stage, setting, &mut faults);
        for number in 1..=rounds {
            steps.extend(round.iter().cloned().map(|mut step| {
                step.round = number;
                step
            }));
        }
    }
    if setting.read_only {
        steps.retain(|step| !step.writes || step.purpose == Purpose::Layout);
    }
    for (index, step) in steps.iter_mut().enumerate() {
        step.number = index + 1;
        // Each step draws other offsets: the same ones again would rewrite the same blocks.
        let seed = setting.seed.wrapping_mul(1_000_003) + step.number as u64;
        step.options
            .entry("randseed".to_owned())
            .or_insert(seed.to_string());
    }
    if !steps.iter().any(|step| step.purpose == Purpose::Measure) {
        faults.push(format!("plan `{}`: nothing is left to measure", plan.name));
    }
    faults.sort();
    faults.dedup();
    if faults.is_empty() {
        Ok(steps)
    } else {
        Err(faults)
    }
}

fn stage_steps(
    plan: &Plan,
    stage: &Stage,
    setting: &Setting,
    faults: &mut Vec<String>,
) -> Vec<Step> {
    let mut steps = Vec::new();
    for step in &stage.steps {
        if step.purge && !setting.discard {
            continue;
        }
        for combination in combinations(step.sweep.iter().chain(&stage.sweep)) {
            let name = full_name(&step.name, &combination);
            let mut options = base_options();
            if setting.simulated {
                options.insert("clocksource".to_owned(), "clock_gettime".to_owned());
            }
            let own: Options = combination.into_iter().collect();
            for (option, value) in plan.options.iter().chain(&step.options).chain(&own) {
                match resolve(&value.to_string(), setting) {
                    Ok(value) => drop(options.insert(option.clone(), value)),
                    Err(fault) => faults.push(format!("step `{name}`: {option}: {fault}")),
                }
            }
            shorten(&mut options, setting.runtime_s);
            steps.push(measure_step(name, stage, step, options));
        }
    }
    steps
}

fn measure_step(
    name: String,
    stage: &Stage,
    step: &StepPlan,
    options: BTreeMap<String, String>,
) -> Step {
    Step {
        number: 0,
        name,
        stage: stage.name.clone(),
        round: 1,
        purpose: if step.purge {
            Purpose::Purge
        } else {
            Purpose::Measure
        },
        writes: writes(&options),
        logs: step.logs,
        options,
    }
}

fn layout_step(setting: &Setting) -> Step {
    let mut options = base_options();
    for (option, value) in [
        ("rw", "write"),
        ("bs", "1m"),
        ("iodepth", "8"),
        ("end_fsync", "1"),
        ("refill_buffers", "1"),
        ("size", &setting.capacity_bytes.to_string()),
    ] {
        options.insert(option.to_owned(), value.to_owned());
    }
    Step {
        number: 0,
        name: "layout".to_owned(),
        stage: "layout".to_owned(),
        round: 1,
        purpose: Purpose::Layout,
        writes: true,
        logs: false,
        options,
    }
}

fn base_options() -> BTreeMap<String, String> {
    [
        ("ioengine", "libaio"),
        ("direct", "1"),
        ("group_reporting", "1"),
    ]
    .into_iter()
    .map(|(option, value)| (option.to_owned(), value.to_owned()))
    .collect()
}

/// True unless these options can only read. fio reads if `rw` is missing.
pub fn writes(options: &BTreeMap<String, String>) -> bool {
    let rw = options.get("rw").or_else(|| options.get("readwrite"));
    rw.is_some_and(|rw| !matches!(rw.split(':').next(), Some("read" | "randread")))
}

fn shorten(options: &mut BTreeMap<String, String>, runtime_s: Option<f64>) {
    let Some(seconds) = runtime_s else { return };
    if !options.contains_key("runtime") {
        return;
    }
    options.insert(
        "runtime".to_owned(),
        format!("{}ms", (seconds * 1e3).round()),
    );
    if let Some(ramp) = options
        .get("ramp_time")
        .and_then(|text| units::fio_seconds(text))
    {
        let ramp = ramp.min(seconds);
        options.insert(
            "ramp_time".to_owned(),
            format!("{}ms", (ramp * 1e3).round()),
        );
    }
}

/// Replaces `{area}`, `{capacity}`, `{area/8}`, ... by bytes, rounded down to whole MiB.
fn resolve(text: &str, setting: &Setting) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let Some(length) = rest[start..].find('}') else {
            return Err(format!("`{text}`: a brace is not closed"));
        };
        let inner = &rest[start + 1..start + length];
        let (name, divisor) = inner.split_once('/').unwrap_or((inner, "1"));
        let whole = match name.trim() {
            "area" => setting.area_bytes,
            "capacity" => setting.capacity_bytes,
            other => {
                return Err(format!(
                    "unknown `{{{other}}}`; allowed: {{area}}, {{capacity}}"
                ));
            }
        };
        let divisor: u64 = divisor.trim().parse().unwrap_or(0);
        if divisor == 0 {
            return Err(format!("`{{{inner}}}`: divide by 1 or more"));
        }
        let bytes = whole / divisor / MIB * MIB;
        if bytes == 0 {
            return Err(format!(
                "`{{{inner}}}` is less than 1 MiB of a target of {}",
                units::show_bytes(setting.capacity_bytes)
            ));
        }
        write!(out, "{}{bytes}", &rest[..start]).expect("writing to a string");
        rest = &rest[start + length + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

impl Step {
    /// The job file: one section, everything in it, so that it runs on its own as well.
    pub fn job_file(&self, filename: &str) -> String {
        let mut text = format!("[{}]\n", self.name);
        // fio splits names at colons.
        let escaped = filename.replace(':', "\\:");
        writeln!(text, "filename={escaped}").expect("writing to a string");
        text.push_str("thread=1\n");
        for (option, value) in &self.options {
            writeln!(text, "{option}={value}").expect("writing to a string");
        }
        if self.logs {
            let prefix = format!("{:03}", self.number);
            writeln!(
                text,
                "write_lat_log={prefix}\nwrite_iops_log={prefix}\nwrite_bw_log={prefix}\n\
                 log_avg_msec=1000\nper_job_logs=0"
            )
            .expect("writing to a string");
        }
        text
    }

    /// The stem of its files in the bundle: `007`.
    pub fn stem(&self) -> String {
        format!("{:03}", self.number)
    }

    /// Job threads that it starts.
    pub fn jobs(&self) -> u64 {
        let jobs = self.option("numjobs").and_then(|text| text.parse().ok());
        jobs.unwrap_or(1).max(1)
    }

    /// Entries that fio's JSON has for it.
    pub fn reported_jobs(&self) -> usize {
        let grouped = self
            .option("group_reporting")
            .is_some_and(|flag| flag != "0");
        if grouped { 1 } else { self.jobs() as usize }
    }

    fn option(&self, name: &str) -> Option<&str> {
        self.options.get(name).map(String::as_str)
    }

    /// Seconds of ramp and running time, if the step is limited by time.
    pub fn timed_s(&self) -> Option<f64> {
        let runtime = units::fio_seconds(self.option("runtime")?)?;
        let ramp = self.option("ramp_time").and_then(units::fio_seconds);
        Some(runtime + ramp.unwrap_or(0.0))
    }

    /// True if the step ends only by its time.
    pub fn endless(&self) -> bool {
        self.timed_s().is_some() && self.option("time_based").is_some_and(|flag| flag != "0")
    }

    /// Bytes the step moves if nothing but its sizes ends it.
    pub fn sized_bytes(&self, capacity: u64) -> u64 {
        let number = |name: &str| self.option(name).and_then(|text| text.parse::<u64>().ok());
        let size = self
            .option("io_size")
            .or_else(|| self.option("size"))
            .and_then(|text| units::fio_bytes(text, capacity))
            .unwrap_or(capacity);
        let loops = number("loops").unwrap_or(1).max(1);
        size.saturating_mul(loops).saturating_mul(self.jobs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::BUILT_IN;

    fn setting() -> Setting {
        Setting {
            capacity_bytes: 1 << 40,
            area_bytes: 32_000_000_000 / MIB * MIB,
            discard: true,
            ..Setting::default()
        }
    }

    fn steps(name: &str) -> Vec<Step> {
        expand(&Plan::load(name).unwrap(), &setting()).unwrap()
    }

    #[test]
    fn profiles_are_the_five_at_nine_depths() {
        let steps = steps("profiles");
        assert_eq!(steps.len(), 45);
        assert_eq!(steps[0].name, "database iodepth=1");
        assert_eq!(steps[8].name, "database iodepth=512");
        assert_eq!(steps[44].name, "restore iodepth=512");
        assert_eq!(steps[0].options["rwmixread"], "67");
        assert_eq!(steps[0].options["size"], "31999393792");
    }

    #[test]
    fn pts_iops_keeps_order_and_nesting() {
        let steps = steps("pts-iops");
        assert_eq!(steps[0].purpose, Purpose::Purge);
        let rounds: Vec<&Step> = steps.iter().filter(|step| step.stage == "rounds").collect();
        assert_eq!(rounds.len(), 25 * 7 * 8);
        let mixes = [100, 95, 65, 50, 35, 5, 0];
        let blocks = ["1024k", "128k", "64k", "32k", "16k", "8k", "4k", "512"];
        for (index, step) in rounds[..56].iter().enumerate() {
            assert_eq!(step.options["rwmixread"], mixes[index / 8].to_string());
            assert_eq!(step.options["bs"], blocks[index % 8]);
            assert_eq!(step.timed_s(), Some(60.0));
        }
        let fill = steps
            .iter()
            .find(|step| step.stage == "precondition")
            .unwrap();
        assert_eq!(fill.sized_bytes(1 << 40), 2 << 40, "twice the capacity");
    }

    #[test]
    fn every_built_in_plan_expands_and_has_a_reading_part_or_says_so() {
        for (name, _) in BUILT_IN {
            let plan = Plan::load(name).unwrap();
            assert!(!expand(&plan, &setting()).unwrap().is_empty());
            let read_only = Setting {
                read_only: true,
                ..setting()
            };
            match expand(&plan, &read_only) {
                Ok(steps) => assert!(steps.iter().all(|step| !step.writes), "{name}"),
                Err(faults) => assert!(faults[0].contains("nothing is left"), "{name}"),
            }
        }
    }

    #[test]
    fn no_two_steps_draw_the_same_offsets() {
        let steps = steps("pts-latency");
        let seeds: std::collections::BTreeSet<&String> =
            steps.iter().map(|step| &step.options["randseed"]).collect();
        assert_eq!(seeds.len(), steps.len());
    }

    #[test]
    fn only_reading_is_reading() {
        let options = |rw: &str| BTreeMap::from([("rw".to_owned(), rw.to_owned())]);
        assert!(!writes(&options("randread")));
        assert!(!writes(&options("read:8")));
        assert!(!writes(&BTreeMap::new()));
        for rw in ["write", "randrw", "trim", "trimwrite", "readwrite"] {
            assert!(writes(&options(rw)), "{rw}");
        }
    }

    #[test]
    fn placeholders_are_bytes() {
        let setting = setting();
        assert_eq!(
            resolve("{capacity/4}", &setting).unwrap(),
            (1u64 << 38).to_string()
        );
        assert!(resolve("{caps}", &setting).unwrap_err().contains("allowed"));
        assert!(resolve("{area", &setting).is_err());
        assert!(resolve("{area/0}", &setting).is_err());
        let small = Setting {
            capacity_bytes: MIB,
            area_bytes: MIB,
            ..Setting::default()
        };
        assert!(
            resolve("{area/8}", &small)
                .unwrap_err()
                .contains("less than 1 MiB")
        );
    }

    #[test]
    fn a_job_file_escapes_colons() {
        let text = steps("quick")[0].job_file("/dev/disk/by-path/pci-0000:00");
        assert!(
            text.contains("filename=/dev/disk/by-path/pci-0000\\:00\n"),
            "{text}"
        );
        assert!(text.contains("thread=1\n"));
    }
}
