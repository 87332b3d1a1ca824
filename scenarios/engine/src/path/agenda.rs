//! What goes up: results of handlers, and work that has to wait until what goes up has been dealt with.
//!
//! Calls go in one direction, down: the upper layer passes the layers below to each call.
//! What goes up is the last thing that a handler does. It returns an `Up`, or puts a `Call` on the
//! agenda, and ends; the event loop passes it on. What was to follow such a call goes on the agenda
//! below it. The last call in is the first one out, so everything happens in the order of nested
//! calls, at one depth.

use crate::ids::{ArrayId, ControllerId, JobId, ThreadId};
use raidlab_io::{ByteRange, IoId};
use raidlab_kernel::Time;
use raidlab_models::GroupSlot;

/// What a handler passes to the layers above it.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Up {
    None,
    /// The controller takes up a request of an array that `raid` manages.
    Firmware(IoId),
    /// A request of such an array goes on.
    GoOn(IoId),
    /// All that a request of such an array waited for has come.
    PassOn(IoId),
    /// All that a request waited for has come, and nothing is left to do.
    Complete(IoId),
    /// All that a job waited for has come.
    Job(JobId),
    /// A command is at its drive's medium, in a system in which drives can fail.
    AtMedium(IoId),
    /// A command comes back from its drive there.
    Examine(IoId),
}

/// Work that waits for what stands above it on the agenda, by who does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// What a handler has given goes up.
    Up(Up),
    Loads(LoadsCall),
    Raid(RaidCall),
    SsdCache(SsdCacheCall),
}

/// Work of the loads that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoadsCall {
    /// The thread of a complete request hears of it.
    Signal(IoId),
    /// A thread goes on with what waits for it.
    WorkOff(ThreadId),
    /// Threads that wait for a core take those that are free.
    Cores,
}

/// Work of `raid` that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RaidCall {
    /// The controller's firmware is done with a request of a managed array at a time.
    Ready(IoId, Time),
    Job(JobCall),
    Cache(CacheCall),
    Background(BackgroundCall),
}

/// Work on jobs that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JobCall {
    /// A job is done that was not for a stripe alone: the one who began it learns of it.
    Done(JobId),
    /// A job whose run has members that are not finished.
    Finish(JobId),
    /// A finished job has given its lock to the next one.
    Unlocked(JobId),
    /// A job whose slot of the SSD cache is gone has given its lock to the next one.
    SlotFailed(JobId),
}

/// Work of the controllers' caches that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheCall {
    /// A read has asked for what the cache lacks, with a job that fills the cache if there is one.
    Asked(IoId, Option<JobId>),
    /// A read of a range of an array counts for its streams.
    ReadAhead(ArrayId, ByteRange),
    /// A stream of an array is read ahead.
    ReadOn(ArrayId, u32),
    /// Those who waited for what has come into the cache go on.
    Readers,
    /// A write is in a controller's cache and acknowledged.
    WrittenBack(ControllerId),
    /// Requests that wait for room in a controller's cache go on.
    AdmitWaiting(ControllerId),
    /// A controller starts destages.
    Destage(ControllerId),
    /// A group of an array has been destaged, as a full stripe or not.
    Destaged {
        array: ArrayId,
        group: GroupSlot,
        full: bool,
    },
}

/// Work in the background that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BackgroundCall {
    /// A job of a background task goes on: its row has been read, or is done.
    Row(JobId),
    /// A row of a background task has been read, and others have followed.
    RowRead(JobId),
    /// This number of rows of an array's first task begin.
    BeginRows(ArrayId, u32),
    /// Rows that have been read are followed by others, if the host was not using the drives.
    Follow { array: ArrayId, busy: bool },
    /// Finished rows of an array are put in their place, if their task is still the first.
    Rows { array: ArrayId, current: bool },
    /// That has been done: the task pauses if no row of it is in progress.
    RowsDone { array: ArrayId, current: bool },
}

/// Work of the SSD caches that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SsdCacheCall {
    /// A request's lines are accessed: the SSD cache counts it.
    Access(IoId),
    /// A job that copies a line between an array and its SSD cache goes on.
    Copy(JobId),
    /// Lines that have become hot are copied to an array's SSD cache.
    Promote(ArrayId),
    /// Dirty lines of an array's SSD cache are written back.
    Clean(ArrayId),
}

impl From<Up> for Call {
    fn from(up: Up) -> Call {
        Call::Up(up)
    }
}

impl From<LoadsCall> for Call {
    fn from(call: LoadsCall) -> Call {
        Call::Loads(call)
    }
}

impl From<RaidCall> for Call {
    fn from(call: RaidCall) -> Call {
        Call::Raid(call)
    }
}

impl From<JobCall> for Call {
    fn from(call: JobCall) -> Call {
        Call::Raid(RaidCall::Job(call))
    }
}

impl From<CacheCall> for Call {
    fn from(call: CacheCall) -> Call {
        Call::Raid(RaidCall::Cache(call))
    }
}

impl From<BackgroundCall> for Call {
    fn from(call: BackgroundCall) -> Call {
        Call::Raid(RaidCall::Background(call))
    }
}

impl From<SsdCacheCall> for Call {
    fn from(call: SsdCacheCall) -> Call {
        Call::SsdCache(call)
    }
}

/// The calls that wait, the next one last.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    calls: Vec<Call>,
    /// True between a call that goes up and the end of its handler: nothing may follow it there.
    closed: bool,
}

impl Agenda {
    pub(crate) fn with_capacity(capacity: usize) -> Agenda {
        Agenda {
            calls: Vec::with_capacity(capacity),
            closed: false,
        }
    }

    /// The last call of a handler.
    #[inline]
    pub(crate) fn up(&mut self, call: impl Into<Call>) {
        self.must_be_open();
        self.closed = true;
        self.calls.push(call.into());
    }

    /// The last call of a handler, from what the handler gives.
    #[inline]
    pub(crate) fn raise(&mut self, up: Up) {
        if up != Up::None {
            self.up(up);
        }
    }

    /// Whether nothing waits.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// What follows the handler's next call.
    #[inline]
    pub(crate) fn rest(&mut self, call: impl Into<Call>) {
        self.must_be_open();
        self.calls.push(call.into());
    }

    /// A place on the agenda to come back to.
    #[inline]
    pub(crate) fn mark(&self) -> usize {
        self.calls.len()
    }

    /// Whether anything has gone up since: what follows must wait for it, see `below`.
    #[inline]
    pub(crate) fn rose(&self, mark: usize) -> bool {
        self.calls.len() > mark
    }

    /// What follows all that has gone up since a mark.
    pub(crate) fn below(&mut self, mark: usize, call: impl Into<Call>) {
        self.calls.insert(mark, call.into());
    }

    /// The next call, for the loop.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Call> {
        self.closed = false;
        self.calls.pop()
    }

    /// Nothing may be done behind the last call of a handler.
    #[inline]
    pub(crate) fn must_be_open(&self) {
        debug_assert!(!self.closed, "a call that goes up is not the last one");
    }
}
