//! Arrays whose data pass through a controller's (or the host's) memory, or can be lost: parity,
//! caches, failures.
//!
//! A request to such an array becomes *jobs*, each with a record of its own below the request's;
//! a job takes several phases, each of which sends commands. The last command of a phase carries
//! its time into the job, the last job its time into the request, so that the parts of a
//! request's time add up to its latency exactly. See docs/models/raid.md.

mod action;
mod background;
mod cache_view;
mod cached;
mod destage;
mod drive_cache;
mod failure;
mod fate;
mod job;
mod jobs;
mod lock;
mod medium;
mod power;
mod read_ahead;
mod rebuild;
mod request;
mod rows;
mod run;
mod store;
mod transfer;
mod verdict;
mod volume;
mod write;

pub use action::LogEntry;
pub(crate) use cache_view::Cached;
pub(crate) use failure::Health;
pub use fate::DataReport;
pub(crate) use fate::{Fate, OnDrives};
pub(crate) use job::job_of;
pub(crate) use jobs::{CopyTo, LineCopy, Phase, SlotRange, Work};
pub(crate) use read_ahead::{Readers, Streams};
pub(crate) use rows::rows_under_way;
pub(crate) use store::{Caching, Counts, Lane, Store};
pub(crate) use volume::Volume;

use crate::layout::Transfer;
use crate::plan::{Action, Plan};
use crate::tier::ArrayTier;
use jobs::Jobs;
use raidlab_kernel::Time;
use raidlab_models::Table;

/// What the engine keeps of jobs and volumes.
#[derive(Debug)]
pub(crate) struct Raid {
    /// For each array: its volume, if its data pass through memory.
    pub volumes: Vec<Option<Volume>>,
    /// For each array: its tier of SSDs, if it has one.
    pub tiers: Vec<Option<ArrayTier>>,
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
    /// True if anything can fail or the data are followed: commands are looked at.
    pub watch: bool,
    /// By drive.
    pub health: Vec<Health>,
    pub fate: Option<Fate>,
    pub actions: Vec<Action>,
    pub log: Vec<LogEntry>,
    /// Jobs whose writes are done again when the power is back.
    pub kept: Vec<u32>,
    /// When the last rebuild was done, if none is under way.
    pub rebuilt: Option<Time>,
    /// Numbers tasks in the background.
    pub tasks_begun: u32,
    /// The power is off until then.
    pub off_until: Time,
}

impl Raid {
    /// `jobs` may be under way before anything must grow.
    pub fn new(
        plan: &Plan,
        volumes: Vec<Option<Volume>>,
        tiers: Vec<Option<ArrayTier>>,
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
            watch: plan.data || plan.can_fail(),
            health: vec![Health::default(); plan.drives.len()],
            fate: plan
                .data
                .then(|| Fate::new(plan.seed, plan.drives.len(), plan.arrays.len())),
            actions: plan
                .events
                .iter()
                .map(|event| event.action.clone())
                .collect(),
            log: Vec::new(),
            kept: Vec::new(),
            rebuilt: None,
            tasks_begun: 0,
            off_until: Time::ZERO,
        }
    }
}
