//! What an SSD cache loses: the lines of a slot that cannot be read any more, or all of them.
//!
//! A clean line is on the array as well and is read there. A dirty one is nowhere else: it is lost
//! as a whole, since dirty state is tracked per line. What lies beneath it on the array is older,
//! so reads of it are refused until it is written over. Only what the controller's memory has of it
//! is not: that goes to the array.

use crate::integrity::{Integrity, LostFrom, OnDrives};
use crate::layout::Extent;
use crate::path::Path;
use crate::raid::Stripes;
use crate::raid::cache::view::Cached;
use crate::raid::jobs::CopyTo;
use crate::raid::jobs::Phase;
use crate::raid::jobs::Work;
use crate::raid::redirect::Redirect;
use crate::state::owner::job_of;
use raidlab_kernel::{Io, Time};
use raidlab_models::SECTOR;

impl Stripes {
    /// The slot where an offset of an array can be read or written: none if the line is not on the
    /// SSD cache, or no drive of the SSD cache gives it any more.
    pub(crate) fn readable_slot(
        &mut self,
        path: &mut Path,
        array: u32,
        offset: u64,
        now: Time,
    ) -> Option<u32> {
        let redirect = self.redirects[array as usize].as_ref()?;
        let line = offset / redirect.line_bytes();
        let slot = redirect.map.slot(line)?;
        if path.can_fail && !self.is_readable(array, slot) {
            self.give_up_unreadable(path, array, slot, now);
            return None;
        }
        Some(slot)
    }

    /// Whether a drive of the SSD cache can give what a slot holds.
    pub(crate) fn is_readable(&self, array: u32, slot: u32) -> bool {
        let Some(redirect) = self.redirects[array as usize].as_ref() else {
            return false;
        };
        let (volume, place) = (self.volume(redirect.array), redirect.place(slot));
        let extent = Extent {
            column: place.column,
            start: 0,
            end: redirect.line_bytes() as u32,
        };
        volume.changes == 0 || volume.is_given(place.stripe, extent)
    }

    /// If a slot cannot be read any more, its line leaves the SSD cache.
    pub(crate) fn give_up_unreadable(&mut self, path: &mut Path, array: u32, slot: u32, now: Time) {
        if !path.can_fail || self.is_readable(array, slot) {
            return;
        }
        let Some(redirect) = self.redirects[array as usize].as_mut() else {
            return;
        };
        let range = redirect.range(slot);
        if redirect.map.is_dirty(slot) {
            redirect.lost.insert(range.0, range.0 + range.1);
        }
        // A line being written back may be saved by that, and leaves when it is over.
        if redirect.map.drop_line(slot) == Some(true) && !self.save(path, array, range, now) {
            self.count_lost(path, array, range);
            self.log_lost(path, array, 1, now);
        }
    }

    /// An array is offline: if it is an SSD cache, all its content is lost to the array above it.
    pub(crate) fn ssd_cache_fails(&mut self, path: &mut Path, fast: u32, now: Time) {
        let Some(array) = self.ssd_cache_of[fast as usize] else {
            return;
        };
        let saved = self.lines_in_memory(path, array);
        let Some(redirect) = self.redirects[array as usize].as_mut() else {
            return;
        };
        let slots: Vec<u32> = redirect.map.dirty_slots().collect();
        let ranges: Vec<_> = slots.iter().map(|&slot| redirect.range(slot)).collect();
        for &(offset, bytes) in &ranges {
            redirect.lost.insert(offset, offset + bytes);
        }
        redirect.map.clear();
        redirect.failed = true;
        let mut lost = 0;
        for (slot, range) in slots.into_iter().zip(ranges) {
            if !saved.contains(&slot) && !self.save(path, array, range, now) {
                self.count_lost(path, array, range);
                lost += 1;
            }
        }
        self.log_lost(path, array, lost, now);
        let controller = path.arrays[array as usize].controller;
        if let Some(controller) = controller.filter(|_| now >= path.off_until) {
            self.destage(path, controller, now);
        }
    }

    /// What the controller's memory has of a range of an array that its SSD cache has lost becomes dirty
    /// there; true if that is all of it. Beside a request that writes the range and bypasses the
    /// memory it is forgotten: it may be older, and would reach the array after that.
    fn save(
        &mut self,
        path: &mut Path,
        array: u32,
        (offset, bytes): (u64, u64),
        now: Time,
    ) -> bool {
        let Some(mut cached) = self.cached_mut(array) else {
            return false;
        };
        let Some(redirect) = cached.redirect else {
            return false;
        };
        let controller = cached.caching.controller;
        let bypassed = redirect.bypassing.contains(offset / redirect.line_bytes());
        let mut whole = true;
        for (key, sectors) in cached.caching.lines(offset, bytes) {
            let clean = cached.memory.cache.clean_at(key, sectors);
            if clean != 0 && !bypassed {
                cached.write(key, clean);
            }
            cached.memory.cache.forget(key, sectors);
            whole &= cached.memory.cache.dirty_at(key, sectors) == sectors;
        }
        cached.memory.sweep = cached.memory.cache.groups_waiting();
        self.arm_flush(path, controller, now);
        whole
    }

