//! The threads of the host: which core each has, and what waits for it.

use crate::ids::ThreadId;
use crate::path::IoPath;
use crate::path::agenda::Up;
use crate::path::loads::clients::{Client, Clients};
use crate::state::event::{Event, LoadsEvent};
use crate::state::owner::{Owner, OwnerOf};
use raidlab_io::{Io, IoId, Op, Part, Queue};
use raidlab_kernel::{Table, Time};
use raidlab_models::Host;

/// The host's CPU and the threads that loads, page caches and outside callers run on.
#[derive(Debug)]
pub(crate) struct Threads {
    pub(super) host: Host,
    /// Completions that wait for their thread, or for it to get a core.
    pub(super) signalled: Table<ThreadId, Queue>,
    /// Open arrivals that wait for their thread to get a core.
    pub(super) arrived: Table<ThreadId, Queue>,
    /// By thread: whether it is about to look for further completions.
    reaping: Table<ThreadId, bool>,
    /// When the host looks for a free core; never if no thread waits.
    pub(super) core_look: Time,
    /// By command of a page cache: the thread that has issued it.
    page_threads: Vec<ThreadId>,
    /// By request that makes writes durable: the thread that hears of its completion.
    sync_threads: Vec<ThreadId>,
    /// Links of clients, where loads have them.
    clients: Option<Box<Clients>>,
}

impl Threads {
    /// Threads of a host, for which nothing waits.
    pub(crate) fn new(host: Host, threads: usize, clients: Option<Box<Clients>>) -> Threads {
        Threads {
            host,
            signalled: vec![Queue::default(); threads].into(),
            arrived: vec![Queue::default(); threads].into(),
            reaping: vec![false; threads].into(),
            core_look: Time::NEVER,
            page_threads: Vec::new(),
            sync_threads: Vec::new(),
            clients,
        }
    }

    /// The host's CPU.
    pub(crate) fn host(&self) -> &Host {
        &self.host
    }

    pub(crate) fn host_mut(&mut self) -> &mut Host {
        &mut self.host
    }

    /// The links of a client that data of an I/O cross this way, if it has its own.
    #[inline(always)]
    pub(crate) fn crossed(&self, io: &Io, thread: ThreadId, way: Op) -> Option<Client> {
        self.clients.as_ref()?.crossed(io, thread, way)
    }

    /// Write data of a request leave their client.
    pub(crate) fn send(&self, path: &mut IoPath, id: IoId, now: Time) {
        let thread = self.behind(path, id);
        if let Some(client) = self.crossed(&path.ios[id], thread, Op::Write) {
            client.send(path, id, now);
        }
    }

    /// The thread that has issued a request, and hears of it.
    #[inline]
    pub(crate) fn behind(&self, path: &IoPath, id: IoId) -> ThreadId {
        match path.ios[id].owner.slot() {
            Some(slot) => path.slots[slot].thread,
            None => self.behind_no_slot(path, id),
        }
    }

    /// The numbers of all.
    pub(crate) fn ids(&self) -> impl Iterator<Item = ThreadId> + use<> {
        self.signalled.ids()
    }

    /// True if something waits for a thread, or for it to get a core.
    pub(crate) fn is_awaited(&self, thread: ThreadId) -> bool {
        !self.signalled[thread].is_empty() || !self.arrived[thread].is_empty()
    }

    /// The thread of a complete request hears of it now; false if the request waits for its thread,
    /// or for the thread to get a core.
    #[inline]
    pub(super) fn hears(
        &mut self,
        path: &mut IoPath,
        id: IoId,
        thread: ThreadId,
        now: Time,
    ) -> bool {
        let goes_on = |other: ThreadId| self.reaping[other];
        let has_core = self.host.may_complete(thread, now, goes_on);
        let waits = self.waits(path, id, thread, now);
        if has_core && !waits {
            return true;
        }
        // It is no longer between host and host.
        path.ios[id].entered = Time::NEVER;
        self.signalled[thread].push(&mut path.ios, id);
        if has_core {
            self.look_again(path, thread, now);
        } else {
            self.look_for_core(path, now);
        }
        false
    }

