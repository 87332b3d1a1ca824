//! Lines of blkparse: issues (D; queued, Q, where the file has none) with their completions (C).

use crate::fault::Fault;
use crate::fields::{S, SECTOR, time, whole};
use crate::input::Lines;
use crate::record::{Record, Units};
use raidlab_io::Op;
use std::collections::{HashMap, VecDeque};
use std::path::Path;

/// Requests behind one that is not complete for which it is kept back.
const WAITING: usize = 1 << 16;

/// What a completion is recognised by.
type Key = (u32, u8, u64, u64);

/// Requests that wait for their completions.
pub(crate) struct BlkParse {
    begin: &'static str,
    /// In the order of their issue; true once complete.
    pending: VecDeque<(Record, bool)>,
    /// The number of the first of them.
    first: u64,
    waiting: HashMap<Key, VecDeque<u64>>,
}

fn key(record: &Record) -> Key {
    (record.unit, record.op as u8, record.offset, record.bytes)
}

/// Words of a line that records an action of interest.
fn action<'a>(words: &[&'a str]) -> Option<&'a str> {
    // 8,0 3 1 0.000000000 697 D W 223490 + 8 [kjournald]
    let numbered = words.len() >= 7
        && words[0].contains(',')
        && words[1].bytes().all(|byte| byte.is_ascii_digit());
    // The rest are summaries and messages, plugs, merges, remaps.
    (numbered && ["Q", "D", "C"].contains(&words[5])).then(|| words[5])
}

impl BlkParse {
    /// # Errors
    /// The file cannot be read.
    pub(super) fn of(path: &Path) -> Result<BlkParse, Fault> {
        let (mut lines, mut issued) = (Lines::open(path)?, false);
        // What stops this search is reported when the file is read.
        while let Ok(Some((_, line))) = lines.next() {
            let words: Vec<&str> = line.split_whitespace().take(7).collect();
            issued = action(&words) == Some("D");
            if issued {
                break;
            }
        }
        Ok(BlkParse {
            begin: if issued { "D" } else { "Q" },
            pending: VecDeque::new(),
            first: 0,
            waiting: HashMap::new(),
        })
    }

    pub(super) fn line(
        &mut self,
        line: &str,
        number: u64,
        units: &mut Units,
        ready: &mut VecDeque<Record>,
    ) -> Result<(), String> {
        let words: Vec<&str> = line.split_whitespace().take(10).collect();
        let Some(action) = action(&words) else {
            return Ok(());
        };
        let Some(record) = record(&words, number, units)? else {
            return Ok(());
        };
        if action == self.begin {
            let at = self.first + self.pending.len() as u64;
            self.waiting.entry(key(&record)).or_default().push_back(at);
            self.pending.push_back((record, false));
        } else if action == "C"
            && let Some(at) = self.take(&key(&record))
            && let Some((begun, complete)) = self.pending.get_mut((at - self.first) as usize)
        {
            let took = record.time_ns as f64 - begun.time_ns as f64;
            begun.response_us = (took / 1000.0).max(0.0);
            *complete = true;
        }
        self.release(WAITING, ready);
        Ok(())
    }

    pub(super) fn finish(&mut self, ready: &mut VecDeque<Record>) {
        self.release(0, ready);
    }

    /// The first request with this key that is not complete.
    fn take(&mut self, key: &Key) -> Option<u64> {
        let waiting = self.waiting.get_mut(key)?;
        let at = waiting.pop_front();
        if waiting.is_empty() {
            self.waiting.remove(key);
        }
        at
    }

    /// Passes on requests that are complete, or that more than `most` stand behind.
    fn release(&mut self, most: usize, ready: &mut VecDeque<Record>) {
        while let Some((record, complete)) = self.pending.front().copied() {
            if !complete && self.pending.len() <= most {
                break;
            }
            if !complete {
                self.take(&key(&record));
            }
            self.pending.pop_front();
            self.first += 1;
            ready.push_back(record);
        }
    }
}

fn record(words: &[&str], number: u64, units: &mut Units) -> Result<Option<Record>, String> {
    let kind = words[6];
    let at = time(words[3], S, "a time in seconds fourth")?;
    let sized = words.len() >= 10 && words[8] == "+";
    let count = match sized {
        true => whole(words[9], "a number of sectors tenth")?,
        false => 0,
    };
    let op = match (count, kind) {
        (0, kind) if kind.contains('F') => Op::Flush,
        (0, _) => return Ok(None),
        (_, kind) if kind.contains('D') => Op::Trim,
        (_, kind) if kind.contains('W') => Op::Write,
        (_, kind) if kind.contains('R') => Op::Read,
        _ => return Ok(None),
    };
    let sector = match op {
        Op::Flush => 0,
        _ => whole(words[7], "a sector eighth")?,
    };
    Ok(Some(Record {
        op,
        offset: sector.saturating_mul(SECTOR),
        bytes: count.saturating_mul(SECTOR),
        time_ns: at,
        response_us: f64::NAN,
        line: number,
        unit: units.find(words[0])?,
    }))
}
