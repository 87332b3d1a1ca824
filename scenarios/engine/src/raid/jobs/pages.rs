//! Writes to an array whose stripes are handled page by page, as by Linux md.
//!
//! A job is about a range of pages. New data are cut where the pages of other jobs at the stripe begin
//! and end, so that each part is either wholly within those of another job, which it joins or waits
//! for, or has nothing to do with it.

use crate::ids::ArrayId;
use crate::layout::Extent;
use crate::path::IoPath;
use crate::raid::jobs::{Stripes, Work};
use raidlab_io::{ByteRange, IoId};
use raidlab_kernel::Time;

impl Stripes {
    /// Writes a range of an array below `parent`.
    pub(super) fn write_pages(
        &mut self,
        path: &mut IoPath,
        parent: IoId,
        array: ArrayId,
        range: ByteRange,
        now: Time,
    ) {
        let (mut offset, end) = (range.offset, range.end());
        let mut cutter = std::mem::take(&mut self.cutter);
        while offset < end {
            let geometry = self.state.volume(array).geometry();
            let stripe = geometry.piece(ByteRange::new(offset, 1)).stripe;
            cutter.extents.clear();
            while offset < end {
                let piece = geometry.piece(ByteRange::new(offset, end - offset));
                if piece.stripe != stripe {
                    break;
                }
                cutter.extents.push(piece.extent());
                offset += u64::from(piece.end - piece.start);
            }
            cutter.cut(&self.locks, &self.state, array, stripe);
            for range in cutter.cuts.windows(2) {
                let within = |extent: &Extent| Extent {
                    column: extent.column,
                    start: extent.start.max(range[0]),
                    end: extent.end.min(range[1]),
                };
                let parts = cutter.extents.iter().map(within);
                let mut job = None;
                for part in parts.filter(|part| part.start < part.end) {
                    let new = || {
                        self.state
                            .new_job(path, parent, array, stripe, Work::Write, now)
                    };
                    let job = *job.get_or_insert_with(new);
                    self.state.take_new_data(path, job, parent, array, part);
                }
                if let Some(job) = job {
                    self.begin(path, job, now);
                }
            }
        }
        self.cutter = cutter;
    }
}
