//! One I/O: what is asked of storage, where its time went, and the queue in which it waits.
//!
//! Devices, the engine, recorded traces and fio's jobs share these words; the kernel below knows
//! none of them.

#![cfg_attr(not(test), warn(clippy::cognitive_complexity, clippy::too_many_lines))]

mod queue;
mod range;
mod record;

pub use queue::Queue;
pub use range::ByteRange;
pub use record::{
    ArrayId, DriveId, Io, IoId, Ios, Mark, Op, PART_COUNT, Part, Parts, Stage, ThreadId,
};
