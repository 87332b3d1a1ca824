//! The owners that stand below the page caches, and how what goes up passes between them.

use crate::host::page_cache::Below;
use crate::ids::ArrayId;
use crate::path::Path;
use crate::path::agenda::{Call, Up};
use crate::path::loads::Loads;
use crate::raid::Raid;
use crate::ssd_cache::SsdCaches;
use crate::state::load::Request;
use raidlab_io::Io;
use raidlab_io::Mark;
use raidlab_kernel::Time;

/// What stands below the page caches, each owner with its own data.
pub(crate) struct Layers {
    pub(crate) path: Path,
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
                Up::Complete(io) => {
                    let up = self.loads.complete(&mut self.path, io, now);
                    self.prefetch();
                    up
                }
                Up::Job(job) => return self.raid.step_job(&mut self.path, job, now),
                Up::Firmware(io) => self.raid.take_up_in_memory(&mut self.path, io, now),
                Up::GoOn(io) => self.raid.go_on(&mut self.path, io, now),
                Up::PassOn(io) => self.raid.pass_on(&mut self.path, io, now),
                Up::AtMedium(io) => match self.raid.meet_medium(&mut self.path, io, now) {
                    true => return,
                    false => self.path.ascend(io, now),
                },
                Up::Examine(io) => match self.raid.examine(&mut self.path, io, now) {
                    true => return,
                    false => self.path.join(io, now),
                },
            }
        }
    }

    /// A call of the agenda.
    fn call_up(&mut self, call: Call, now: Time) -> Up {
        match call {
            Call::Complete(io) => return self.loads.complete(&mut self.path, io, now),
            Call::Signal(io) => self.loads.signal(&mut self.path, io, now),
            Call::WorkOff(thread) => return self.loads.work_off(&mut self.path, thread, now),
            Call::Cores => return self.loads.hand_over_cores(&mut self.path, now),
            Call::Access(io) => {
                self.ssd_caches
                    .count_access(&mut self.raid, &mut self.path, io, now)
            }
            Call::Copy(job) => self
                .ssd_caches
                .step_copy(&mut self.raid, &mut self.path, job, now),
            Call::Promote(array) => {
                self.ssd_caches
                    .promote_hot(&mut self.raid, &mut self.path, array, now)
            }
            Call::Clean(array) => {
                self.ssd_caches
                    .write_lines_back(&mut self.raid, &mut self.path, array, now)
            }
            call => return self.raid.resume(&mut self.path, call, now),
        }
        Up::None
    }
}

impl Below for Layers {
    fn parts(&mut self) -> (&mut Path, &mut Loads) {
        (&mut self.path, &mut self.loads)
    }

    fn path(&mut self) -> &mut Path {
        &mut self.path
    }

    fn loads(&mut self) -> &mut Loads {
        &mut self.loads
    }

    fn enter(&mut self, request: Request, array: ArrayId, thread: u32, owner: Mark, at: Time) {
        let Layers { path, loads, .. } = self;
        let (_, up) = loads.enter(path, request, array, thread, owner, at);
        let now = path.now();
        self.settle(up, now);
        self.prefetch();
    }
}
