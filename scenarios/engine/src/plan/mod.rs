//! The plan: a whole run as flat, plain data, the form in which Python hands it over.
//!
//! Components stand in lists and refer to each other by index. Every quantity is in base
//! units, named in its key: nanoseconds, bytes, bytes a second. The Python side has checked
//! what people wrote; what is checked here again is what the engine's own safety needs.

mod copies;
mod declustered;
mod details;
mod durability;
mod host;
mod host_cache;
mod recording;
mod workload;

pub use copies::{Arrangement, CopiesPlan};
pub use declustered::DeclusteredPlan;
pub use details::{Details, SLOWEST_IOS, TRACED_IOS};
pub use durability::{BitmapPlan, FileSystemPlan, FlushCommand, JournalKind, SyncPlan};
pub use host::{BlockLayerParams, FlushOrder, MdPlan, PageCacheParams, Scheduler};
pub use host_cache::HostCachePlan;
use raidlab_jobs::JobsPlan;
use raidlab_kernel::{Nanos, Time};
use raidlab_models::{DeviceParams, HostParams, LinkParams, PauseParams};
pub use recording::{Balance, Filling};
use schemars::JsonSchema;
use serde::Deserialize;
pub use workload::{
    Access, Arrival, ClientPlan, HotSpotPlan, Pattern, SharePlan, TenantPlan, WorkloadPlan,
};

/// 18 years, the longest time of a plan: a recording of this length has no end of its own.
pub const UNTIL_OVER: Nanos = Nanos(1 << 59);
/// Steps of the timeline of a recording without an end of its own; they become longer.
const STEPS_UNTIL_OVER: u64 = 512;

/// A whole run.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Every random stream is derived from it.
    pub seed: u64,
    /// Simulated time before anything is recorded.
    pub warm_up_ns: Nanos,
    /// What is recorded without a steady state up to here becomes part of the warm-up, and another
    /// recording begins; 0 for never.
    #[serde(default)]
    pub warm_up_most_ns: Nanos,
    /// What is recorded while a controller's memory still fills becomes part of the warm-up as well.
    #[serde(default)]
    pub filling: Option<Filling>,
    /// Simulated time recorded after the warm-up; from [`UNTIL_OVER`] on as long as it takes until
    /// the loads that have an end are over.
    pub duration_ns: Nanos,
    /// Ends the recording earlier, after this many recorded I/Os of all workloads together;
    /// 0 for no limit.
    #[serde(default)]
    pub max_ios: u64,
    /// Goes on beyond `max_ios` while Little's law does not hold.
    #[serde(default)]
    pub balance: Option<Balance>,
    /// Ends the recording earlier, once the 95 % interval of every workload's rate is at most
    /// this share of the rate to either side; 0 for never.
    #[serde(default)]
    pub precision: f64,
    /// True to run the begin of the recording once more after another past of its flash drives, so
    /// that intervals hold what the past adds.
    #[serde(default)]
    pub heeds_past: bool,
    /// Ends the recording earlier, so long after the last rebuild is done; 0 for never.
    #[serde(default)]
    pub after_rebuild_ns: Nanos,
    /// Length of a step of the timeline in the result; 0 for no timeline.
    #[serde(default)]
    pub timeline_step_ns: Nanos,
    /// How many seconds of the life of SSD caches a simulated second after the warm-up stands for.
    #[serde(default = "one")]
    pub time_lapse: u32,
    /// A file for the state of the drives at the end of the run.
    #[serde(default)]
    pub save_state: Option<String>,
    /// Memory that the system may take; 0 for no limit. It changes no result.
    #[serde(default)]
    pub memory_bytes: u64,
    /// Addresses that the system may reserve; 0 for no limit. It changes no result.
    #[serde(default)]
    pub address_bytes: u64,
    /// Load threads of outside callers; an I/O whose mark is `m` belongs to thread
    /// `m % outside_threads`.
    #[serde(default = "one")]
    pub outside_threads: u32,
    /// The host.
    pub host: HostParams,
    /// All links.
    pub links: Vec<LinkParams>,
    /// All controllers.
    pub controllers: Vec<ControllerPlan>,
    /// Device models; several drives may share one.
    pub devices: Vec<DeviceParams>,
    /// All drives.
    pub drives: Vec<DrivePlan>,
    /// All arrays.
    pub arrays: Vec<ArrayPlan>,
    /// All loads.
    pub workloads: Vec<WorkloadPlan>,
    /// What happens at given times.
    #[serde(default)]
    pub events: Vec<EventPlan>,
    /// True to follow the versions of the data and say what became of them.
    #[serde(default)]
    pub data: bool,
    /// What is recorded beyond rates, latencies and their parts.
    #[serde(default)]
    pub details: Details,
    /// Jobs of fio, each thread of which is an outside caller.
    #[serde(default)]
    pub jobs: Option<JobsPlan>,
    /// Outside threads whose I/Os are held.
    #[serde(default)]
    pub tenants: Vec<TenantPlan>,
}

