//! What can happen next.

use crate::ids::{ArrayId, ControllerId, DriveId, JobId};
use raidlab_io::IoId;

/// What can happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A load slot issues its next I/O.
    Issue(u32),
    /// A Poisson workload issues an I/O.
    Arrival(u32),
    /// A request has the tokens that its load's limit asks for.
    Released(IoId),
    /// A request has a place among those of its array's tenants.
    Granted(IoId),
    /// A request has left the host's CPU.
    Admit(IoId),
    /// A request has been counted by the software of the host that manages its array.
    Counted(IoId),
    /// The controller's firmware is done with a request.
    Dispatch(IoId),
    /// A job on a stripe goes on.
    Job(JobId),
    /// A controller looks whether its cache should be flushed.
    Flush(ControllerId),
    /// The background of an array goes on.
    Background(ArrayId),
    /// Something happens that the plan says.
    Action(u32),
    /// A slow drive is done with a command.
    Late(IoId),
    /// The power is back.
    PowerBack,
    /// A command's data reach the next link of its path.
    Leg(IoId),
    /// Write data have arrived at the drive.
    AtDrive(IoId),
    /// The device is done with a command.
    Done(IoId),
    /// A command is complete at the host's end of its path.
    Returned(IoId),
    /// The host hears of a command that is complete.
    Interrupt(IoId),
    /// A request of a page cache is complete.
    Pages(IoId),
    /// A write that is to be durable is back, or a request that makes it so.
    Synced(IoId),
    /// A core of the host may be free for a thread that waits for one.
    Core,
    /// A thread may be done with what it was at, and takes another completion.
    Reap(u32),
    /// A device cannot go on.
    Failed(DriveId),
    /// A device asked to be called.
    Device {
        /// Index of the drive.
        drive: DriveId,
        /// The device's own mark.
        token: u32,
    },
}
