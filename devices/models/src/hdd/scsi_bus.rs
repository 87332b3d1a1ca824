//! A drive on a parallel SCSI bus: command, disconnect, reconnect and data phases, a sector's
//! time on the bus, water marks, and a buffer whose segments serve reads and writes.
//!
//! One command has the drive at a time, so its whole course follows from the state that it
//! finds: when the arm starts, when each sector passes, when the bus carries it. Only what goes
//! on behind a completed command is state: reading ahead, or a write that is on its way to the
//! medium. The phases are those that DiskSim's disk module knows (Bucy, Schindler, Schlosser and
//! Ganger 2008), with the drive's own behaviour where that module departs from it; see
//! docs/models/hard-disk.md.

use super::buffer::{Buffer, read_ahead_limit};
use super::link_front::Counts;
use super::mechanics::{Arm, Movement, Sweep};
use super::model::Model;
use super::params::{AfterParams, SECTOR_BYTES, ScsiBusParams};
use super::scheduler::Queue;
use crate::Port;
use raidlab_kernel::{IoId, Nanos, Op, Part, Time};

/// What goes on behind completed commands.
#[derive(Clone, Copy, Debug)]
enum Background {
    None,
    /// Reading on into `segment` up to `limit`.
    ReadAhead {
        sweep: Sweep,
        segment: usize,
        limit: u64,
    },
    /// Writing `segment` up to `end`, done at `done`.
    Write {
        sweep: Sweep,
        segment: usize,
        end: u64,
        done: Time,
    },
}

/// A request in sectors.
#[derive(Clone, Copy, Debug)]
struct Request {
    io: IoId,
    lbn: u64,
    end: u64,
    /// It has the drive from now on.
    at: Time,
}

impl Request {
    fn sectors(&self) -> u64 {
        self.end - self.lbn
    }
}

/// When the arm may start and what it found on its way.
#[derive(Clone, Copy, Debug)]
struct Media {
    start: Time,
    arrived: Time,
    begin: Time,
    end: Time,
}

/// A drive on a parallel SCSI bus.
#[derive(Debug)]
pub struct ScsiFront {
    queue: Queue,
    buffer: Buffer,
    arm: Arm,
    /// One beyond the sector that the head passed last.
    at: u64,
    background: Background,
    last_was_write: bool,
    /// The command that has the drive completes at this time.
    free: Time,
    awaited: bool,
    /// The arm is done with what it was asked for.
    arm_free: Time,
    busy: Nanos,
    pub counts: Counts,
}

impl AfterParams {
    fn after(self, write: bool) -> Nanos {
        if write {
            self.after_write_ns
        } else {
            self.after_read_ns
        }
    }
}

impl ScsiFront {
    /// An idle drive.
    pub fn new(model: &Model, params: &ScsiBusParams, phase: u64) -> ScsiFront {
        ScsiFront {
            queue: Queue::new(params.queue_depth, model.scheduler),
            buffer: Buffer::new(&model.buffer),
            arm: Arm {
                phase,
                ..Arm::default()
            },
            at: 0,
            background: Background::None,
            last_was_write: false,
            free: Time::ZERO,
            awaited: false,
            arm_free: Time::ZERO,
            busy: Nanos::ZERO,
            counts: Counts::default(),
        }
    }

    /// A command arrives.
    pub fn submit<P: Port>(&mut self, model: &Model, bus: &ScsiBusParams, port: &mut P, io: IoId) {
        let now = port.now();
        if now < self.free || self.awaited {
            let record = port.io(io);
            let write = record.op == Op::Write;
            let place = model.geometry.place(record.offset / SECTOR_BYTES);
            self.queue.push(io, place, 0, write, now);
            if !self.awaited {
                self.awaited = true;
                port.wake(self.free, 0);
            }
            return;
        }
        self.serve(model, bus, port, io);
    }

