//! What storage components are: one mechanism a file.
//!
//! A device never sees the engine: it is handed a [`Port`] while it handles a command or one of
//! its own events, and is dispatched statically through [`Device`].

#![cfg_attr(not(test), warn(clippy::cognitive_complexity, clippy::too_many_lines))]

mod bounds;
mod c_states;
mod check;
mod controller;
mod device;
mod fault;
pub mod hdd;
mod host;
mod idle_states;
mod limits;
mod link;
mod measured;
mod memo;
mod memory;
mod patience;
mod pauses;
mod port;
mod power;
mod run_queues;
mod ssd;
mod station;
mod stripe_thread;
mod volume;
mod xpoint;

pub use crate::stripe_thread::{PageTimes, STRIPE_PAGE, StripeThread};
pub use bounds::{Bounds, LowerBound};
pub use c_states::CStateParams;
pub use controller::{
    ArrayLine, Cache, Chip, ChipParams, CopyEnd, Eligible, FirmwareRoute, Found, GroupId,
    GroupSlot, LINE_SECTORS, Leaving, LineKey, Lookup, PAGE, PROMOTE_AFTER_MAX, ReferenceCounts,
    SECTOR, Sectors, SlotId, SpaceId, SsdCache, SsdCacheParams, Table, Task, Throughput, sectors,
};
pub use device::{Device, DeviceParams};
pub use fault::{About, Fault};
pub use host::{CoalescingParams, Host, HostParams, cpu_time_fault};
pub use limits::{Counted, LimitParams, Limits};
pub use link::{Direction, Link, LinkParams};
pub use measured::{LatencyParams, Measured, MeasuredParams};
pub use memo::Memo;
pub use memory::Memory;
pub use patience::patiently;
pub use pauses::{PauseParams, Pauses};
pub use port::Port;
pub use power::{ArmPowerParams, FlashPowerParams};
pub use ssd::{
    BackEndParams, BlockState, BufferParams, CollectionParams, CompressionParams, Direct,
    DriveState, EraseBlocks, FirmwareParams, HistoryAccess, HistoryLoad, HostFtl, NandParams,
    PastScatter, Policy, PrefetchParams, ReadUnits, Ssd, SsdParams, TemperatureParams,
    ThrottleStep, Written, read_states, write_states,
};
pub use station::{FixedStation, ServiceTime, StationParams};
pub use volume::{Volume, VolumeParams};
pub use xpoint::{BytePowerParams, Xpoint, XpointParams};
