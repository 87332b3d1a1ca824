//! A die: its queue of jobs, its register, and the times of a read.

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

    /// The page types of a block follow each other, again and again.
    #[inline]
    pub(super) fn of(&self, set: u32) -> Nanos {
        self.times[self.types.split(set).1 as usize]
    }
}

/// A die: what it does, what waits for it, what its register has.
#[derive(Debug)]
pub(super) struct Die {
    /// The bus on which it is.
    pub(super) channel: u32,
    /// When the host reads so far are done.
    pub(super) reads_free: Time,
    /// When the register is empty again.
    pub(super) register_free: Time,
    /// The page set of the drive that is in the register, if any, and since when.
    pub(super) in_register: Option<u32>,
    pub(super) in_register_since: Time,
    /// When the next job's data are in the second register.
    pub(super) loaded: Option<Time>,
    /// The job in progress: from `job_start` to `job_end`.
    pub(super) job: Option<Job>,
    pub(super) job_start: Time,
    pub(super) job_end: Time,
    /// Reads that overtook or suspended the current or next job.
    pub(super) overtaken: u32,
    pub(super) queue: VecDeque<Job>,
    /// True while an event of this die is in the calendar.
    pub(super) awake: bool,
    pub(super) busy: Nanos,
}

impl Die {
    /// An idle die with memory for so many jobs.
    pub(super) fn new(channel: u32, job_capacity: usize) -> Die {
        Die {
            channel,
            reads_free: Time::ZERO,
            register_free: Time::ZERO,
            in_register: None,
            in_register_since: Time::ZERO,
            loaded: None,
            job: None,
            job_start: Time::ZERO,
            job_end: Time::ZERO,
            overtaken: 0,
            queue: VecDeque::with_capacity(job_capacity),
            awake: false,
            busy: Nanos::ZERO,
        }
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