fn one() -> u32 {
    1
}

impl Plan {
    /// Up to when a steady state is looked for, where memories still filled up to `until`: with full
    /// ones the search begins anew.
    pub(crate) fn steady_by(&self, until: Time) -> Time {
        let search = self.warm_up_most_ns.saturating_sub(self.warm_up_ns);
        (until + search).min(Time::ZERO + self.last_begin())
    }

    /// Up to when a recording may become part of the warm-up.
    pub(crate) fn last_begin(&self) -> Nanos {
        let filling = self.filling.map_or(Nanos::ZERO, |filling| filling.most_ns);
        self.warm_up_most_ns.max(filling)
    }

    /// Steps of the timeline of each load; those of a recording without an end of its own double.
    pub(crate) fn timeline_steps(&self) -> u64 {
        let length = self.warm_up_ns.max(self.last_begin()) + self.duration_ns;
        let steps = length.0.checked_div(self.timeline_step_ns.0);
        match steps {
            Some(_) if self.duration_ns >= UNTIL_OVER => STEPS_UNTIL_OVER,
            steps => steps.map_or(0, |steps| steps + 1),
        }
    }

    /// The time that a simulated instant, in seconds, stands for.
    pub fn lapsed(&self, t_s: f64) -> f64 {
        let warm_s = self.warm_up_ns.0 as f64 / 1e9;
        t_s.min(warm_s) + (t_s - warm_s).max(0.0) * f64::from(self.time_lapse.max(1))
    }

    /// True if drives, power or backups can fail during the run.
    pub fn can_fail(&self) -> bool {
        let moves = |event: &EventPlan| matches!(event.action, Action::MoveHotSpot { .. });
        !self.events.iter().all(moves)
    }
}

/// A controller: a queue, cores, firmware time.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ControllerPlan {
    /// For reports.
    pub name: String,
    /// Commands in work at once; further ones wait in the driver. 0 for no limit.
    pub queue_depth: u32,
    /// Cores working in parallel.
    #[schemars(transform = Self::CORES.said())]
    pub cores: u32,
    /// Firmware time on a core for each request of the host.
    pub request_ns: Nanos,
    /// Firmware time on a core for each command to a drive.
    pub command_ns: Nanos,
    /// Firmware time for each page of 4 KiB of data, but on the short path.
    #[serde(default)]
    pub page_ns: Nanos,
    /// Cores that work on the write cache and on stripes; 0 for all.
    #[serde(default)]
    pub cache_cores: u32,
    /// Firmware time on a core for each request of an array with parity that bypasses the cache;
    /// none for the same as `request_ns`.
    #[serde(default)]
    pub parity_request_ns: Option<Nanos>,
    /// Firmware time for a request that the cache serves; none for the same as `request_ns`.
    #[serde(default)]
    pub cached_request_ns: Option<Nanos>,
    /// Firmware time for a request on the short path, FastPath.
    #[serde(default)]
    pub fast_path_request_ns: Option<Nanos>,
    /// Time of each request in messages, set-up and interrupts, on no core.
    #[serde(default)]
    pub latency_ns: Nanos,
    /// Bytes a second that the parity engine takes in; 0 for no limit.
    #[serde(default)]
    pub parity_bytes_per_s: u64,
    /// Bytes a second that the memory moves, in and out together; 0 for no limit.
    #[serde(default)]
    pub memory_bytes_per_s: u64,
    /// Its cache.
    #[serde(default)]
    pub cache: Option<CachePlan>,
    /// Firmware time of looking a request up in the SSD cache.
    #[serde(default)]
    pub tier_ns: Nanos,
    /// Its link to the host, an index into `links`; data of arrays that pass through its memory
    /// cross this link by themselves.
    #[serde(default)]
    pub link: Option<u32>,
}

