//! Recorded I/O: readers of the formats of traces, in bounded memory.
//!
//! A trace is read twice: [`scan`] checks every line, finds the disks and how far they reach;
//! [`Requests`] then gives the requests one after the other. Nothing grows with the length of the
//! file.

mod beyond;
mod columns;
mod compare;
mod dates;
pub mod describe;
mod fault;
mod fields;
mod formats;
mod header;
mod input;
mod memo;
pub mod numbers;
mod op_words;
mod order;
mod reader;
mod recognise;
mod record;
mod requests;
mod scan;
mod synthesis;
mod table;
mod zstd;

pub use beyond::Beyond;
pub use columns::Columns;
pub use compare::Comparison;
pub use describe::{Described, Description};
pub use fault::{Fault, Value};
pub use formats::FORMATS;
pub use recognise::{Recognised, recognise};
pub use record::Options;
pub use requests::{Request, Requests};
pub use scan::{Scan, Unit, scan};
pub use synthesis::{Model, Synthesis};
