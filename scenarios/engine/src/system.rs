//! The system under load: requests go down from host to medium and come up again.
//!
//! A request takes these steps, each of which charges its part of the time:
//!
//! 1. *issue*: a load thread spends CPU time on it (and on splitting it, for RAID in the host);
//! 2. *admit*: it gets a place in the controller's queue and firmware time on a core;
//! 3. *dispatch*: the layout splits it into commands; a read of mirrored data chooses a copy;
//! 4. *descend*: a command waits for a place at its drive, then write data move down the links;
//! 5. the *device* serves it;
//! 6. *ascend*: read data move up the links;
//! 7. *complete*: the last command completes the request; its time becomes the request's, since
//!    the others ran beside it. The load thread spends CPU time and issues the next I/O.

use crate::agenda::{Agenda, Call, Up};
use crate::drive::Drive;
use crate::owner::OwnerOf;
use crate::page_cache::PageCaches;
use crate::raid::Raid;
pub(crate) use crate::records::Slot;
pub use crate::records::{Array, Controller, Outcome, Outside, Tally, Workload};
use crate::standstill::Clock;
use raidlab_kernel::{Calendar, Io, IoId, Queue, Slab, Time, TimeWeighted};
use raidlab_models::{Fault, Host, Link};
use std::collections::VecDeque;

/// What can happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A load slot issues its next I/O.
    Issue(u32),
    /// A Poisson workload issues an I/O.
    Arrival(u32),
    /// A request has left the host's CPU.
    Admit(IoId),
    /// The controller's firmware is done with a request.
    Dispatch(IoId),
    /// A job on a stripe goes on.
    Job(u32),
    /// A controller looks whether its cache should be flushed.
    Flush(u32),
    /// The background of an array goes on.
    Background(u32),
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
    /// A request of a page cache is complete.
    Pages(IoId),
    /// A core of the host may be free for a thread that waits for one.
    Core,
    /// A device cannot go on.
    Failed(u32),
    /// A device asked to be called.
    Device {
        /// Index of the drive.
        drive: u32,
        /// The device's own mark.
        token: u32,
    },
}

/// A system and everything that is under way in it.
pub struct System {
    pub(crate) calendar: Calendar<Event>,
    pub(crate) ios: Slab<Io>,
    pub(crate) host: Host,
    /// Completions that wait for their thread to get a core.
    pub(crate) signalled: Vec<Queue>,
    /// Open arrivals that do.
    pub(crate) arrived: Vec<Queue>,
    /// When the host looks for a free core; never if no thread waits.
    pub(crate) core_look: Time,
    pub(crate) links: Vec<Link>,
    pub(crate) link_names: Vec<String>,
    pub(crate) controllers: Vec<Controller>,
    pub(crate) drives: Vec<Drive>,
    pub(crate) arrays: Vec<Array>,
    pub(crate) workloads: Vec<Workload>,
    pub(crate) slots: Vec<Slot>,
    pub(crate) outside: VecDeque<Outside>,
    /// The first load thread of outside callers.
    pub(crate) outside_thread: u32,
    /// How many they are.
    pub(crate) outside_threads: u32,
    pub(crate) inside: TimeWeighted,
    pub(crate) tally: Tally,
    pub(crate) recorded: u64,
    pub(crate) agenda: Agenda,
    pub(crate) raid: Raid,
    pub(crate) caches: PageCaches,
    /// Loads that have an end and have not come to it.
    pub(crate) ending: u32,
    /// When the last of them did.
    pub(crate) over: Option<Time>,
    /// What cannot go on: the run is over.
    pub(crate) failed: Option<Failure>,
    pub(crate) clock: Clock,
}

/// What cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// A drive as it is made.
    Drive(u32),
    /// A load whose I/Os take no time: the clock stands.
    Load(u32),
}

impl System {
    /// The time of the event that was handled last.
    pub fn now(&self) -> Time {
        self.calendar.now()
    }

    /// What is wrong with the drive or the load that cannot go on, if there is one.
    pub fn failure(&self) -> Option<Fault> {
        match self.failed? {
            Failure::Drive(drive) => {
                let drive = &self.drives[drive as usize];
                let fault = drive.device.failure()?;
                let key = format!("{}.{}", drive.name, fault.key);
                Some(Fault { key, ..fault })
            }
            Failure::Load(load) => {
                let at = self.now().since(Time::ZERO).seconds();
                let allowed = format!(
                    "a load on whose way something takes time: host, controller, links or drives; \
                     its I/Os take none, so the clock stays at {at} s"
                );
                let name = &self.workloads[load as usize].name;
                Some(Fault::new("workload", name, allowed))
            }
        }
    }

    /// Every request that has left the host and is not complete.
    pub(crate) fn requests_under_way(&self) -> impl Iterator<Item = &Io> {
        self.ios
            .live()
            .filter(|io| io.parent == Io::NONE && !io.owner.is_aborted())
            .filter(|io| io.owner.job().is_none())
            .filter(|io| !self.caches.serves(&self.slots, io.owner))
    }