/// A drive and its path to the host.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DrivePlan {
    /// For reports and random streams; unique.
    pub name: String,
    /// Index into `devices`.
    pub device: u32,
    /// Commands that the drive takes at once; further ones wait before it. 0 for no limit.
    pub queue_depth: u32,
    /// How the host's operating system orders what waits.
    #[serde(default)]
    pub block_layer: BlockLayerParams,
    /// How it takes flushes.
    #[serde(default)]
    pub flush: FlushCommand,
    /// For how long it takes up no command now and then.
    #[serde(default)]
    pub pauses: Vec<PauseParams>,
    /// Links from the drive to the host, the drive's own first; indices into `links`.
    pub path: Vec<u32>,
}

/// How an array lays data over its drives.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Drives one after the other in one address space; a single drive is a jbod of one.
    Jbod,
    /// Striped.
    Raid0,
    /// Every drive holds the same.
    Raid1,
    /// Each stripe unit on two neighbouring drives; three drives or more.
    Raid1e,
    /// Mirrored pairs, striped.
    Raid10,
    /// Striped with one rotating parity.
    Raid5,
    /// Striped with two rotating parities.
    Raid6,
    /// RAID 5 spans, striped.
    Raid50,
    /// RAID 6 spans, striped.
    Raid60,
}

impl Level {
    /// True if parity guards the data.
    pub fn has_parity(self) -> bool {
        self.parities() > 0
    }

    /// Parity units of a stripe.
    pub fn parities(self) -> u32 {
        match self {
            Level::Jbod | Level::Raid0 | Level::Raid1 | Level::Raid10 | Level::Raid1e => 0,
            Level::Raid5 | Level::Raid50 => 1,
            Level::Raid6 | Level::Raid60 => 2,
        }
    }

    /// True if each drive's data are on others as well.
    pub fn has_copies(self) -> bool {
        match self {
            Level::Raid1 | Level::Raid10 | Level::Raid1e => true,
            Level::Jbod
            | Level::Raid0
            | Level::Raid5
            | Level::Raid6
            | Level::Raid50
            | Level::Raid60 => false,
        }
    }
}

/// How parity moves from stripe to stripe, and where data begin beside it.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Rotation {
    /// Parity from the last drive towards the first; data begin behind it.
    #[default]
    LeftSymmetric,
    /// Parity from the last drive towards the first; data begin at the first drive.
    LeftAsymmetric,
    /// Parity from the first drive towards the last; data begin behind it.
    RightSymmetric,
    /// Parity from the first drive towards the last; data begin at the first drive.
    RightAsymmetric,
}

