//! The media cache of a shingled disk: a log on conventional tracks, and the map of what it holds.
//!
//! Writes are appended as records. Each belongs to one band; the newest that covers a sector has its
//! data. A record is dead once it is overwritten, or merged into its band: then the map has room for
//! another. Space becomes free at the log's old end alone, up to the oldest record in use. The cache
//! is full when its sectors or the records of its map are.

use super::super::ids::{BandId, LogSector, MediumSector, RecordId};
use super::super::sector_range::SectorRange;
use raidlab_kernel::Table;

/// Consecutive sectors somewhere on the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// First logical sector.
    pub lbn: u64,
    /// First one on the medium.
    pub at: MediumSector,
    /// How many.
    pub sectors: u64,
}

/// A record of the log. Those in use are in two lists: of their band, and in the order of the log.
#[derive(Clone, Copy, Debug)]
struct Record {
    lbn: u64,
    sectors: u64,
    /// Where it lies in a log without end.
    position: LogSector,
    /// The record before it of the same band.
    older: RecordId,
    /// Its neighbours in the log.
    before: RecordId,
    after: RecordId,
}

impl Record {
    /// The sectors that it has newer data of.
    fn range(&self) -> SectorRange {
        SectorRange::long(self.lbn, self.sectors)
    }
}

/// The log and its map.
#[derive(Debug)]
pub struct MediaCache {
    /// Sectors of the log.
    size: u64,
    band: u64,
    records: Table<RecordId, Record>,
    /// Slots without a record.
    free: Vec<RecordId>,
    /// The newest record of each band.
    newest: Table<BandId, RecordId>,
    /// The oldest and the newest record of the log.
    first: RecordId,
    last: RecordId,
    /// Position of the next record.
    head: LogSector,
    /// Parts of a request not found yet.
    open: Vec<SectorRange>,
    rest: Vec<SectorRange>,
}

impl MediaCache {
    /// Bytes of the tables of a cache of `records` records for `bands` bands.
    pub fn table_bytes(records: u32, bands: u64) -> u64 {
        let record = size_of::<Record>() + size_of::<RecordId>();
        let band = size_of::<RecordId>() as u64;
        let records = u64::from(records) * record as u64;
        records.saturating_add(bands.saturating_mul(band))
    }

    /// An empty cache of `size` sectors and `records` records, for `bands` bands of `band` sectors.
    pub fn new(size: u64, records: u32, band: u64, bands: u64) -> MediaCache {
        let nothing = Record {
            lbn: 0,
            sectors: 0,
            position: LogSector::new(0),
            older: RecordId::NONE,
            before: RecordId::NONE,
            after: RecordId::NONE,
        };
        MediaCache {
            size,
            band,
            records: vec![nothing; records as usize].into(),
            free: RecordId::first(records).rev().collect(),
            newest: vec![RecordId::NONE; bands as usize].into(),
            first: RecordId::NONE,
            last: RecordId::NONE,
            head: LogSector::new(0),
            open: Vec::with_capacity(64),
            rest: Vec::with_capacity(64),
        }
    }

    /// Where a record of `sectors` sectors goes: none is cut by the end of the region.
    fn position_of(&self, sectors: u64) -> LogSector {
        let within = self.on_medium(self.head).number();
        if within + sectors <= self.size {
            self.head
        } else {
            self.head.plus(self.size - within)
        }
    }

    /// Where a sector of the log lies.
    fn on_medium(&self, position: LogSector) -> MediumSector {
        MediumSector::new(position.number() % self.size)
    }

    /// Where the next record of `sectors` sectors begins.
    pub fn next_at(&self, sectors: u64) -> MediumSector {
        self.on_medium(self.position_of(sectors))
    }

    /// Position of the oldest record: space is free from there on, once around.
    fn tail(&self) -> LogSector {
        match self.first {
            RecordId::NONE => self.head,
            first => self.records[first].position,
        }
    }

    /// True if a record of `sectors` sectors fits now.
    pub fn has_room(&self, sectors: u64) -> bool {
        !self.free.is_empty() && self.position_of(sectors).since(self.tail()) + sectors <= self.size
    }

    /// Records, and sectors of the log that are not free.
    pub fn used(&self) -> (u64, u64) {
        let records = self.records.len() - self.free.len();
        (records as u64, self.head.since(self.tail()))
    }

    /// Appends a record within one band; there must be room. Says where it begins.
    pub fn append(&mut self, lbn: u64, sectors: u64) -> MediumSector {
        debug_assert!(self.has_room(sectors));
        let position = self.position_of(sectors);
        self.cover(SectorRange::long(lbn, sectors));
        let Some(slot) = self.free.pop() else {
            unreachable!("a record was let in although the map has no room for it");
        };
        let band = self.band_of(lbn);
        self.records[slot] = Record {
            lbn,
            sectors,
            position,
            older: self.newest[band],
            before: self.last,
            after: RecordId::NONE,
        };
        self.newest[band] = slot;
        match self.last {
            RecordId::NONE => self.first = slot,
            last => self.records[last].after = slot,
        }
        self.last = slot;
        self.head = position.plus(sectors);
        self.on_medium(position)
    }

