//! The media cache of a shingled disk: a log on conventional tracks, and the map of what it holds.
//!
//! Writes are appended as records. Each belongs to one band; the newest that covers a sector has its
//! data. Space becomes free at the log's tail alone, once the records there are dead: overwritten,
//! or merged into their band. The cache is full when its sectors or the records of its map are.

const NONE: u32 = u32::MAX;

/// Consecutive sectors somewhere on the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// First logical sector.
    pub lbn: u64,
    /// First physical sector.
    pub at: u64,
    /// How many.
    pub sectors: u64,
}

/// A record of the log.
#[derive(Clone, Copy, Debug)]
struct Record {
    lbn: u64,
    sectors: u64,
    /// Where it lies in a log without end.
    position: u64,
    /// Its number among all records so far.
    number: u64,
    /// The record before it of the same band, by slot.
    older: u32,
    live: bool,
}

/// The log and its map.
#[derive(Debug)]
pub struct MediaCache {
    /// Sectors of the log.
    size: u64,
    band: u64,
    /// A ring: record `n` is in slot `n` modulo its length.
    records: Box<[Record]>,
    /// The newest record of each band, by slot.
    newest: Box<[u32]>,
    /// Numbers of the oldest record and of the next one.
    tail: u64,
    head: u64,
    /// Positions of the oldest record and of the next one.
    tail_position: u64,
    head_position: u64,
    live: u64,
    /// Parts of a request not found yet.
    open: Vec<(u64, u64)>,
    rest: Vec<(u64, u64)>,
}

impl MediaCache {
    /// An empty cache of `size` sectors and `records` records, for `bands` bands of `band` sectors.
    pub fn new(size: u64, records: u32, band: u64, bands: u64) -> MediaCache {
        let nothing = Record {
            lbn: 0,
            sectors: 0,
            position: 0,
            number: 0,
            older: NONE,
            live: false,
        };
        MediaCache {
            size,
            band,
            records: vec![nothing; records as usize].into(),
            newest: vec![NONE; bands as usize].into(),
            tail: 0,
            head: 0,
            tail_position: 0,
            head_position: 0,
            live: 0,
            open: Vec::with_capacity(64),
            rest: Vec::with_capacity(64),
        }
    }

    fn slot(&self, number: u64) -> usize {
        (number % self.records.len() as u64) as usize
    }

    /// Where a record of so many sectors goes: none is cut by the end of the region.
    fn position_of(&self, sectors: u64) -> u64 {
        let within = self.head_position % self.size;
        if within + sectors <= self.size {
            self.head_position
        } else {
            self.head_position + self.size - within
        }
    }

    /// Physical sector at which the next record of so many sectors begins.
    pub fn next_at(&self, sectors: u64) -> u64 {
        self.position_of(sectors) % self.size
    }

    /// True if a record of so many sectors fits now.
    pub fn has_room(&self, sectors: u64) -> bool {
        self.head - self.tail < self.records.len() as u64
            && self.position_of(sectors) + sectors - self.tail_position <= self.size
    }

    /// Live records, and sectors of the log that are not free.
    pub fn used(&self) -> (u64, u64) {
        (self.live, self.head_position - self.tail_position)
    }

    /// Appends a record within one band; there must be room. Gives its physical sector.
    pub fn append(&mut self, lbn: u64, sectors: u64) -> u64 {
        debug_assert!(self.has_room(sectors));
        self.cover(lbn, lbn + sectors);
        let position = self.position_of(sectors);
        let (slot, band) = (self.slot(self.head), (lbn / self.band) as usize);
        self.records[slot] = Record {
            lbn,
            sectors,
            position,
            number: self.head,
            older: self.newest[band],
            live: true,
        };
        self.newest[band] = slot as u32;
        self.head += 1;
        self.head_position = position + sectors;
        self.live += 1;
        position % self.size
    }

