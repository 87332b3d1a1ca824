//! Reads behind a link: hits, reads that the head is about to pass, reading ahead.

use super::super::buffer::{Held, Segment, read_ahead_limit};
use super::super::ids::SegmentId;
use super::super::mechanics::{Movement, Sweep};
use super::super::media_op::MediaOp;
use super::super::model::Model;
use super::super::scheduler::Waiting;
use super::super::sector_range::SectorRange;
use super::LinkFront;
use super::head::{Activity, comes_first, still_runs};
use crate::Port;
use raidlab_io::{IoId, Part};
use raidlab_kernel::{Nanos, Time};

impl LinkFront {
    pub(super) fn read<P: Port>(
        &mut self,
        model: &Model,
        port: &mut P,
        io: IoId,
        range: SectorRange,
        ready: Time,
    ) {
        let SectorRange { lbn, end } = range;
        self.counts.reads += 1;
        self.fill(model, port.now());
        let cached = self
            .pending
            .cache
            .as_ref()
            .is_some_and(|cache| cache.covers(range));
        let held = self.buffer.held(range);
        if cached || matches!(held, Held::Whole(_)) {
            self.counts.read_hits += 1;
            if let Held::Whole(segment) = held {
                self.buffer.touch(segment, MediaOp::Read);
                self.read_on(model, port.now(), segment, end);
                self.restart_read_ahead(model, port.now(), segment, end);
            }
            port.done(io, ready, Nanos::ZERO);
        } else if let Some(at) = self.passes_soon(model, port.now(), range) {
            self.counts.read_hits += 1;
            let at = at.max(ready);
            let record = port.io(io);
            let lead = at.since(record.mark);
            record.charge(Part::Transfer, at);
            port.done(io, at, lead);
        } else if let Some((sweep, passed)) = self.continues(model, port.now(), range) {
            self.go_on(
                model,
                port,
                (io, ready),
                sweep,
                SectorRange::new(passed, end),
            );
        } else {
            // What is in the buffer already need not be read again.
            let lbn = match held {
                Held::UpTo(sector) => sector,
                _ => lbn,
            };
            let waiting = Waiting {
                io,
                lbn,
                place: model.geometry.place(lbn),
                sectors: (end - lbn) as u32,
                ready,
                ..Waiting::default()
            };
            self.enqueue(model, port, waiting);
        }
    }

    /// When the sectors will have been read ahead, if reading ahead reaches them.
    pub(super) fn passes_soon(
        &mut self,
        model: &Model,
        now: Time,
        SectorRange { lbn, end }: SectorRange,
    ) -> Option<Time> {
        let Activity::ReadAhead {
            sweep,
            segment,
            limit,
            promised,
        } = &mut self.head.activity
        else {
            return None;
        };
        let filled = self.buffer.segments[*segment];
        let follows = filled.start <= lbn && end <= *limit && self.pending.queue.is_empty();
        if !follows || !comes_first(model, *sweep, now, (filled.end, lbn)) {
            return None;
        }
        let at = { *sweep }.end_of(model, end - 1);
        // A command waits for the head from now on: it is no reading ahead of commands any more.
        self.head.busy += at.since(now.max(*promised));
        *promised = (*promised).max(at);
        let segment = *segment;
        self.buffer.touch(segment, MediaOp::Read);
        self.read_on(model, now, segment, end);
        Some(at)
    }

    /// The sweep that a read continues, and the sector where that is now: the read begins in what is
    /// read ahead and ends beyond it, and the head has not stopped yet.
    fn continues(
        &self,
        model: &Model,
        now: Time,
        SectorRange { lbn, end }: SectorRange,
    ) -> Option<(Sweep, u64)> {
        let Activity::ReadAhead {
            sweep,
            segment,
            limit,
            ..
        } = self.head.activity
        else {
            return None;
        };
        let filled = self.buffer.segments[segment];
        let follows =
            filled.start <= lbn && lbn <= limit && limit < end && self.pending.queue.is_empty();
        let runs = follows
            && still_runs(model, sweep, limit, now)
            && comes_first(model, sweep, now, (filled.end, lbn));
        runs.then_some((sweep, filled.end))
    }

