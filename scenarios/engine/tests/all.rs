//! Whole systems: every test of more than one module, in one program.
//!
//! One program instead of one for each file: the engine inside of it is compiled once.

mod common;

mod allocation;
mod arrivals;
mod cache;
mod durability;
mod erase_blocks;
mod failures;
mod following;
mod found;
mod histories;
mod host_side;
mod io_trace;
mod layers;
mod mirrors;
mod oracles;
mod page_cache;
mod parity;
mod rebuild;
mod ssd_cache_failures;
mod stripe_cache;
mod unreadable;
