//! Writes behind a link: into the cache, and from there to the medium.

use super::super::ids::CacheSlot;
use super::super::mechanics::{Movement, Sweep};
use super::super::media_op::MediaOp;
use super::super::model::Model;
use super::super::params::SECTOR_BYTES;
use super::super::scheduler::Waiting;
use super::super::sector_range::SectorRange;
use super::head::Activity;
use super::{LinkFront, Timer};
use crate::Port;
use raidlab_io::{ByteRange, IoId, Part};
use raidlab_kernel::{Nanos, Time};

impl LinkFront {
    pub(super) fn write<P: Port>(
        &mut self,
        model: &Model,
        port: &mut P,
        io: IoId,
        range: SectorRange,
        ready: Time,
    ) {
        self.counts.writes += 1;
        self.stop_overwritten(model, port.now(), range);
        self.buffer.forget(range, None);
        let sectors = range.sectors();
        let mut deferred = false;
        if let Some(cache) = &mut self.pending.cache {
            deferred = cache.can_fit(sectors);
            if deferred && !self.pending.queue.defers() && cache.has_room(sectors) {
                cache.insert(model, range);
                self.counts.cached_writes += 1;
                if !model.keeps_writes() {
                    port.holds(io);
                }
                port.done(io, ready, Nanos::ZERO);
                return self.after_caching(model, port);
            }
        }
        let waiting = Waiting {
            io,
            lbn: range.lbn,
            place: model.geometry.place(range.lbn),
            sectors: sectors as u32,
            op: MediaOp::Write,
            ready,
            deferred,
            ..Waiting::default()
        };
        self.enqueue(model, port, waiting);
    }

    /// A write stops reading ahead of the sectors that it overwrites.
    pub(super) fn stop_overwritten(
        &mut self,
        model: &Model,
        now: Time,
        SectorRange { lbn, end }: SectorRange,
    ) {
        if let Activity::Prefetch {
            lbn: from, end: to, ..
        } = &mut self.head.activity
        {
            if *from < end && lbn < *to {
                // What it brings is not kept.
                *from = *to;
            }
        }
        if let Activity::ReadAhead { segment, limit, .. } = self.head.activity {
            let start = self.buffer.segments[segment].start;
            if start < end && lbn < limit {
                let free = self.interrupt(model, now);
                self.head.free = self.head.free.max(free);
            }
        }
    }

    pub(super) fn after_caching<P: Port>(&mut self, model: &Model, port: &mut P) {
        if self.pending.needs_destage() && self.head.is_free() {
            self.dispatch(model, port);
        } else {
            self.set_idle_timer(port);
        }
    }

    pub(super) fn flush<P: Port>(&mut self, model: &Model, port: &mut P, io: IoId, ready: Time) {
        let Some(cache) = &mut self.pending.cache else {
            return port.done(io, ready, Nanos::ZERO);
        };
        if cache.is_clean() || model.keeps_writes() {
            return port.done(io, ready, Nanos::ZERO);
        }
        if self.pending.flushes.add(io, ready) {
            cache.flush();
        }
        if self.head.is_free() {
            self.dispatch(model, port);
        }
    }

    /// If a write begins where the head has just written, the head goes on, as it does for reads.
    #[inline]
    pub(super) fn follow_write<P: Port>(&mut self, model: &Model, port: &mut P) {
        let Some(index) = self.pending.queue.write_at(self.head.at) else {
            return;
        };
        let now = port.now();
        if self.pending.needs_destage() || self.pending.is_run_overdue(model, now) {
            return;
        }
        let place = self.pending.queue.place(index);
        let wait = self
            .head
            .arm
            .access(model, place, now, MediaOp::Write)
            .total();
        if self
            .pending
            .is_another_next(model, &mut self.head, index, wait, now)
        {
            return;
        }
        let waiting = self.pending.take(index);
        self.serve(model, port, &waiting, now);
    }

