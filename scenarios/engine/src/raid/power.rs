//! The power fails: what is under way is gone, what the drives hold stays, and the cache's
//! content stays if a battery or flash keeps it. When the power is back, a controller whose
//! memory was kept finishes the writes that were on their way to the drives; without that, a
//! stripe may have new data and old parity: the write hole.

use super::job::job_of;
use super::jobs::{Destage, Phase, Waiters, Work};
use crate::agenda::Up;
use crate::owner::{Owner, OwnerOf};
use crate::plan::Arrival;
use crate::system::{Event, Outcome, System};
use raidlab_kernel::{Io, IoId, Mark, Op, Time};
use raidlab_models::{LINE_SECTORS, SECTOR};

impl System {
    /// The power fails now and is back at `back`.
    pub(crate) fn power_fails(&mut self, back: Time, now: Time) {
        if now < self.raid.off_until {
            return self.log(now, "no second power failure: the power is off".into());
        }
        // Completions that wait for their thread are taken: nothing but the host has them any more.
        self.reap_all(now);
        self.raid.off_until = back;
        for store in self.raid.stores.iter_mut().flatten() {
            store.keeps = store.safe && back.since(now) <= store.hold;
        }
        let kept = self.kept_jobs();
        let older = self.cut_drives(now);
        self.tear_writes();
        self.empty_queues(now);
        self.drop_jobs(&kept, now);
        self.cut_tiers();
        self.drop_requests(back, now);
        let safe = self.raid.stores.iter().flatten().any(|store| store.keeps);
        for controller in 0..self.controllers.len() {
            match self.raid.stores[controller].as_mut() {
                Some(store) if store.keeps => store.cache.keep_dirty(),
                Some(_) => self.lose_cache(controller),
                None => {}
            }
        }
        self.judge_drives(&older);
        if let Some(fate) = &mut self.raid.fate {
            fate.power_failed(safe, &kept);
        }
        self.raid.kept = kept;
        self.log(now, "power failed".into());
        self.calendar.push(back, Event::PowerBack);
    }

