//! A drive behind a link: firmware, a queue that the arm is free to reorder, a buffer that
//! reads ahead, a cache for writes.
//!
//! The firmware handles commands one after the other; while the arm works that costs no time.
//! The arm does one thing at a time: it reads or writes for a command, destages the write cache,
//! or reads ahead, which any command may interrupt. Each of these is one event; what passes under
//! the head in between is arithmetic.

use super::buffer::{Buffer, first_buffered};
use super::counts::Counts;
use super::mechanics::{Arm, Movement, Sweep};
use super::media_op::MediaOp;
use super::model::Model;
use super::params::{LinkFrontParams, SECTOR_BYTES};
use super::scheduler::{Queue, Waiting};
use super::write_cache::WriteCache;
use crate::Port;
use raidlab_io::{IoId, Op, Part};
use raidlab_kernel::{Nanos, Station, Stream, Time, prefetch};
use std::collections::VecDeque;

mod reads;
mod writes;

/// Events that the drive asks for; the engine stores them as tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum Timer {
    /// The arm has completed its work.
    ArmDone = 0,
    /// The drive may have been idle for a while.
    Idle = 1,
}

impl Timer {
    fn of(token: u32) -> Timer {
        match token {
            0 => Timer::ArmDone,
            1 => Timer::Idle,
            _ => unreachable!("a disk with a link has no timer {token}"),
        }
    }
}

/// What the arm does.
#[derive(Clone, Copy, Debug)]
enum Activity {
    Idle,
    /// Reads for a command, from `lbn` on counting what passed before; may then go on.
    Read {
        sweep: Sweep,
        lbn: u64,
        end: u64,
    },
    /// Reads ahead for a stream, from `lbn` on, although commands wait.
    Prefetch {
        sweep: Sweep,
        lbn: u64,
        end: u64,
    },
    /// Writes for a command.
    Write {
        arm: Arm,
        end: u64,
    },
    /// Destages a run of the write cache.
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

/// What the arm does next.
#[derive(Clone, Copy, Debug)]
enum Next {
    /// The command at this index of the queue.
    Command(usize),
    /// The run in this slot of the write cache.
    Run(u16),
    /// The run in this slot, so that the write at this index of the queue gets its place.
    Room(u16, usize),
}

/// What was chosen while the arm still worked; it may be gone when the arm is free.
#[derive(Clone, Copy, Debug)]
enum Planned {
    /// By its number.
    Command(u64),
    /// By its slot and first sector.
    Run(u16, u64),
    /// By its slot and first sector, and the write's number.
    Room(u16, u64, u64),
}

/// A drive behind a link.
#[derive(Debug)]
pub struct LinkFront {
    read_overhead: Nanos,
    write_overhead: Nanos,
    idle_delay: Nanos,
    pub(super) firmware: Station,
    queue: Queue,
    buffer: Buffer,
    cache: Option<Box<WriteCache>>,
    /// Flushes that wait for the cache, and those that arrived later.
    flushing: VecDeque<IoId>,
    flush_next: VecDeque<IoId>,
    arm: Arm,
    /// One beyond the sector that the head passed last.
    at: u64,
    activity: Activity,
    /// What comes after that, if the drive plans ahead.
    planned: Option<Planned>,
    /// Since when the head has not gone elsewhere or, if nobody else waited, been asked whether to.
    stays: Time,
    /// When the oldest flush began to wait.
    flush_since: Time,
    /// Draws how much longer than its time each movement takes.
    lateness: Stream,
    /// The arm completes its work at this time.
    free: Time,
    busy: Nanos,
    /// Part of `busy` in which the head goes on with a stream whose data wait for the firmware.
    held: Nanos,
    /// When the last command arrived.
    quiet_since: Time,
    idle_timer: bool,
    pub counts: Counts,
}

impl LinkFront {
    /// An idle drive.
    pub fn new(model: &Model, params: &LinkFrontParams, arm: Arm, lateness: Stream) -> LinkFront {
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
            flushing: VecDeque::with_capacity(depth as usize),
            flush_next: VecDeque::with_capacity(depth as usize),
            arm,
            at: 0,
            activity: Activity::Idle,
            planned: None,
            stays: Time::ZERO,
            flush_since: Time::ZERO,
            lateness,
            free: Time::ZERO,
            busy: Nanos::ZERO,
            held: Nanos::ZERO,
            quiet_since: Time::ZERO,
            idle_timer: false,
            counts: Counts::default(),
        }
    }

