//! Traces that are tables: which column means what, in which unit. Commas separate the fields; in a
//! table with names semicolons or tabs do, where its first line has no comma.

use crate::columns::{Column, Columns};
use crate::fault::{Fault, Value};
use crate::fields::{bytes, date, time, trimmed, whole};
use crate::header;
use crate::op_words::OpWords;
use crate::record::{Record, Units, Wrong};
use raidlab_io::Op;

/// A table of a known layout.
pub(crate) struct Layout {
    /// Columns in their order, between commas.
    pub names: &'static str,
    pub op: Column,
    pub offset: Column,
    pub size: Column,
    pub time: Column,
    pub response: Option<Column>,
    /// Columns that distinguish the disks.
    pub identity: &'static [&'static str],
    /// What stands before them in a disk's name.
    pub word: &'static str,
    /// Columns at the end that a line may leave out.
    pub optional: usize,
    pub words: OpWords,
    /// True if a line without a kind of I/O records none.
    pub blank_op: bool,
}

/// Where a quantity stands, and what it is for messages.
struct Place {
    at: usize,
    column: Column,
    what: String,
}

impl Place {
    fn new(meaning: &str, column: &Column, names: &[String]) -> Place {
        let at = names.iter().position(|name| *name == column.name);
        Place {
            at: at.unwrap_or(usize::MAX),
            column: column.clone(),
            what: match column.is_date() {
                true => format!("a date (column {})", column.name),
                false => format!("{meaning} in {} (column {})", column.unit, column.name),
            },
        }
    }
}

struct Places {
    names: Vec<String>,
    op: usize,
    offset: Place,
    size: Place,
    time: Place,
    response: Option<Place>,
    identity: Vec<usize>,
}

/// The reader of a table.
pub(crate) struct Table {
    /// None until the first line has named the columns.
    places: Option<Places>,
    /// Of a table whose first line names its columns.
    columns: Option<Columns>,
    word: &'static str,
    optional: usize,
    words: OpWords,
    blank_op: bool,
    /// True if sizes may be written as a person would, and times as dates.
    is_free: bool,
    /// Between two fields.
    separator: u8,
    first: bool,
    /// The name of the disk of the line, to be looked up.
    unit: String,
    /// Of a known layout: the columns of operation, offset, size and time.
    known: Option<[Column; 4]>,
    /// Lines of SCSI commands that move no data.
    others: u64,
}

impl Table {
    pub(crate) fn new(layout: &Layout) -> Table {
        let names: Vec<String> = layout.names.split(',').map(String::from).collect();
        let at = |wanted: &str| names.iter().position(|name| name == wanted);
        let response = layout.response.as_ref();
        let places = Places {
            op: at(&layout.op.name).unwrap_or(usize::MAX),
            offset: Place::new("offset", &layout.offset, &names),
            size: Place::new("size", &layout.size, &names),
            time: Place::new("time", &layout.time, &names),
            response: response.map(|column| Place::new("response", column, &names)),
            identity: layout.identity.iter().filter_map(|name| at(name)).collect(),
            names,
        };
        Table {
            places: Some(places),
            columns: None,
            word: layout.word,
            optional: layout.optional,
            words: layout.words,
            blank_op: layout.blank_op,
            is_free: false,
            separator: b',',
            first: true,
            unit: String::new(),
            known: Some([&layout.op, &layout.offset, &layout.size, &layout.time].map(Clone::clone)),
            others: 0,
        }
    }

    /// A table whose first line names its columns.
    pub(crate) fn named(columns: Columns) -> Table {
        Table {
            places: None,
            words: match columns.op.unit.as_str() {
                "digit" => OpWords::Digit,
                "is-read" => OpWords::IsRead,
                "scsi" => OpWords::Scsi,
                _ => OpWords::Names,
            },
            columns: Some(columns),
            word: "",
            optional: 0,
            blank_op: false,
            is_free: true,
            separator: b',',
            first: true,
            unit: String::new(),
            known: None,
            others: 0,
        }
    }

