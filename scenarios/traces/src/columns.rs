//! What the columns of a table mean.

use crate::fields::{S, SECTOR, TIME_UNITS, TimeUnit};
use schemars::JsonSchema;
use serde::Deserialize;

/// The columns of a table whose first line names them.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Columns {
    /// Read or write: by words, `digit` (0 is a read), `is-read` (1 is one), or `scsi` (codes).
    pub op: Column,
    /// Where it begins: in `B`, `sector`, `kB`, `KiB`, `4KiB`, `MB` or `MiB`.
    pub offset: Column,
    /// How long it is, in one of the same.
    pub size: Column,
    /// When it was issued: s, ms, us, ns, 100ns, or `date`.
    pub time: Column,
    /// How long it took.
    #[serde(default)]
    pub response: Option<Column>,
    /// The disk that it was for.
    #[serde(default)]
    pub unit: Option<Column>,
}

/// A column by its name.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// The name in the first line.
    pub name: String,
    /// Of its numbers.
    #[serde(default)]
    pub unit: String,
}

impl Column {
    /// Bytes of one: of an offset or a size.
    pub(crate) fn bytes(&self) -> u64 {
        match self.unit.as_str() {
            "sector" => SECTOR,
            "kB" => 1000,
            "KiB" => 1 << 10,
            "4KiB" => 1 << 12,
            "MB" => 1_000_000,
            "MiB" => 1 << 20,
            _ => 1,
        }
    }

    /// True of times that are dates.
    pub(crate) fn is_date(&self) -> bool {
        self.unit == "date"
    }

    /// The unit of a time.
    pub(crate) fn time(&self) -> TimeUnit {
        let found = TIME_UNITS.iter().find(|unit| unit.name == self.unit);
        found.copied().unwrap_or(S)
    }
}

impl Columns {
    /// As `--columns` has them.
    pub fn text(&self) -> String {
        let order = ["time", "op", "offset", "size", "response", "unit"];
        let all: Vec<_> = self.all().collect();
        let words = order.iter().filter_map(|meaning| {
            let (_, column) = all.iter().find(|(known, _)| known == meaning)?;
            let plain = |letter: char| letter.is_alphanumeric() || "_-.".contains(letter);
            let name = match column.name.chars().all(plain) {
                true => column.name.clone(),
                false => format!("\"{}\"", column.name),
            };
            let unit = match column.unit.as_str() {
                "" => String::new(),
                unit => format!(":{unit}"),
            };
            Some(format!("{meaning}={name}{unit}"))
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// All that are there, with what each means.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&'static str, &Column)> {
        let needed = [
            ("op", Some(&self.op)),
            ("offset", Some(&self.offset)),
            ("size", Some(&self.size)),
            ("time", Some(&self.time)),
            ("response", self.response.as_ref()),
            ("unit", self.unit.as_ref()),
        ];
        needed
            .into_iter()
            .filter_map(|(meaning, column)| Some((meaning, column?)))
    }
}
