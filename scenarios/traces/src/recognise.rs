//! Which format a file has, by its first lines.

use crate::columns::Columns;
use crate::fault::{Fault, Value};
use crate::formats::FORMATS;
use crate::formats::Reader;
use crate::header::{self, Header};
use crate::input::Lines;
use crate::record::{Options, Units};
use crate::table::{is_header, names, separator, split};
use std::collections::VecDeque;
use std::path::Path;

/// Lines that are tried.
const TRIED: usize = 200;

/// Requests a second below which times of whole numbers are hardly milliseconds.
const SLOWEST_PER_S: f64 = 1.0;

/// The format of a trace, and for `csv` what its columns mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Recognised {
    /// One of [`FORMATS`].
    pub format: &'static str,
    /// By the names of the first line.
    pub columns: Option<Columns>,
}

/// The format of a trace.
///
/// Every format but `csv` is tried on the first lines. The one that reads most of them, and more
/// than half, is the file's. A first line that names columns has the last word: it agrees with the
/// format, or its names and units say what the columns are.
///
/// # Errors
/// The file cannot be read, is of no format that is known, or names columns without saying all that
/// a request needs.
pub fn recognise(path: &Path) -> Result<Recognised, Fault> {
    let mut lines = Lines::open(path)?;
    let mut first = Vec::new();
    while first.len() < TRIED {
        let Some((number, line)) = lines.next()? else {
            break;
        };
        let line = line.trim();
        if !line.is_empty() && !line.starts_with('#') {
            first.push((number, line.to_owned()));
        }
    }
    let Some((number, top)) = first.first().cloned() else {
        return Err(Fault::of_file("at least one request"));
    };
    let first: Vec<String> = first.into_iter().map(|(_, line)| line).collect();
    let scored = FORMATS.iter().filter(|&&format| format != "csv");
    let scored = scored.map(|&format| (score(path, format, &first), format));
    if let Some((score, format)) = scored.max_by_key(|&(score, _)| score)
        && 2 * score > first.len()
    {
        let format = if ["disksim-ascii", "mqsim"].contains(&format) {
            of_five(&first)
        } else {
            format
        };
        let columns = None;
        return Ok(Recognised { format, columns });
    }
    if is_header(&top) {
        return by_names(&top, number, &first[1..]);
    }
    let known = FORMATS.join(", ");
    let allowed = format!(
        "a trace of a format that is recognised; --format says which of {known}; a table without \
         names needs a line above it that names them, with units: time_us,op,offset_bytes,size_bytes"
    );
    let shown = top.chars().take(80).collect();
    Err(Fault::at("", Value::Text(shown), allowed))
}

/// A table whose names say what its columns are.
fn by_names(top: &str, number: u64, rows: &[String]) -> Result<Recognised, Fault> {
    let separator = separator(top);
    let rows: Vec<Vec<String>> = rows.iter().map(|row| split(row, separator)).collect();
    match header::read(&names(top), &rows) {
        Header::Whole(columns) => Ok(Recognised {
            format: "csv",
            columns: Some(*columns),
        }),
        Header::Unclear { missing, proposal } => {
            let allowed = format!(
                "names that say which column is what, in which unit, such as time_us and \
                 offset_bytes ({missing}); or --format csv --columns '{proposal}' with each NAME and \
                 UNIT filled in: time in s, ms, us, ns or 100ns, sizes in B, sector or KiB, \
                 op=NAME:digit where 0 is a read, is-read where 1 is"
            );
            Err(Fault::of_line(number, top, allowed))
        }
    }
}

/// Of five words a line: DiskSim's, with times in milliseconds, or MQSim's in nanoseconds.
///
/// MQSim's times are whole. Whole times of DiskSim's are known from them by the rate: as
/// milliseconds MQSim's come to less than a request a second.
fn of_five(lines: &[String]) -> &'static str {
    let time = |line: &String| line.split_whitespace().next()?.parse::<u64>().ok();
    let times: Option<Vec<u64>> = lines.iter().map(time).collect();
    let Some((Some(&from), Some(&to))) = times
        .as_ref()
        .map(|times| (times.iter().min(), times.iter().max()))
    else {
        return "disksim-ascii";
    };
    let seconds = (to - from) as f64 / 1e3;
    match lines.len() as f64 / seconds < SLOWEST_PER_S {
        true => "mqsim",
        false => "disksim-ascii",
    }
}

/// How many of the lines a format reads.
fn score(path: &Path, format: &str, lines: &[String]) -> usize {
    let options = Options::new(path, format);
    let Ok(mut reader) = Reader::of(&options) else {
        return 0;
    };
    let (mut units, mut ready) = (Units::default(), VecDeque::new());
    let mut good = 0;
    for (number, line) in (1..).zip(lines) {
        match reader.line(line, number, &mut units, &mut ready) {
            Ok(()) => good += 1,
            Err(crate::record::Wrong::File(_)) => return 0,
            Err(crate::record::Wrong::Line(_)) => {}
        }
    }
    reader.finish(&mut ready);
    // Formats whose other lines are skipped must have found requests.
    if ready.is_empty() { 0 } else { good }
}