    /// The command that had the drive is complete.
    pub fn event<P: Port>(&mut self, model: &Model, bus: &ScsiBusParams, port: &mut P) {
        self.awaited = false;
        let now = port.now();
        if let Some((index, _)) = self.queue.choose(model, &self.arm, self.at, now) {
            let io = self.queue.take(index).io;
            port.io(io).charge(Part::Queue, now);
            self.serve(model, bus, port, io);
        }
        if !self.queue.is_empty() {
            self.awaited = true;
            port.wake(self.free, 0);
        }
    }

    fn serve<P: Port>(&mut self, model: &Model, bus: &ScsiBusParams, port: &mut P, io: IoId) {
        let record = port.io(io);
        let request = Request {
            io,
            lbn: record.offset / SECTOR_BYTES,
            end: (record.offset + record.bytes).div_ceil(SECTOR_BYTES),
            at: port.now(),
        };
        let op = port.io(io).op;
        self.catch_up(model, request.at);
        self.free = match op {
            Op::Read if request.sectors() > 0 => self.read(model, bus, port, &request),
            Op::Write if request.sectors() > 0 => self.write(model, bus, port, &request),
            Op::Flush => match self.background {
                Background::Write { done, .. } => done.max(request.at) + bus.write_completion_ns,
                _ => request.at + bus.write_completion_ns,
            },
            _ => request.at + bus.read_completion_ns,
        };
        port.io(io).charge(Part::Overhead, self.free);
        self.last_was_write = op == Op::Write;
        port.done(io, self.free, Nanos::ZERO);
    }

    /// Brings what went on in the background up to `now`.
    fn catch_up(&mut self, model: &Model, now: Time) {
        match &mut self.background {
            Background::None => {}
            Background::Write { done, .. } => {
                if *done <= now {
                    self.finish_write(model);
                }
            }
            Background::ReadAhead {
                sweep,
                segment,
                limit,
            } => {
                let passed = sweep.passed_by(model, now, *limit);
                let size = self.buffer.segment_sectors();
                self.buffer.segments[*segment].grow(passed, size);
                if passed == *limit {
                    (self.arm, self.at) = (sweep.arm(), passed);
                    self.background = Background::None;
                }
            }
        }
    }

    /// The write in the background is on the medium.
    fn finish_write(&mut self, model: &Model) {
        if let Background::Write {
            sweep,
            segment,
            end,
            ..
        } = self.background
        {
            (self.arm, self.at) = (sweep.arm(), end);
            self.background = Background::None;
            self.after_write(model, segment);
        }
    }

    /// What was written stays in its segment for reads, or it does not.
    fn after_write(&mut self, model: &Model, segment: usize) {
        if !model.buffer.read_hits_on_written {
            let segment = &mut self.buffer.segments[segment];
            segment.start = segment.end;
        }
    }

    /// The segment that is being filled by reading ahead.
    fn filling(&self) -> Option<usize> {
        match self.background {
            Background::ReadAhead { segment, .. } => Some(segment),
            _ => None,
        }
    }

    /// Stops reading ahead at `now`; says how much longer the arm is not free.
    fn stop_read_ahead(&mut self, model: &Model, now: Time) -> Nanos {
        let Background::ReadAhead {
            mut sweep,
            segment,
            limit,
        } = self.background
        else {
            return Nanos::ZERO;
        };
        let passed = sweep.passed_by(model, now, limit);
        let begin = sweep.begin_of(model, passed);
        let free = if now < begin || model.buffer.stop_in_sector {
            // An arm on its way arrives; a head that waits for its sector need not.
            sweep.arrived().max(now)
        } else {
            let size = self.buffer.segment_sectors();
            self.buffer.segments[segment].grow(passed + 1, size);
            sweep.end_of(model, passed)
        };
        (self.arm, self.at) = (sweep.arm(), self.buffer.segments[segment].end);
        self.background = Background::None;
        free.since(now)
    }

    /// Segments that may serve reads.
    fn readable(&self, model: &Model) -> std::ops::Range<usize> {
        usize::from(model.buffer.own_write_segment)..self.buffer.segments.len()
    }