    /// Records that lie whole in the sectors from `lbn` to before `end`, which have been written
    /// anew, are dead.
    pub fn cover(&mut self, lbn: u64, end: u64) {
        for band in lbn / self.band..=(end - 1) / self.band {
            self.remove(band as usize, |record| {
                lbn <= record.lbn && record.lbn + record.sectors <= end
            });
        }
        self.advance();
    }

    /// The records of `band` below `number` have been merged into it.
    pub fn merged(&mut self, band: u64, number: u64) {
        self.remove(band as usize, |record| record.number < number);
        self.advance();
    }

    fn remove(&mut self, band: usize, dead: impl Fn(&Record) -> bool) {
        let (mut slot, mut newer) = (self.newest[band], NONE);
        while slot != NONE {
            let record = &mut self.records[slot as usize];
            let older = record.older;
            if dead(record) {
                record.live = false;
                self.live -= 1;
                match newer {
                    NONE => self.newest[band] = older,
                    _ => self.records[newer as usize].older = older,
                }
            } else {
                newer = slot;
            }
            slot = older;
        }
    }

    /// Frees the log from its tail up to the first live record.
    fn advance(&mut self) {
        while self.tail < self.head && !self.records[self.slot(self.tail)].live {
            self.tail += 1;
        }
        self.tail_position = match self.tail < self.head {
            true => self.records[self.slot(self.tail)].position,
            false => self.head_position,
        };
    }

    /// The band of the oldest record.
    pub fn oldest_band(&self) -> Option<u64> {
        let record = &self.records[self.slot(self.tail)];
        (self.tail < self.head).then_some(record.lbn / self.band)
    }

    /// Number of the next record.
    pub fn next_number(&self) -> u64 {
        self.head
    }

    /// The records of `band`, in the order in which they lie.
    pub fn records_of(&self, band: u64, found: &mut Vec<Piece>) {
        found.clear();
        let mut slot = self.newest[band as usize];
        while slot != NONE {
            let record = &self.records[slot as usize];
            found.push(self.piece(record, record.lbn, record.lbn + record.sectors));
            slot = record.older;
        }
        found.sort_unstable_by_key(|piece| piece.at);
    }

    fn piece(&self, record: &Record, lbn: u64, end: u64) -> Piece {
        Piece {
            lbn,
            at: record.position % self.size + lbn - record.lbn,
            sectors: end - lbn,
        }
    }

    /// True if a sector from `lbn` to before `end` is in the cache.
    pub fn touches(&self, lbn: u64, end: u64) -> bool {
        (lbn / self.band..=(end - 1) / self.band).any(|band| {
            let mut slot = self.newest[band as usize];
            while slot != NONE {
                let record = &self.records[slot as usize];
                if record.lbn < end && lbn < record.lbn + record.sectors {
                    return true;
                }
                slot = record.older;
            }
            false
        })
    }

    /// Where the sectors from `lbn` to before `end` lie, in their order; those that are not in the
    /// cache at home, `offset` beyond their number.
    pub fn locate(&mut self, lbn: u64, end: u64, offset: u64, found: &mut Vec<Piece>) {
        found.clear();
        self.open.clear();
        self.open.push((lbn, end));
        for band in lbn / self.band..=(end - 1) / self.band {
            let mut slot = self.newest[band as usize];
            while slot != NONE {
                let record = self.records[slot as usize];
                self.take(&record, found);
                slot = record.older;
            }
        }
        found.extend(self.open.iter().map(|&(lbn, end)| Piece {
            lbn,
            at: lbn + offset,
            sectors: end - lbn,
        }));
        found.sort_unstable_by_key(|piece| piece.lbn);
    }

