//! The stripe cache of Linux md, where its size is limited.
//!
//! A stripe of the cache is a page of each member at one offset. A write needs one for each page of its
//! stripe's units, and has it until all of the stripe is written. Who finds none sleeps, until three
//! quarters of the cache or less are in use (`raid5_get_active_stripe` in drivers/md/raid5.c). Before
//! Linux 4.1 there are 256 of them unless `stripe_cache_size` says otherwise; later ones grow.

use crate::ids::{ArrayId, JobId};
use crate::path::IoPath;
use crate::raid::jobs::lock::pages;
use crate::raid::jobs::state::StripeState;
use crate::raid::jobs::table::{Room, Waiters};
use crate::raid::jobs::work::Work;
use crate::raid::volume::{Volume, Volumes};
use crate::state::event::RaidEvent;
use raidlab_io::Part;
use raidlab_kernel::{Table, Time};
use raidlab_models::STRIPE_PAGE;

/// The stripe cache of an array.
#[derive(Clone, Copy, Debug)]
struct Heads {
    /// Stripes that it holds; 0 for no limit.
    limit: u64,
    /// Those in use.
    used: u64,
    /// The writes that wait for some.
    waiting: Waiters,
}

impl Heads {
    fn new(limit: u32) -> Heads {
        Heads {
            limit: u64::from(limit),
            used: 0,
            waiting: Waiters::NONE,
        }
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

/// The stripe caches of all arrays.
#[derive(Debug)]
pub(super) struct StripeCaches {
    of_array: Table<ArrayId, Heads>,
}

impl StripeCaches {
    /// Nothing is in use.
    pub fn new(volumes: &Volumes) -> StripeCaches {
        let limit = |volume: Option<&Volume>| volume.map_or(0, |volume| volume.host().cache());
        let heads = volumes.iter().map(|volume| Heads::new(limit(volume)));
        StripeCaches {
            of_array: heads.collect(),
        }
    }

    /// Nobody has any stripes, and nobody waits for some.
    pub fn clear(&mut self) {
        for heads in &mut self.of_array {
            (heads.used, heads.waiting) = (0, Waiters::NONE);
        }
    }

    /// Whether a write has to wait for room in the stripe cache; if not, it has it.
    pub fn waits(&mut self, state: &mut StripeState, index: JobId) -> bool {
        let job = &state.jobs[index];
        let heads = &mut self.of_array[job.array];
        if heads.limit == 0 || !matches!(job.work, Work::Write) || job.room == Room::Entered {
            return false;
        }
        let wanted = needed(state, index);
        if heads.waiting.is_empty() && heads.have_room(wanted) {
            heads.used += wanted;
            state.jobs[index].room = Room::Entered;
            return false;
        }
        state.jobs.push(&mut heads.waiting, index);
        true
    }

    /// A job gives its stripes of the cache away: those that wait for them enter.
    pub fn give(&mut self, state: &mut StripeState, path: &mut IoPath, index: JobId, now: Time) {
        if state.jobs[index].room == Room::None {
            return;
        }
        state.jobs[index].room = Room::None;
        let given = needed(state, index);
        let heads = &mut self.of_array[state.jobs[index].array];
        heads.used = heads.used.saturating_sub(given);
        if !heads.wake() {
            return;
        }
        while let Some(next) = heads.waiting.first() {
            let wanted = needed(state, next);
            if !heads.have_room(wanted) {
                return;
            }
            heads.used += wanted;
            state.jobs.pop(&mut heads.waiting);
            let job = &mut state.jobs[next];
            job.room = Room::Given;
            job.schedule();
            path.ios[job.io].charge(Part::Raid, now);
            path.calendar.push(now, RaidEvent::Job(next).into());
        }
    }
}

/// Stripes of the cache that a job needs.
fn needed(state: &StripeState, index: JobId) -> u64 {
    let job = &state.jobs[index];
    let (start, end) = pages(job, state.volumes.of(job.array));
    u64::from(end - start) / STRIPE_PAGE
}
