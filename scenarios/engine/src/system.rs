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

use crate::drive::Drive;
use crate::layout::Segment;
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
    pub(crate) segments: Vec<Segment>,
    pub(crate) raid: Raid,
    pub(crate) caches: PageCaches,
    /// Loads that have an end and have not come to it.
    pub(crate) ending: u32,
    /// When the last of them did.
    pub(crate) over: Option<Time>,
    /// What cannot go on: the run is over.
    pub(crate) failed: Option<Failure>,
    pub(crate) clock: Clock,
    /// True if its state does not fit the processor's cache.
    pub(crate) is_large: bool,
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
        if self.is_large {
            self.prefetch_upcoming();
        }
        if self.raid.watch && self.sift(event, now) {
            return true;
        }
        match event {
            Event::Issue(slot) => self.issue(slot, now),
            Event::Arrival(workload) => self.arrive(workload, now),
            Event::Admit(io) => self.admit(io, now),
            Event::Dispatch(io) => self.dispatch(io, now),
            Event::Job(job) => self.job_due(job, now),
            Event::Flush(controller) => self.flush_due(controller, now),
            Event::Background(array) => self.background(array, now),
            Event::Action(action) => self.act(action, now),
            Event::Late(io) => self.late(io, now),
            Event::PowerBack => self.power_back(now),
            Event::Leg(io) => self.next_leg(io, now),
            Event::AtDrive(io) => self.at_drive(io),
            Event::Done(io) => self.device_done(io, now),
            Event::Returned(io) => self.returned(io, now),
            Event::Pages(io) => {
                self.pages_returned(io, now);
                self.ios.release(io);
            }
            Event::Failed(drive) => self.failed = Some(Failure::Drive(drive)),
            Event::Core => self.core_due(now),
            Event::Device { drive, token } => self.device_event(drive, token),
        }
        true
    }
}
