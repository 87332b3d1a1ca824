//! A drive-managed shingled disk behind a link.
//!
//! Tracks of a band overlap, so a band is written in order only. What the host writes goes to the
//! end of a log on conventional tracks, the media cache (`media_cache`, `writes`); a stream goes
//! straight to its bands. Merging a band costs reading it and the log's records of it, and writing
//! it whole (`merge`): when the cache is full, or when the drive has nothing else to do.
//!
//! The media cache lies on the outermost tracks, the bands behind it, at fixed places.

mod media_cache;
mod merge;
mod reads;
mod writes;

use super::buffer::Buffer;
use super::counts::Counts;
use super::ids::MediumSector;
use super::mechanics::{Access, Arm, Movement, Sweep};
use super::media_op::MediaOp;
use super::model::Model;
use super::params::{LinkFrontParams, SECTOR_BYTES, ShingledParams};
use super::scheduler::Queue;
use super::sector_range::SectorRange;
use crate::Port;
use media_cache::{MediaCache, Piece};
use merge::Merge;
use raidlab_io::{IoId, Op, Part};
use raidlab_kernel::{Nanos, Spells, Station, Stream, Time};
use reads::Reading;
use writes::Writes;

const ARM_DONE: u32 = 0;
const IDLE: u32 = 1;
/// A cache that had room for less than this time in between was full all the while.
const FULL: Nanos = Nanos(1_000_000_000);

/// What the arm does.
#[derive(Clone, Copy, Debug)]
enum Activity {
    Idle,
    /// Reads for a command, and perhaps on for its stream.
    Read(Reading),
    /// Reads for a command what lies in pieces.
    ReadPieces {
        lbn: u64,
        end: u64,
    },
    /// Writes what stands in memory.
    Write,
    /// A step of a merge.
    Merge,
}

/// A shingled disk.
#[derive(Debug)]
pub struct ShingledFront {
    overhead: [Nanos; 2],
    pub(super) firmware: Station,
    /// Reads that wait for the arm.
    queue: Queue,
    buffer: Buffer,
    writes: Writes,
    media: MediaCache,
    merge: Option<Merge>,
    /// The log's records of the band that is merged, read one after the other.
    records: Vec<Piece>,
    pieces: Vec<Piece>,
    /// Commands that what the arm writes completes.
    completed: Vec<IoId>,
    arm: Arm,
    /// After the sector that passed last.
    at: MediumSector,
    activity: Activity,
    /// What the arm did last was not a read: one that waits goes next.
    read_is_next: bool,
    lateness: Stream,
    free: Time,
    busy: Nanos,
    quiet_since: Time,
    idle_timer: bool,
    pub counts: Counts,
    /// When writes waited for a merge, as the media cache had no room.
    full: Spells,
    /// Bands merged, and records merged into them.
    merged: [u64; 2],
}

impl ShingledFront {
    /// An idle drive whose media cache is empty and whose bands are full.
    pub fn new(
        model: &Model,
        params: &LinkFrontParams,
        shingled: &ShingledParams,
        arm: Arm,
        lateness: Stream,
    ) -> ShingledFront {
        let band = shingled.band_sectors();
        let bands = model.sectors.div_ceil(band);
        ShingledFront {
            overhead: [params.read_overhead_ns, params.write_overhead_ns],
            firmware: Station::default(),
            queue: Queue::new(params.queue_depth, model.scheduler),
            buffer: Buffer::new(&model.buffer),
            writes: Writes::new(model, params.queue_depth, band),
            media: MediaCache::new(shingled.cache_sectors(), shingled.records, band, bands),
            merge: None,
            records: Vec::with_capacity(1024),
            pieces: Vec::with_capacity(64),
            completed: Vec::with_capacity(params.queue_depth as usize),
            arm,
            at: MediumSector::new(0),
            activity: Activity::Idle,
            read_is_next: true,
            lateness,
            free: Time::ZERO,
            busy: Nanos::ZERO,
            quiet_since: Time::ZERO,
            idle_timer: false,
            counts: Counts::default(),
            full: Spells::new(FULL),
            merged: [0; 2],
        }
    }

    /// Bytes of the tables of a drive of this many bands.
    pub fn table_bytes(params: &ShingledParams, bands: u64) -> u64 {
        MediaCache::table_bytes(params.records, bands)
    }

    /// When the media cache was full.
    pub fn full(&self) -> &Spells {
        &self.full
    }

