//! A drive on a parallel SCSI bus: command, disconnect, reconnect and data phases, a sector's
//! time on the bus, water marks, and a buffer whose segments serve reads and writes.
//!
//! The drive serves one command at a time, so the course of a command follows from the state at
//! its start: when the arm starts, when each sector passes, when the bus transfers it. Only work
//! that continues after a command is state: reading ahead, or a write that is not on the medium
//! yet. The phases are those of DiskSim's disk module (Bucy, Schindler, Schlosser and
//! Ganger 2008), with the drive's own behaviour where that module departs from it; see
//! docs/explanation/hard-disk.md.

use super::buffer::Buffer;
use super::counts::Counts;
use super::ids::SegmentId;
use super::mechanics::{Access, Arm, Movement, Sweep};
use super::media_op::MediaOp;
use super::model::Model;
use super::params::{AfterParams, SECTOR_BYTES, ScsiBusParams};
use super::scheduler::{Queue, Waiting};
use super::sector_range::SectorRange;
use crate::Port;
use raidlab_io::{IoId, Op, Part};
use raidlab_kernel::{Nanos, Time};
use std::cmp::Reverse;

mod read;
mod write;

/// Work that continues after completed commands.
#[derive(Clone, Copy, Debug)]
enum Background {
    None,
    /// Reading on into `segment` up to `limit`.
    ReadAhead {
        sweep: Sweep,
        segment: SegmentId,
        limit: u64,
    },
    /// Writing `segment` up to `end`, done at `done`.
    Write {
        sweep: Sweep,
        segment: SegmentId,
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
    /// The drive begins to serve it.
    at: Time,
}

impl Request {
    fn range(&self) -> SectorRange {
        SectorRange::new(self.lbn, self.end)
    }

    fn sectors(&self) -> u64 {
        self.end - self.lbn
    }
}

/// When the arm starts, arrives, reaches the first sector and has passed the last.
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
    /// What the last command did; others than writes count as reads.
    last_op: MediaOp,
    /// The command in service completes at this time.
    free: Time,
    /// An event is due at `free`.
    awaited: bool,
    /// The arm completes its work for commands at this time.
    arm_free: Time,
    busy: Nanos,
    /// Time for which a command was in service and the arm had nothing to do.
    beside: Nanos,
    pub counts: Counts,
}

impl AfterParams {
    fn after(self, op: MediaOp) -> Nanos {
        match op {
            MediaOp::Read => self.after_read_ns,
            MediaOp::Write => self.after_write_ns,
        }
    }
}

impl ScsiFront {
    /// An idle drive.
    pub fn new(model: &Model, params: &ScsiBusParams, arm: Arm) -> ScsiFront {
        ScsiFront {
            queue: Queue::new(params.queue_depth, model.scheduler),
            buffer: Buffer::new(&model.buffer),
            arm,
            at: 0,
            background: Background::None,
            last_op: MediaOp::Read,
            free: Time::ZERO,
            awaited: false,
            arm_free: Time::ZERO,
            busy: Nanos::ZERO,
            beside: Nanos::ZERO,
            counts: Counts::default(),
        }
    }

    /// A command arrives.
    pub fn submit<P: Port>(&mut self, model: &Model, bus: &ScsiBusParams, port: &mut P, io: IoId) {
        let now = port.now();
        if now < self.free || self.awaited {
            let record = port.io(io);
            let op = media_op(record.op);
            let place = model.geometry.place(record.offset / SECTOR_BYTES);
            self.queue.push(Waiting {
                io,
                lbn: place.lbn,
                place,
                op,
                ready: now,
                ..Waiting::default()
            });
            if !self.awaited {
                self.awaited = true;
                port.wake(self.free, 0);
            }
            return;
        }
        self.serve(model, bus, port, io);
    }

