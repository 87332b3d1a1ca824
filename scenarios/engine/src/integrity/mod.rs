//! Data integrity: which version of the data is where, and whether reads get the right one.
//!
//! Every sector that was written has a token that stands for its content. Drives, cache and
//! commands carry tokens along the same paths as the simulated data. Parity is computed from tokens
//! as the controller computes it from bytes, and lost units are recovered from it. A read is right
//! if it gets the last acknowledged version, or one whose write overlapped it in time. See
//! docs/explanation/integrity.md.
//!
//! - `reference`: the versions that each sector may have;
//! - `sectors`, `tokens`, `pages`: tokens ([`Token`]) by sector;
//! - `medium`: the content of a drive;
//! - `commands`: the tokens that commands carry;
//! - `jobs`: the tokens that a job reads and makes;
//! - `outside`: versions as a caller from outside needs them.

pub(crate) mod commands;
pub(crate) mod jobs;
pub(crate) mod medium;
pub(crate) mod outside;
pub(crate) mod pages;
pub(crate) mod reference;
pub(crate) mod sectors;
pub(crate) mod tokens;

use crate::ids::{ArrayId, JobId};
use crate::integrity::commands::{DriveTokens, Target};
use crate::integrity::jobs::{JobTokens, key};
use crate::integrity::outside::OutsideVersions;
use crate::integrity::reference::ReferenceCopy;
use crate::integrity::sectors::sectors;
use crate::integrity::tokens::Tokens;
use crate::layout::{Extent, Role, Token};
use raidlab_io::{ByteRange, IoId, Op};
use raidlab_kernel::Table;
use raidlab_models::SECTOR;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};

/// The audit's figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DataReport {
    /// Writes that were acknowledged.
    pub acknowledged_writes: u64,
    /// Sectors whose last acknowledged version can no longer be read, at the end of the run.
    pub lost_sectors: u64,
    /// Acknowledged writes of which a sector was lost, at the end of the run or in a power failure.
    pub lost_writes: u64,
    /// Of these, the writes that were lost with the content of drives' own volatile caches.
    pub lost_in_drive_caches: u64,
    /// Reads that got an older version or wrong data without an error.
    pub stale_reads: u64,
    /// Reads that were refused because data are lost.
    pub refused_reads: u64,
    /// Stripes whose parity does not fit their data, or whose copies differ, at the end of the run.
    pub corrupt_stripes: u64,
}

/// The content of a sector on the drives.
#[derive(Clone, Debug, Default)]
pub(crate) struct OnDrives {
    /// The token of every copy that can be read, or the one that is computed from parity.
    pub tokens: Vec<Token>,
    /// True if it is computed from parity: then it may be wrong.
    pub computed: bool,
}

/// Where content was that a power failure or a failed device lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LostFrom {
    /// In a drive's own volatile cache.
    DriveCache,
    /// In the controller's cache or on an SSD cache.
    Cache,
}

/// A host's write under way.
#[derive(Clone, Copy, Debug)]
struct Write {
    number: u64,
    array: ArrayId,
    range: ByteRange,
    refused: bool,
}

/// A host's read under way, or a read into a cache or of a copy.
#[derive(Debug, Default)]
struct Reader {
    /// When it began; 0 of all but a host's reads.
    began: u64,
    /// The tokens that it has read, by the array's sectors.
    got: Tokens,
    refused: bool,
}

/// All versions of all data.
#[derive(Debug)]
pub(crate) struct Integrity {
    /// Counts the beginnings and ends of requests.
    clock: u64,
    /// The content of the drives and of commands.
    pub drives: DriveTokens,
    /// What jobs have read and make.
    pub jobs: JobTokens,
    /// By array: the versions that each sector may have.
    reference: Table<ArrayId, ReferenceCopy>,
    /// By array: the content of the cache, as far as its lines are valid.
    cache: Table<ArrayId, Tokens>,
    readers: HashMap<IoId, Reader>,
    writes: HashMap<IoId, Write>,
    /// Acknowledged writes that are lost.
    lost: BTreeSet<u64>,
    /// Those of them that were lost with the content of drives' caches.
    lost_in_drives: BTreeSet<u64>,
    /// Notes for an outside caller that asked for them.
    pub outside: Option<OutsideVersions>,
    /// The figures so far.
    pub report: DataReport,
}

impl Integrity {
    /// Nothing has been written yet.
    pub fn new(seed: u64, drives: usize, arrays: usize) -> Integrity {
        Integrity {
            clock: 0,
            drives: DriveTokens::new(seed, drives),
            jobs: JobTokens::default(),
            reference: (0..arrays).map(|_| ReferenceCopy::default()).collect(),
            cache: vec![Tokens::default(); arrays].into(),
            readers: HashMap::new(),
            writes: HashMap::new(),
            lost: BTreeSet::new(),
            lost_in_drives: BTreeSet::new(),
            outside: None,
            report: DataReport::default(),
        }
    }

