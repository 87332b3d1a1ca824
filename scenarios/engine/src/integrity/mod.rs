//! The data's integrity: which version of the data lies where, and whether reads get the right one.
//!
//! Every sector that was written holds a token that stands for its content; drives, cache and
//! commands carry tokens along the same ways as the simulated data, parity is computed from them
//! as the controller would, and lost units are recovered from it. A read is right if it gets the
//! last acknowledged version, or one whose write ran beside it. See docs/models/data-fate.md.

pub(crate) mod commands;
pub(crate) mod jobs;
pub(crate) mod medium;
pub(crate) mod pages;
pub(crate) mod sectors;
pub(crate) mod tokens;
pub(crate) mod truth;

use crate::integrity::commands::Payload;
use crate::integrity::jobs::Shadow;
use crate::integrity::medium::Medium;
use crate::integrity::sectors::{GRAIN, grains, token};
use crate::integrity::tokens::Tokens;
use crate::integrity::truth::Truth;
use raidlab_kernel::{IoId, Stream};
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};

/// What became of the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DataReport {
    /// Writes that were told to be complete.
    pub acknowledged_writes: u64,
    /// Sectors whose last acknowledged version can no longer be read, at the end of the run.
    pub lost_sectors: u64,
    /// Acknowledged writes of which a sector is among them, or was when the power failed.
    pub lost_writes: u64,
    /// Of these, the ones that were lost with the content of drives' own volatile caches.
    pub lost_in_drive_caches: u64,
    /// Reads that were served an older version, or nonsense, as if it were right.
    pub stale_reads: u64,
    /// Reads that were refused because data are lost.
    pub refused_reads: u64,
    /// Stripes whose parity does not fit their data, or whose copies differ, at the end of the run.
    pub corrupt_stripes: u64,
}

/// What drives hold of a sector.
#[derive(Clone, Debug, Default)]
pub(crate) struct OnDrives {
    /// Of every living copy, or the one that parity gives.
    pub tokens: Vec<u64>,
    /// True if parity gives it: then it may be nonsense.
    pub computed: bool,
}

/// A host's write under way.
#[derive(Clone, Copy, Debug)]
struct Write {
    number: u64,
    array: u32,
    offset: u64,
    bytes: u64,
    refused: bool,
}

#[derive(Debug, Default)]
struct Reader {
    began: u64,
    got: Tokens,
    refused: bool,
}

/// All versions of all data.
#[derive(Debug)]
pub(crate) struct Integrity {
    clock: u64,
    drives: Vec<Medium>,
    /// By array: what each sector may hold.
    truth: Vec<Truth>,
    /// By array: what the cache holds, as far as its lines are valid.
    cache: Vec<Tokens>,
    payloads: HashMap<IoId, Payload>,
    shadows: HashMap<u32, Shadow>,
    readers: HashMap<IoId, Reader>,
    writes: HashMap<IoId, Write>,
    torn: Stream,
    /// Acknowledged writes that are lost, and those lost with the content of drives' caches.
    lost: BTreeSet<u64>,
    lost_in_drives: BTreeSet<u64>,
    pub report: DataReport,
}

impl Integrity {
    pub fn new(seed: u64, drives: usize, arrays: usize) -> Integrity {
        Integrity {
            clock: 0,
            drives: (0..drives).map(|_| Medium::default()).collect(),
            truth: (0..arrays).map(|_| Truth::default()).collect(),
            cache: vec![Tokens::default(); arrays],
            payloads: HashMap::new(),
            shadows: HashMap::new(),
            readers: HashMap::new(),
            writes: HashMap::new(),
            torn: Stream::new(seed, "data", "torn writes"),
            lost: BTreeSet::new(),
            lost_in_drives: BTreeSet::new(),
            report: DataReport::default(),
        }
    }

    /// A host's request begins.
    pub fn begin(&mut self, id: IoId, array: u32, write: bool, offset: u64, bytes: u64) {
        self.clock += 1;
        if !write {
            let reader = Reader {
                began: self.clock,
                ..Reader::default()
            };
            self.readers.insert(id, reader);
            return;
        }
        let write = Write {
            number: self.clock,
            array,
            offset,
            bytes,
            refused: false,
        };
        self.writes.insert(id, write);
        self.truth[array as usize].begin(self.clock, offset, bytes);
    }

    /// A write is over; acknowledged, it replaces what was over before it began.
    fn end_write(&mut self, write: Write, acknowledged: bool) {
        let began = self.readers.values().map(|reader| reader.began);
        let oldest = began.filter(|&began| began > 0).min().unwrap_or(self.clock);
        let range = (write.offset, write.bytes);
        let truth = &mut self.truth[write.array as usize];
        truth.end(write.number, range, acknowledged, (self.clock, oldest));
    }

