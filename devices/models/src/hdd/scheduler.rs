//! The commands that wait at the drive, and which of them goes next.
//!
//! The cylinder, head and angle of a command are computed once, when it arrives. A choice then
//! costs one positioning estimate for each command. Shortest access time first does not starve a
//! command: `ageing` times its age is subtracted from its access time. The present time is the same
//! for all commands, so it is enough to add `ageing` times the arrival time.
//!
//! Commands that lie one behind the other are joined: of such a chain only the first can be chosen,
//! since the head that begins in its middle has to come back for what it left out.
//!
//! A stream always has a command nearer to the head than others, so age alone would let those wait
//! for seconds. The head therefore stays in one place for the time in which a segment of the buffer
//! passes while an older command waits; and nothing waits beyond the age limit.

use super::geometry::{Place, Target};
use super::ids::CylinderId;
use super::mechanics::Arm;
use super::media_op::MediaOp;
use super::model::Model;
use super::params::SchedulerParams;
use super::positioning::Estimate;
use super::search::position;
use raidlab_io::IoId;
use raidlab_kernel::{Nanos, Time, prefetch_all};

/// What a choice by position reads of a command.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    target: Target,
    op: MediaOp,
    handicap: u64,
}

/// A command that waits for the arm.
#[derive(Clone, Copy, Debug, Default)]
pub struct Waiting {
    /// Its record.
    pub io: IoId,
    /// Its first logical sector.
    pub lbn: u64,
    /// Where that lies.
    pub place: Place,
    /// Sectors.
    pub sectors: u32,
    /// Read from or written to the medium.
    pub op: MediaOp,
    /// The firmware is done with it.
    pub ready: Time,
    /// A write that goes into the cache as soon as there is room, unless it is served first.
    pub deferred: bool,
    /// Commands that came before it; the queue counts.
    pub number: u64,
}

/// Set in the first sector of a write, so that it is none of a read.
const WRITE: u64 = 1 << 63;

/// The commands that wait for the arm. The fields that a search compares stand in arrays of their
/// own, so that it reads little memory.
#[derive(Debug)]
pub struct Queue {
    candidates: Vec<Candidate>,
    /// First sectors, those of writes with [`WRITE`].
    firsts: Vec<u64>,
    /// One beyond the last sectors, in the same form.
    ends: Vec<u64>,
    waiting: Vec<Waiting>,
    arrivals: u64,
    deferred: usize,
    /// The write that gets the next room in the cache, if one was chosen: no longer to be chosen.
    promised: Option<Waiting>,
    /// No command became ready before this time: looked up only when the oldest might be due.
    oldest: Time,
    /// Ageing, times 2^16.
    ageing: u64,
}

impl Queue {
    /// Bytes of the tables of a queue with room for `depth` commands.
    pub fn table_bytes(depth: u32) -> u64 {
        let each = size_of::<Candidate>() + 2 * size_of::<u64>() + size_of::<Waiting>();
        u64::from(depth) * each as u64
    }

    /// An empty queue with room for `depth` commands.
    pub fn new(depth: u32, scheduler: SchedulerParams) -> Queue {
        let ageing = match scheduler {
            SchedulerParams::ShortestAccess { ageing } => ageing,
            _ => 0.0,
        };
        Queue {
            candidates: Vec::with_capacity(depth as usize),
            firsts: Vec::with_capacity(depth as usize),
            ends: Vec::with_capacity(depth as usize),
            waiting: Vec::with_capacity(depth as usize),
            arrivals: 0,
            deferred: 0,
            promised: None,
            oldest: Time::ZERO,
            ageing: (ageing * 65_536.0).round() as u64,
        }
    }

    /// Prefetches what a search compares.
    #[inline]
    pub fn prefetch(&self) {
        prefetch_all(&self.candidates);
        prefetch_all(&self.firsts);
        prefetch_all(&self.ends);
    }

    /// True if no command waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Commands that wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// `ageing` times a time: the handicap of a command that arrives then.
    #[inline]
    fn handicap(&self, at: Time) -> u64 {
        ((u128::from(at.0) * u128::from(self.ageing)) >> 16) as u64
    }