    /// Prefetches its own fields, not what they point to.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(&self.read_overhead);
        prefetch(&self.queue);
        prefetch(&self.buffer);
        prefetch(&self.flushing);
        prefetch(&self.arm);
        prefetch(&self.activity);
        prefetch(&self.lateness);
        prefetch(&self.free);
        prefetch(&self.counts);
        prefetch(&self.counts.accesses);
    }

    /// Prefetches what a choice of the next work compares.
    #[inline]
    pub fn prefetch_lists(&self) {
        self.queue.prefetch();
        self.buffer.prefetch();
        if let Some(cache) = &self.cache {
            cache.prefetch();
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

    /// A command waits for the arm.
    #[inline]
    fn enqueue<P: Port>(&mut self, model: &Model, port: &mut P, waiting: Waiting) {
        self.queue.push(waiting);
        if self.is_free() {
            self.dispatch(model, port);
        }
    }

    /// True if the arm can be used now.
    fn is_free(&self) -> bool {
        matches!(self.activity, Activity::Idle | Activity::ReadAhead { .. })
    }

    /// Starts the arm's next work, if there is any.
    #[inline]
    fn dispatch<P: Port>(&mut self, model: &Model, port: &mut P) {
        if self.queue.is_empty() && !self.destages(model, port.now()) {
            return;
        }
        let start = self.interrupt(model, port.now());
        let next = match self.planned() {
            None => {
                let arm = self.arm;
                self.decide(model, &arm, self.at, start)
            }
            planned => planned,
        };
        match next {
            Some(Next::Run(slot)) => self.destage(model, port, slot, start),
            Some(Next::Room(slot, index)) => {
                self.queue.promise(index);
                self.destage(model, port, slot, start);
            }
            Some(Next::Command(index)) => {
                let waiting = self.queue.take(index);
                if let (true, Some(cache)) = (waiting.deferred, &mut self.cache) {
                    cache.bypass(u64::from(waiting.sectors));
                }
                self.serve(model, port, &waiting, start);
            }
            None => {}
        }
    }

    /// What the arm that stands after sector `at` and is free from `start` on does next.
    #[inline]
    fn decide(&mut self, model: &Model, arm: &Arm, at: u64, start: Time) -> Option<Next> {
        let overdue = self.is_run_overdue(model, start);
        let late = self.queue.late(model, start);
        let mut command = match late {
            Some(index) => Some((index, 0)),
            None => self.queue.choose_joined(model, arm, at, start),
        };
        if let Some((index, _)) = command
            && let Some(run) = self.makes_room(model, arm, at, start, index)
        {
            return Some(run);
        }
        // A run is served before the command if its access is shorter, if it is overdue, or if the
        // command goes on where a run ends.
        let joined =
            late.is_none() && command.is_some_and(|(index, _)| self.continues_run(model, index));
        let bound = match command {
            Some((_, time)) if !overdue && !joined => time.max(0) as u64,
            _ => u64::MAX,
        };
        let mut run = match &self.cache {
            Some(cache) if self.destages(model, start) => {
                cache.choose(model, arm, at, start, bound)
            }
            _ => None,
        };
        if late.is_none() && !overdue {
            let next = match (command, run) {
                (_, Some((slot, _))) => self.cache.as_ref().map(|cache| cache.first(slot)),
                (Some((index, _)), None) => Some(self.queue.place(index).lbn),
                (None, None) => None,
            };
            if next.is_some_and(|lbn| lbn.abs_diff(at) < model.neighbourhood)
                && let Some(index) = self.queue.passed_over(model, &mut self.stays, at, start)
            {
                (command, run) = (Some((index, 0)), None);
            }
        }
        match (command, run) {
            (_, Some((slot, _))) => Some(Next::Run(slot)),
            (Some((index, _)), None) => Some(Next::Command(index)),
            (None, None) => None,
        }
    }

    /// True if a write begins where a run of the cache ends: both are one stream, and the run is
    /// its older part.
    #[inline]
    fn continues_run(&self, model: &Model, index: usize) -> bool {
        model.scheduler.is_by_access()
            && self.queue.is_deferred(index)
            && self.cache.as_ref().is_some_and(|cache| {
                let lbn = self.queue.place(index).lbn;
                cache.ending_at(lbn).is_some()
            })
    }

    /// What is written out so that a write, which is next, gets its place: the oldest run of a cache
    /// that keeps the order of writes. None if the write need not wait, or goes to the medium itself.
    #[inline]
    fn makes_room(
        &self,
        model: &Model,
        arm: &Arm,
        at: u64,
        start: Time,
        index: usize,
    ) -> Option<Next> {
        let cache = self.cache.as_ref().filter(|cache| cache.is_first_come())?;
        if !self.queue.is_deferred(index) {
            return None;
        }
        let (slot, _) = cache.choose(model, arm, at, start, u64::MAX)?;
        Some(Next::Room(slot, index))
    }

    /// Chooses what comes after what the arm does now: that ends at `done`, with `arm` after sector
    /// `at`. What comes later has to wait for both.
    fn plan_next(&mut self, model: &Model, arm: &Arm, at: u64, done: Time) {
        if self.planned.is_some() || (self.queue.is_empty() && !self.destages(model, done)) {
            return;
        }
        let next = self.decide(model, arm, at, done);
        let cache = self.cache.as_ref();
        self.planned = next.and_then(|next| match next {
            Next::Command(index) => Some(Planned::Command(self.queue.number(index))),
            Next::Run(slot) => cache.map(|cache| Planned::Run(slot, cache.first(slot))),
            Next::Room(slot, index) => {
                cache.map(|cache| Planned::Room(slot, cache.first(slot), self.queue.number(index)))
            }
        });
    }

    /// What was planned, if it still waits.
    fn planned(&mut self) -> Option<Next> {
        match self.planned.take()? {
            Planned::Command(number) => self.queue.numbered(number).map(Next::Command),
            Planned::Run(slot, lbn) => {
                let cache = self.cache.as_ref()?;
                cache.begins(slot, lbn).then_some(Next::Run(slot))
            }
            Planned::Room(slot, lbn, number) => {
                let cache = self.cache.as_ref()?;
                let room = || match self.queue.numbered(number) {
                    Some(index) => Next::Room(slot, index),
                    None => Next::Run(slot),
                };
                cache.begins(slot, lbn).then(room)
            }
        }
    }

    /// True if runs of the cache compete with commands.
    fn destages(&self, model: &Model, now: Time) -> bool {
        let overdue = self.is_run_overdue(model, now);
        self.cache.as_ref().is_some_and(|cache| {
            cache.needs_destage() || overdue || self.queue.defers() || !self.flushing.is_empty()
        })
    }

    /// Runs of the cache are served before commands: too much has bypassed them, or a flush has
    /// waited for too long.
    #[inline]
    fn is_run_overdue(&self, model: &Model, now: Time) -> bool {
        let late = !self.flushing.is_empty() && now.since(self.flush_since) > model.age_limit;
        late || self.cache.as_ref().is_some_and(|cache| cache.is_overdue())
    }

    /// Reads or writes for a command.
    #[inline]
    fn serve<P: Port>(&mut self, model: &Model, port: &mut P, waiting: &Waiting, free: Time) {
        let start = free.max(waiting.ready);
        let end = waiting.place.lbn + u64::from(waiting.sectors);
        let shuffled = match waiting.op {
            MediaOp::Read => model.buffer.read_on_arrival,
            MediaOp::Write => model.buffer.write_on_arrival,
        };
        let movement = Movement {
            place: waiting.place,
            start,
            op: waiting.op,
            shuffled_end: if shuffled { end } else { 0 },
            least_seek: Nanos::ZERO,
            late: self.lateness_to(model, waiting.place.lbn, start),
        };
        let (mut sweep, access) = Sweep::new(model, self.arm, &movement);
        let mut begin = start + access.total();
        let mut rotation = access.rotation;
        if waiting.op == MediaOp::Write {
            let lbns = (waiting.place.lbn, end);
            let first = self.reads_first(model, &mut sweep, lbns, begin);
            begin = begin + first;
            rotation += first;
        }
        let done = sweep.end_of(model, end - 1);
        self.arrive(model, waiting.place.lbn, begin);
        let record = port.io(waiting.io);
        record.charge(Part::Queue, start);
        record.charge(Part::Seek, start + access.seek);
        record.charge(Part::Rotation, begin);
        record.charge(Part::Transfer, done);
        self.counts.seek += access.seek;
        self.counts.rotation += rotation;
        self.counts.accesses += 1;
        if model.plans_ahead {
            self.plan_next(model, &sweep.arm(), end, done);
        }
        self.activity = match waiting.op {
            MediaOp::Read => {
                port.done(waiting.io, done, done.since(begin));
                let lbn = first_buffered(model, &waiting.place, access.rotation);
                Activity::Read { sweep, lbn, end }
            }
            MediaOp::Write => {
                let arm = sweep.arm();
                port.done(waiting.io, done, Nanos::ZERO);
                Activity::Write { arm, end }
            }
        };
        self.occupy(port, start, done);
    }

    /// The head begins with `lbn`: from then on it is there.
    #[inline]
    fn arrive(&mut self, model: &Model, lbn: u64, begin: Time) {
        if lbn.abs_diff(self.at) >= model.neighbourhood {
            self.stays = begin;
        }
    }

    /// How much later than its time the arm settles before `lbn`. A head that goes on where it
    /// stands reaches the next track in time, thanks to the skew.
    #[inline]
    fn lateness_to(&mut self, model: &Model, lbn: u64, start: Time) -> Nanos {
        if lbn == self.at && start == self.free {
            Nanos::ZERO
        } else {
            model.seek.lateness(&mut self.lateness)
        }
    }

    fn occupy<P: Port>(&mut self, port: &mut P, start: Time, done: Time) {
        self.busy += done.since(start);
        self.free = done;
        port.wake(done, Timer::ArmDone as u32);
    }

    /// An event that the drive asked for.
    #[inline]
    pub fn event<P: Port>(&mut self, model: &Model, port: &mut P, token: u32) {
        if Timer::of(token) == Timer::Idle {
            return self.idle(model, port);
        }
        match self.activity {
            Activity::Read { sweep, lbn, end } => self.has_read(model, port, sweep, lbn, end),
            Activity::Prefetch { sweep, lbn, end } => {
                self.has_prefetched(model, port, sweep, lbn, end)
            }
            Activity::Write { arm, end } => {
                (self.arm, self.at) = (arm, end);
                self.activity = Activity::Idle;
                self.follow_write(model, port);
            }
            Activity::Destage { arm, end } => {
                (self.arm, self.at) = (arm, end);
                self.activity = Activity::Idle;
                self.has_destaged(model, port);
            }
            Activity::Idle | Activity::ReadAhead { .. } => {
                unreachable!("an idle arm completes no work")
            }
        }
        if self.is_free() {
            self.dispatch(model, port);
        }
        if self.is_free() {
            self.set_idle_timer(port);
        }
    }

    /// What it takes to get to `lbn` by an arm that is free now.
    pub fn positioning(&self, model: &Model, now: Time, lbn: u64) -> Nanos {
        let (arm, at) = match &self.activity {
            Activity::Idle => (self.arm, self.at),
            Activity::Read { sweep, end, .. } | Activity::Prefetch { sweep, end, .. } => {
                (sweep.arm(), *end)
            }
            Activity::Write { arm, end } | Activity::Destage { arm, end } => (*arm, *end),
            Activity::ReadAhead { sweep, segment, .. } => {
                (sweep.arm(), self.buffer.segments[*segment].end)
            }
        };
        if lbn == at {
            return Nanos::ZERO;
        }
        let place = model.geometry.place(lbn);
        arm.access(model, &place, now.max(self.free), MediaOp::Read)
            .total()
    }

    /// Time that the arm worked up to `now`.
    pub fn arm_until(&self, now: Time) -> Nanos {
        let end = match self.activity {
            Activity::ReadAhead { promised, .. } => self.free.max(promised),
            _ => self.free,
        };
        self.busy.saturating_sub(end.since(now))
    }

    /// Time up to `now` for which commands needed the arm.
    pub fn busy_until(&self, now: Time) -> Nanos {
        self.arm_until(now).saturating_sub(self.held)
    }

    /// The counts of the cache must be right.
    pub fn check(&self) -> Result<(), String> {
        match &self.cache {
            Some(cache) => cache.check(),
            None => Ok(()),
        }
    }
}
