//! Builds a system from a plan, generates its load, runs it and accounts for every nanosecond.
//!
//! - [`run`] takes a plan to its result;
//! - [`Simulation`] lets an outside caller (SimPy, fio, a trace) drive the same system;
//! - [`replay`] puts a trace on it.

mod block_layer;
mod build;
mod cache_report;
mod checks;
mod completion;
mod descent;
mod dispatch;
mod drive;
mod layout;
mod load;
mod measure;
mod owner;
mod page_cache;
pub mod plan;
mod prefetch;
pub mod raid;
mod records;
mod replay;
pub mod report;
mod run;
mod simulation;
mod standstill;
mod submission;
mod system;
mod tier;

pub use build::capacities;
pub use layout::{Layout, Segment};
pub use plan::Plan;
pub use raidlab_kernel as kernel;
pub use raidlab_models::Fault;
pub use replay::{Pacing, TraceRequest, replay};
pub use run::{RunError, run};
pub use simulation::Simulation;
pub use system::{Outcome, Outside, System};
