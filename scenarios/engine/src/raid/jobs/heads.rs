//! The stripe cache of Linux md, where its size is limited.
//!
//! A stripe of the cache is a page of each member at one offset. A write needs one for each page of its
//! stripe's units, and has it until all of the stripe is written. Who finds none sleeps, until three
//! quarters of the cache or less are in use (`raid5_get_active_stripe` in drivers/md/raid5.c). Before
//! Linux 4.1 there are 256 of them unless `stripe_cache_size` says otherwise; later ones grow.

use crate::ids::JobId;
use crate::path::Path;
use crate::raid::jobs::Stripes;
use crate::raid::jobs::lock::pages;
use crate::raid::jobs::table::Waiters;
use crate::raid::jobs::work::Work;
use crate::state::event::RaidEvent;
use raidlab_io::Part;
use raidlab_kernel::Time;
use raidlab_models::STRIPE_PAGE;

/// The stripe cache of an array.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heads {
    /// Stripes that it holds; 0 for no limit.
    limit: u64,
    /// Those in use.
    used: u64,
    /// The writes that wait for some.
    waiting: Waiters,
}

impl Heads {
    pub fn new(limit: u32) -> Heads {
        Heads {
            limit: u64::from(limit),
            used: 0,
            waiting: Waiters::NONE,
        }
    }

    /// Nobody has any, and nobody waits for some.
    pub fn clear(&mut self) {
        (self.used, self.waiting) = (0, Waiters::NONE);
    }

    /// Whether `stripes` more fit. One write fits in any case, however large.
    fn have_room(&self, stripes: u64) -> bool {
        self.used == 0 || self.used + stripes <= self.limit
    }

    /// Whether those that sleep may wake.
    fn wake(&self) -> bool {
        4 * self.used <= 3 * self.limit
    }
}

/// Stripes of the cache that a job needs.
fn needed(stripes: &Stripes, index: JobId) -> u64 {
    let job = &stripes.jobs[index];
    let (start, end) = pages(job, stripes.volumes.of(job.array));
    u64::from(end - start) / STRIPE_PAGE
}

/// Whether a write has to wait for room in the stripe cache; if not, it has it.
pub(super) fn waits(stripes: &mut Stripes, index: JobId) -> bool {
    let job = &stripes.jobs[index];
    let array = job.array;
    if stripes.heads[array].limit == 0 || !matches!(job.work, Work::Write) || job.flags.cached {
        return false;
    }
    let wanted = needed(stripes, index);
    let Stripes { jobs, heads, .. } = stripes;
    let heads = &mut heads[array];
    if heads.waiting.is_empty() && heads.have_room(wanted) {
        heads.used += wanted;
        jobs[index].flags.cached = true;
        return false;
    }
    jobs.push(&mut heads.waiting, index);
    true
}

/// A job gives its stripes of the cache away: those that wait for them enter.
pub(super) fn give(stripes: &mut Stripes, path: &mut Path, index: JobId, now: Time) {
    let job = &mut stripes.jobs[index];
    let array = job.array;
    if !std::mem::take(&mut job.flags.cached) {
        return;
    }
    let given = needed(stripes, index);
    let heads = &mut stripes.heads[array];
    heads.used = heads.used.saturating_sub(given);
    if !heads.wake() {
        return;
    }
    while let Some(next) = stripes.heads[array].waiting.first() {
        let wanted = needed(stripes, next);
        let Stripes { jobs, heads, .. } = &mut *stripes;
        let heads = &mut heads[array];
        if !heads.have_room(wanted) {
            return;
        }
        heads.used += wanted;
        jobs.pop(&mut heads.waiting);
        let job = &mut jobs[next];
        (job.flags.cached, job.flags.enters, job.flags.scheduled) = (true, true, true);
        path.ios[job.io].charge(Part::Raid, now);
        path.calendar.push(now, RaidEvent::Job(next).into());
    }
}
