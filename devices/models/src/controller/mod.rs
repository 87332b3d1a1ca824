//! What a RAID controller is made of: one mechanism a file.

mod bitset;
mod busy;
mod cache;
mod chip;
mod table;
mod tier;

pub use bitset::BitSet;
pub use busy::Busy;
pub use cache::{Cache, Found, LINE_SECTORS, Leaving, PAGE, SECTOR, Sectors, sectors};
pub use chip::{Chip, ChipParams, Path, Throughput};
pub use table::Table;
pub use tier::{Heat, PROMOTE_AFTER_MAX, Tier, TierParams};
