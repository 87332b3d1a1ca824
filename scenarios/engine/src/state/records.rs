//! What a run stores of its controllers, arrays, workloads and outside callers.

use crate::ids::{ArrayId, ControllerId, CopyId, DriveId, MemberId, ThreadId, WorkloadId};
use crate::layout::{Layout, Run};
use crate::plan::{Arrival, MdPlan};
use crate::state::arrivals::Arrivals;
use crate::state::backlog::Backlog;
use crate::state::drive::Drive;
use crate::state::flushes::MdFlushes;
use crate::state::load::Load;
use crate::state::measure::Meter;
use crate::state::read_balance::CopyChoice;
use crate::state::traced::Traced;
use raidlab_io::{IoId, Op, Queue};
use raidlab_kernel::{Id, Nanos, Served, Station, Stream, Table, Time, TimeWeighted};
use raidlab_models::{Chip, FirmwareRoute, Limits, Task};

/// A controller in a run.
#[derive(Debug)]
pub struct Controller {
    /// For reports.
    pub name: String,
    pub(crate) queue_depth: u32,
    pub(crate) chip: Chip,
    pub(crate) in_work: u32,
    pub(crate) waiting: Queue,
    pub(crate) load: TimeWeighted,
    /// 1 while requests wait for a place, 0 while none does.
    pub(crate) full: TimeWeighted,
}

impl CopyChoice {
    /// The number of the copy that serves a read, of those on these drives at these offsets.
    #[inline]
    pub(crate) fn copy(
        self,
        drives: &Table<DriveId, Drive>,
        copies: impl Iterator<Item = (DriveId, u64)>,
        now: Time,
    ) -> Option<CopyId> {
        let copies = copies.map(|(drive, offset)| (&drives[drive], offset));
        if let CopyChoice::Md(balance) = self {
            return balance.copy(copies.map(|(drive, offset)| drive.candidate(offset)));
        }
        let costs = copies.map(|(drive, offset)| drive.cost(now, offset, self));
        let least = costs.enumerate().min_by_key(|&(_, cost)| cost);
        least.map(|(copy, _)| CopyId::at(copy))
    }
}

/// The cache line that all load threads of an array in the host write: md's counters and locks. One
/// has it at a time.
#[derive(Debug, Default)]
pub(crate) struct SharedLine {
    station: Station,
    read: Nanos,
    write: Nanos,
}

impl SharedLine {
    /// As the plan has it.
    pub fn of(plan: MdPlan) -> SharedLine {
        SharedLine {
            station: Station::default(),
            read: plan.shared_read_ns,
            write: plan.shared_write_ns,
        }
    }

    /// An I/O that wants it at `now` has had it; none where it takes no time.
    #[inline]
    pub fn pass(&mut self, op: Op, now: Time) -> Option<Served> {
        let time = match op {
            Op::Read => self.read,
            _ => self.write,
        };
        (time > Nanos::ZERO).then(|| self.station.serve(now, time))
    }

    /// Time for which it was had, up to `now`; none where it takes no time.
    pub fn busy_until(&self, now: Time) -> Option<Nanos> {
        let any = self.read.max(self.write) > Nanos::ZERO;
        any.then(|| self.station.busy_until(now))
    }
}

/// An array in a run.
#[derive(Debug)]
pub struct Array {
    /// For reports.
    pub name: String,
    /// Where data lie.
    pub layout: Layout,
    /// Indices of its drives.
    pub drives: Table<MemberId, DriveId>,
    /// Indices of its hot spares.
    pub(crate) spares: Vec<DriveId>,
    /// Its drive if it has one alone, on which everything lies where it lies on the array.
    pub(crate) single: Option<DriveId>,
    pub(crate) controller: Option<ControllerId>,
    pub(crate) software: bool,
    /// What its load threads share, where it is in the host.
    pub(crate) shared: SharedLine,
    /// How its flushes pass, where it is in the host.
    pub(crate) md_flushes: MdFlushes,
    /// How a read finds the copy that serves it.
    pub(crate) choice: CopyChoice,
    /// Its requests' path through the firmware.
    pub(crate) path: FirmwareRoute,
    /// True if `raid/` does its work, since its data pass through the controller's or the host's
    /// memory or can be lost.
    pub(crate) in_memory: bool,
    /// True if its data go straight between its drives and the host, with neither parity nor a
    /// cache on their path.
    pub(crate) straight: bool,
    /// True if SSDs are a cache of it that no controller keeps.
    pub(crate) cached_by_host: bool,
    /// True if what is written comes into its controller's memory once, from which every copy of it
    /// is made.
    pub(crate) mirrors: bool,
}

impl Array {
    /// The drive that holds copy `copy` of a run, and where the run begins there.
    #[inline]
    pub(crate) fn place(&self, run: &Run, copy: CopyId) -> (DriveId, u64) {
        let place = self.layout.run_place(run, copy);
        (self.drives[place.member], place.offset)
    }

