//! The power fails: what is in flight is gone, what the drives hold stays, and the cache's
//! content stays if a battery or flash preserves it. When the power is back, a controller whose
//! memory was preserved finishes the writes that were in flight to the drives; without that, a
//! stripe may have new data and old parity: the write hole.

use crate::integrity::LostFrom;
use crate::path::Path;
use crate::raid::jobs::{Destage, Phase, Waiters, Work};
use crate::raid::{Raid, Stripes};
use crate::state::owner::job_of;
use raidlab_kernel::{Io, Op, Time};
use raidlab_models::{LINE_SECTORS, SECTOR};

impl Raid {
    /// Writes in flight to a drive get there in part. A drive to which a spare is being copied
    /// may then lack what the spare has: the copy goes on from there.
    pub(crate) fn tear_writes(&mut self, path: &mut Path) {
        for id in path.ios.ids().collect::<Vec<_>>() {
            let io = &path.ios[id];
            let command = io.parent != Io::NONE && job_of(io).is_none();
            if !command || io.op != Op::Write {
                continue;
            }
            let (drive, offset) = (io.drive, io.offset);
            if self.stripes.member_of(drive).is_none() {
                self.background
                    .begin_copies_again(&mut self.stripes, drive, offset);
            }
            let failed = path.drives[drive as usize].health.failed;
            match &mut path.integrity {
                Some(integrity) if failed => integrity.drop_payload(id),
                Some(integrity) => integrity.tear(id, drive, offset),
                None => {}
            }
        }
    }

    /// Jobs end, but for those that are preserved.
    pub(crate) fn drop_jobs(&mut self, path: &mut Path, preserved: &[u32], now: Time) {
        self.background.power_fails();
        self.stripes.drop_jobs(path, preserved, now);
    }

    /// The tasks of all arrays go on.
    pub(crate) fn tasks_go_on(&mut self, path: &mut Path, now: Time) {
        self.background.power_back(&self.stripes, path, now);
    }
}

impl Stripes {
    /// A cache's content is lost: acknowledged writes that were nowhere else are gone.
    pub(crate) fn lose_cache(&mut self, path: &mut Path, controller: usize) {
        let Some(memory) = self.memories[controller].as_mut() else {
            return;
        };
        let dirty = memory.cache.dirty_lines();
        memory.cache.clear();
        for lane in &mut memory.lanes {
            lane.in_flight = 0;
        }
        let arrays: Vec<u32> = memory.lanes.iter().map(|lane| lane.array).collect();
        if path.integrity.is_none() {
            return;
        }
        for line in dirty {
            let array = arrays[(line.key >> 48) as usize];
            let Some(caching) = self.volume(array).caching.as_ref() else {
                continue;
            };
            let start = caching.offset(line.key);
            for sector in (0..LINE_SECTORS).filter(|s| line.dirty >> s & 1 == 1) {
                let offset = start + sector * SECTOR;
                let content = self.stored(path, array, offset);
                if let Some(integrity) = &mut path.integrity {
                    integrity.lose(array, offset, &content, LostFrom::Cache);
                }
            }
        }
    }

    /// Jobs that were writing, and whose data a battery or flash preserves.
    pub(crate) fn preserved_jobs(&self, path: &Path) -> Vec<u32> {
        let preserved = |&index: &u32| {
            let job = &self.jobs[index];
            let controller = path.arrays[job.array as usize].controller;
            let memory = controller.and_then(|c| self.memories[c as usize].as_ref());
            let writing = job.work.is_write() || matches!(job.work, Work::Recover);
            writing && job.phase == Phase::Finish && memory.is_some_and(|memory| memory.survives)
        };
        self.jobs.ids().filter(preserved).collect()
    }

    /// Whoever waits in a queue is taken out; those without an event to come are released.
    pub(crate) fn empty_queues(&mut self, path: &mut Path, now: Time) {
        for drive in 0..path.drives.len() {
            while let Some(id) = path.drives[drive].waiting.pop(&mut path.ios, now) {
                path.drives[drive].load.change(now, -1);
                path.ios.release(id);
            }
        }
        for controller in 0..path.controllers.len() {
            while let Some(id) = path.controllers[controller].waiting.pop(&path.ios) {
                path.ios[id].pending = 1;
            }
            if let Some(memory) = self.memories[controller].as_mut() {
                while let Some(id) = memory.waiting.pop(&path.ios) {
                    path.ios[id].pending = 1;
                }
            }
            let controller = &mut path.controllers[controller];
            controller.in_work = 0;
            let level = controller.load.level() as i64;
            controller.load.change(now, -level);
            let full = controller.full.level() as i64;
            controller.full.change(now, -full);
        }
    }

    fn drop_jobs(&mut self, path: &mut Path, preserved: &[u32], now: Time) {
        self.locks.clear();
        for index in self.jobs.ids().collect::<Vec<_>>() {
            let job = &mut self.jobs[index];
            let (io, array) = (job.io, job.array);
            if let Work::Fill(fill) = &mut job.work {
                while let Some(reader) = fill.readers.pop(&path.ios) {
                    path.ios[reader].pending = 1;
                }
            }
            if preserved.contains(&index) {
                self.preserve_job(path, index, now);
                continue;
            }
            let job = &mut self.jobs[index];
            if let Work::Destage(Destage { group, .. }) = job.work {
                let controller = path.arrays[array as usize].controller;
                let memory = controller.and_then(|c| self.memories[c as usize].as_mut());
                if let Some(memory) = memory.filter(|memory| memory.survives) {
                    memory.cache.stay(group);
                    memory.end(group);
                }
            }
            if job.flags.scheduled {
                job.flags.aborted = true;
            } else {
                self.jobs.release(index);
            }
            path.ios.release(io);
        }
    }

    /// A job whose writes will be done again has nobody who waits for it any more.
    fn preserve_job(&mut self, path: &mut Path, index: u32, now: Time) {
        let key = self.lock_key(index);
        // A line that was being written back is dirty again, and may be newer.
        let older = self
            .copy_above(path, index)
            .is_some_and(|copy| !self.has_lost_ssd_cache(copy));
        let job = &mut self.jobs[index];
        job.flags.older |= older;
        (job.lock, job.work) = (Waiters::NONE, job.work.without_slot());
        let io = job.io;
        if let Some(key) = key {
            self.locks.insert(key, index);
        }
        let (owner, bytes) = (path.ios[io].owner, path.ios[io].bytes);
        path.ios[io] = Io::new(Op::Write, 0, bytes, now);
        path.ios[io].owner = owner;
    }
}
