//! Copies between an array and its tier: hot lines there, dirty lines back.

use crate::raid::{Phase, Work};
use crate::system::System;
use raidlab_kernel::{Io, Op, Time};

impl System {
    /// Begins to copy a hot line to the tier, unless too many are on their way, all slots hold
    /// dirty lines, or the controller's memory has newer data for it.
    pub(super) fn promote(&mut self, array: u32, line: u64, now: Time) {
        if self.is_dirty_in_memory(array, line) {
            return;
        }
        let Some(tier) = self.raid.tiers[array as usize].as_mut() else {
            return;
        };
        if tier.copies >= tier.copies_at_once {
            return;
        }
        let Some(slot) = tier.tier.begin(line) else {
            return;
        };
        tier.copies += 1;
        let bytes = tier.line_bytes();
        let record = self.new_copy(array, Work::Promote, slot, now);
        self.read_array(record, array, line * bytes, bytes, now);
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

    /// Writes dirty lines back, as many at once as may be.
    pub(super) fn clean_tier(&mut self, array: u32, now: Time) {
        while let Some(tier) = self.raid.tiers[array as usize].as_mut() {
            if tier.cleans >= tier.cleans_at_once {
                return;
            }
            let Some(slot) = tier.tier.next_to_clean() else {
                return;
            };
            tier.cleans += 1;
            let (fast, bytes) = (tier.array, tier.line_bytes());
            let record = self.new_copy(array, Work::Clean, slot, now);
            self.read_array(record, fast, u64::from(slot) * bytes, bytes, now);
        }
    }

    /// A job that copies a line; gives its record. It goes on when the line has been read.
    fn new_copy(&mut self, array: u32, work: Work, slot: u32, now: Time) -> u32 {
        let index = self.new_job(Io::NONE, array, 0, work, now);
        let job = &mut self.raid.jobs[index];
        job.slot = slot;
        job.phase = Phase::Write;
        let record = job.io;
        self.ios[record].op = Op::Read;
        self.firmware(array, 2, now);
        record
    }

    /// A line that is copied is in the controller's memory: it goes on to where it belongs.
    pub(crate) fn write_copy(&mut self, index: u32, now: Time) {
        let job = &mut self.raid.jobs[index];
        job.phase = Phase::Finish;
        let (record, array, slot, work) = (job.io, job.array, job.slot, job.work);
        let Some(tier) = self.raid.tiers[array as usize].as_ref() else {
            return;
        };
        let (bytes, fast) = (tier.line_bytes(), tier.array);
        let line = tier.tier.line(slot);
        if let Some(controller) = self.arrays[array as usize].controller {
            let chip = &mut self.controllers[controller as usize].chip;
            chip.memory.pass_behind(now, 2 * bytes);
        }
        if work == Work::Promote {
            self.write_array(record, fast, u64::from(slot) * bytes, bytes, now);
        } else {
            self.write_array(record, array, line * bytes, bytes, now);
        }
    }

    /// A line has been copied.
    pub(crate) fn finish_copy(&mut self, index: u32, now: Time) {
        let job = &self.raid.jobs[index];
        let (record, array, slot, work) = (job.io, job.array, job.slot, job.work);
        let whole = !job.refused;
        self.raid.jobs.release(index);
        self.child_returned(record, now);
        let Some(tier) = self.raid.tiers[array as usize].as_mut() else {
            return;
        };
        if work == Work::Promote {
            tier.copies -= 1;
            tier.counts.promoted += u64::from(tier.tier.arrived(slot, whole));
        } else {
            tier.cleans -= 1;
            tier.counts.cleaned += u64::from(whole);
            tier.tier.cleaned(slot, whole);
            tier.shadow_cleaned();
        }
        self.clean_tier(array, now);
    }
}
