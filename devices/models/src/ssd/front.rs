//! What stands between the host's commands and the drive's controller.
//!
//! Most drives take commands as they come: their front is [`Direct`]. A card whose translation
//! layer runs on the host's CPU has one of its own (see `host_ftl`). The front is a type parameter
//! of the drive, so that a drive without such a layer spends no time on it.

use crate::ssd::firmware::cores::Cores;
use crate::ssd::firmware::params::FirmwareParams;
use crate::ssd::ids::SetInBlock;
use crate::ssd::nand::Nand;
use crate::ssd::params::SsdParams;
use raidlab_io::{IoId, Op};
use raidlab_kernel::{Nanos, Served, Stream, Time};
use std::fmt::Debug;

/// What the front asks of a drive before it lets commands in.
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    pub(crate) now: Time,
    /// When the last command so far is done.
    pub(crate) last_done: Time,
    /// True if writes wait for room in the buffer.
    pub(crate) writes_wait: bool,
}

/// What the front does with commands that wait in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// They go on waiting.
    Nothing,
    /// The front looks again at this time.
    LookAgain(Time),
    /// A batch goes on: [`Front::next`] gives its commands.
    Batch,
}

/// The front of a drive.
pub trait Front: Debug + Sized {
    /// The front of an idle drive of whose units collection has moved the share `moved`, and the
    /// firmware times under it.
    fn new(
        params: &SsdParams,
        moved: f64,
        nand: &Nand,
        draws: &mut Stream,
    ) -> (Self, FirmwareParams);

    /// A read or write arrives. True if it goes on at once; else it waits in the front.
    fn admit(&mut self, io: IoId, op: Op, now: Time) -> bool;
    /// Looks whether commands that wait may go on.
    fn release(&mut self, drive: Condition) -> Release;
    /// The next command of a batch.
    fn next(&mut self) -> Option<IoId>;

    /// Units that a command of `bytes` costs which lies in `touched` units.
    fn units(&self, touched: u64, bytes: u64) -> u64;
    /// True if a write that covers a part of a unit leaves the rest of it where it is.
    fn maps_sectors(&self) -> bool;

    /// Core time of a command whose piece of the map is not in the core's cache.
    fn descent(&self) -> Nanos;
    /// A core works for `time` on a command that arrives at `now`.
    fn serve(&mut self, cores: &mut Cores, now: Time, time: Nanos) -> Served;
    /// The data of a read of `units` are in memory at `at`: when the core is done with them, if it
    /// works on them.
    fn finish_read(&mut self, units: u32, at: Time) -> Option<Served>;
    /// Garbage collection moves `units` of page set `set`.
    fn collects(&mut self, cores: &mut Cores, nand: &Nand, moved: (SetInBlock, u32), now: Time);
    /// When a write that is in the buffer at `taken` is complete, if it waits for collection.
    fn throttled(&self, taken: Time) -> Option<Time>;

    /// What the buffer takes from now on was written before the run.
    fn prefill_begins(&mut self);
    /// The run begins.
    fn prefill_ends(&mut self);

    /// Work of all cores up to `now`, and how many there are.
    fn cores_busy_until(&self, cores: &Cores, now: Time) -> (Nanos, usize);
    /// Work up to `now` of a collector that empties few blocks at a time.
    fn collection_busy_until(&self, now: Time) -> Option<Nanos>;
}

/// Commands go to the controller as they come.
#[derive(Debug)]
pub struct Direct;

impl Front for Direct {
    fn new(params: &SsdParams, _: f64, _: &Nand, _: &mut Stream) -> (Direct, FirmwareParams) {
        debug_assert!(!params.has_host_ftl(), "a front that does nothing");
        (Direct, params.firmware)
    }

    #[inline]
    fn admit(&mut self, _: IoId, _: Op, _: Time) -> bool {
        true
    }

    #[inline]
    fn release(&mut self, _: Condition) -> Release {
        Release::Nothing
    }

    #[inline]
    fn next(&mut self) -> Option<IoId> {
        None
    }

    #[inline]
    fn units(&self, touched: u64, _: u64) -> u64 {
        touched
    }

    #[inline]
    fn maps_sectors(&self) -> bool {
        false
    }

    #[inline]
    fn descent(&self) -> Nanos {
        Nanos::ZERO
    }

    #[inline]
    fn serve(&mut self, cores: &mut Cores, now: Time, time: Nanos) -> Served {
        cores.serve(now, time)
    }

    #[inline]
    fn finish_read(&mut self, _: u32, _: Time) -> Option<Served> {
        None
    }

    #[inline]
    fn collects(&mut self, _: &mut Cores, _: &Nand, _: (SetInBlock, u32), _: Time) {}

    #[inline]
    fn throttled(&self, _: Time) -> Option<Time> {
        None
    }

    fn prefill_begins(&mut self) {}

    fn prefill_ends(&mut self) {}

    fn cores_busy_until(&self, cores: &Cores, now: Time) -> (Nanos, usize) {
        cores.busy_until(now)
    }

    fn collection_busy_until(&self, _: Time) -> Option<Nanos> {
        None
    }
}
