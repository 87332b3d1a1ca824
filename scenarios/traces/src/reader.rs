//! From lines to records: what every format gives, in the order of the file.

use crate::fault::Fault;
use crate::fields::trimmed;
use crate::formats::Reader;
use crate::input::Lines;
use crate::record::{Options, Record, Units, Wrong};
use std::collections::VecDeque;

/// The records of a file.
pub(crate) struct Records {
    lines: Lines,
    reader: Reader,
    pub(crate) units: Units,
    ready: VecDeque<Record>,
    faults: VecDeque<Fault>,
    over: bool,
}

impl Records {
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn open(options: &Options) -> Result<Records, Fault> {
        Ok(Records {
            lines: Lines::open(&options.path)?,
            reader: Reader::of(options)?,
            units: Units::default(),
            ready: VecDeque::new(),
            faults: VecDeque::new(),
            over: false,
        })
    }

    /// Lines of commands that move no data, so far.
    pub(crate) fn others(&self) -> u64 {
        self.reader.others()
    }

    /// The next record, or what is wrong with the next line; after a fault of a line the next
    /// call goes on behind it.
    pub(crate) fn next(&mut self) -> Option<Result<Record, Fault>> {
        loop {
            if let Some(record) = self.ready.pop_front() {
                let Some((what, value, allowed)) = record.impossible() else {
                    return Some(Ok(record));
                };
                let key = format!("line {}: {what}", record.line);
                return Some(Err(Fault::at(key, value, allowed)));
            }
            if let Some(fault) = self.faults.pop_front() {
                return Some(Err(fault));
            }
            if self.over {
                return None;
            }
            match self.lines.next() {
                Ok(Some((number, line))) => {
                    let text = trimmed(line);
                    if text.is_empty() || text.starts_with('#') {
                        continue;
                    }
                    // A tab at the end is an empty last field of a table with tabs.
                    let text = match text.len() == line.len() {
                        true => line,
                        false => line.trim_start().trim_end_matches([' ', '\r', '\n']),
                    };
                    let (units, ready) = (&mut self.units, &mut self.ready);
                    match self.reader.line(text, number, units, ready) {
                        Ok(()) => {}
                        Err(Wrong::Line(allowed)) => {
                            return Some(Err(Fault::of_line(number, line, allowed)));
                        }
                        Err(Wrong::File(faults)) => {
                            self.over = true;
                            self.faults.extend(faults);
                        }
                    }
                }
                Ok(None) => {
                    self.over = true;
                    self.faults.extend(self.reader.finish(&mut self.ready));
                }
                Err(fault) => {
                    self.over = true;
                    return Some(Err(fault));
                }
            }
        }
    }
}
