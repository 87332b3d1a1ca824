//! Writes that are made durable: `fsync`, `fdatasync` and files that are opened so.
//!
//! A load's write is complete when the call behind it is: the record of the write lives on until
//! then. On an array without a file system the call is a flush. With one, its journal decides
//! (`journal`): a commit, for which several callers wait together, or a flush alone. Commits are
//! a thread's own requests to the array. See docs/explanation/sync-writes.md.

mod journal;

use crate::host::durability::journal::{Ask, Journal, Wait};
use crate::host::page_cache::Below;
use crate::ids::{ArrayId, FileId, PlaceId, ThreadId, WorkloadId};
use crate::path::loads::durable::durable;
use crate::plan::{ArrayPlan, FileSystemPlan, FlushCommand, Plan, SyncPlan};
use crate::state::load::Request;
use crate::state::owner::{Owner, OwnerOf};
use raidlab_io::{IoId, Op, Part};
use raidlab_jobs::plan::Syncs;
use raidlab_kernel::{Nanos, Table, Time};

/// What a request of this package to an array is for.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A caller waits for this flush.
    Flush(IoId),
    /// The commit of an array's journal goes on.
    Commit(ArrayId),
}

/// Who is in a journal's files: each load is one file, and so is each outside thread.
#[derive(Debug, Default)]
pub(crate) struct Durability {
    /// By load.
    calls: Table<WorkloadId, Option<SyncPlan>>,
    /// By place: writes since its last call.
    since: Table<PlaceId, u32>,
    /// By array.
    journals: Table<ArrayId, Option<Box<Journal>>>,
    /// The thread of the first array's journal; the others' are behind it.
    first_thread: ThreadId,
    outside_threads: u32,
    /// By outside thread: whether its writes allocate blocks.
    allocates: Vec<bool>,
    /// By outside thread: whether its writes carry FUA.
    forces: Vec<bool>,
    /// By array: whether a flush reaches any of its drives. Linux drops others where they begin.
    flushed: Table<ArrayId, bool>,
    /// By array: whether writes with FUA reach its drives so.
    takes_fua: Table<ArrayId, bool>,
    steps: Vec<Step>,
    free: Vec<u32>,
}

/// Threads of the host's own: one that writes back for each load, and, if any array has a file
/// system, one for each array's journal.
pub(crate) fn own_threads(plan: &Plan) -> usize {
    let journals = plan.arrays.iter().any(|array| array.file_system.is_some());
    plan.workloads.len() + usize::from(journals) * plan.arrays.len()
}

/// Whether a flush of an array reaches any of its drives, or the workers of its md.
fn is_flushed(plan: &Plan, array: &ArrayPlan) -> bool {
    let mut drives = array.drives.iter();
    array.md.flush_hand_ns > Nanos::ZERO
        || drives.any(|&drive| plan.drives[drive as usize].flush != FlushCommand::Dropped)
}

/// By outside thread: what is true of the calls of its job.
fn of_jobs(plan: &Plan, threads: u32, what: impl Fn(&Syncs) -> bool) -> Vec<bool> {
    let jobs = plan.jobs.iter().flat_map(|jobs| &jobs.threads);
    let mut found: Vec<bool> = jobs.map(|job| what(&job.syncs)).collect();
    found.resize(threads as usize, false);
    found
}

impl Durability {
    /// What a plan asks for, with `places` places of loads.
    pub(crate) fn new(plan: &Plan, places: usize) -> Durability {
        let threads: u32 = plan.workloads.iter().map(|load| load.threads).sum();
        let outside_threads = plan.outside_threads.max(1);
        let files = plan.workloads.len() + outside_threads as usize;
        let journal = |given: FileSystemPlan| Box::new(Journal::new(given, files));
        let arrays = plan.arrays.iter();
        Durability {
            calls: plan.workloads.iter().map(|load| load.sync).collect(),
            since: vec![0; places].into(),
            journals: arrays.map(|array| array.file_system.map(journal)).collect(),
            first_thread: ThreadId::new(threads + outside_threads + plan.workloads.len() as u32),
            outside_threads,
            allocates: of_jobs(plan, outside_threads, |syncs| syncs.allocates),
            forces: of_jobs(plan, outside_threads, |syncs| syncs.fua),
            flushed: plan
                .arrays
                .iter()
                .map(|array| is_flushed(plan, array))
                .collect(),
            takes_fua: plan.arrays.iter().map(|array| array.takes_fua).collect(),
            steps: Vec::new(),
            free: Vec::new(),
        }
    }

