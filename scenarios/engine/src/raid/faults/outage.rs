//! The power fails: what is in flight is gone, what the drives hold stays, and the cache's
//! content stays if a battery or flash preserves it. When the power is back, a controller whose
//! memory was preserved finishes the writes that were in flight to the drives; without that, a
//! stripe may have new data and old parity: the write hole.

use crate::ids::{ArrayId, ControllerId, JobId};
use crate::integrity::LostFrom;
use crate::path::IoPath;
use crate::raid::Raid;
use crate::raid::faults::content::Content;
use crate::raid::volume::Volume;
use crate::state::owner::job_of;
use raidlab_io::{Io, Op, Part};
use raidlab_kernel::Time;

impl Raid {
    /// Writes in flight to a drive get there in part. A drive to which a spare is being copied
    /// may then lack what the spare has: the copy goes on from there.
    pub(crate) fn tear_writes(&mut self, path: &mut IoPath) {
        for id in path.ios.ids().collect::<Vec<_>>() {
            let io = &path.ios[id];
            let command = io.parent != Io::NONE && job_of(io).is_none();
            if !command || io.op != Op::Write {
                continue;
            }
            let (drive, offset) = (io.drive, io.offset);
            if self.stripes.state().volumes().member_of(drive).is_none() {
                self.background
                    .begin_copies_again(&mut self.stripes, drive, offset);
            }
            let failed = path.drives[drive].health.failed;
            match &mut path.integrity {
                Some(integrity) if failed => integrity.drives.drop_payload(id),
                Some(integrity) => integrity.drives.tear(id, drive, offset),
                None => {}
            }
        }
    }

    /// The power has failed and is back at `back`. Gives the jobs that were writing, and whose data
    /// a battery or flash preserves.
    pub(crate) fn begin_outage(&mut self, path: &IoPath, back: Time, now: Time) -> Vec<JobId> {
        self.cache.power_fails(back.since(now));
        let memories = self.memories();
        let preserved = |array: ArrayId| {
            let controller = path.arrays[array].controller;
            controller.is_some_and(|controller| memories.survives(controller))
        };
        self.stripes.state().writing_jobs(preserved)
    }

    /// Jobs end, but for those that are preserved.
    pub(crate) fn drop_jobs(&mut self, path: &mut IoPath, preserved: &[JobId], now: Time) {
        self.background.power_fails();
        self.cache.end_destages(&self.stripes, path, preserved);
        self.stripes.drop_jobs(path, preserved, now);
        self.stripes.state_mut().redirects_mut().power_fails();
    }

    /// What caches hold is dirty data where it survives, and lost elsewhere: acknowledged writes that
    /// were nowhere else are gone. True if any survives.
    pub(crate) fn lose_caches(&mut self, path: &mut IoPath) -> bool {
        for controller in path.controllers.ids() {
            let lost = self.cache.memories_mut().lose(controller);
            if path.integrity.is_none() {
                continue;
            }
            for (array, offset) in lost {
                let content = Content::new(path, &self.stripes).stored(array, offset);
                if let Some(integrity) = &mut path.integrity {
                    integrity.lose(array, offset, &content, LostFrom::Cache);
                }
            }
        }
        let mut controllers = path.controllers.ids();
        controllers.any(|at| self.memories().survives(at))
    }

    /// Waiting requests are taken out of queues; those without an event to come are released.
    pub(crate) fn empty_queues(&mut self, path: &mut IoPath, now: Time) {
        let volumes = self.stripes.state_mut().volumes_mut().iter_mut();
        for bitmap in volumes.flatten().filter_map(Volume::bitmap_mut) {
            bitmap.power_fails(&mut path.ios, now);
        }
        for drive in path.drives.ids() {
            while let Some(id) = path.drives[drive].waiting.pop(&mut path.ios, now) {
                path.drives[drive].load.change(now, -1);
                path.ios.release(id);
            }
            path.drives[drive].forget_flushes(&mut path.ios, now);
        }
        for array in &mut path.arrays {
            array.md_flushes.power_fails(&mut path.ios);
        }
        for controller in path.controllers.ids() {
            while let Some(id) = path.controllers[controller].waiting.pop(&path.ios) {
                path.ios[id].pending = 1;
            }
            self.cache.drop_waiting(path, controller);
            let controller = &mut path.controllers[controller];
            controller.in_work = 0;
            let level = controller.load.level() as i64;
            controller.load.change(now, -level);
            let full = controller.full.level() as i64;
            controller.full.change(now, -full);
        }
    }

    /// The writes of a preserved job are done again.
    pub(crate) fn write_again(&mut self, path: &mut IoPath, job: JobId, now: Time) {
        let io = self.stripes.state().jobs()[job].io();
        path.ios[io].charge(Part::Raid, now);
        self.stripes.write_phase(path, job, now);
    }

    /// All that waits in a controller's cache goes out.
    pub(crate) fn sweep(&mut self, path: &mut IoPath, controller: ControllerId, now: Time) {
        self.cache.sweep(&mut self.stripes, path, controller, now);
    }

    /// The backup of a controller's cache is ready, or not; false if it has none that is used.
    pub(crate) fn set_safe(&mut self, controller: ControllerId, safe: bool) -> bool {
        self.cache.set_safe(controller, safe)
    }

    /// Requests that wait for room in a controller's cache go on.
    pub(crate) fn admit_waiting(&mut self, path: &mut IoPath, controller: ControllerId, now: Time) {
        self.cache
            .admit_waiting(&mut self.stripes, path, controller, now);
    }

    /// A controller starts destages.
    pub(crate) fn destage(&mut self, path: &mut IoPath, controller: ControllerId, now: Time) {
        self.cache.destage(&mut self.stripes, path, controller, now);
    }

    /// The tasks of all arrays go on.
    pub(crate) fn tasks_go_on(&mut self, path: &mut IoPath, now: Time) {
        self.background.power_back(&self.stripes, path, now);
    }
}