    /// The segment that holds a read's first sector: best if it holds all of it, and if it is
    /// being filled.
    fn hit(&self, model: &Model, request: &Request) -> Option<usize> {
        let filling = self.filling();
        let holds = |index: usize| {
            let segment = &self.buffer.segments[index];
            // The head that is about to pass the first sector need not be stopped for it.
            let reach = segment.end + u64::from(filling == Some(index));
            segment.start <= request.lbn && request.lbn < reach
        };
        self.readable(model)
            .filter(|&index| holds(index))
            .max_by_key(|&index| {
                let segment = &self.buffer.segments[index];
                (
                    segment.end >= request.end,
                    filling == Some(index),
                    segment.used,
                )
            })
    }

    /// The segment that a read which misses replaces.
    fn replaced_by_read(&self, model: &Model) -> usize {
        let class = |index: usize| {
            let segment = &self.buffer.segments[index];
            let empty = segment.is_empty();
            (self.filling() == Some(index), !empty, segment.used)
        };
        self.readable(model)
            .min_by_key(|&index| class(index))
            .unwrap_or(0)
    }

    /// The segment that takes a write.
    fn taken_by_write(&self, model: &Model, request: &Request) -> usize {
        if model.buffer.own_write_segment {
            return 0;
        }
        let class = |index: usize| {
            let segment = &self.buffer.segments[index];
            let other = !segment.overlaps(request.lbn, request.end);
            let empty = segment.is_empty();
            (self.filling() == Some(index), other, !empty, segment.used)
        };
        (0..self.buffer.segments.len())
            .min_by_key(|&index| class(index))
            .unwrap_or(0)
    }

    /// A read; says when it completes.
    fn read<P: Port>(
        &mut self,
        model: &Model,
        bus: &ScsiBusParams,
        port: &mut P,
        request: &Request,
    ) -> Time {
        self.counts.reads += 1;
        let hit_overhead = bus.read_hit.after(self.last_was_write);
        let miss_overhead = bus.read_miss.after(self.last_was_write);
        let leaves = bus.read_disconnect.after(self.last_was_write);
        let mut media_from = request.at + miss_overhead;
        let mut waited = false;
        if let Background::Write { done, .. } = self.background {
            // The arm is writing: the drive leaves the bus and comes back after that.
            media_from = (media_from + leaves).max(done);
            waited = true;
            self.finish_write(model);
        }
        let Some(segment) = self.hit(model, request) else {
            let on_bus = bus.never_disconnect;
            let ready = match on_bus {
                true => media_from + bus.data_preparation_ns,
                false => media_from + leaves,
            };
            return self.read_miss(model, bus, port, request, (media_from, ready, on_bus));
        };
        self.counts.read_hits += 1;
        self.buffer.touch(segment, false);
        let on_bus = match waited {
            true => media_from + bus.first_reselect_ns + bus.data_preparation_ns,
            false => request.at + hit_overhead + bus.data_preparation_ns,
        };
        port.io(request.io).charge(Part::Overhead, on_bus);
        let held = self.buffer.segments[segment].end;
        let filling = self.filling() == Some(segment);
        if held >= request.end {
            if filling {
                self.read_on(model, request.end);
            } else if model.buffer.read_ahead_on_idle_hit {
                self.restart_read_ahead(model, segment, request.end, media_from);
            }
            let data = on_bus + bus.read_sector_ns * request.sectors();
            port.io(request.io).charge(Part::Transfer, data);
            return data + bus.read_completion_ns;
        }
        let sweep = match self.background {
            Background::ReadAhead { sweep, .. } if filling => sweep,
            _ => {
                let start = media_from.max(request.at + self.stop_read_ahead(model, request.at));
                self.sweep(model, held, start, request.end).0
            }
        };
        self.rest_of_read(model, bus, port, request, segment, sweep, (on_bus, true))
    }