    /// A read whose sectors, from the first of these on, the head passes next.
    #[inline]
    fn go_on<P: Port>(
        &mut self,
        model: &Model,
        port: &mut P,
        (io, ready): (IoId, Time),
        mut sweep: Sweep,
        SectorRange { lbn, end }: SectorRange,
    ) {
        let now = port.now();
        // Its sectors may have passed already: another command read them.
        let passed_all = sweep.end_of(model, end - 1).max(now);
        let done = passed_all.max(ready);
        self.head.held += done.since(passed_all);
        let record = port.io(io);
        record.charge(Part::Queue, now);
        record.charge(Part::Transfer, done);
        port.done(io, done, done.since(now.max(ready)));
        // Up to what has been promised to another command the arm is busy already.
        let from = match self.head.activity {
            Activity::ReadAhead { promised, .. } => now.max(promised),
            _ => now,
        };
        self.head.activity = Activity::Read { sweep, lbn, end };
        self.head.occupy(port, from, done);
    }

    /// A read up to before `end` was served from `segment`: reading ahead goes further.
    pub(super) fn read_on(&mut self, model: &Model, now: Time, hit: SegmentId, end: u64) {
        if let Activity::ReadAhead {
            sweep,
            segment,
            limit,
            ..
        } = &mut self.head.activity
        {
            if *segment == hit {
                let start = self.buffer.segments[hit].start;
                let further = read_ahead_limit(model, start, end).max(*limit);
                if further > *limit && still_runs(model, *sweep, *limit, now) {
                    *limit = further;
                }
            }
        }
    }

    /// A read up to before `end` was served from `hit`, and nothing needs the arm: the head fills
    /// what became free behind it. Without that a reader slower than the medium would wait for the
    /// platter at the end of each segment.
    fn restart_read_ahead(&mut self, model: &Model, now: Time, hit: SegmentId, end: u64) {
        let needed = match self.head.activity {
            Activity::ReadAhead { sweep, limit, .. } => still_runs(model, sweep, limit, now),
            Activity::Idle => !self.pending.queue.is_empty(),
            _ => true,
        };
        if needed || !model.buffer.read_ahead_on_idle_hit {
            return;
        }
        let Segment {
            start, end: from, ..
        } = self.buffer.segments[hit];
        let limit = read_ahead_limit(model, start, end);
        if limit <= from {
            return;
        }
        let start = self.interrupt(model, now);
        let movement = Movement {
            place: model.geometry.place(from),
            start,
            op: MediaOp::Read,
            shuffled_end: 0,
            least_seek: Nanos::ZERO,
            late: self.head.lateness_to(model, from, start),
        };
        let (sweep, access) = Sweep::new(model, self.head.arm, &movement);
        self.head.arrive(model, from, start + access.total());
        self.head.activity = Activity::ReadAhead {
            sweep,
            segment: hit,
            limit,
            promised: Time::ZERO,
        };
    }

    /// Brings the segment that is being filled up to date.
    pub(super) fn fill(&mut self, model: &Model, now: Time) {
        if let Activity::ReadAhead {
            sweep,
            segment,
            limit,
            ..
        } = &mut self.head.activity
        {
            let passed = sweep.passed_by(model, now, *limit);
            self.buffer.grow(*segment, passed);
        }
    }

    /// Ends reading ahead; gives the time when the arm is free.
    pub(super) fn interrupt(&mut self, model: &Model, now: Time) -> Time {
        let Activity::ReadAhead {
            mut sweep,
            segment,
            limit,
            promised,
        } = self.head.activity
        else {
            return self.head.free.max(now);
        };
        let now = now.max(promised);
        self.fill(model, now);
        let passed = sweep.passed_by(model, now, limit);
        let free = if passed == limit {
            now
        } else {
            let begin = sweep.begin_of(model, passed);
            if now < begin || model.buffer.stop_in_sector {
                // A moving arm arrives first; a head that waits for its sector stops at once.
                now.max(sweep.arrived())
            } else {
                let end = sweep.end_of(model, passed);
                self.buffer.grow(segment, passed + 1);
                end
            }
        };
        let at = self.buffer.segments[segment].end;
        self.head.stop(sweep.arm(), at);
        free
    }

