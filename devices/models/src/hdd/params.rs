//! The parameters of a hard disk in the plan: plain numbers in base units.

use crate::ArmPowerParams;
use crate::bounds::Bounds;
use crate::check::STEP_NS;
use raidlab_kernel::Nanos;
use schemars::JsonSchema;
use serde::Deserialize;

mod checks;

/// Bytes of a sector on the medium.
pub const SECTOR_BYTES: u64 = 512;

/// The parameters of a hard disk.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HddParams {
    /// Bytes that it offers; 0 for all that its geometry holds.
    #[serde(default)]
    pub capacity_bytes: u64,
    /// Revolutions a minute.
    #[schemars(transform = Self::RPM.said())]
    pub rpm: f64,
    /// Most by which a drive's speed differs from that, as part of it: each drive's own deviation
    /// is drawn uniformly.
    #[serde(default)]
    #[schemars(transform = Self::SPEED_TOLERANCE.said())]
    pub speed_tolerance: f64,
    /// Part of a revolution that has passed the head at time zero. Random if absent: the
    /// spindles of a system are not synchronised.
    #[serde(default)]
    pub initial_angle: Option<f64>,
    /// Logical sectors in a sector of the medium: 8 of a disk that emulates sectors of 512 bytes.
    #[serde(default = "one")]
    pub physical_sectors: u32,
    /// Where sectors lie.
    pub geometry: GeometryParams,
    /// How long the arm takes.
    pub seek: SeekParams,
    /// The buffer for reads.
    pub buffer: BufferParams,
    /// The cache for writes; without it a write completes on the medium.
    #[serde(default)]
    pub write_cache: Option<WriteCacheParams>,
    /// Order of the commands in its queue.
    pub scheduler: SchedulerParams,
    /// The next command is chosen when the one before it begins, and not when that is done.
    #[serde(default)]
    pub plans_ahead: bool,
    /// A command that has waited for longer goes next, whatever the order says.
    #[serde(default = "never")]
    pub age_limit_ns: Nanos,
    /// What lies between the buffer and the wire.
    pub interface: InterfaceParams,
    /// What it draws.
    #[serde(default)]
    pub power: Option<ArmPowerParams>,
    /// Bands of tracks that overlap; none if every sector can be written by itself.
    #[serde(default)]
    pub shingled: Option<ShingledParams>,
}

impl HddParams {
    /// Revolutions a minute.
    pub(crate) const RPM: Bounds<f64> = Bounds::new(300.0, 100_000.0);
    /// How far a drive's speed may be from that, as part of it.
    pub(crate) const SPEED_TOLERANCE: Bounds<f64> = Bounds::new(0.0, 0.05);
}

/// A drive-managed shingled disk.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShingledParams {
    /// Bytes of a band, which is written in order only.
    #[schemars(transform = Self::BAND_BYTES.said())]
    pub band_bytes: u64,
    /// Bytes of the log for writes that are no stream, on the outermost tracks.
    pub media_cache_bytes: u64,
    /// Records that the log's map has room for.
    #[schemars(transform = Self::RECORDS.said())]
    pub records: u32,
    /// Without commands for this long the drive merges bands.
    pub merge_after_idle_ns: Nanos,
}

impl ShingledParams {
    /// Bytes of a band.
    pub(crate) const BAND_BYTES: Bounds<u64> = Bounds::new(1 << 20, 1 << 30);
    /// Records of the media cache.
    pub(crate) const RECORDS: Bounds<u32> = Bounds::new(1, 1 << 24);
}

impl ShingledParams {
    /// Sectors of a band.
    pub(super) fn band_sectors(&self) -> u64 {
        self.band_bytes / SECTOR_BYTES
    }

    /// Sectors of the log.
    pub(super) fn cache_sectors(&self) -> u64 {
        self.media_cache_bytes / SECTOR_BYTES
    }
}

/// How heads follow each other from cylinder to cylinder.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum HeadOrder {
    /// Head 0 first in every cylinder.
    #[default]
    Cylinder,
    /// Ascending in one cylinder, descending in the next: a change of cylinder keeps the head.
    Serpentine,
}

/// Where spare sectors lie and how sectors move past bad ones.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Sparing {
    /// Spare tracks at the end of a zone, bad tracks slipped: slips and spares count tracks.
    Track,
    /// Spare sectors at the end of every track.
    TrackEnd,
    /// No spares; bad sectors are slipped, counted cylinder by cylinder.
    SlipOnly,
    /// Spare sectors at the end of every range of cylinders, bad ones slipped inside it.
    Range,
    /// Spare sectors at the end of the zone, bad ones slipped inside it.
    #[default]
    Zone,
}

