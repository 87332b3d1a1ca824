//! Runs the steps of a plan one after the other; each is on disk before the next begins.

use crate::bundle::{self, Bundle};
use crate::estimate;
use crate::fio::{self, Fio};
use crate::identity;
use crate::manifest::{Manifest, State, SteadyRecord, StepRecord};
use crate::noise::Watch;
use crate::plan::Plan;
use crate::progress::{Moment, Progress};
use crate::repeats::{Patience, show_spreads, spreads};
use crate::runner::{End, Runner};
use crate::steady_state::assess;
use crate::step::{Purpose, Step};
use crate::stop::Stop;
use crate::target::Target;
use crate::units::timestamp;
use serde_json::json;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Jobs that one `fio --parse-only` is given; fio has a limit on threads.
const PARSED_AT_ONCE: usize = 100;

/// Everything a run of the plan needs.
pub struct Campaign<'a> {
    /// The bundle.
    pub bundle: Bundle,
    /// What is measured.
    pub target: &'a Target,
    /// The plan.
    pub plan: &'a Plan,
    /// The generator.
    pub fio: &'a Fio,
    /// Starts the generator.
    pub runner: &'a Runner,
    /// Beyond its expected time, fio counts as hanging.
    pub grace: Duration,
    /// For the time left.
    pub assumed_bytes_per_s: f64,
    /// Watches the machine; none for a simulated target.
    pub watch: Option<Watch<'a>>,
    /// How often noisy steps are measured again.
    pub patience: Patience,
}

/// Lets fio parse every distinct step; all faults at once.
pub fn check_options(
    fio: &Fio,
    runner: &Runner,
    steps: &[Step],
    filename: &str,
    folder: &Path,
) -> Result<(), Stop> {
    let mut distinct: Vec<&Step> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for step in steps {
        if seen.insert((&step.stage, &step.name)) {
            distinct.push(step);
        }
    }
    let job = bundle::temporary(folder).map_err(|error| Stop::io("write in", folder, &error))?;
    let job = job.path();
    let mut faults = Vec::new();
    for batch in distinct.chunks(PARSED_AT_ONCE) {
        let text: String = batch
            .iter()
            .map(|step| parse_text(step, filename))
            .collect();
        if parse(fio, runner, job, &text)?.is_none() {
            continue;
        }
        for step in batch {
            if let Some(fault) = parse(fio, runner, job, &parse_text(step, filename))? {
                let fault = fault.replace('\n', "; ");
                faults.push(format!(
                    "plan, stage `{}`, step `{}`: {fault}",
                    step.stage, step.name
                ));
            }
        }
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(Stop::Refused(faults))
    }
}

/// One thread a step is enough to parse it.
fn parse_text(step: &Step, filename: &str) -> String {
    let mut step = step.clone();
    step.logs = false;
    if step
        .options
        .get("numjobs")
        .is_some_and(|text| text.parse::<u32>().is_ok())
    {
        step.options.remove("numjobs");
    }
    step.job_file(filename)
}

fn parse(fio: &Fio, runner: &Runner, job: &Path, text: &str) -> Result<Option<String>, Stop> {
    fs::write(job, text).map_err(|error| Stop::io("write", job, &error))?;
    fio.parse_only(job, runner)
}

