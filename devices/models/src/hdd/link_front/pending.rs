//! What waits for the arm of a drive behind a link, and which of it comes next.

use super::super::buffer::read_ahead_limit;
use super::super::ids::CacheSlot;
use super::super::mechanics::{Arm, Sweep};
use super::super::model::Model;
use super::super::scheduler::{Queue, Waiting};
use super::super::sector_range::SectorRange;
use super::super::write_cache::WriteCache;
use super::head::{Head, comes_first};
use raidlab_io::IoId;
use raidlab_kernel::{Nanos, Time};
use std::collections::VecDeque;

/// A gap in a stream is read ahead up to this multiple of what the segment holds of it: RAID 6
/// leaves out two units, which the first one read may precede.
const GAP: u64 = 2;

/// What the arm does next.
#[derive(Clone, Copy, Debug)]
pub(super) enum Next {
    /// The command at this index of the queue.
    Command(usize),
    /// The run in this slot of the write cache.
    Run(CacheSlot),
    /// The run in this slot, so that the write at this index of the queue gets its place.
    Room(CacheSlot, usize),
}

/// What was chosen while the arm still worked; it may be gone when the arm is free.
#[derive(Clone, Copy, Debug)]
enum Planned {
    /// By its number.
    Command(u64),
    /// By its slot and first sector.
    Run(CacheSlot, u64),
    /// By its slot and first sector, and the write's number.
    Room(CacheSlot, u64, u64),
}

/// Flushes that wait for the cache, and those that arrived later.
#[derive(Debug)]
pub(super) struct Flushes {
    waiting: VecDeque<IoId>,
    later: VecDeque<IoId>,
    /// When the oldest flush began to wait.
    since: Time,
}

impl Flushes {
    fn with_capacity(depth: usize) -> Flushes {
        Flushes {
            waiting: VecDeque::with_capacity(depth),
            later: VecDeque::with_capacity(depth),
            since: Time::ZERO,
        }
    }

    /// Whether one waits for the cache.
    #[inline]
    pub(super) fn wait(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether the oldest one has waited for longer than `limit`.
    #[inline]
    fn are_overdue(&self, limit: Nanos, now: Time) -> bool {
        self.wait() && now.since(self.since) > limit
    }

    /// One comes; true if the cache begins to be flushed for it.
    pub(super) fn add(&mut self, io: IoId, ready: Time) -> bool {
        let begins = !self.wait();
        if begins {
            self.waiting.push_back(io);
            self.since = ready;
        } else {
            self.later.push_back(io);
        }
        begins
    }

    /// The next one for which the cache has been flushed.
    pub(super) fn next(&mut self) -> Option<IoId> {
        self.waiting.pop_front()
    }

    /// Those that arrived later wait from now on; true if there are any.
    pub(super) fn turn(&mut self, now: Time) -> bool {
        if self.later.is_empty() {
            return false;
        }
        std::mem::swap(&mut self.waiting, &mut self.later);
        self.since = now;
        true
    }
}

/// Commands, runs of the write cache and flushes that wait.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) queue: Queue,
    pub(super) cache: Option<Box<WriteCache>>,
    pub(super) flushes: Flushes,
    /// What comes after what the arm does, if the drive plans ahead.
    plan: Option<Planned>,
}

impl Pending {
    /// Nothing waits.
    pub(super) fn new(model: &Model, depth: u32) -> Pending {
        let cache = match (&model.write_cache, &model.bins) {
            (Some(cache), Some(bins)) => Some(Box::new(WriteCache::new(cache, bins))),
            _ => None,
        };
        Pending {
            queue: Queue::new(depth, model.scheduler),
            cache,
            flushes: Flushes::with_capacity(depth as usize),
            plan: None,
        }
    }

    /// Whether the next work has been chosen.
    pub(super) fn has_plan(&self) -> bool {
        self.plan.is_some()
    }

    /// Takes a command out of the queue; a write that does so bypasses the cache.
    #[inline]
    pub(super) fn take(&mut self, index: usize) -> Waiting {
        let waiting = self.queue.take(index);
        if let (true, Some(cache)) = (waiting.deferred, &mut self.cache) {
            cache.bypass(u64::from(waiting.sectors));
        }
        waiting
    }

    /// Whether the cache is so full that it writes to the medium.
    #[inline]
    pub(super) fn needs_destage(&self) -> bool {
        self.cache
            .as_ref()
            .is_some_and(|cache| cache.needs_destage())
    }

