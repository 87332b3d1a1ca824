//! How much memory a device's tables take, reckoned before they are made.

use crate::ssd::ALL_BITS;
use crate::{DeviceParams, SsdParams};
use std::ops::AddAssign;

/// Memory in bytes: an upper bound within a small factor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Written at the start, or filled as the run goes on.
    pub resident: u64,
    /// Zeros of which the operating system provides what a run touches.
    pub reserved: u64,
    /// Addresses that the zeros lie at, touched or not: they count where addresses are limited.
    pub addresses: u64,
}

impl AddAssign for Memory {
    fn add_assign(&mut self, other: Memory) {
        self.resident = self.resident.saturating_add(other.resident);
        self.reserved = self.reserved.saturating_add(other.reserved);
        self.addresses = self.addresses.saturating_add(other.addresses);
    }
}

impl DeviceParams {
    /// The memory of one device of this model; nothing if its parameters have faults.
    pub fn memory(&self) -> Memory {
        match self {
            // A time a server, in a heap.
            DeviceParams::Station(station) => Memory {
                resident: 16 * u64::from(station.servers),
                ..Memory::default()
            },
            DeviceParams::Hdd(hdd) => Memory {
                resident: hdd.params.table_bytes(),
                ..Memory::default()
            },
            DeviceParams::Ssd(ssd) => ssd_memory(ssd),
            DeviceParams::Volume(_)
            | DeviceParams::Table(_)
            | DeviceParams::Xpoint(_)
            | DeviceParams::External { .. } => Memory::default(),
        }
    }
}

/// Blocks and dies, the write buffer, prefetched units and the map cache are resident, and on all
/// but large drives so is a bit for each slot: scattered writes soon touch all its pages. Where each
/// unit lies, and which unit lies where, is reserved; a byte of each counts, not all four, as the map
/// keeps scattered changes in a hash table: 18 bytes each, for one unit in 300 where a 16th of what
/// is reserved is provided. So are the bits of large drives.
fn ssd_memory(params: &SsdParams) -> Memory {
    let Ok(shape) = params.shape() else {
        return Memory::default();
    };
    let unit = u64::from(params.unit_bytes);
    let (dies, units) = (u64::from(shape.dies), u64::from(shape.units));
    let blocks = dies * u64::from(shape.blocks_per_die);
    let slots = blocks * u64::from(shape.sets_per_block) * u64::from(shape.units_per_set);
    let buffered = params.buffer.bytes / unit + (dies + 2) * u64::from(shape.units_per_set);
    // Each unit of the buffer may be a job of a die.
    let bits = slots / 8;
    let (all_bits, spread_bits) = if slots > ALL_BITS {
        (0, bits)
    } else {
        (bits, 0)
    };
    let mut resident = (1 << 20) + 32 * blocks + 1024 * dies + 64 * buffered + all_bits;
    if let Some(prefetch) = &params.prefetch {
        // Times of twice the window, in a power of two.
        resident = resident.saturating_add(32 * (prefetch.window_bytes / unit));
    }
    if let Some(cache) = &params.map_cache {
        let pages = units * u64::from(cache.entry_bytes) / u64::from(cache.page_bytes.max(1));
        let fit = (cache.bytes / u64::from(cache.page_bytes.max(1))).min(pages);
        resident = resident.saturating_add(32 * fit + 8 * pages);
    }
    Memory {
        resident,
        reserved: slots + units + spread_bits,
        addresses: 4 * (slots + units) + spread_bits,
    }
}