/// An array.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArrayPlan {
    /// For reports; unique.
    pub name: String,
    /// Layout.
    pub level: Level,
    /// Contiguous bytes on one drive before the next takes over.
    pub stripe_unit_bytes: u64,
    /// Indices into `drives`.
    pub drives: Vec<u32>,
    /// Index into `controllers`; none if the drives hang on the host.
    pub controller: Option<u32>,
    /// True if the host's CPU does the RAID work.
    pub software: bool,
    /// True if Linux md chooses the copy that serves a read; of an array in the host alone.
    #[serde(default)]
    pub md_reads: bool,
    /// Of level 10 where its copies lie otherwise than in striped pairs.
    #[serde(default)]
    pub copies: Option<CopiesPlan>,
    /// Of levels 5 and 6 where stripes are narrower than the array.
    #[serde(default)]
    pub declustered: Option<DeclusteredPlan>,
    /// True if its controller reads a stream from one copy of a mirror alone.
    #[serde(default)]
    pub one_copy_streams: bool,
    /// What md costs and allows it; of an array in the host alone.
    #[serde(default)]
    pub md: MdPlan,
    /// Its write-intent bitmap; of an array in the host alone.
    #[serde(default)]
    pub bitmap: Option<BitmapPlan>,
    /// Its file system.
    #[serde(default)]
    pub file_system: Option<FileSystemPlan>,
    /// True if writes with FUA reach its drives so: outside callers that ask for durable writes
    /// send them.
    #[serde(default)]
    pub takes_fua: bool,
    /// Share of the rows that is in place when a rebuild begins: a sample of a long rebuild begins
    /// in its midst.
    #[serde(default)]
    pub rebuild_from: f64,
    /// Spans of levels 50 and 60.
    #[serde(default = "two")]
    pub spans: u32,
    /// Where parity lies.
    #[serde(default)]
    pub rotation: Rotation,
    /// True if requests take the controller's short path.
    #[serde(default)]
    pub fast_path: bool,
    /// Bytes of each drive that it uses, from the drive's start; 0 for all.
    #[serde(default)]
    pub used_bytes: u64,
    /// Drives that take over from failed ones; indices into `drives`.
    #[serde(default)]
    pub spares: Vec<u32>,
    /// Share of the time that work in the background has while the host wants the drives.
    #[serde(default = "third")]
    pub background_share: f64,
    /// Bytes of a member that work in the background moves in a second at most; 0 for no limit.
    #[serde(default)]
    pub background_bytes_per_s: u64,
    /// How the controller's cache serves it; none if requests bypass it.
    #[serde(default)]
    pub cache: Option<PolicyPlan>,
    /// Its SSD cache.
    #[serde(default)]
    pub tier: Option<TierPlan>,
    /// I/Os of tenants that are in it at once, where loads have shares.
    #[serde(default = "usual_depth")]
    pub shared_depth: u32,
}

fn usual_depth() -> u32 {
    32
}

/// An SSD cache of an array.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TierPlan {
    /// The array of the SSDs, an index into `arrays`; its stripe unit is a line of the cache: what
    /// leaves the controller's cache together, a stripe unit or, with parity, a stripe's data.
    pub array: u32,
    /// True if writes go to the SSDs; false if they bypass them.
    pub write_back: bool,
    /// Accesses that make a line hot.
    pub promote_after: u32,
    /// The access frequency of lines that are not on the SSDs is halved this often.
    pub half_life_ns: Nanos,
    /// Share of the lines above which dirty ones are written back.
    pub dirty_share: f64,
    /// Lines in flight to the SSDs at once.
    pub copies_at_once: u32,
    /// True if the SSD cache starts with the content that the load gives it in the long run.
    pub warm: bool,
    /// Of a cache in the host.
    #[serde(default)]
    pub host: HostCachePlan,
}

/// When a write is acknowledged.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum WritePolicy {
    /// When it is on the drives.
    WriteThrough,
    /// When it is in the cache if that survives an outage; else when it is on the drives.
    WriteBack,
    /// When it is in the cache.
    AlwaysWriteBack,
}

/// Something that happens at a given time.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct EventPlan {
    /// When.
    pub at_ns: Nanos,
    /// What.
    #[serde(flatten)]
    pub action: Action,
}

/// How many components of each kind there are.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Drives.
    pub drives: usize,
    /// Arrays.
    pub arrays: usize,
    /// Controllers.
    pub controllers: usize,
    /// Workloads.
    pub workloads: usize,
}

