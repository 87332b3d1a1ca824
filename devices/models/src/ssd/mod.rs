//! Solid-state drives: firmware, write buffer, translation layer, NAND, temperature.
//!
//! A read goes firmware, die, channel; a write firmware, buffer, and later channel and die.
//! Firmware, channels and the reads of a die are first-come stations by arithmetic. A program, a
//! move or an erase takes one event an operation, because reads overtake it.
//!
//! | module | what it does |
//! |---|---|
//! | `drive`, `build`, `report` | the drive's parts, how they are put together, what they report |
//! | `commands` | what a command does from part to part |
//! | `front`, `host_ftl` | a translation layer in the host, if the drive has one |
//! | `firmware` | cores, command times, streams |
//! | `buffer` | write buffer, read buffers, prefetch |
//! | `translation`, `map` | garbage collection without time; the page map |
//! | `nand` | dies, channels, compression, temperature, endurance |
//! | `preconditioning`, `snapshot` | the state in which a drive begins a run |

mod addressing;
mod ahead;
mod buffer;
mod build;
mod commands;
mod drive;
mod firmware;
mod front;
mod host_ftl;
mod ids;
mod map;
mod nand;
mod params;
mod power_states;
mod preconditioning;
mod report;
mod snapshot;
mod store;
mod token;
mod translation;
mod written;

pub use buffer::prefetch::PrefetchParams;
pub use drive::Ssd;
pub use firmware::back_end::BackEndParams;
pub use firmware::params::FirmwareParams;
pub use front::Direct;
pub use host_ftl::HostFtl;
pub(crate) use map::marks::ALL_BITS;
pub use nand::compression::CompressionParams;
pub use nand::params::NandParams;
pub use nand::temperature::{TemperatureParams, ThrottleStep};
pub use params::{BufferParams, SsdParams};
pub use preconditioning::load::{HistoryAccess, HistoryLoad};
pub use preconditioning::pace::PastScatter;
pub use snapshot::{DriveState, read_states, write_states};
pub use translation::erase_blocks::{BlockState, EraseBlocks};
pub use translation::policy::{CollectionParams, Policy};
pub use written::{ReadUnits, Written};

#[cfg(test)]
mod tests;
