//! The owners that stand below the page caches, and how what goes up passes between them.

use crate::host::page_cache::Below;
use crate::ids::{ArrayId, ThreadId};
use crate::path::IoPath;
use crate::path::agenda::{Call, LoadsCall, SsdCacheCall, Up};
use crate::path::loads::Loads;
use crate::raid::Raid;
use crate::ssd_cache::SsdCaches;
use crate::state::load::Request;
use raidlab_io::{Io, IoId, Mark};
use raidlab_kernel::Time;

/// What stands below the page caches, each owner with its own data.
pub(crate) struct Layers {
    pub(crate) path: IoPath,
    pub(crate) loads: Loads,
    pub(crate) raid: Raid,
    pub(crate) ssd_caches: SsdCaches,
}

impl Layers {
    /// Passes on what goes up, and works the agenda off.
    #[inline]
    pub(crate) fn settle(&mut self, up: Up, now: Time) {
        if up != Up::None {
            self.pass_up(up, now);
        }
        if !self.path.agenda.is_empty() {
            self.work_agenda_off(now);
        }
    }

    #[inline(never)]
    fn work_agenda_off(&mut self, now: Time) {
        while let Some(call) = self.path.agenda.pop() {
            let up = self.call_up(call, now);
            if up != Up::None {
                self.pass_later(up, now);
            }
        }
        self.prefetch();
    }

    /// Whether a request is a flush that has come back to md from all members.
    #[inline]
    fn is_back_at_md(&self, id: IoId) -> bool {
        let io = &self.path.ios[id];
        self.path.arrays[io.array].md_flushes.pass_on(io)
    }

    /// All members have been flushed: another worker of md hears of it.
    #[cold]
    fn members_flushed(&mut self, id: IoId, now: Time) {
        let IoPath {
            arrays,
            ios,
            calendar,
            ..
        } = &mut self.path;
        let array = ios[id].array;
        arrays[array].md_flushes.are_back(ios, calendar, id, now);
    }

    /// One that ends with the flush of an array that is over.
    fn next_rider(&mut self, array: ArrayId, now: Time) -> Option<IoId> {
        let IoPath { arrays, ios, .. } = &mut self.path;
        arrays[array].md_flushes.next_rider(ios, now)
    }

    /// A flush that md has passed on is over, and with it those that it stood for; the next one goes.
    pub(crate) fn flush_over(&mut self, id: IoId, now: Time) {
        let array = self.path.ios[id].array;
        let up = self.loads.complete(&mut self.path, id, now);
        self.settle(up, now);
        while let Some(rider) = self.next_rider(array, now) {
            self.loads.flushed_beside(&mut self.path, rider, now);
            self.settle(Up::None, now);
        }
        let IoPath {
            arrays,
            ios,
            calendar,
            ..
        } = &mut self.path;
        arrays[array].md_flushes.end(ios, calendar, now);
    }

    /// As `pass_up`, for what comes from the agenda.
    fn pass_later(&mut self, up: Up, now: Time) {
        self.pass_up(up, now);
    }

    /// Brings near the processor what the look-ups of a request just handed in will need.
    #[inline]
    pub(crate) fn prefetch(&mut self) {
        let id = std::mem::replace(&mut self.path.handed_in, Io::NONE);
        if id != Io::NONE {
            self.raid.prefetch_tables(&self.path, id);
        }
    }

    /// Passes what a handler gives to the layer above it.
    #[inline(always)]
    fn pass_up(&mut self, mut up: Up, now: Time) {
        loop {
            up = match up {
                Up::None => return,
                Up::Complete(id) if self.is_back_at_md(id) => return self.members_flushed(id, now),
                Up::Complete(io) => {
                    let up = self.loads.complete(&mut self.path, io, now);
                    self.prefetch();
                    up
                }
                Up::Job(job) => return self.raid.stripes_mut().step_job(&mut self.path, job, now),
                Up::Firmware(io) => self.raid.take_up_in_memory(&mut self.path, io, now),
                Up::GoOn(io) => self.raid.go_on(&mut self.path, io, now),
                Up::PassOn(io) => self.raid.pass_on(&mut self.path, io, now),
                Up::AtMedium(io) => {
                    match self
                        .raid
                        .stripes_mut()
                        .state_mut()
                        .meet_medium(&mut self.path, io, now)
                    {
                        true => return,
                        false => self.path.ascend(io, now),
                    }
                }
                Up::Examine(io) => match self.raid.stripes_mut().examine(&mut self.path, io, now) {
                    true => return,
                    false => self.path.join(io, now),
                },
            }
        }
    }

    /// A call of the agenda.
    fn call_up(&mut self, call: Call, now: Time) -> Up {
        match call {
            Call::Up(up) => up,
            Call::Loads(call) => self.loads_call(call, now),
            Call::Raid(call) => self.raid.resume(&mut self.path, call, now),
            Call::SsdCache(call) => {
                self.ssd_cache_call(call, now);
                Up::None
            }
        }
    }

    fn loads_call(&mut self, call: LoadsCall, now: Time) -> Up {
        let Layers { path, loads, .. } = self;
        match call {
            LoadsCall::Signal(io) => {
                loads.signal(path, io, now);
                Up::None
            }
            LoadsCall::WorkOff(thread) => loads.work_off(path, thread, now),
            LoadsCall::Cores => loads.hand_over_cores(path, now),
        }
    }

    fn ssd_cache_call(&mut self, call: SsdCacheCall, now: Time) {
        let Layers {
            path,
            raid,
            ssd_caches,
            ..
        } = self;
        match call {
            SsdCacheCall::Access(io) => ssd_caches.count_access(raid, path, io, now),
            SsdCacheCall::Copy(job) => ssd_caches.step_copy(raid, path, job, now),
            SsdCacheCall::Promote(array) => ssd_caches.promote_hot(raid, path, array, now),
            SsdCacheCall::Clean(array) => ssd_caches.write_lines_back(raid, path, array, now),
        }
    }
}

impl Below for Layers {
    fn parts(&mut self) -> (&mut IoPath, &mut Loads) {
        (&mut self.path, &mut self.loads)
    }

    fn path(&mut self) -> &mut IoPath {
        &mut self.path
    }

    fn loads(&mut self) -> &mut Loads {
        &mut self.loads
    }

    fn enter(&mut self, request: Request, array: ArrayId, thread: ThreadId, owner: Mark, at: Time) {
        let Layers { path, loads, .. } = self;
        let (_, up) = loads.enter(path, request, array, thread, owner, at);
        let now = path.calendar.now();
        self.settle(up, now);
        self.prefetch();
    }
}
