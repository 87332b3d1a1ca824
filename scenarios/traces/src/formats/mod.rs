//! The formats of traces: one reader each. A line of each is in docs/reference/formats/traces.md.

mod blkparse;
mod disksim;
mod iolog;
mod layouts;

use crate::fault::{Fault, Value};
use crate::record::{Options, Record, Units, Wrong};
use crate::table::Table;
use blkparse::BlkParse;
use iolog::IoLog;
use layouts::layout;
use std::collections::VecDeque;

/// All formats by name.
pub const FORMATS: [&str; 12] = [
    "disksim-validate",
    "disksim-ascii",
    "mqsim",
    "blkparse",
    "fio-iolog",
    "msr",
    "spc",
    "systor17",
    "alibaba",
    "tencent",
    "vscsi",
    "csv",
];

/// The format whose times are pauses after a request.
pub(crate) const CLOSED: &str = "disksim-validate";

/// The reader of a format, with what it remembers of earlier lines.
pub(crate) enum Reader {
    DiskSimValidate,
    DiskSimAscii,
    MqSim,
    BlkParse(Box<BlkParse>),
    IoLog(IoLog),
    Table(Box<Table>),
}

impl Reader {
    /// # Errors
    /// There is no such format, or the file cannot be read.
    pub(crate) fn of(options: &Options) -> Result<Reader, Fault> {
        Ok(match options.format.as_str() {
            CLOSED => Reader::DiskSimValidate,
            "disksim-ascii" => Reader::DiskSimAscii,
            "mqsim" => Reader::MqSim,
            "blkparse" => Reader::BlkParse(Box::new(BlkParse::of(&options.path)?)),
            "fio-iolog" => Reader::IoLog(IoLog::default()),
            "csv" => {
                let columns = options.columns.clone().ok_or_else(|| {
                    Fault::at("--columns", Value::None, "which column means what")
                })?;
                Reader::Table(Box::new(Table::named(columns)))
            }
            name => match layout(name) {
                Some(layout) => Reader::Table(Box::new(Table::new(&layout))),
                None => {
                    let allowed = format!("one of {}", FORMATS.join(", "));
                    let fault = Fault::at("--format", Value::Text(name.into()), allowed);
                    return Err(fault.among(FORMATS.map(String::from)));
                }
            },
        })
    }

    /// Reads a line that is neither empty nor a comment.
    pub(crate) fn line(
        &mut self,
        line: &str,
        number: u64,
        units: &mut Units,
        ready: &mut VecDeque<Record>,
    ) -> Result<(), Wrong> {
        match self {
            Reader::DiskSimValidate => ready.push_back(disksim::validate(line, number, units)?),
            Reader::DiskSimAscii => ready.push_back(disksim::ascii(line, number, units)?),
            Reader::MqSim => ready.push_back(disksim::mqsim(line, number, units)?),
            Reader::BlkParse(reader) => reader.line(line, number, units, ready)?,
            Reader::IoLog(reader) => ready.extend(reader.line(line, number, units)?),
            Reader::Table(reader) => ready.extend(reader.line(line, number, units)?),
        }
        Ok(())
    }

    /// Lines of commands that move no data, so far.
    pub(crate) fn others(&self) -> u64 {
        match self {
            Reader::Table(reader) => reader.others(),
            _ => 0,
        }
    }

    /// The end of the file: what is still to come, or what was missing.
    pub(crate) fn finish(&mut self, ready: &mut VecDeque<Record>) -> Option<Fault> {
        match self {
            Reader::BlkParse(reader) => reader.finish(ready),
            Reader::Table(reader) => return reader.without_header(),
            _ => {}
        }
        None
    }
}