    /// Destages a run of the cache.
    pub(super) fn destage<P: Port>(
        &mut self,
        model: &Model,
        port: &mut P,
        slot: CacheSlot,
        start: Time,
    ) {
        let Some(cache) = &mut self.pending.cache else {
            return;
        };
        let (lbn, end) = cache.start(slot);
        let movement = Movement {
            place: model.geometry.place(lbn),
            start,
            op: MediaOp::Write,
            shuffled_end: if model.buffer.write_on_arrival {
                end
            } else {
                0
            },
            least_seek: Nanos::ZERO,
            late: self.head.lateness_to(model, lbn, start),
        };
        let (mut sweep, access) = Sweep::new(model, self.head.arm, &movement);
        let begin = start + access.total();
        let first = self
            .head
            .reads_first(model, &mut sweep, SectorRange { lbn, end }, begin);
        let done = sweep.end_of(model, end - 1);
        self.head.arrive(model, lbn, begin + first);
        self.counts.seek += access.seek;
        self.counts.rotation += access.rotation + first;
        self.counts.accesses += 1;
        self.counts.destaged += 1;
        let arm = sweep.arm();
        if model.plans_ahead {
            let stays = &mut self.head.stays;
            self.pending.plan_next(model, (&arm, end), done, stays);
        }
        port.settles(
            ByteRange::between(lbn * SECTOR_BYTES, end * SECTOR_BYTES),
            done,
        );
        self.head.activity = Activity::Destage { arm, end };
        self.head.occupy(port, start, done);
    }

    /// A run of the cache is on the medium: there is room for a write that waits.
    pub(super) fn has_destaged<P: Port>(&mut self, model: &Model, port: &mut P) {
        if let Some(cache) = &mut self.pending.cache {
            cache.finish();
        }
        self.has_room(model, port);
        let asked = !self.pending.queue.is_empty() || self.pending.flushes.wait();
        if !asked && !self.pending.has_plan() {
            self.go_on_destaging(model, port);
        }
    }

    /// The head goes on with the run that begins where it stands, even if the cache is no longer as
    /// full as when it began: who stops comes back a revolution later. The last run of a stream stays
    /// until it is whole.
    fn go_on_destaging<P: Port>(&mut self, model: &Model, port: &mut P) {
        let cache = self
            .pending
            .cache
            .as_ref()
            .filter(|cache| !cache.is_first_come());
        let next = cache.and_then(|cache| {
            let slot = cache.beginning_at(self.head.at)?;
            cache.beginning_at(cache.end(slot)).map(|_| slot)
        });
        if let Some(slot) = next {
            self.destage(model, port, slot, port.now());
        }
    }

    /// The power fails: the content of the cache is lost, unless it is persistent.
    pub fn power_cut<P: Port>(&mut self, model: &Model, port: &mut P) {
        if model.keeps_writes() {
            return;
        }
        if let Some(cache) = &mut self.pending.cache {
            cache.clear();
        }
        self.has_room(model, port);
    }

    /// The cache has more room than before: writes and flushes that wait for it continue.
    fn has_room<P: Port>(&mut self, model: &Model, port: &mut P) {
        let now = port.now();
        let Some(cache) = &mut self.pending.cache else {
            return;
        };
        while let Some(waiting) = self.pending.queue.admit(|sectors| cache.has_room(sectors)) {
            let lbn = waiting.place.lbn;
            cache.insert(model, SectorRange::long(lbn, u64::from(waiting.sectors)));
            self.counts.cached_writes += 1;
            let record = port.io(waiting.io);
            let at = now.max(record.mark);
            record.charge(Part::CacheWait, at);
            if !model.keeps_writes() {
                port.holds(waiting.io);
            }
            port.done(waiting.io, at, Nanos::ZERO);
        }
        while cache.flushed() && self.pending.flushes.wait() {
            while let Some(io) = self.pending.flushes.next() {
                let record = port.io(io);
                let at = now.max(record.mark);
                record.charge(Part::CacheWait, at);
                port.done(io, at, Nanos::ZERO);
            }
            if self.pending.flushes.turn(now) {
                cache.flush();
            }
        }
    }

    pub(super) fn set_idle_timer<P: Port>(&mut self, port: &mut P) {
        let dirty = self
            .pending
            .cache
            .as_ref()
            .is_some_and(|cache| cache.waiting() > 0);
        if dirty && !self.idle_timer {
            self.idle_timer = true;
            let at = (self.quiet_since + self.idle_delay).max(port.now());
            port.wake(at, Timer::Idle as u32);
        }
    }

    /// Destages the cache if no command has come for a while.
    pub(super) fn idle<P: Port>(&mut self, model: &Model, port: &mut P) {
        self.idle_timer = false;
        if !self.head.is_free() {
            return;
        }
        let now = port.now();
        if now < self.quiet_since + self.idle_delay {
            return self.set_idle_timer(port);
        }
        let start = self.interrupt(model, now);
        let run = match &self.pending.cache {
            Some(cache) => cache.choose(model, &self.head.arm, self.head.at, start, u64::MAX),
            None => None,
        };
        if let Some((slot, _)) = run {
            self.destage(model, port, slot, start);
        }
    }
}
