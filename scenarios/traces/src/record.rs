//! Which trace is read, and what a line of it says: a request on a disk.

use crate::beyond::Beyond;
use crate::columns::Columns;
use crate::fault::{Fault, Value};
use raidlab_io::Op;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Disks that a trace may have.
const MOST_UNITS: usize = 1 << 16;
const LARGEST_OFFSET: u64 = 1 << 60;
const LARGEST_SIZE: u64 = 1 << 40;
const LONGEST_US: f64 = 1e12;

/// Which trace, and how it is read.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The file, as it is or compressed.
    pub path: PathBuf,
    /// One of [`crate::FORMATS`].
    pub format: String,
    /// For `csv`: which column means what.
    #[serde(default)]
    pub columns: Option<Columns>,
    /// The disk whose requests are wanted; none for all of them, one disk after the other.
    #[serde(default)]
    pub unit: Option<String>,
    /// Bytes of the device; 0 if any offset is right.
    #[serde(default)]
    pub capacity: u64,
    /// What becomes of requests that end beyond the device.
    #[serde(default)]
    pub beyond: Beyond,
    /// Times between requests, times this.
    #[serde(default = "one")]
    pub slower: f64,
    /// Whether times become pauses: from a completion to the next request.
    #[serde(default)]
    pub pauses: bool,
    /// Whether trims are left out: the device has no such command.
    #[serde(default)]
    pub without_trims: bool,
}

impl Options {
    /// A file as it is, on no device in particular.
    pub fn new(path: &Path, format: &str) -> Options {
        Options {
            path: path.into(),
            format: format.into(),
            columns: None,
            unit: None,
            capacity: 0,
            beyond: Beyond::Refuse,
            slower: 1.0,
            pauses: false,
            without_trims: false,
        }
    }
}

fn one() -> f64 {
    1.0
}

/// A request as a line says it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Record {
    pub op: Op,
    /// Bytes.
    pub offset: u64,
    /// Bytes; 0 for a flush.
    pub bytes: u64,
    /// When it was issued; in a closed trace the pause after the request.
    pub time_ns: u64,
    /// Measured response time; NaN where there is none.
    pub response_us: f64,
    pub line: u64,
    /// The disk, by its place in [`Units`].
    pub unit: u32,
}

impl Record {
    /// What is not possible: which quantity, its value and what is allowed.
    pub(crate) fn impossible(&self) -> Option<(&'static str, Value, &'static str)> {
        if self.offset >= LARGEST_OFFSET {
            let value = match self.offset {
                // A product that does not fit.
                u64::MAX => Value::Text("2^64 bytes or more".to_owned()),
                offset => Value::Number(offset),
            };
            return Some(("offset", value, "0 to below 2^60 bytes"));
        }
        if self.op != Op::Flush && !(1..LARGEST_SIZE).contains(&self.bytes) {
            let allowed = "1 to below 2^40 bytes; leave out lines that move no data";
            return Some(("size", Value::Number(self.bytes), allowed));
        }
        if !self.response_us.is_nan() && !(0.0..LONGEST_US).contains(&self.response_us) {
            let allowed = "0 to below 1e12 us";
            let value = Value::Text(format!("{} us", self.response_us));
            return Some(("response time", value, allowed));
        }
        None
    }
}

/// The disks of a trace by their names.
#[derive(Default)]
pub(crate) struct Units {
    names: Vec<String>,
    known: HashMap<String, u32>,
    last: u32,
}

impl Units {
    /// The place of a disk.
    pub(crate) fn find(&mut self, name: &str) -> Result<u32, String> {
        // A trace of one disk mostly has no name for it. An empty text is known by its length
        // alone: to compare its bytes takes 80 ns, as they lie nowhere.
        let is_last = |last: &String| match name.is_empty() {
            true => last.is_empty(),
            false => last == name,
        };
        if self.names.get(self.last as usize).is_some_and(is_last) {
            return Ok(self.last);
        }
        self.last = match self.known.get(name) {
            Some(&unit) => unit,
            None if self.names.len() == MOST_UNITS => {
                return Err(format!("at most {MOST_UNITS} disks"));
            }
            None => {
                let unit = self.names.len() as u32;
                self.names.push(name.to_owned());
                self.known.insert(name.to_owned(), unit);
                unit
            }
        };
        Ok(self.last)
    }

    pub(crate) fn name(&self, unit: u32) -> &str {
        &self.names[unit as usize]
    }
}

/// Why a line gives no record.
pub(crate) enum Wrong {
    /// What is allowed instead of the line.
    Line(String),
    /// Nothing behind it can be read.
    File(Vec<Fault>),
}

impl From<String> for Wrong {
    fn from(allowed: String) -> Wrong {
        Wrong::Line(allowed)
    }
}
