//! What can happen next.

use crate::ids::{ArrayId, ControllerId, DriveId, JobId, PlaceId, ThreadId, WorkloadId};
use raidlab_io::IoId;

/// What can happen next: steps that nearly all I/Os take, and what an owner alone knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A load slot issues its next I/O.
    Issue(PlaceId),
    /// A Poisson workload issues an I/O.
    Arrival(WorkloadId),
    /// A core of the host may be free for a thread that waits for one.
    Core,
    /// A request has left the host's CPU.
    Admit(IoId),
    /// A request has been counted by the software of the host that manages its array.
    Counted(IoId),
    /// The controller's firmware is done with a request, which goes to the drives.
    Dispatch(IoId),
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
    /// A device asked to be called.
    Device {
        /// Index of the drive.
        drive: DriveId,
        /// The device's own mark.
        token: u32,
    },
    /// What few loads know.
    Loads(LoadsEvent),
    /// What arrays know whose data pass through memory or can be lost.
    Raid(RaidEvent),
    /// What the whole system knows.
    Run(RunEvent),
}

/// Events of loads with limits, shares, links, flushes of arrays or a thread for completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadsEvent {
    /// A request has the tokens that its load's limit asks for.
    Released(IoId),
    /// A request has a place among those of its array's tenants.
    Granted(IoId),
    /// Write data of a client leave it for the target.
    Sent(IoId),
    /// Read data are at their client.
    Received(IoId),
    /// A thread may be done with what it was at, and takes another completion.
    Reap(ThreadId),
    /// A worker of md takes up a flush.
    FlushTaken(IoId),
    /// A worker of md hears that the members of a flush's array have been flushed.
    Flushed(IoId),
}

/// Events of arrays that `raid` manages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RaidEvent {
    /// A request goes on: the firmware is done with it, or its data are in memory.
    GoOn(IoId),
    /// A job on a stripe goes on.
    Job(JobId),
    /// A controller looks whether its cache should be flushed.
    Flush(ControllerId),
    /// The background of an array goes on.
    Background(ArrayId),
    /// A slow drive is done with a command.
    Late(IoId),
}

/// Events of the whole system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEvent {
    /// Something happens that the plan says.
    Action(u32),
    /// The power is back.
    PowerBack,
    /// A request of a page cache is complete.
    Pages(IoId),
    /// A write that is to be durable is back, or a request that makes it so.
    Synced(IoId),
    /// A device cannot go on.
    DriveFailed(DriveId),
}

const _: () = assert!(
    size_of::<Event>() <= 12,
    "a node of the calendar is 24 bytes"
);

impl From<LoadsEvent> for Event {
    fn from(event: LoadsEvent) -> Event {
        Event::Loads(event)
    }
}

impl From<RaidEvent> for Event {
    fn from(event: RaidEvent) -> Event {
        Event::Raid(event)
    }
}

impl From<RunEvent> for Event {
    fn from(event: RunEvent) -> Event {
        Event::Run(event)
    }
}
