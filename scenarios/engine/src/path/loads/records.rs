//! The loads with what is recorded of them: counts, meters, and when those that end are over.

use crate::ids::{ArrayId, WorkloadId};
use crate::path::IoPath;
use crate::path::loads::outside_record::OutsideRecord;
use crate::state::arrivals::Arrivals;
use crate::state::event::Event;
use crate::state::measure::Meter;
use crate::state::owner::Owner;
use crate::state::records::{Tally, Workload};
use raidlab_io::{Io, IoId, Mark};
use raidlab_kernel::{Nanos, Table, Time};
use raidlab_models::Fault;

/// Change of the requests in flight, as a share of those recorded, that matters to nobody.
const BACKLOG: f64 = 0.01;
/// A change of them that is no sign of anything.
const FEW_IN_FLIGHT: u64 = 5;
/// Standard deviations of arrivals less completions beyond which growth is not chance.
const CHANCE: f64 = 3.0;
/// Share of a rate by which two recordings may differ, and have one rate.
const SAME_RATE: f64 = 0.05;

/// Who issues I/Os, and what is recorded of them.
pub(crate) struct Records {
    pub(super) workloads: Table<WorkloadId, Workload>,
    /// What is recorded of I/Os of an outside caller.
    pub(super) outside: OutsideRecord,
    pub(super) tally: Tally,
    pub(super) recorded: u64,
    /// Records that have slow I/Os of which nobody has said what was in work beside them, each
    /// with the array of these.
    pub(super) noticed: Vec<(u32, ArrayId)>,
    /// Whether more arrived than was answered, or less, while it was recorded.
    pub(super) backlog_changed: bool,
    /// By how many requests the backlog grew in the last recording, if by more than chance, and how
    /// many were served.
    pub(super) growth: Option<(u64, u64)>,
    /// Whether it grew so in the last two recordings, while as many were served.
    pub(super) falls_behind: bool,
    /// Loads that have an end and have not come to it.
    pub(super) ending: u32,
    /// When the last of them did.
    pub(super) over: Option<Time>,
    /// Entries of the log that begin a period in the loads' records.
    pub(super) noted: usize,
}

impl Records {
    /// Loads of which nothing is recorded yet; `ending` of them come to an end.
    pub(super) fn new(workloads: Table<WorkloadId, Workload>, ending: u32) -> Records {
        Records {
            workloads,
            outside: OutsideRecord::default(),
            tally: Tally::default(),
            recorded: 0,
            noticed: Vec::new(),
            backlog_changed: false,
            growth: None,
            falls_behind: false,
            ending,
            over: None,
            noted: 0,
        }
    }

    pub(crate) fn workloads(&self) -> &Table<WorkloadId, Workload> {
        &self.workloads
    }

    #[inline]
    pub(crate) fn workload(&self, index: WorkloadId) -> &Workload {
        &self.workloads[index]
    }

    pub(crate) fn workload_mut(&mut self, index: WorkloadId) -> &mut Workload {
        &mut self.workloads[index]
    }

    /// What is recorded of I/Os of an outside caller.
    pub(crate) fn outside(&self) -> &OutsideRecord {
        &self.outside
    }

    pub(crate) fn outside_mut(&mut self) -> &mut OutsideRecord {
        &mut self.outside
    }

    /// What has been issued and completed.
    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// I/Os recorded.
    #[inline]
    pub(crate) fn recorded(&self) -> u64 {
        self.recorded
    }

    /// Records an I/O of a load.
    #[inline(always)]
    pub(super) fn record(&mut self, index: WorkloadId, io: &Io) {
        let meter = &mut self.workloads[index].meter;
        if meter.record(io) {
            self.recorded += 1;
            if meter.slowest.offer(io) {
                self.notice(index.number(), io.array);
            }
        }
    }

    /// A record has slow I/Os on an array that somebody should look at.
    #[cold]
    pub(crate) fn notice(&mut self, record: u32, array: ArrayId) {
        if !self.noticed.contains(&(record, array)) {
            self.noticed.push((record, array));
        }
    }

    /// A record with slow I/Os that somebody should look at, and their array.
    #[inline]
    pub(crate) fn take_noticed(&mut self) -> Option<(u32, ArrayId)> {
        self.noticed.pop()
    }

    /// The record of a load or, behind these, of an outside caller.
    pub(crate) fn meter(&self, at: usize) -> Option<&Meter> {
        let outside = at.wrapping_sub(self.workloads.len());
        let own = self.workloads.as_slice().get(at).map(|load| &load.meter);
        own.or_else(|| self.outside.meters().get(outside))
    }

