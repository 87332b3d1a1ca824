//! Simulated targets: all steps in one run of fio.
//!
//! The simulated system lives inside fio. Each step needs the state that the step before left (a
//! filled SSD, a warm SSD cache). So all steps run in one process, one after the other, and fio's
//! answer is split afterwards. Virtual time makes this quick. An interrupted run begins again and,
//! with the same seeds, gives the same figures.

use crate::campaign::{Campaign, logs};
use crate::estimate;
use crate::fio;
use crate::manifest::{State, StepRecord};
use crate::progress::{Moment, Progress};
use crate::runner::End;
use crate::simulated;
use crate::step::Step;
use crate::stop::Stop;
use crate::units::timestamp;
use serde_json::Value;
use std::fs;
use std::time::Duration;

/// fio's answer, removed after it is split.
const ANSWER: &str = "all.json.part";
const JOBS: &str = "all.fio.part";

impl Campaign<'_> {
    /// Runs the whole plan, if any step of it is left. Returns the number of steps done.
    pub(crate) fn run_continuously(&mut self, progress: &mut Progress) -> Result<usize, Stop> {
        let steps: Vec<Step> = self
            .bundle
            .manifest
            .steps
            .iter()
            .map(|r| r.step.clone())
            .collect();
        let left = |record: &StepRecord| matches!(record.state, State::Pending | State::Failed);
        if !self.bundle.manifest.steps.iter().any(left) {
            return Ok(0);
        }
        let start = timestamp();
        let document = self.answer(&steps, progress)?;
        let end = timestamp();
        let parts = split(&document, &steps).map_err(Stop::Failed)?;
        let mut done = 0;
        for (index, part) in parts.iter().enumerate() {
            self.settle(progress);
            if !left(&self.bundle.manifest.steps[index]) {
                continue;
            }
            let mut record = StepRecord::pending(steps[index].clone());
            record.start = Some(start.clone());
            record.end = Some(end.clone());
            self.record(index, record, part, progress)?;
            done += 1;
        }
        Ok(done)
    }

    /// Commits a step with its part of fio's answer.
    fn record(
        &mut self,
        index: usize,
        mut record: StepRecord,
        part: &Value,
        progress: &mut Progress,
    ) -> Result<(), Stop> {
        let stem = record.step.stem();
        let mut names = vec![format!("{stem}.fio"), format!("{stem}.json")];
        let job = record.step.job_file(&self.target.record.path);
        self.bundle.write_step_file(&names[0], job.as_bytes())?;
        let text = serde_json::to_string_pretty(part).expect("plain data");
        self.bundle.write_step_file(&names[1], text.as_bytes())?;
        names.extend(logs(&self.bundle.steps_folder(), &stem));
        let fault =
            |message| Stop::failed(format!("step {stem} `{}`: {message}", record.step.name));
        record.summary = Some(fio::summarize(part).map_err(fault)?);
        self.finish(index, record, &names, progress)
    }

    /// fio's answer to all steps.
    fn answer(&self, steps: &[Step], progress: &mut Progress) -> Result<Value, Stop> {
        let folder = self.bundle.steps_folder();
        let path = folder.join(JOBS);
        fs::write(&path, job_file(steps, &self.target.record.path))
            .map_err(|error| Stop::io("write", &path, &error))?;
        let command = [
            self.fio.path.display().to_string(),
            format!("--output={ANSWER}"),
            "--output-format=json+".to_owned(),
            "--eta=always".to_owned(),
            JOBS.to_owned(),
        ];
        let limit: Duration = steps
            .iter()
            .map(|step| estimate::limit(step, self.target.record.size_bytes, self.grace))
            .sum();
        let groups: Vec<String> = steps.iter().map(|step| step.jobs().to_string()).collect();
        let runner = self.runner.with(simulated::GROUPS, groups.join(","));
        let mut iops = None;
        let finished = runner.run(&command, &folder, limit, |piece| {
            iops = fio::live_iops(piece).or(iops);
            progress.tick(Moment {
                number: 1,
                steps: steps.len(),
                name: "all steps in one run, in virtual time",
                iops,
                left_s: None,
                steady: None,
            });
        })?;
        let answer = fs::read(folder.join(ANSWER)).unwrap_or_default();
        for name in [JOBS, ANSWER] {
            let _ = fs::remove_file(folder.join(name));
        }
        if finished.end != End::Code(0) {
            return Err(Stop::failed(fio::complaint(&finished)));
        }
        fio::parse_json(&answer).map_err(Stop::Failed)
    }
}

/// All steps as one job file; each waits for the one before.
fn job_file(steps: &[Step], filename: &str) -> String {
    steps
        .iter()
        .map(|step| format!("{}stonewall=1\n", step.job_file(filename)))
        .collect()
}

/// fio's answer as one document for each step: the same head, the step's own jobs.
fn split(document: &Value, steps: &[Step]) -> Result<Vec<Value>, String> {
    let jobs = document["jobs"]
        .as_array()
        .ok_or("fio's JSON has no jobs")?;
    let mut rest = jobs.as_slice();
    let mut parts = Vec::with_capacity(steps.len());
    for step in steps {
        let count = step.reported_jobs();
        let named = |job: &Value| job["jobname"].as_str() == Some(&step.name);
        if rest.len() < count || !rest[..count].iter().all(named) {
            return Err(format!(
                "step {} `{}`: fio reports other jobs",
                step.stem(),
                step.name
            ));
        }
        let (own, later) = rest.split_at(count);
        let mut part = document.clone();
        part["jobs"] = Value::Array(own.to_vec());
        parts.push(part);
        rest = later;
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::Purpose;
    use serde_json::json;

    fn step(number: usize, name: &str, options: &[(&str, &str)]) -> Step {
        Step {
            number,
            name: name.to_owned(),
            stage: "s".to_owned(),
            round: 1,
            purpose: Purpose::Measure,
            writes: false,
            logs: false,
            options: options
                .iter()
                .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
                .collect(),
        }
    }

    #[test]
    fn the_answer_is_split_by_step() {
        let grouped = [("numjobs", "2"), ("group_reporting", "1")];
        let steps = [
            step(1, "a", &grouped),
            step(2, "b", &[("numjobs", "2")]),
            step(3, "a", &[]),
        ];
        let job = |name: &str, iops: u32| json!({"jobname": name, "iops": iops});
        let jobs = [job("a", 1), job("b", 2), job("b", 3), job("a", 4)];
        let document = json!({"fio version": "fio-3.33", "jobs": jobs});
        let parts = split(&document, &steps).unwrap();
        assert_eq!(parts[0]["jobs"], json!([job("a", 1)]));
        assert_eq!(parts[1]["jobs"], json!([job("b", 2), job("b", 3)]));
        assert_eq!(parts[2]["jobs"], json!([job("a", 4)]));
        assert_eq!(parts[2]["fio version"], "fio-3.33");
        let short = json!({"jobs": [job("a", 1), job("a", 2)]});
        assert!(split(&short, &steps).unwrap_err().contains("step 002 `b`"));
    }

    #[test]
    fn every_step_waits_for_the_one_before() {
        let text = job_file(&[step(1, "a", &[]), step(2, "b", &[])], "f");
        assert_eq!(text.matches("stonewall=1").count(), 2);
    }
}
