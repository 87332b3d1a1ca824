//! Plans: what to measure, as data. Built-in ones are the TOML files of `plans/`; a user's own
//! has the same form (`docs/how-to/measure.md`).

use crate::steady_state::Criteria;
use crate::stop::Stop;
use crate::text::acts;
use crate::units;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        /// Names and texts of the built-in plans.
        pub const BUILT_IN: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("plans/", $name, ".toml")))),*];
    };
}

built_in!(
    "quick",
    "profiles",
    "pts-iops",
    "pts-throughput",
    "pts-latency",
    "pts-write-saturation",
    "compression",
    "area",
    "processes",
    "hot-spot",
);

/// Options of fio that the collector sets itself, each with the reason.
const OWN_OPTIONS: &[(&str, &str)] = &[
    ("filename", "the target is named on the command line"),
    ("directory", "the target is named on the command line"),
    ("filename_format", "the target is named on the command line"),
    ("opendir", "the target is named on the command line"),
    (
        "thread",
        "jobs run as threads, so that none outlives the collector",
    ),
    ("name", "the step's own name is used"),
    ("clocksource", "the collector sets it for simulated targets"),
    ("write_bw_log", "write `logs = true` in the step"),
    ("write_iops_log", "write `logs = true` in the step"),
    ("write_lat_log", "write `logs = true` in the step"),
    ("write_hist_log", "json+ has the whole histogram"),
    ("write_iolog", "a plan writes no files but its logs"),
    ("merge_blktrace_file", "a plan writes no files but its logs"),
    ("lockmem", "the machine is measured as it is"),
    ("ioscheduler", "the machine is measured as it is"),
    ("exec_prerun", "a plan runs nothing but fio"),
    ("exec_postrun", "a plan runs nothing but fio"),
    ("unlink", "the collector removes what it created"),
];

/// A value of an option, as TOML writes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OptionValue {
    /// `true` is 1 to fio.
    Flag(bool),
    /// A whole number.
    Whole(i64),
    /// A decimal number.
    Decimal(f64),
    /// Anything else, in fio's own words.
    Text(String),
}

impl std::fmt::Display for OptionValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            OptionValue::Flag(value) => write!(f, "{}", u8::from(*value)),
            OptionValue::Whole(value) => write!(f, "{value}"),
            OptionValue::Decimal(value) => write!(f, "{value}"),
            OptionValue::Text(value) => f.write_str(value),
        }
    }
}

/// Options of fio by name.
pub type Options = BTreeMap<String, OptionValue>;

/// One option that takes several values, one after the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// The option of fio.
    pub option: String,
    /// Its values, in order.
    pub values: Vec<OptionValue>,
}

/// One run of fio, or one for each combination of its sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepPlan {
    /// Unique within its stage.
    pub name: String,
    /// Options of this step, over those of the plan.
    #[serde(default)]
    pub options: Options,
    /// Outer axis first.
    #[serde(default)]
    pub sweep: Vec<Axis>,
    /// Keep fio's logs of rate and latency over time.
    #[serde(default)]
    pub logs: bool,
    /// Discards the whole target before anything else; skipped, with a note in the bundle,
    /// where the target cannot discard.
    #[serde(default)]
    pub purge: bool,
}

/// What a steady-state test looks at, round by round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tracked {
    /// I/Os a second, both directions together.
    Iops,
    /// Bytes a second, both directions together.
    BytesPerS,
    /// Mean latency of an I/O.
    LatencyUs,
}

/// When a stage's rounds are enough.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SteadyState {
    /// The full name of the step that is tracked, sweep included.
    pub step: String,
    /// Its value.
    pub value: Tracked,
    /// The criteria of the test.
    #[serde(default)]
    pub criteria: Criteria,
}

/// Steps that are done in order, once or in rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// Unique within the plan.
    pub name: String,
    /// Maximum number of rounds.
    #[serde(default = "one")]
    pub rounds: u32,
    /// Ends the rounds early, once steady.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady_state: Option<SteadyState>,
    /// Ends the rounds once this stage has written this multiple of the target's capacity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_capacities: Option<f64>,
    /// Axes inside those of every step of the stage.
    #[serde(default)]
    pub sweep: Vec<Axis>,
    /// The steps.
    #[serde(rename = "step")]
    pub steps: Vec<StepPlan>,
}

fn one() -> u32 {
    1
}

/// A whole plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Short name.
    pub name: String,
    /// One line.
    pub title: String,
    /// What `{area}` stands for; no more than the target has.
    #[serde(default = "default_area")]
    pub area: String,
    /// Options of all steps.
    #[serde(default)]
    pub options: Options,
    /// The stages, in order.
    #[serde(rename = "stage")]
    pub stages: Vec<Stage>,
}