    /// Records that lie whole in sectors that have been written anew are dead.
    pub fn cover(&mut self, written: SectorRange) {
        for band in self.bands(written) {
            self.remove(band, |record| written.cover(record.range()));
        }
    }

    /// The records of `band` from before `position` have been merged into it.
    pub fn merged(&mut self, band: BandId, position: LogSector) {
        self.remove(band, |record| record.position < position);
    }

    fn remove(&mut self, band: BandId, dead: impl Fn(&Record) -> bool) {
        let (mut slot, mut newer) = (self.newest[band], RecordId::NONE);
        while slot != RecordId::NONE {
            let record = self.records[slot];
            if dead(&record) {
                match newer {
                    RecordId::NONE => self.newest[band] = record.older,
                    _ => self.records[newer].older = record.older,
                }
                self.leave_log(&record);
                self.free.push(slot);
            } else {
                newer = slot;
            }
            slot = record.older;
        }
    }

    fn leave_log(&mut self, record: &Record) {
        match record.before {
            RecordId::NONE => self.first = record.after,
            before => self.records[before].after = record.after,
        }
        match record.after {
            RecordId::NONE => self.last = record.before,
            after => self.records[after].before = record.before,
        }
    }

    /// The band of the oldest record.
    pub fn oldest_band(&self) -> Option<BandId> {
        let first = (self.first != RecordId::NONE).then(|| self.records[self.first]);
        first.map(|record| self.band_of(record.lbn))
    }

    /// Position of the next record.
    pub fn head(&self) -> LogSector {
        self.head
    }

    /// The records of `band`, in the order in which they lie.
    pub fn records_of(&self, band: BandId, found: &mut Vec<Piece>) {
        found.clear();
        let mut slot = self.newest[band];
        while slot != RecordId::NONE {
            let record = &self.records[slot];
            found.push(self.piece(record, record.range()));
            slot = record.older;
        }
        found.sort_unstable_by_key(|piece| piece.at);
    }

    fn piece(&self, record: &Record, part: SectorRange) -> Piece {
        Piece {
            lbn: part.lbn,
            at: (self.on_medium(record.position)).plus(part.lbn - record.lbn),
            sectors: part.sectors(),
        }
    }

    /// The bands that sectors lie in.
    fn bands(&self, range: SectorRange) -> impl Iterator<Item = BandId> + use<> {
        let (first, last) = (self.band_of(range.lbn), self.band_of(range.end - 1));
        first.row((last.number() + 1).saturating_sub(first.number()))
    }

    /// The band that a sector lies in.
    pub fn band_of(&self, lbn: u64) -> BandId {
        BandId::new((lbn / self.band) as u32)
    }

    /// True if any of these sectors is in the cache.
    pub fn touches(&self, range: SectorRange) -> bool {
        self.bands(range).any(|band| {
            let mut slot = self.newest[band];
            while slot != RecordId::NONE {
                let record = &self.records[slot];
                if record.range().touch(range) {
                    return true;
                }
                slot = record.older;
            }
            false
        })
    }

    /// Where sectors lie, in their order; those that are not in the cache at home, `offset` beyond
    /// their number.
    pub fn locate(&mut self, range: SectorRange, offset: u64, found: &mut Vec<Piece>) {
        found.clear();
        self.open.clear();
        self.open.push(range);
        for band in self.bands(range) {
            let mut slot = self.newest[band];
            while slot != RecordId::NONE {
                let record = self.records[slot];
                self.take(&record, found);
                slot = record.older;
            }
        }
        found.extend(self.open.iter().map(|open| Piece {
            lbn: open.lbn,
            at: MediumSector::new(open.lbn + offset),
            sectors: open.sectors(),
        }));
        found.sort_unstable_by_key(|piece| piece.lbn);
    }

    /// What `record` has of the parts not found yet.
    fn take(&mut self, record: &Record, found: &mut Vec<Piece>) {
        let held = record.range();
        if !self.open.iter().any(|open| open.touch(held)) {
            return;
        }
        self.rest.clear();
        for at in 0..self.open.len() {
            let open = self.open[at];
            let part = SectorRange::new(open.lbn.max(held.lbn), open.end.min(held.end));
            if part.is_empty() {
                self.rest.push(open);
                continue;
            }
            found.push(self.piece(record, part));
            let around = [
                SectorRange::new(open.lbn, part.lbn),
                SectorRange::new(part.end, open.end),
            ];
            self.rest
                .extend(around.into_iter().filter(|left| !left.is_empty()));
        }
        std::mem::swap(&mut self.open, &mut self.rest);
    }