    /// The lines of an SSD cache that are just being written back, as they are, from the controller's
    /// memory; other copies are given up.
    fn lines_in_memory(&mut self, path: &mut Path, array: u32) -> Vec<u32> {
        let Some(redirect) = self.redirects[array as usize].as_ref() else {
            return Vec::new();
        };
        let mut saved = Vec::new();
        for index in self.jobs.ids().collect::<Vec<_>>() {
            let job = &mut self.jobs[index];
            let Work::Copy(copy) = job.work else {
                continue;
            };
            if copy.to == CopyTo::Array && job.array == array {
                if job.phase == Phase::Finish && redirect.map.is_leaving(copy.slot) {
                    saved.push(copy.slot);
                } else {
                    job.flags.refused = true;
                }
            }
        }
        // What they had begun to write is older than what is lost.
        for index in self.jobs.ids().collect::<Vec<_>>() {
            if let Some(copy) = self.copy_above(path, index) {
                let copy = &self.jobs[copy];
                let older = copy.work.is_write_back() && copy.flags.refused;
                self.jobs[index].flags.older |= older;
            }
        }
        saved
    }

    /// The job that copies a line, if what a job writes belongs to one.
    pub(crate) fn copy_above(&self, path: &Path, index: u32) -> Option<u32> {
        let parent = path.ios[self.jobs[index].io].parent;
        let above = (parent != Io::NONE).then(|| job_of(&path.ios[parent]))??;
        matches!(self.jobs[above].work, Work::Copy(_)).then_some(above)
    }

    /// Whether the SSD cache that a job copies to or from has failed.
    pub(crate) fn has_lost_ssd_cache(&self, copy: u32) -> bool {
        let redirect = self.redirects[self.jobs[copy].array as usize].as_ref();
        redirect.is_some_and(|redirect| redirect.failed)
    }

    /// Counts the acknowledged writes that a range of an array has lost; what the controller's
    /// memory has newer data of is not.
    pub(crate) fn count_lost(&mut self, path: &mut Path, array: u32, (offset, bytes): (u64, u64)) {
        for sector in (offset..offset + bytes).step_by(SECTOR as usize) {
            let known = |integrity: &Integrity| integrity.is_written(array, sector);
            if path.integrity.as_ref().is_some_and(known) && !self.is_dirty_in_cache(array, sector)
            {
                if let Some(integrity) = &mut path.integrity {
                    integrity.lose(array, sector, &OnDrives::default(), LostFrom::Cache);
                }
            }
        }
    }

    /// Whether the controller's memory has newer data for a line.
    pub(crate) fn is_dirty_in_memory(&self, array: u32, line: u64) -> bool {
        let Some(Cached {
            caching,
            memory,
            redirect: Some(redirect),
            ..
        }) = self.cached(array)
        else {
            return false;
        };
        caching
            .lines(line * redirect.line_bytes(), redirect.line_bytes())
            .any(|(key, sectors)| memory.cache.is_dirty_at(key, sectors))
    }

    /// Nothing is copied to or from an array that is offline, nor while writes that an outage cut
    /// off are done again.
    pub(crate) fn may_copy(&self, path: &Path, array: u32) -> bool {
        !path.can_fail || !self.volume(array).offline && self.preserved.is_empty()
    }

    fn log_lost(&mut self, path: &mut Path, array: u32, lines: u64, now: Time) {
        let name = &path.arrays[array as usize].name;
        let what = format!("array {name}: {lines} dirty lines of its tier are lost");
        path.log(now, what);
    }

    /// Whether a range of an array has sectors whose newest version was lost with its SSD cache.
    pub(crate) fn is_lost(&self, array: u32, (offset, bytes): (u64, u64)) -> bool {
        let redirect = self.redirects[array as usize].as_ref();
        redirect.is_some_and(|redirect| redirect.lost.touches(offset, offset + bytes))
    }

    /// A job has written new data to an array: what was lost there is so no more.
    pub(crate) fn made_good(&mut self, index: u32) {
        let job = &self.jobs[index];
        let redirect = self.redirects[job.array as usize].as_mut();
        let Some(redirect) =
            redirect.filter(|redirect| !redirect.lost.is_empty() && !job.flags.older)
        else {
            return;
        };
        let Some(volume) = self.volumes[job.array as usize].as_ref() else {
            return;
        };
        let writes = job.work.is_write() && !volume.offline;
        let lost = &self.jobs.repair(index).lost;
        let readable = |e: &&Extent| volume.keeps(job.stripe, **e, lost);
        for extent in job.extents.iter().filter(|e| writes && readable(e)) {
            let unit = volume.geometry.offset(job.stripe, extent.column);
            redirect
                .lost
                .cut(unit + u64::from(extent.start), unit + u64::from(extent.end));
        }
    }

    /// The power fails: copies end with it, see `SsdCache::power_fails`.
    pub(crate) fn cut_redirects(&mut self) {
        for redirect in self.redirects.iter_mut().flatten() {
            redirect.power_fails();
        }
    }
}

impl Redirect {
    fn power_fails(&mut self) {
        self.map.power_fails();
        self.bypassing.clear();
    }
}
