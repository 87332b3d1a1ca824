//! Pieces of requests read from the SSD cache, and from the array where the SSD cache has lost them.

use crate::path::Path;
use crate::raid::Stripes;
use crate::raid::jobs::Phase;
use crate::raid::jobs::SlotRange;
use crate::raid::jobs::Work;
use raidlab_kernel::{IoId, Op, Part, Time};

impl Stripes {
    /// Reads a piece (offset, bytes) of a line of the array below `parent`, from the line's slot.
    pub(crate) fn fetch_piece(
        &mut self,
        path: &mut Path,
        parent: IoId,
        array: u32,
        slot: u32,
        range: (u64, u64),
        now: Time,
    ) {
        let fetch = SlotRange { slot, range };
        let index = self.new_job(path, parent, array, 0, Work::Fetch(fetch), now);
        let job = &mut self.jobs[index];
        job.phase = Phase::Finish;
        let record = job.io;
        (path.ios[record].op, path.ios[record].bytes) = (Op::Read, range.1);
        self.pin_slot(array, slot);
        self.read_slot(path, index, fetch, now);
    }

    /// Reads a range from its slot for a job.
    pub(crate) fn read_slot(&mut self, path: &mut Path, index: u32, from: SlotRange, now: Time) {
        let job = &self.jobs[index];
        let (record, array) = (job.io, job.array);
        let (slot, (offset, bytes)) = (from.slot, from.range);
        if let Some(redirect) = self.redirects[array as usize].as_ref() {
            let (fast, at) = (redirect.array, redirect.at(slot, offset));
            self.read_array(path, record, fast, at, bytes, now);
        }
    }

    /// A piece has been read from its slot, or could not be.
    pub(crate) fn finish_fetch(
        &mut self,
        path: &mut Path,
        index: u32,
        fetch: SlotRange,
        now: Time,
    ) {
        let job = &mut self.jobs[index];
        if std::mem::take(&mut job.flags.again) || job.flags.refused {
            return self.fetch_again(path, index, fetch, now);
        }
        let array = job.array;
        self.unpin_slot(array, fetch.slot);
        self.finish_piece(path, index, now);
    }

    /// A piece of a request is complete, or refused.
    pub(crate) fn finish_piece(&mut self, path: &mut Path, index: u32, now: Time) {
        let job = &self.jobs[index];
        let (record, refused) = (job.io, job.flags.refused);
        // Time over a read that came back with an error and was refused then.
        path.ios[record].charge(Part::Raid, now);
        let parent = path.ios[record].parent;
        if let Some(integrity) = &mut path.integrity {
            integrity.pass_up(record, parent);
        }
        if refused {
            self.refuse(path, parent, 0);
        }
        self.jobs.release(index);
        self.child_returned(path, record, now);
    }

    /// A piece could not be read where it was: it is looked for anew. Its time stays on the
    /// account.
    fn fetch_again(&mut self, path: &mut Path, index: u32, fetch: SlotRange, now: Time) {
        let job = &mut self.jobs[index];
        job.flags.refused = false;
        let (record, array) = (job.io, job.array);
        let SlotRange { slot, range } = fetch;
        path.ios[record].refused = false;
        if let Some(integrity) = &mut path.integrity {
            integrity.end_reader(record);
        }
        self.unpin_slot(array, slot);
        match self.readable_slot(path, array, range.0, now) {
            Some(slot) => {
                let fetch = SlotRange { slot, range };
                self.jobs[index].work = Work::Fetch(fetch);
                self.pin_slot(array, slot);
                self.read_slot(path, index, fetch, now);
            }
            None => {
                self.jobs[index].work = Work::Bypass;
                self.bypass_cache(path, record, Op::Read, array, range, now);
            }
        }
    }

    /// Somebody reads a slot: its line stays on the SSD cache.
    fn pin_slot(&mut self, array: u32, slot: u32) {
        if let Some(redirect) = self.redirects[array as usize].as_mut() {
            redirect.map.pin(slot);
        }
    }

    /// Nobody reads or writes a slot any more for one of those who did.
    pub(crate) fn unpin_slot(&mut self, array: u32, slot: u32) {
        let redirect = self.redirects[array as usize].as_mut();
        if let Some(redirect) = redirect.filter(|redirect| !redirect.failed) {
            redirect.map.unpin(slot);
        }
    }
}