    /// A host's request is told to be complete.
    pub fn complete(&mut self, id: IoId, array: u32, offset: u64, bytes: u64) {
        self.clock += 1;
        if let Some(write) = self.writes.remove(&id) {
            self.report.acknowledged_writes += u64::from(!write.refused);
            self.end_write(write, !write.refused);
        }
        if let Some(reader) = self.readers.remove(&id) {
            if reader.refused {
                self.report.refused_reads += 1;
                return;
            }
            let truth = &self.truth[array as usize];
            let stale = grains(offset, bytes).any(|grain| {
                let got = reader.got.get(grain);
                got.is_none_or(|got| !truth.was_right(grain, got, reader.began))
            });
            self.report.stale_reads += u64::from(stale);
        }
    }

    /// A request is refused: what it wants is lost, or cannot be kept.
    pub fn refuse(&mut self, id: IoId) {
        match self.writes.get_mut(&id) {
            Some(write) => write.refused = true,
            None => self.readers.entry(id).or_default().refused = true,
        }
    }

    /// A write's data are in the cache.
    pub fn cache_write(&mut self, id: IoId, array: u32, offset: u64, bytes: u64) {
        if let Some(write) = self.writes.get(&id) {
            for grain in grains(offset, bytes) {
                self.cache[array as usize].insert(grain, token(write.number, grain));
            }
        }
    }

    /// What a reader takes from the cache.
    pub fn read_cache(&mut self, reader: IoId, array: u32, offset: u64, bytes: u64) {
        let got = &mut self.readers.entry(reader).or_default().got;
        let cache = &self.cache[array as usize];
        for grain in grains(offset, bytes) {
            got.insert(grain, cache.get(grain).unwrap_or(0));
        }
    }

    /// What a reader has read goes into the cache.
    pub fn fill_cache(&mut self, reader: IoId, array: u32, offset: u64, bytes: u64) {
        let Some(reader) = self.readers.get(&reader) else {
            return;
        };
        for grain in grains(offset, bytes) {
            if let Some(got) = reader.got.get(grain) {
                self.cache[array as usize].insert(grain, got);
            }
        }
    }

    /// What a reader has read goes to the one above it, as far as that has nothing newer.
    pub fn hand_up(&mut self, reader: IoId, above: IoId) {
        if let Some(read) = self.readers.remove(&reader) {
            let above = &mut self.readers.entry(above).or_default().got;
            for (grain, token) in read.got.iter() {
                above.insert_new(grain, token);
            }
        }
    }

    /// The end of a reader that is not a host's request.
    pub fn forget_reader(&mut self, reader: IoId) {
        self.readers.remove(&reader);
    }

    /// Content of a sector is gone: what the drives hold is all there is. Acknowledged writes that
    /// a copy lacks are lost, since nobody knows which copy is right; `in_drives` if drives' own
    /// caches had them. What is left is right from now on, unless it never was.
    pub fn lose(&mut self, array: u32, offset: u64, held: &OnDrives, in_drives: bool) {
        let (truth, grain) = (&mut self.truth[array as usize], offset / GRAIN);
        if !truth.knows(grain) {
            return;
        }
        let is_right = |token: &u64| truth.is_right(grain, *token);
        if !held.tokens.is_empty() && held.tokens.iter().all(is_right) {
            return;
        }
        let lost: Vec<u64> = truth.told(grain).collect();
        if in_drives {
            self.lost_in_drives.extend(&lost);
        }
        self.lost.extend(lost);
        for &token in &held.tokens {
            if !held.computed || truth.remembers(grain, token) {
                truth.admit(grain, token);
            }
        }
    }

    /// At the end: `lacking` are acknowledged writes that cannot be read.
    pub fn count_lost(&self, lacking: &BTreeSet<u64>) -> (u64, u64) {
        let all = self.lost.union(lacking).count() as u64;
        (all, self.lost_in_drives.len() as u64)
    }

    /// Whether a sector was ever written.
    pub fn knows(&self, array: u32, offset: u64) -> bool {
        self.truth[array as usize].knows(offset / GRAIN)
    }

    /// Everything under way is gone; the cache's content too unless it is kept.
    pub fn power_failed(&mut self, keep_cache: bool, kept: &[u32]) {
        self.payloads.clear();
        self.shadows.retain(|job, _| kept.contains(job));
        self.readers.clear();
        self.clock += 1;
        for write in std::mem::take(&mut self.writes).into_values() {
            self.end_write(write, false);
        }
        if !keep_cache {
            self.cache.iter_mut().for_each(Tokens::clear);
        }
    }

    /// What the cache holds of an array's offset.
    pub fn cached(&self, array: u32, offset: u64) -> u64 {
        let cache = &self.cache[array as usize];
        cache.get(offset / GRAIN).unwrap_or(0)
    }

    /// Every sector of an array that was ever written.
    pub fn written(&self, array: u32) -> impl Iterator<Item = u64> + '_ {
        self.truth[array as usize].written()
    }

    /// Whether a token is right for a sector now.
    pub fn is_right(&self, array: u32, offset: u64, token: u64) -> bool {
        self.truth[array as usize].is_right(offset / GRAIN, token)
    }

    /// The acknowledged writes that a sector should hold.
    pub fn told(&self, array: u32, offset: u64) -> impl Iterator<Item = u64> + '_ {
        self.truth[array as usize].told(offset / GRAIN)
    }
}
