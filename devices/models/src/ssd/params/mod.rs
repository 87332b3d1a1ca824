//! A drive, as the plan describes it.

mod limits;

use crate::fault::Fault;
use crate::idle_states::IdleStateParams;
use crate::power::FlashPowerParams;
use crate::ssd::buffer::prefetch::PrefetchParams;
use crate::ssd::firmware::back_end::BackEndParams;
use crate::ssd::firmware::params::FirmwareParams;
use crate::ssd::map::cache::MapCacheParams;
use crate::ssd::nand::compression::CompressionParams;
use crate::ssd::nand::params::NandParams;
use crate::ssd::nand::temperature::TemperatureParams;
use crate::ssd::preconditioning::load::HistoryLoad;
use crate::ssd::translation::policy::CollectionParams;
use crate::ssd::translation::{Shape, WORKING_BLOCKS};
use raidlab_kernel::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The write buffer in the plan.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize, PartialEq)]
#[schemars(rename = "WriteBufferParams")]
#[serde(deny_unknown_fields)]
pub struct BufferParams {
    /// Bytes of host data that it holds.
    pub bytes: u64,
    /// True if its content survives a loss of power: a flush need not wait for NAND.
    pub protected: bool,
    /// True if a write is complete only when it is in NAND.
    pub write_through: bool,
}

/// A solid-state drive in the plan.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct SsdParams {
    /// Bytes that the host can address, or those of a slice.
    pub capacity_bytes: u64,
    /// Number of slices of the drive; the map is of one of them, which all addresses share.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub slices: u32,
    /// Bytes of a mapping unit.
    pub unit_bytes: u32,
    /// True if the map resolves sectors: a write costs its own bytes, rounded up to whole units,
    /// wherever it starts. False if a write that covers part of a unit reads the rest first.
    #[serde(default)]
    pub sector_mapping: bool,
    /// Bytes that the host may write in the drive's life by its data sheet; 0 if it does not say.
    #[serde(default)]
    pub rated_host_bytes: u64,
    /// Medium.
    pub nand: NandParams,
    /// One page set in this many holds parity over the others; 0 for none.
    #[serde(default)]
    pub parity_stripe: u32,
    /// Blocks of each plane that replace worn ones: never used for data.
    #[serde(default)]
    pub reserved_blocks_per_plane: u32,
    /// Garbage collection.
    pub collection: CollectionParams,
    /// Write buffer.
    pub buffer: BufferParams,
    /// Command processing.
    pub firmware: FirmwareParams,
    /// A back end that sleeps while there are no commands; none if it is always awake.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back_end: Option<BackEndParams>,
    /// True if the controller has memory for the pages that streams read; false if data go straight
    /// to the host.
    #[serde(default)]
    pub keeps_pages: bool,
    /// Reading ahead of a sequential stream.
    #[serde(default)]
    pub prefetch: Option<PrefetchParams>,
    /// Memory for a part of the map; none if all of it is in memory.
    #[serde(default)]
    pub map_cache: Option<MapCacheParams>,
    /// Compression in the drive.
    #[serde(default)]
    pub compression: Option<CompressionParams>,
    /// Share by which the host's data can be compressed, 0 to 1.
    #[serde(default)]
    pub compressible: f64,
    /// Power by activity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<FlashPowerParams>,
    /// Non-operational power states, in the order in which an idle drive enters them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub idle_states: Vec<IdleStateParams>,
    /// Temperature and throttling.
    #[serde(default)]
    pub thermal: Option<TemperatureParams>,
    /// Writes before the run, in their order; none for a drive as it left the factory.
    #[serde(default)]
    pub history: Vec<HistoryLoad>,
    /// A file with the state in which the drive begins, instead of a history.
    #[serde(default)]
    pub snapshot: Option<String>,
    /// True for another end of the same history, as of another seed: what a run owes to its own.
    #[serde(skip)]
    pub another_past: bool,
}

fn one() -> u32 {
    1
}

fn is_one(count: &u32) -> bool {
    *count == 1
}

impl SsdParams {
    /// Bytes that the host can address.
    pub(crate) fn addressable_bytes(&self) -> u64 {
        self.capacity_bytes * u64::from(self.slices)
    }

