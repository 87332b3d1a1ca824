//! A drive behind a link: firmware, a queue that the arm is free to reorder, a buffer that
//! reads ahead, a cache for writes.
//!
//! The firmware takes commands one after the other; while the arm is busy that costs nothing.
//! The arm does one thing at a time: it reads or writes for a command, writes out the cache, or
//! reads ahead, which any command may interrupt. Each of these is one event; what passes under
//! the head in between is arithmetic.

use super::buffer::{Buffer, read_ahead_limit};
use super::mechanics::{Arm, Movement, Sweep};
use super::model::Model;
use super::params::{LinkFrontParams, SECTOR_BYTES};
use super::scheduler::{Queue, Waiting};
use super::write_cache::WriteCache;
use crate::Port;
use raidlab_kernel::{IoId, Nanos, Op, Part, Station, Stream, Time};
use std::collections::VecDeque;

/// The arm is done with what it did.
const DONE: u32 = 0;
/// Nothing may have happened for a while.
const IDLE: u32 = 1;

/// What the arm does.
#[derive(Clone, Copy, Debug)]
enum Activity {
    Idle,
    /// Reads for a command, and may then go on.
    Read {
        sweep: Sweep,
        lbn: u64,
        end: u64,
    },
    /// Writes for a command.
    Write {
        arm: Arm,
        end: u64,
    },
    /// Writes out a run of the cache.
    Destage {
        arm: Arm,
        end: u64,
    },
    /// Reads on into `segment` up to `limit`, at least until `promised`.
    ReadAhead {
        sweep: Sweep,
        segment: usize,
        limit: u64,
        promised: Time,
    },
}

/// Counts for the report.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub reads: u64,
    pub writes: u64,
    pub read_hits: u64,
    pub cached_writes: u64,
    pub destaged: u64,
    pub seek: Nanos,
    pub rotation: Nanos,
    pub accesses: u64,
}

/// A drive behind a link.
#[derive(Debug)]
pub struct LinkFront {
    read_overhead: Nanos,
    write_overhead: Nanos,
    idle_delay: Nanos,
    firmware: Station,
    queue: Queue,
    buffer: Buffer,
    cache: Option<Box<WriteCache>>,
    /// Writes that wait for room in the cache.
    full: VecDeque<IoId>,
    /// Flushes that wait for the cache, and those that came after they had begun to.
    flushing: VecDeque<IoId>,
    flush_next: VecDeque<IoId>,
    arm: Arm,
    /// One beyond the sector that the head passed last.
    at: u64,
    activity: Activity,
    /// How much longer than planned each movement takes.
    lateness: Stream,
    /// The arm is done with what it does at this time.
    free: Time,
    busy: Nanos,
    /// When a command came last.
    quiet_since: Time,
    idle_timer: bool,
    pub counts: Counts,
}

impl LinkFront {
    /// An idle drive.
    pub fn new(model: &Model, params: &LinkFrontParams, phase: u64, lateness: Stream) -> LinkFront {
        let depth = params.queue_depth;
        let cache = match (&model.write_cache, &model.bins) {
            (Some(cache), Some(bins)) => Some(Box::new(WriteCache::new(cache, bins))),
            _ => None,
        };
        LinkFront {
            read_overhead: params.read_overhead_ns,
            write_overhead: params.write_overhead_ns,
            idle_delay: match &model.write_cache {
                Some(cache) => cache.flush_after_idle_ns,
                None => Nanos::ZERO,
            },
            firmware: Station::default(),
            queue: Queue::new(depth, model.scheduler),
            buffer: Buffer::new(&model.buffer),
            cache,
            full: VecDeque::with_capacity(depth as usize),
            flushing: VecDeque::with_capacity(depth as usize),
            flush_next: VecDeque::with_capacity(depth as usize),
            arm: Arm {
                phase,
                ..Arm::default()
            },
            at: 0,
            activity: Activity::Idle,
            lateness,
            free: Time::ZERO,
            busy: Nanos::ZERO,
            quiet_since: Time::ZERO,
            idle_timer: false,
            counts: Counts::default(),
        }
    }