    /// What the arm that stands after sector `at` and is free from `start` on does next.
    #[inline]
    pub(super) fn decide(
        &mut self,
        model: &Model,
        (arm, at): (&Arm, u64),
        start: Time,
        stays: &mut Time,
    ) -> Option<Next> {
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
                && let Some(index) = self.queue.passed_over(model, stays, at, start)
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
    pub(super) fn plan_next(
        &mut self,
        model: &Model,
        (arm, at): (&Arm, u64),
        done: Time,
        stays: &mut Time,
    ) {
        if self.plan.is_some() || (self.queue.is_empty() && !self.destages(model, done)) {
            return;
        }
        let next = self.decide(model, (arm, at), done, stays);
        let cache = self.cache.as_ref();
        self.plan = next.and_then(|next| match next {
            Next::Command(index) => Some(Planned::Command(self.queue.number(index))),
            Next::Run(slot) => cache.map(|cache| Planned::Run(slot, cache.first(slot))),
            Next::Room(slot, index) => {
                cache.map(|cache| Planned::Room(slot, cache.first(slot), self.queue.number(index)))
            }
        });
    }

    /// What was planned, if it still waits.
    pub(super) fn planned(&mut self) -> Option<Next> {
        match self.plan.take()? {
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
    pub(super) fn destages(&self, model: &Model, now: Time) -> bool {
        let overdue = self.is_run_overdue(model, now);
        self.cache.as_ref().is_some_and(|cache| {
            cache.needs_destage() || overdue || self.queue.defers() || self.flushes.wait()
        })
    }

    /// Runs of the cache are served before commands: too much has bypassed them, or a flush has
    /// waited for too long.
    #[inline]
    pub(super) fn is_run_overdue(&self, model: &Model, now: Time) -> bool {
        let late = self.flushes.are_overdue(model.age_limit, now);
        late || self.cache.as_ref().is_some_and(|cache| cache.is_overdue())
    }

    /// Whether another command goes before the one that continues where the head stands, which
    /// needs `wait` for that.
    #[inline]
    pub(super) fn is_another_next(
        &mut self,
        model: &Model,
        head: &mut Head,
        index: usize,
        wait: Nanos,
        now: Time,
    ) -> bool {
        let due = match self.queue.late(model, now) {
            None => self.queue.passed_over(model, &mut head.stays, head.at, now),
            late => late,
        };
        if let Some(due) = due {
            return due != index;
        }
        // A head that only has to cross to the next track goes on.
        if self.queue.len() == 1 || wait < head.arm.rotation.quarter() {
            return false;
        }
        let keeps_order = !model.scheduler.is_by_access();
        let next = self.queue.choose_joined(model, &head.arm, head.at, now);
        next.is_none_or(|(best, time)| {
            best != index && (keeps_order || time < self.queue.aged(index, wait, now))
        })
    }

    /// The command that begins where the head stands, or in the segment `range` that
    /// ends there; else the next one behind a gap that is read ahead: parity, or what another
    /// drive's copy serves. A policy of another order than that by position keeps it.
    #[inline]
    pub(super) fn next_passing(
        &self,
        model: &Model,
        (arm, sweep): (&Arm, Sweep),
        SectorRange { lbn: start, end }: SectorRange,
        now: Time,
    ) -> Option<usize> {
        let reach = end + GAP * (end - start);
        let found = self.queue.follower(start, reach)?;
        if self.queue.place(found).lbn <= end {
            return Some(found);
        }
        let follower = self.queue.follower(start, end);
        follower.or_else(|| self.next_ahead(model, (arm, sweep), now, (start, end, reach)))
    }

    /// The command that begins first behind a gap from `end` on.
    #[cold]
    fn next_ahead(
        &self,
        model: &Model,
        (arm, sweep): (&Arm, Sweep),
        now: Time,
        (start, end, reach): (u64, u64, u64),
    ) -> Option<usize> {
        // A head that has read ahead up to the limit stands before what begins there.
        let last = read_ahead_limit(model, start, end).min(reach);
        let index = self.queue.read_within(end, last + 1)?;
        if !comes_first(model, sweep, now, (end, self.queue.place(index).lbn)) {
            return None;
        }
        let next = || self.queue.choose_joined(model, arm, end, now);
        (model.scheduler.is_by_access() || next().is_some_and(|(next, _)| next == index))
            .then_some(index)
    }
}