    /// About how long a small read takes on an idle drive: firmware, a page's sense, and a unit's
    /// transfer.
    pub(crate) fn read_time(&self) -> Nanos {
        let (firmware, nand) = (&self.firmware, &self.nand);
        let pages: Nanos = nand
            .read_ns
            .iter()
            .fold(Nanos::ZERO, |sum, &time| sum + time);
        let sense = Nanos(pages.0 / nand.read_ns.len().max(1) as u64);
        let transfer = u64::from(self.unit_bytes) * 1_000_000_000;
        firmware.read_ns
            + firmware.read_unit_ns
            + firmware.read_latency_ns
            + sense
            + nand.command_ns
            + Nanos(transfer / nand.read_bytes_per_s().max(1))
    }

    /// True if writes are acknowledged while only the buffer has them, and the buffer loses its
    /// content when the power fails.
    pub(crate) fn is_volatile(&self) -> bool {
        let buffer = &self.buffer;
        !buffer.protected && !buffer.write_through
    }

    /// True for a card with its map in the host, or with another mechanism of such cards (see
    /// `host_ftl`).
    pub(crate) fn has_host_ftl(&self) -> bool {
        let firmware = &self.firmware;
        let times = firmware.finish_ns
            + firmware.finish_unit_ns
            + firmware.lookup_unit_ns
            + firmware.insert_unit_ns
            + firmware.descent_ns
            + firmware.move_unit_ns;
        self.sector_mapping
            || self.collection.blocks_at_once > 0
            || firmware.turnaround_ns.is_some()
            || firmware.move_batch != 1
            || times > Nanos::ZERO
    }

    /// Bytes that a mapping unit occupies in NAND.
    pub(crate) fn stored_unit_bytes(&self) -> u32 {
        let share = match &self.compression {
            Some(compression) => compression.stored_share(self.compressible),
            None => 1.0,
        };
        ((f64::from(self.unit_bytes) * share).ceil() as u32).max(1)
    }

    /// Mapping units of a page set, and how many of its bytes they take: where pieces straddle
    /// pages, a little more or less than it has.
    pub(crate) fn packing(&self) -> (u32, u32) {
        let set_bytes = self.nand.planes * self.nand.page_bytes;
        let stored = self.stored_unit_bytes();
        match self.compression {
            None => (set_bytes / stored, set_bytes),
            Some(_) => {
                let units = ((set_bytes + stored / 2) / stored).max(1);
                (units, units * stored)
            }
        }
    }

    /// The address spaces.
    ///
    /// # Errors
    /// Names every parameter that is out of its range.
    pub(crate) fn shape(&self) -> Result<Shape, Vec<Fault>> {
        let mut faults = self.range_faults();
        if !faults.is_empty() {
            return Err(faults);
        }
        let nand = &self.nand;
        let data_blocks = nand.blocks_per_plane - self.reserved_blocks_per_plane;
        let blocks_per_die = match self.parity_stripe {
            0 => data_blocks,
            stripe => (u64::from(data_blocks) * u64::from(stripe - 1) / u64::from(stripe)) as u32,
        };
        let set_bytes = nand.planes * nand.page_bytes;
        let units = self.capacity_bytes.div_ceil(u64::from(self.unit_bytes));
        let dies = nand.channels * nand.dies_per_channel;
        let (units_per_set, taken) = self.packing();
        let pages = u64::from(nand.pages_per_block) * u64::from(set_bytes) / u64::from(taken);
        let sets_per_block = pages.max(1) as u32;
        let per_block = u64::from(sets_per_block) * u64::from(units_per_set);
        let slots = u64::from(dies) * u64::from(blocks_per_die) * per_block;
        // Two numbers of the forward table have a meaning of their own.
        if slots.max(units) >= u64::from(u32::MAX) - 2 {
            let allowed = "larger: at most 4,294,967,292 units fit into the map";
            return Err(vec![Fault::new("unit_bytes", self.unit_bytes, allowed)]);
        }
        let working = u64::from(WORKING_BLOCKS + self.collection.start_free_blocks);
        let usable =
            u64::from(blocks_per_die).saturating_sub(working) * per_block * u64::from(dies);
        if units > usable {
            faults.push(Fault::new(
                "capacity_bytes",
                self.capacity_bytes,
                format!(
                    "at most {}: the NAND holds {} bytes of data, and {working} blocks of each die \
                     must be free for garbage collection",
                    usable * u64::from(self.unit_bytes),
                    slots * u64::from(self.unit_bytes),
                ),
            ));
            return Err(faults);
        }
        Ok(Shape {
            units: units as u32,
            dies,
            blocks_per_die,
            sets_per_block,
            units_per_set,
        })
    }
}
