//! Progress: one live line on a terminal, plain lines elsewhere, or events
//! as JSON lines on standard output.

use crate::text::message;
use crate::units::show_seconds;
use serde_json::{Value, json};
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// How often the live line changes, and how often a plain line is added within a step.
const LIVE: Duration = Duration::from_millis(500);
const PLAIN: Duration = Duration::from_secs(30);

/// Who reads the progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// A program: JSON lines on standard output.
    Json,
    /// A person: text on standard error.
    Text,
}

/// How to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Json,
    Terminal,
    Plain,
}

/// Shows the progress of a measurement.
pub struct Progress {
    form: Form,
    shown: Instant,
    live: bool,
}

/// The state within a step.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// Step's number.
    pub number: usize,
    /// Number of steps.
    pub steps: usize,
    /// Step's name.
    pub name: &'a str,
    /// Present rate.
    pub iops: Option<f64>,
    /// Of the whole plan; none in virtual time.
    pub left_s: Option<f64>,
    /// The state of the steady-state test.
    pub steady: Option<&'a str>,
}

impl Progress {
    /// JSON events, or the form of text that fits standard error.
    pub fn new(output: Output) -> Progress {
        let form = match output {
            Output::Json => Form::Json,
            Output::Text if std::io::stderr().is_terminal() => Form::Terminal,
            Output::Text => Form::Plain,
        };
        Progress {
            form,
            shown: Instant::now(),
            live: false,
        }
    }

    /// An event: its name and fields for machines, a line for people.
    pub fn event(&mut self, name: &str, fields: Value, line: &str) {
        if self.form == Form::Json {
            let mut event = json!({"event": name, "time": crate::units::timestamp()});
            if let (Value::Object(event), Value::Object(fields)) = (&mut event, fields) {
                event.extend(fields);
            }
            let mut out = std::io::stdout().lock();
            // A closed pipe must not stop the measurement.
            let _ = writeln!(out, "{event}").and_then(|()| out.flush());
        } else {
            self.end_live();
            let _ = writeln!(std::io::stderr(), "{}", message(line));
        }
        self.shown = Instant::now();
    }

    /// Something the user should know.
    pub fn warn(&mut self, message: &str) {
        self.event(
            "warning",
            json!({"message": message}),
            &format!("note: {message}"),
        );
    }

    /// Called often; shows when it is time to.
    pub fn tick(&mut self, moment: Moment<'_>) {
        let pause = if self.form == Form::Plain {
            PLAIN
        } else {
            LIVE
        };
        if self.shown.elapsed() < pause {
            return;
        }
        let line = show(&moment);
        if self.form == Form::Terminal {
            let mut out = std::io::stderr().lock();
            let _ = write!(out, "\r\x1b[K{}", message(&line)).and_then(|()| out.flush());
            self.live = true;
            self.shown = Instant::now();
        } else {
            let fields = json!({
                "number": moment.number, "name": moment.name, "iops": moment.iops,
                "left_s": moment.left_s, "steady_state": moment.steady,
            });
            self.event("progress", fields, &line);
        }
    }

    fn end_live(&mut self) {
        if std::mem::take(&mut self.live) {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

fn show(moment: &Moment<'_>) -> String {
    let rate = moment
        .iops
        .map_or(String::new(), |iops| format!(" | {iops:.0} IO/s"));
    let steady = moment
        .steady
        .map_or(String::new(), |steady| format!(" | {steady}"));
    let left = moment.left_s.map_or(String::new(), |left| {
        format!(" | {} left", show_seconds(left))
    });
    format!(
        "[{}/{}] {}{rate}{left}{steady}",
        moment.number, moment.steps, moment.name
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_holds_rate_time_left_and_steady_state() {
        let moment = Moment {
            number: 3,
            steps: 45,
            name: "database iodepth=8",
            iops: Some(1234.4),
            left_s: Some(61.0),
            steady: Some("round 2, not steady yet"),
        };
        assert_eq!(
            show(&moment),
            "[3/45] database iodepth=8 | 1234 IO/s | 1m 01s left | round 2, not steady yet"
        );
    }
}
