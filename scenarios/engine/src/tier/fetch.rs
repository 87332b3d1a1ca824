//! Pieces of requests read from the tier, and from the array where the tier has lost them.

use crate::raid::{NO_SLOT, Phase, Work};
use crate::system::System;
use raidlab_kernel::{IoId, Op, Part, Time};

impl System {
    /// Reads a piece (offset, bytes) of a line of the array below `parent`, from the line's slot.
    pub(super) fn fetch_piece(
        &mut self,
        parent: IoId,
        array: u32,
        slot: u32,
        range: (u64, u64),
        now: Time,
    ) {
        let index = self.new_job(parent, array, 0, Work::Fetch, now);
        let job = &mut self.raid.jobs[index];
        (job.slot, job.range) = (slot, range);
        job.phase = Phase::Finish;
        let record = job.io;
        (self.ios[record].op, self.ios[record].bytes) = (Op::Read, range.1);
        self.pin_slot(array, slot);
        self.read_slot(index, now);
    }

    /// Reads the range of a job from the job's slot.
    pub(super) fn read_slot(&mut self, index: u32, now: Time) {
        let job = &self.raid.jobs[index];
        let (record, array, slot, (offset, bytes)) = (job.io, job.array, job.slot, job.range);
        if let Some(tier) = self.raid.tiers[array as usize].as_ref() {
            let (fast, at) = (tier.array, tier.at(slot, offset));
            self.read_array(record, fast, at, bytes, now);
        }
    }

    /// A piece has been read, or could not be.
    pub(crate) fn finish_fetch(&mut self, index: u32, now: Time) {
        let job = &mut self.raid.jobs[index];
        let failed = std::mem::take(&mut job.again) || job.refused;
        if failed && job.work == Work::Fetch {
            return self.fetch_again(index, now);
        }
        let (record, array, slot) = (job.io, job.array, job.slot);
        let refused = job.refused;
        // Time over a read that came back with an error and was refused then.
        self.ios[record].charge(Part::Raid, now);
        let parent = self.ios[record].parent;
        if let Some(fate) = &mut self.raid.fate {
            fate.hand_up(record, parent);
        }
        if refused {
            self.refuse(parent, 0);
        }
        self.unpin_slot(array, slot);
        self.raid.jobs.release(index);
        self.child_returned(record, now);
    }

    /// A piece could not be read where it was: it is looked for anew. Its time stays on the
    /// account.
    fn fetch_again(&mut self, index: u32, now: Time) {
        let job = &mut self.raid.jobs[index];
        job.refused = false;
        let (record, array, slot, range) = (job.io, job.array, job.slot, job.range);
        self.ios[record].refused = false;
        if let Some(fate) = &mut self.raid.fate {
            fate.forget_reader(record);
        }
        self.unpin_slot(array, slot);
        match self.readable_slot(array, range.0, now) {
            Some(slot) => {
                self.raid.jobs[index].slot = slot;
                self.pin_slot(array, slot);
                self.read_slot(index, now);
            }
            None => {
                let job = &mut self.raid.jobs[index];
                (job.work, job.slot) = (Work::Past, NO_SLOT);
                self.go_past(record, Op::Read, array, range, now);
            }
        }
    }

    /// Somebody reads a slot: its line stays on the tier.
    fn pin_slot(&mut self, array: u32, slot: u32) {
        if let Some(tier) = self.raid.tiers[array as usize].as_mut() {
            tier.tier.pin(slot);
        }
    }

    /// Nobody reads or writes a slot any more for one of those who did.
    pub(crate) fn unpin_slot(&mut self, array: u32, slot: u32) {
        let tier = self.raid.tiers[array as usize].as_mut();
        if let Some(tier) = tier.filter(|tier| !tier.gone && slot != NO_SLOT) {
            tier.tier.unpin(slot);
        }
    }
}
