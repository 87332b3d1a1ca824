//! The buffer for reads: segments, each a run of sectors, the least recently used one replaced.

use super::geometry::Place;
use super::ids::SegmentId;
use super::media_op::MediaOp;
use super::model::Model;
use super::params::{BufferParams, ReadAhead};
use super::search::position;
use super::sector_range::SectorRange;
use raidlab_kernel::{Nanos, Table, prefetch_all};

/// A run of sectors in the buffer, from `start` to before `end`; empty if they are equal.
#[derive(Clone, Copy, Debug, Default)]
pub struct Segment {
    /// First sector.
    pub start: u64,
    /// One beyond the last sector.
    pub end: u64,
    /// When it was used last, counted in uses of the buffer. 2^32 uses are far more than a run has.
    /// The record is small so that a thousand drives fit in the processor's cache.
    pub used: u32,
    /// What used it last.
    pub last_use: MediaOp,
}

impl Segment {
    /// True if it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// True if it holds any of these sectors.
    pub fn overlaps(&self, range: SectorRange) -> bool {
        self.start.max(range.lbn) < self.end.min(range.end)
    }
}

/// What the buffer holds of consecutive sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Not the first of them.
    Nothing,
    /// Those before this sector.
    UpTo(u64),
    /// All of them, in this segment.
    Whole(SegmentId),
}

/// Stands for the end of a segment that holds nothing.
const NOWHERE: u32 = u32::MAX;

/// All segments. The fields that a search compares stand in arrays of their own: most searches
/// find nothing, and then read little memory.
#[derive(Debug)]
pub struct Buffer {
    /// The segments, to be read; with a segment of their own writes use the first.
    pub segments: Table<SegmentId, Segment>,
    /// Where each segment ends, in stretches at least as long as a segment.
    ends: Table<SegmentId, u32>,
    /// When each was used last; 0 if it holds nothing.
    ages: Table<SegmentId, u32>,
    uses: u32,
    size: u32,
}

impl Buffer {
    /// Bytes of its tables.
    pub fn table_bytes(params: &BufferParams) -> u64 {
        let each = size_of::<Segment>() + 2 * size_of::<u32>();
        u64::from(params.segments) * each as u64
    }

    /// An empty buffer.
    pub fn new(params: &BufferParams) -> Buffer {
        let count = params.segments as usize;
        Buffer {
            segments: vec![Segment::default(); count].into(),
            ends: vec![NOWHERE; count].into(),
            ages: vec![0; count].into(),
            uses: 0,
            size: params.segment_sectors,
        }
    }

    /// Prefetches what a search compares.
    #[inline]
    pub fn prefetch(&self) {
        prefetch_all(self.ends.as_slice());
        prefetch_all(self.ages.as_slice());
    }

    /// The stretch of a sector, truncated to 32 bits: distant sectors may seem near, but near ones
    /// never seem distant.
    #[inline]
    fn stretch(&self, lbn: u64) -> u32 {
        (lbn >> self.size.next_power_of_two().trailing_zeros()) as u32
    }

    /// A test of a segment's end: false if the segment cannot touch these sectors.
    #[inline]
    fn near(&self, SectorRange { lbn, end }: SectorRange) -> impl Fn(u32) -> bool + use<> {
        // A segment that touches them ends at most its own length beyond them.
        let first = self.stretch(lbn.saturating_sub(1));
        let last = self.stretch(end + u64::from(self.size));
        let width = last.wrapping_sub(first);
        move |at| at.wrapping_sub(first) <= width
    }

    /// False if no segment can touch these sectors.
    #[inline]
    fn is_near(&self, range: SectorRange) -> bool {
        let near = self.near(range);
        self.ends.iter().fold(false, |found, &at| found | near(at))
    }

    /// Updates the arrays after a change of a segment.
    fn update(&mut self, index: SegmentId) {
        let segment = self.segments[index];
        (self.ends[index], self.ages[index]) = if segment.is_empty() {
            (NOWHERE, 0)
        } else {
            (self.stretch(segment.end - 1), segment.used)
        };
    }

    /// Marks a segment as used last.
    pub fn touch(&mut self, index: SegmentId, op: MediaOp) {
        self.uses = self.uses.wrapping_add(1);
        self.segments[index].used = self.uses;
        self.segments[index].last_use = op;
        self.update(index);
    }

    /// True if the segment was the last one used.
    pub fn is_last_used(&self, index: SegmentId) -> bool {
        self.uses > 0 && self.segments[index].used == self.uses
    }

    /// What a segment holds of these sectors, from the first on.
    #[inline]
    pub fn held(&self, range: SectorRange) -> Held {
        let SectorRange { lbn, end } = range;
        if !self.is_near(range) {
            return Held::Nothing;
        }
        let mut upto = lbn;
        for (index, segment) in self.segments.entries() {
            if segment.start <= lbn {
                if end <= segment.end {
                    return Held::Whole(index);
                }
                upto = upto.max(segment.end);
            }
        }
        match upto > lbn {
            true => Held::UpTo(upto),
            false => Held::Nothing,
        }
    }

