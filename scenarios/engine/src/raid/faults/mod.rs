//! Drives and power that fail, and what becomes of the data.

mod audit;
mod content;
mod drive_cache;
mod loss;
mod outage;
