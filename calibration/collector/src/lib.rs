//! Measures real or simulated storage with fio and stores the result as a bundle.
//!
//! A plan (`plan`) expands into numbered steps (`step`), each one run of fio on one target
//! (`target`), guarded by `safety`. The runner (`runner`, `guard`) ends fio with the collector. The
//! bundle on disk (`bundle`) loses no finished step. `campaign` is the loop.

pub mod attempts;
pub mod bundle;
pub mod campaign;
pub mod cli;
pub mod contents;
pub mod continuous;
pub mod digest;
pub mod estimate;
pub mod fio;
pub mod guard;
pub mod identity;
pub mod manifest;
pub mod noise;
pub mod openers;
pub mod plan;
pub mod progress;
pub mod repeats;
pub mod runner;
pub mod safety;
pub mod signature;
pub mod simulated;
pub mod steady_state;
pub mod step;
pub mod stop;
pub mod sysfs;
pub mod target;
pub mod text;
pub mod units;