    /// True if writes with FUA to an array reach its drives so.
    pub(crate) fn takes_fua(&self, array: ArrayId) -> bool {
        self.takes_fua[array]
    }

    /// True if an array has a file system.
    pub(crate) fn serves(&self, array: ArrayId) -> bool {
        self.journals[array].is_some()
    }

    /// True if any array has a file system.
    pub(crate) fn has_journal(&self) -> bool {
        self.journals.iter().any(Option::is_some)
    }

    /// The file of an outside caller's I/O.
    fn outside_file(&self, number: u32) -> FileId {
        FileId::new(self.calls.len() as u32 + number % self.outside_threads)
    }

    /// True if an outside caller's writes carry FUA.
    pub(crate) fn forces(&self, number: u32) -> bool {
        self.forces[(number % self.outside_threads) as usize]
    }

    /// An outside caller writes.
    pub(crate) fn outside_writes(&mut self, array: ArrayId, number: u32, at: Time) {
        let file = self.outside_file(number);
        let allocates = self.allocates[(number % self.outside_threads) as usize];
        if let Some(journal) = &mut self.journals[array] {
            journal.write(file, at, allocates);
        }
    }

    /// A load's write is back, or a request of this package.
    pub(crate) fn returned(&mut self, below: &mut impl Below, id: IoId, now: Time) {
        let io = &below.path().ios[id];
        let (owner, array, issued) = (io.owner, io.array, io.issued);
        if let Owner::Sync(number) = owner.into() {
            return self.step_done(below, id, number, now);
        }
        let Some(slot) = owner.slot() else {
            return;
        };
        let file = below.path().slots[slot].workload;
        let Some(plan) = self.calls[file] else {
            return;
        };
        if let Some(journal) = &mut self.journals[array] {
            let at = if plan.allocates { now } else { issued };
            journal.write(file.into(), at, plan.allocates);
            if plan.fua {
                // An overwrite with O_DSYNC (fs/iomap/direct-io.c): nothing is left to do.
                return finish(below, id, now);
            }
        }
        let since = &mut self.since[slot];
        *since += 1;
        if *since < plan.every {
            return finish(below, id, now);
        }
        *since = 0;
        self.wait(below, id, file.into(), plan.times, now);
    }

    /// An outside caller's call; `id` is its record.
    pub(crate) fn call(
        &mut self,
        below: &mut impl Below,
        id: IoId,
        number: u32,
        times: bool,
        now: Time,
    ) {
        let file = self.outside_file(number);
        self.wait(below, id, file, times, now);
    }

    /// A caller waits for its file to be durable.
    fn wait(&mut self, below: &mut impl Below, id: IoId, file: FileId, times: bool, now: Time) {
        let array = below.path().ios[id].array;
        let wait = match &mut self.journals[array] {
            Some(journal) => journal.call(id, file, times),
            None => Wait::Flush,
        };
        match wait {
            Wait::Commit => {}
            Wait::Begins => self.begin(below, array, now),
            Wait::Flush => self.flush(below, id, array, now),
        }
    }

    fn begin(&mut self, below: &mut impl Below, array: ArrayId, now: Time) {
        if let Some(journal) = &mut self.journals[array] {
            let ask = journal.begin(now);
            self.ask(below, array, ask, now);
        }
    }

    /// A commit asks for a write or a flush.
    fn ask(&mut self, below: &mut impl Below, array: ArrayId, ask: Ask, now: Time) {
        let request = match ask {
            Ask::Write(range) | Ask::Forced(range) => Request {
                op: Op::Write,
                offset: range.offset,
                bytes: range.bytes,
                fua: matches!(ask, Ask::Forced(..)),
            },
            Ask::Flush => flush_request(),
            Ask::FlushBehind => Request {
                fua: true,
                ..flush_request()
            },
        };
        let thread = ThreadId::new(self.first_thread.number() + array.number());
        self.send(below, request, array, (Step::Commit(array), thread), now);
    }

