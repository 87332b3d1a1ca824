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

use crate::host::durability::Durability;
use crate::host::page_cache::PageCaches;
use crate::ids::{DriveId, LinkId, WorkloadId};
use crate::integrity::DataReport;
use crate::path::agenda::Up;
use crate::plan::Action;
use crate::run::layers::Layers;
use crate::run::livelock::Clock;
use crate::run::meets::Meets;
use crate::state::event::{Event, LoadsEvent, RaidEvent, RunEvent};
use crate::state::owner::OwnerOf;
use raidlab_io::Io;
use raidlab_kernel::{Table, Time};
use raidlab_models::{About, Fault, write_states};
use std::path::Path;

/// A system and everything that is in flight in it.
pub struct System {
    pub(crate) layers: Layers,
    pub(crate) caches: PageCaches,
    pub(crate) durability: Durability,
    pub(crate) link_names: Table<LinkId, String>,
    pub(crate) meets: Meets,
    /// Threads of loads: the plan's, and those of fio's jobs. Other outside callers are no load.
    pub(crate) load_threads: u32,
    pub(crate) actions: Vec<Action>,
    /// What cannot go on: the run is over.
    pub(crate) failed: Option<Failure>,
    pub(crate) clock: Clock,
    /// Memory that it may take, in bytes; 0 for no limit.
    pub(crate) memory_bytes: u64,
    /// True if its state does not fit the processor's cache.
    pub(crate) is_large: bool,
}

/// What cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// A drive as it is made.
    Drive(DriveId),
    /// A load whose I/Os take no time: the clock stands.
    Load(WorkloadId),
    /// An open load of which more waits than fits the memory.
    Backlog(WorkloadId),
}

impl System {
    /// Writes the state of all drives that have one; says why if it cannot: what was simulated is
    /// reported all the same.
    pub(crate) fn save_state(&self, path: &str) -> Option<String> {
        let drives = self.layers.path.drives.iter();
        let states: Vec<_> = drives
            .filter_map(|drive| drive.device.state(&drive.name))
            .collect();
        let error = write_states(Path::new(path), &states).err()?.to_string();
        // What follows is a number, and the name of a file that was to take this path.
        let why = error.split(" (os error").next();
        why.map(str::to_owned)
    }

    /// The time of the event that was handled last.
    pub fn now(&self) -> Time {
        self.layers.path.calendar.now()
    }

    /// What is wrong with the drive or the load that cannot go on, if there is one.
    pub fn failure(&self) -> Option<Fault> {
        match self.failed? {
            Failure::Drive(drive) => {
                let drive = &self.layers.path.drives[drive];
                let fault = drive.device.failure()?;
                let key = format!("{}.{}", drive.name, fault.key);
                Some(Fault { key, ..fault })
            }
            Failure::Load(load) => {
                let at = self.now().since(Time::ZERO).seconds();
                let allowed = format!(
                    "a load on whose path something takes time: host, controller, links or drives; \
                     its I/Os take none, so the clock stays at {at} s"
                );
                let name = &self.layers.loads.records().workload(load).name;
                Some(Fault::new("workload", name, allowed))
            }
            Failure::Backlog(load) => {
                let at = self.now().since(Time::ZERO).seconds();
                let waiting = self.layers.path.ios.in_use();
                let allowed = format!(
                    "a rate that the system serves, or a shorter run: at {at:.3} s {waiting} I/Os \
                     wait, for more of which there is no memory"
                );
                let name = &self.layers.loads.records().workload(load).name;
                Some(Fault::new("workload", name, allowed).about(About::Backlog))
            }
        }
    }

    /// Every request that has left the host and is not complete.
    pub(crate) fn requests_in_flight(&self) -> impl Iterator<Item = &Io> {
        self.layers
            .path
            .ios
            .live()
            .filter(|io| io.parent == Io::NONE && !io.owner.is_aborted())
            .filter(|io| io.owner.job().is_none())
            .filter(|io| !self.caches.has_call(&self.layers.path.slots, io.owner))
    }

    /// Handles the next event if it is due at `limit` or earlier; false if there is none.
    pub fn step(&mut self, limit: Time) -> bool {
        self.step_inlined(limit)
    }