fn default_area() -> String {
    "32 GB".to_owned()
}

impl Plan {
    /// The built-in plan of that name, or the plan in that file.
    pub fn load(name: &str) -> Result<Plan, Stop> {
        if let Some((_, text)) = BUILT_IN.iter().find(|(other, _)| *other == name) {
            return Plan::parse(text, name);
        }
        let path = Path::new(name);
        if !path.exists() && path.extension().is_none() {
            return Err(Stop::refused(unknown_name(
                "--plan",
                name,
                BUILT_IN.iter().map(|(name, _)| *name),
                "or the path of a TOML file",
            )));
        }
        let text = std::fs::read_to_string(path)
            .map_err(|error| Stop::refused(format!("{name}: cannot read the plan: {error}")))?;
        Plan::parse(&text, name)
    }

    /// Reads and checks a plan; `source` is named in messages.
    pub fn parse(text: &str, source: &str) -> Result<Plan, Stop> {
        let plan: Plan = toml::from_str(text)
            .map_err(|error| Stop::refused(format!("{source}: {}", error.to_string().trim())))?;
        let faults = plan.faults(source);
        if faults.is_empty() {
            Ok(plan)
        } else {
            Err(Stop::Refused(faults))
        }
    }

    fn faults(&self, source: &str) -> Vec<String> {
        let mut faults = Vec::new();
        if let Err(fault) = units::bytes(&self.area) {
            faults.push(format!("{source}: area: {fault}"));
        }
        if self.stages.is_empty() {
            faults.push(format!("{source}: stage: a plan needs at least one"));
        }
        check_own(&self.options, &format!("{source}: options"), &mut faults);
        for (index, stage) in self.stages.iter().enumerate() {
            let at = format!("{source}: stage `{}`", stage.name);
            if self.stages[..index]
                .iter()
                .any(|other| other.name == stage.name)
            {
                faults.push(format!("{at}: a second stage of that name"));
            }
            stage.faults(&at, &mut faults);
        }
        faults
    }
}

impl Stage {
    fn faults(&self, at: &str, faults: &mut Vec<String>) {
        if self.rounds == 0 {
            faults.push(format!("{at}: rounds: 0; allowed: 1 and more"));
        }
        if self.steps.is_empty() {
            faults.push(format!("{at}: step: a stage needs at least one"));
        }
        if self
            .written_capacities
            .is_some_and(|times| !times.is_finite() || times <= 0.0)
        {
            faults.push(format!("{at}: written_capacities: allowed: more than 0"));
        }
        check_axes(&self.sweep, at, faults);
        for step in &self.steps {
            let at = format!("{at}, step `{}`", step.name);
            if step.name.is_empty()
                || step
                    .name
                    .contains(|char| acts(char) || "[]/".contains(char))
            {
                faults.push(format!(
                    "{at}: name: may not be empty or contain `[`, `]`, `/`, control characters"
                ));
            }
            check_own(&step.options, &at, faults);
            check_axes(&step.sweep, &at, faults);
        }
        let names = self.full_names();
        for (index, name) in names.iter().enumerate() {
            if names[..index].contains(name) {
                faults.push(format!("{at}: two steps are named `{name}`"));
            }
        }
        if let Some(steady) = &self.steady_state {
            if !names.contains(&steady.step) {
                let allowed = names.iter().map(String::as_str);
                let key = format!("{at}: steady_state.step");
                faults.push(unknown_name(&key, &steady.step, allowed, ""));
            }
            if steady.criteria.window < 2 {
                faults.push(format!(
                    "{at}: steady_state.criteria.window: allowed: 2 and more"
                ));
            }
        }
    }

    fn full_names(&self) -> Vec<String> {
        self.steps
            .iter()
            .flat_map(|step| {
                let name = step.name.clone();
                combinations(step.sweep.iter().chain(&self.sweep))
                    .into_iter()
                    .map(move |combination| full_name(&name, &combination))
            })
            .collect()
    }
}

/// Every combination of the axes' values, the first axis outermost.
pub fn combinations<'a>(axes: impl Iterator<Item = &'a Axis>) -> Vec<Vec<(String, OptionValue)>> {
    axes.fold(vec![Vec::new()], |outer, axis| {
        let mut all = Vec::with_capacity(outer.len() * axis.values.len());
        for prefix in outer {
            for value in &axis.values {
                let mut combination = prefix.clone();
                combination.push((axis.option.clone(), value.clone()));
                all.push(combination);
            }
        }
        all
    })
}

/// A step's name with its place in the sweep: `database iodepth=8`.
pub fn full_name(name: &str, combination: &[(String, OptionValue)]) -> String {
    combination
        .iter()
        .fold(name.to_owned(), |text, (option, value)| {
            format!("{text} {option}={value}")
        })
}

