//! Drives and power that fail, and what becomes of the data.

pub(crate) mod audit;
pub(crate) mod drive_cache;
pub(crate) mod failure;
pub(crate) mod loss;
pub(crate) mod outage;