    /// A read of which the buffer holds nothing.
    fn read_miss<P: Port>(
        &mut self,
        model: &Model,
        bus: &ScsiBusParams,
        port: &mut P,
        request: &Request,
        (media_from, ready, on_bus): (Time, Time, bool),
    ) -> Time {
        let segment = self.replaced_by_read(model);
        let start = media_from.max(request.at + self.stop_read_ahead(model, request.at));
        self.buffer.reset(segment, request.lbn, request.lbn);
        self.buffer.touch(segment, false);
        let (sweep, media) = self.sweep(model, request.lbn, start, request.end);
        let record = port.io(request.io);
        record.charge(Part::Overhead, media.start);
        record.charge(Part::Seek, media.arrived);
        record.charge(Part::Rotation, media.begin);
        self.rest_of_read(model, bus, port, request, segment, sweep, (ready, on_bus))
    }

    /// Moves the arm to `lbn` from `start` on, for a read up to `wanted`.
    fn sweep(&mut self, model: &Model, lbn: u64, start: Time, wanted: u64) -> (Sweep, Media) {
        let movement = Movement {
            place: model.geometry.place(lbn),
            start,
            write: false,
            shuffled_end: if model.buffer.read_on_arrival {
                wanted
            } else {
                0
            },
            least_seek: Nanos::ZERO,
            late: Nanos::ZERO,
        };
        let (sweep, access) = Sweep::new(model, self.arm, &movement);
        let media = self.count(&movement, access);
        self.background = Background::None;
        (sweep, media)
    }

    fn count(&mut self, movement: &Movement, access: super::mechanics::Access) -> Media {
        self.counts.seek += access.seek;
        self.counts.rotation += access.rotation;
        self.counts.accesses += 1;
        let begin = movement.start + access.total();
        Media {
            start: movement.start,
            arrived: movement.start + access.seek,
            begin,
            end: begin,
        }
    }

    /// Brings the sectors of a read over the bus as they pass under the head, then reads ahead.
    ///
    /// `ready` is when the bus can be had for the first of them, `on_bus` if it is held by then.
    #[allow(clippy::too_many_arguments)]
    fn rest_of_read<P: Port>(
        &mut self,
        model: &Model,
        bus: &ScsiBusParams,
        port: &mut P,
        request: &Request,
        segment: usize,
        mut sweep: Sweep,
        (ready, on_bus): (Time, bool),
    ) -> Time {
        let held = self.buffer.segments[segment].end.max(request.lbn);
        let water_mark = {
            let sectors = request
                .sectors()
                .min(u64::from(model.buffer.segment_sectors));
            ((sectors as f64 * bus.read_water_mark) as u64).max(1)
        };
        let (mut next, mut now, mut on_bus) = (request.lbn, ready, on_bus);
        while next < request.end {
            if !on_bus {
                let wanted = (next + water_mark).min(request.end);
                if wanted > held {
                    now = now.max(sweep.end_of(model, wanted - 1));
                }
                now = now + bus.first_reselect_ns + bus.data_preparation_ns;
                on_bus = true;
            }
            let passed = if next < held {
                held
            } else {
                sweep.passed_by(model, now, request.end)
            };
            if passed > next {
                now = now + bus.read_sector_ns * (passed.min(request.end) - next);
                next = passed;
            } else if bus.hold_bus || bus.never_disconnect {
                now = sweep.end_of(model, next);
            } else {
                on_bus = false;
            }
        }
        port.io(request.io).charge(Part::Transfer, now);
        let passed = sweep.end_of(model, request.end - 1);
        self.occupied(request.at, passed);
        let size = self.buffer.segment_sectors();
        self.buffer.segments[segment].grow(request.end, size);
        let start = self.buffer.segments[segment].start;
        let before = match self.background {
            Background::ReadAhead { limit, .. } => limit,
            _ => 0,
        };
        let limit = read_ahead_limit(model, start, request.end).max(before);
        self.background = Background::ReadAhead {
            sweep,
            segment,
            limit,
        };
        now + bus.read_completion_ns
    }

