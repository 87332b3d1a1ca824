//! The data's fate: which version of the data lies where, and whether reads get the right one.
//!
//! Every sector that was written holds a token that stands for its content; drives, cache and
//! commands carry tokens along the same ways as the simulated data, parity is computed from them
//! as the controller would, and lost units are recovered from it. A read is right if it gets the
//! last acknowledged version, or one whose write ran beside it. See docs/models/data-fate.md.

use super::gf;
use super::medium::Medium;
use super::stripe::{Extent, Role, Way};
use raidlab_kernel::{IoId, Stream, Time};
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};

/// Bytes under one token.
pub(crate) const GRAIN: u64 = 512;

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

/// A version that a sector may have.
#[derive(Clone, Copy, Debug)]
struct Version {
    token: u64,
    write: u64,
    /// When it was acknowledged; none if not, or not yet.
    acknowledged: Option<u64>,
    /// When its write was over, acknowledged, refused or cut off; none if it is under way.
    over: Option<u64>,
    /// When a later version replaced it; none if none has.
    replaced: Option<u64>,
}

/// Versions of a sector above which those are forgotten that were replaced before every read
/// under way began.
const REMEMBERED: usize = 32;

/// What drives hold of a sector.
#[derive(Clone, Debug, Default)]
pub(crate) struct OnDrives {
    /// Of every living copy, or the one that parity gives.
    pub tokens: Vec<u64>,
    /// True if parity gives it: then it may be nonsense.
    pub computed: bool,
}

/// Where a command's data belong.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    /// A unit of a job's stripe, from a byte within the unit on.
    Unit(u32, Role, u32),
    /// An offset of the array, for whoever waits.
    Range(u64),
}

