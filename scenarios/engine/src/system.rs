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

use crate::drive::{Drive, DrivePort};
use crate::layout::{Layout, Segment};
use crate::load::{Load, Request};
use crate::measure::Meter;
use crate::page_cache::{CACHED, PageCaches};
use crate::plan::Arrival;
use crate::raid::{GONE, Raid};
use raidlab_kernel::{
    Calendar, Io, IoId, Nanos, Op, Part, Queue, Slab, Stream, Time, TimeWeighted,
};
use raidlab_models::{Chip, Device, Direction, Host, Link, Path};
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
    /// A device asked to be called.
    Device {
        /// Index of the drive.
        drive: u32,
        /// The device's own mark.
        token: u32,
    },
}

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
}

/// An array in a run.
#[derive(Debug)]
pub struct Array {
    /// For reports.
    pub name: String,
    /// Where data lie.
    pub layout: Layout,
    /// Indices of its drives.
    pub drives: Vec<u32>,
    pub(crate) controller: Option<u32>,
    pub(crate) software: bool,
    /// Its requests' way through the firmware.
    pub(crate) path: Path,
    /// True if its data pass through the controller's or the host's memory.
    pub(crate) in_memory: bool,
}

/// A workload in a run.
#[derive(Debug)]
pub struct Workload {
    /// For reports.
    pub name: String,
    /// Index of the array it loads.
    pub array: u32,
    /// What was recorded.
    pub meter: Meter,
    pub(crate) load: Load,
    pub(crate) arrival: Arrival,
    pub(crate) threads: u32,
    pub(crate) first_thread: u32,
    pub(crate) next_thread: u32,
    pub(crate) pauses: Stream,
    /// Places that still issue I/Os.
    pub(crate) busy_slots: u32,
}

impl Workload {
    /// The pause before a place's next I/O.
    pub(crate) fn pause(&mut self) -> Nanos {
        match self.arrival {
            Arrival::Closed {
                think_ns,
                exponential: true,
                ..
            } => self.pauses.exponential(think_ns),
            Arrival::Closed { think_ns, .. } => think_ns,
            Arrival::Poisson { .. } => Nanos::ZERO,
        }
    }
}

/// A place of a closed loop, or a Poisson stream's share of one: who issues which I/O.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) workload: u32,
    pub(crate) thread: u32,
}

/// An I/O that an outside caller submitted, complete; or a command for an outside device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outside {
    /// The I/O.
    pub io: IoId,
    /// The outside device that must serve it; none if it is complete.
    pub drive: Option<u32>,
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
    /// Reads and writes refused because data are lost.
    pub refused: u64,
    /// Requests whose commands moved more or fewer bytes than the layout says.
    pub wrong_bytes: u64,
    /// Sum over completed requests of the time between host and host, for Little's law.
    pub stay: Nanos,
}

/// The owner of I/Os that an outside caller submits: the caller's marks follow.
pub(crate) const OUTSIDE: u32 = 1 << 31;

/// A system and everything that is under way in it.
pub struct System {
    pub(crate) calendar: Calendar<Event>,
    pub(crate) ios: Slab<Io>,
    pub(crate) host: Host,
    /// Completions that wait for their thread to get a core.
    pub(crate) signalled: Vec<Queue>,
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
}

impl System {
    /// The time of the event that was handled last.
    pub fn now(&self) -> Time {
        self.calendar.now()
    }

    /// Every request that has left the host and is not complete.
    pub(crate) fn requests_under_way(&self) -> impl Iterator<Item = &Io> {
        self.ios
            .live()
            .filter(|io| io.parent == Io::NONE && io.owner != GONE)
            .filter(|io| crate::raid::job_of(io).is_none())
            .filter(|io| !self.caches.serves(&self.slots, io.owner))
    }

