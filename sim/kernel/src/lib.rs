//! Time itself: a clock in whole nanoseconds, an ordered calendar of events, named random
//! streams, first-come stations and latency histograms.
//!
//! Nothing here knows a storage device. The hot path allocates nothing once the buffers have
//! reached the size that the plan asks for.

#![cfg_attr(not(test), warn(clippy::cognitive_complexity, clippy::too_many_lines))]

mod batches;
mod bits;
mod bitset;
mod calendar;
mod distribution;
mod divider;
mod heap;
mod histogram;
mod id;
mod prefetch;
mod random;
mod recency;
mod slab;
mod spells;
mod station;
mod statistics;
mod steadiness;
mod time;
mod token_bucket;

pub use batches::{Batches, Estimate, Side};
pub use bits::Bits;
pub use bitset::BitSet;
pub use calendar::Calendar;
pub use distribution::{Distribution, PERCENTILES};
pub use divider::Divider;
pub use histogram::Histogram;
pub use id::{Id, Table};
pub use prefetch::{prefetch, prefetch_all};
pub use random::Stream;
pub use recency::{Linked, RecencyLink, RecencyList};
pub use slab::{Change, Slab};
pub use spells::Spells;
pub use station::{Served, Station, Stations};
pub use statistics::{TimeWeighted, student_t_975};
pub use steadiness::{is_steady, steady_from};
pub use time::{Nanos, Time};
pub use token_bucket::TokenBucket;

#[doc(hidden)]
pub use serde;
