//! Locks on stripes: who changes data and parity together has the stripe for itself.
//!
//! A controller locks a stripe as a whole. Linux md works in pages, and a lock covers the pages of
//! the stripe's units that a job is about: others of the same stripe go on beside it.

use crate::ids::{ColumnId, JobId, LockKey};
use crate::layout::Extent;
use crate::raid::jobs::table::{Job, Jobs};
use crate::raid::volume::{Volume, Volumes};
use raidlab_models::{STRIPE_PAGE, Table};

/// By stripe: the jobs that hold it or wait for it, in the order in which they came.
#[derive(Debug)]
pub(super) struct Locks {
    /// The first of them; the others follow by `lock.next`.
    first: Table<JobId>,
}

impl Locks {
    /// `capacity` stripes may be locked before anything must grow.
    pub fn with_capacity(capacity: usize) -> Locks {
        Locks {
            first: Table::with_capacity(capacity),
        }
    }

    /// Whether a job is at work on a group.
    pub fn is_locked(&self, key: LockKey) -> bool {
        self.first_at(key).is_some()
    }

    /// Nobody holds anything any more.
    pub fn clear(&mut self) {
        self.first.clear();
    }

    /// The first job at a stripe, by the key of its lock.
    #[inline]
    fn first_at(&self, key: LockKey) -> Option<JobId> {
        self.first.get(key.number())
    }

    /// A job takes the lock of its stripe; false if it must wait for it.
    pub fn take(&mut self, jobs: &mut Jobs, volumes: &Volumes, index: JobId) -> bool {
        let Some(key) = lock_key(&jobs[index], volumes) else {
            return true;
        };
        let Some(first) = self.first_at(key) else {
            self.first.insert(key.number(), index);
            jobs[index].lock.held = true;
            return true;
        };
        let holds = last_in_the_way(jobs, volumes, first, index).is_none();
        jobs[index].lock.held = holds;
        let last = match jobs[first].lock.queue.last {
            JobId::NONE => first,
            last => last,
        };
        jobs[last].lock.queue.next = index;
        jobs[first].lock.queue.last = index;
        holds
    }

    /// The last job at a job's stripe that is about the same pages: it has to end first.
    pub fn in_the_way(&self, jobs: &Jobs, volumes: &Volumes, index: JobId) -> Option<JobId> {
        let first = self.first_at(lock_key(&jobs[index], volumes)?)?;
        last_in_the_way(jobs, volumes, first, index)
    }

    /// Where the pages of the jobs at a stripe begin and end, of those inside (start, end).
    pub fn cuts(
        &self,
        jobs: &Jobs,
        volume: &Volume,
        key: LockKey,
        (start, end): (u32, u32),
        into: &mut Vec<u32>,
    ) {
        let mut at = self.first_at(key).unwrap_or(JobId::NONE);
        while at != JobId::NONE {
            let (first, last) = pages(&jobs[at], volume);
            into.extend(
                [first, last]
                    .iter()
                    .filter(|&&cut| start < cut && cut < end),
            );
            at = jobs[at].lock.queue.next;
        }
    }

    /// A job gives its lock away. Gives the first of those that are left at the stripe.
    pub fn give(&mut self, jobs: &mut Jobs, volumes: &Volumes, index: JobId) -> Option<JobId> {
        let key = lock_key(&jobs[index], volumes)?;
        let first = self.first_at(key)?;
        let (next, last) = (jobs[index].lock.queue.next, jobs[first].lock.queue.last);
        if first == index {
            if next == JobId::NONE {
                self.first.remove(key.number());
                return None;
            }
            self.first.insert(key.number(), next);
            jobs[next].lock.queue.last = if last == next { JobId::NONE } else { last };
            return Some(next);
        }
        let mut before = first;
        while jobs[before].lock.queue.next != index {
            before = jobs[before].lock.queue.next;
        }
        jobs[before].lock.queue.next = next;
        if last == index {
            jobs[first].lock.queue.last = if before == first { JobId::NONE } else { before };
        }
        Some(first)
    }
}

/// Of the jobs at a stripe from `first` on: the first one that waits for pages which another job has
/// given away, and has nobody in its way any more. It holds its lock now.
pub(super) fn next_holder(
    jobs: &mut Jobs,
    volumes: &Volumes,
    first: JobId,
    given: JobId,
) -> Option<JobId> {
    let volume = volumes.get(jobs[given].array)?;
    let mut at = first;
    while at != JobId::NONE {
        let waits = !jobs[at].lock.held && share_pages(&jobs[at], &jobs[given], volume);
        if waits && last_in_the_way(jobs, volumes, first, at).is_none() {
            jobs[at].lock.held = true;
            return Some(at);
        }
        if !volume.host().in_pages() {
            return None;
        }
        at = jobs[at].lock.queue.next;
    }
    None
}

/// Of the jobs at a stripe from `first` on, the last one before `index` that is about its pages.
fn last_in_the_way(jobs: &Jobs, volumes: &Volumes, first: JobId, index: JobId) -> Option<JobId> {
    let job = &jobs[index];
    let volume = volumes.get(job.array)?;
    if !volume.host().in_pages() {
        return (first != index).then_some(first);
    }
    let (mut last, mut at) = (None, first);
    while at != JobId::NONE && at != index {
        if share_pages(&jobs[at], job, volume) {
            last = Some(at);
        }
        at = jobs[at].lock.queue.next;
    }
    last
}

/// Whether a job's stripe is handled page by page.
pub(super) fn works_in_pages(job: &Job, volumes: &Volumes) -> bool {
    volumes
        .get(job.array)
        .is_some_and(|volume| volume.host().in_pages())
}

/// Whether two jobs at a stripe are about the same pages, as all are where it is locked as a whole.
fn share_pages(job: &Job, other: &Job, volume: &Volume) -> bool {
    if !volume.host().in_pages() {
        return true;
    }
    let ((start, end), (from, to)) = (pages(job, volume), pages(other, volume));
    start < to && from < end
}

/// The pages of its stripe's units that a job is about, as bytes (start, end).
pub(super) fn pages(job: &Job, volume: &Volume) -> (u32, u32) {
    const PAGE: u32 = STRIPE_PAGE as u32;
    let start = |extent: &Extent| extent.start / PAGE * PAGE;
    let end = |extent: &Extent| extent.end.div_ceil(PAGE) * PAGE;
    let (starts, ends) = (job.extents.iter().map(start), job.extents.iter().map(end));
    match (starts.min(), ends.max()) {
        (Some(start), Some(end)) => (start, end),
        _ => (0, volume.geometry().unit() as u32),
    }
}

/// What a job locks, if anything.
fn lock_key(job: &Job, volumes: &Volumes) -> Option<LockKey> {
    if job.work.is_of_lines() {
        return None;
    }
    let volume = volumes.get(job.array)?;
    if volume.geometry().parities() == 0 && volume.geometry().copies() == 1 {
        // One drive holds the data: its own order decides.
        return None;
    }
    let column = job.extents.first().map_or(ColumnId::new(0), |e| e.column);
    Some(volume.lock_key(job.array, job.stripe, column))
}
