//! Arrays whose data pass through a controller's (or the host's) memory, or can be lost: parity,
//! caches, failures.
//!
//! A request to such an array becomes *jobs*, each with a record of its own below the request's;
//! a job takes several phases, each of which sends commands. The last command of a phase carries
//! its time into the job, the last job its time into the request, so that the parts of a
//! request's time add up to its latency exactly. See docs/models/raid.md.

pub(crate) mod background;
pub(crate) mod cache;
pub(crate) mod faults;
pub(crate) mod jobs;
pub(crate) mod redirect;
pub(crate) mod request;
pub(crate) mod resume;
pub(crate) mod volume;

use crate::layout::Transfer;
use crate::plan::Plan;
use crate::raid::cache::readers::Readers;
use crate::raid::cache::store::Store;
use crate::raid::jobs::Jobs;
use crate::raid::redirect::Redirect;
use crate::raid::volume::Volume;
use raidlab_kernel::Time;
use raidlab_models::Table;

/// What the engine keeps of jobs and volumes.
#[derive(Debug)]
pub(crate) struct Raid {
    /// For each array: its volume, if its data pass through memory.
    pub volumes: Vec<Option<Volume>>,
    /// For each array: its tier of SSDs, if it has one.
    pub tiers: Vec<Option<Redirect>>,
    /// For each array: the one whose tier it is.
    pub tier_of: Vec<Option<u32>>,
    /// For each controller: its cache, if it has one that is used.
    pub stores: Vec<Option<Store>>,
    pub jobs: Jobs,
    /// Those who go on since something has come into the cache, the last to come last.
    pub readers: Vec<Readers>,
    /// The job that holds each locked stripe.
    pub locks: Table,
    pub ranges: Vec<(u32, u32)>,
    pub transfers: Vec<Transfer>,
    /// Jobs whose writes are done again when the power is back.
    pub kept: Vec<u32>,
    /// When the last rebuild was done, if none is under way.
    pub rebuilt: Option<Time>,
    /// Reads and writes refused because data are lost.
    pub refused: u64,
    /// Numbers tasks in the background.
    pub tasks_begun: u32,
}

impl Raid {
    /// `jobs` may be under way before anything must grow.
    pub fn new(
        plan: &Plan,
        volumes: Vec<Option<Volume>>,
        tiers: Vec<Option<Redirect>>,
        stores: Vec<Option<Store>>,
        jobs: usize,
    ) -> Raid {
        let used = volumes.iter().any(Option::is_some);
        let jobs = if used { jobs } else { 0 };
        let mut tier_of = vec![None; plan.arrays.len()];
        for (array, tier) in tiers.iter().enumerate() {
            if let Some(tier) = tier {
                tier_of[tier.array as usize] = Some(array as u32);
            }
        }
        Raid {
            volumes,
            tier_of,
            tiers,
            stores,
            jobs: Jobs::with_capacity(jobs),
            readers: Vec::with_capacity(8),
            locks: Table::with_capacity(jobs),
            ranges: Vec::with_capacity(64),
            transfers: Vec::with_capacity(256),
            kept: Vec::new(),
            rebuilt: None,
            refused: 0,
            tasks_begun: 0,
        }
    }
}
