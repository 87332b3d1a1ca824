//! A thread of a job as plain data; the Python side has resolved the options.

use raidlab_kernel::Nanos;
use schemars::JsonSchema;
use serde::Deserialize;

/// All threads of all jobs of a run.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobsPlan {
    /// Threads in fio's order; the first one has number 1.
    pub threads: Vec<JobPlan>,
    /// Jobs are stopped then; 0 for never.
    #[serde(default)]
    pub until_ns: Nanos,
    /// Names of the loads in the result.
    pub loads: Vec<String>,
}

/// What a job asks for: reads, writes, trims, or two of them.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Trims.
    Trim,
    /// Reads and writes.
    ReadWrite,
    /// Each block is trimmed, then written.
    TrimWrite,
}

/// What I/Os between two random ones do, where `sequence.every` is above 1.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Sequencer {
    /// They go on behind the last one.
    Sequential,
    /// They repeat its offset.
    Identical,
}

/// fio's `rw=randread:8`, `rw=read:4k` and `rw_sequencer`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sequence {
    /// Number of I/Os from one new random offset to the next.
    pub every: u64,
    /// Bytes between the end of a sequential I/O and the next one; negative for backwards.
    pub step_bytes: i64,
    /// What comes between new offsets.
    pub between: Sequencer,
}

/// Sizes of one direction.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sizes {
    /// Least and most bytes of an I/O.
    pub min: u64,
    /// See `min`.
    pub max: u64,
    /// Random offsets are multiples of it.
    pub align: u64,
    /// Sizes with their shares in percent, in ascending order of the shares.
    #[serde(default)]
    pub split: Vec<(u64, u64)>,
    /// Share of random offsets in percent.
    pub percent_random: u32,
    /// Zones: percent of the accesses, and the end of the zone in percent or bytes.
    #[serde(default)]
    pub zones: Vec<(u32, u64)>,
}

/// Which blocks of a file are asked for.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum Distribution {
    /// All alike.
    Uniform,
    /// Zipf's law.
    Zipf {
        /// Exponent.
        theta: f64,
        /// Place of the most wanted block, a share of the file; none for a random one.
        center: Option<f64>,
    },
    /// Pareto's law.
    Pareto {
        /// Its power.
        h: f64,
        /// As of `Zipf`.
        center: Option<f64>,
    },
    /// Sums of twelve uniform numbers.
    Normal {
        /// Deviation, in percent of the file.
        deviation: f64,
        /// As of `Zipf`.
        center: Option<f64>,
    },
    /// Zones in percent of the file.
    Zoned,
    /// Zones in bytes.
    ZonedAbs,
}

fn uniform() -> Distribution {
    Distribution::Uniform
}

/// The generator of random offsets.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum RandomGenerator {
    /// 32 bits.
    Tausworthe,
    /// 64 bits.
    Tausworthe64,
    /// A shift register, which meets every block once without a map.
    Lfsr,
}

/// Seeds of a thread.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Seeds {
    /// fio's `randseed`, or what the run draws instead.
    pub seed: u64,
    /// Offsets are those of fio's fixed seed.
    pub repeat_offsets: bool,
    /// Each pass draws the same numbers, and skewed distributions are seeded by a file's name.
    pub repeat_passes: bool,
    /// All draws are those of fio's fixed seed.
    pub repeat_all: bool,
    /// Sizes of writes are drawn as those of reads are: a job with `verify`.
    #[serde(default)]
    pub same_sizes: bool,
}

/// A file: a part of the array.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FilePlan {
    /// First byte on the array.
    pub start_bytes: u64,
    /// Where I/O begins in the file.
    pub offset_bytes: u64,
    /// Bytes from there on that are used.
    pub io_bytes: u64,
    /// Bytes of the file.
    pub real_bytes: u64,
    /// fio's hash of its name, from which skewed distributions are seeded.
    pub name_hash: u32,
}

/// Which file comes next.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum FileService {
    /// One after the other, in turn.
    RoundRobin,
    /// One until it is done.
    Sequential,
    /// Any.
    Random,
}

/// Strided zones: `zonemode=strided`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Strides {
    /// Bytes of I/O in a zone.
    pub size: u64,
    /// Bytes of a zone.
    pub range: u64,
    /// Bytes between two zones.
    pub skip: u64,
}

/// Pauses of a thread.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Think {
    /// Length of a pause, without I/Os in flight.
    pub pause_ns: Nanos,
    /// I/Os between two pauses; 0 if `after_ns` alone counts.
    pub blocks: u64,
    /// True to count completed I/Os, false for issued ones.
    pub completed: bool,
    /// Time of I/O between two pauses; 0 if `blocks` alone count.
    pub after_ns: Nanos,
}

/// A cap of one direction; 0 for none.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cap {
    /// Bytes a second.
    pub bytes_per_s: u64,
    /// Gaps are exponential, else even.
    pub poisson: bool,
    /// Exponential gaps have the mean that the cap says; else, as fio's, one of whole microseconds
    /// at a whole number of I/Os a second.
    #[serde(default)]
    pub exact: bool,
}