    /// The copy with the fewest commands before it, among equals the one that is nearest; of unequal
    /// drives the one that is expected to be done first; or the one that md chooses.
    #[inline]
    pub(crate) fn choose_copy(
        &self,
        drives: &Table<DriveId, Drive>,
        run: &Run,
        now: Time,
    ) -> (DriveId, u64) {
        match self.layout.copies() {
            1 => self.place(run, CopyId::new(0)),
            copies => self.nearest_copy(drives, run, copies, now),
        }
    }

    fn nearest_copy(
        &self,
        drives: &Table<DriveId, Drive>,
        run: &Run,
        copies: u32,
        now: Time,
    ) -> (DriveId, u64) {
        let places = CopyId::first(copies).map(|copy| self.place(run, copy));
        let best = self.choice.copy(drives, places, now);
        self.place(run, best.unwrap_or_default())
    }

    /// The path of a request of `commands` commands. The short path is for a single one; of an array in
    /// the host each is a request.
    #[inline]
    pub(crate) fn route(&self, commands: u64) -> FirmwareRoute {
        match self.path {
            FirmwareRoute::Fast if commands > 1 && !self.software => FirmwareRoute::Uncached,
            path => path,
        }
    }

    /// Firmware takes up a request; of an array in the host each of its commands is one.
    pub(crate) fn take_up(&self, chip: &mut Chip, task: Task, now: Time) -> Served {
        match self.software {
            true => chip.pass_on(task, now),
            false => chip.take_up(task, now),
        }
    }

    /// The controller that does its RAID work; none if the host does, to which a controller passes
    /// every command's data on.
    pub(crate) fn raid_controller(&self) -> Option<ControllerId> {
        self.controller.filter(|_| !self.software)
    }
}

/// A workload in a run.
#[derive(Debug)]
pub struct Workload {
    /// For reports.
    pub name: String,
    /// Index of the array it loads.
    pub array: ArrayId,
    /// What was recorded.
    pub meter: Meter,
    pub(crate) load: Load,
    pub(crate) arrival: Arrival,
    /// True if its I/Os can be held before they reach the host's CPU: by its limits, or by its share.
    pub(crate) is_held: bool,
    /// True if its writes are made durable by calls behind them.
    pub(crate) syncs: bool,
    /// When the I/Os of an open load come.
    pub(crate) arrivals: Option<Arrivals>,
    /// What of them waits; used of an open load alone.
    pub(crate) backlog: Backlog,
    /// What its I/Os wait for before they reach the host's CPU.
    pub(crate) limits: Option<Box<Limits>>,
    pub(crate) threads: u32,
    pub(crate) first_thread: ThreadId,
    pub(crate) next_thread: u32,
    pub(crate) pauses: Stream,
    /// Places that still issue I/Os.
    pub(crate) busy_slots: u32,
    /// True of a trace: requests in flight, and those to come, count as a place each.
    pub(crate) ends: bool,
}

impl Workload {
    /// True if I/Os arrive whether or not earlier ones have completed.
    pub(crate) fn is_open(&self) -> bool {
        !matches!(self.arrival, Arrival::Closed { .. })
    }

    /// The trace that is its load.
    pub(crate) fn trace(&self) -> Option<&Traced> {
        match &self.arrivals {
            Some(Arrivals::Traced(traced)) => Some(traced),
            _ => None,
        }
    }

    /// The pause before a place's next I/O.
    pub(crate) fn pause(&mut self) -> Nanos {
        match self.arrival {
            Arrival::Closed {
                think_ns,
                exponential: true,
                ..
            } => self.pauses.exponential(think_ns),
            Arrival::Closed { think_ns, .. } => think_ns,
            _ => Nanos::ZERO,
        }
    }
}

/// A place of a closed loop, or a Poisson stream's share of one: who issues which I/O.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) workload: WorkloadId,
    pub(crate) thread: ThreadId,
    /// The thread's number within its workload.
    pub(crate) own: u32,
}

/// How an I/O ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// It is complete.
    #[default]
    Done,
    /// What it wants is lost, or cannot be stored.
    Refused,
    /// The power failed while it was in flight: a write may have happened, or a part of it.
    CutOff,
}

/// An I/O that an outside caller submitted, at its end; or a command for an outside device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outside {
    /// The I/O.
    pub io: IoId,
    /// The outside device that must serve it; none if it is complete.
    pub drive: Option<DriveId>,
    /// What is asked.
    pub op: Op,
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// The caller's own mark of an I/O it submitted.
    pub owner: u32,
    /// Completion or hand-out time.
    pub at: Time,
    /// When the caller submitted it.
    pub issued: Time,
    /// How it ended.
    pub outcome: Outcome,
}

/// Counters for the self-checks at the end of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Requests issued.
    pub issued: u64,
    /// Requests completed.
    pub completed: u64,
    /// Requests that the power's failure cut off.
    pub abandoned: u64,
    /// Requests whose commands moved more or fewer bytes than the layout says.
    pub wrong_bytes: u64,
    /// Sum over completed requests of the time between host and host, for Little's law.
    pub stay: Nanos,
}