impl Campaign<'_> {
    /// Runs what is left. Returns the number of steps done in this session.
    pub fn run(&mut self, progress: &mut Progress) -> Result<usize, Stop> {
        self.lay_out_again(progress)?;
        if self.bundle.manifest.end.is_none() {
            self.target.grow()?;
        }
        let mut done = 0;
        if self.target.simulated.is_some() {
            done = self.run_continuously(progress)?;
        }
        loop {
            self.settle(progress);
            let steps = &self.bundle.manifest.steps;
            let open = |record: &StepRecord| matches!(record.state, State::Pending | State::Failed);
            let Some(index) = steps.iter().position(open) else {
                break;
            };
            self.run_step(index, progress)?;
            done += 1;
        }
        if self.bundle.manifest.end.is_none() {
            self.bundle.manifest.end = Some(timestamp());
        }
        self.conclude(done, progress);
        self.bundle.save()?;
        self.target.remove(self.bundle.manifest.created_file)?;
        Ok(done)
    }

    /// States the spread of repeats, noisy steps, and what the device does at rest.
    fn conclude(&mut self, done: usize, progress: &mut Progress) {
        let manifest = &mut self.bundle.manifest;
        manifest.spreads = spreads(self.plan, &manifest.steps);
        if let Some(watch) = self.watch.as_mut().filter(|_| done > 0) {
            manifest.rest_after = watch.rest();
        }
        if let Some(line) = show_spreads(&manifest.spreads) {
            progress.event("spread", json!({"spreads": manifest.spreads}), &line);
        }
        let noisy: Vec<usize> = manifest
            .steps
            .iter()
            .filter(|record| !record.noisy.is_empty())
            .map(|record| record.step.number)
            .collect();
        if !noisy.is_empty() {
            let (count, all) = (noisy.len(), manifest.steps.len());
            let line = format!("{count} of {all} steps are noisy: {noisy:?}");
            progress.event("noisy", json!({"steps": noisy}), &line);
        }
    }

    /// Ends the rounds of stages that have enough of them, and reports new outcomes.
    pub(crate) fn settle(&mut self, progress: &mut Progress) {
        for record in settle(&mut self.bundle.manifest, self.plan) {
            let line = format!("{}: {}", record.stage, show_steady(&record));
            progress.event("steady_state", json!(record), &line);
        }
    }

    /// Plans the layout step again if the target file was removed since the last session.
    fn lay_out_again(&mut self, progress: &mut Progress) -> Result<(), Stop> {
        let manifest = &mut self.bundle.manifest;
        let left = manifest
            .steps
            .iter()
            .any(|record| matches!(record.state, State::Pending | State::Failed));
        let layout = manifest
            .steps
            .iter_mut()
            .find(|record| record.step.purpose == Purpose::Layout);
        if let Some(layout) = layout.filter(|layout| layout.state == State::Done) {
            if left && !self.target.laid_out() {
                *layout = StepRecord::pending(layout.step.clone());
                let message = "the target file was missing and was laid out again".to_owned();
                progress.warn(&message);
                manifest.warnings.push(message);
                self.bundle.save()?;
            }
        }
        Ok(())
    }

    fn run_step(&mut self, index: usize, progress: &mut Progress) -> Result<(), Stop> {
        let mut record = StepRecord::pending(self.bundle.manifest.steps[index].step.clone());
        let step = record.step.clone();
        let stem = step.stem();
        let mut names = vec![format!("{stem}.fio"), format!("{stem}.json")];
        self.bundle.write_step_file(
            &names[0],
            step.job_file(&self.target.record.path).as_bytes(),
        )?;
        self.note_writes(&step)?;
        let before = self.temperature();
        record.start = Some(timestamp());
        let outcome = self.measure_quietly(&mut record, index, progress);
        record.end = Some(timestamp());
        record.temperature_c =
            Some([before, self.temperature()]).filter(|pair| pair.iter().any(Option::is_some));
        let summary = match outcome {
            Ok(summary) => summary,
            Err(stop) => {
                if let Stop::Failed(message) = &stop {
                    record.state = State::Failed;
                    record.error = Some(message.clone());
                    let message = message.clone();
                    self.bundle.manifest.steps[index] = record;
                    // A full disk: why the step failed matters more than that this is not stored.
                    if let Err(second) = self.bundle.save() {
                        return Err(Stop::Failed(format!("{message}; {second}")));
                    }
                }
                return Err(stop);
            }
        };
        let folder = self.bundle.steps_folder();
        let part = folder.join(format!("{stem}.json.part"));
        bundle::publish(&part, &folder.join(&names[1]))?;
        names.extend(logs(&folder, &stem));
        record.summary = Some(summary);
        self.finish(index, record, &names, progress)
    }

    /// Puts on disk that the target holds the collector's own data from now on.
    fn note_writes(&mut self, step: &Step) -> Result<(), Stop> {
        if step.writes && self.bundle.manifest.written_since.is_none() {
            self.bundle.manifest.written_since = Some(timestamp());
            self.bundle.save()?;
        }
        Ok(())
    }

    /// Commits a finished step and reports it.
    pub(crate) fn finish(
        &mut self,
        index: usize,
        record: StepRecord,
        names: &[String],
        progress: &mut Progress,
    ) -> Result<(), Stop> {
        let (step, summary) = (record.step.clone(), record.summary.unwrap_or_default());
        self.bundle.commit(index, record, names)?;
        let total = self.bundle.manifest.steps.len();
        let line = format!(
            "[{}/{total}] {} (round {}): {:.0} IO/s, {:.1} MiB/s, {:.1} us",
            step.number,
            step.name,
            step.round,
            summary.iops,
            summary.bytes_per_s / 1048576.0,
            summary.latency_us
        );
        let fields = json!({
            "number": step.number, "steps": total, "name": step.name, "stage": step.stage,
            "round": step.round, "summary": summary,
        });
        progress.event("step_done", fields, &line);
        Ok(())
    }

    pub(crate) fn measure(
        &self,
        step: &Step,
        index: usize,
        mut watch: Option<&mut Watch<'_>>,
        progress: &mut Progress,
    ) -> Result<fio::Summary, Stop> {
        let manifest = &self.bundle.manifest;
        let capacity = self.target.record.size_bytes;
        let started = Instant::now();
        let pending = manifest.steps[index..]
            .iter()
            .filter(|record| record.state == State::Pending)
            .map(|record| &record.step);
        let left_s = estimate::total(pending, capacity, self.assumed_bytes_per_s).seconds();
        let steady = manifest
            .steady_state
            .iter()
            .find(|record| record.stage == step.stage)
            .map(show_steady);
        let mut iops = None;
        let on_output = |piece: &str| {
            iops = fio::live_iops(piece).or(iops);
            if let Some(watch) = &mut watch {
                watch.tick();
            }
            progress.tick(Moment {
                number: step.number,
                steps: manifest.steps.len(),
                name: &step.name,
                iops,
                left_s: Some((left_s - started.elapsed().as_secs_f64()).max(0.0)),
                steady: steady.as_deref(),
            });
        };
        let folder = self.bundle.steps_folder();
        let part = format!("{}.json.part", step.stem());
        let command = self.command(step, &part);
        let limit = estimate::limit(step, capacity, self.grace);
        let finished = self.runner.run(&command, &folder, limit, on_output)?;
        let fault = |message: String| {
            Stop::failed(format!("step {} `{}`: {message}", step.stem(), step.name))
        };
        let written = fs::read(folder.join(&part)).unwrap_or_default();
        if finished.end != End::Code(0) {
            // A job's own error is clearer than the exit code, if fio wrote it.
            let inner = fio::read_result(&written)
                .err()
                .filter(|text| text.starts_with("job "));
            let inner = inner.map_or(String::new(), |text| format!("{text}; "));
            return Err(fault(inner + &fio::complaint(&finished)));
        }
        fio::read_result(&written).map_err(fault)
    }

    fn command(&self, step: &Step, part: &str) -> Vec<String> {
        let mut command = vec![
            self.fio.path.display().to_string(),
            format!("--output={part}"),
            "--output-format=json+".to_owned(),
            "--eta=always".to_owned(),
        ];
        if !step.writes {
            command.push("--readonly".to_owned());
        }
        command.push(format!("{}.fio", step.stem()));
        command
    }

    fn temperature(&self) -> Option<f64> {
        identity::temperature_c(self.target.device.as_ref()?)
    }
}

