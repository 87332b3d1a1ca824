//! Command processing, as the plan describes it.

use crate::bounds::Bounds;
use raidlab_kernel::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Firmware in the plan.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct FirmwareParams {
    /// Cores that work on commands in parallel.
    #[schemars(transform = Self::CORES.said())]
    pub cores: u32,
    /// Core time of a read command.
    pub read_ns: Nanos,
    /// Core time of a write command.
    pub write_ns: Nanos,
    /// Core time of each mapping unit that is read.
    pub read_unit_ns: Nanos,
    /// Core time of each unit of a read whose piece of the map is cached (see `streams`); none
    /// for that of any other read.
    #[serde(default)]
    pub stream_unit_ns: Option<Nanos>,
    /// Core time of each mapping unit that is written.
    pub write_unit_ns: Nanos,
    /// Core time of each mapping unit that garbage collection moves.
    #[serde(default)]
    pub move_unit_ns: Nanos,
    /// Units that collection gathers until a core moves them (see `host_ftl::moves`).
    #[serde(default = "one")]
    pub move_batch: u32,
    /// Time to fetch each mapping unit of a write from the host, over the link's own; holds no
    /// core.
    #[serde(default)]
    pub fetch_unit_ns: Nanos,
    /// Time to insert a mapping unit of a write into a map in the host's memory where collection had
    /// moved it. Holds no core.
    #[serde(default)]
    pub insert_unit_ns: Nanos,
    /// Latency of a read that holds no core.
    pub read_latency_ns: Nanos,
    /// Latency of a write that holds no core.
    pub write_latency_ns: Nanos,
    /// Core time of a trim or flush command.
    pub other_ns: Nanos,
    /// What a flush takes behind the programs of what was written since the last one (see
    /// `buffer::flushes`).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub flush_ns: Nanos,
    /// What a write with FUA takes behind its program; as a flush if it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fua_ns: Option<Nanos>,
    /// Share of a command's core time that varies from one to the next, exponentially; the mean
    /// stays.
    #[serde(default)]
    #[schemars(transform = Self::SPREAD.said())]
    pub spread: f64,
    /// Core time of a read command once its data have come (see `host_ftl::booked_core`).
    #[serde(default)]
    pub finish_ns: Nanos,
    /// Core time of each mapping unit of a read command once its data have come.
    #[serde(default)]
    pub finish_unit_ns: Nanos,
    /// Core time of a mapping unit that is read or written where collection has moved it (see
    /// `host_ftl::map_times`).
    #[serde(default)]
    pub lookup_unit_ns: Nanos,
    /// Core time of a command whose piece of the map is not cached (see `streams`): the look-up
    /// begins at the root of a tree.
    #[serde(default)]
    pub descent_ns: Nanos,
    /// Time of a change from writing to reading, on a card that serves reads and writes in batches
    /// (see `host_ftl::directions`); none if it serves them side by side.
    #[serde(default)]
    pub turnaround_ns: Option<Nanos>,
}

impl FirmwareParams {
    /// Cores.
    pub(crate) const CORES: Bounds<u32> = Bounds::new(1, 1024);
    /// Part by which a time differs.
    pub(crate) const SPREAD: Bounds<f64> = Bounds::new(0.0, 1.0);
}

fn one() -> u32 {
    1
}

fn is_zero(time: &Nanos) -> bool {
    *time == Nanos::ZERO
}

#[cfg(test)]
impl FirmwareParams {
    /// One core whose work takes no time.
    pub(crate) fn idle() -> FirmwareParams {
        FirmwareParams {
            cores: 1,
            read_ns: Nanos::ZERO,
            write_ns: Nanos::ZERO,
            read_unit_ns: Nanos::ZERO,
            stream_unit_ns: None,
            write_unit_ns: Nanos::ZERO,
            move_unit_ns: Nanos::ZERO,
            move_batch: 1,
            fetch_unit_ns: Nanos::ZERO,
            insert_unit_ns: Nanos::ZERO,
            read_latency_ns: Nanos::ZERO,
            write_latency_ns: Nanos::ZERO,
            other_ns: Nanos::ZERO,
            flush_ns: Nanos::ZERO,
            fua_ns: None,
            spread: 0.0,
            finish_ns: Nanos::ZERO,
            finish_unit_ns: Nanos::ZERO,
            lookup_unit_ns: Nanos::ZERO,
            descent_ns: Nanos::ZERO,
            turnaround_ns: None,
        }
    }
}