    /// A command arrives.
    #[inline]
    pub fn submit<P: Port>(&mut self, model: &Model, port: &mut P, io: IoId) {
        let now = port.now();
        self.quiet_since = now;
        let record = port.io(io);
        let op = record.op;
        let overhead = match op {
            Op::Read => self.read_overhead,
            _ => self.write_overhead,
        };
        let served = self.firmware.serve(now, overhead);
        record.charge_stay(Part::Queue, Part::Overhead, served);
        let lbn = record.offset / SECTOR_BYTES;
        let end = (record.offset + record.bytes).div_ceil(SECTOR_BYTES);
        debug_assert!(end <= model.sectors, "{op:?} beyond the drive's end");
        match op {
            Op::Read if lbn < end => self.read(model, port, io, lbn, end, served.end),
            Op::Write if lbn < end => self.write(model, port, io, lbn, end, served.end),
            Op::Flush => self.flush(model, port, io, served.end),
            _ => port.done(io, served.end, Nanos::ZERO),
        }
    }

    fn read<P: Port>(
        &mut self,
        model: &Model,
        port: &mut P,
        io: IoId,
        lbn: u64,
        end: u64,
        ready: Time,
    ) {
        self.counts.reads += 1;
        self.fill(model, port.now());
        let cached = self
            .cache
            .as_ref()
            .is_some_and(|cache| cache.covers(lbn, end));
        let segment = self.buffer.whole(lbn, end);
        if cached || segment.is_some() {
            self.counts.read_hits += 1;
            if let Some(segment) = segment {
                self.buffer.touch(segment, false);
                self.read_on(model, port.now(), segment, end);
            }
            port.done(io, ready, Nanos::ZERO);
        } else if let Some(at) = self.passes_soon(model, port.now(), lbn, end) {
            self.counts.read_hits += 1;
            let at = at.max(ready);
            let record = port.io(io);
            let lead = at.since(record.mark);
            record.charge(Part::Transfer, at);
            port.done(io, at, lead);
        } else {
            self.enqueue(model, port, io, lbn, end, false, ready);
        }
    }

    /// When the sectors will have been read ahead, if they follow what has been.
    fn passes_soon(&mut self, model: &Model, now: Time, lbn: u64, end: u64) -> Option<Time> {
        let Activity::ReadAhead {
            sweep,
            segment,
            limit,
            promised,
        } = &mut self.activity
        else {
            return None;
        };
        let held = self.buffer.segments[*segment];
        let follows = held.start <= lbn && lbn <= held.end && end <= *limit;
        if !follows || !self.queue.is_empty() {
            return None;
        }
        let at = { *sweep }.end_of(model, end - 1);
        *promised = (*promised).max(at);
        let segment = *segment;
        self.buffer.touch(segment, false);
        self.read_on(model, now, segment, end);
        Some(at)
    }

    /// A read up to before `end` was served from `segment`: reading ahead goes further.
    fn read_on(&mut self, model: &Model, now: Time, hit: usize, end: u64) {
        if let Activity::ReadAhead {
            sweep,
            segment,
            limit,
            ..
        } = &mut self.activity
        {
            if *segment == hit {
                let start = self.buffer.segments[hit].start;
                let further = read_ahead_limit(model, start, end).max(*limit);
                // A head that has passed the limit already is not there any more.
                if further > *limit && { *sweep }.end_of(model, *limit - 1) >= now {
                    *limit = further;
                }
            }
        }
    }

    /// Brings the segment that is being filled up to date.
    fn fill(&mut self, model: &Model, now: Time) {
        if let Activity::ReadAhead {
            sweep,
            segment,
            limit,
            ..
        } = &mut self.activity
        {
            let passed = sweep.passed_by(model, now, *limit);
            let size = self.buffer.segment_sectors();
            self.buffer.segments[*segment].grow(passed, size);
        }
    }

    fn write<P: Port>(
        &mut self,
        model: &Model,
        port: &mut P,
        io: IoId,
        lbn: u64,
        end: u64,
        ready: Time,
    ) {
        self.counts.writes += 1;
        self.stop_overwritten(model, port.now(), lbn, end);
        self.buffer.forget(lbn, end, None);
        let Some(cache) = &mut self.cache else {
            return self.enqueue(model, port, io, lbn, end, true, ready);
        };
        if !cache.can_hold(end - lbn) {
            return self.enqueue(model, port, io, lbn, end, true, ready);
        }
        if self.full.is_empty() && cache.has_room(end - lbn) {
            cache.insert(model, lbn, end);
            self.counts.cached_writes += 1;
            port.done(io, ready, Nanos::ZERO);
            self.after_caching(model, port);
        } else {
            self.full.push_back(io);
            if self.is_free() {
                self.dispatch(model, port);
            }
        }
    }