/// fio's `latency_target`: the greatest depth whose latency keeps a limit.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LatencyTarget {
    /// The limit.
    pub target_ns: Nanos,
    /// Time between two decisions.
    pub window_ns: Nanos,
    /// Percent of the I/Os that keep it.
    pub percentile: f64,
    /// Goes on when the depth is found.
    pub runs_on: bool,
}

/// How many I/Os a thread has, hands in and takes back at once.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Depth {
    /// I/Os at most.
    pub depth: u32,
    /// Handed in at once.
    pub batch: u32,
    /// Least and most that are taken back at once.
    pub complete_min: u32,
    /// See `complete_min`.
    pub complete_max: u32,
    /// A full queue is emptied down to this.
    pub low: u32,
}

/// When I/Os are made durable.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Syncs {
    /// Writes between two `fsync`; 0 for none.
    pub fsync: u64,
    /// Writes between two `fdatasync`; 0 for none.
    pub fdatasync: u64,
    /// An `fsync` at the end.
    pub at_end: bool,
    /// Every write is durable when it completes.
    pub each_write: bool,
    /// True if `each_write` leaves the file's times out: `O_DSYNC`.
    #[serde(default)]
    pub data_only: bool,
    /// True if its writes lengthen files, or have blocks allocated, on a file system.
    #[serde(default)]
    pub allocates: bool,
    /// True if the engine queues a flush as an I/O, which takes a place of the depth: others go on.
    #[serde(default)]
    pub queued: bool,
    /// True if writes of `each_write` carry FUA; on a file system no call follows them then.
    #[serde(default)]
    pub fua: bool,
}

/// What was written is read back: fio's `verify`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Verify {
    /// In the order of offsets, each block once; else in the order of the writes.
    pub by_offset: bool,
    /// Writes before some are read back; 0 to read them when all are written.
    pub backlog: u64,
    /// Reads at once of a backlog.
    pub batch: u64,
}

/// How long a thread goes on.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Extent {
    /// Bytes of its files that it uses.
    pub size: u64,
    /// Bytes of I/O if not `size`; 0 for the same.
    pub io_size: u64,
    /// Repetitions.
    pub loops: u64,
    /// I/Os at most; 0 for no limit.
    pub number_ios: u64,
    /// Time at most; 0 for no limit.
    pub runtime_ns: Nanos,
    /// True to begin again until `runtime_ns` is over.
    pub time_based: bool,
    /// Time before anything is recorded.
    pub ramp_ns: Nanos,
}

/// When a thread begins and whose end it takes part in.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// Its job file: phases of different files are independent.
    pub file: u32,
    /// It begins when all threads of lower phases have ended.
    pub phase: u32,
    /// So long after its phase began.
    pub delay_ns: Nanos,
    /// A load of its file whose end it waits for.
    #[serde(default)]
    pub after: Option<u32>,
    /// Its end ends all other threads of its phase.
    pub ends_others: bool,
}

/// One thread.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobPlan {
    /// Index into `loads` of its load.
    pub load: u32,
    /// Array that it loads.
    pub array: u32,
    /// fio's number of the thread, from 1.
    pub number: u32,
    /// When it begins.
    pub start: Start,
    /// How long it goes on.
    pub extent: Extent,
    /// What it asks for.
    pub direction: Direction,
    /// True for random offsets.
    pub random: bool,
    /// Percent of reads of `read_write`.
    pub read_percent: u32,
    /// Order within random loads, holes within sequential ones.
    pub sequence: Sequence,
    /// Sizes of reads, writes and trims.
    pub sizes: [Sizes; 3],
    /// Sizes are no multiples of the least one.
    pub unaligned: bool,
    /// Sizes of reads stand for sequential I/Os, those of writes for random ones.
    pub sizes_by_order: bool,
    /// Which blocks are asked for.
    pub distribution: Distribution,
    /// True if no block is asked for twice.
    pub random_map: bool,
    /// Generator of random offsets.
    pub generator: RandomGenerator,
    /// Seeds.
    pub seeds: Seeds,
    /// Its files.
    pub files: Vec<FilePlan>,
    /// Which comes next.
    pub file_service: FileService,
    /// I/Os to a file before the next one.
    pub file_service_ios: u64,
    /// Which files a random service takes more often.
    #[serde(default = "uniform")]
    pub file_distribution: Distribution,
    /// Strided zones.
    #[serde(default)]
    pub strides: Option<Strides>,
    /// I/Os at once.
    pub depth: Depth,
    /// True if an I/O ends before the next one begins.
    pub synchronous: bool,
    /// Caps of reads, writes and trims.
    #[serde(default)]
    pub caps: [Cap; 3],
    /// Pauses.
    #[serde(default)]
    pub think: Option<Think>,
    /// Durability.
    pub syncs: Syncs,
    /// Reads of what was written.
    #[serde(default)]
    pub verify: Option<Verify>,
    /// A limit of the latency that the depth obeys.
    #[serde(default)]
    pub latency_target: Option<LatencyTarget>,
    /// A latency that ends the job; 0 for none.
    pub max_latency_ns: Nanos,
    /// Step of the samples of bandwidth and rate.
    pub sample_ns: Nanos,
}

impl JobPlan {
    /// A thread from its JSON.
    ///
    /// # Errors
    /// It is not in a thread's form.
    pub fn from_json(text: &str) -> serde_json::Result<JobPlan> {
        serde_json::from_str(text)
    }
}