/// Where sectors lie.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GeometryParams {
    /// Data surfaces, a head each.
    #[schemars(transform = Self::HEADS.said())]
    pub heads: u32,
    /// Order of the heads.
    #[serde(default)]
    pub head_order: HeadOrder,
    /// Spare sectors.
    #[serde(default)]
    pub sparing: Sparing,
    /// Cylinders of a range, for `sparing = "range"` only.
    #[serde(default)]
    pub range_cylinders: u32,
    /// Zones from the first logical sector on.
    pub zones: Vec<ZoneParams>,
}

impl GeometryParams {
    /// Heads.
    pub(crate) const HEADS: Bounds<u32> = Bounds::new(1, 255);
}

/// Cylinders with equally many sectors on each track.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZoneParams {
    /// First cylinder.
    pub first_cylinder: u32,
    /// Last cylinder, which belongs to the zone.
    #[schemars(transform = Self::CYLINDERS.said())]
    pub last_cylinder: u32,
    /// Sectors on each track.
    #[schemars(transform = Self::SECTORS_PER_TRACK.said())]
    pub sectors_per_track: u32,
    /// Angle of the zone's first sector, in sectors.
    #[serde(default)]
    pub offset_sectors: u32,
    /// Unused sectors before the zone's first logical one.
    #[serde(default)]
    pub empty_sectors: u64,
    /// Sectors by which the next track of a cylinder is skewed.
    #[serde(default)]
    pub track_skew_sectors: u32,
    /// Sectors by which the next cylinder is skewed.
    #[serde(default)]
    pub cylinder_skew_sectors: u32,
    /// Spare sectors of each track, range or zone; spare tracks of the zone for `track`.
    #[serde(default)]
    pub spares: u64,
    /// Slipped sectors (tracks for `track`), ascending, from the zone's first one on.
    #[serde(default)]
    pub slips: Vec<u64>,
    /// Remapped sectors, (bad, replacement), from the zone's first one on.
    #[serde(default)]
    pub defects: Vec<(u64, u64)>,
}

impl ZoneParams {
    /// Numbers of cylinders.
    pub(crate) const CYLINDERS: Bounds<u32> = Bounds::new(0, (1 << 24) - 1);
    /// Sectors of a track.
    pub(crate) const SECTORS_PER_TRACK: Bounds<u32> = Bounds::new(1, 65_535);
}

/// Seek time as a function of distance.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(tag = "form", rename_all = "snake_case", deny_unknown_fields)]
pub enum CurveParams {
    /// Measured points, (cylinders, time); straight lines between and beyond them.
    Table {
        /// Ascending distances from 1 on.
        points: Vec<(u32, Nanos)>,
    },
    /// Single distances from a list, a root below a limit and a line beyond it.
    RootAndLine {
        /// Distances 1, 2, 3 ...
        first_ns: Vec<Nanos>,
        /// First distance on the line.
        line_from: u32,
        /// Constant of the root, ns.
        root_constant_ns: f64,
        /// Factor of the root of the distance, ns.
        root_factor_ns: f64,
        /// Constant of the line, ns.
        line_constant_ns: f64,
        /// Slope of the line, ns a cylinder.
        line_slope_ns: f64,
    },
    /// A root plus a line through the three figures of data sheets.
    ThreeFigures {
        /// To the next cylinder.
        single_ns: Nanos,
        /// Mean over pairs of random cylinders.
        average_ns: Nanos,
        /// From the first to the last cylinder.
        full_ns: Nanos,
    },
}

/// How long the arm takes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeekParams {
    /// Seeks before reads.
    pub read: CurveParams,
    /// Seeks before writes; those before reads plus the settle time if absent.
    #[serde(default)]
    pub write: Option<CurveParams>,
    /// Added to every movement before a write; may be negative.
    #[serde(default)]
    pub write_settle_ns: i64,
    /// To another head of the same cylinder, before a read.
    #[schemars(transform = STEP_NS.said())]
    pub head_switch_ns: Nanos,
    /// A movement takes up to this much longer, uniformly: the arm settles at different times.
    #[serde(default)]
    #[schemars(transform = STEP_NS.said())]
    pub spread_ns: Nanos,
}

