//! Copies between an array and its tier: hot lines there, dirty lines back.

use crate::raid::{Phase, Work};
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
        let job = self.new_copy(array, Work::Promote, slot, now);
        let (record, range) = (self.raid.jobs[job].io, self.raid.jobs[job].range);
        self.go_past(record, Op::Read, array, range, now);
    }

    fn is_dirty_in_memory(&self, array: u32, line: u64) -> bool {
        let Some(controller) = self.arrays[array as usize].controller else {
            return false;
        };
        let volume = self.raid.volumes[array as usize].as_ref();
        let caching = volume.and_then(|volume| volume.caching.as_ref());
        let store = self.raid.stores[controller as usize].as_ref();
        let tier = self.raid.tiers[array as usize].as_ref();
        let (Some(caching), Some(store), Some(tier)) = (caching, store, tier) else {
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
    pub(super) fn clean_tier(&mut self, array: u32, now: Time) {
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
            let job = self.new_copy(array, Work::Clean, slot, now);
            self.read_slot(job, now);
        }
    }

    /// A job that copies a line. It goes on when the line has been read.
    fn new_copy(&mut self, array: u32, work: Work, slot: u32, now: Time) -> u32 {
        let index = self.new_job(Io::NONE, array, 0, work, now);
        let tier = self.raid.tiers[array as usize].as_ref();
        let job = &mut self.raid.jobs[index];
        job.slot = slot;
        job.range = tier.map_or((0, 0), |tier| tier.range(slot));
        job.phase = Phase::Write;
        let record = job.io;
        self.ios[record].op = Op::Read;
        self.firmware(array, 2, now);
        index
    }

    /// A line that is copied is in the controller's memory: it goes on to where it belongs.
    pub(crate) fn write_copy(&mut self, index: u32, now: Time) {
        let job = &mut self.raid.jobs[index];
        if std::mem::take(&mut job.again) {
            // Another copy of it, if there is one.
            return self.read_slot(index, now);
        }
        job.phase = Phase::Finish;
        let (record, array, slot, work, range) = (job.io, job.array, job.slot, job.work, job.range);
        let gone = self.raid.tiers[array as usize]
            .as_ref()
            .is_none_or(|tier| tier.gone);
        if job.refused || gone {
            return self.finish_copy(index, now);
        }
        if let Some(controller) = self.arrays[array as usize].controller {
            let chip = &mut self.controllers[controller as usize].chip;
            chip.memory.pass_in_background(now, 2 * range.1);
        }
        let Some(tier) = self.raid.tiers[array as usize].as_ref() else {
            return;
        };
        if work == Work::Promote {
            let (fast, at) = (tier.array, tier.at(slot, range.0));
            self.write_array(record, fast, at, range.1, now);
        } else {
            self.write_array(record, array, range.0, range.1, now);
        }
    }

    /// A line has been copied.
    pub(crate) fn finish_copy(&mut self, index: u32, now: Time) {
        let job = &self.raid.jobs[index];
        let (record, array, slot, work) = (job.io, job.array, job.slot, job.work);
        let end = if job.refused {
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
        if work == Work::Promote {
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