#[derive(Debug)]
struct Payload {
    target: Target,
    tokens: Vec<u64>,
    /// True if the drive's cache has taken them.
    placed: bool,
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

/// What a job knows of its stripe: tokens by (role, sector of the unit).
#[derive(Debug, Default)]
struct Shadow {
    new: HashMap<(Role, u64), u64>,
    read: HashMap<(Role, u64), u64>,
}

#[derive(Debug, Default)]
struct Reader {
    began: u64,
    /// Tokens that were right when it began, by sector of the array.
    right: Vec<Vec<u64>>,
    got: HashMap<u64, u64>,
    refused: bool,
}

/// All versions of all data.
#[derive(Debug)]
pub(crate) struct Fate {
    clock: u64,
    drives: Vec<Medium>,
    /// By array: what each sector may hold.
    truth: Vec<HashMap<u64, Vec<Version>>>,
    /// By array: what the cache holds, as far as its lines are valid.
    cache: Vec<HashMap<u64, u64>>,
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

/// The versions that no later one has replaced.
fn current(versions: &[Version]) -> impl Iterator<Item = &Version> {
    versions.iter().filter(|v| v.replaced.is_none())
}

pub(super) fn grains(offset: u64, bytes: u64) -> std::ops::Range<u64> {
    offset / GRAIN..(offset + bytes).div_ceil(GRAIN)
}

fn token(write: u64, grain: u64) -> u64 {
    // A well-mixed hash of both (the finaliser of SplitMix64), never 0: that is "never written".
    let mut bits =
        write.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ grain.wrapping_mul(0xd6e8_feb8_6659_fd93);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (bits ^ bits >> 31) | 1
}

impl Fate {
    pub fn new(seed: u64, drives: usize, arrays: usize) -> Fate {
        Fate {
            clock: 0,
            drives: (0..drives).map(|_| Medium::default()).collect(),
            truth: vec![HashMap::new(); arrays],
            cache: vec![HashMap::new(); arrays],
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

    fn right(&self, array: u32, grain: u64) -> Vec<u64> {
        self.truth[array as usize]
            .get(&grain)
            .map_or(vec![0], |versions| {
                current(versions).map(|v| v.token).collect()
            })
    }

    /// Whether a token was right at any time since `began`.
    fn was_right(&self, array: u32, grain: u64, token: u64, began: u64) -> bool {
        let versions = self.truth[array as usize].get(&grain);
        versions
            .into_iter()
            .flatten()
            .any(|v| v.token == token && v.replaced.is_none_or(|replaced| replaced > began))
    }

    /// A host's request begins.
    pub fn begin(&mut self, id: IoId, array: u32, write: bool, offset: u64, bytes: u64) {
        self.clock += 1;
        if !write {
            let right = grains(offset, bytes)
                .map(|g| self.right(array, g))
                .collect();
            let reader = Reader {
                began: self.clock,
                right,
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
        for grain in grains(offset, bytes) {
            let versions = self.truth[array as usize].entry(grain).or_insert_with(|| {
                // Before the first write there were zeros.
                vec![Version {
                    token: 0,
                    write: 0,
                    acknowledged: Some(0),
                    over: Some(0),
                    replaced: None,
                }]
            });
            versions.push(Version {
                token: token(self.clock, grain),
                write: self.clock,
                acknowledged: None,
                over: None,
                replaced: None,
            });
        }
    }

    /// A write is over; acknowledged, it replaces what was over before it began.
    fn end_write(&mut self, write: Write, acknowledged: bool) {
        let began = self.readers.values().map(|reader| reader.began);
        let oldest = began.filter(|&began| began > 0).min().unwrap_or(self.clock);
        for grain in grains(write.offset, write.bytes) {
            let Some(versions) = self.truth[write.array as usize].get_mut(&grain) else {
                continue;
            };
            if acknowledged {
                for old in versions.iter_mut().filter(|v| v.replaced.is_none()) {
                    if old.over.is_some_and(|at| at <= write.number) {
                        old.replaced = Some(self.clock);
                    }
                }
                if versions.len() > REMEMBERED {
                    versions.retain(|v| v.replaced.is_none_or(|at| at > oldest));
                }
            }
            for version in versions.iter_mut().filter(|v| v.write == write.number) {
                version.over = Some(self.clock);
                version.acknowledged = acknowledged.then_some(self.clock);
            }
        }
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
            let stale = grains(offset, bytes)
                .zip(&reader.right)
                .any(|(grain, right)| {
                    let got = reader.got.get(&grain).copied();
                    got.is_none_or(|got| {
                        !right.contains(&got) && !self.was_right(array, grain, got, reader.began)
                    })
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
        for grain in grains(offset, bytes) {
            let held = self.cache[array as usize].get(&grain).copied().unwrap_or(0);
            self.readers
                .entry(reader)
                .or_default()
                .got
                .insert(grain, held);
        }
    }

    /// What a reader has read goes into the cache.
    pub fn fill_cache(&mut self, reader: IoId, array: u32, offset: u64, bytes: u64) {
        for grain in grains(offset, bytes) {
            let got = self.readers.get(&reader).and_then(|r| r.got.get(&grain));
            if let Some(&got) = got {
                self.cache[array as usize].insert(grain, got);
            }
        }
    }

    /// The end of a reader that is not a host's request.
    pub fn forget_reader(&mut self, reader: IoId) {
        self.readers.remove(&reader);
    }

    /// A job takes new data from the write of its parent, or from the cache if it has none;
    /// `offset` is the array's offset of the extent.
    pub fn new_data(&mut self, job: u32, parent: IoId, array: u32, extent: Extent, offset: u64) {
        let write = self.writes.get(&parent).map(|write| write.number);
        for (at, grain) in grains(offset, u64::from(extent.end - extent.start)).enumerate() {
            let value = match write {
                Some(write) => token(write, grain),
                None => self.cache[array as usize].get(&grain).copied().unwrap_or(0),
            };
            let sector = u64::from(extent.start) / GRAIN + at as u64;
            let shadow = self.shadows.entry(job).or_default();
            shadow
                .new
                .insert((Role::Data(extent.column), sector), value);
        }
    }

    /// A command is about to go; a write's data go with it.
    pub fn attach(&mut self, command: IoId, write: bool, target: Target, bytes: u64) {
        let mut tokens = Vec::new();
        if let (true, Target::Unit(job, role, start)) = (write, target) {
            let shadow = self.shadows.entry(job).or_default();
            for sector in grains(u64::from(start), bytes) {
                let value = shadow.new.get(&(role, sector)).copied();
                // A repaired unit goes back as it was recovered.
                let value = value.or_else(|| shadow.read.get(&(role, sector)).copied());
                tokens.push(value.unwrap_or(0));
            }
        }
        let payload = Payload {
            target,
            tokens,
            placed: false,
        };
        self.payloads.insert(command, payload);
    }

    /// A command is at the medium.
    pub fn at_medium(&mut self, command: IoId, write: bool, drive: u32, offset: u64, bytes: u64) {
        let Some(payload) = self.payloads.get_mut(&command) else {
            return;
        };
        let medium = &mut self.drives[drive as usize];
        for (at, sector) in grains(offset, bytes).enumerate() {
            if !write {
                payload.tokens.push(medium.read(sector));
            } else if let Some(&value) = payload.tokens.get(at).filter(|_| !payload.placed) {
                medium.write(sector, value);
            }
        }
    }

    /// A drive's volatile cache takes a command's data.
    pub fn hold(&mut self, command: IoId, drive: u32, offset: u64) {
        if let Some(payload) = self.payloads.get_mut(&command) {
            payload.placed = true;
            let medium = &mut self.drives[drive as usize];
            for (at, &value) in payload.tokens.iter().enumerate() {
                medium.hold(offset / GRAIN + at as u64, value);
            }
        }
    }

    /// What a drive's volatile cache holds of a range (offset, bytes) now is on the medium from
    /// `at` on.
    pub fn settles(&mut self, drive: u32, range: (u64, u64), at: Time, now: Time) {
        self.drives[drive as usize].settles(range.0, range.1, at, now);
    }

    /// A drive's volatile cache loses its content; gives the sectors that have older content now.
    pub fn cut_drive(&mut self, drive: u32, now: Time) -> Vec<u64> {
        self.drives[drive as usize].cut_power(now)
    }

    /// The power fails while a write is on its way: some of its sectors, from the first on, may
    /// have reached the medium.
    pub fn tear(&mut self, command: IoId, drive: u32, offset: u64) {
        if let Some(payload) = self.payloads.remove(&command) {
            let reached = self.torn.below(payload.tokens.len() as u64 + 1) as usize;
            for (at, &value) in payload.tokens.iter().take(reached).enumerate() {
                let sector = offset / GRAIN + at as u64;
                self.drives[drive as usize].write(sector, value);
            }
        }
    }

    /// A command's data reach whoever sent it.
    pub fn deliver(&mut self, command: IoId, parent: IoId, read: bool) {
        let Some(payload) = self.payloads.remove(&command) else {
            return;
        };
        if !read {
            return;
        }
        for (at, &value) in payload.tokens.iter().enumerate() {
            match payload.target {
                Target::Unit(job, role, start) => {
                    let sector = u64::from(start) / GRAIN + at as u64;
                    let shadow = self.shadows.entry(job).or_default();
                    shadow.read.insert((role, sector), value);
                }
                Target::Range(offset) => {
                    let grain = offset / GRAIN + at as u64;
                    let got = &mut self.readers.entry(parent).or_default().got;
                    got.entry(grain).or_insert(value);
                }
            }
        }
    }

    /// A command's data are dropped.
    pub fn drop_payload(&mut self, command: IoId) {
        self.payloads.remove(&command);
    }

    /// A job computes: lost data from what it has read, then new parity.
    pub fn compute(&mut self, job: u32, columns: u32, way: Way, ranges: &[(u32, u32)]) {
        let Some(shadow) = self.shadows.get_mut(&job) else {
            return;
        };
        for &(start, end) in ranges {
            for sector in grains(u64::from(start), u64::from(end - start)) {
                let read = |role| shadow.read.get(&(role, sector)).copied();
                let new = |column| shadow.new.get(&(Role::Data(column), sector)).copied();
                let old_parity = [read(Role::Parity(0)), read(Role::Parity(1))];
                let made = if way == Way::Modify {
                    let changes = (0..columns).filter_map(|c| {
                        let old = read(Role::Data(c)).unwrap_or(0);
                        new(c).map(|new| (c, new ^ old))
                    });
                    changes.fold(old_parity, |[p, q], (c, change)| {
                        [
                            p.map(|p| p ^ change),
                            q.map(|q| q ^ gf::times(change, gf::weight(c))),
                        ]
                    })
                } else {
                    let mut data: Vec<Option<u64>> =
                        (0..columns).map(|c| read(Role::Data(c))).collect();
                    if way == Way::Recover {
                        gf::recover(&mut data, old_parity);
                    }
                    for (column, value) in data.iter().enumerate() {
                        if let Some(value) = *value {
                            let role = Role::Data(column as u32);
                            shadow.read.entry((role, sector)).or_insert(value);
                        }
                    }
                    let new = |column| shadow.new.get(&(Role::Data(column), sector)).copied();
                    let whole = (0..columns).map(|c| new(c).or(data[c as usize]).unwrap_or(0));
                    let [p, q] = gf::parities(whole);
                    [Some(p), Some(q)]
                };
                for (which, value) in made.into_iter().enumerate() {
                    if let Some(value) = value {
                        let role = Role::Parity(which as u32);
                        shadow.new.insert((role, sector), value);
                    }
                }
            }
        }
    }

    /// A job makes a unit's copies anew from the one that it believes.
    pub fn copy_anew(&mut self, job: u32) {
        let Some(shadow) = self.shadows.get_mut(&job) else {
            return;
        };
        let believed = |(role, sector): &(Role, u64)| match role {
            Role::Copy(column, _) => shadow.read.get(&(Role::Data(*column), *sector)),
            _ => None,
        };
        let made = shadow
            .read
            .keys()
            .filter_map(|key| Some((*key, *believed(key)?)));
        shadow.new.extend(made);
    }

    /// Whether the parity or the copies that a job has read differ from those it has made.
    pub fn made_differs(&self, job: u32, parities: u32) -> bool {
        let Some(shadow) = self.shadows.get(&job) else {
            return false;
        };
        let compared = |role: Role| match role {
            Role::Data(_) => false,
            Role::Parity(which) => which < parities,
            Role::Copy(..) => true,
        };
        let mut made = shadow.new.iter().filter(|((role, _), _)| compared(*role));
        made.any(|(key, value)| shadow.read.get(key).is_some_and(|read| read != value))
    }

    /// What a job has recovered of an extent goes to whoever waits for it.
    pub fn recovered(&mut self, job: u32, parent: IoId, extent: Extent, offset: u64) {
        let Some(shadow) = self.shadows.get(&job) else {
            return;
        };
        let bytes = u64::from(extent.end - extent.start);
        for (at, grain) in grains(offset, bytes).enumerate() {
            let sector = u64::from(extent.start) / GRAIN + at as u64;
            if let Some(&value) = shadow.read.get(&(Role::Data(extent.column), sector)) {
                let got = &mut self.readers.entry(parent).or_default().got;
                got.entry(grain).or_insert(value);
            }
        }
    }

    /// A job begins anew: what it read is out of date.
    pub fn reread(&mut self, job: u32) {
        if let Some(shadow) = self.shadows.get_mut(&job) {
            shadow.read.clear();
        }
    }

    pub fn end_job(&mut self, job: u32) {
        self.shadows.remove(&job);
    }

    /// Content of a sector is gone: what the drives hold is all there is. Acknowledged writes that
    /// a copy lacks are lost, since nobody knows which copy is right; `in_drives` if drives' own
    /// caches had them. What is left is right from now on, unless it never was.
    pub fn lose(&mut self, array: u32, offset: u64, held: &OnDrives, in_drives: bool) {
        let Some(versions) = self.truth[array as usize].get_mut(&(offset / GRAIN)) else {
            return;
        };
        let is_current = |token: &u64| current(versions).any(|v| v.token == *token);
        if !held.tokens.is_empty() && held.tokens.iter().all(is_current) {
            return;
        }
        let acknowledged = |v: &&Version| v.acknowledged.is_some_and(|at| at > 0);
        let lost = current(versions).filter(acknowledged).map(|v| v.write);
        let lost: Vec<u64> = lost.collect();
        if in_drives {
            self.lost_in_drives.extend(&lost);
        }
        self.lost.extend(lost);
        for &token in &held.tokens {
            let known = !held.computed || versions.iter().any(|v| v.token == token);
            if known && current(versions).all(|v| v.token != token) {
                versions.push(Version {
                    token,
                    write: 0,
                    acknowledged: Some(0),
                    over: Some(0),
                    replaced: None,
                });
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
        self.truth[array as usize].contains_key(&(offset / GRAIN))
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
            self.cache.iter_mut().for_each(HashMap::clear);
        }
    }

    /// A drive is replaced by an empty one.
    pub fn empty(&mut self, drive: u32) {
        self.drives[drive as usize] = Medium::default();
    }

    /// What a drive holds at an offset.
    pub fn held(&self, drive: u32, offset: u64) -> u64 {
        self.drives[drive as usize].read(offset / GRAIN)
    }

    /// What the cache holds of an array's offset.
    pub fn cached(&self, array: u32, offset: u64) -> u64 {
        let cache = &self.cache[array as usize];
        cache.get(&(offset / GRAIN)).copied().unwrap_or(0)
    }

    /// Every sector of an array that was ever written.
    pub fn written(&self, array: u32) -> impl Iterator<Item = u64> + '_ {
        self.truth[array as usize].keys().map(|grain| grain * GRAIN)
    }

    /// Whether a token is right for a sector now, and the acknowledged writes that it lacks if
    /// it is not.
    pub fn judge(&self, array: u32, offset: u64, found: Option<u64>) -> (bool, Vec<u64>) {
        let versions = &self.truth[array as usize][&(offset / GRAIN)];
        let right = found.is_some_and(|found| current(versions).any(|v| v.token == found));
        let lacking = current(versions).filter(|v| v.acknowledged.is_some_and(|at| at > 0));
        (right, lacking.map(|v| v.write).collect())
    }
}