impl Action {
    /// Whether what it happens to is there.
    ///
    /// # Errors
    /// The key, the index that is too large, and how many there are.
    pub fn check(&self, sizes: Sizes) -> Result<(), (&'static str, u32, usize)> {
        let (key, index, count) = match *self {
            Action::FailDrive { drive }
            | Action::SlowDrive { drive, .. }
            | Action::UnreadableSectors { drive, .. }
            | Action::ReplaceDrive { drive } => ("drive", drive, sizes.drives),
            Action::PatrolRead { array } | Action::ConsistencyCheck { array } => {
                ("array", array, sizes.arrays)
            }
            Action::BackupReady { controller, .. } => ("controller", controller, sizes.controllers),
            Action::MoveHotSpot { workload, .. } => ("workload", workload, sizes.workloads),
            Action::PowerFail { .. } => return Ok(()),
        };
        if (index as usize) < count {
            Ok(())
        } else {
            Err((key, index, count))
        }
    }
}

/// What can happen.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Action {
    /// A drive answers nothing any more.
    FailDrive {
        /// Index into `drives`.
        drive: u32,
    },
    /// A drive takes longer for every command.
    SlowDrive {
        /// Index into `drives`.
        drive: u32,
        /// So much longer; 0 for as fast as ever.
        extra_ns: Nanos,
    },
    /// Sectors of a drive cannot be read any more, until they are written again.
    UnreadableSectors {
        /// Index into `drives`.
        drive: u32,
        /// First byte.
        offset_bytes: u64,
        /// Number of bytes.
        bytes: u64,
    },
    /// A new drive in a failed one's place.
    ReplaceDrive {
        /// Index into `drives`.
        drive: u32,
    },
    /// The power fails.
    PowerFail {
        /// For so long.
        off_ns: Nanos,
    },
    /// All drives of an array are read through for unreadable sectors.
    PatrolRead {
        /// Index into `arrays`.
        array: u32,
    },
    /// Parity of an array is compared with its data.
    ConsistencyCheck {
        /// Index into `arrays`.
        array: u32,
    },
    /// The hot spot of a workload moves.
    MoveHotSpot {
        /// Index into `workloads`.
        workload: u32,
        /// Where it begins from now on.
        start_bytes: u64,
    },
    /// A cache's battery or flash backup becomes ready or not ready (it learns, it fails).
    BackupReady {
        /// Index into `controllers`.
        controller: u32,
        /// Whether it is ready.
        ready: bool,
    },
}

impl Action {
    /// True if content of drives or of the controller's memory can be gone after it.
    pub fn can_cost_data(&self) -> bool {
        matches!(
            self,
            Action::FailDrive { .. }
                | Action::UnreadableSectors { .. }
                | Action::ReplaceDrive { .. }
                | Action::PowerFail { .. }
        )
    }
}

/// When the controller reads more than it is asked for.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[schemars(rename = "CacheReadAhead")]
#[serde(rename_all = "snake_case")]
pub enum ReadAhead {
    /// Never.
    None,
    /// Behind a sequential stream whose reader does not saturate the drives by itself.
    Adaptive,
    /// Each read brings its stripe unit to the end; behind a sequential stream, whatever its reader
    /// has in flight.
    Always,
    /// Behind every read, as a chipset's driver does.
    BehindEach,
}

/// How a controller's cache serves an array.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyPlan {
    /// When a write is acknowledged.
    pub write: WritePolicy,
    /// When more is read than was asked for.
    pub read_ahead: ReadAhead,
    /// True if what was read stays in the cache (cached I/O); false for direct I/O.
    pub keep_reads: bool,
}

/// A controller's cache.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CachePlan {
    /// Bytes for data.
    pub bytes: u64,
    /// Share of it that may be dirty; further writes wait.
    pub dirty_share: f64,
    /// Share of the dirty limit below which data wait for neighbours instead of going out.
    pub low_share: f64,
    /// Dirty data are destaged after at most this time.
    pub flush_interval_ns: Nanos,
    /// Stripes in flight to the drives at once, for each drive.
    pub destages_per_drive: u32,
    /// How long its content outlives an outage; 0 for not at all.
    #[serde(default)]
    pub hold_ns: Nanos,
}

fn third() -> f64 {
    0.3
}

fn two() -> u32 {
    2
}