    /// Handles the next event if it is due at `limit` or earlier; false if there is none.
    #[inline]
    pub fn step(&mut self, limit: Time) -> bool {
        if self.over.is_some() {
            return false;
        }
        match self.calendar.next_time() {
            Some(next) if next <= limit => {}
            _ => return false,
        }
        let Some((now, event)) = self.calendar.pop() else {
            return false;
        };
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
            Event::Core => self.core_due(now),
            Event::Device { drive, token } => self.device_event(drive, token),
        }
        true
    }

    // -- 1. issue ------------------------------------------------------------------------------

    fn issue(&mut self, slot: u32, now: Time) {
        let Slot {
            workload: index,
            thread,
        } = self.slots[slot as usize];
        let workload = &mut self.workloads[index as usize];
        let Some(request) = workload.load.next(thread - workload.first_thread) else {
            return self.slot_over(index, now);
        };
        let array = workload.array;
        if self.caches.serves(&self.slots, slot) {
            return self.call(slot, request, now);
        }
        self.enter(request, array, thread, slot, now);
    }

    /// A place of a load that has an end issues nothing any more.
    fn slot_over(&mut self, index: u32, now: Time) {
        let workload = &mut self.workloads[index as usize];
        workload.busy_slots -= 1;
        if workload.busy_slots == 0 {
            if self.caches.of_workload[index as usize].is_some() {
                self.sync(index, now);
            } else {
                self.workload_over(now);
            }
        }
    }

    /// A load has come to its end; with the last of those that have one the run is over.
    pub(crate) fn workload_over(&mut self, now: Time) {
        self.ending -= 1;
        if self.ending == 0 {
            self.over = Some(now);
        }
    }

    fn arrive(&mut self, index: u32, now: Time) {
        let workload = &mut self.workloads[index as usize];
        let Arrival::Poisson { per_s } = workload.arrival else {
            return;
        };
        let pause = workload
            .pauses
            .exponential(Nanos::from_seconds(1.0 / per_s));
        let own = workload.next_thread;
        workload.next_thread = (own + 1) % workload.threads;
        let Some(request) = workload.load.next(own) else {
            return;
        };
        let (array, thread) = (workload.array, workload.first_thread + own);
        self.calendar.push(now + pause, Event::Arrival(index));
        // The first slots of a Poisson workload are its threads.
        let slot = self.slot_of(index, own);
        self.enter(request, array, thread, slot, now);
    }

    fn slot_of(&self, workload: u32, thread: u32) -> u32 {
        let first = self.slots.partition_point(|slot| slot.workload < workload);
        first as u32 + thread
    }

    /// A thread turns to an I/O at `now`, which may lie ahead of the clock while the thread
    /// still works on earlier ones.
    #[inline]
    pub(crate) fn enter(
        &mut self,
        request: Request,
        array: u32,
        thread: u32,
        owner: u32,
        now: Time,
    ) -> IoId {
        let id = self.ios.claim();
        let io = &mut self.ios[id];
        *io = Io::new(request.op, request.offset, request.bytes, now);
        io.owner = owner;
        io.array = array;
        let served = self.host.submit(thread, request.op, now);
        io.charge_stay(Part::HostWait, Part::Host, served);
        let mut ready = served.end;
        let array = &self.arrays[array as usize];
        if array.software {
            let commands = array
                .layout
                .fan_out(request.op, request.offset, request.bytes);
            let split = self.host.split(thread, ready, commands);
            io.charge_stay(Part::HostWait, Part::Raid, split);
            ready = split.end;
        }
        io.entered = ready;
        self.tally.issued += 1;
        if ready > self.calendar.now() {
            self.calendar.push(ready, Event::Admit(id));
        } else {
            self.admit(id, ready);
        }
        id
    }

    // -- 2. admit ------------------------------------------------------------------------------

    fn admit(&mut self, id: IoId, now: Time) {
        self.inside.change(now, 1);
        let array = &self.arrays[self.ios[id].array as usize];
        let Some(index) = array.controller else {
            return self.dispatch(id, now);
        };
        let controller = &mut self.controllers[index as usize];
        controller.load.change(now, 1);
        if controller.queue_depth > 0 && controller.in_work >= controller.queue_depth {
            controller.waiting.push(&mut self.ios, id);
        } else {
            self.take_up(index, id, now);
        }
    }

    /// The controller takes a request up: firmware time on a core, then dispatch.
    fn take_up(&mut self, index: u32, id: IoId, now: Time) {
        self.controllers[index as usize].in_work += 1;
        if self.arrays[self.ios[id].array as usize].in_memory {
            return self.take_up_in_memory(index, id, now);
        }
        let controller = &mut self.controllers[index as usize];
        let io = &mut self.ios[id];
        let array = &self.arrays[io.array as usize];
        let commands = array.layout.fan_out(io.op, io.offset, io.bytes);
        let served = controller.chip.take_up(array.path, commands, now);
        io.charge_stay(Part::ControllerWait, Part::Controller, served);
        let ready = served.end + controller.chip.latency();
        io.charge(Part::Controller, ready);
        if ready > now {
            self.calendar.push(ready, Event::Dispatch(id));
        } else {
            self.dispatch(id, now);
        }
    }

    // -- 3. dispatch ---------------------------------------------------------------------------

    fn dispatch(&mut self, id: IoId, now: Time) {
        let (op, offset, bytes, array_index) = {
            let io = &self.ios[id];
            (io.op, io.offset, io.bytes, io.array)
        };
        if self.arrays[array_index as usize].in_memory {
            return self.go_on(id, now);
        }
        if op == Op::Flush {
            return self.dispatch_flush(id, now);
        }
        let array = &self.arrays[array_index as usize];
        let mut segments = std::mem::take(&mut self.segments);
        array.layout.split(offset, bytes, &mut segments);
        let copies = if op == Op::Read {
            1
        } else {
            array.layout.copies()
        };
        if let ([only], 1) = (&segments[..], copies) {
            // The one command of a request is the request's own record.
            let (drive, offset) = self.choose_copy(array_index, only, now);
            let io = &mut self.ios[id];
            io.drive = drive;
            io.offset = offset;
            self.segments = segments;
            return self.send(id, drive, now);
        }
        self.ios[id].pending = (segments.len() as u64 * copies) as u32;
        for segment in &segments {
            if op == Op::Read {
                let (drive, offset) = self.choose_copy(array_index, segment, now);
                self.command(id, op, drive, offset, segment.bytes, now);
            } else {
                for copy in 0..copies {
                    let array = &self.arrays[array_index as usize];
                    let (member, offset) = array.layout.copy(segment, copy);
                    let drive = array.drives[member as usize];
                    self.command(id, op, drive, offset, segment.bytes, now);
                }
            }
        }
        self.segments = segments;
    }

    fn dispatch_flush(&mut self, id: IoId, now: Time) {
        let array = self.ios[id].array as usize;
        let members = self.arrays[array].drives.len();
        self.ios[id].pending = members as u32;
        for member in 0..members {
            let drive = self.arrays[array].drives[member];
            self.command(id, Op::Flush, drive, 0, 0, now);
        }
    }

    /// The copy with the fewest commands before it; among equals the one that is nearest.
    #[inline]
    fn choose_copy(&self, array: u32, segment: &Segment, now: Time) -> (u32, u64) {
        let array = &self.arrays[array as usize];
        let place = |copy| {
            let (member, offset) = array.layout.copy(segment, copy);
            (array.drives[member as usize], offset)
        };
        let mut best = place(0);
        if array.layout.copies() > 1 {
            let cost = |(drive, offset): (u32, u64)| self.drives[drive as usize].cost(now, offset);
            let mut least = cost(best);
            for copy in 1..array.layout.copies() {
                let candidate = place(copy);
                let weight = cost(candidate);
                if weight < least {
                    (best, least) = (candidate, weight);
                }
            }
        }
        best
    }

    /// Sends one command of a request to a drive.
    #[inline]
    pub(crate) fn command(
        &mut self,
        parent: IoId,
        op: Op,
        drive: u32,
        offset: u64,
        bytes: u64,
        now: Time,
    ) {
        let id = self.new_command(parent, op, drive, offset, bytes, now);
        self.send(id, drive, now);
    }

    /// A command that has not been sent yet.
    #[inline]
    pub(crate) fn new_command(
        &mut self,
        parent: IoId,
        op: Op,
        drive: u32,
        offset: u64,
        bytes: u64,
        now: Time,
    ) -> IoId {
        let id = self.ios.claim();
        let io = &mut self.ios[id];
        *io = Io::new(op, offset, bytes, now);
        io.parent = parent;
        io.drive = drive;
        id
    }

    /// The command waits for a place at its drive, or goes there at once.
    #[inline]
    pub(crate) fn send(&mut self, id: IoId, drive: u32, now: Time) {
        let slot = &mut self.drives[drive as usize];
        slot.load.change(now, 1);
        slot.position = self.ios[id].offset + self.ios[id].bytes;
        if !slot.waiting.is_plain() {
            return self.schedule(id, drive, now);
        }
        if slot.queue_depth > 0 && slot.in_flight >= slot.queue_depth {
            slot.waiting.push(&mut self.ios, id, 0, now);
        } else {
            self.descend(id, now);
        }
    }

    /// The command goes through the host's scheduler, even if the drive has a place for it.
    fn schedule(&mut self, id: IoId, drive: u32, now: Time) {
        let thread = self.thread_of(id);
        let slot = &mut self.drives[drive as usize];
        slot.waiting.push(&mut self.ios, id, thread, now);
        self.dispatch_waiting(drive, now);
    }

    /// What the scheduler lets go moves to the drive, as long as it has places.
    pub(crate) fn dispatch_waiting(&mut self, drive: u32, now: Time) {
        loop {
            let slot = &mut self.drives[drive as usize];
            if slot.queue_depth > 0 && slot.in_flight >= slot.queue_depth {
                return;
            }
            let Some(next) = slot.waiting.pop(&mut self.ios, now) else {
                return;
            };
            self.descend(next, now);
        }
    }

    /// The load thread that a request, or the request of a command, belongs to.
    fn thread_of(&self, id: IoId) -> u32 {
        let io = &self.ios[id];
        let owner = match io.parent {
            Io::NONE => io.owner,
            request => self.ios[request].owner,
        };
        let slot = self.slots.get(owner as usize);
        slot.map_or_else(|| self.outside_thread_of(owner), |slot| slot.thread)
    }

    // -- 4. descend ----------------------------------------------------------------------------

    /// The drive has a place for the command: write data move down the links to it.
    fn descend(&mut self, id: IoId, now: Time) {
        let io = &mut self.ios[id];
        io.charge(Part::Queue, now);
        let slot = &mut self.drives[io.drive as usize];
        slot.in_flight += 1;
        if io.op == Op::Write && !slot.path.is_empty() {
            io.leg = 0;
            io.data_end = now;
            self.next_leg(id, now);
        } else {
            self.at_drive(id);
        }
    }

    /// Data of a command reach the next link of its path; both ways.
    fn next_leg(&mut self, id: IoId, now: Time) {
        let io = &mut self.ios[id];
        let path = &self.drives[io.drive as usize].path;
        let legs = path.len() as u32;
        let (way, link) = if io.op == Op::Write {
            (Direction::Down, path[(legs - 1 - io.leg) as usize])
        } else {
            (Direction::Up, path[io.leg as usize])
        };
        let link = &mut self.links[link as usize];
        // On the way up, the first link has been fed by the medium since before now.
        let ready = if io.leg == 0 {
            now.min(io.data_end)
        } else {
            now
        };
        let last = if io.leg == 0 { now } else { io.data_end };
        let served = link.transfer(way, io.bytes, ready, last);
        io.charge(Part::Link, now);
        io.charge(Part::LinkWait, served.start);
        io.data_end = served.end;
        io.leg += 1;
        if io.leg < legs {
            let at = now.max(served.start + link.frame(io.bytes));
            self.calendar.push(at, Event::Leg(id));
            return;
        }
        io.charge(Part::Link, served.end);
        let arrived = match way {
            Direction::Down => Event::AtDrive(id),
            Direction::Up => Event::Returned(id),
        };
        self.calendar.push(served.end, arrived);
    }

    // -- 5. the device -------------------------------------------------------------------------

    fn at_drive(&mut self, id: IoId) {
        let io = &self.ios[id];
        let drive = io.drive;
        let slot = &mut self.drives[drive as usize];
        if let Device::External { .. } = slot.device {
            self.outside.push_back(Outside {
                io: id,
                drive: Some(drive),
                op: io.op,
                offset: io.offset,
                bytes: io.bytes,
                owner: 0,
                at: self.calendar.now(),
                issued: io.issued,
            });
            return;
        }
        let mut port = DrivePort {
            drive,
            calendar: &mut self.calendar,
            ios: &mut self.ios,
            fate: self.raid.fate.as_mut(),
        };
        slot.device.submit(&mut port, id);
    }

    fn device_event(&mut self, drive: u32, token: u32) {
        let mut port = DrivePort {
            drive,
            calendar: &mut self.calendar,
            ios: &mut self.ios,
            fate: self.raid.fate.as_mut(),
        };
        self.drives[drive as usize].device.event(&mut port, token);
    }

    // -- 6. ascend -----------------------------------------------------------------------------

    pub(crate) fn device_done(&mut self, id: IoId, now: Time) {
        if self.raid.watch && self.watch_medium(id, now) {
            return;
        }
        self.ascend(id, now);
    }

    /// A command has been served: read data move up the links.
    pub(crate) fn ascend(&mut self, id: IoId, now: Time) {
        let io = &mut self.ios[id];
        if io.op == Op::Read && !self.drives[io.drive as usize].path.is_empty() {
            io.leg = 0;
            self.next_leg(id, now);
        } else {
            self.returned(id, now);
        }
    }

    // -- 7. complete ---------------------------------------------------------------------------

    fn returned(&mut self, id: IoId, now: Time) {
        let Io {
            drive,
            parent,
            bytes,
            parts,
            ..
        } = self.ios[id];
        let slot = &mut self.drives[drive as usize];
        slot.in_flight -= 1;
        slot.load.change(now, -1);
        if slot.waiting.is_plain() {
            if let Some(next) = slot.waiting.pop(&mut self.ios, now) {
                self.descend(next, now);
            }
        } else {
            let thread = self.thread_of(id);
            let slot = &mut self.drives[drive as usize];
            slot.waiting.returned(&mut self.ios, thread, now);
            self.dispatch_waiting(drive, now);
        }
        if self.raid.watch && parent != Io::NONE && self.watch_return(id, now) {
            return;
        }
        if parent == Io::NONE {
            self.ios[id].moved = bytes;
            self.ios[id].charge(Part::Link, now);
            return self.complete(id, now);
        }
        self.ios.release(id);
        let request = &mut self.ios[parent];
        request.moved += bytes;
        request.pending -= 1;
        if request.pending == 0 {
            request.parts.add(&parts);
            request.mark = now;
            self.all_returned(parent, now);
        }
    }

    pub(crate) fn complete(&mut self, id: IoId, now: Time) {
        self.inside.change(now, -1);
        let io = &self.ios[id];
        let array = &self.arrays[io.array as usize];
        let expected = if array.in_memory {
            io.bytes
        } else {
            array.layout.bytes_moved(io.op, io.bytes)
        };
        self.tally.wrong_bytes += u64::from(io.moved != expected);
        if let Some(fate) = &mut self.raid.fate {
            fate.complete(id, io.array, io.offset, io.bytes);
        }
        self.tally.stay += now - io.entered;
        if let Some(index) = array.controller {
            let controller = &mut self.controllers[index as usize];
            controller.in_work -= 1;
            controller.load.change(now, -1);
            if let Some(next) = controller.waiting.pop(&self.ios) {
                self.take_up(index, next, now);
            }
        }
        let owner = self.ios[id].owner;
        let thread = if owner & OUTSIDE != 0 {
            self.outside_thread_of(owner)
        } else if owner & CACHED != 0 {
            self.thread_of_command(owner, self.ios[id].op)
        } else {
            self.slots[owner as usize].thread
        };
        if self.host.may_complete(thread, now) {
            self.reap(id, thread, now);
        } else {
            // It is no longer between host and host.
            self.ios[id].entered = Time::NEVER;
            self.signalled[thread as usize].push(&mut self.ios, id);
            self.look_for_core(now);
        }
    }

    /// The load thread turns to an I/O that is complete.
    fn reap(&mut self, id: IoId, thread: u32, now: Time) {
        let owner = self.ios[id].owner;
        let served = self.host.complete(thread, now);
        let io = &mut self.ios[id];
        io.charge_stay(Part::HostWait, Part::Host, served);
        self.tally.completed += 1;
        debug_assert_eq!(io.parts.total(), io.latency());
        if owner & OUTSIDE != 0 {
            self.hand_back(id, owner & !OUTSIDE);
        } else if owner & CACHED != 0 {
            self.calendar.push(served.end, Event::Pages(id));
            return;
        } else {
            self.turn(id, owner, served.end);
        }
        self.ios.release(id);
    }

    /// Threads that wait for a core take those that are free, with all that waits for them.
    fn core_due(&mut self, now: Time) {
        self.core_look = Time::NEVER;
        while let Some(thread) = self.host.hand_over(now) {
            while let Some(id) = self.signalled[thread as usize].pop(&self.ios) {
                self.reap(id, thread, now);
            }
        }
        self.look_for_core(now);
    }

    /// One look is due at a time.
    fn look_for_core(&mut self, now: Time) {
        if let Some(at) = self.host.next_look()
            && self.core_look == Time::NEVER
        {
            self.core_look = at.max(now);
            self.calendar.push(self.core_look, Event::Core);
        }
    }

    /// Every completion that waits for its thread is taken at once.
    pub(crate) fn reap_all(&mut self, now: Time) {
        self.host.forget_waiting();
        for thread in 0..self.signalled.len() {
            while let Some(id) = self.signalled[thread].pop(&self.ios) {
                self.reap(id, thread as u32, now);
            }
        }
    }

    /// The load thread counts a completed I/O and issues the next one of its slot.
    fn turn(&mut self, id: IoId, slot: u32, done: Time) {
        let index = self.slots[slot as usize].workload as usize;
        let workload = &mut self.workloads[index];
        self.recorded += u64::from(workload.meter.record(&self.ios[id]));
        let Arrival::Closed { .. } = workload.arrival else {
            return;
        };
        let pause = workload.pause();
        if pause == Nanos::ZERO && done > self.calendar.now() {
            // The thread goes straight on to the next I/O, before others can claim it.
            self.issue(slot, done);
        } else {
            self.calendar.push(done + pause, Event::Issue(slot));
        }
    }

    /// The load thread of an outside caller's I/O.
    pub(crate) fn outside_thread_of(&self, owner: u32) -> u32 {
        self.outside_thread + (owner & !OUTSIDE) % self.outside_threads
    }

    pub(crate) fn hand_back(&mut self, id: IoId, owner: u32) {
        let io = &self.ios[id];
        // In order of time: another thread's CPU may be done with a later one before.
        let at = io.mark;
        let behind = self.outside.iter().rev().take_while(|out| out.at > at);
        let position = self.outside.len() - behind.count();
        let back = Outside {
            io: id,
            drive: None,
            op: io.op,
            offset: io.offset,
            bytes: io.bytes,
            owner,
            at,
            issued: io.issued,
        };
        self.outside.insert(position, back);
    }
}
