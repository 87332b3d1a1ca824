//! The operating system's page cache between a load and its array.
//!
//! A buffered call costs the calling thread CPU time, for itself and for each page that is looked
//! up and copied. What a read does not find in memory is read from the array, and ahead of a
//! stream; the caller sleeps until its pages are there. What is written becomes dirty pages, which
//! a thread of its own writes back in order of position, neighbours as one request. It begins when
//! dirty pages exceed a first limit or have become old; beyond a second limit writers sleep. A
//! load that covers its area a given number of times ends with an fsync: everything dirty goes
//! out, then the drives flush. See docs/explanation/page-cache.md.

mod pages;
mod read_ahead;

use crate::host::page_cache::pages::{DIRTY, PRESENT, Pages, READING, WRITING};
use crate::host::page_cache::read_ahead::{ReadAhead, Window};
use crate::ids::{ArrayId, PlaceId, ThreadId, WorkloadId};
use crate::path::IoPath;
use crate::path::loads::Loads;
use crate::plan::PageCacheParams;
use crate::plan::WorkloadPlan;
use crate::state::load::Request;
use crate::state::owner::{Owner, OwnerOf};
use crate::state::records::Slot;
use raidlab_io::{Io, IoId, Mark, Op, Part};
use raidlab_kernel::{Table, Time};
use std::collections::VecDeque;

/// Bytes of a page.
const PAGE: u64 = 4096;

/// Where a call stands.
#[derive(Clone, Copy, Debug)]
struct Call {
    io: IoId,
    slot: PlaceId,
    /// The next page, and the one behind the last.
    page: u32,
    end: u32,
}

/// A request of the cache to its array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Command {
    cache: WorkloadId,
    first: u32,
    count: u32,
    /// The call that sleeps until this very request is done.
    waiter: IoId,
}

/// The page cache of one workload's file.
#[derive(Debug)]
pub(crate) struct PageCache {
    params: PageCacheParams,
    array: ArrayId,
    start: u64,
    /// The thread that writes back.
    flusher: ThreadId,
    pages: Pages,
    /// One for each load thread.
    readers: Vec<ReadAhead>,
    /// Calls that wait for a page, and writers that wait for dirty pages to become fewer.
    blocked: Vec<Call>,
    throttled: VecDeque<Call>,
    background: u32,
    limit: u32,
    cursor: u32,
    in_flight: u32,
    /// When the oldest dirty page became so.
    dirty_since: Option<Time>,
    expired: bool,
    /// The load has ended: everything goes out.
    syncing: bool,
}

impl PageCache {
    pub(crate) fn new(
        plan: &WorkloadPlan,
        params: PageCacheParams,
        flusher: ThreadId,
    ) -> PageCache {
        let count = plan.area_bytes.div_ceil(PAGE) as u32;
        let capacity = (params.memory_bytes / PAGE) as u32;
        let mut pages = Pages::new(count, capacity);
        if params.holds_end {
            for page in count.saturating_sub(capacity)..count {
                pages.insert(page, PRESENT);
            }
        }
        let share = |share: f64| ((f64::from(capacity) * share) as u32).max(1);
        let most = (params.read_ahead_bytes / PAGE) as u32;
        PageCache {
            params,
            array: ArrayId::new(plan.array),
            start: plan.area_start_bytes,
            flusher,
            pages,
            readers: vec![ReadAhead::new(most); plan.threads as usize],
            blocked: Vec::with_capacity(plan.threads as usize),
            throttled: VecDeque::with_capacity(plan.threads as usize),
            background: share(params.background_share),
            limit: share(params.dirty_share),
            cursor: 0,
            in_flight: 0,
            dirty_since: None,
            expired: false,
            syncing: false,
        }
    }

    /// The thread that writes back.
    fn is_clean(&self) -> bool {
        self.pages.dirty() == (0, 0)
    }

    fn must_wait(&self) -> bool {
        let (dirty, writing) = self.pages.dirty();
        dirty + writing > self.limit
    }

    fn writes_back(&self) -> bool {
        let (dirty, _) = self.pages.dirty();
        dirty > 0 && (self.syncing || self.expired || dirty > self.background)
    }

    /// The next run of dirty neighbours, which sets out for the drive.
    fn next_run(&mut self) -> Option<(u32, u32)> {
        let first = self.pages.next_dirty(self.cursor)?;
        let most = (self.params.request_bytes / PAGE).max(1) as u32;
        let end = (first + most).min(self.pages.count());
        let mut page = first;
        while page < end && self.pages.is(page, DIRTY) && !self.pages.is(page, WRITING) {
            self.pages.set_out(page);
            page += 1;
        }
        self.cursor = if page == self.pages.count() { 0 } else { page };
        Some((first, page - first))
    }
}

