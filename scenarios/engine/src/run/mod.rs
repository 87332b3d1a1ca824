//! The event loop that knows all owners, and what is around it: the build of a system from its plan,
//! the events of a plan, checks, reports.

pub(crate) mod backlog;
pub(crate) mod balance;
pub(crate) mod beside;
pub(crate) mod build;
pub(crate) mod cache_report;
pub(crate) mod checks;
pub(crate) mod fio;
pub mod intervals;
pub mod io_trace;
mod json;
pub(crate) mod layers;
pub(crate) mod livelock;
pub mod meets;
pub(crate) mod past;
pub(crate) mod power;
pub(crate) mod prefetch;
pub mod report;
pub(crate) mod run_error;
pub(crate) mod schema;
pub(crate) mod simulation;
pub(crate) mod single;
pub(crate) mod snapshot;
pub(crate) mod stations;
pub(crate) mod system;
pub mod tail_report;
pub(crate) mod timeline;
pub mod trace_report;