    /// As `step`, for the loop that handles nearly all events.
    #[inline(always)]
    pub(crate) fn step_inlined(&mut self, limit: Time) -> bool {
        if self.failed.is_some() {
            return false;
        }
        // The last completion may lie a little ahead: what happens up to it belongs to the run.
        let over = self.layers.loads.records().over();
        let limit = over.map_or(limit, |over| over.min(limit));
        let Some((now, event)) = self.layers.path.calendar.pop_until(limit) else {
            return false;
        };
        if self.is_large {
            self.prefetch_upcoming();
        }
        if self.layers.path.can_fail && self.is_void(event, now) {
            return true;
        }
        let up = match event {
            Event::Issue(slot) => {
                let workload = self.layers.path.slots[slot].workload;
                if self.caches.serves(workload) {
                    self.caches.issue(&mut self.layers, slot, now);
                    Up::None
                } else {
                    let up = self.layers.loads.issue(&mut self.layers.path, slot, now);
                    self.layers.prefetch();
                    up
                }
            }
            Event::Arrival(workload) => {
                let up = self
                    .layers
                    .loads
                    .arrive(&mut self.layers.path, workload, now);
                self.layers.prefetch();
                up
            }
            Event::Admit(io) => self.layers.path.admit(io, now),
            Event::Counted(io) => self.layers.path.admit_counted(io, now),
            Event::Dispatch(io) => self.layers.path.dispatch(io, now),
            Event::Leg(io) => {
                self.layers.path.next_leg(io, now);
                Up::None
            }
            Event::AtDrive(io) => {
                self.layers.path.at_drive(io);
                Up::None
            }
            Event::Done(io) => self.layers.path.device_done(io, now),
            Event::Returned(io) => self.layers.path.arrived(io, now),
            Event::Interrupt(io) => self.layers.path.reported(io, now),
            Event::Core => {
                let up = self.layers.loads.core_due(&mut self.layers.path, now);
                self.layers.prefetch();
                up
            }
            Event::Device { drive, token } => {
                self.layers.path.device_event(drive, token);
                Up::None
            }
            Event::Loads(event) => self.loads_event(event, now),
            Event::Raid(event) => self.raid_event(event, now),
            Event::Run(event) => {
                self.run_event(event, now);
                Up::None
            }
        };
        self.layers.settle(up, now);
        true
    }

    #[inline(never)]
    fn loads_event(&mut self, event: LoadsEvent, now: Time) -> Up {
        let Layers { path, loads, .. } = &mut self.layers;
        match event {
            LoadsEvent::Released(io) => loads.released(path, io, now),
            LoadsEvent::Granted(io) => loads.granted(path, io, now),
            LoadsEvent::Sent(io) => {
                loads.threads().send(path, io, now);
                Up::None
            }
            LoadsEvent::Received(io) => {
                let thread = loads.threads().behind(path, io);
                loads.received(path, io, thread, now);
                Up::None
            }
            LoadsEvent::Reap(thread) => loads.reap_due(path, thread, now),
            LoadsEvent::FlushTaken(io) => {
                // A worker of md sends it to the members.
                let array = path.ios[io].array;
                path.arrays[array].md_flushes.goes_out(&mut path.ios);
                path.admit_counted(io, now)
            }
            LoadsEvent::Flushed(io) => {
                self.layers.flush_over(io, now);
                Up::None
            }
        }
    }

    #[inline(never)]
    fn raid_event(&mut self, event: RaidEvent, now: Time) -> Up {
        let Layers { path, raid, .. } = &mut self.layers;
        match event {
            RaidEvent::GoOn(io) => return raid.go_on(path, io, now),
            RaidEvent::Late(io) => return raid.stripes_mut().state_mut().late(path, io, now),
            RaidEvent::Job(job) => raid.stripes_mut().job_due(path, job, now),
            RaidEvent::Flush(controller) => raid.flush_due(path, controller, now),
            RaidEvent::Background(array) => raid.background_due(path, array, now),
        }
        Up::None
    }

    #[inline(never)]
    fn run_event(&mut self, event: RunEvent, now: Time) {
        match event {
            RunEvent::Action(action) => self.act(action, now),
            RunEvent::PowerBack => self.power_back(now),
            RunEvent::Pages(io) => {
                self.caches.pages_returned(&mut self.layers, io, now);
                let Layers { path, loads, .. } = &mut self.layers;
                loads.own_request_done(path, io);
            }
            RunEvent::Synced(io) => self.durability.returned(&mut self.layers, io, now),
            RunEvent::DriveFailed(drive) => self.failed = Some(Failure::Drive(drive)),
        }
    }
}

impl System {
    /// What the log says is noted in the loads' records.
    pub(crate) fn note_log(&mut self) {
        let Layers { path, loads, .. } = &mut self.layers;
        loads.records_mut().note_log(path);
    }

    /// What became of the data, if the run followed them.
    pub(crate) fn data_report(&mut self) -> Option<DataReport> {
        let Layers { path, raid, .. } = &mut self.layers;
        raid.data_report(path)
    }
}