    /// The drives' caches are flushed for a caller, unless the file system never does that.
    fn flush(&mut self, below: &mut impl Below, id: IoId, array: ArrayId, now: Time) {
        let journal = &self.journals[array];
        let never = journal
            .as_ref()
            .is_some_and(|journal| !journal.plan.flushes);
        if never || !self.flushed[array] {
            return self.wake(below, id, array, now);
        }
        let path = below.path();
        let owner = path.ios[id].owner;
        let thread = match owner.slot() {
            Some(slot) => path.slots[slot].thread,
            None => path.outside_threads.of(owner.outside_number()),
        };
        self.send(
            below,
            flush_request(),
            array,
            (Step::Flush(id), thread),
            now,
        );
    }

    fn send(
        &mut self,
        below: &mut impl Below,
        request: Request,
        array: ArrayId,
        (step, thread): (Step, ThreadId),
        now: Time,
    ) {
        let number = match self.free.pop() {
            Some(number) => {
                self.steps[number as usize] = step;
                number
            }
            None => {
                self.steps.push(step);
                self.steps.len() as u32 - 1
            }
        };
        below.loads().threads_mut().set_sync_thread(number, thread);
        below.enter(request, array, thread, Owner::Sync(number).into(), now);
    }

    /// A request of this package is back.
    fn step_done(&mut self, below: &mut impl Below, id: IoId, number: u32, now: Time) {
        let step = self.steps[number as usize];
        self.free.push(number);
        let (array, step_io) = (below.path().ios[id].array, id);
        match step {
            Step::Flush(call) => {
                account(below, call, step_io, now);
                step_over(below, step_io);
                self.wake(below, call, array, now);
            }
            Step::Commit(array) => {
                let Some(journal) = &mut self.journals[array] else {
                    return;
                };
                for call in journal.waiters() {
                    account(below, call, step_io, now);
                }
                step_over(below, step_io);
                match journal.go_on() {
                    Some(ask) => self.ask(below, array, ask, now),
                    None => self.committed(below, array, now),
                }
            }
        }
    }

    /// A commit is done: the next one begins if somebody waits for it, and callers go on.
    fn committed(&mut self, below: &mut impl Below, array: ArrayId, now: Time) {
        let Some(journal) = &mut self.journals[array] else {
            return;
        };
        let (waiters, late) = journal.end();
        let next = journal.is_wanted();
        if next {
            self.begin(below, array, now);
        }
        for call in late {
            self.flush(below, call, array, now);
        }
        for call in waiters {
            self.wake(below, call, array, now);
        }
    }

    /// A caller wakes up and goes on.
    fn wake(&mut self, below: &mut impl Below, id: IoId, array: ArrayId, now: Time) {
        let journal = &self.journals[array];
        let cost = journal.as_ref().map(|journal| journal.plan.wake_ns);
        let mut at = now;
        if let Some(cost) = cost {
            let (path, loads) = below.parts();
            let owner = path.ios[id].owner;
            let thread = match owner.slot() {
                Some(slot) => path.slots[slot].thread,
                None => path.outside_threads.of(owner.outside_number()),
            };
            let served = loads.threads_mut().host_mut().work(thread, now, cost);
            path.ios[id].charge(Part::CacheWait, now);
            path.ios[id].charge_stay(Part::HostWait, Part::Host, served);
            at = served.end;
        }
        finish(below, id, at);
    }
}

fn flush_request() -> Request {
    Request {
        op: Op::Flush,
        offset: 0,
        bytes: 0,
        fua: false,
    }
}

/// A caller slept while a request was under way: from its issue on it knows where the time went.
fn account(below: &mut impl Below, call: IoId, step: IoId, now: Time) {
    let path = below.path();
    let step = &path.ios[step];
    let (parts, from, to) = (step.parts, step.issued, step.mark);
    let call = &mut path.ios[call];
    if call.mark <= from {
        call.charge(Part::CacheWait, from);
        call.parts.add(&parts);
        call.mark = to;
    }
    call.charge(Part::CacheWait, now);
}

/// A caller's write or call is durable.
fn finish(below: &mut impl Below, id: IoId, at: Time) {
    let (path, loads) = below.parts();
    path.ios[id].charge(Part::CacheWait, at);
    durable(loads, path, id, at);
}

/// A request of this package is complete and recorded nowhere.
fn step_over(below: &mut impl Below, id: IoId) {
    let (path, loads) = below.parts();
    loads.own_request_done(path, id);
}
