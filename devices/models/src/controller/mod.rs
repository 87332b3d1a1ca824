//! What a RAID controller is made of: one mechanism a file.

mod cache;
mod chip;
mod ids;
mod reference_counts;
mod ssd_cache;
mod table;

pub use cache::{Cache, Eligible, Found, LINE_SECTORS, Leaving, PAGE, SECTOR, Sectors, sectors};
pub use chip::{Chip, ChipParams, FirmwareRoute, Task, Throughput};
pub use ids::{ArrayLine, GroupId, GroupSlot, LineKey, SpaceId};
pub use reference_counts::ReferenceCounts;
pub use ssd_cache::{CopyEnd, Lookup, PROMOTE_AFTER_MAX, SlotId, SsdCache, SsdCacheParams};
pub use table::Table;
