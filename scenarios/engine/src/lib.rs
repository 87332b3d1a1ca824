//! Builds a system from a plan, generates its load, runs it and accounts for every nanosecond.
//!
//! - [`run`] takes a plan to its result;
//! - [`Simulation`] lets an outside caller (SimPy, fio) drive the same system.

#![cfg_attr(not(test), warn(clippy::cognitive_complexity, clippy::too_many_lines))]

mod host;
pub mod ids;
mod integrity;
pub mod layout;
mod path;
pub mod plan;
mod raid;
mod run;
mod ssd_cache;
mod state;

pub use integrity::DataReport;
pub use layout::{Layout, Token};
pub use plan::Plan;
pub use raidlab_io as io;
pub use raidlab_jobs as jobs;
pub use raidlab_kernel as kernel;
pub use raidlab_models::{About, Fault, ReadUnits, patiently};
pub use run::build::{capacities, memory_of};
pub use run::intervals::Latency;
pub use run::report;
pub use run::run_error::RunError;
pub use run::schema::{plan_schema, result_schema};
pub use run::simulation::Simulation;
pub use run::single::{run, run_watched};
pub use run::system::System;
pub use state::backlog::Arrived;
pub use state::log::{EventKind, LogEntry, TaskKind, TaskPhase};
pub use state::records::{Outcome, Outside};
