//! How an array lays data over its drives: the one arithmetic of all levels.
//!
//! - `array`: the layout of an array, with its sizes;
//! - `level`: how many drives a level wants, how many it can lose, how many commands it sends;
//! - `place`: where a byte of the array lies on the drives, and back;
//! - `concatenated`: where each drive of a jbod begins;
//! - `rotated`: where units lie if parity rotates;
//! - `copies`: where the copies of a unit lie;
//! - `declustered`: where units lie if stripes are narrower than the array;
//! - `run`: which commands a range of the array becomes;
//! - `extent`: new data of a stripe;
//! - `stripe`: how a stripe with parity takes new data;
//! - `repair`: how sectors that cannot be read are computed from others;
//! - `token`: what stands for the content of a sector;
//! - `galois`: the field of the second parity, on tokens;
//! - `ranges`: sets of bytes.
//!
//! Nothing here knows a system, a job or a point in time.

mod array;
mod concatenated;
mod copies;
mod declustered;
mod extent;
pub(crate) mod galois;
mod level;
#[cfg(test)]
mod oracle;
mod place;
mod ranges;
mod repair;
mod rotated;
mod run;
mod stripe;
#[cfg(test)]
mod tests;
mod token;
mod unit;

pub use crate::layout::array::Layout;
pub use crate::layout::extent::{Extent, join, parity_ranges};
pub use crate::layout::place::{Piece, Place};
pub(crate) use crate::layout::ranges::Ranges;
pub use crate::layout::repair::{Repair, Want, without};
pub use crate::layout::run::{Run, Runs};
pub use crate::layout::stripe::{Role, Stripe, Transfer, WriteStrategy};
pub use crate::layout::token::Token;
pub use crate::layout::unit::Unit;
