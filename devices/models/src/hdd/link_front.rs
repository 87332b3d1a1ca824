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
use super::params::LinkFrontParams;
use super::scheduler::Waiting;
use super::sector_range::SectorRange;
use crate::Port;
use raidlab_io::{IoId, Op, Part};
use raidlab_kernel::{Nanos, Station, Stream, Time, prefetch};

mod head;
mod pending;
mod reads;
mod writes;

use head::{Activity, Head};
use pending::{Next, Pending};

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

/// A drive behind a link.
#[derive(Debug)]
pub struct LinkFront {
    read_overhead: Nanos,
    write_overhead: Nanos,
    idle_delay: Nanos,
    pub(super) firmware: Station,
    pending: Pending,
    buffer: Buffer,
    head: Head,
    /// When the last command arrived.
    quiet_since: Time,
    idle_timer: bool,
    pub counts: Counts,
}

impl LinkFront {
    /// An idle drive.
    pub fn new(model: &Model, params: &LinkFrontParams, arm: Arm, lateness: Stream) -> LinkFront {
        LinkFront {
            read_overhead: params.read_overhead_ns,
            write_overhead: params.write_overhead_ns,
            idle_delay: match &model.write_cache {
                Some(cache) => cache.flush_after_idle_ns,
                None => Nanos::ZERO,
            },
            firmware: Station::default(),
            pending: Pending::new(model, params.queue_depth),
            buffer: Buffer::new(&model.buffer),
            head: Head::new(arm, lateness),
            quiet_since: Time::ZERO,
            idle_timer: false,
            counts: Counts::default(),
        }
    }

    /// Prefetches its own fields, not what they point to.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(&self.read_overhead);
        prefetch(&self.pending);
        prefetch(&self.buffer);
        self.head.prefetch();
        prefetch(&self.counts);
        prefetch(&self.counts.accesses);
    }

    /// Prefetches what a choice of the next work compares.
    #[inline]
    pub fn prefetch_lists(&self) {
        self.pending.queue.prefetch();
        self.buffer.prefetch();
        if let Some(cache) = &self.pending.cache {
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
        let range = SectorRange::around(record.range());
        debug_assert!(range.end <= model.sectors, "{op:?} beyond the drive's end");
        match op {
            Op::Read if !range.is_empty() => self.read(model, port, io, range, served.end),
            Op::Write if !range.is_empty() => self.write(model, port, io, range, served.end),
            Op::Flush => self.flush(model, port, io, served.end),
            _ => port.done(io, served.end, Nanos::ZERO),
        }
    }

    /// A command waits for the arm.
    #[inline]
    fn enqueue<P: Port>(&mut self, model: &Model, port: &mut P, waiting: Waiting) {
        self.pending.queue.push(waiting);
        if self.head.is_free() {
            self.dispatch(model, port);
        }
    }

    /// Starts the arm's next work, if there is any.
    #[inline]
    fn dispatch<P: Port>(&mut self, model: &Model, port: &mut P) {
        if self.pending.queue.is_empty() && !self.pending.destages(model, port.now()) {
            return;
        }
        let start = self.interrupt(model, port.now());
        let Head { arm, at, stays, .. } = &mut self.head;
        let next = match self.pending.planned() {
            None => self.pending.decide(model, (arm, *at), start, stays),
            planned => planned,
        };
        match next {
            Some(Next::Run(slot)) => self.destage(model, port, slot, start),
            Some(Next::Room(slot, index)) => {
                self.pending.queue.promise(index);
                self.destage(model, port, slot, start);
            }
            Some(Next::Command(index)) => {
                let waiting = self.pending.take(index);
                self.serve(model, port, &waiting, start);
            }
            None => {}
        }
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
            late: self.head.lateness_to(model, waiting.place.lbn, start),
        };
        let (mut sweep, access) = Sweep::new(model, self.head.arm, &movement);
        let mut begin = start + access.total();
        let mut rotation = access.rotation;
        if waiting.op == MediaOp::Write {
            let lbns = SectorRange::new(waiting.place.lbn, end);
            let first = self.head.reads_first(model, &mut sweep, lbns, begin);
            begin = begin + first;
            rotation += first;
        }
        let done = sweep.end_of(model, end - 1);
        self.head.arrive(model, waiting.place.lbn, begin);
        let record = port.io(waiting.io);
        record.charge(Part::Queue, start);
        record.charge(Part::Seek, start + access.seek);
        record.charge(Part::Rotation, begin);
        record.charge(Part::Transfer, done);
        self.counts.seek += access.seek;
        self.counts.rotation += rotation;
        self.counts.accesses += 1;
        if model.plans_ahead {
            let stays = &mut self.head.stays;
            self.pending
                .plan_next(model, (&sweep.arm(), end), done, stays);
        }
        self.head.activity = match waiting.op {
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
        self.head.occupy(port, start, done);
    }

    /// An event that the drive asked for.
    #[inline]
    pub fn event<P: Port>(&mut self, model: &Model, port: &mut P, token: u32) {
        if Timer::of(token) == Timer::Idle {
            return self.idle(model, port);
        }
        match self.head.activity {
            Activity::Read { sweep, lbn, end } => {
                self.has_read(model, port, sweep, SectorRange { lbn, end })
            }
            Activity::Prefetch { sweep, lbn, end } => {
                self.has_prefetched(model, port, sweep, SectorRange { lbn, end })
            }
            Activity::Write { arm, end } => {
                self.head.stop(arm, end);
                self.follow_write(model, port);
            }
            Activity::Destage { arm, end } => {
                self.head.stop(arm, end);
                self.has_destaged(model, port);
            }
            Activity::Idle | Activity::ReadAhead { .. } => {
                unreachable!("an idle arm completes no work")
            }
        }
        if self.head.is_free() {
            self.dispatch(model, port);
        }
        if self.head.is_free() {
            self.set_idle_timer(port);
        }
    }

    /// What it takes to get to `lbn` by an arm that is free now.
    pub fn positioning(&self, model: &Model, now: Time, lbn: u64) -> Nanos {
        self.head.positioning(model, &self.buffer, now, lbn)
    }

    /// Time that the arm worked up to `now`.
    pub fn arm_until(&self, now: Time) -> Nanos {
        self.head.arm_until(now)
    }

    /// Time up to `now` for which commands needed the arm.
    pub fn busy_until(&self, now: Time) -> Nanos {
        self.head.busy_until(now)
    }

    /// The counts of the cache must be right.
    pub fn check(&self) -> Result<(), String> {
        match &self.pending.cache {
            Some(cache) => cache.check(),
            None => Ok(()),
        }
    }
}
