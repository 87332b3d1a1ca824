//! fio's jobs without fio: which I/O a thread asks for next, when it waits, what is recorded.
//!
//! A [`Thread`] is one clone of a job. It goes on until it has to wait, hands its I/Os to a
//! [`Port`], and hears of their completions. Offsets, sizes and directions are those of fio 3.33,
//! block by block, wherever its seeds are fixed.
//!
//! Source: fio's manual (HOWTO) and the offsets that `write_iolog` of fio 3.33 shows.

mod distribution;
mod files;
mod generator;
mod history;
mod lfsr;
mod map;
mod pace;
pub mod plan;
mod random;
mod record;
mod sizes;
mod thread;
mod thread_steps;

pub use generator::{Generator, Next, Request};
pub use plan::{JobPlan, JobsPlan};
pub use record::{Record, ThreadResult};
pub use thread::{Port, Thread, Wait};