    /// Whether a completion has to wait until its thread has done what it is at.
    #[inline]
    pub(crate) fn waits(&self, path: &IoPath, id: IoId, thread: ThreadId, now: Time) -> bool {
        (self.host.has_run_queues() || matches!(path.ios[id].owner.into(), Owner::Outside(_)))
            && (!self.signalled[thread].is_empty() || self.host.free_at(thread) > now)
    }

    /// The thread looks for further completions when it has done what it is at.
    pub(crate) fn look_again(&mut self, path: &mut IoPath, thread: ThreadId, now: Time) {
        let looks = &mut self.reaping[thread];
        if !*looks {
            *looks = true;
            let at = self.host.free_at(thread).max(now);
            path.calendar.push(at, LoadsEvent::Reap(thread).into());
        }
    }

    /// A thread looks for completions; true if it works them off now.
    pub(super) fn look(&mut self, path: &mut IoPath, thread: ThreadId, now: Time) -> bool {
        self.reaping[thread] = false;
        if self.signalled[thread].is_empty() {
            return false;
        }
        if self.host.free_at(thread) > now {
            self.look_again(path, thread, now);
        } else if self.host.may_begin(thread, now) {
            return true;
        } else {
            self.look_for_core(path, now);
        }
        false
    }

    /// One look is due at a time.
    pub(crate) fn look_for_core(&mut self, path: &mut IoPath, now: Time) {
        if let Some(at) = self.host.next_look()
            && self.core_look == Time::NEVER
        {
            self.core_look = at.max(now);
            path.calendar.push(self.core_look, Event::Core);
        }
    }

    /// The thread that completes a request of an outside caller or of a page cache.
    pub(crate) fn behind_no_slot(&self, path: &IoPath, id: IoId) -> ThreadId {
        let io = &path.ios[id];
        match io.owner.into() {
            Owner::Pages(command) => self.page_threads[command as usize],
            Owner::Sync(step) => self.sync_threads[step as usize],
            _ => path.outside_threads.of(io.owner.outside_number()),
        }
    }

    /// A thread issues a page cache's command, and will hear of its completion.
    pub(crate) fn set_page_thread(&mut self, command: u32, thread: ThreadId) {
        let command = command as usize;
        if command >= self.page_threads.len() {
            self.page_threads.resize(command + 1, ThreadId::default());
        }
        self.page_threads[command] = thread;
    }

    /// A thread issues a request that makes writes durable, and will hear of its completion.
    pub(crate) fn set_sync_thread(&mut self, step: u32, thread: ThreadId) {
        let step = step as usize;
        if step >= self.sync_threads.len() {
            self.sync_threads.resize(step + 1, ThreadId::default());
        }
        self.sync_threads[step] = thread;
    }

    /// An open load's I/O gets its thread, or waits for it to get a core.
    pub(crate) fn begin(&mut self, path: &mut IoPath, id: IoId, thread: ThreadId, now: Time) -> Up {
        if self.host.may_begin(thread, now) {
            self.hand_in(path, id, thread, now)
        } else {
            // It is not between host and host yet.
            path.ios[id].entered = Time::NEVER;
            self.arrived[thread].push(&mut path.ios, id);
            self.look_for_core(path, now);
            Up::None
        }
    }

    /// Its thread spends CPU time on it and hands it in.
    #[inline(always)]
    pub(crate) fn hand_in(
        &mut self,
        path: &mut IoPath,
        id: IoId,
        thread: ThreadId,
        now: Time,
    ) -> Up {
        let io = &mut path.ios[id];
        let served = self.host.submit(thread, io.op, io.bytes, now);
        io.charge_stay(Part::HostWait, Part::Host, served);
        let mut ready = served.end;
        let array = &path.arrays[io.array];
        if array.software {
            let commands = array.layout.commands(io.op, io.range());
            let split = self.host.split(thread, ready, commands);
            io.charge_stay(Part::HostWait, Part::Raid, split);
            ready = split.end;
        }
        if self.crossed(io, thread, Op::Write).is_some() {
            // It is not between host and host yet.
            io.entered = Time::NEVER;
            path.calendar.push(ready, LoadsEvent::Sent(id).into());
            return Up::None;
        }
        io.entered = ready;
        if ready > path.calendar.now() {
            if path.arrays[io.array].in_memory {
                path.handed_in = id;
            }
            path.calendar.push(ready, Event::Admit(id));
            Up::None
        } else {
            path.admit_at_once(id, ready)
        }
    }
}