    /// A cache's content is lost: acknowledged writes that were nowhere else are gone.
    fn lose_cache(&mut self, controller: usize) {
        let Some(store) = self.raid.stores[controller].as_mut() else {
            return;
        };
        let dirty = store.cache.dirty_lines();
        store.cache.clear();
        for lane in &mut store.lanes {
            lane.under_way = 0;
        }
        let arrays: Vec<u32> = store.lanes.iter().map(|lane| lane.array).collect();
        if self.raid.fate.is_none() {
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
                let held = self.stored(array, offset);
                if let Some(fate) = &mut self.raid.fate {
                    fate.lose(array, offset, &held, false);
                }
            }
        }
    }

    /// Jobs that were writing, and whose data a battery or flash keeps.
    fn kept_jobs(&self) -> Vec<u32> {
        let kept = |&index: &u32| {
            let job = &self.raid.jobs[index];
            let controller = self.arrays[job.array as usize].controller;
            let store = controller.and_then(|c| self.raid.stores[c as usize].as_ref());
            let writing = job.work.is_write() || matches!(job.work, Work::Recover);
            writing && job.phase == Phase::Finish && store.is_some_and(|store| store.keeps)
        };
        self.raid.jobs.ids().filter(kept).collect()
    }

    /// Writes on their way to a drive get there in part. A drive to which a spare is being copied
    /// may then lack what the spare has: the copy goes on from there.
    fn tear_writes(&mut self) {
        for id in self.ios.ids().collect::<Vec<_>>() {
            let io = &self.ios[id];
            let command = io.parent != Io::NONE && job_of(io).is_none();
            if !command || io.op != Op::Write {
                continue;
            }
            let (drive, offset) = (io.drive, io.offset);
            if self.member_of(drive).is_none() {
                self.begin_copies_again(drive, offset);
            }
            let failed = self.raid.health[drive as usize].failed;
            match &mut self.raid.fate {
                Some(fate) if failed => fate.drop_payload(id),
                Some(fate) => fate.tear(id, drive, offset),
                None => {}
            }
        }
    }

    /// Whoever waits in a queue is taken out; those without an event to come are released.
    fn empty_queues(&mut self, now: Time) {
        for drive in 0..self.drives.len() {
            while let Some(id) = self.drives[drive].waiting.pop(&mut self.ios, now) {
                self.drives[drive].load.change(now, -1);
                self.ios.release(id);
            }
        }
        for controller in 0..self.controllers.len() {
            while let Some(id) = self.controllers[controller].waiting.pop(&self.ios) {
                self.ios[id].pending = 1;
            }
            if let Some(store) = self.raid.stores[controller].as_mut() {
                while let Some(id) = store.waiting.pop(&self.ios) {
                    self.ios[id].pending = 1;
                }
            }
            let controller = &mut self.controllers[controller];
            controller.in_work = 0;
            let level = controller.load.level() as i64;
            controller.load.change(now, -level);
            let full = controller.full.level() as i64;
            controller.full.change(now, -full);
        }
    }

    fn drop_jobs(&mut self, kept: &[u32], now: Time) {
        self.raid.locks.clear();
        for volume in self.raid.volumes.iter_mut().flatten() {
            volume.drop_rows();
        }
        for index in self.raid.jobs.ids().collect::<Vec<_>>() {
            let job = &mut self.raid.jobs[index];
            let (io, array) = (job.io, job.array);
            if let Work::Fill(fill) = &mut job.work {
                while let Some(reader) = fill.readers.pop(&self.ios) {
                    self.ios[reader].pending = 1;
                }
            }
            if kept.contains(&index) {
                self.keep_job(index, now);
                continue;
            }
            let job = &mut self.raid.jobs[index];
            if let Work::Destage(Destage { group, .. }) = job.work {
                let controller = self.arrays[array as usize].controller;
                let store = controller.and_then(|c| self.raid.stores[c as usize].as_mut());
                if let Some(store) = store.filter(|store| store.keeps) {
                    store.cache.stay(group);
                    store.end(group);
                }
            }
            if job.flags.scheduled {
                job.flags.aborted = true;
            } else {
                self.raid.jobs.release(index);
            }
            self.ios.release(io);
        }
    }

    /// A job whose writes will be done again has nobody who waits for it any more.
    fn keep_job(&mut self, index: u32, now: Time) {
        let key = self.lock_key(index);
        // A line that was on its way back is dirty again, and may be newer.
        let older = self
            .copy_above(index)
            .is_some_and(|copy| !self.has_lost_tier(copy));
        let job = &mut self.raid.jobs[index];
        job.flags.older |= older;
        (job.lock, job.work) = (Waiters::NONE, job.work.without_slot());
        let io = job.io;
        if let Some(key) = key {
            self.raid.locks.insert(key, index);
        }
        let (owner, bytes) = (self.ios[io].owner, self.ios[io].bytes);
        self.ios[io] = Io::new(Op::Write, 0, bytes, now);
        self.ios[io].owner = owner;
    }

    fn drop_requests(&mut self, back: Time, now: Time) {
        let level = self.inside.level() as i64;
        self.inside.change(now, -level);
        for id in self.ios.ids().collect::<Vec<_>>() {
            let io = &self.ios[id];
            if job_of(io).is_some() || io.owner.is_aborted() {
                continue;
            }
            if io.parent == Io::NONE {
                self.tally.abandoned += 1;
                self.tally.stay += now.since(io.entered);
                let (owner, waiting) = (io.owner, io.pending > 0);
                self.issue_again(id, owner, back, now);
                if waiting {
                    self.ios.release(id);
                    continue;
                }
            }
            let io = &mut self.ios[id];
            (io.owner, io.parent) = (Owner::Aborted.into(), Io::NONE);
        }
    }

    /// The load goes on when the power is back; outside callers get their I/O back at once.
    fn issue_again(&mut self, id: IoId, owner: Mark, back: Time, now: Time) {
        match owner.into() {
            Owner::Outside(number) => {
                self.ios[id].mark = now;
                self.hand_back(id, number, Outcome::CutOff);
            }
            Owner::Slot(slot) => {
                let index = self.slots[slot as usize].workload;
                let workload = &mut self.workloads[index as usize];
                workload.meter.fail(now);
                if let Arrival::Closed { .. } = workload.arrival {
                    self.calendar.push(back, Event::Issue(slot));
                }
            }
            // No other request is under way: no system with a page cache loses its power.
            _ => debug_assert!(false, "{:?}", Owner::from(owner)),
        }
    }

    /// An event of a record whose power failed under way.
    pub(crate) fn bury(&mut self, id: IoId, at_drive: bool, now: Time) {
        if at_drive {
            let drive = self.ios[id].drive;
            let slot = &mut self.drives[drive as usize];
            slot.in_flight -= 1;
            slot.load.change(now, -1);
            self.dispatch_waiting(drive, now);
        }
        self.ios.release(id);
    }

    pub(crate) fn power_back(&mut self, now: Time) {
        self.log(now, "power back".into());
        for index in self.raid.kept.clone() {
            let job = &self.raid.jobs[index];
            if job.run.head != index {
                // The head of its run writes it.
                continue;
            }
            let io = job.io;
            self.ios[io].charge(raidlab_kernel::Part::Raid, now);
            self.write_phase(index, now);
            self.settle(Up::None, now);
        }
        for controller in 0..self.controllers.len() as u32 {
            if let Some(store) = self.raid.stores[controller as usize].as_mut() {
                store.sweep = store.cache.groups_waiting();
                self.destage(controller, now);
                self.settle(Up::None, now);
            }
        }
        for array in 0..self.arrays.len() as u32 {
            let volume = self.raid.volumes[array as usize].as_ref();
            if volume.is_some_and(|volume| !volume.tasks.is_empty()) {
                self.turn_at(array, now);
            }
        }
    }
}
