//! Locks on stripes: who changes data and parity together has the stripe for itself.

use crate::path::Path;
use crate::raid::jobs::Stripes;
use crate::raid::jobs::table::{Job, NO_JOB, Phase, Waiters};
use crate::raid::volume::Volumes;
use raidlab_kernel::{Part, Time};

impl Stripes {
    /// Takes the lock of a job's stripe; false if it must wait for it.
    pub(crate) fn lock(&mut self, index: u32) -> bool {
        let Some(key) = lock_key(&self.jobs[index], &self.volumes) else {
            return true;
        };
        let Some(holder) = self.locks.get(key) else {
            self.locks.insert(key, index);
            return true;
        };
        let last = match self.jobs[holder].lock.last {
            NO_JOB => holder,
            last => last,
        };
        self.jobs[last].lock.next = index;
        self.jobs[holder].lock.last = index;
        false
    }

    /// Gives a job's lock to the next one that waits for it, and lets that one go on.
    pub(crate) fn unlock(&mut self, path: &mut Path, index: u32, now: Time) {
        path.agenda.must_be_open();
        let Some(key) = lock_key(&self.jobs[index], &self.volumes) else {
            return;
        };
        debug_assert_eq!(self.locks.get(key), Some(index));
        let Waiters { next, last } = self.jobs[index].lock;
        if next == NO_JOB {
            self.locks.remove(key);
            return;
        }
        self.locks.insert(key, next);
        let job = &mut self.jobs[next];
        job.lock.last = if last == next { NO_JOB } else { last };
        debug_assert_eq!(job.phase, Phase::Plan);
        let head = job.run.head;
        let io = self.jobs[head].io;
        path.ios[io].charge(Part::Raid, now);
        self.locked(path, next, now);
    }
}

/// What a job locks, if anything.
pub(super) fn lock_key(job: &Job, volumes: &Volumes) -> Option<u64> {
    if job.work.is_of_lines() {
        return None;
    }
    let volume = volumes.get(job.array)?;
    if volume.geometry().parities() == 0 && volume.geometry().copies() == 1 {
        // One drive holds the data: its own order decides.
        return None;
    }
    let column = job.extents.first().map_or(0, |extent| extent.column);
    Some(volume.lock_key(job.array, job.stripe, column))
}