    /// A command joins.
    #[inline]
    pub fn push(&mut self, waiting: Waiting) {
        if self.waiting.is_empty() {
            self.oldest = waiting.ready;
        }
        self.candidates.push(Candidate {
            target: waiting.place.target(),
            op: waiting.op,
            handicap: self.handicap(waiting.ready),
        });
        let kind = match waiting.op {
            MediaOp::Read => 0,
            MediaOp::Write => WRITE,
        };
        self.firsts.push(waiting.lbn | kind);
        self.ends
            .push((waiting.lbn + u64::from(waiting.sectors)) | kind);
        self.deferred += usize::from(waiting.deferred);
        self.waiting.push(Waiting {
            number: self.arrivals,
            ..waiting
        });
        self.arrivals += 1;
    }

    /// True if a write waits for room in the cache.
    #[inline]
    pub fn defers(&self) -> bool {
        self.deferred > 0
    }

    /// A write that waits gets the next room in the cache, unless that is another's already.
    pub fn promise(&mut self, index: usize) {
        if self.promised.is_none() {
            self.promised = Some(self.take(index));
            self.deferred += 1;
        }
    }

    /// Removes the write that gets the next room in the cache, the promised one or the oldest, if
    /// its sectors fit.
    pub fn admit(&mut self, fits: impl Fn(u64) -> bool) -> Option<Waiting> {
        if !self.defers() {
            return None;
        }
        if let Some(promised) = &self.promised {
            if !fits(u64::from(promised.sectors)) {
                return None;
            }
            self.deferred -= 1;
            return self.promised.take();
        }
        let waiting = self.waiting.iter().enumerate();
        let deferred = waiting.filter(|(_, waiting)| waiting.deferred);
        let (index, oldest) = deferred.min_by_key(|(_, waiting)| waiting.number)?;
        fits(u64::from(oldest.sectors)).then(|| self.take(index))
    }

    /// The command to serve next by an arm that stands after sector `at` and is free from
    /// `now` on. The second value is its access time less its bonus for age: comparable with the
    /// access time of a command that arrives now.
    #[inline]
    pub fn choose(&self, model: &Model, arm: &Arm, at: u64, now: Time) -> Option<(usize, i64)> {
        if self.waiting.is_empty() {
            return None;
        }
        match model.scheduler {
            SchedulerParams::ShortestAccess { .. } => {
                Some(self.shortest(model, arm, now, |_| true))
            }
            SchedulerParams::FirstCome => self.least(model, arm, now, |waiting| waiting.number),
            SchedulerParams::CLook => self.least(model, arm, now, |waiting| {
                // Sectors below the arm wrap to large keys: they come last.
                waiting.place.lbn.wrapping_sub(at)
            }),
        }
    }

    /// As `choose`, where commands that lie one behind the other are joined: by access time only the
    /// first of such a chain is chosen. Another order than by position keeps its own.
    #[inline]
    pub fn choose_joined(
        &self,
        model: &Model,
        arm: &Arm,
        at: u64,
        now: Time,
    ) -> Option<(usize, i64)> {
        let chosen = self.choose(model, arm, at, now)?;
        if !model.scheduler.is_by_access() || !self.continues(chosen.0) {
            return Some(chosen);
        }
        Some(self.shortest(model, arm, now, |index| !self.continues(index)))
    }

    /// True if a command begins where another one of its kind ends.
    #[inline]
    fn continues(&self, index: usize) -> bool {
        let first = self.firsts[index];
        position(&self.ends, |end| end == first).is_some()
    }

    /// The oldest command, if it has waited for too long: it goes next whatever the order says.
    #[inline]
    pub fn late(&mut self, model: &Model, now: Time) -> Option<usize> {
        if now.since(self.oldest) <= model.age_limit {
            return None;
        }
        let index = self.find_oldest()?;
        (now.since(self.oldest) > model.age_limit).then_some(index)
    }

    /// The oldest command, if a head that stands after sector `at` and would stay there has been in
    /// that place since `stays`, for too long, while the command waited elsewhere. A head that nobody
    /// waits for may stay anew.
    #[inline]
    pub fn passed_over(
        &mut self,
        model: &Model,
        stays: &mut Time,
        at: u64,
        now: Time,
    ) -> Option<usize> {
        if now.since(*stays) <= model.longest_stay {
            return None;
        }
        let found = match self.oldest < *stays {
            true => self.find_passed_over(model, *stays, at),
            false => None,
        };
        if found.is_none() {
            *stays = now;
        }
        found
    }

