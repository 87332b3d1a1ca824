//! The page map of a drive: mapping units to places in NAND and back.

pub mod cache;
pub mod demand;
pub mod layout;
pub mod log_order;
pub mod mapping;
pub mod marks;
pub mod overlay;
mod scattered;
pub mod slot;
