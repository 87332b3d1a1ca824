//! What a RAID controller is made of: one mechanism a file.

mod chip;
mod table;

pub use chip::{Chip, ChipParams, Path, Throughput};
pub use table::Table;
