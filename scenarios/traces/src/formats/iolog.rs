//! fio's `write_iolog`: version 3 with microseconds before each action, version 2 with waits.

use crate::fault::Fault;
use crate::fields::{MS, US, op, time, whole};
use crate::record::{Record, Units, Wrong};
use raidlab_io::Op;

/// Which version it is, and how long version 2 has waited.
#[derive(Default)]
pub(crate) struct IoLog {
    version: u8,
    waited_ns: u64,
}

impl IoLog {
    pub(super) fn line(
        &mut self,
        line: &str,
        number: u64,
        units: &mut Units,
    ) -> Result<Option<Record>, Wrong> {
        let mut words = line.split_whitespace();
        if self.version == 0 {
            let begins: Vec<&str> = words.take(3).collect();
            self.version = match begins.as_slice() {
                ["fio", "version", "2"] => 2,
                ["fio", "version", "3"] => 3,
                _ => {
                    let allowed = "\"fio version 2 iolog\" or \"fio version 3 iolog\"";
                    let fault = Fault::of_line(number, line, allowed.into());
                    return Err(Wrong::File(vec![fault]));
                }
            };
            return Ok(None);
        }
        let at = match self.version {
            3 => time(words.next().unwrap_or(""), US, "a time in us first")?,
            _ => self.waited_ns,
        };
        let missing = || "a file, an action, an offset and a length".to_owned();
        let (file, action) = (words.next(), words.next());
        let (file, action) = file.zip(action).ok_or_else(missing)?;
        let mut next = |what| whole(words.next().ok_or_else(missing)?, what);
        if ["add", "open", "close"].contains(&action) {
            return Ok(None);
        }
        if action == "wait" {
            let what = "milliseconds after the start to wait until";
            let until = time(words.next().unwrap_or(""), MS, what)?;
            self.waited_ns = self.waited_ns.max(until);
            return Ok(None);
        }
        let op = op(action)?;
        let (offset, bytes) = match op {
            Op::Flush => (0, 0),
            _ => (next("an offset")?, next("a length")?),
        };
        Ok(Some(Record {
            op,
            offset,
            bytes,
            time_ns: at,
            response_us: f64::NAN,
            line: number,
            unit: units.find(file)?,
        }))
    }
}