    /// As `meter`, mutable.
    pub(crate) fn meter_mut(&mut self, at: usize) -> Option<&mut Meter> {
        let outside = at.wrapping_sub(self.workloads.len());
        let own = self
            .workloads
            .iter_mut()
            .nth(at)
            .map(|load| &mut load.meter);
        own.or_else(|| self.outside.meter_at(outside))
    }

    /// The record to which a request with this owner belongs, if there is one.
    pub(crate) fn load_of(&self, path: &IoPath, owner: Mark, array: ArrayId) -> Option<usize> {
        match owner.into() {
            Owner::Slot(slot) => Some(path.slots[slot].workload.index()),
            Owner::Outside(number) => {
                Some(self.workloads.len() + self.outside.place(number, array))
            }
            _ => None,
        }
    }

    /// Forgets what was recorded so far; what completes from `from` to `end` is recorded.
    pub(crate) fn begin_recording(&mut self, from: Time, end: Time) {
        for load in &mut self.workloads {
            load.meter.begin(from, end);
            load.backlog.begin(from, end);
        }
        self.recorded = self.workloads.iter().map(|load| load.meter.ios()).sum();
    }

    /// What the log says begins a period of every load's record.
    #[cold]
    pub(crate) fn note_log(&mut self, path: &mut IoPath) {
        for entry in &path.log.entries()[self.noted..] {
            for workload in &mut self.workloads {
                workload.meter.begin_period(entry.at, &entry.what);
            }
        }
        self.noted = path.log.len();
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
        self.compare_growth(self.in_flight().saturating_sub(before));
    }

    /// Whether open loads arrive faster than they are served, and go on to: their backlog grew twice
    /// by more than chance, while as many were served. Arrivals and completions scatter by the root
    /// of their number each. What a trace brings next nobody knows.
    fn compare_growth(&mut self, grown: u64) {
        let served = self.recorded;
        let chance = CHANCE * (2.0 * served as f64).sqrt();
        let traced = self.workloads.iter().any(|load| load.trace().is_some());
        let grows = self.backlog_changed && !traced && grown as f64 > chance;
        let lasts = |(grown_before, served_before): (u64, u64)| {
            let other = served.abs_diff(served_before) as f64;
            2 * grown >= grown_before && other <= chance.max(SAME_RATE * served as f64)
        };
        self.falls_behind = grows && self.growth.is_some_and(lasts);
        self.growth = grows.then_some((grown, served));
    }

    /// Whether open loads arrive faster than they are served, recording after recording: no longer
    /// warm-up brings a steady state.
    pub(crate) fn falls_behind(&self) -> bool {
        self.falls_behind
    }

    /// Whether the requests in flight grew or fell by much in the recording.
    pub(crate) fn has_other_backlog(&self) -> bool {
        self.backlog_changed
    }

    /// True if some load's rate, latency or backlog still changes in what was recorded.
    pub(crate) fn drift(&self, until: Time) -> bool {
        let changes = |load: &Workload| load.meter.is_steady(until) == Some(false);
        self.backlog_changed || self.workloads.iter().any(changes)
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

    /// A request of a trace is over at `at`, with its response time if it was served.
    #[inline(never)]
    pub(crate) fn trace_request_over(
        &mut self,
        path: &mut IoPath,
        id: IoId,
        took: Option<Nanos>,
        index: WorkloadId,
        at: Time,
    ) {
        let workload = &mut self.workloads[index];
        let Some(Arrivals::Traced(traced)) = &mut workload.arrivals else {
            return;
        };
        if let Some(next) = traced.over(id, took, at) {
            path.calendar.push(next, Event::Arrival(index));
        }
        self.place_over(index, at);
    }

    /// A place of a load that has an end issues nothing any more.
    pub(crate) fn place_over(&mut self, index: WorkloadId, now: Time) {
        if self.slot_over(index) {
            self.workload_over(now);
        }
    }

    /// A place of a load that has an end issues nothing any more; true if it was the last one.
    pub(crate) fn slot_over(&mut self, index: WorkloadId) -> bool {
        let workload = &mut self.workloads[index];
        workload.busy_slots -= 1;
        workload.busy_slots == 0
    }

    /// A load has come to its end; with the last of those that have one the run is over.
    pub(crate) fn workload_over(&mut self, now: Time) {
        self.ending -= 1;
        if self.ending == 0 {
            self.over = Some(now);
        }
    }

    /// When the last of the loads that have an end came to it.
    #[inline]
    pub(crate) fn over(&self) -> Option<Time> {
        self.over
    }
}