    /// The fault of a table that ended before its first line.
    pub(crate) fn without_header(&self) -> Option<Fault> {
        let allowed = "empty: no first line with the names of columns";
        self.places.is_none().then(|| Fault::of_file(allowed))
    }

    pub(crate) fn line(
        &mut self,
        line: &str,
        number: u64,
        units: &mut Units,
    ) -> Result<Option<Record>, Wrong> {
        let first = std::mem::replace(&mut self.first, false);
        if let Some(columns) = self.columns.take_if(|_| first) {
            self.separator = separator(line);
            self.places = Some(header(&split(line, self.separator), &columns)?);
            return Ok(None);
        }
        if first && is_header(line) {
            self.check_names(line, number)?;
            return Ok(None);
        }
        Ok(self.request(line, number, units)?)
    }

    /// Lines of SCSI commands that move no data, so far.
    pub(crate) fn others(&self) -> u64 {
        self.others
    }

    /// A table of a known layout may name its columns, but not others.
    fn check_names(&self, line: &str, number: u64) -> Result<(), Wrong> {
        let (Some(places), Some(known)) = (&self.places, &self.known) else {
            return Ok(());
        };
        let needed = known.each_ref().map(|column| (column, self.words));
        if header::agrees(&names(line), &places.names, &needed) {
            return Ok(());
        }
        let units = [&known[1], &known[2], &known[3]].map(|c| format!("{} in {}", c.name, c.unit));
        let allowed = format!(
            "the columns {}, {}; this line names others: leave the format out, so that the names \
             decide, or say what they mean by csv and --columns",
            places.names.join(","),
            units.join(", ")
        );
        Err(Wrong::File(vec![Fault::of_line(number, line, allowed)]))
    }

    fn request(
        &mut self,
        line: &str,
        number: u64,
        units: &mut Units,
    ) -> Result<Option<Record>, String> {
        let Some(places) = &self.places else {
            return Ok(None);
        };
        let mut few = [""; 12];
        let (many, borrowed);
        let parts: &[&str] = match split_into(line, self.separator, &mut few) {
            Some(count) => &few[..count],
            None => {
                many = split(line, self.separator);
                borrowed = many.iter().map(String::as_str).collect::<Vec<_>>();
                &borrowed
            }
        };
        let least = places.names.len() - self.optional;
        if parts.len() < least {
            return Err(too_few(&places.names, least, parts.len()));
        }
        let text = |at: usize| parts.get(at).copied().unwrap_or("");
        if self.blank_op && text(places.op).is_empty() {
            return Ok(None);
        }
        let op = match self.words.op(text(places.op)) {
            Ok(op) => op,
            Err(_) if self.words.names(text(places.op)) => {
                self.others += 1;
                return Ok(None);
            }
            Err(allowed) => return Err(allowed),
        };
        let (is_free, is_date) = (self.is_free, self.is_free && places.time.column.is_date());
        let bytes_at = |place: &Place| {
            let (text, unit) = (text(place.at), place.column.bytes());
            if is_free {
                return bytes(text, unit, &place.what);
            }
            Ok(whole(text, &place.what)?.saturating_mul(unit))
        };
        let ns = |place: &Place| time(text(place.at), place.column.time(), &place.what);
        let (offset, size) = match op {
            Op::Flush => (0, 0),
            _ => (bytes_at(&places.offset)?, bytes_at(&places.size)?),
        };
        let time_ns = match is_date {
            true => date(text(places.time.at), &places.time.what)?,
            false => ns(&places.time)?,
        };
        let response = places.response.as_ref();
        let response = response.filter(|place| !text(place.at).is_empty());
        self.unit.clear();
        self.unit.push_str(self.word);
        for (index, &at) in places.identity.iter().enumerate() {
            if index > 0 {
                self.unit.push('.');
            }
            self.unit.push_str(text(at));
        }
        let record = Record {
            op,
            offset,
            bytes: size,
            time_ns,
            response_us: response.map_or(Ok(f64::NAN), |place| {
                ns(place).map(|took| took as f64 / 1000.0)
            })?,
            line: number,
            unit: units.find(&self.unit)?,
        };
        Ok(Some(record))
    }
}

