//! What the first line of a table says: which column is what, in which unit, by its names.

use crate::columns::{Column, Columns};
use crate::fields::{date, op};
use crate::op_words::OpWords;

/// Words of a name that say what a column is. The first meaning that fits is taken: a response
/// time is a time, too.
const MEANINGS: [(Meaning, &[&str]); 7] = [
    (
        Meaning::Response,
        &[
            "response", "resp", "rsp", "latency", "lat", "duration", "elapsed", "rt", "svctime",
            "took",
        ],
    ),
    (
        Meaning::Time,
        &[
            "time",
            "timestamp",
            "ts",
            "arrival",
            "date",
            "datetime",
            "when",
            "issued",
        ],
    ),
    (
        Meaning::Op,
        &[
            "op",
            "opcode",
            "operation",
            "type",
            "iotype",
            "optype",
            "rw",
            "rwbs",
            "kind",
            "command",
            "cmd",
            "action",
            "direction",
            "isread",
            "iswrite",
            "read",
            "write",
        ],
    ),
    (
        Meaning::Size,
        &[
            "size", "length", "len", "nbytes", "count", "xfer", "nblocks", "nsectors",
        ],
    ),
    (
        Meaning::Offset,
        &[
            "offset", "off", "lba", "lbn", "address", "addr", "sector", "block", "blkno", "blk",
            "position", "pos", "start",
        ],
    ),
    (Meaning::Size, &["bytes", "blocks", "sectors"]),
    (
        Meaning::Unit,
        &[
            "volume", "vol", "volumeid", "device", "dev", "deviceid", "disk", "diskid", "lun",
            "asu", "drive", "unit",
        ],
    ),
];
const TIMES: [(&str, &[&str]); 5] = [
    ("s", &["s", "sec", "secs", "second", "seconds"]),
    (
        "ms",
        &[
            "ms",
            "msec",
            "msecs",
            "millisecond",
            "milliseconds",
            "millis",
        ],
    ),
    (
        "us",
        &[
            "us",
            "usec",
            "usecs",
            "\u{b5}s",
            "\u{3bc}s",
            "microsecond",
            "microseconds",
            "micros",
        ],
    ),
    (
        "ns",
        &["ns", "nsec", "nsecs", "nanosecond", "nanoseconds", "nanos"],
    ),
    ("100ns", &["100ns", "filetime"]),
];
const SIZES: [(&str, &[&str]); 5] = [
    ("KiB", &["kib"]),
    ("MiB", &["mib"]),
    ("4KiB", &["page", "pages", "4kib"]),
    ("B", &["b", "byte", "bytes", "nbytes"]),
    (
        "sector",
        &[
            "sector", "sectors", "lba", "lbn", "blkno", "nsectors", "blocks", "block", "nblocks",
            "blk",
        ],
    ),
];
/// Names of sizes that some use for powers of ten and some for powers of two.
const UNSURE: [&str; 6] = ["kb", "mb", "k", "m", "kbytes", "mbytes"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Response,
    Time,
    Op,
    Size,
    Offset,
    Unit,
}

/// A column as its name says it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Said {
    at: usize,
    meaning: Meaning,
    /// The unit; empty where the name has none.
    unit: &'static str,
    /// True where the name has a unit of two senses: kB of 1,000 or of 1,024 bytes.
    unsure: bool,
}

/// What a first line says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Header {
    /// All that a request needs.
    Whole(Box<Columns>),
    /// What is missing, and the columns as far as they are clear, as `--columns` has them.
    Unclear { missing: String, proposal: String },
}

