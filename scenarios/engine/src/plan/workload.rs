//! Loads: what they ask for, and when.

use crate::plan::durability::SyncPlan;
use crate::plan::host::PageCacheParams;
use raidlab_kernel::Nanos;
use raidlab_models::LimitParams;
use schemars::JsonSchema;
use serde::Deserialize;

/// Order of the offsets.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Uniform over the area.
    Random,
    /// Ascending, each thread from its own share of the area, starting again at its end.
    Sequential,
}

/// When a load issues its next I/O.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum Arrival {
    /// As soon as one of `outstanding` completes and `think_ns` has passed.
    Closed {
        /// I/Os in flight, all threads together.
        outstanding: u32,
        /// Pause between a completion and the next I/O of the same slot.
        think_ns: Nanos,
        /// True if the pause is exponential with that mean, false if it is fixed.
        #[serde(default)]
        exponential: bool,
    },
    /// At random instants (a Poisson stream), whether or not earlier ones have completed.
    Poisson {
        /// Mean rate of all threads together.
        per_s: f64,
    },
    /// Whether or not earlier ones have completed, as the pattern says.
    Patterned {
        /// Mean rate of all threads together, in the long run.
        per_s: f64,
        /// How they come.
        pattern: Pattern,
    },
    /// As a file has recorded; what is asked stands there, too.
    Traced {
        /// The file and how it is read.
        trace: Box<raidlab_traces::Options>,
        /// Requests in flight of a closed loop, in which the file's times are pauses behind its
        /// requests; 0 for the file's times, whether or not earlier requests have completed.
        #[serde(default)]
        outstanding: u32,
        /// Whether the response time of every request is reported.
        #[serde(default)]
        each: bool,
    },
}

impl Arrival {
    /// I/Os a second of an open load.
    pub fn per_s(&self) -> Option<f64> {
        match self {
            Arrival::Closed { .. } | Arrival::Traced { .. } => None,
            Arrival::Poisson { per_s } | Arrival::Patterned { per_s, .. } => Some(*per_s),
        }
    }
}

/// How the I/Os of an open load come that are no Poisson stream of one rate.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum Pattern {
    /// At even intervals.
    Even,
    /// At two rates in turn.
    OnOff {
        /// Mean length of the phases at the higher rate; their lengths are exponential.
        on_ns: Nanos,
        /// Mean length of the phases at the lower rate.
        off_ns: Nanos,
        /// The lower rate as a share of the higher one.
        off_rate: f64,
    },
    /// From sources that are on and off for Pareto times.
    SelfSimilar {
        /// Mean time for which a source is on.
        on_ns: Nanos,
        /// Mean time for which it is off.
        off_ns: Nanos,
        /// Hurst parameter, above 0.5 and below 1.
        hurst: f64,
        /// How many sources.
        sources: u32,
    },
    /// At rates that follow the time, over and over.
    Daily {
        /// Length of a step.
        step_ns: Nanos,
        /// The rates of the steps, in any unit.
        shares: Vec<f64>,
    },
}

/// A load's share of its array, where tenants share it.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct SharePlan {
    /// In proportion to which tenants of one priority are served; 1 to 10000.
    pub weight: u32,
    /// 0 goes before 1, and so on.
    pub priority: u32,
}

/// Outside threads that are one tenant: their I/Os are held before they reach the host's CPU.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct TenantPlan {
    /// For reports; unique, beside those of the loads too.
    pub name: String,
    /// Index into `arrays`: the one that it shares.
    pub array: u32,
    /// Its first outside thread.
    pub first_thread: u32,
    /// Its threads.
    pub threads: u32,
    /// Limits that hold at once.
    #[serde(default)]
    pub limits: Vec<LimitParams>,
    /// Its share of the array among tenants.
    #[serde(default)]
    pub share: Option<SharePlan>,
}

/// Where the data of a load cross a link of their own before they reach the target's.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct ClientPlan {
    /// Index into `links`: the client's.
    pub link: u32,
    /// Index into `links`: the target's, which its data cross as well.
    pub target: u32,
}

/// A load on one array.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct WorkloadPlan {
    /// For reports and random streams; unique.
    pub name: String,
    /// Index into `arrays`.
    pub array: u32,
    /// Load threads, each with its own CPU time.
    pub threads: u32,
    /// Order of the offsets.
    pub access: Access,
    /// Share of reads, 0 to 1.
    pub read_share: f64,
    /// Bytes of each I/O.
    pub block_bytes: u64,
    /// Offsets are multiples of this.
    pub align_bytes: u64,
    /// First byte of the area.
    pub area_start_bytes: u64,
    /// Bytes of the area.
    pub area_bytes: u64,
    /// The part of the area that most random I/Os go to.
    #[serde(default)]
    pub hot_spot: Option<HotSpotPlan>,
    /// Arrival of I/Os.
    pub arrival: Arrival,
    /// Limits that hold at once, before the host's CPU.
    #[serde(default)]
    pub limits: Vec<LimitParams>,
    /// Its share of the array among tenants.
    #[serde(default)]
    pub share: Option<SharePlan>,
    /// The link of its client to a target across a network, if it has its own.
    #[serde(default)]
    pub client: Option<ClientPlan>,
    /// How often the area is covered, each block once a time; then the load ends, and the run
    /// with the last load that does. 0 for a load without end.
    #[serde(default)]
    pub passes: u32,
    /// The operating system's page cache, if the load goes through it.
    #[serde(default)]
    pub page_cache: Option<PageCacheParams>,
    /// Its calls that make writes durable.
    #[serde(default)]
    pub sync: Option<SyncPlan>,
}

/// A part of a workload's area that most of its random I/Os go to.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct HotSpotPlan {
    /// Share of the I/Os; the rest goes anywhere in the area.
    pub share: f64,
    /// First byte.
    pub start_bytes: u64,
    /// Number of bytes.
    pub bytes: u64,
}

impl WorkloadPlan {
    /// Places that issue I/Os: those of a closed loop, or one for each thread of open arrivals.
    pub(crate) fn places(&self) -> u32 {
        match self.arrival {
            Arrival::Closed { outstanding, .. } => outstanding,
            Arrival::Poisson { .. } | Arrival::Patterned { .. } | Arrival::Traced { .. } => {
                self.threads
            }
        }
    }
}
