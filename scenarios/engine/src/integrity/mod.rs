//! The data's integrity: which version of the data lies where, and whether reads get the right one.
//!
//! Every sector that was written holds a token that stands for its content; drives, cache and
//! commands carry tokens along the same paths as the simulated data, parity is computed from them
//! as the controller would, and lost units are recovered from it. A read is right if it gets the
//! last acknowledged version, or one whose write ran beside it. See docs/explanation/integrity.md.

pub(crate) mod commands;
pub(crate) mod jobs;
pub(crate) mod medium;
pub(crate) mod pages;
pub(crate) mod reference;
pub(crate) mod sectors;
pub(crate) mod tokens;

use crate::integrity::commands::Payload;
use crate::integrity::jobs::Shadow;
use crate::integrity::medium::Medium;
use crate::integrity::reference::ReferenceCopy;
use crate::integrity::sectors::{TOKEN_BYTES, lbas, token};
use crate::integrity::tokens::Tokens;
use raidlab_kernel::{IoId, Stream};
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};

/// What became of the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DataReport {
    /// Writes that were acknowledged.
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

/// A host's write in flight.
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
    reference: Vec<ReferenceCopy>,
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
            reference: (0..arrays).map(|_| ReferenceCopy::default()).collect(),
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
        self.reference[array as usize].begin(self.clock, offset, bytes);
    }

    /// A write is over; acknowledged, it replaces what was over before it began.
    fn end_write(&mut self, write: Write, acknowledged: bool) {
        let began = self.readers.values().map(|reader| reader.began);
        let oldest = began.filter(|&began| began > 0).min().unwrap_or(self.clock);
        let range = (write.offset, write.bytes);
        let reference = &mut self.reference[write.array as usize];
        reference.end(write.number, range, acknowledged, (self.clock, oldest));
    }

    /// A host's request is acknowledged.
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
            let reference = &self.reference[array as usize];
            let stale = lbas(offset, bytes).any(|lba| {
                let got = reader.got.get(lba);
                got.is_none_or(|got| !reference.was_right(lba, got, reader.began))
            });
            self.report.stale_reads += u64::from(stale);
        }
    }

    /// A request is refused: what it wants is lost, or cannot be stored.
    pub fn refuse(&mut self, id: IoId) {
        match self.writes.get_mut(&id) {
            Some(write) => write.refused = true,
            None => self.readers.entry(id).or_default().refused = true,
        }
    }

    /// A write's data are in the cache.
    pub fn cache_write(&mut self, id: IoId, array: u32, offset: u64, bytes: u64) {
        if let Some(write) = self.writes.get(&id) {
            for lba in lbas(offset, bytes) {
                self.cache[array as usize].insert(lba, token(write.number, lba));
            }
        }
    }

    /// What a reader takes from the cache.
    pub fn read_cache(&mut self, reader: IoId, array: u32, offset: u64, bytes: u64) {
        let got = &mut self.readers.entry(reader).or_default().got;
        let cache = &self.cache[array as usize];
        for lba in lbas(offset, bytes) {
            got.insert(lba, cache.get(lba).unwrap_or(0));
        }
    }

    /// What a reader has read goes into the cache.
    pub fn fill_cache(&mut self, reader: IoId, array: u32, offset: u64, bytes: u64) {
        let Some(reader) = self.readers.get(&reader) else {
            return;
        };
        for lba in lbas(offset, bytes) {
            if let Some(got) = reader.got.get(lba) {
                self.cache[array as usize].insert(lba, got);
            }
        }
    }

    /// What a reader has read goes to the one above it, as far as that has nothing newer.
    pub fn hand_up(&mut self, reader: IoId, above: IoId) {
        if let Some(read) = self.readers.remove(&reader) {
            let above = &mut self.readers.entry(above).or_default().got;
            for (lba, token) in read.got.iter() {
                above.insert_new(lba, token);
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
    pub fn lose(&mut self, array: u32, offset: u64, content: &OnDrives, in_drives: bool) {
        let (reference, lba) = (&mut self.reference[array as usize], offset / TOKEN_BYTES);
        if !reference.knows(lba) {
            return;
        }
        let is_right = |token: &u64| reference.is_right(lba, *token);
        if !content.tokens.is_empty() && content.tokens.iter().all(is_right) {
            return;
        }
        let lost: Vec<u64> = reference.acknowledged(lba).collect();
        if in_drives {
            self.lost_in_drives.extend(&lost);
        }
        self.lost.extend(lost);
        for &token in &content.tokens {
            if !content.computed || reference.remembers(lba, token) {
                reference.admit(lba, token);
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
        self.reference[array as usize].knows(offset / TOKEN_BYTES)
    }

    /// Everything in flight is lost, and the cache's content unless it is preserved.
    pub fn power_failed(&mut self, cache_survives: bool, preserved: &[u32]) {
        self.payloads.clear();
        self.shadows.retain(|job, _| preserved.contains(job));
        self.readers.clear();
        self.clock += 1;
        for write in std::mem::take(&mut self.writes).into_values() {
            self.end_write(write, false);
        }
        if !cache_survives {
            self.cache.iter_mut().for_each(Tokens::clear);
        }
    }

    /// What the cache holds of an array's offset.
    pub fn cached(&self, array: u32, offset: u64) -> u64 {
        let cache = &self.cache[array as usize];
        cache.get(offset / TOKEN_BYTES).unwrap_or(0)
    }

    /// Every sector of an array that was ever written.
    pub fn written(&self, array: u32) -> impl Iterator<Item = u64> + '_ {
        self.reference[array as usize].written()
    }

    /// Whether a token is right for a sector now.
    pub fn is_right(&self, array: u32, offset: u64, token: u64) -> bool {
        self.reference[array as usize].is_right(offset / TOKEN_BYTES, token)
    }

    /// The acknowledged writes that a sector should hold.
    pub fn acknowledged(&self, array: u32, offset: u64) -> impl Iterator<Item = u64> + '_ {
        self.reference[array as usize].acknowledged(offset / TOKEN_BYTES)
    }
}
