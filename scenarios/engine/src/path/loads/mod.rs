//! Loads and the host's CPU: who issues I/Os, and what is recorded of them.

pub(crate) mod clients;
pub(crate) mod completion;
pub(crate) mod durable;
pub(crate) mod holding;
pub(crate) mod outage;
pub(crate) mod outside;
pub(crate) mod outside_record;
pub(crate) mod reaping;
pub(crate) mod records;
pub(crate) mod submission;
pub(crate) mod tenants;
pub(crate) mod threads;

use crate::ids::{ArrayId, WorkloadId};
use crate::path::loads::records::Records;
use crate::path::loads::tenants::{Tenant, Tenants};
use crate::path::loads::threads::Threads;
use crate::state::records::Workload;
use crate::state::shares::Shares;
use raidlab_kernel::Table;

/// The loads of a system and the threads that they run on.
pub(crate) struct Loads {
    threads: Threads,
    /// By array: how its tenants share it, if they do.
    shares: Table<ArrayId, Option<Box<Shares>>>,
    /// Which outside threads are held, and by what.
    tenants: Tenants,
    records: Records,
}

impl Loads {
    /// Loads on the threads of a host; page caches and outside callers have theirs behind
    /// those of the loads. `ending` loads come to an end.
    pub(crate) fn new(
        workloads: Table<WorkloadId, Workload>,
        shares: Table<ArrayId, Option<Box<Shares>>>,
        tenants: Tenants,
        threads: Threads,
        ending: u32,
    ) -> Loads {
        Loads {
            threads,
            records: Records::new(workloads, ending),
            shares,
            tenants,
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

    /// The threads that the loads run on.
    pub(crate) fn threads(&self) -> &Threads {
        &self.threads
    }

    pub(crate) fn threads_mut(&mut self) -> &mut Threads {
        &mut self.threads
    }

    /// Outside threads whose I/Os are held.
    pub(crate) fn tenants(&self) -> &[Tenant] {
        self.tenants.all()
    }
}