/// Reads the names of a first line; `rows` below it decide by which words operations are named.
pub(crate) fn read(names: &[String], rows: &[Vec<String>]) -> Header {
    let said = said(names);
    let find = |meaning| said.iter().find(|each| each.meaning == meaning);
    let mut missing = Vec::new();
    let mut column = |meaning: Meaning, needed: &str, default: &str| {
        let Some(each) = find(meaning) else {
            if !needed.is_empty() {
                missing.push(format!("no column is {needed}"));
            }
            return None;
        };
        let name = names[each.at].clone();
        let default = match meaning {
            Meaning::Time if are_dates(each, rows) => "date",
            _ => default,
        };
        let mut unit = if each.unit.is_empty() {
            default
        } else {
            each.unit
        };
        if each.unsure || unit == "UNIT" {
            missing.push(format!("{name} has no clear unit"));
            unit = "UNIT";
        }
        let unit = unit.to_owned();
        Some(Column { name, unit })
    };
    let time = column(Meaning::Time, "a time", "UNIT");
    let offset = column(Meaning::Offset, "an offset", "B");
    let size = column(Meaning::Size, "a size", "B");
    let response = column(Meaning::Response, "", "UNIT");
    let unit = column(Meaning::Unit, "", "");
    let mut op = column(Meaning::Op, "a kind of I/O", "");
    if let (Some(op), Some(each)) = (op.as_mut(), find(Meaning::Op)) {
        match op_unit(each, rows) {
            Some(unit) => op.unit = unit.into(),
            None => {
                missing.push(format!("{} does not say which number is a read", op.name));
                op.unit = "UNIT".into();
            }
        }
    }
    let columns = Columns {
        op: op.unwrap_or_else(|| unnamed("")),
        offset: offset.unwrap_or_else(|| unnamed("UNIT")),
        size: size.unwrap_or_else(|| unnamed("UNIT")),
        time: time.unwrap_or_else(|| unnamed("UNIT")),
        response,
        unit,
    };
    match missing.is_empty() {
        true => Header::Whole(Box::new(columns)),
        false => Header::Unclear {
            missing: missing.join("; "),
            proposal: columns.text(),
        },
    }
}