/// How far the head reads on after a read.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(tag = "policy", rename_all = "snake_case", deny_unknown_fields)]
pub enum ReadAhead {
    /// Not at all.
    None,
    /// To the end of the track, but no further than this many sectors.
    TrackEnd {
        /// Most sectors beyond the request.
        sectors: u32,
    },
    /// This many sectors beyond the request.
    Fixed {
        /// Sectors beyond the request.
        sectors: u32,
    },
    /// To the end of the track of the next sector, and one track more if the segment began
    /// before that track.
    NextTrack,
}

/// The buffer for reads.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BufferParams {
    /// Segments, each holding one run of sectors.
    #[schemars(transform = Self::SEGMENTS.said())]
    pub segments: u32,
    /// Sectors that a segment holds.
    #[schemars(transform = Self::SEGMENT_SECTORS.said())]
    pub segment_sectors: u32,
    /// How far the head reads on.
    pub read_ahead: ReadAhead,
    /// A hit on a segment that is not being filled starts reading on at its end.
    #[serde(default)]
    pub read_ahead_on_idle_hit: bool,
    /// Reading ahead stops in the middle of a sector when the arm is needed.
    #[serde(default)]
    pub stop_in_sector: bool,
    /// The first segment takes all writes and no reads.
    #[serde(default)]
    pub own_write_segment: bool,
    /// What was written can be read from the buffer.
    #[serde(default = "yes")]
    pub read_hits_on_written: bool,
    /// A read takes sectors from the wanted track in the order in which they pass.
    #[serde(default)]
    pub read_on_arrival: bool,
    /// A write likewise.
    #[serde(default)]
    pub write_on_arrival: bool,
    /// Sectors that pass while the head waits for the wanted one go into the buffer.
    #[serde(default)]
    pub read_while_waiting: bool,
}

impl BufferParams {
    /// Segments.
    pub(crate) const SEGMENTS: Bounds<u32> = Bounds::new(1, 4096);
    /// Sectors of a segment.
    pub(crate) const SEGMENT_SECTORS: Bounds<u32> = Bounds::new(1, 1 << 24);
}

fn never() -> Nanos {
    Nanos(u64::MAX)
}

fn one() -> u32 {
    1
}

fn yes() -> bool {
    true
}

/// The cache for writes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteCacheParams {
    /// Sectors that it holds.
    #[schemars(transform = Self::SECTORS.said())]
    pub sectors: u64,
    /// Separate runs of sectors that it can keep track of.
    #[schemars(transform = Self::EXTENTS.said())]
    pub extents: u32,
    /// Longest run that neighbouring writes grow into, in sectors.
    #[schemars(transform = Self::EXTENT_SECTORS.said())]
    pub extent_sectors: u32,
    /// Share of either limit beyond which writing out competes with commands.
    #[schemars(transform = Self::FLUSH_ABOVE.said())]
    pub flush_above: f64,
    /// Without commands for this long it writes out what it has.
    #[schemars(transform = Self::FLUSH_AFTER_IDLE_NS.said())]
    pub flush_after_idle_ns: Nanos,
    /// Its content survives a loss of power: a flush need not wait.
    #[serde(default)]
    pub persistent: bool,
    /// In which order it writes out.
    #[serde(default)]
    pub order: WriteOrder,
}

impl WriteCacheParams {
    /// Sectors in all.
    pub(crate) const SECTORS: Bounds<u64> = Bounds::new(1, 1 << 32);
    /// Extents.
    pub(crate) const EXTENTS: Bounds<u32> = Bounds::new(1, 32_768);
    /// Sectors of an extent.
    pub(crate) const EXTENT_SECTORS: Bounds<u32> = Bounds::new(1, 1 << 20);
    /// Shares of the cache.
    pub(crate) const FLUSH_ABOVE: Bounds<f64> = Bounds::new(0.0, 1.0);
    /// Nanoseconds without commands.
    pub(crate) const FLUSH_AFTER_IDLE_NS: Bounds<u64> = Bounds::new(0, 60_000_000_000);
}

/// Which run of the write cache is written out next.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum WriteOrder {
    /// The one that the scheduler's policy says.
    #[default]
    Scheduler,
    /// The one that came first.
    FirstCome,
}

/// Order of the commands in the queue.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(tag = "policy", rename_all = "snake_case", deny_unknown_fields)]
pub enum SchedulerParams {
    /// As they came.
    FirstCome,
    /// Ascending, then from the lowest again.
    CLook,
    /// The one that is reached first.
    ShortestAccess {
        /// Part of its age that is taken off a command's access time.
        ageing: f64,
    },
}

impl SchedulerParams {
    /// True if the command that is reached first goes next.
    #[inline]
    pub fn is_by_access(&self) -> bool {
        matches!(self, SchedulerParams::ShortestAccess { .. })
    }
}

