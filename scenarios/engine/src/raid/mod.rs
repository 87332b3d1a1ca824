//! Arrays whose data pass through a controller's (or the host's) memory, or can be lost: parity,
//! caches, failures.
//!
//! A request to such an array becomes *jobs*, each with a record of its own below the request's;
//! a job takes several phases, each of which sends commands. The last command of a phase carries
//! its time into the job, the last job its time into the request, so that the parts of a
//! request's time add up to its latency exactly. See docs/explanation/raid.md.

pub(crate) mod background;
pub(crate) mod bitmap;
pub(crate) mod cache;
pub(crate) mod faults;
pub(crate) mod host_stripes;
pub(crate) mod jobs;
pub(crate) mod lines;
pub(crate) mod member;
pub(crate) mod places;
pub(crate) mod redirect;
pub(crate) mod request;
pub(crate) mod resume;
pub(crate) mod volume;

use crate::ids::{ArrayId, ControllerId};
use crate::path::IoPath;
use crate::raid::background::Background;
use crate::raid::background::task::Task;
use crate::raid::cache::ControllerCache;
use crate::raid::cache::memory::Memories;
use crate::raid::jobs::Stripes;
use crate::raid::lines::Lines;
use raidlab_io::IoId;
use raidlab_kernel::Time;

/// Everything of arrays whose data pass through memory or can be lost. Requests, faults and the
/// power are its own; what goes on below them has owners of its own.
#[derive(Debug)]
pub(crate) struct Raid {
    stripes: Stripes,
    cache: ControllerCache,
    background: Background,
}

impl Raid {
    pub fn new(stripes: Stripes, cache: ControllerCache, background: Background) -> Raid {
        Raid {
            stripes,
            cache,
            background,
        }
    }

    /// The volumes and the jobs on their stripes.
    pub fn stripes(&self) -> &Stripes {
        &self.stripes
    }

    pub fn stripes_mut(&mut self) -> &mut Stripes {
        &mut self.stripes
    }

    /// Tasks in the background.
    pub fn background(&self) -> &Background {
        &self.background
    }

    /// The caches of the controllers.
    pub fn memories(&self) -> &Memories {
        self.cache.memories()
    }

    /// What goes by lines of an SSD cache.
    pub fn lines(&mut self) -> Lines<'_> {
        Lines::new(&mut self.stripes, self.cache.memories_mut())
    }

    /// Asks for the memory in which a request will be looked up.
    pub(crate) fn prefetch_tables(&self, path: &IoPath, id: IoId) {
        self.cache.prefetch_tables(&self.stripes, path, id);
    }

    /// The next step of a flush of a controller's cache.
    pub(crate) fn flush_due(&mut self, path: &mut IoPath, controller: ControllerId, now: Time) {
        self.cache
            .flush_due(&mut self.stripes, path, controller, now);
    }

    /// The background of an array is due.
    pub(crate) fn background_due(&mut self, path: &mut IoPath, array: ArrayId, now: Time) {
        self.background.go_on(&mut self.stripes, path, array, now);
    }

    /// A task joins those of an array.
    pub(crate) fn start_task(&mut self, path: &mut IoPath, array: ArrayId, task: Task, now: Time) {
        self.background
            .start_task(&mut self.stripes, path, array, task, now);
    }
}
