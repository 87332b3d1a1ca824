//! Pieces of requests read from the SSD cache, and from the array where the SSD cache has lost them.

use crate::ids::{ArrayId, JobId, StripeId};
use crate::path::IoPath;
use crate::raid::jobs::Phase;
use crate::raid::jobs::SlotRange;
use crate::raid::jobs::Work;
use crate::raid::lines::Lines;
use raidlab_io::{ByteRange, IoId, Op, Part};
use raidlab_kernel::Time;
use raidlab_models::SlotId;

impl Lines<'_> {
    /// Reads a piece of a line of the array below `parent`, from the line's slot.
    pub(crate) fn fetch_piece(
        &mut self,
        path: &mut IoPath,
        parent: IoId,
        array: ArrayId,
        slot: SlotId,
        range: ByteRange,
        now: Time,
    ) {
        let fetch = SlotRange { slot, range };
        let index = self.stripes.state_mut().new_job(
            path,
            parent,
            array,
            StripeId::new(0),
            Work::Fetch(fetch),
            now,
        );
        let job = &mut self.stripes.state_mut().jobs_mut()[index];
        job.go_on_with(Work::Fetch(fetch), Phase::Finish);
        let record = job.io();
        (path.ios[record].op, path.ios[record].bytes) = (Op::Read, range.bytes);
        self.stripes.state_mut().redirects_mut().pin(array, slot);
        self.read_slot(path, index, fetch, now);
    }

    /// Reads a range from its slot for a job.
    pub(crate) fn read_slot(
        &mut self,
        path: &mut IoPath,
        index: JobId,
        from: SlotRange,
        now: Time,
    ) {
        let job = &self.stripes.state().jobs()[index];
        let (record, array) = (job.io(), job.array());
        let ByteRange { offset, bytes } = from.range;
        if let Some(redirect) = self.stripes.state().redirect(array) {
            let (fast, at) = (redirect.array(), redirect.at(from.slot, offset));
            let range = ByteRange::new(at, bytes);
            self.stripes.read_array(path, record, fast, range, now);
        }
    }

    /// A piece has been read from its slot, or could not be.
    pub(crate) fn finish_fetch(
        &mut self,
        path: &mut IoPath,
        index: JobId,
        fetch: SlotRange,
        now: Time,
    ) {
        let job = &mut self.stripes.state_mut().jobs_mut()[index];
        if job.take_failed_read() || job.is_refused() {
            return self.fetch_again(path, index, fetch, now);
        }
        let array = job.array();
        self.stripes
            .state_mut()
            .redirects_mut()
            .unpin(array, fetch.slot);
        self.finish_piece(path, index, now);
    }

    /// A piece of a request is complete, or refused.
    pub(crate) fn finish_piece(&mut self, path: &mut IoPath, index: JobId, now: Time) {
        let job = &self.stripes.state().jobs()[index];
        let (record, refused) = (job.io(), job.is_refused());
        // Time over a read that came back with an error and was refused then.
        path.ios[record].charge(Part::Raid, now);
        let parent = path.ios[record].parent;
        if let Some(integrity) = &mut path.integrity {
            integrity.pass_up(record, parent);
        }
        if refused {
            self.stripes.state_mut().refuse(path, parent, 0);
        }
        self.stripes.state_mut().jobs_mut().release(index);
        self.stripes.child_returned(path, record, now);
    }

    /// A piece could not be read where it was: it is looked for anew. Its time stays on the
    /// account.
    fn fetch_again(&mut self, path: &mut IoPath, index: JobId, fetch: SlotRange, now: Time) {
        let job = &mut self.stripes.state_mut().jobs_mut()[index];
        job.try_again();
        let (record, array) = (job.io(), job.array());
        let SlotRange { slot, range } = fetch;
        path.ios[record].refused = false;
        if let Some(integrity) = &mut path.integrity {
            integrity.end_reader(record);
        }
        self.stripes.state_mut().redirects_mut().unpin(array, slot);
        match self.readable_slot(path, array, range.offset, now) {
            Some(slot) => {
                let fetch = SlotRange { slot, range };
                self.stripes.state_mut().jobs_mut()[index]
                    .go_on_with(Work::Fetch(fetch), Phase::Finish);
                self.stripes.state_mut().redirects_mut().pin(array, slot);
                self.read_slot(path, index, fetch, now);
            }
            None => {
                self.stripes.state_mut().jobs_mut()[index].go_on_with(Work::Bypass, Phase::Finish);
                self.bypass_cache(path, record, Op::Read, array, range, now);
            }
        }
    }
}
