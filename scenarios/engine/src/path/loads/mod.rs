//! Loads and the host's CPU: who issues I/Os, and what is recorded of them.

pub(crate) mod completion;
pub(crate) mod durable;
pub(crate) mod holding;
pub(crate) mod outage;
pub(crate) mod outside;
pub(crate) mod reaping;
pub(crate) mod records;
pub(crate) mod submission;
pub(crate) mod tenants;

use crate::ids::ArrayId;
use crate::path::loads::records::Records;
use crate::path::loads::tenants::{Tenant, Tenants};
use crate::state::records::Workload;
use crate::state::shares::Shares;
use raidlab_io::Queue;
use raidlab_kernel::{Table, Time};
use raidlab_models::Host;

/// The loads of a system and the threads that they run on.
pub(crate) struct Loads {
    host: Host,
    /// Completions that wait for their thread, or for it to get a core.
    signalled: Vec<Queue>,
    /// Open arrivals that wait for their thread to get a core.
    arrived: Vec<Queue>,
    /// By thread: whether it is about to look for further completions.
    reaping: Vec<bool>,
    /// When the host looks for a free core; never if no thread waits.
    core_look: Time,
    /// By array: how its tenants share it, if they do.
    shares: Table<ArrayId, Option<Box<Shares>>>,
    /// Which outside threads are held, and by what.
    tenants: Tenants,
    /// By command of a page cache: the thread that has issued it.
    page_threads: Vec<u32>,
    /// By request that makes writes durable: the thread that hears of its completion.
    sync_threads: Vec<u32>,
    records: Records,
}

impl Loads {
    /// Loads on the threads of a host; page caches and outside callers have theirs behind
    /// those of the loads. `ending` of them come to an end.
    pub(crate) fn new(
        host: Host,
        workloads: Vec<Workload>,
        shares: Table<ArrayId, Option<Box<Shares>>>,
        tenants: Tenants,
        threads: usize,
        ending: u32,
    ) -> Loads {
        Loads {
            host,
            signalled: vec![Queue::default(); threads],
            arrived: vec![Queue::default(); threads],
            reaping: vec![false; threads],
            core_look: Time::NEVER,
            records: Records::new(workloads, ending),
            shares,
            tenants,
            page_threads: Vec::new(),
            sync_threads: Vec::new(),
        }
    }

    /// What is recorded, and who issues it.
    #[inline]
    pub(crate) fn records(&self) -> &Records {
        &self.records
    }

    #[inline]
    pub(crate) fn records_mut(&mut self) -> &mut Records {
        &mut self.records
    }

    /// The host's CPU.
    pub(crate) fn host(&self) -> &Host {
        &self.host
    }

    pub(crate) fn host_mut(&mut self) -> &mut Host {
        &mut self.host
    }

    /// Threads of the host.
    pub(crate) fn threads(&self) -> usize {
        self.signalled.len()
    }

    /// True if something waits for a thread, or for it to get a core.
    pub(crate) fn is_awaited(&self, thread: u32) -> bool {
        let thread = thread as usize;
        !self.signalled[thread].is_empty() || !self.arrived[thread].is_empty()
    }

    /// Outside threads whose I/Os are held.
    pub(crate) fn tenants(&self) -> &[Tenant] {
        self.tenants.all()
    }
}