    /// A command arrives.
    pub fn submit<P: Port>(&mut self, model: &Model, port: &mut P, io: IoId) {
        let now = port.now();
        self.quiet_since = now;
        let record = port.io(io);
        let op = record.op;
        let overhead = self.overhead[usize::from(op != Op::Read)];
        let served = self.firmware.serve(now, overhead);
        record.charge_stay(Part::Queue, Part::Overhead, served);
        let range = SectorRange::around(record.range());
        debug_assert!(range.end <= model.sectors, "{op:?} beyond the drive's end");
        match op {
            Op::Read if !range.is_empty() => self.read(model, port, io, range, served.end),
            Op::Write if !range.is_empty() => self.write(model, port, io, range, served.end),
            Op::Flush => self.flush(model, port, io, served.end),
            _ => port.done(io, served.end, Nanos::ZERO),
        }
        self.dispatch(model, port);
    }

    /// Starts the arm's next work, if it is free: reads and writes in alternation.
    fn dispatch<P: Port>(&mut self, model: &Model, port: &mut P) {
        if !matches!(self.activity, Activity::Idle) {
            return;
        }
        let reads = !self.queue.is_empty();
        if reads && (self.read_is_next || !self.writes.are_waiting()) {
            self.read_is_next = false;
            return self.serve_read(model, port);
        }
        self.read_is_next = true;
        if self.writes.are_waiting() {
            return self.write_out(model, port);
        }
        self.merge_when_idle(model, port);
    }

    /// Moves the arm to a place on the medium and passes sectors, from when it is free on.
    fn sweep(
        &mut self,
        model: &Model,
        now: Time,
        op: MediaOp,
        (at, sectors): (MediumSector, u64),
    ) -> (Time, Access, Sweep) {
        let start = self.free.max(now);
        // A head that goes on where it stands reaches the next track in time, thanks to the skew.
        let late = match at == self.at && start == self.free {
            true => Nanos::ZERO,
            false => model.seek.lateness(&mut self.lateness),
        };
        let movement = Movement {
            place: model.geometry.place(at.number()),
            start,
            op,
            shuffled_end: 0,
            least_seek: Nanos::ZERO,
            late,
        };
        let (mut sweep, access) = Sweep::new(model, self.arm, &movement);
        let end = at.plus(sectors);
        let done = sweep.end_of(model, end.number() - 1);
        self.counts.seek += access.seek;
        self.counts.rotation += access.rotation;
        self.counts.accesses += 1;
        self.busy += done.since(start);
        (self.arm, self.at, self.free) = (sweep.arm(), end, done);
        (start, access, sweep)
    }

    /// The arm is at work until it is free.
    fn work<P: Port>(&mut self, port: &mut P, activity: Activity) {
        self.activity = activity;
        port.wake(self.free, ARM_DONE);
    }

    /// An event that the drive asked for.
    pub fn event<P: Port>(&mut self, model: &Model, port: &mut P, token: u32) {
        if token == IDLE {
            self.idle_timer = false;
        } else {
            match std::mem::replace(&mut self.activity, Activity::Idle) {
                Activity::Read(reading) => self.has_read(model, port, reading),
                Activity::ReadPieces { lbn, end } => {
                    self.buffer.keep(SectorRange { lbn, end });
                }
                Activity::Write => self.has_written(model, port),
                Activity::Merge => self.has_merged(),
                Activity::Idle => unreachable!("an idle arm completes no work"),
            }
        }
        self.dispatch(model, port);
    }

    /// The power fails: what stands in volatile memory is lost.
    pub fn power_cut<P: Port>(&mut self, model: &Model, port: &mut P) {
        if !model.keeps_writes() {
            self.forget_writes(model, port);
        }
    }

    /// What it takes to get to `lbn` by an arm that is free now.
    pub fn positioning(&self, model: &Model, now: Time, lbn: u64) -> Nanos {
        let place = model.geometry.place(model.home(lbn).number());
        let start = now.max(self.free);
        self.arm.access(model, &place, start, MediaOp::Read).total()
    }

    /// Time that the arm worked up to `now`.
    pub fn busy_until(&self, now: Time) -> Nanos {
        self.busy.saturating_sub(self.free.since(now))
    }

    /// Figures of the media cache for the report.
    pub fn figures(&self) -> [(&'static str, f64); 4] {
        let (records, sectors) = self.media.used();
        let [bands, merged] = self.merged;
        [
            ("media_cache_bytes", (sectors * SECTOR_BYTES) as f64),
            ("media_cache_records", records as f64),
            ("merged_bands", bands as f64),
            ("merged_records", merged as f64),
        ]
    }

    /// The counts of the media cache must be right.
    pub fn check(&self) -> Result<(), String> {
        self.media.check()
    }
}