    /// The oldest of the commands that need the head: writes that wait for room in the cache get it
    /// from what is destaged.
    #[cold]
    fn find_passed_over(&mut self, model: &Model, stays: Time, at: u64) -> Option<usize> {
        self.find_oldest()?;
        let waiting = self.waiting.iter().enumerate();
        let (index, oldest) = waiting
            .filter(|(_, waiting)| !waiting.deferred)
            .min_by_key(|(_, waiting)| waiting.number)?;
        // The head comes to what lies just ahead of it.
        let ahead = oldest.place.lbn.wrapping_sub(at) < model.neighbourhood;
        (!ahead && oldest.ready < stays).then_some(index)
    }

    /// The cylinder of the command that goes next.
    pub fn next_cylinder(
        &self,
        model: &Model,
        arm: &Arm,
        at: u64,
        now: Time,
    ) -> Option<CylinderId> {
        let (index, _) = self.choose_joined(model, arm, at, now)?;
        Some(self.candidates[index].target.cylinder)
    }

    /// Looks up the oldest command, and since when it waits.
    #[cold]
    fn find_oldest(&mut self) -> Option<usize> {
        let waiting = self.waiting.iter().enumerate();
        let (index, oldest) = waiting.min_by_key(|(_, waiting)| waiting.number)?;
        self.oldest = oldest.ready;
        Some(index)
    }

    #[inline]
    fn shortest(
        &self,
        model: &Model,
        arm: &Arm,
        now: Time,
        may_be_next: impl Fn(usize) -> bool,
    ) -> (usize, i64) {
        let estimate = Estimate::new(model, arm, now);
        let (mut best, mut least) = (0, u64::MAX);
        for (index, candidate) in self.candidates.iter().enumerate() {
            let access = estimate.access(candidate.target, candidate.op);
            let score = access.0 + candidate.handicap;
            if score < least && may_be_next(index) {
                (best, least) = (index, score);
            }
        }
        (best, least as i64 - self.handicap(now) as i64)
    }

    /// An access time of a command less its bonus for age, as in `choose`.
    pub fn aged(&self, index: usize, access: Nanos, now: Time) -> i64 {
        let handicap = self.candidates[index].handicap as i64 - self.handicap(now) as i64;
        access.0 as i64 + handicap
    }

    fn least(
        &self,
        model: &Model,
        arm: &Arm,
        now: Time,
        key: impl Fn(&Waiting) -> u64,
    ) -> Option<(usize, i64)> {
        let (best, _) = self
            .waiting
            .iter()
            .enumerate()
            .min_by_key(|(_, waiting)| key(waiting))?;
        let candidate = &self.candidates[best];
        let access = Estimate::new(model, arm, now).access(candidate.target, candidate.op);
        Some((best, access.0 as i64))
    }

    /// A read that begins in or right after the sectors from `start` to before `end`.
    #[inline]
    pub fn follower(&self, start: u64, end: u64) -> Option<usize> {
        let sectors = end.checked_sub(start)?;
        position(&self.firsts, |lbn| lbn.wrapping_sub(start) <= sectors)
    }

    /// The read that begins first from `start` on and before `end`.
    #[inline]
    pub fn read_within(&self, start: u64, end: u64) -> Option<usize> {
        let sectors = end.saturating_sub(start);
        let distances = self.firsts.iter().map(|lbn| lbn.wrapping_sub(start));
        let least = distances.min().filter(|least| *least < sectors)?;
        position(&self.firsts, |lbn| lbn.wrapping_sub(start) == least)
    }

    /// A write that begins at a sector.
    #[inline]
    pub fn write_at(&self, lbn: u64) -> Option<usize> {
        position(&self.firsts, |first| first == lbn | WRITE)
    }

    /// First sector of a command.
    pub fn place(&self, index: usize) -> &Place {
        &self.waiting[index].place
    }

    /// True if it is a write that waits for room in the cache.
    pub fn is_deferred(&self, index: usize) -> bool {
        self.waiting[index].deferred
    }

    /// Its number.
    pub fn number(&self, index: usize) -> u64 {
        self.waiting[index].number
    }

    /// The command with a number, if it still waits.
    pub fn numbered(&self, number: u64) -> Option<usize> {
        let mut waiting = self.waiting.iter();
        waiting.position(|waiting| waiting.number == number)
    }

    /// Removes a command.
    #[inline]
    pub fn take(&mut self, index: usize) -> Waiting {
        self.candidates.swap_remove(index);
        self.firsts.swap_remove(index);
        self.ends.swap_remove(index);
        let waiting = self.waiting.swap_remove(index);
        self.deferred -= usize::from(waiting.deferred);
        waiting
    }
}