/// True if names of a first line agree with a table's known columns: the same names, or all that a
/// request needs at the same places and in no other unit.
pub(crate) fn agrees(names: &[String], known: &[String], needed: &[(&Column, OpWords)]) -> bool {
    let plain = |name: &String| -> String {
        let letters = name.chars().filter(|letter| letter.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    if names.len() <= known.len() && names.iter().zip(known).all(|(a, b)| plain(a) == plain(b)) {
        return true;
    }
    let said = said(names);
    [Meaning::Op, Meaning::Offset, Meaning::Size, Meaning::Time]
        .into_iter()
        .zip(needed)
        .all(|(meaning, (column, words))| {
            let at = known.iter().position(|name| *name == column.name);
            let found = said.iter().find(|each| each.meaning == meaning);
            found.is_some_and(|found| {
                let unit = match meaning {
                    Meaning::Op if *words == OpWords::Digit => "digit",
                    _ => column.unit.as_str(),
                };
                Some(found.at) == at
                    && !found.unsure
                    && (found.unit.is_empty() || found.unit == unit)
            })
        })
}

fn unnamed(unit: &str) -> Column {
    Column {
        name: "NAME".into(),
        unit: unit.into(),
    }
}

/// True if all rows have a date and time of day in a column.
fn are_dates(each: &Said, rows: &[Vec<String>]) -> bool {
    let mut values = rows.iter().filter_map(|row| row.get(each.at)).peekable();
    values.peek().is_some() && values.all(|value| date(value, "").is_ok())
}

/// How a column of operations names them: by words, digits or SCSI codes.
fn op_unit(each: &Said, rows: &[Vec<String>]) -> Option<&'static str> {
    let values: Vec<&str> = rows
        .iter()
        .filter_map(|row| Some(row.get(each.at)?.as_str()))
        .collect();
    if values
        .iter()
        .all(|value| op(value).is_ok() || value.is_empty())
    {
        return Some("");
    }
    if values.iter().all(|value| ["0", "1"].contains(value)) {
        return Some(each.unit).filter(|unit| !unit.is_empty());
    }
    if values.iter().all(|value| OpWords::Scsi.names(value)) {
        return Some("scsi");
    }
    // One word that is known names the others, too: a line with another word is wrong by itself.
    Some("").filter(|_| values.iter().any(|value| op(value).is_ok()))
}

/// What each name says, each meaning once: of two columns the one that states its unit.
fn said(names: &[String]) -> Vec<Said> {
    let mut found: Vec<Said> = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let words = words(name);
        let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
        let Some(&(meaning, _)) = MEANINGS.iter().find(|(_, known)| has(known)) else {
            continue;
        };
        let unit_of = |units: &[(&'static str, &[&str])]| {
            let unit = units.iter().find(|(_, known)| has(known));
            unit.map_or("", |&(unit, _)| unit)
        };
        let unit = match meaning {
            Meaning::Time if has(&["date", "datetime"]) => "date",
            Meaning::Time | Meaning::Response => unit_of(&TIMES),
            Meaning::Size | Meaning::Offset => unit_of(&SIZES),
            Meaning::Op if has(&["isread", "read"]) => "is-read",
            Meaning::Op if has(&["iswrite", "write"]) => "digit",
            Meaning::Op | Meaning::Unit => "",
        };
        let is_size = [Meaning::Size, Meaning::Offset].contains(&meaning);
        let unsure = is_size && unit.is_empty() && has(&UNSURE);
        let said = Said {
            at,
            meaning,
            unit,
            unsure,
        };
        match found.iter_mut().find(|other| other.meaning == meaning) {
            None => found.push(said),
            Some(other) if other.unit.is_empty() && !unit.is_empty() => *other = said,
            Some(_) => {}
        }
    }
    found
}

/// The words of a name: between signs, and again where a small letter meets a large one; then the
/// whole name as one word.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (at, &letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| letters[before]);
        let behind = letters.get(at + 1);
        let begins = letter.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || before.is_uppercase() && behind.is_some_and(|c| c.is_lowercase())
            });
        if begins || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if letter.is_alphanumeric() {
            words
                .last_mut()
                .expect("one at least")
                .extend(letter.to_lowercase());
        }
    }
    // `KiB` is two words by its letters.
    let pairs: Vec<String> = words.windows(2).map(<[String]>::concat).collect();
    let whole = words.concat();
    words.extend(pairs);
    words.push(whole);
    let between_signs = name.split(|letter: char| !letter.is_alphanumeric());
    words.extend(between_signs.map(str::to_lowercase));
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::split;

    fn header(line: &str, row: &str) -> Header {
        read(&split(line, b','), &[split(row, b',')])
    }

    #[test]
    fn names_with_units_are_read_by_them() {
        let cases = [
            (
                "time_us,offset_bytes,length,is_read,vol",
                "1000,8192,4096,1,7",
                "time=time_us:us op=is_read:is-read offset=offset_bytes:B size=length:B unit=vol",
            ),
            (
                "disk,op,off,len,time_ms",
                "0,R,8192,4096,10",
                "time=time_ms:ms op=op offset=off:B size=len:B unit=disk",
            ),
            (
                "time_s,op,lba,blocks,device",
                "0,W,600,8,0",
                "time=time_s:s op=op offset=lba:sector size=blocks:sector unit=device",
            ),
            (
                "\"Start Time (ms)\",IOType,ByteOffset,Size [KiB],Latency us",
                "1,Read,0,4,30",
                "time=\"Start Time (ms)\":ms op=IOType offset=ByteOffset:B size=\"Size [KiB]\":KiB \
                 response=\"Latency us\":us",
            ),
            (
                "ts_ns,write,sector,nbytes",
                "1,0,8,4096",
                "time=ts_ns:ns op=write:digit offset=sector:sector size=nbytes:B",
            ),
        ];
        for (line, row, expected) in cases {
            match header(line, row) {
                Header::Whole(columns) => assert_eq!(columns.text(), expected),
                unclear => panic!("{line}: {unclear:?}"),
            }
        }
    }

    #[test]
    fn what_names_leave_open_is_said() {
        let cases = [
            ("time,op,offset,len", "1,R,0,4096", "time has no clear unit"),
            (
                "time_us,type,offset,len",
                "1,1,0,4096",
                "type does not say which number is a read",
            ),
            (
                "time_us,op,offset,size_kb",
                "1,R,0,4",
                "size_kb has no clear unit",
            ),
            ("time_us,op,offset", "1,R,0", "no column is a size"),
        ];
        for (line, row, expected) in cases {
            match header(line, row) {
                Header::Unclear { missing, .. } => assert_eq!(missing, expected),
                whole => panic!("{line}: {whole:?}"),
            }
        }
    }
}
