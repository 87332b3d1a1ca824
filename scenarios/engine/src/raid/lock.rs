//! Locks on stripes: who changes data and parity together has the stripe for itself.

use super::jobs::{NO_JOB, Phase, Waiters};
use crate::system::System;
use raidlab_kernel::{Part, Time};

impl System {
    /// What a job locks, if anything.
    pub(crate) fn lock_key(&self, index: u32) -> Option<u64> {
        let job = &self.raid.jobs[index];
        if job.work.is_of_lines() {
            return None;
        }
        let geometry = &self.raid.volumes[job.array as usize].as_ref()?.geometry;
        if geometry.parities() == 0 && geometry.copies() == 1 {
            // One drive holds the data: its own order decides.
            return None;
        }
        let column = job.extents.first().map_or(0, |extent| extent.column);
        let volume = self.raid.volumes[job.array as usize].as_ref()?;
        Some(volume.lock_key(job.array, job.stripe, column))
    }

    /// Takes the lock of a job's stripe; false if it must wait for it.
    pub(crate) fn lock(&mut self, index: u32) -> bool {
        let Some(key) = self.lock_key(index) else {
            return true;
        };
        let Some(holder) = self.raid.locks.get(key) else {
            self.raid.locks.insert(key, index);
            return true;
        };
        let last = match self.raid.jobs[holder].lock.last {
            NO_JOB => holder,
            last => last,
        };
        self.raid.jobs[last].lock.next = index;
        self.raid.jobs[holder].lock.last = index;
        false
    }

    /// Gives a job's lock to the next one that waits for it, and lets that one go on.
    pub(crate) fn unlock(&mut self, index: u32, now: Time) {
        self.agenda.must_be_open();
        let Some(key) = self.lock_key(index) else {
            return;
        };
        debug_assert_eq!(self.raid.locks.get(key), Some(index));
        let Waiters { next, last } = self.raid.jobs[index].lock;
        if next == NO_JOB {
            self.raid.locks.remove(key);
            return;
        }
        self.raid.locks.insert(key, next);
        let job = &mut self.raid.jobs[next];
        job.lock.last = if last == next { NO_JOB } else { last };
        debug_assert_eq!(job.phase, Phase::Plan);
        let head = job.run.head;
        let io = self.raid.jobs[head].io;
        self.ios[io].charge(Part::Raid, now);
        self.locked(next, now);
    }
}