    /// The command in service is complete.
    pub fn event<P: Port>(&mut self, model: &Model, bus: &ScsiBusParams, port: &mut P) {
        self.awaited = false;
        let now = port.now();
        let due = self.queue.late(model, now);
        let choice = self.queue.choose(model, &self.arm, self.at, now);
        if let Some(index) = due.or(choice.map(|(index, _)| index)) {
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
        let before = self.arm_until(request.at);
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
        let arm = self.arm_until(self.free).saturating_sub(before);
        self.beside += self.free.since(request.at).saturating_sub(arm);
        port.io(io).charge(Part::Overhead, self.free);
        self.last_op = media_op(op);
        port.done(io, self.free, Nanos::ZERO);
    }

    /// Advances the work in the background to `now`.
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
                self.buffer.grow(*segment, passed);
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

    /// A drive without read hits on written data empties the segment.
    fn after_write(&mut self, model: &Model, segment: SegmentId) {
        if !model.buffer.read_hits_on_written {
            self.buffer.clear(segment);
        }
    }

    /// The segment that is being filled by reading ahead.
    fn filling(&self) -> Option<SegmentId> {
        match self.background {
            Background::ReadAhead { segment, .. } => Some(segment),
            _ => None,
        }
    }

    /// Stops reading ahead at `now`; gives the time until the arm is free.
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
            // A moving arm arrives first; a head that waits for its sector stops at once.
            sweep.arrived().max(now)
        } else {
            self.buffer.grow(segment, passed + 1);
            sweep.end_of(model, passed)
        };
        (self.arm, self.at) = (sweep.arm(), self.buffer.segments[segment].end);
        self.background = Background::None;
        free.since(now)
    }

    /// Segments that may serve reads.
    fn readable(&self, model: &Model) -> impl Iterator<Item = SegmentId> + use<> {
        let skipped = usize::from(model.buffer.own_write_segment);
        self.buffer.segments.ids().skip(skipped)
    }

    /// The segment that holds a read's first sector: best if it holds all of it, and if it is
    /// being filled; of equal ones that used longest ago, as a search of the list finds it.
    fn hit(&self, model: &Model, request: &Request) -> Option<SegmentId> {
        let filling = self.filling();
        let contains = |index: SegmentId| {
            let segment = &self.buffer.segments[index];
            // A head that is about to pass the first sector goes on.
            let reach = segment.end + u64::from(filling == Some(index));
            segment.start <= request.lbn && request.lbn < reach
        };
        self.readable(model)
            .filter(|&index| contains(index))
            .max_by_key(|&index| {
                let segment = &self.buffer.segments[index];
                (
                    segment.end >= request.end,
                    filling == Some(index),
                    Reverse(segment.used),
                )
            })
    }

    /// The segment that a read which misses replaces.
    fn replaced_by_read(&self, model: &Model) -> SegmentId {
        let class = |index: SegmentId| {
            let segment = &self.buffer.segments[index];
            let empty = segment.is_empty();
            (self.filling() == Some(index), !empty, segment.used)
        };
        self.readable(model)
            .min_by_key(|&index| class(index))
            .unwrap_or_default()
    }

    /// The segment that takes a write.
    fn taken_by_write(&self, model: &Model, request: &Request) -> SegmentId {
        if model.buffer.own_write_segment {
            return SegmentId::new(0);
        }
        let class = |index: SegmentId| {
            let segment = &self.buffer.segments[index];
            let other = !segment.overlaps(request.range());
            let empty = segment.is_empty();
            (self.filling() == Some(index), other, !empty, segment.used)
        };
        let all = self.buffer.segments.ids();
        all.min_by_key(|&index| class(index)).unwrap_or_default()
    }

    fn count(&mut self, movement: &Movement, access: Access) -> Media {
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
        arm.access(model, &place, now.max(self.arm_free), MediaOp::Read)
            .total()
    }

    /// Time that the arm worked for commands up to `now`.
    pub fn arm_until(&self, now: Time) -> Nanos {
        self.busy.saturating_sub(self.arm_free.since(now))
    }

    /// Time up to `now` for which a command was in service or the arm worked.
    pub fn busy_until(&self, now: Time) -> Nanos {
        let busy = self.arm_until(now.max(self.free)) + self.beside;
        // Work of the arm that begins late counts a little early.
        busy.saturating_sub(self.free.since(now))
            .min(now.since(Time::ZERO))
    }
}

/// The work of a command on the medium; a flush counts as a read.
fn media_op(op: Op) -> MediaOp {
    match op {
        Op::Write => MediaOp::Write,
        Op::Read | Op::Flush | Op::Trim => MediaOp::Read,
    }
}
