//! Jobs on stripes: what is read, computed and written of arrays, one stripe a job.

mod copies;
mod errors;
mod heads;
mod joined;
mod lock;
mod outage;
mod pages;
mod parents;
mod phases;
mod plan;
mod run;
mod steps;
mod table;
mod thread;
mod transfer;
mod work;

use crate::ids::{ArrayId, JobId};
use crate::raid::jobs::heads::Heads;
use crate::raid::jobs::lock::Locks;
use crate::raid::jobs::pages::Cutter;
pub(crate) use crate::raid::jobs::phases::prefetch_transfer;
use crate::raid::jobs::plan::Planner;
use crate::raid::jobs::table::Turns;
pub(crate) use crate::raid::jobs::table::{Job, Jobs, Phase};
pub(crate) use crate::raid::jobs::work::{
    Check, CopyTo, Destage, Fill, LineCopy, Row, SlotRange, Work,
};
use crate::raid::redirect::Redirects;
use crate::raid::volume::{Volume, Volumes};
use raidlab_kernel::Table;

/// The volumes of all arrays, and the jobs on their stripes. Whatever stands above, the
/// controller's cache or work in the background, receives it.
#[derive(Debug)]
pub(crate) struct Stripes {
    volumes: Volumes,
    redirects: Redirects,
    jobs: Jobs,
    locks: Locks,
    /// By array: turns at the thread of the host.
    turns: Table<ArrayId, Turns>,
    /// By array: what its stripe cache holds, where its size is limited.
    heads: Table<ArrayId, Heads>,
    planner: Planner,
    cutter: Cutter,
    /// Jobs whose writes are done again when the power is back.
    preserved: Vec<JobId>,
    /// Reads and writes refused because data are lost.
    refused: u64,
}

impl Stripes {
    /// `jobs` may be running before anything must grow.
    pub fn new(volumes: Volumes, redirects: Redirects, jobs: usize) -> Stripes {
        let arrays = volumes.arrays().count();
        let jobs = if volumes.is_empty() { 0 } else { jobs };
        let limit = |volume: Option<&Volume>| volume.map_or(0, Volume::stripe_cache);
        let heads = volumes
            .iter()
            .map(|volume| Heads::new(limit(volume)))
            .collect();
        Stripes {
            volumes,
            redirects,
            jobs: Jobs::with_capacity(jobs, arrays),
            locks: Locks::with_capacity(jobs),
            turns: vec![Turns::NONE; arrays].into(),
            heads,
            planner: Planner::default(),
            cutter: Cutter::default(),
            preserved: Vec::new(),
            refused: 0,
        }
    }

    pub fn volumes(&self) -> &Volumes {
        &self.volumes
    }

    pub fn volumes_mut(&mut self) -> &mut Volumes {
        &mut self.volumes
    }

    /// The volume of an array whose data pass through memory.
    #[inline]
    pub fn volume(&self, array: ArrayId) -> &Volume {
        self.volumes.of(array)
    }

    #[inline]
    pub fn volume_mut(&mut self, array: ArrayId) -> &mut Volume {
        self.volumes.of_mut(array)
    }

    pub fn redirects(&self) -> &Redirects {
        &self.redirects
    }

    pub fn redirects_mut(&mut self) -> &mut Redirects {
        &mut self.redirects
    }

    pub fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    pub fn jobs_mut(&mut self) -> &mut Jobs {
        &mut self.jobs
    }

    /// The job whose data leave the controller's cache, with what says where they go.
    pub fn job_beside(&mut self, job: JobId) -> (&mut Job, &Volumes, &Redirects) {
        (&mut self.jobs[job], &self.volumes, &self.redirects)
    }

    /// Reads and writes refused because data are lost.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Whether a job is at work on a group.
    pub fn is_locked(&self, key: u64) -> bool {
        self.locks.is_locked(key)
    }
}