    /// New data make what is being read ahead stale.
    fn stop_overwritten(&mut self, model: &Model, now: Time, lbn: u64, end: u64) {
        if let Activity::ReadAhead { segment, limit, .. } = self.activity {
            let start = self.buffer.segments[segment].start;
            if start < end && lbn < limit {
                let free = self.interrupt(model, now);
                self.free = self.free.max(free);
            }
        }
    }

    fn after_caching<P: Port>(&mut self, model: &Model, port: &mut P) {
        let presses = self.cache.as_ref().is_some_and(|cache| cache.presses());
        if presses && self.is_free() {
            self.dispatch(model, port);
        } else {
            self.set_idle_timer(port);
        }
    }

    fn flush<P: Port>(&mut self, model: &Model, port: &mut P, io: IoId, ready: Time) {
        let Some(cache) = &mut self.cache else {
            return port.done(io, ready, Nanos::ZERO);
        };
        if cache.is_clean() && self.full.is_empty() {
            return port.done(io, ready, Nanos::ZERO);
        }
        if self.flushing.is_empty() {
            cache.flush();
            self.flushing.push_back(io);
        } else {
            self.flush_next.push_back(io);
        }
        if self.is_free() {
            self.dispatch(model, port);
        }
    }

    #[allow(clippy::too_many_arguments)]
    #[inline]
    fn enqueue<P: Port>(
        &mut self,
        model: &Model,
        port: &mut P,
        io: IoId,
        lbn: u64,
        end: u64,
        write: bool,
        ready: Time,
    ) {
        let place = model.geometry.place(lbn);
        self.queue.push(io, place, (end - lbn) as u32, write, ready);
        if self.is_free() {
            self.dispatch(model, port);
        }
    }

    /// True if the arm does nothing that must be finished.
    fn is_free(&self) -> bool {
        matches!(self.activity, Activity::Idle | Activity::ReadAhead { .. })
    }

    /// Ends reading ahead; says when the arm is free.
    fn interrupt(&mut self, model: &Model, now: Time) -> Time {
        let Activity::ReadAhead {
            mut sweep,
            segment,
            limit,
            promised,
        } = self.activity
        else {
            return self.free.max(now);
        };
        let now = now.max(promised);
        self.fill(model, now);
        let passed = sweep.passed_by(model, now, limit);
        let free = if passed == limit {
            now
        } else {
            let begin = sweep.begin_of(model, passed);
            if now < begin || model.buffer.stop_in_sector {
                // On its way to the track: it arrives; waiting for the sector: it need not.
                now.max(sweep.arrived())
            } else {
                let end = sweep.end_of(model, passed);
                let size = self.buffer.segment_sectors();
                self.buffer.segments[segment].grow(passed + 1, size);
                end
            }
        };
        self.arm = sweep.arm();
        self.at = self.buffer.segments[segment].end;
        self.activity = Activity::Idle;
        free
    }

    /// Gives the arm its next work, if there is any.
    #[inline]
    fn dispatch<P: Port>(&mut self, model: &Model, port: &mut P) {
        let pressed = self.cache.as_ref().is_some_and(|cache| {
            cache.presses() || !self.full.is_empty() || !self.flushing.is_empty()
        });
        if self.queue.is_empty() && !pressed {
            return;
        }
        let start = self.interrupt(model, port.now());
        let command = self.queue.choose(model, &self.arm, self.at, start);
        let run = match &self.cache {
            Some(cache) if pressed => cache.choose(model, &self.arm, self.at, start),
            _ => None,
        };
        match (command, run) {
            (Some((_, time)), Some((slot, least))) if (least as i64) < time => {
                self.destage(model, port, slot, start);
            }
            (Some((index, _)), _) => {
                let waiting = self.queue.take(index);
                self.serve(model, port, &waiting, start);
            }
            (None, Some((slot, _))) => self.destage(model, port, slot, start),
            (None, None) => {}
        }
    }