    /// A host's request begins.
    pub fn begin(&mut self, id: IoId, array: ArrayId, op: Op, range: ByteRange) {
        self.clock += 1;
        if op != Op::Write {
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
            range,
            refused: false,
        };
        self.writes.insert(id, write);
        self.reference[array].begin(self.clock, range);
    }

    /// A write is over. If it was acknowledged, it replaces versions that were over before it began.
    fn end_write(&mut self, write: Write, acknowledged: bool) {
        let began = self.readers.values().map(|reader| reader.began);
        let oldest = began.filter(|&began| began > 0).min().unwrap_or(self.clock);
        let range = write.range;
        let reference = &mut self.reference[write.array];
        reference.end(write.number, range, acknowledged, (self.clock, oldest));
    }

    /// A host's request is complete.
    pub fn complete(&mut self, id: IoId, array: ArrayId, range: ByteRange) {
        self.clock += 1;
        self.outside_ends(id, range);
        if let Some(write) = self.writes.remove(&id) {
            self.report.acknowledged_writes += u64::from(!write.refused);
            self.end_write(write, !write.refused);
        }
        if let Some(reader) = self.readers.remove(&id) {
            if reader.refused {
                self.report.refused_reads += 1;
                return;
            }
            let reference = &self.reference[array];
            let stale = sectors(range).any(|sector| {
                let got = reader.got.get(sector);
                got.is_none_or(|got| !reference.was_right(sector, got, reader.began))
            });
            self.report.stale_reads += u64::from(stale);
        }
    }

    /// A request is refused: its data are lost, or cannot be stored.
    pub fn refuse(&mut self, id: IoId) {
        match self.writes.get_mut(&id) {
            Some(write) => write.refused = true,
            None => self.readers.entry(id).or_default().refused = true,
        }
    }

    /// A write's data are in the cache.
    pub fn cache_write(&mut self, id: IoId, array: ArrayId, range: ByteRange) {
        if let Some(write) = self.writes.get(&id) {
            for sector in sectors(range) {
                self.cache[array].insert(sector, Token::written(write.number, sector));
            }
        }
    }

    /// A reader gets a range from the cache.
    pub fn read_cache(&mut self, reader: IoId, array: ArrayId, range: ByteRange) {
        let got = &mut self.readers.entry(reader).or_default().got;
        let cache = &self.cache[array];
        for sector in sectors(range) {
            got.insert(sector, cache.get(sector).unwrap_or_default());
        }
    }

    /// A range that a reader has read goes into the cache.
    pub fn fill_cache(&mut self, reader: IoId, array: ArrayId, range: ByteRange) {
        let Some(reader) = self.readers.get(&reader) else {
            return;
        };
        for sector in sectors(range) {
            if let Some(got) = reader.got.get(sector) {
                self.cache[array].insert(sector, got);
            }
        }
    }

    /// What a reader has read goes to the one above it, except where that has newer data.
    pub fn pass_up(&mut self, reader: IoId, above: IoId) {
        if let Some(read) = self.readers.remove(&reader) {
            let above = &mut self.readers.entry(above).or_default().got;
            for (sector, token) in read.got.iter() {
                above.insert_new(sector, token);
            }
        }
    }

    /// The end of a reader that is not a host's request.
    pub fn end_reader(&mut self, reader: IoId) {
        self.readers.remove(&reader);
    }

    /// A sector has lost content: only what is `left` on the drives exists. Acknowledged writes that
    /// one of the copies lacks are lost, since nobody can say which copy is right. What is left
    /// counts as right from now on, unless it never was.
    pub fn lose(&mut self, array: ArrayId, offset: u64, left: &OnDrives, from: LostFrom) {
        let (reference, sector) = (&mut self.reference[array], offset / SECTOR);
        if !reference.is_written(sector) {
            return;
        }
        let is_right = |token: &Token| reference.is_right(sector, *token);
        if !left.tokens.is_empty() && left.tokens.iter().all(is_right) {
            return;
        }
        let lost: Vec<u64> = reference.acknowledged(sector).collect();
        if from == LostFrom::DriveCache {
            self.lost_in_drives.extend(&lost);
        }
        self.lost.extend(lost);
        for &token in &left.tokens {
            if !left.computed || reference.has_version(sector, token) {
                reference.accept(sector, token);
            }
        }
    }

    /// How many writes were lost, in all and in drives' caches; `lacking` are acknowledged writes that
    /// cannot be read at the end.
    pub fn count_lost(&self, lacking: &BTreeSet<u64>) -> (u64, u64) {
        let all = self.lost.union(lacking).count() as u64;
        (all, self.lost_in_drives.len() as u64)
    }

    /// Whether a sector was ever written.
    pub fn is_written(&self, array: ArrayId, offset: u64) -> bool {
        self.reference[array].is_written(offset / SECTOR)
    }