/// What lies between the buffer and the wire.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum InterfaceParams {
    /// The engine's link carries the data.
    Link(LinkFrontParams),
    /// A parallel SCSI bus, whose phases are part of the drive.
    ScsiBus(Box<ScsiBusParams>),
}

/// Firmware in front of the engine's link.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkFrontParams {
    /// Firmware time of a read.
    #[schemars(transform = STEP_NS.said())]
    pub read_overhead_ns: Nanos,
    /// Firmware time of a write.
    #[schemars(transform = STEP_NS.said())]
    pub write_overhead_ns: Nanos,
    /// Room in the queue.
    #[schemars(transform = Self::QUEUE_DEPTH.said())]
    pub queue_depth: u32,
}

impl LinkFrontParams {
    /// Commands in the queue of a disk, of either interface.
    pub(crate) const QUEUE_DEPTH: Bounds<u32> = Bounds::new(1, 4096);
}

/// A value that depends on what the drive did last.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AfterParams {
    /// After a read.
    #[schemars(transform = STEP_NS.said())]
    pub after_read_ns: Nanos,
    /// After a write.
    #[schemars(transform = STEP_NS.said())]
    pub after_write_ns: Nanos,
}

/// When a write leaves the bus although it is not on the medium yet.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExtraDisconnectParams {
    /// Command phase.
    #[schemars(transform = STEP_NS.said())]
    pub command_ns: Nanos,
    /// Leaving the bus before the data.
    #[schemars(transform = STEP_NS.said())]
    pub disconnect_ns: Nanos,
    /// Staying off it.
    #[schemars(transform = STEP_NS.said())]
    pub between_ns: Nanos,
    /// Leaving it after the data.
    #[schemars(transform = STEP_NS.said())]
    pub second_disconnect_ns: Nanos,
    /// From the command phase to the start of the seek.
    #[schemars(transform = STEP_NS.said())]
    pub seek_delta_ns: Nanos,
}

/// A parallel SCSI bus.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScsiBusParams {
    /// Room in the queue.
    #[schemars(transform = LinkFrontParams::QUEUE_DEPTH.said())]
    pub queue_depth: u32,
    /// A sector on the bus, reading.
    #[schemars(transform = STEP_NS.said())]
    pub read_sector_ns: Nanos,
    /// A sector on the bus, writing.
    #[schemars(transform = STEP_NS.said())]
    pub write_sector_ns: Nanos,
    /// Before the data of a read hit.
    pub read_hit: AfterParams,
    /// Before the arm starts for a read.
    pub read_miss: AfterParams,
    /// Before the data and before the arm starts for a write.
    pub write: AfterParams,
    /// At the end of a read.
    #[serde(default)]
    #[schemars(transform = STEP_NS.said())]
    pub read_completion_ns: Nanos,
    /// At the end of a write.
    #[serde(default)]
    #[schemars(transform = STEP_NS.said())]
    pub write_completion_ns: Nanos,
    /// Before each data phase.
    #[serde(default)]
    #[schemars(transform = STEP_NS.said())]
    pub data_preparation_ns: Nanos,
    /// Coming back to the bus.
    #[serde(default)]
    #[schemars(transform = STEP_NS.said())]
    pub first_reselect_ns: Nanos,
    /// Coming back to it for the status of a write with an extra disconnect.
    #[serde(default)]
    #[schemars(transform = STEP_NS.said())]
    pub other_reselect_ns: Nanos,
    /// Leaving the bus after a read's command.
    #[serde(default)]
    pub read_disconnect: AfterParams,
    /// Leaving the bus after a write's data.
    #[serde(default)]
    #[schemars(transform = STEP_NS.said())]
    pub write_disconnect_ns: Nanos,
    /// A write that follows another write leaves the bus once more.
    #[serde(default)]
    pub extra_disconnect: Option<ExtraDisconnectParams>,
    /// Least time of an arm movement before a write.
    #[serde(default)]
    #[schemars(transform = STEP_NS.said())]
    pub minimum_seek_ns: Nanos,
    /// Share of a read that must be buffered before the drive comes back to the bus.
    #[serde(default)]
    pub read_water_mark: f64,
    /// A read keeps the bus while it waits for the medium.
    #[serde(default)]
    pub hold_bus: bool,
    /// The drive never leaves the bus.
    #[serde(default)]
    pub never_disconnect: bool,
    /// A write completes once its data are in the buffer.
    #[serde(default)]
    pub fast_write: bool,
}