    /// Reads or writes for a command.
    #[inline]
    fn serve<P: Port>(&mut self, model: &Model, port: &mut P, waiting: &Waiting, free: Time) {
        let start = free.max(waiting.ready);
        let (lbn, end) = (
            waiting.place.lbn,
            waiting.place.lbn + u64::from(waiting.sectors),
        );
        let shuffled = if waiting.write {
            model.buffer.write_on_arrival
        } else {
            model.buffer.read_on_arrival
        };
        let movement = Movement {
            place: waiting.place,
            start,
            write: waiting.write,
            shuffled_end: if shuffled { end } else { 0 },
            least_seek: Nanos::ZERO,
            late: model.seek.lateness(&mut self.lateness),
        };
        let (mut sweep, access) = Sweep::new(model, self.arm, &movement);
        let done = sweep.end_of(model, end - 1);
        let begin = start + access.total();
        let record = port.io(waiting.io);
        record.charge(Part::Queue, start);
        record.charge(Part::Seek, start + access.seek);
        record.charge(Part::Rotation, begin);
        record.charge(Part::Transfer, done);
        self.counts.seek += access.seek;
        self.counts.rotation += access.rotation;
        self.counts.accesses += 1;
        self.activity = if waiting.write {
            let arm = sweep.arm();
            port.done(waiting.io, done, Nanos::ZERO);
            Activity::Write { arm, end }
        } else {
            port.done(waiting.io, done, done.since(begin));
            Activity::Read { sweep, lbn, end }
        };
        self.occupy(port, start, done);
    }

    /// Writes out a run of the cache.
    fn destage<P: Port>(&mut self, model: &Model, port: &mut P, slot: u16, start: Time) {
        let Some(cache) = &mut self.cache else { return };
        let (lbn, end) = cache.start(slot);
        let movement = Movement {
            place: model.geometry.place(lbn),
            start,
            write: true,
            shuffled_end: if model.buffer.write_on_arrival {
                end
            } else {
                0
            },
            least_seek: Nanos::ZERO,
            late: model.seek.lateness(&mut self.lateness),
        };
        let (mut sweep, access) = Sweep::new(model, self.arm, &movement);
        let done = sweep.end_of(model, end - 1);
        self.counts.seek += access.seek;
        self.counts.rotation += access.rotation;
        self.counts.accesses += 1;
        self.counts.destaged += 1;
        let arm = sweep.arm();
        self.activity = Activity::Destage { arm, end };
        self.occupy(port, start, done);
    }

    fn occupy<P: Port>(&mut self, port: &mut P, start: Time, done: Time) {
        self.busy += done.since(start);
        self.free = done;
        port.wake(done, DONE);
    }

    /// An event that the drive asked for.
    #[inline]
    pub fn event<P: Port>(&mut self, model: &Model, port: &mut P, token: u32) {
        if token == IDLE {
            return self.idle(model, port);
        }
        match self.activity {
            Activity::Read { sweep, lbn, end } => self.has_read(model, port, sweep, lbn, end),
            Activity::Write { arm, end } => {
                (self.arm, self.at) = (arm, end);
                self.activity = Activity::Idle;
            }
            Activity::Destage { arm, end } => {
                (self.arm, self.at) = (arm, end);
                self.activity = Activity::Idle;
                self.has_destaged(model, port);
            }
            Activity::Idle | Activity::ReadAhead { .. } => {
                unreachable!("the arm was busy until now")
            }
        }
        if self.is_free() {
            self.dispatch(model, port);
        }
        if self.is_free() {
            self.set_idle_timer(port);
        }
    }

    /// The data of a read are in the buffer; the head reads on until it is needed.
    #[inline]
    fn has_read<P: Port>(&mut self, model: &Model, port: &mut P, sweep: Sweep, lbn: u64, end: u64) {
        let extended = self
            .buffer
            .segments
            .iter()
            .position(|segment| segment.end == lbn && !segment.is_empty());
        let segment = match extended {
            Some(segment) => {
                self.buffer.segments[segment].grow(end, model.buffer.segment_sectors);
                segment
            }
            None => {
                let segment = self.buffer.oldest(None);
                self.buffer.reset(segment, lbn, end);
                segment
            }
        };
        self.buffer.touch(segment, false);
        self.arm = sweep.arm();
        self.at = end;
        self.activity = Activity::Idle;
        let start = self.buffer.segments[segment].start;
        if !self.queue.is_empty() {
            return self.follow(model, port, sweep, start, end);
        }
        let limit = read_ahead_limit(model, start, end);
        if limit > end {
            self.activity = Activity::ReadAhead {
                sweep,
                segment,
                limit,
                promised: Time::ZERO,
            };
        }
    }