fn too_few(names: &[String], least: usize, found: usize) -> String {
    let more: String = names[least..]
        .iter()
        .map(|name| format!(" (and {name})"))
        .collect();
    let needed = names[..least].join(",");
    format!("{least} columns, {needed}{more}; here are {found}")
}

/// Columns that a trace needs: time, kind, offset and size.
const LEAST_COLUMNS: usize = 4;

/// True for a line that names columns: its first field has letters alone, or no field of several is
/// a number.
pub(crate) fn is_header(line: &str) -> bool {
    let fields = names(line);
    let is_number = |field: &String| field.is_empty() || field.parse::<f64>().is_ok();
    if fields.len() >= LEAST_COLUMNS && !fields.iter().any(is_number) {
        return true;
    }
    let first = line
        .split(char::from(separator(line)))
        .next()
        .unwrap_or("")
        .trim();
    let mut letters = first.chars().filter(|&c| c != '_' && c != ' ').peekable();
    letters.peek().is_some() && letters.all(char::is_alphabetic)
}

/// The fields of a first line.
pub(crate) fn names(line: &str) -> Vec<String> {
    split(line, separator(line))
}

/// What stands between the fields of a first line.
pub(crate) fn separator(line: &str) -> u8 {
    // What is in quotes separates nothing.
    let bare: String = line.split('"').step_by(2).collect();
    let found = [b',', b';', b'\t'].into_iter();
    let mut found = found.filter(|each| bare.as_bytes().contains(each));
    found.next().unwrap_or(b',')
}

/// The places of columns in the first line.
fn header(names: &[String], columns: &Columns) -> Result<Places, Wrong> {
    let mut faults = Vec::new();
    let text = |name: &str| Value::Text(name.into());
    for (_, column) in columns.all() {
        let name = &column.name;
        match names.iter().filter(|&found| found == name).count() {
            0 => {
                let mut allowed = format!("a column of the first line: {}", names.join(", "));
                if names[0].parse::<f64>().is_ok() {
                    allowed += "; that line has no names: write them above it";
                }
                let fault = Fault::at("--columns", text(name), allowed);
                faults.push(fault.among(names.to_vec()));
            }
            1 => {}
            times => {
                let allowed = format!("a name of one column; the first line has it {times} times");
                let fault = Fault::at("--columns", text(name), allowed);
                if !faults.contains(&fault) {
                    faults.push(fault);
                }
            }
        }
    }
    if !faults.is_empty() {
        return Err(Wrong::File(faults));
    }
    let at = |wanted: &Column| names.iter().position(|name| *name == wanted.name);
    let response = columns.response.as_ref();
    Ok(Places {
        op: at(&columns.op).unwrap_or(usize::MAX),
        offset: Place::new("offset", &columns.offset, names),
        size: Place::new("size", &columns.size, names),
        time: Place::new("time", &columns.time, names),
        response: response.map(|column| Place::new("response", column, names)),
        identity: columns.unit.iter().filter_map(at).collect(),
        names: names.to_vec(),
    })
}

/// The fields of a line without quotes; none if it has quotes or more fields than there is space.
fn split_into<'a>(line: &'a str, separator: u8, parts: &mut [&'a str]) -> Option<usize> {
    let bytes = line.as_bytes();
    let (mut count, mut from) = (0, 0);
    for at in 0..=bytes.len() {
        match bytes.get(at) {
            Some(b'"') => return None,
            end if end.is_none_or(|&byte| byte == separator) => {
                *parts.get_mut(count)? = trimmed(&line[from..at]);
                count += 1;
                from = at + 1;
            }
            _ => {}
        }
    }
    Some(count)
}

/// The fields of a line; within quotes a separator is text, and two quotes are one.
pub(crate) fn split(line: &str, separator: u8) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quoted = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                parts.last_mut().expect("never empty").push('"');
            }
            '"' => quoted = !quoted,
            end if !quoted && end == char::from(separator) => parts.push(String::new()),
            _ => parts.last_mut().expect("never empty").push(letter),
        }
    }
    for part in &mut parts {
        *part = part.trim().to_owned();
    }
    parts
}
