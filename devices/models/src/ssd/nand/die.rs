//! A die: its queue of jobs, its register, and the times of a read.

use crate::ssd::ids::{ChannelId, DieId, SetId, SetInBlock};
use crate::ssd::nand::job::Job;
use raidlab_kernel::Divider;
use raidlab_kernel::{Nanos, Time};
use std::collections::VecDeque;

/// What an operation takes, by page type.
#[derive(Debug)]
pub(super) struct PageTimes {
    times: Vec<Nanos>,
    types: Divider,
}

impl PageTimes {
    pub(super) fn new(times: Vec<Nanos>) -> PageTimes {
        PageTimes {
            types: Divider::new(times.len() as u32),
            times,
        }
    }

    /// Over the page types.
    pub(super) fn mean(&self) -> Nanos {
        let sum = self.times.iter().fold(Nanos::ZERO, |sum, &time| sum + time);
        Nanos(sum.0 / self.times.len() as u64)
    }

    /// The page types of a block follow each other, again and again.
    #[inline]
    pub(super) fn of(&self, set: SetInBlock) -> Nanos {
        self.times[self.types.split(set.number()).1 as usize]
    }
}

/// Where reads bring their pages: of a die, or of each plane that reads by itself.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Register {
    /// When the host reads so far are done.
    pub(super) reads_free: Time,
    /// When the register is empty again.
    pub(super) emptied: Time,
    /// The page set of the drive that is in it, if any, and since when.
    pub(super) holds: Option<SetId>,
    pub(super) since: Time,
}

impl Register {
    /// Both, for a read that needs pages in both.
    fn and(self, other: &Register) -> Register {
        Register {
            reads_free: self.reads_free.max(other.reads_free),
            emptied: self.emptied.max(other.emptied),
            holds: self.holds.filter(|_| self.holds == other.holds),
            since: self.since.max(other.since),
        }
    }
}

/// A die: what it does and what waits for it.
#[derive(Debug)]
pub(super) struct Die {
    /// The bus on which it is.
    pub(super) channel: ChannelId,
    /// Of all planes, or of the first of those that read by themselves; then of the others.
    register: Register,
    others: Vec<Register>,
    /// When the host reads so far are done, on all planes.
    pub(super) reads_free: Time,
    /// When the job in progress lets those reads begin.
    pub(super) yields: Time,
    /// When a suspended job went on, or will.
    pub(super) resumed: Option<Time>,
    /// When the next job's data are in the second register.
    pub(super) loaded: Option<Time>,
    /// The job in progress: from `job_start` to `job_end`.
    pub(super) job: Option<Job>,
    pub(super) job_start: Time,
    pub(super) job_end: Time,
    /// Reads that overtook or suspended the current or next job.
    pub(super) overtaken: u32,
    /// Page sets in the SLC cache, and when it was last seen how many of them are left.
    pub(super) in_slc: u32,
    pub(super) folded_at: Time,
    pub(super) queue: VecDeque<Job>,
    /// True while an event of this die is in the calendar.
    pub(super) awake: bool,
    pub(super) busy: Nanos,
}

impl Die {
    /// An idle die with memory for `job_capacity` jobs; `read_planes` planes read by themselves.
    pub(super) fn new(channel: ChannelId, job_capacity: usize, read_planes: u32) -> Die {
        Die {
            channel,
            register: Register::default(),
            others: vec![Register::default(); read_planes as usize - 1],
            reads_free: Time::ZERO,
            yields: Time::ZERO,
            resumed: None,
            loaded: None,
            job: None,
            job_start: Time::ZERO,
            job_end: Time::ZERO,
            overtaken: 0,
            in_slc: 0,
            folded_at: Time::ZERO,
            queue: VecDeque::with_capacity(job_capacity),
            awake: false,
            busy: Nanos::ZERO,
        }
    }

    /// What a read from the first to the last plane finds.
    #[inline(always)]
    pub(super) fn registers(&self, planes: Planes) -> Register {
        match planes {
            Planes::FIRST => self.register,
            planes => self.other_registers(planes),
        }
    }

    #[cold]
    fn other_registers(&self, planes: Planes) -> Register {
        let (first, last) = planes.range();
        let from = match first {
            0 => self.register,
            _ => self.others[first - 1],
        };
        self.others[first..last].iter().fold(from, Register::and)
    }

    /// Changes those registers.
    #[inline(always)]
    pub(super) fn on_registers(&mut self, planes: Planes, change: impl Fn(&mut Register)) {
        match planes {
            Planes::FIRST => change(&mut self.register),
            planes => self.on_others(planes, change),
        }
    }

    #[cold]
    fn on_others(&mut self, planes: Planes, change: impl Fn(&mut Register)) {
        let (first, last) = planes.range();
        if first == 0 {
            change(&mut self.register);
        }
        let others = &mut self.others[first.max(1) - 1..last];
        others.iter_mut().for_each(change);
    }

    /// Array time up to `now`; jobs and reads ahead of it are taken off.
    pub(super) fn busy_until(&self, now: Time) -> Nanos {
        let ahead = self.job_end.since(now).0 + self.reads_free.since(now).0;
        self.busy.saturating_sub(Nanos(ahead))
    }

    /// The job in progress at `at`.
    #[inline]
    pub(super) fn job_at(&self, at: Time) -> Option<Job> {
        self.job
            .filter(|_| self.job_start <= at && at < self.job_end)
    }
}

/// The pages that a host read needs of a die.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pages {
    pub(crate) die: DieId,
    pub(crate) set: SetInBlock,
    /// The page set; none for a read that never shares a sense.
    pub(crate) whole_set: Option<SetId>,
    pub(crate) planes: Planes,
}

/// The first and the last plane of a read, where planes read by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Planes(u32);

impl Planes {
    /// Only the first, or all where they are read together.
    pub(crate) const FIRST: Planes = Planes(0);

    pub(crate) fn new(first: u32, last: u32) -> Planes {
        Planes(first | last << 16)
    }

    fn range(self) -> (usize, usize) {
        ((self.0 & 0xffff) as usize, (self.0 >> 16) as usize)
    }
}

/// A host read from step to step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadTimes {
    /// The reads before it are done.
    pub(crate) reads_before: Time,
    /// The job in progress is done, or suspended.
    pub(crate) start: Time,
    /// True if that job was garbage collection's.
    pub(crate) behind_collection: bool,
    /// The page is in the register.
    pub(crate) sensed: Time,
    /// The transfer has the channel.
    pub(crate) transfer_start: Time,
    /// The data are in the controller.
    pub(crate) end: Time,
}

impl ReadTimes {
    /// Of a page that is in the register from `sensed` on.
    pub(super) fn sensed_before(at: Time, sensed: Time) -> ReadTimes {
        ReadTimes {
            reads_before: at,
            start: at,
            behind_collection: false,
            sensed,
            transfer_start: sensed,
            end: sensed,
        }
    }
}