    /// What `record` has of the parts not found yet.
    fn take(&mut self, record: &Record, found: &mut Vec<Piece>) {
        let (first, beyond) = (record.lbn, record.lbn + record.sectors);
        if !(self.open.iter()).any(|&(lbn, end)| lbn < beyond && first < end) {
            return;
        }
        self.rest.clear();
        for at in 0..self.open.len() {
            let (lbn, end) = self.open[at];
            let (from, to) = (lbn.max(first), end.min(beyond));
            if from >= to {
                self.rest.push((lbn, end));
                continue;
            }
            found.push(self.piece(record, from, to));
            self.rest.extend(
                [(lbn, from), (to, end)]
                    .iter()
                    .filter(|part| part.0 < part.1),
            );
        }
        std::mem::swap(&mut self.open, &mut self.rest);
    }

    /// The counts must match the records.
    pub fn check(&self) -> Result<(), String> {
        let live = (self.tail..self.head).filter(|&n| self.records[self.slot(n)].live);
        let live = live.count() as u64;
        let (records, sectors) = (
            self.head - self.tail,
            self.head_position - self.tail_position,
        );
        if live != self.live || records > self.records.len() as u64 || sectors > self.size {
            return Err(format!(
                "the media cache counts {} live records and has {live}; {records} records and \
                 {sectors} sectors are in use",
                self.live
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
        cache.locate(lbn, end, 1000, &mut found);
        (found.iter().map(|it| (it.lbn, it.at, it.sectors))).collect()
    }

    #[test]
    fn the_newest_record_has_the_data_and_the_rest_is_at_home() {
        let mut cache = cache();
        assert_eq!(cache.append(10, 8), 0);
        assert_eq!(cache.append(14, 8), 8);
        let pieces = located(&mut cache, 8, 24);
        assert_eq!(
            pieces,
            [(8, 1008, 2), (10, 0, 4), (14, 8, 8), (22, 1022, 2)]
        );
        assert!(cache.touches(21, 30) && !cache.touches(22, 30));
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
        assert_eq!((cache.oldest_band(), cache.next_number()), (Some(0), 4));
        cache.append(20, 8);
        // What came after the merge began stays.
        cache.merged(0, 4);
        assert_eq!(cache.used(), (3, 32));
        assert_eq!(cache.oldest_band(), Some(1));
        cache.merged(1, 5);
        assert_eq!(cache.used(), (1, 8));
        cache.check().unwrap();
    }

    #[test]
    fn it_is_full_by_sectors_or_by_records_and_no_record_is_cut() {
        let mut cache = cache();
        assert_eq!((cache.append(0, 40), cache.append(50, 40)), (0, 40));
        assert!(!cache.has_room(40) && !cache.has_room(21));
        cache.merged(0, 1);
        // 20 sectors are left at the end: 30 begin at the front again.
        assert!(cache.has_room(30) && !cache.has_room(41));
        assert_eq!(cache.append(100, 30), 0);
        let mut many = MediaCache::new(100, 2, 50, 10);
        many.append(0, 1);
        many.append(50, 1);
        assert!(!many.has_room(1));
    }

    /// Uniform writes over B bands with R records: a band is merged when its oldest record is R
    /// records old, with 1 + (R - 1) / B of them.
    #[test]
    fn uniform_writes_leave_so_many_records_to_a_merge() {
        let (records, bands) = (400, 100);
        let mut cache = MediaCache::new(1 << 20, records, 1000, bands);
        let mut draws = raidlab_kernel::Stream::new(1, "smr", "test");
        let (mut merges, mut merged, mut found) = (0, 0, Vec::new());
        for n in 0..40_000u64 {
            while !cache.has_room(1) {
                let band = cache.oldest_band().unwrap();
                cache.records_of(band, &mut found);
                if n > 4000 {
                    merges += 1;
                    merged += found.len();
                }
                cache.merged(band, cache.next_number());
            }
            cache.append(draws.below(bands * 1000), 1);
        }
        let mean = merged as f64 / f64::from(merges);
        let expected = 1.0 + f64::from(records - 1) / bands as f64;
        assert!((mean / expected - 1.0).abs() < 0.02, "{mean} of {expected}");
        cache.check().unwrap();
    }
}