    /// A segment that ends right before `lbn`.
    #[inline]
    pub fn ending_at(&self, lbn: u64) -> Option<SegmentId> {
        if !self.is_near(SectorRange::new(lbn, lbn)) {
            return None;
        }
        self.segments
            .position(|segment| segment.end == lbn && !segment.is_empty())
    }

    /// The segment used least recently, those that hold nothing first.
    #[inline]
    pub fn oldest(&self) -> SegmentId {
        let least = self.ages.iter().copied().min().unwrap_or(0);
        let index = position(self.ages.as_slice(), |age| age == least);
        SegmentId::new(index.unwrap_or(0) as u32)
    }

    /// A segment now reaches to `end`; its first sectors leave if they do not fit any more.
    pub fn grow(&mut self, index: SegmentId, end: u64) {
        let segment = &mut self.segments[index];
        segment.end = segment.end.max(end);
        let first = segment.end.saturating_sub(u64::from(self.size));
        segment.start = segment.start.max(first);
        self.update(index);
    }

    /// Resets a segment to the last sectors of a run that fit.
    pub fn reset(&mut self, index: SegmentId, SectorRange { lbn, end }: SectorRange) {
        let segment = &mut self.segments[index];
        (segment.start, segment.end) = (lbn, lbn);
        self.grow(index, end);
    }

    /// Sectors have been read: they go on in the segment that ends there, or begin the one used
    /// longest ago. Gives that segment.
    #[inline]
    pub fn keep(&mut self, range: SectorRange) -> SegmentId {
        self.keep_in(self.ending_at(range.lbn), range)
    }

    /// As `keep`, where the segment that ends there is known.
    #[inline]
    pub fn keep_in(&mut self, before: Option<SegmentId>, range: SectorRange) -> SegmentId {
        let segment = match before {
            Some(segment) => {
                self.grow(segment, range.end);
                segment
            }
            None => {
                let segment = self.oldest();
                self.reset(segment, range);
                segment
            }
        };
        self.touch(segment, MediaOp::Read);
        segment
    }

    /// Empties a segment.
    pub fn clear(&mut self, index: SegmentId) {
        let segment = &mut self.segments[index];
        segment.start = segment.end;
        self.update(index);
    }

    /// Empties every segment that holds any of these sectors, save `skip`.
    #[inline]
    pub fn forget(&mut self, range: SectorRange, skip: Option<SegmentId>) {
        if !self.is_near(range) {
            return;
        }
        let near = self.near(range);
        for index in self.ends.ids() {
            if !near(self.ends[index]) {
                continue;
            }
            let segment = &mut self.segments[index];
            if segment.overlaps(range) && Some(index) != skip {
                segment.end = segment.start;
                self.update(index);
            }
        }
    }
}

/// How far the head reads on after a request that ends before `end`, into a segment that
/// starts at `start`.
pub fn read_ahead_limit(model: &Model, start: u64, end: u64) -> u64 {
    let limit = match model.buffer.read_ahead {
        ReadAhead::None => end,
        ReadAhead::Fixed { sectors } => end + u64::from(sectors),
        ReadAhead::TrackEnd { sectors } => track_end(model, end - 1).min(end + u64::from(sectors)),
        ReadAhead::NextTrack => {
            if end >= model.sectors {
                return model.sectors;
            }
            let place = model.geometry.place(end);
            let first = track_start(model, &place);
            let more = if start < first {
                u64::from(model.geometry.sectors_per_track(place.zone))
            } else {
                0
            };
            track_end(model, end) + more
        }
    };
    limit.min(model.sectors).max(end)
}

/// The first sector that is in the buffer when a head that waited `wait` on the track of `place`
/// begins to read there: what passed it on that track, if the drive buffers that.
pub fn first_buffered(model: &Model, place: &Place, wait: Nanos) -> u64 {
    if !model.buffer.read_while_waiting {
        return place.lbn;
    }
    let passed = (wait.0 << 20) / model.sector_time[place.zone];
    track_start(model, place).max(place.lbn.saturating_sub(passed))
}

/// One beyond the last logical sector on the track of `lbn`.
fn track_end(model: &Model, lbn: u64) -> u64 {
    let mut place = model.geometry.place(lbn);
    loop {
        let next = place.lbn + u64::from(place.run);
        if next >= model.geometry.sectors() {
            return next;
        }
        let beyond = model.geometry.place(next);
        if !beyond.same_track(&place) {
            return next;
        }
        place = beyond;
    }
}

/// The first logical sector on the track of `place`, or one before it.
fn track_start(model: &Model, place: &Place) -> u64 {
    // Slips push logical sectors on, so the track begins no earlier than this.
    let mut lbn = place.lbn.saturating_sub(u64::from(place.sector));
    while lbn < place.lbn {
        let first = model.geometry.place(lbn);
        if first.same_track(place) {
            return lbn;
        }
        lbn += u64::from(first.run);
    }
    lbn
}
