//! Jobs on stripes: what is read, computed and written of arrays, one stripe a job.

mod beside;
mod cutter;
mod errors;
mod heads;
mod joined;
mod lock;
mod outage;
mod pages;
mod parents;
mod phases;
mod plan;
mod prefetch;
mod run;
mod state;
mod steps;
mod table;
mod thread;
mod transfer;
mod work;

use crate::ids::LockKey;
use crate::raid::jobs::cutter::Cutter;
use crate::raid::jobs::heads::StripeCaches;
use crate::raid::jobs::lock::Locks;
use crate::raid::jobs::plan::Planner;
pub(crate) use crate::raid::jobs::prefetch::prefetch_transfer;
pub(crate) use crate::raid::jobs::state::StripeState;
pub(crate) use crate::raid::jobs::table::{Jobs, Phase};
use crate::raid::jobs::thread::Turns;
pub(crate) use crate::raid::jobs::work::{
    Check, CopyTo, Destage, Fill, LineCopy, Row, SlotRange, Work,
};
use crate::raid::redirect::Redirects;
use crate::raid::volume::Volumes;

/// Jobs on the stripes of all arrays: what they work on, and what they wait for. Whatever stands
/// above, the controller's cache or work in the background, receives it.
#[derive(Debug)]
pub(crate) struct Stripes {
    state: StripeState,
    locks: Locks,
    turns: Turns,
    heads: StripeCaches,
    planner: Planner,
    cutter: Cutter,
}

impl Stripes {
    /// `jobs` may be running before anything must grow.
    pub fn new(volumes: Volumes, redirects: Redirects, jobs: usize) -> Stripes {
        let arrays = volumes.arrays().count();
        let jobs = if volumes.is_empty() { 0 } else { jobs };
        let heads = StripeCaches::new(&volumes);
        let table = Jobs::with_capacity(jobs, arrays);
        Stripes {
            state: StripeState::new(volumes, redirects, table),
            locks: Locks::with_capacity(jobs),
            turns: Turns::new(arrays),
            heads,
            planner: Planner::default(),
            cutter: Cutter::default(),
        }
    }

    /// The arrays and the jobs.
    #[inline]
    pub fn state(&self) -> &StripeState {
        &self.state
    }

    #[inline]
    pub fn state_mut(&mut self) -> &mut StripeState {
        &mut self.state
    }

    /// Whether a job is at work on a group.
    pub fn is_locked(&self, key: LockKey) -> bool {
        self.locks.is_locked(key)
    }
}
