//! Which format a file has, by its first lines.

use crate::fault::{Fault, Value};
use crate::formats::FORMATS;
use crate::formats::Reader;
use crate::input::Lines;
use crate::reader::{Options, Units};
use crate::table::{is_header, names};
use std::collections::VecDeque;
use std::path::Path;

/// Columns that a trace needs: time, kind, offset and size.
const LEAST_COLUMNS: usize = 4;
/// Lines that are tried.
const TRIED: usize = 200;

/// The format of a trace.
///
/// Every format but `csv` is tried on the first lines. The one that reads most of them, and more
/// than half, is the file's; the lines of no two formats are alike.
///
/// # Errors
/// The file cannot be read, or is of no format that is known.
pub fn recognise(path: &Path) -> Result<&'static str, Fault> {
    let mut lines = Lines::open(path)?;
    let mut first = Vec::new();
    while first.len() < TRIED {
        let Some((_, line)) = lines.next()? else {
            break;
        };
        let line = line.trim();
        if !line.is_empty() && !line.starts_with('#') {
            first.push(line.to_owned());
        }
    }
    if first.is_empty() {
        return Err(Fault::of_file("at least one request"));
    }
    let scored = FORMATS.iter().filter(|&&format| format != "csv");
    let scored = scored.map(|&format| (score(path, format, &first), format));
    match scored.max_by_key(|&(score, _)| score) {
        Some((score, format)) if 2 * score > first.len() => Ok(format),
        _ => {
            let known = FORMATS.join(", ");
            let mut allowed =
                format!("a trace of a format that is recognised; --format says which of {known}");
            if has_names(&first[0]) {
                allowed += "; of a table with names: --format csv --columns \"time=NAME:s op=NAME \
                            offset=NAME:B size=NAME:B\", quotes around a NAME with spaces";
            }
            let shown = first[0].chars().take(80).collect();
            Err(Fault::at("", Value::Text(shown), allowed))
        }
    }
}

/// True for a line that may name columns: no field of several is a number.
fn has_names(line: &str) -> bool {
    let fields = names(line);
    let is_number = |field: &String| field.parse::<f64>().is_ok();
    is_header(line) || fields.len() >= LEAST_COLUMNS && !fields.iter().any(is_number)
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
            Err(crate::reader::Wrong::File(_)) => return 0,
            Err(crate::reader::Wrong::Line(_)) => {}
        }
    }
    reader.finish(&mut ready);
    // Formats whose other lines are skipped must have found requests.
    if ready.is_empty() { 0 } else { good }
}