    /// A read up to `end` was served from the segment that is being filled.
    fn read_on(&mut self, model: &Model, end: u64) {
        if let Background::ReadAhead { segment, limit, .. } = &mut self.background {
            let start = self.buffer.segments[*segment].start;
            *limit = read_ahead_limit(model, start, end).max(*limit);
        }
    }

    /// A read up to `end` was served from a segment that nobody was filling: the arm goes to
    /// where it ends.
    fn restart_read_ahead(&mut self, model: &Model, segment: usize, end: u64, from: Time) {
        let held = self.buffer.segments[segment];
        let limit = read_ahead_limit(model, held.start, end);
        if limit <= held.end {
            return;
        }
        let start = from + self.stop_read_ahead(model, from);
        let (sweep, _) = self.sweep(model, held.end, start, 0);
        self.background = Background::ReadAhead {
            sweep,
            segment,
            limit,
        };
    }

    /// A write; says when it completes.
    fn write<P: Port>(
        &mut self,
        model: &Model,
        bus: &ScsiBusParams,
        port: &mut P,
        request: &Request,
    ) -> Time {
        self.counts.writes += 1;
        let overhead = bus.write.after(self.last_was_write);
        let mut data_from = request.at + overhead + bus.data_preparation_ns;
        let mut media_from = request.at + overhead;
        if let Background::Write {
            sweep,
            segment,
            end,
            done,
        } = self.background
        {
            if end == request.lbn {
                return self.append(model, bus, port, request, (sweep, segment, data_from));
            }
            // The drive leaves the bus and comes back when the arm is free.
            media_from = (media_from + bus.write_disconnect_ns).max(done);
            data_from = media_from + bus.first_reselect_ns + bus.data_preparation_ns;
            self.finish_write(model);
        }
        let segment = self.taken_by_write(model, request);
        let extra = match &bus.extra_disconnect {
            Some(extra) if !bus.fast_write && self.follows_unrelated_write(segment, request) => {
                let off = extra.command_ns + extra.disconnect_ns + extra.between_ns;
                let back = bus.first_reselect_ns + bus.data_preparation_ns;
                data_from = request.at + off + back;
                media_from = request.at + extra.command_ns + extra.seek_delta_ns;
                Some(extra.second_disconnect_ns)
            }
            _ => None,
        };
        media_from = media_from.max(request.at + self.stop_read_ahead(model, request.at));
        self.buffer.forget(request.lbn, request.end, None);
        self.buffer.reset(segment, request.lbn, request.end);
        self.buffer.touch(segment, true);
        let data_end = data_from + bus.write_sector_ns * request.sectors();
        let (sweep, media) = self.write_out(model, bus, request, media_from, data_from);
        self.occupied(media.start, media.end);
        let record = port.io(request.io);
        if bus.fast_write {
            record.charge(Part::Overhead, data_from);
            record.charge(Part::Transfer, data_end);
            self.counts.cached_writes += 1;
            self.background = Background::Write {
                sweep,
                segment,
                end: request.end,
                done: media.end,
            };
            return data_end + bus.write_completion_ns;
        }
        record.charge(Part::Overhead, media.start);
        record.charge(Part::Seek, media.arrived);
        record.charge(Part::Rotation, media.begin);
        record.charge(Part::Transfer, media.end.max(data_end));
        (self.arm, self.at) = (sweep.arm(), request.end);
        self.after_write(model, segment);
        let status = match extra {
            _ if bus.never_disconnect => media.end.max(data_end),
            Some(leaves) => media.end.max(data_end + leaves) + bus.other_reselect_ns,
            None => media.end.max(data_end + bus.write_disconnect_ns) + bus.first_reselect_ns,
        };
        status + bus.write_completion_ns
    }

    /// True if the segment was used last of all, by a write that this one does not continue.
    fn follows_unrelated_write(&self, segment: usize, request: &Request) -> bool {
        let held = &self.buffer.segments[segment];
        held.written && self.buffer.is_last_used(segment) && held.end != request.lbn
    }