    /// If the next command reads what the head is about to pass, it just goes on.
    #[inline]
    fn follow<P: Port>(
        &mut self,
        model: &Model,
        port: &mut P,
        mut sweep: Sweep,
        start: u64,
        end: u64,
    ) {
        let Some(index) = self.queue.follower(start, end) else {
            return;
        };
        let now = port.now();
        let next = self.queue.choose(model, &self.arm, self.at, now);
        if self.queue.len() > 1 && next.is_none_or(|(best, _)| best != index) {
            return;
        }
        let waiting = self.queue.take(index);
        let lbn = waiting.place.lbn;
        let last = lbn + u64::from(waiting.sectors);
        let passed = sweep.end_of(model, last.max(end) - 1);
        let done = passed.max(waiting.ready);
        let record = port.io(waiting.io);
        record.charge(Part::Queue, now);
        record.charge(Part::Transfer, done);
        port.done(waiting.io, done, done.since(now.max(waiting.ready)));
        self.activity = Activity::Read {
            sweep,
            lbn: end,
            end: last.max(end),
        };
        self.occupy(port, now, done);
    }

    /// A run of the cache is on the medium: there is room for a write that waits.
    fn has_destaged<P: Port>(&mut self, model: &Model, port: &mut P) {
        let now = port.now();
        let Some(cache) = &mut self.cache else { return };
        cache.finish();
        while let Some(&io) = self.full.front() {
            let record = port.io(io);
            let lbn = record.offset / SECTOR_BYTES;
            let end = (record.offset + record.bytes).div_ceil(SECTOR_BYTES);
            if !cache.has_room(end - lbn) {
                break;
            }
            self.full.pop_front();
            cache.insert(model, lbn, end);
            self.counts.cached_writes += 1;
            let at = now.max(record.mark);
            record.charge(Part::Cache, at);
            port.done(io, at, Nanos::ZERO);
        }
        while cache.flushed() && !self.flushing.is_empty() {
            while let Some(io) = self.flushing.pop_front() {
                let record = port.io(io);
                let at = now.max(record.mark);
                record.charge(Part::Cache, at);
                port.done(io, at, Nanos::ZERO);
            }
            if !self.flush_next.is_empty() {
                std::mem::swap(&mut self.flushing, &mut self.flush_next);
                cache.flush();
            }
        }
    }

    fn set_idle_timer<P: Port>(&mut self, port: &mut P) {
        let dirty = self.cache.as_ref().is_some_and(|cache| cache.waiting() > 0);
        if dirty && !self.idle_timer {
            self.idle_timer = true;
            let at = (self.quiet_since + self.idle_delay).max(port.now());
            port.wake(at, IDLE);
        }
    }

    /// Writes out the cache if no command has come for a while.
    fn idle<P: Port>(&mut self, model: &Model, port: &mut P) {
        self.idle_timer = false;
        if !self.is_free() {
            return;
        }
        let now = port.now();
        if now < self.quiet_since + self.idle_delay {
            return self.set_idle_timer(port);
        }
        let start = self.interrupt(model, now);
        let run = match &self.cache {
            Some(cache) => cache.choose(model, &self.arm, self.at, start),
            None => None,
        };
        if let Some((slot, _)) = run {
            self.destage(model, port, slot, start);
        }
    }

    /// What it takes to get to `lbn` by an arm that is free now.
    pub fn positioning(&self, model: &Model, now: Time, lbn: u64) -> Nanos {
        let (arm, at) = match &self.activity {
            Activity::Idle => (self.arm, self.at),
            Activity::Read { sweep, end, .. } => (sweep.arm(), *end),
            Activity::Write { arm, end } | Activity::Destage { arm, end } => (*arm, *end),
            Activity::ReadAhead { sweep, segment, .. } => {
                (sweep.arm(), self.buffer.segments[*segment].end)
            }
        };
        if lbn == at {
            return Nanos::ZERO;
        }
        let place = model.geometry.place(lbn);
        arm.access(model, &place, now.max(self.free), false).total()
    }

    /// Time that the arm worked up to `now`.
    pub fn busy_until(&self, now: Time) -> Nanos {
        self.busy.saturating_sub(self.free.since(now))
    }

    /// The cache must count right.
    pub fn check(&self) -> Result<(), String> {
        match &self.cache {
            Some(cache) => cache.check(),
            None => Ok(()),
        }
    }
}