/// fio's logs of that step: `007_lat.1.log`.
pub(crate) fn logs(folder: &Path, stem: &str) -> Vec<String> {
    crate::sysfs::entries(folder)
        .into_iter()
        .filter(|name| name.starts_with(&format!("{stem}_")) && name.ends_with(".log"))
        .collect()
}

/// Ends the rounds of every stage that has enough of them, and records the outcome of its test.
///
/// It depends on the finished steps alone, so a resumed bundle ends alike.
/// Returns the tests whose outcome is new.
pub fn settle(manifest: &mut Manifest, plan: &Plan) -> Vec<SteadyRecord> {
    let mut news = Vec::new();
    for stage in &plan.stages {
        let capacity = manifest.plan.setting.capacity_bytes;
        let of_stage: Vec<&StepRecord> = manifest
            .steps
            .iter()
            .filter(|record| record.step.stage == stage.name)
            .collect();
        let rounds = whole_rounds(&of_stage);
        let mut enough = false;
        if let Some(times) = stage.written_capacities {
            let written: u64 = of_stage
                .iter()
                .filter_map(|record| record.summary)
                .map(|summary| summary.written_bytes)
                .sum();
            enough |= written as f64 >= times * capacity as f64;
        }
        if let Some(steady) = &stage.steady_state {
            let values: Vec<f64> = of_stage
                .iter()
                .filter(|record| record.step.name == steady.step && record.step.round <= rounds)
                .filter_map(|record| record.summary)
                .map(|summary| summary.tracked(steady.value))
                .collect();
            let assessment = assess(&values, steady.criteria);
            let reached = assessment.as_ref().is_some_and(|found| found.steady);
            enough |= reached;
            let value = json!(steady.value);
            let record = SteadyRecord {
                stage: stage.name.clone(),
                tracked: format!("{} of {}", value.as_str().unwrap_or_default(), steady.step),
                reached,
                rounds,
                assessment,
            };
            news.extend(remember(&mut manifest.steady_state, record));
        }
        if enough {
            for record in &mut manifest.steps {
                let later = record.step.stage == stage.name && record.step.round > rounds;
                if later && record.state != State::Done {
                    record.state = State::NotNeeded;
                }
            }
        }
    }
    news
}

/// Rounds from the first on of which every step is done.
fn whole_rounds(steps: &[&StepRecord]) -> u32 {
    let open = steps.iter().find(|record| record.state != State::Done);
    match (open, steps.last()) {
        (Some(record), _) => record.step.round - 1,
        (None, Some(last)) => last.step.round,
        (None, None) => 0,
    }
}

fn remember(records: &mut Vec<SteadyRecord>, record: SteadyRecord) -> Option<SteadyRecord> {
    if record.rounds == 0 {
        return None;
    }
    match records.iter_mut().find(|other| other.stage == record.stage) {
        Some(other) if *other == record => None,
        Some(other) => {
            *other = record.clone();
            Some(record)
        }
        None => {
            records.push(record.clone());
            Some(record)
        }
    }
}

/// The state of a steady-state test for people.
fn show_steady(record: &SteadyRecord) -> String {
    let Some(found) = &record.assessment else {
        return format!("round {}, steady state needs more rounds", record.rounds);
    };
    let percent = |value: f64| 100.0 * value / found.average;
    format!(
        "round {}, {} ({}): excursion {:.1} %, slope {:.1} % over the window",
        record.rounds,
        if record.reached {
            "steady"
        } else {
            "not steady yet"
        },
        record.tracked,
        percent(found.excursion),
        percent(found.fit_excursion),
    )
}