    /// The lists must have each record once, in its order.
    pub fn check(&self) -> Result<(), String> {
        let (mut slot, mut count, mut position) = (self.first, 0, self.tail());
        while slot != RecordId::NONE {
            let record = &self.records[slot];
            if record.position < position {
                return Err(format!("the log has {} before {position}", record.position));
            }
            (count, position) = (count + 1, record.position.plus(record.sectors));
            slot = record.after;
        }
        let (records, sectors) = self.used();
        if count != records || position > self.head || sectors > self.size {
            return Err(format!(
                "the log counts {records} records and has {count}; {sectors} sectors are in use",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 sectors, 8 records, bands of 50.
    fn cache() -> MediaCache {
        MediaCache::new(100, 8, 50, 10)
    }

    fn located(cache: &mut MediaCache, lbn: u64, end: u64) -> Vec<(u64, u64, u64)> {
        let mut found = Vec::new();
        cache.locate(SectorRange::new(lbn, end), 1000, &mut found);
        (found.iter().map(|it| (it.lbn, it.at.number(), it.sectors))).collect()
    }

    #[test]
    fn the_newest_record_has_the_data_and_the_rest_is_at_home() {
        let mut cache = cache();
        assert_eq!(cache.append(10, 8), MediumSector::new(0));
        assert_eq!(cache.append(14, 8), MediumSector::new(8));
        let pieces = located(&mut cache, 8, 24);
        assert_eq!(
            pieces,
            [(8, 1008, 2), (10, 0, 4), (14, 8, 8), (22, 1022, 2)]
        );
        assert!(
            cache.touches(SectorRange::new(21, 30)) && !cache.touches(SectorRange::new(22, 30))
        );
        // Written anew as a whole, the first is dead: its space is free, as it is the oldest.
        cache.append(8, 10);
        assert_eq!(cache.used(), (2, 8 + 10));
        assert_eq!(located(&mut cache, 8, 20), [(8, 16, 10), (18, 12, 2)]);
        cache.check().unwrap();
    }

    #[test]
    fn a_band_that_is_merged_frees_the_tail_and_leaves_holes_behind_it() {
        let mut cache = cache();
        for lbn in [0, 60, 10, 70] {
            cache.append(lbn, 8);
        }
        assert_eq!(cache.oldest_band(), Some(BandId::new(0)));
        let position = cache.head();
        cache.append(20, 8);
        // What came after the merge began stays.
        cache.merged(BandId::new(0), position);
        assert_eq!(cache.used(), (3, 32));
        assert_eq!(cache.oldest_band(), Some(BandId::new(1)));
        cache.merged(BandId::new(1), cache.head());
        assert_eq!(cache.used(), (1, 8));
        cache.check().unwrap();
    }

    #[test]
    fn it_is_full_by_sectors_or_by_records_and_no_record_is_cut() {
        let mut cache = cache();
        assert_eq!([0, 50].map(|lbn| cache.append(lbn, 40).number()), [0, 40]);
        assert!(!cache.has_room(40) && !cache.has_room(21));
        cache.merged(BandId::new(0), cache.head());
        // 20 sectors are left at the end: 30 begin at the front again.
        assert!(cache.has_room(30) && !cache.has_room(41));
        assert_eq!(cache.append(100, 30), MediumSector::new(0));
        let mut many = MediaCache::new(100, 2, 50, 10);
        many.append(0, 1);
        many.append(50, 1);
        assert!(!many.has_room(1));
    }

    /// Records of a merge under uniform writes over 100 bands.
    fn records_of_a_merge(mut cache: MediaCache) -> f64 {
        let mut draws = raidlab_kernel::Stream::new(1, "smr", "test");
        let (mut merges, mut merged, mut found) = (0, 0, Vec::new());
        for n in 0..60_000u64 {
            while !cache.has_room(1) {
                let band = cache.oldest_band().unwrap();
                cache.records_of(band, &mut found);
                if n > 6000 {
                    merges += 1;
                    merged += found.len();
                }
                cache.merged(band, cache.head());
            }
            cache.append(draws.below(100 * 100_000), 1);
        }
        cache.check().unwrap();
        merged as f64 / f64::from(merges)
    }

    /// A log of L writes: a band is merged when its oldest record is L writes old, with 1 + (L - 1) /
    /// B of them. A map of R records: the oldest is A writes old when all bands together have R. A
    /// band waits for B writes and then has 1 + t / B records for A writes, so with n = 1 + A / B
    ///
    ///     R / B = (n^2 - 1) / 2 n,  n = r + (r^2 + 1)^(1/2),  r = R / B.
    #[test]
    fn uniform_writes_leave_so_many_records_to_a_merge() {
        let by_size = records_of_a_merge(MediaCache::new(400, 10_000, 100_000, 100));
        assert!((by_size / 4.99 - 1.0).abs() < 0.02, "{by_size}");
        let by_map = records_of_a_merge(MediaCache::new(1 << 20, 400, 100_000, 100));
        let expected = 4.0 + 17f64.sqrt();
        assert!(
            (by_map / expected - 1.0).abs() < 0.02,
            "{by_map} of {expected}"
        );
    }
}
