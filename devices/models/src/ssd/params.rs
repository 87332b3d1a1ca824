//! What a drive is, as the plan says it, and what may stand there.

use super::collection::{CollectionParams, LEVELLING_NEEDS};
use super::compression::CompressionParams;
use super::firmware::FirmwareParams;
use super::heat::HeatParams;
use super::map_cache::MapCacheParams;
use super::nand::NandParams;
use super::prefetch::PrefetchParams;
use super::state::PastLoad;
use super::translation::{Shape, WORKING_BLOCKS};
use crate::Fault;
use serde::{Deserialize, Serialize};

/// The write buffer in the plan.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq)]
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
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct SsdParams {
    /// Bytes that the host can address.
    pub capacity_bytes: u64,
    /// Bytes of a mapping unit.
    pub unit_bytes: u32,
    /// True if the map resolves sectors, so that a write costs its own bytes, rounded up to whole
    /// units, wherever it starts; false if a write that covers part of a unit reads the rest first.
    #[serde(default)]
    pub sector_mapping: bool,
    /// Bytes that the data sheet lets the host write in the drive's life; 0 if it does not say.
    #[serde(default)]
    pub rated_host_bytes: u64,
    /// Medium.
    pub nand: NandParams,
    /// One page set in this many holds parity over the others; 0 for none.
    #[serde(default)]
    pub parity_stripe: u32,
    /// Blocks of each plane kept to replace worn ones: never used for data.
    #[serde(default)]
    pub reserved_blocks_per_plane: u32,
    /// Garbage collection.
    pub collection: CollectionParams,
    /// Write buffer.
    pub buffer: BufferParams,
    /// Command processing.
    pub firmware: FirmwareParams,
    /// True if the controller has memory for the pages that streams are in; false if they go
    /// straight to the host.
    #[serde(default)]
    pub keeps_pages: bool,
    /// Reading ahead of a sequential stream.
    #[serde(default)]
    pub prefetch: Option<PrefetchParams>,
    /// The map in part in memory; none for all of it.
    #[serde(default)]
    pub map_cache: Option<MapCacheParams>,
    /// Compression in the drive.
    #[serde(default)]
    pub compression: Option<CompressionParams>,
    /// Share by which the data that it is given can be compressed, 0 to 1.
    #[serde(default)]
    pub compressible: f64,
    /// Heat and throttling.
    #[serde(default)]
    pub heat: Option<HeatParams>,
    /// Writes before the run, in their order; none for a drive as it left the factory.
    #[serde(default)]
    pub history: Vec<PastLoad>,
    /// A file with the state in which the drive begins, instead of a history.
    #[serde(default)]
    pub snapshot: Option<String>,
}

impl SsdParams {
    /// Bytes that a mapping unit occupies in NAND.
    pub(super) fn stored_unit_bytes(&self) -> u32 {
        let share = match &self.compression {
            Some(compression) => compression.stored_share(self.compressible),
            None => 1.0,
        };
        ((f64::from(self.unit_bytes) * share).ceil() as u32).max(1)
    }

