//! Copies between an array and its SSD cache: hot lines there, dirty lines back.

use crate::ids::{ArrayId, JobId, StripeId};
use crate::path::IoPath;
use crate::path::agenda::SsdCacheCall;
use crate::raid::Raid;
use crate::raid::jobs::CopyTo;
use crate::raid::jobs::LineCopy;
use crate::raid::jobs::Phase;
use crate::raid::jobs::Work;
use crate::ssd_cache::SsdCaches;
use raidlab_io::{ByteRange, Io, Op};
use raidlab_kernel::Time;
use raidlab_models::{ArrayLine, CopyEnd, SlotId};

impl SsdCaches {
    /// Begins to copy a hot line to the SSD cache, unless too many are in flight, all slots hold
    /// dirty lines, or newer data for it are in the controller's memory or in flight to the
    /// array: what is read now could miss them.
    pub(crate) fn promote(
        &mut self,
        raid: &mut Raid,
        path: &mut IoPath,
        array: ArrayId,
        line: ArrayLine,
        now: Time,
    ) {
        if raid.memories().is_line_dirty(raid.stripes(), array, line)
            || !raid.stripes().state().may_copy(path, array)
        {
            return;
        }
        let Some(redirect) = raid.stripes_mut().state_mut().redirect_mut(array) else {
            return;
        };
        let Some(cache) = self.of_array[array].as_mut() else {
            return;
        };
        if cache.copies >= cache.copies_at_once || redirect.is_bypassed(line) {
            return;
        }
        if redirect.is_lost(line.range(redirect.line_bytes())) {
            return;
        }
        let Some(slot) = redirect.map_mut().begin(line) else {
            return;
        };
        cache.copies += 1;
        let (job, copy) = self.new_copy(raid, path, array, CopyTo::Cache, slot, now);
        let record = raid.stripes().state().jobs()[job].io();
        raid.lines()
            .bypass_cache(path, record, Op::Read, array, copy.range, now);
    }

    /// Writes dirty lines back, as many at once as may be.
    pub(crate) fn write_lines_back(
        &mut self,
        raid: &mut Raid,
        path: &mut IoPath,
        array: ArrayId,
        now: Time,
    ) {
        while let Some(cache) = self.of_array[array].as_mut() {
            if cache.cleans >= cache.cleans_at_once || !raid.stripes().state().may_copy(path, array)
            {
                return;
            }
            let Some(redirect) = raid.stripes_mut().state_mut().redirect_mut(array) else {
                return;
            };
            let Some(slot) = redirect.map_mut().next_to_clean() else {
                return;
            };
            cache.cleans += 1;
            let (job, copy) = self.new_copy(raid, path, array, CopyTo::Array, slot, now);
            let mark = path.agenda.mark();
            raid.lines().read_slot(path, job, copy.at(), now);
            if path.agenda.rose(mark) {
                return path.agenda.below(mark, SsdCacheCall::Clean(array));
            }
        }
    }

    /// A job that copies a line. It goes on when the line has been read.
    fn new_copy(
        &mut self,
        raid: &mut Raid,
        path: &mut IoPath,
        array: ArrayId,
        to: CopyTo,
        slot: SlotId,
        now: Time,
    ) -> (JobId, LineCopy) {
        let redirect = raid.stripes().state().redirect(array);
        let range = redirect.map_or(ByteRange::default(), |redirect| redirect.range(slot));
        let copy = LineCopy { to, slot, range };
        let index = raid.stripes_mut().state_mut().new_job(
            path,
            Io::NONE,
            array,
            StripeId::new(0),
            Work::Copy(copy),
            now,
        );
        let job = &mut raid.stripes_mut().state_mut().jobs_mut()[index];
        job.go_on_with(Work::Copy(copy), Phase::Write);
        let record = job.io();
        path.ios[record].op = Op::Read;
        path.firmware(array, 2, 0, true, now);
        (index, copy)
    }

    /// A job that copies a line goes on: the line has been read, or written. Other work is raid's.
    pub(crate) fn step_copy(
        &mut self,
        raid: &mut Raid,
        path: &mut IoPath,
        index: JobId,
        now: Time,
    ) {
        let job = &raid.stripes().state().jobs()[index];
        match (job.phase(), job.work()) {
            (Phase::Finish, Work::Copy(copy)) => self.finish_copy(raid, path, index, copy, now),
            (_, Work::Copy(copy)) => self.write_copy(raid, path, index, copy, now),
            _ => raid.stripes_mut().step_job(path, index, now),
        }
    }

    /// A line that is copied is in the controller's memory: it goes on to where it belongs.
    pub(crate) fn write_copy(
        &mut self,
        raid: &mut Raid,
        path: &mut IoPath,
        index: JobId,
        copy: LineCopy,
        now: Time,
    ) {
        let job = &mut raid.stripes_mut().state_mut().jobs_mut()[index];
        if job.take_failed_read() {
            // Another copy of it, if there is one.
            return raid.lines().read_slot(path, index, copy.at(), now);
        }
        job.go_on_with(Work::Copy(copy), Phase::Finish);
        let (record, array, refused) = (job.io(), job.array(), job.is_refused());
        let LineCopy { to, slot, range } = copy;
        let failed = raid
            .stripes()
            .state()
            .redirect(array)
            .is_none_or(|redirect| redirect.has_failed());
        if refused || failed {
            return self.finish_copy(raid, path, index, copy, now);
        }
        if let Some(controller) = path.arrays[array].controller {
            let chip = &mut path.controllers[controller].chip;
            chip.memory.pass_in_background(now, 2 * range.bytes);
        }
        let Some(redirect) = raid.stripes().state().redirect(array) else {
            return;
        };
        if to == CopyTo::Cache {
            let (fast, at) = (redirect.array(), redirect.at(slot, range.offset));
            raid.stripes_mut().write_array(
                path,
                record,
                fast,
                ByteRange::new(at, range.bytes),
                now,
            );
        } else {
            raid.stripes_mut()
                .write_array(path, record, array, range, now);
        }
    }

    /// A line has been copied.
    pub(crate) fn finish_copy(
        &mut self,
        raid: &mut Raid,
        path: &mut IoPath,
        index: JobId,
        copy: LineCopy,
        now: Time,
    ) {
        let job = &raid.stripes().state().jobs()[index];
        let (record, array) = (job.io(), job.array());
        let LineCopy { to, slot, .. } = copy;
        let end = if job.is_refused() {
            CopyEnd::Failed
        } else {
            CopyEnd::Whole
        };
        if let Some(integrity) = &mut path.integrity {
            integrity.end_reader(record);
        }
        raid.stripes_mut().state_mut().jobs_mut().release(index);
        raid.stripes_mut().child_returned(path, record, now);
        let Some(redirect) = raid.stripes_mut().state_mut().redirect_mut(array) else {
            return;
        };
        let Some(cache) = self.of_array[array].as_mut() else {
            return;
        };
        if to == CopyTo::Cache {
            cache.copies -= 1;
            if !redirect.has_failed() {
                let arrived = redirect.map_mut().arrived(slot, end);
                cache.counts.promoted += u64::from(arrived);
            }
        } else {
            cache.cleans -= 1;
            cache.counts.cleaned += u64::from(end == CopyEnd::Whole);
            if !redirect.has_failed() {
                redirect.map_mut().cleaned(slot, end);
                cache.shadow_cleaned(redirect.map_mut());
                raid.lines().give_up_unreadable(path, array, slot, now);
            }
        }
        self.write_lines_back(raid, path, array, now);
    }
}