    /// The data of a read are in the buffer; the head reads ahead until the arm is needed.
    #[inline]
    pub(super) fn has_read<P: Port>(
        &mut self,
        model: &Model,
        port: &mut P,
        sweep: Sweep,
        range: SectorRange,
    ) {
        let end = range.end;
        let before = self.buffer.ending_at(range.lbn);
        let (segment, start) = self.store(&sweep, before, range);
        if !self.pending.queue.is_empty() {
            self.follow(model, port, sweep, SectorRange::new(start, end));
            if before.is_some() && matches!(self.head.activity, Activity::Idle) {
                self.prefetch_for_stream(model, port, sweep, SectorRange::new(start, end));
            }
            return;
        }
        let limit = read_ahead_limit(model, start, end);
        if limit > end {
            self.head.activity = Activity::ReadAhead {
                sweep,
                segment,
                limit,
                promised: Time::ZERO,
            };
        }
    }

    /// A read continued a stream, and commands wait elsewhere: the head reads ahead before it
    /// leaves, so that the stream's next reads need no arm. That pays if it takes no longer than the
    /// positioning at the next command and back, and the head has not stayed for long.
    fn prefetch_for_stream<P: Port>(
        &mut self,
        model: &Model,
        port: &mut P,
        mut sweep: Sweep,
        SectorRange { lbn: start, end }: SectorRange,
    ) {
        let now = port.now();
        let limit = read_ahead_limit(model, start, end);
        if limit == end || now.since(self.head.stays) > model.longest_stay {
            return;
        }
        // They may have passed already, while the command waited for its link.
        let done = sweep.end_of(model, limit - 1).max(now);
        let next = self
            .pending
            .queue
            .next_cylinder(model, &self.head.arm, self.head.at, now);
        let pays = |cylinder| {
            let distance = self.head.arm.cylinder.distance(cylinder);
            done.since(now) <= model.there_and_back(distance)
        };
        if next.is_some_and(pays) {
            self.head.activity = Activity::Prefetch {
                sweep,
                lbn: end,
                end: limit,
            };
            self.head.occupy(port, now, done);
        }
    }

    /// Sectors that have been read go into the buffer, into the segment `before` them if there is
    /// one: their segment, and its first sector.
    #[inline]
    fn store(
        &mut self,
        sweep: &Sweep,
        before: Option<SegmentId>,
        range: SectorRange,
    ) -> (SegmentId, u64) {
        let segment = self.buffer.keep_in(before, range);
        self.head.stop(sweep.arm(), range.end);
        (segment, self.buffer.segments[segment].start)
    }

    /// The head has read ahead for a stream: it goes on if the stream has read on meanwhile.
    pub(super) fn has_prefetched<P: Port>(
        &mut self,
        model: &Model,
        port: &mut P,
        sweep: Sweep,
        range: SectorRange,
    ) {
        let end = range.end;
        let before = self.buffer.ending_at(range.lbn);
        let (_, start) = self.store(&sweep, before, range);
        if !self.pending.queue.is_empty() {
            self.follow(model, port, sweep, SectorRange::new(start, end));
        }
    }

    /// If the next command reads what the head is about to pass, the head goes on.
    #[inline]
    pub(super) fn follow<P: Port>(
        &mut self,
        model: &Model,
        port: &mut P,
        mut sweep: Sweep,
        range: SectorRange,
    ) {
        let end = range.end;
        let now = port.now();
        let Some(index) = self
            .pending
            .next_passing(model, (&self.head.arm, sweep), range, now)
        else {
            return;
        };
        if self.pending.is_run_overdue(model, now) {
            return;
        }
        // A head that goes on reaches the next track in time, thanks to the skew. After a new
        // command it may wait for a whole revolution.
        let wait = match end < model.sectors {
            true => sweep.begin_of(model, end).since(now),
            false => Nanos::ZERO,
        };
        if self
            .pending
            .is_another_next(model, &mut self.head, index, wait, now)
        {
            return;
        }
        let waiting = self.pending.queue.take(index);
        let last = waiting.place.lbn + u64::from(waiting.sectors);
        let command = (waiting.io, waiting.ready);
        self.go_on(
            model,
            port,
            command,
            sweep,
            SectorRange::new(end, last.max(end)),
        );
    }
}