/// All page caches of a system, by workload, and their requests in flight.
#[derive(Debug, Default)]
pub(crate) struct PageCaches {
    pub(crate) of_workload: Table<WorkloadId, Option<Box<PageCache>>>,
    pub(crate) commands: Vec<Command>,
    pub(crate) free: Vec<u32>,
}

impl PageCaches {
    /// True if this is a call into a page cache, which never enters the array itself.
    pub(crate) fn has_call(&self, slots: &Table<PlaceId, Slot>, owner: Mark) -> bool {
        let workload = |slot: PlaceId| slots[slot].workload;
        owner.slot().is_some_and(|slot| self.serves(workload(slot)))
    }

    /// Whether a workload goes through a page cache.
    #[inline]
    pub(crate) fn serves(&self, workload: WorkloadId) -> bool {
        self.of_workload[workload].is_some()
    }

    /// Takes a workload's cache out of the table while it is at work.
    pub(crate) fn take(&mut self, workload: WorkloadId) -> Option<Box<PageCache>> {
        self.of_workload[workload].take()
    }

    fn put_back(&mut self, workload: WorkloadId, cache: Box<PageCache>) {
        self.of_workload[workload] = Some(cache);
    }

    pub(crate) fn claim(&mut self, command: Command) -> u32 {
        if let Some(index) = self.free.pop() {
            self.commands[index as usize] = command;
            return index;
        }
        self.commands.push(command);
        self.commands.len() as u32 - 1
    }
}

/// What stands below a page cache.
pub(crate) trait Below {
    fn parts(&mut self) -> (&mut IoPath, &mut Loads);
    fn path(&mut self) -> &mut IoPath;
    fn loads(&mut self) -> &mut Loads;
    /// A thread enters a request; all that goes up at once is dealt with.
    fn enter(&mut self, request: Request, array: ArrayId, thread: ThreadId, owner: Mark, at: Time);
}

impl PageCaches {
    /// A place of a load calls the operating system, or has nothing more to ask for.
    pub(crate) fn issue(&mut self, below: &mut impl Below, slot: PlaceId, now: Time) {
        let Slot { workload, own, .. } = below.path().slots[slot];
        let loads = below.loads();
        if let Some(request) = loads.records_mut().workload_mut(workload).load.next(own) {
            self.call(below, slot, request, now);
        } else if loads.records_mut().slot_over(workload) {
            self.sync(below, workload, now);
        }
    }

    /// A load thread calls the operating system to read or write through the page cache.
    pub(crate) fn call(
        &mut self,
        below: &mut impl Below,
        slot: PlaceId,
        request: Request,
        now: Time,
    ) {
        let Slot {
            workload, thread, ..
        } = below.path().slots[slot];
        let Some(mut cache) = self.take(workload) else {
            return;
        };
        let (path, loads) = below.parts();
        let id = path.ios.claim();
        let io = &mut path.ios[id];
        *io = Io::new(request.op, request.range(), now);
        io.owner = Owner::Slot(slot).into();
        io.array = cache.array;
        let cost = match request.op {
            Op::Read => cache.params.read_call_ns,
            _ => cache.params.write_call_ns,
        };
        let served = loads.threads_mut().host_mut().work(thread, now, cost);
        io.charge_stay(Part::HostWait, Part::Host, served);
        let within = request.offset - cache.start;
        let call = Call {
            io: id,
            slot,
            page: (within / PAGE) as u32,
            end: (within + request.bytes).div_ceil(PAGE) as u32,
        };
        self.go_through(below, &mut cache, workload, call, served.end);
        self.put_back(workload, cache);
    }

    /// Works a call's pages off until one is missing or all are done.
    fn go_through(
        &mut self,
        below: &mut impl Below,
        cache: &mut PageCache,
        workload: WorkloadId,
        mut call: Call,
        now: Time,
    ) {
        let mut at = now;
        while call.page < call.end {
            if self.lacks(below, cache, &call) {
                self.fetch(below, cache, workload, &call, at);
                cache.blocked.push(call);
                return;
            }
            at = self.work_off_page(below, cache, workload, &call, at);
            call.page += 1;
        }
        if below.path().ios[call.io].op == Op::Write {
            self.expire(cache, at);
            self.write_back(below, cache, workload, at);
            if cache.must_wait() {
                cache.throttled.push_back(call);
                return;
            }
        }
        self.call_done(below, call, at);
    }