    /// A write that continues the one on its way to the medium.
    fn append<P: Port>(
        &mut self,
        model: &Model,
        bus: &ScsiBusParams,
        port: &mut P,
        request: &Request,
        (mut sweep, segment, data_from): (Sweep, usize, Time),
    ) -> Time {
        let done = wait_for_data(model, bus, &mut sweep, request, data_from);
        self.occupied(self.arm_free, done);
        self.buffer.forget(request.lbn, request.end, Some(segment));
        let size = self.buffer.segment_sectors();
        self.buffer.segments[segment].grow(request.end, size);
        self.buffer.touch(segment, true);
        self.background = Background::Write {
            sweep,
            segment,
            end: request.end,
            done,
        };
        self.counts.cached_writes += 1;
        let data_end = data_from + bus.write_sector_ns * request.sectors();
        let record = port.io(request.io);
        record.charge(Part::Overhead, data_from);
        record.charge(Part::Transfer, data_end);
        data_end + bus.write_completion_ns
    }

    /// Moves the arm and writes each sector once its data are there.
    fn write_out(
        &mut self,
        model: &Model,
        bus: &ScsiBusParams,
        request: &Request,
        start: Time,
        data_from: Time,
    ) -> (Sweep, Media) {
        let mut movement = Movement {
            place: model.geometry.place(request.lbn),
            start,
            write: true,
            shuffled_end: 0,
            least_seek: bus.minimum_seek_ns,
            late: Nanos::ZERO,
        };
        let (mut sweep, mut access) = Sweep::new(model, self.arm, &movement);
        let data_end = data_from + bus.write_sector_ns * request.sectors();
        if model.buffer.write_on_arrival && data_end <= sweep.arrived() {
            movement.shuffled_end = request.end;
            (sweep, access) = Sweep::new(model, self.arm, &movement);
        }
        let mut media = self.count(&movement, access);
        media.end = wait_for_data(model, bus, &mut sweep, request, data_from);
        (sweep, media)
    }

    fn occupied(&mut self, start: Time, end: Time) {
        self.busy += end.since(start.max(self.arm_free));
        self.arm_free = self.arm_free.max(end);
    }

    /// What it takes to get to `lbn` by an arm that is free now.
    pub fn positioning(&self, model: &Model, now: Time, lbn: u64) -> Nanos {
        let arm = match &self.background {
            Background::None => self.arm,
            Background::ReadAhead { sweep, .. } | Background::Write { sweep, .. } => sweep.arm(),
        };
        let place = model.geometry.place(lbn);
        arm.access(model, &place, now.max(self.arm_free), false)
            .total()
    }

    /// Time that the arm worked for commands up to `now`.
    pub fn busy_until(&self, now: Time) -> Nanos {
        self.busy.saturating_sub(self.arm_free.since(now))
    }
}

/// When the last sector of a write has passed, each sector having begun with its data in the
/// buffer: a sector whose data come over the bus too late passes once more.
fn wait_for_data(
    model: &Model,
    bus: &ScsiBusParams,
    sweep: &mut Sweep,
    request: &Request,
    data_from: Time,
) -> Time {
    let sectors = request.sectors();
    // A drive that leaves the bus twice begins with some way ahead of the head.
    let head_start = match &bus.extra_disconnect {
        Some(_) if sectors >= 45 => 15,
        Some(_) => sectors.min(10),
        None => 1,
    };
    let period = model.rotation.period();
    let data_end = data_from + bus.write_sector_ns * sectors;
    for index in 0..sectors {
        let lbn = request.lbn + index;
        let begin = sweep.begin_of(model, lbn);
        if begin >= data_end {
            break;
        }
        let needed = if index == 0 { head_start } else { index + 1 };
        let late = (data_from + bus.write_sector_ns * needed).since(begin);
        if late > Nanos::ZERO {
            sweep.wait_turns(model, lbn, late.0.div_ceil(period.0));
        }
    }
    sweep.end_of(model, request.end - 1)
}
