//! Loads and the host's CPU: who issues I/Os, and what is recorded of them.

pub(crate) mod completion;
pub(crate) mod durable;
pub(crate) mod holding;
pub(crate) mod outage;
pub(crate) mod outside;
pub(crate) mod reaping;
pub(crate) mod submission;
pub(crate) mod tenants;

use crate::ids::ArrayId;
use crate::path::Path;
use crate::path::loads::outside::OutsideRecord;
use crate::path::loads::tenants::{Tenant, Tenants};
use crate::state::arrivals::Arrivals;
use crate::state::event::Event;
use crate::state::measure::Meter;
use crate::state::owner::Owner;
use crate::state::records::{Tally, Workload};
use crate::state::shares::Shares;
use raidlab_io::{IoId, Mark, Queue};
use raidlab_kernel::{Nanos, Table, Time};
use raidlab_models::{Fault, Host};

/// Change of the requests in flight, as a share of those recorded, that matters to nobody.
const BACKLOG: f64 = 0.01;
/// A change of them that is no sign of anything.
const FEW_IN_FLIGHT: u64 = 5;

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
    workloads: Vec<Workload>,
    /// By array: how its tenants share it, if they do.
    shares: Table<ArrayId, Option<Box<Shares>>>,
    /// What is recorded of I/Os of an outside caller.
    outside: OutsideRecord,
    /// Which outside threads are held, and by what.
    tenants: Tenants,
    tally: Tally,
    recorded: u64,
    /// Records that have slow I/Os of which nobody has said what was in work beside them, each
    /// with the array of these.
    noticed: Vec<(u32, ArrayId)>,
    /// Whether more arrived than was answered, or less, while it was recorded.
    backlog_changed: bool,
    /// Loads that have an end and have not come to it.
    ending: u32,
    /// When the last of them did.
    over: Option<Time>,
    /// By command of a page cache: the thread that has issued it.
    page_threads: Vec<u32>,
    /// By request that makes writes durable: the thread that hears of its completion.
    sync_threads: Vec<u32>,
    /// Entries of the log that begin a period in the loads' records.
    noted: usize,
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
            workloads,
            shares,
            outside: OutsideRecord::default(),
            tenants,
            tally: Tally::default(),
            recorded: 0,
            noticed: Vec::new(),
            backlog_changed: false,
            ending,
            over: None,
            page_threads: Vec::new(),
            sync_threads: Vec::new(),
            noted: 0,
        }
    }

    pub(crate) fn workloads(&self) -> &[Workload] {
        &self.workloads
    }

    #[inline]
    pub(crate) fn workload(&self, index: u32) -> &Workload {
        &self.workloads[index as usize]
    }

    pub(crate) fn workload_mut(&mut self, index: u32) -> &mut Workload {
        &mut self.workloads[index as usize]
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

    /// What is recorded of I/Os of an outside caller.
    pub(crate) fn outside(&self) -> &OutsideRecord {
        &self.outside
    }

    pub(crate) fn outside_mut(&mut self) -> &mut OutsideRecord {
        &mut self.outside
    }

    /// Outside threads whose I/Os are held.
    pub(crate) fn tenants(&self) -> &[Tenant] {
        self.tenants.all()
    }

    /// What has been issued and completed.
    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// A record with slow I/Os that somebody should look at, and their array.
    #[inline]
    pub(crate) fn take_noticed(&mut self) -> Option<(u32, ArrayId)> {
        self.noticed.pop()
    }

    /// The record of a load or, behind these, of an outside caller.
    pub(crate) fn meter(&self, at: usize) -> Option<&Meter> {
        let outside = at.wrapping_sub(self.workloads.len());
        let own = self.workloads.get(at).map(|load| &load.meter);
        own.or_else(|| self.outside.meters().get(outside))
    }

    /// As `meter`, mutable.
    pub(crate) fn meter_mut(&mut self, at: usize) -> Option<&mut Meter> {
        let outside = at.wrapping_sub(self.workloads.len());
        let own = self.workloads.get_mut(at).map(|load| &mut load.meter);
        own.or_else(|| self.outside.meter_at(outside))
    }

    /// The record to which a request with this owner belongs, if there is one.
    pub(crate) fn load_of(&self, path: &Path, owner: Mark, array: ArrayId) -> Option<usize> {
        match owner.into() {
            Owner::Slot(slot) => Some(path.slots[slot as usize].workload as usize),
            Owner::Outside(number) => {
                Some(self.workloads.len() + self.outside.place(number, array))
            }
            _ => None,
        }
    }

    /// I/Os recorded.
    #[inline]
    pub(crate) fn recorded(&self) -> u64 {
        self.recorded
    }

    /// Forgets what was recorded so far; what completes from `from` to `end` is recorded.
    pub(crate) fn begin_recording(&mut self, from: Time, end: Time) {
        for load in &mut self.workloads {
            load.meter.begin(from, end);
            load.backlog.begin(from, end);
        }
        self.recorded = self.workloads.iter().map(|load| load.meter.ios()).sum();
    }

    /// Requests that were issued and are not completed.
    pub(crate) fn in_flight(&self) -> u64 {
        self.tally.issued - self.tally.completed - self.tally.abandoned
    }

    /// Compares the requests in flight with those `before` the recording: whether the difference
    /// puts the rate of an open load off. In a steady state as many leave as arrive.
    pub(crate) fn compare_backlog(&mut self, before: u64) {
        let change = self.in_flight().abs_diff(before);
        let most = (BACKLOG * self.recorded as f64) as u64;
        let open = self.workloads.iter().any(Workload::is_open);
        self.backlog_changed = open && change > most.max(FEW_IN_FLIGHT);
    }

    /// Whether the requests in flight grew or fell by much in the recording.
    pub(crate) fn has_other_backlog(&self) -> bool {
        self.backlog_changed
    }

    /// A request of a trace is over at `at`, with its response time if it was served.
    #[inline(never)]
    pub(crate) fn trace_request_over(
        &mut self,
        path: &mut Path,
        id: IoId,
        took: Option<Nanos>,
        index: u32,
        at: Time,
    ) {
        let workload = &mut self.workloads[index as usize];
        let Some(Arrivals::Traced(traced)) = &mut workload.arrivals else {
            return;
        };
        if let Some(next) = traced.over(id, took, at) {
            path.calendar.push(next, Event::Arrival(index));
        }
        self.place_over(index, at);
    }

    /// Requests of traces that were taken so far, and all of them.
    pub(crate) fn traced(&self) -> (u64, u64) {
        let traces = self.workloads.iter().filter_map(Workload::trace);
        traces.fold((0, 0), |(taken, all), trace| {
            (taken + trace.taken(), all + trace.scan().requests)
        })
    }

    /// What is wrong with a trace as it was read.
    pub(crate) fn trace_fault(&self) -> Option<Fault> {
        self.workloads.iter().find_map(|load| {
            let fault = load.trace()?.fault()?;
            Some(Fault::new(
                format!("{}.trace", load.name),
                &fault.key,
                &fault.allowed,
            ))
        })
    }

    /// True if some load's rate, latency or backlog still changes in what was recorded.
    pub(crate) fn drift(&self, until: Time) -> bool {
        let changes = |load: &Workload| load.meter.is_steady(until) == Some(false);
        self.backlog_changed || self.workloads.iter().any(changes)
    }

    /// When the last of the loads that have an end came to it.
    #[inline]
    pub(crate) fn over(&self) -> Option<Time> {
        self.over
    }
}