    /// Handles the next event if it is due at `limit` or earlier; false if there is none.
    #[inline]
    pub fn step(&mut self, limit: Time) -> bool {
        if self.over.is_some() || self.failed.is_some() {
            return false;
        }
        let Some((now, event)) = self.calendar.pop_until(limit) else {
            return false;
        };
        if self.raid.watch && self.sift(event, now) {
            return true;
        }
        let up = match event {
            Event::Issue(slot) => self.issue(slot, now),
            Event::Arrival(workload) => self.arrive(workload, now),
            Event::Admit(io) => self.admit(io, now),
            Event::Dispatch(io) => self.dispatch(io, now),
            Event::Leg(io) => {
                self.next_leg(io, now);
                Up::None
            }
            Event::AtDrive(io) => {
                self.at_drive(io);
                Up::None
            }
            Event::Done(io) => self.device_done(io, now),
            Event::Returned(io) => self.returned(io, now),
            Event::Core => self.core_due(now),
            Event::Device { drive, token } => {
                self.device_event(drive, token);
                Up::None
            }
            other => self.seldom(other, now),
        };
        self.settle(up, now);
        true
    }

    /// Events that few systems have.
    fn seldom(&mut self, event: Event, now: Time) -> Up {
        match event {
            Event::Job(job) => self.job_due(job, now),
            Event::Flush(controller) => self.flush_due(controller, now),
            Event::Background(array) => self.background(array, now),
            Event::Action(action) => self.act(action, now),
            Event::Late(io) => return self.late(io, now),
            Event::PowerBack => self.power_back(now),
            Event::Pages(io) => {
                self.pages_returned(io, now);
                self.ios.release(io);
            }
            Event::Failed(drive) => self.failed = Some(Failure::Drive(drive)),
            other => unreachable!("{other:?} is not seldom"),
        }
        Up::None
    }

    /// Passes on what goes up, and works the agenda off.
    #[inline]
    pub(crate) fn settle(&mut self, up: Up, now: Time) {
        self.pass_up(up, now);
        while let Some(call) = self.agenda.pop() {
            let up = self.call_up(call, now);
            self.pass_up(up, now);
        }
    }

    /// Passes what a handler gives to whoever stands above it.
    #[inline]
    fn pass_up(&mut self, mut up: Up, now: Time) {
        loop {
            up = match up {
                Up::None => return,
                Up::Complete(io) => self.complete(io, now),
                Up::Job(job) => return self.step_job(job, now),
                Up::TakeUp(io) => return self.take_up_in_memory(io, now),
                Up::GoOn(io) => return self.go_on(io, now),
                Up::PassOn(io) => return self.pass_on(io, now),
                Up::AtMedium(io) => match self.watch_medium(io, now) {
                    true => return,
                    false => self.ascend(io, now),
                },
                Up::Examine(io) => match self.watch_return(io, now) {
                    true => return,
                    false => self.join(io, now),
                },
            }
        }
    }

    /// A call of the agenda.
    fn call_up(&mut self, call: Call, now: Time) -> Up {
        match call {
            Call::Complete(io) => return self.complete(io, now),
            Call::Signal(io) => self.signal(io, now),
            Call::WorkOff(thread) => return self.work_off(thread, now),
            Call::Cores => return self.hand_over_cores(now),
            Call::Access(io) => self.heat(io, now),
            Call::Copy(job) => self.step_copy(job, now),
            Call::Promote(array) => self.promote_hot(array, now),
            Call::Clean(array) => self.clean_tier(array, now),
            call => self.resume(call, now),
        }
        Up::None
    }

    /// Work of `raid` that waited.
    fn resume(&mut self, call: Call, now: Time) {
        match call {
            Call::Ready(io, at) => self.ready(io, at, now),
            Call::Asked(io, job) => self.asked(io, job, now),
            Call::ReadAhead(array, range) => self.read_ahead(array, range, now),
            Call::ReadOn(array, stream) => self.read_on(array, stream, now),
            Call::Readers => self.wake_readers(now),
            Call::WrittenBack(controller) => {
                self.arm_flush(controller, now);
                self.destage(controller, now);
            }
            Call::AdmitWaiting(controller) => self.admit_waiting(controller, now),
            Call::Destage(controller) => self.destage(controller, now),
            Call::Destaged { array, group, full } => self.destaged(array, group, full, now),
            Call::FinishJob(job) => self.finish_job(job, now),
            Call::Unlocked(job) => self.unlocked(job, now),
            Call::SlotGone(job) => self.slot_gone(job, now),
            Call::RowRead(job) => self.row_read(job, now),
            Call::BeginRows(array, rows) => self.begin_each(array, rows, now),
            Call::Follow { array, busy } => self.follow_on(array, busy, now),
            Call::Rows { array, current } => self.put_rows(array, current, now),
            Call::RowsDone { array, current } => self.rows_done(array, current, now),
            other => unreachable!("{other:?} is not raid's"),
        }
    }
}