    /// True if the call cannot go on without its next page's data: not if it writes all of it.
    fn lacks(&self, below: &mut impl Below, cache: &PageCache, call: &Call) -> bool {
        let io = &below.path().ios[call.io];
        let (start, from) = (io.offset - cache.start, u64::from(call.page) * PAGE);
        let whole = start <= from && from + PAGE <= start + io.bytes;
        !cache.pages.is(call.page, PRESENT) && (io.op == Op::Read || !whole)
    }

    /// Reads the call's next page, unless that is in flight, and with it what should be read ahead.
    fn fetch(
        &mut self,
        below: &mut impl Below,
        cache: &mut PageCache,
        workload: WorkloadId,
        call: &Call,
        at: Time,
    ) {
        if cache.pages.is(call.page, READING) {
            return;
        }
        let (thread, reader) = self.reader(below, workload, call);
        let window = if below.path().ios[call.io].op == Op::Read {
            cache.readers[reader].missed(call.page, call.end - call.page)
        } else {
            Window {
                start: call.page,
                size: 1,
                mark: None,
            }
        };
        self.read_window(below, cache, (workload, thread), window, call.io, at);
    }

    /// CPU time for a page that is there or will be written whole; returns when that is done.
    fn work_off_page(
        &mut self,
        below: &mut impl Below,
        cache: &mut PageCache,
        workload: WorkloadId,
        call: &Call,
        at: Time,
    ) -> Time {
        let page = call.page;
        let (thread, reader) = self.reader(below, workload, call);
        let reads = below.path().ios[call.io].op == Op::Read;
        if reads && cache.pages.unmark(page) {
            let window = cache.readers[reader].reached_mark();
            self.read_window(below, cache, (workload, thread), window, Io::NONE, at);
        }
        let cost = if reads {
            cache.params.read_page_ns
        } else {
            cache.params.write_page_ns
        };
        let served = below
            .loads()
            .threads_mut()
            .host_mut()
            .work(thread, at, cost);
        below.path().ios[call.io].charge_stay(Part::HostWait, Part::Host, served);
        if reads {
            cache.readers[reader].has_read(page + 1);
        } else {
            if !cache.pages.is(page, PRESENT | READING) {
                cache.pages.insert(page, PRESENT);
            }
            cache.pages.soil(page);
            cache.dirty_since.get_or_insert(served.end);
        }
        cache.pages.touch(page);
        served.end
    }

    /// The thread of a call, and its place among its workload's readers.
    fn reader(
        &self,
        below: &mut impl Below,
        workload: WorkloadId,
        call: &Call,
    ) -> (ThreadId, usize) {
        let thread = below.path().slots[call.slot].thread;
        let first = below.loads().records().workload(workload).first_thread;
        (thread, thread.index() - first.index())
    }

    fn call_done(&mut self, below: &mut impl Below, call: Call, at: Time) {
        let (path, loads) = below.parts();
        loads.call_done(path, call.io, call.slot, at);
    }

    /// Brings in what is missing of a window; `waiter` sleeps until the first request is done.
    fn read_window(
        &mut self,
        below: &mut impl Below,
        cache: &mut PageCache,
        (workload, thread): (WorkloadId, ThreadId),
        window: Window,
        mut waiter: IoId,
        at: Time,
    ) {
        let end = (window.start.saturating_add(window.size)).min(cache.pages.count());
        let mut page = window.start;
        while page < end {
            if cache.pages.is(page, PRESENT | READING) {
                page += 1;
                continue;
            }
            let first = page;
            while page < end && !cache.pages.is(page, PRESENT | READING) {
                cache.pages.insert(page, READING);
                page += 1;
            }
            let command = Command {
                cache: workload,
                first,
                count: page - first,
                waiter,
            };
            self.send_pages(below, cache, Op::Read, command, thread, at);
            waiter = Io::NONE;
        }
        if let Some(mark) = window.mark.filter(|&mark| mark < end) {
            cache.pages.mark(mark);
        }
    }

    fn send_pages(
        &mut self,
        below: &mut impl Below,
        cache: &PageCache,
        op: Op,
        command: Command,
        thread: ThreadId,
        at: Time,
    ) {
        let request = Request {
            fua: false,
            op,
            offset: cache.start + u64::from(command.first) * PAGE,
            bytes: u64::from(command.count) * PAGE,
        };
        let index = self.claim(command);
        let owner = Owner::Pages(index).into();
        below.loads().threads_mut().set_page_thread(index, thread);
        below.enter(request, cache.array, thread, owner, at);
    }

