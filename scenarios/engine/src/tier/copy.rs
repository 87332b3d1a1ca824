//! Copies between an array and its tier: hot lines there, dirty lines back.

use crate::agenda::Call;
use crate::raid::{Cached, CopyTo, LineCopy, Phase, Work};
use crate::system::System;
use raidlab_kernel::{Io, Op, Time};
use raidlab_models::CopyEnd;

impl System {
    /// Begins to copy a hot line to the tier, unless too many are on their way, all slots hold
    /// dirty lines, or newer data for it are in the controller's memory or on their way to the
    /// array: what is read now could miss them.
    pub(super) fn promote(&mut self, array: u32, line: u64, now: Time) {
        if self.is_dirty_in_memory(array, line) || !self.may_copy(array) {
            return;
        }
        let Some(tier) = self.raid.tiers[array as usize].as_mut() else {
            return;
        };
        if tier.copies >= tier.copies_at_once || tier.past.contains(line) {
            return;
        }
        let start = line * tier.line_bytes();
        if tier.lost.touches(start, start + tier.line_bytes()) {
            return;
        }
        let Some(slot) = tier.tier.begin(line) else {
            return;
        };
        tier.copies += 1;
        let (job, copy) = self.new_copy(array, CopyTo::Cache, slot, now);
        let record = self.raid.jobs[job].io;
        self.go_past(record, Op::Read, array, copy.range, now);
    }

    fn is_dirty_in_memory(&self, array: u32, line: u64) -> bool {
        let Some(Cached {
            caching,
            store,
            tier: Some(tier),
            ..
        }) = self.raid.cached(array)
        else {
            return false;
        };
        caching
            .lines(line * tier.line_bytes(), tier.line_bytes())
            .any(|(key, sectors)| store.cache.is_dirty_at(key, sectors))
    }

    /// Nothing is copied to or from an array that is offline, nor while writes that an outage cut
    /// off are done again.
    fn may_copy(&self, array: u32) -> bool {
        !self.raid.watch || !self.volume(array).offline && self.raid.kept.is_empty()
    }

    /// Writes dirty lines back, as many at once as may be.
    pub(crate) fn clean_tier(&mut self, array: u32, now: Time) {
        while let Some(tier) = self.raid.tiers[array as usize].as_ref() {
            if tier.cleans >= tier.cleans_at_once || !self.may_copy(array) {
                return;
            }
            let Some(tier) = self.raid.tiers[array as usize].as_mut() else {
                return;
            };
            let Some(slot) = tier.tier.next_to_clean() else {
                return;
            };
            tier.cleans += 1;
            let (job, copy) = self.new_copy(array, CopyTo::Array, slot, now);
            let mark = self.agenda.mark();
            self.read_slot(job, copy.at(), now);
            if self.agenda.rose(mark) {
                return self.agenda.below(mark, Call::Clean(array));
            }
        }
    }

    /// A job that copies a line. It goes on when the line has been read.
    fn new_copy(&mut self, array: u32, to: CopyTo, slot: u32, now: Time) -> (u32, LineCopy) {
        let tier = self.raid.tiers[array as usize].as_ref();
        let range = tier.map_or((0, 0), |tier| tier.range(slot));
        let copy = LineCopy { to, slot, range };
        let index = self.new_job(Io::NONE, array, 0, Work::Copy(copy), now);
        let job = &mut self.raid.jobs[index];
        job.phase = Phase::Write;
        let record = job.io;
        self.ios[record].op = Op::Read;
        self.firmware(array, 2, now);
        (index, copy)
    }

    /// A job that copies a line goes on: the line has been read, or written.
    pub(crate) fn step_copy(&mut self, index: u32, now: Time) {
        let job = &self.raid.jobs[index];
        match (job.phase, job.work) {
            (Phase::Finish, Work::Copy(copy)) => self.finish_copy(index, copy, now),
            (_, Work::Copy(copy)) => self.write_copy(index, copy, now),
            (_, other) => unreachable!("{other:?} copies no line"),
        }
    }

    /// A line that is copied is in the controller's memory: it goes on to where it belongs.
    pub(crate) fn write_copy(&mut self, index: u32, copy: LineCopy, now: Time) {
        let job = &mut self.raid.jobs[index];
        if std::mem::take(&mut job.flags.again) {
            // Another copy of it, if there is one.
            return self.read_slot(index, copy.at(), now);
        }
        job.phase = Phase::Finish;
        let (record, array, refused) = (job.io, job.array, job.flags.refused);
        let LineCopy { to, slot, range } = copy;
        let gone = self.raid.tiers[array as usize]
            .as_ref()
            .is_none_or(|tier| tier.gone);
        if refused || gone {
            return self.finish_copy(index, copy, now);
        }
        if let Some(controller) = self.arrays[array as usize].controller {
            let chip = &mut self.controllers[controller as usize].chip;
            chip.memory.pass_in_background(now, 2 * range.1);
        }
        let Some(tier) = self.raid.tiers[array as usize].as_ref() else {
            return;
        };
        if to == CopyTo::Cache {
            let (fast, at) = (tier.array, tier.at(slot, range.0));
            self.write_array(record, fast, at, range.1, now);
        } else {
            self.write_array(record, array, range.0, range.1, now);
        }
    }

    /// A line has been copied.
    pub(crate) fn finish_copy(&mut self, index: u32, copy: LineCopy, now: Time) {
        let job = &self.raid.jobs[index];
        let (record, array) = (job.io, job.array);
        let LineCopy { to, slot, .. } = copy;
        let end = if job.flags.refused {
            CopyEnd::Failed
        } else {
            CopyEnd::Whole
        };
        if let Some(fate) = &mut self.raid.fate {
            fate.forget_reader(record);
        }
        self.raid.jobs.release(index);
        self.child_returned(record, now);
        let Some(tier) = self.raid.tiers[array as usize].as_mut() else {
            return;
        };
        if to == CopyTo::Cache {
            tier.copies -= 1;
            if !tier.gone {
                let arrived = tier.tier.arrived(slot, end);
                tier.counts.promoted += u64::from(arrived);
            }
        } else {
            tier.cleans -= 1;
            tier.counts.cleaned += u64::from(end == CopyEnd::Whole);
            if !tier.gone {
                tier.tier.cleaned(slot, end);
                tier.shadow_cleaned();
                self.give_up_unreadable(array, slot, now);
            }
        }
        self.clean_tier(array, now);
    }
}
