//! How the tenants of an array share it: start-time fair queueing with a depth, SFQ(D).
//!
//! At most `depth` I/Os of all tenants are in the array; the others wait, each tenant's in a queue
//! of its own. A place that comes free goes to the first class of priority in which anybody waits,
//! and within it to the I/O with the least start tag (Jin, Chase and Kaur, "Interposed proportional
//! sharing for a storage service utility", SIGMETRICS 2004). Hypervisors share a volume among
//! virtual machines so, with 32 places and a unit of cost for each 32 KiB (VMware's
//! `SchedNumReqOutstanding` and `SchedCostUnit`).

use crate::ids::TenantId;
use crate::plan::{ArrayPlan, Plan};
use raidlab_io::{IoId, Ios, Queue};

/// Bytes that cost one unit.
const COST_BYTES: u64 = 32 * 1024;
/// A unit of cost at weight 1, in the units of tags.
const UNIT: u64 = 1 << 24;

/// The tenants of one array.
#[derive(Debug)]
pub(crate) struct Shares {
    depth: u32,
    inside: u32,
    tenants: Vec<Tenant>,
}

/// One workload, or one tenant among outside threads.
#[derive(Debug)]
struct Tenant {
    /// Its index; behind those of the workloads that of a tenant.
    id: TenantId,
    weight: u64,
    /// 0 goes first.
    priority: u32,
    waiting: Queue,
    /// Start tag of the last one that went in.
    begun: u64,
    /// Start tag of the first that waits.
    start: u64,
    /// Finish tag of the last one that went in.
    finish: u64,
}

impl Shares {
    /// The sharing of array `index`; none unless a load on it says its share.
    pub(crate) fn of(plan: &Plan, index: usize, array: &ArrayPlan) -> Option<Box<Shares>> {
        let loads = plan.workloads.iter().map(|load| (load.array, load.share));
        let outside = plan.tenants.iter().map(|own| (own.array, own.share));
        let all = (0..).zip(loads.chain(outside));
        let own = all.filter(|(_, (array, _))| *array as usize == index);
        let tenants: Vec<Tenant> = own
            .filter_map(|(id, (_, share))| {
                let share = share?;
                Some(Tenant {
                    id: TenantId::new(id),
                    weight: u64::from(share.weight),
                    priority: share.priority,
                    waiting: Queue::default(),
                    begun: 0,
                    start: 0,
                    finish: 0,
                })
            })
            .collect();
        (!tenants.is_empty()).then(|| {
            Box::new(Shares {
                depth: array.shared_depth,
                inside: 0,
                tenants,
            })
        })
    }

    fn tenant(&mut self, id: TenantId) -> Option<usize> {
        let mut tenants = self.tenants.iter();
        tenants.position(|tenant| tenant.id == id)
    }

    /// An I/O of a load comes: true if it goes in at once, else it waits.
    pub(crate) fn offer(&mut self, ios: &mut Ios, io: IoId, from: TenantId) -> bool {
        let Some(at) = self.tenant(from) else {
            return true;
        };
        let now = self.virtual_time(self.tenants[at].priority);
        let tenant = &mut self.tenants[at];
        if tenant.waiting.is_empty() {
            tenant.start = tenant.finish.max(now);
        }
        tenant.waiting.push(ios, io);
        self.next(ios) == Some(io)
    }

    /// An I/O of a load has left the array.
    pub(crate) fn leave(&mut self, from: TenantId) {
        if self.tenant(from).is_some() {
            self.inside = self.inside.saturating_sub(1);
        }
    }

    /// The I/O that goes in next, if there is a place and one waits.
    pub(crate) fn next(&mut self, ios: &Ios) -> Option<IoId> {
        if self.inside >= self.depth {
            return None;
        }
        let waiting = self.tenants.iter_mut();
        let waiting = waiting.filter(|tenant| !tenant.waiting.is_empty());
        let tenant = waiting.min_by_key(|tenant| (tenant.priority, tenant.start))?;
        let id = tenant.waiting.pop(ios)?;
        tenant.begun = tenant.start;
        let cost = ios[id].bytes.div_ceil(COST_BYTES).max(1);
        tenant.finish = tenant.start + cost * UNIT / tenant.weight;
        // The one behind it starts where it ends.
        tenant.start = tenant.finish;
        self.inside += 1;
        Some(id)
    }

    /// Start tag of the last I/O of a class that went in; behind an idle time the last finish tag:
    /// what an idle tenant has missed is gone.
    fn virtual_time(&self, priority: u32) -> u64 {
        let of_class = self.tenants.iter();
        let of_class = of_class.filter(|tenant| tenant.priority == priority);
        let is_idle = self.inside == 0 && of_class.clone().all(|tenant| tenant.waiting.is_empty());
        let tags = of_class.map(|tenant| if is_idle { tenant.finish } else { tenant.begun });
        tags.max().unwrap_or(0)
    }

    /// The array is empty and nobody waits.
    pub(crate) fn restart(&mut self) {
        self.inside = 0;
        for tenant in &mut self.tenants {
            tenant.waiting = Queue::default();
        }
    }
}