    /// Sends dirty pages to the drives, as long as there is a reason and room for requests.
    fn write_back(
        &mut self,
        below: &mut impl Below,
        cache: &mut PageCache,
        workload: WorkloadId,
        at: Time,
    ) {
        while cache.in_flight < cache.params.requests && cache.writes_back() {
            let Some((first, count)) = cache.next_run() else {
                return;
            };
            cache.in_flight += 1;
            let command = Command {
                cache: workload,
                first,
                count,
                waiter: Io::NONE,
            };
            self.send_pages(below, cache, Op::Write, command, cache.flusher, at);
        }
    }

    /// What has been dirty for long goes out, all of it.
    fn expire(&self, cache: &mut PageCache, now: Time) {
        if cache.pages.dirty().0 == 0 {
            cache.dirty_since = None;
            cache.expired = false;
        } else if let Some(since) = cache.dirty_since {
            cache.expired |= now.since(since) >= cache.params.expire_ns;
        }
    }

    /// A request of a page cache is complete.
    pub(crate) fn pages_returned(&mut self, below: &mut impl Below, id: IoId, now: Time) {
        let Owner::Pages(index) = below.path().ios[id].owner.into() else {
            return;
        };
        let command = self.commands[index as usize];
        self.free.push(index);
        let Some(mut cache) = self.take(command.cache) else {
            return;
        };
        match below.path().ios[id].op {
            Op::Read => self.pages_read(below, &mut cache, id, command, now),
            Op::Flush => below.loads().records_mut().workload_over(now),
            _ => self.pages_written(below, &mut cache, command, now),
        }
        self.put_back(command.cache, cache);
    }

    fn pages_read(
        &mut self,
        below: &mut impl Below,
        cache: &mut PageCache,
        id: IoId,
        command: Command,
        now: Time,
    ) {
        for page in command.first..command.first + command.count {
            cache.pages.has_come(page);
        }
        if command.waiter != Io::NONE {
            // The caller slept for exactly this request: it knows where its time went.
            let request = &below.path().ios[id];
            let (parts, from, to) = (request.parts, request.issued, request.mark);
            let waiter = &mut below.path().ios[command.waiter];
            if waiter.mark == from {
                waiter.parts.add(&parts);
                waiter.mark = to;
            }
        }
        let ready = |call: &Call, cache: &PageCache| cache.pages.is(call.page, PRESENT);
        while let Some(at) = cache.blocked.iter().position(|call| ready(call, cache)) {
            let call = cache.blocked.remove(at);
            below.path().ios[call.io].charge(Part::CacheWait, now);
            self.go_through(below, cache, command.cache, call, now);
        }
    }

    fn pages_written(
        &mut self,
        below: &mut impl Below,
        cache: &mut PageCache,
        command: Command,
        now: Time,
    ) {
        cache.in_flight -= 1;
        for page in command.first..command.first + command.count {
            cache.pages.has_gone(page);
        }
        self.expire(cache, now);
        self.write_back(below, cache, command.cache, now);
        while !cache.must_wait() {
            let Some(call) = cache.throttled.pop_front() else {
                break;
            };
            below.path().ios[call.io].charge(Part::CacheWait, now);
            self.call_done(below, call, now);
        }
        if cache.syncing && cache.is_clean() {
            self.flush_behind(below, cache, command.cache, now);
        }
    }

    /// A load that goes through a page cache has made all its calls.
    pub(crate) fn sync(&mut self, below: &mut impl Below, workload: WorkloadId, now: Time) {
        let Some(mut cache) = self.take(workload) else {
            return;
        };
        if below.loads().records().workload(workload).load.only_reads() {
            below.loads().records_mut().workload_over(now);
        } else {
            cache.syncing = true;
            self.write_back(below, &mut cache, workload, now);
            if cache.is_clean() {
                self.flush_behind(below, &cache, workload, now);
            }
        }
        self.put_back(workload, cache);
    }

    fn flush_behind(
        &mut self,
        below: &mut impl Below,
        cache: &PageCache,
        workload: WorkloadId,
        now: Time,
    ) {
        let command = Command {
            cache: workload,
            first: 0,
            count: 0,
            waiter: Io::NONE,
        };
        self.send_pages(below, cache, Op::Flush, command, cache.flusher, now);
    }
}