    /// Mapping units of a page set, and how many of its bytes they take: where pieces straddle
    /// pages, a little more or less than it has.
    pub(super) fn packing(&self) -> (u32, u32) {
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
    pub(super) fn shape(&self) -> Result<Shape, Vec<Fault>> {
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

    fn range_faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        let mut need = |holds: bool, key: &str, value: &dyn std::fmt::Display, allowed: &str| {
            if !holds {
                faults.push(Fault::new(key, value, allowed));
            }
        };
        let nand = &self.nand;
        need(
            self.capacity_bytes > 0,
            "capacity_bytes",
            &self.capacity_bytes,
            "more than 0",
        );
        for (key, value, most) in [
            ("nand.channels", nand.channels, 256),
            ("nand.dies_per_channel", nand.dies_per_channel, 256),
            ("nand.planes", nand.planes, 16),
            ("nand.blocks_per_plane", nand.blocks_per_plane, 1 << 20),
            ("nand.pages_per_block", nand.pages_per_block, 1 << 14),
            ("nand.page_bytes", nand.page_bytes, 1 << 20),
            ("firmware.cores", self.firmware.cores, 1024),
        ] {
            let allowed = format!("1 to {most}");
            need((1..=most).contains(&value), key, &value, &allowed);
        }
        let set_bytes = nand.planes.saturating_mul(nand.page_bytes).max(1);
        let units_fit = (512..=set_bytes).contains(&self.unit_bytes);
        let allowed = format!("512 to {set_bytes}, a page of every plane");
        need(units_fit, "unit_bytes", &self.unit_bytes, &allowed);
        for (key, times) in [
            ("nand.read_ns", &nand.read_ns),
            ("nand.program_ns", &nand.program_ns),
        ] {
            let allowed = "1 to 4 times, one for each page type";
            need((1..=4).contains(&times.len()), key, &times.len(), allowed);
        }
        let rate = nand.channel_bytes_per_s;
        need(
            rate >= 1_000_000,
            "nand.channel_bytes_per_s",
            &rate,
            "1000000 or more",
        );
        let stripe = self.parity_stripe;
        let dies = nand.channels.saturating_mul(nand.dies_per_channel);
        let stripe_fits = stripe == 0 || (2..=dies.max(2)).contains(&stripe);
        need(
            stripe_fits,
            "parity_stripe",
            &stripe,
            "0 (no parity), or 2 up to the number of dies",
        );
        let reserved = self.reserved_blocks_per_plane;
        let spare = reserved + WORKING_BLOCKS < nand.blocks_per_plane;
        need(
            spare,
            "reserved_blocks_per_plane",
            &reserved,
            "less than blocks_per_plane - 4",
        );
        let start = self.collection.start_free_blocks;
        need(
            (2..=1024).contains(&start),
            "collection.start_free_blocks",
            &start,
            "2 to 1024",
        );
        let gap = self.collection.wear_gap;
        need(
            gap == 0 || start >= LEVELLING_NEEDS,
            "collection.wear_gap",
            &gap,
            "0 unless collection.start_free_blocks is at least 6",
        );
        let share = self.collection.background_share;
        let known = share > 0.0 && share <= 1.0;
        need(
            known,
            "collection.background_share",
            &share,
            "more than 0, at most 1",
        );
        let least = u64::from(2 * set_bytes);
        let allowed = format!("{least} or more: two pages of every plane");
        need(
            self.buffer.bytes >= least,
            "buffer.bytes",
            &self.buffer.bytes,
            &allowed,
        );
        let share = 0.0..=1.0;
        need(
            share.contains(&self.compressible),
            "compressible",
            &self.compressible,
            "0 to 1",
        );
        if let Some(compression) = &self.compression {
            let least = compression.least_share;
            let known = (0.01..=1.0).contains(&least);
            need(known, "compression.least_share", &least, "0.01 to 1");
        }
        if let Some(heat) = &self.heat {
            faults.extend(heat.faults());
        }
        if let Some(map_cache) = &self.map_cache {
            faults.extend(map_cache.faults(set_bytes));
            if self.firmware.turn_ns.is_some() {
                let allowed = "none beside firmware.turn_ns, whose drives keep the map in the host";
                faults.push(Fault::new("map_cache", map_cache.bytes, allowed));
            }
        }
        for (index, load) in self.history.iter().enumerate() {
            let end = load.start_bytes.checked_add(load.area_bytes);
            if load.area_bytes == 0 || end.is_none_or(|end| end > self.capacity_bytes) {
                let allowed = format!("1 or more, ending at most at {}", self.capacity_bytes);
                let key = format!("history.{index}.area_bytes");
                faults.push(Fault::new(key, load.area_bytes, allowed));
            }
        }
        faults
    }
}
