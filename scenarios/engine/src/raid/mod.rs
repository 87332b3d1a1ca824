//! Arrays whose data pass through a controller's (or the host's) memory, or can be lost: parity,
//! caches, failures.
//!
//! A request to such an array becomes *jobs*, each with a record of its own below the request's;
//! a job takes several phases, each of which sends commands. The last command of a phase carries
//! its time into the job, the last job its time into the request, so that the parts of a
//! request's time add up to its latency exactly. See docs/explanation/raid.md.

pub(crate) mod background;
pub(crate) mod cache;
pub(crate) mod faults;
pub(crate) mod jobs;
pub(crate) mod redirect;
pub(crate) mod request;
pub(crate) mod resume;
pub(crate) mod volume;

use crate::layout::Transfer;
use crate::path::Path;
use crate::plan::Plan;
use crate::raid::background::{Background, Task};
use crate::raid::cache::memory::ControllerMemory;
use crate::raid::cache::readers::Readers;
use crate::raid::jobs::Jobs;
use crate::raid::redirect::Redirect;
use crate::raid::volume::Volume;
use raidlab_kernel::Time;
use raidlab_models::Table;

/// Everything of arrays whose data pass through memory or can be lost.
#[derive(Debug)]
pub(crate) struct Raid {
    pub stripes: Stripes,
    background: Background,
}

/// What the engine stores of jobs and volumes.
#[derive(Debug)]
pub(crate) struct Stripes {
    /// For each array: its volume, if its data pass through memory.
    pub volumes: Vec<Option<Volume>>,
    /// For each array: its SSD cache of SSDs, if it has one.
    pub redirects: Vec<Option<Redirect>>,
    /// For each array: the one whose SSD cache it is.
    pub ssd_cache_of: Vec<Option<u32>>,
    /// For each controller: its cache, if it has one that is used.
    pub memories: Vec<Option<ControllerMemory>>,
    pub jobs: Jobs,
    /// Those who go on since something has come into the cache, the last to come last.
    pub readers: Vec<Readers>,
    /// The job that holds each locked stripe.
    pub locks: Table,
    pub ranges: Vec<(u32, u32)>,
    pub transfers: Vec<Transfer>,
    /// Jobs whose writes are done again when the power is back.
    pub preserved: Vec<u32>,
    /// Reads and writes refused because data are lost.
    pub refused: u64,
}

impl Raid {
    pub fn new(stripes: Stripes, background: Background) -> Raid {
        Raid {
            stripes,
            background,
        }
    }

    /// The background of an array is due.
    pub(crate) fn background_due(&mut self, path: &mut Path, array: u32, now: Time) {
        self.background.go_on(&mut self.stripes, path, array, now);
    }

    /// A task joins those of an array.
    pub(crate) fn start_task(&mut self, path: &mut Path, array: u32, task: Task, now: Time) {
        let Raid {
            stripes,
            background,
        } = self;
        background.start_task(stripes, path, array, task, now);
    }

    /// The share of the rows that each running rebuild has done.
    pub(crate) fn rebuilding(&self) -> Vec<f64> {
        self.background.rebuilding(&self.stripes)
    }

    /// When the last rebuild was done, if none is running.
    pub(crate) fn rebuilt(&self) -> Option<Time> {
        self.background.rebuilt()
    }
}

impl Stripes {
    /// `jobs` may be running before anything must grow.
    pub fn new(
        plan: &Plan,
        volumes: Vec<Option<Volume>>,
        redirects: Vec<Option<Redirect>>,
        memories: Vec<Option<ControllerMemory>>,
        jobs: usize,
    ) -> Stripes {
        let used = volumes.iter().any(Option::is_some);
        let jobs = if used { jobs } else { 0 };
        let mut ssd_cache_of = vec![None; plan.arrays.len()];
        for (array, redirect) in redirects.iter().enumerate() {
            if let Some(redirect) = redirect {
                ssd_cache_of[redirect.array as usize] = Some(array as u32);
            }
        }
        Stripes {
            volumes,
            ssd_cache_of,
            redirects,
            memories,
            jobs: Jobs::with_capacity(jobs),
            readers: Vec::with_capacity(8),
            locks: Table::with_capacity(jobs),
            ranges: Vec::with_capacity(64),
            transfers: Vec::with_capacity(256),
            preserved: Vec::new(),
            refused: 0,
        }
    }
}