    /// The power fails: everything under way is gone but `saved` jobs, and the cache's content too
    /// unless a backup preserves it.
    pub fn power_failed(&mut self, backed_up: bool, saved: &[JobId]) {
        self.drives.power_failed();
        self.jobs.keep(saved);
        self.readers.clear();
        if let Some(outside) = &mut self.outside {
            outside.power_failed();
        }
        self.clock += 1;
        for write in std::mem::take(&mut self.writes).into_values() {
            self.end_write(write, false);
        }
        if !backed_up {
            self.cache.iter_mut().for_each(Tokens::clear);
        }
    }

    /// The cache's token of an array's offset.
    pub fn cached(&self, array: ArrayId, offset: u64) -> Token {
        let cache = &self.cache[array];
        cache.get(offset / SECTOR).unwrap_or_default()
    }

    /// Every sector of an array that was ever written.
    pub fn written(&self, array: ArrayId) -> impl Iterator<Item = u64> + '_ {
        self.reference[array].written()
    }

    /// Whether a token is right for a sector now.
    pub fn is_right(&self, array: ArrayId, offset: u64, token: Token) -> bool {
        self.reference[array].is_right(offset / SECTOR, token)
    }

    /// The acknowledged writes that a sector should hold.
    pub fn acknowledged(&self, array: ArrayId, offset: u64) -> impl Iterator<Item = u64> + '_ {
        self.reference[array].acknowledged(offset / SECTOR)
    }

    /// A command is about to go, with `bytes` bytes more for a target; a write's data go with it.
    pub fn attach(&mut self, command: IoId, op: Op, target: Target, bytes: u64) {
        let stripe = match (op, target) {
            (Op::Write, Target::Unit(job, ..)) => Some(&*self.jobs.of(job)),
            _ => None,
        };
        self.drives.attach(command, target, stripe, bytes);
    }

    /// A command's data reach the job or request that sent it.
    pub fn deliver(&mut self, command: IoId, parent: IoId, op: Op) {
        let payload = self.drives.take(command).filter(|_| op == Op::Read);
        for (target, at, value) in payload.into_iter().flat_map(|payload| payload.delivered()) {
            match target {
                Target::Unit(job, role, start) => {
                    let sector = u64::from(start) / SECTOR + at;
                    self.jobs.of(job).read.insert(key(role, sector), value);
                }
                Target::Range(offset) => {
                    let got = &mut self.readers.entry(parent).or_default().got;
                    got.insert_new(offset / SECTOR + at, value);
                }
            }
        }
    }

    /// A job takes new data from the write of its parent, from what its parent has read if that
    /// copies a line, or from the cache if it has none; `offset` is the array's offset of the extent.
    pub fn new_data(
        &mut self,
        job: JobId,
        parent: IoId,
        array: ArrayId,
        extent: Extent,
        offset: u64,
    ) {
        let write = self.writes.get(&parent).map(|write| write.number);
        let range = ByteRange::new(offset, u64::from(extent.end - extent.start));
        for (at, sector) in sectors(range).enumerate() {
            let value = match write {
                Some(write) => Token::written(write, sector),
                None => match self.readers.get(&parent) {
                    Some(copied) => copied.got.get(sector).unwrap_or_default(),
                    None => self.cached(array, sector * SECTOR),
                },
            };
            let in_unit = u64::from(extent.start) / SECTOR + at as u64;
            let made = &mut self.jobs.of(job).new;
            made.insert(key(Role::Data(extent.column), in_unit), value);
        }
    }

    /// What a job has recovered of an extent goes to the request or copy that waits for it.
    pub fn deliver_recovered(&mut self, job: JobId, parent: IoId, extent: Extent, offset: u64) {
        let range = ByteRange::new(offset, u64::from(extent.end - extent.start));
        for (at, sector) in sectors(range).enumerate() {
            let in_unit = u64::from(extent.start) / SECTOR + at as u64;
            if let Some(value) = self.jobs.read(job, Role::Data(extent.column), in_unit) {
                let got = &mut self.readers.entry(parent).or_default().got;
                got.insert_new(sector, value);
            }
        }
    }

    /// Notes for an outside caller are taken from now on.
    pub fn serve_outside(&mut self) {
        self.outside = Some(OutsideVersions::default());
    }

    /// A request of an outside caller has begun.
    pub fn outside_begins(&mut self, id: IoId, mark: u32) {
        let write = self.writes.get(&id).map(|write| write.number);
        if let Some(outside) = &mut self.outside {
            outside.begins(id, mark, write);
        }
    }

    /// A request is complete; a read of an outside caller has got what its reader has.
    fn outside_ends(&mut self, id: IoId, range: ByteRange) {
        let Some(outside) = &mut self.outside else {
            return;
        };
        let reader = self.readers.get(&id).filter(|reader| !reader.refused);
        if let (Some(mark), Some(reader)) = (outside.ends(id), reader) {
            let token = |sector| reader.got.get(sector).unwrap_or_default();
            outside.keep(mark, sectors(range).map(token).collect());
        }
    }
}