fn check_axes(axes: &[Axis], at: &str, faults: &mut Vec<String>) {
    for axis in axes {
        if axis.values.is_empty() {
            faults.push(format!("{at}: sweep of `{}`: no values", axis.option));
        }
        let options = Options::from([(axis.option.clone(), OptionValue::Flag(true))]);
        check_own(&options, at, faults);
    }
}

fn check_own(options: &Options, at: &str, faults: &mut Vec<String>) {
    for name in options.keys() {
        if let Some((_, why)) = OWN_OPTIONS.iter().find(|(own, _)| own == name) {
            faults.push(format!("{at}: `{name}` is not a plan's to set: {why}"));
        }
    }
}

/// The message for a name that is not among `allowed`, with the nearest one.
pub fn unknown_name<'a>(
    key: &str,
    name: &str,
    allowed: impl Iterator<Item = &'a str>,
    more: &str,
) -> String {
    let allowed: Vec<&str> = allowed.collect();
    let nearest = allowed
        .iter()
        .map(|candidate| (strsim::jaro_winkler(name, candidate), *candidate))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(likeness, _)| *likeness > 0.7);
    let hint = nearest.map_or(String::new(), |(_, name)| {
        format!("; did you mean `{name}`?")
    });
    let more = if more.is_empty() {
        String::new()
    } else {
        format!(", {more}")
    };
    format!(
        "{key}: unknown `{name}`; allowed: {}{more}{hint}",
        allowed.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_plan_is_sound_and_named_after_its_file() {
        for (name, _) in BUILT_IN {
            let plan = Plan::load(name).unwrap_or_else(|stop| panic!("{stop}"));
            assert_eq!(&plan.name, name);
        }
    }

    #[test]
    fn the_first_axis_is_the_outer_one() {
        let axis = |option: &str, values: &[i64]| Axis {
            option: option.to_owned(),
            values: values
                .iter()
                .map(|value| OptionValue::Whole(*value))
                .collect(),
        };
        let axes = [axis("rwmixread", &[100, 0]), axis("iodepth", &[1, 2])];
        let names: Vec<String> = combinations(axes.iter())
            .iter()
            .map(|combination| full_name("x", combination))
            .collect();
        assert_eq!(
            names,
            [
                "x rwmixread=100 iodepth=1",
                "x rwmixread=100 iodepth=2",
                "x rwmixread=0 iodepth=1",
                "x rwmixread=0 iodepth=2",
            ]
        );
    }

    #[test]
    fn a_misspelt_plan_is_answered_with_the_nearest() {
        let stop = Plan::load("profile").unwrap_err();
        assert_eq!(stop.exit_code(), 2);
        assert!(
            stop.to_string().contains("did you mean `profiles`?"),
            "{stop}"
        );
    }

    #[test]
    fn all_faults_come_at_once() {
        let text = r#"
            name = "mine"
            title = "t"
            area = "32"
            [options]
            filename = "/dev/sda"
            [[stage]]
            name = "a"
            rounds = 0
            steady_state = { step = "x iodepth=2", value = "iops" }
            [[stage.step]]
            name = "x"
            sweep = [{ option = "iodepth", values = [1, 1] }]
        "#;
        let Stop::Refused(faults) = Plan::parse(text, "mine.toml").unwrap_err() else {
            panic!("must be refused");
        };
        let all = faults.join("\n");
        for part in [
            "area",
            "filename",
            "rounds",
            "two steps",
            "steady_state.step",
        ] {
            assert!(all.contains(part), "{part} missing in:\n{all}");
        }
        assert!(faults.iter().all(|fault| fault.starts_with("mine.toml")));
    }

    #[test]
    fn a_plan_acts_on_nothing_but_its_target() {
        let acting = ["exec_prerun", "write_iolog", "lockmem", "ioscheduler"];
        let lines: Vec<String> = acting
            .iter()
            .map(|name| format!("{name} = \"x\""))
            .collect();
        let text = format!(
            "name = 'x'\ntitle = 'y'\narea = '1 GB'\n[options]\n{}\n[[stage]]\nname = 'a'\n\
             [[stage.step]]\nname = 'b'\n",
            lines.join("\n")
        );
        let Stop::Refused(faults) = Plan::parse(&text, "mine.toml").unwrap_err() else {
            panic!("must be refused");
        };
        for name in acting {
            let own = format!("`{name}` is not a plan's to set");
            assert!(faults.iter().any(|fault| fault.contains(&own)), "{name}");
        }
    }

    #[test]
    fn an_unknown_key_names_the_line() {
        let stop = Plan::parse("name = 'x'\ntitel = 'y'\n", "mine.toml").unwrap_err();
        assert!(stop.to_string().contains("titel"), "{stop}");
        assert!(stop.to_string().contains("line 2"), "{stop}");
    }
}
