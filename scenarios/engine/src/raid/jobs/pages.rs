//! Writes to an array whose stripes are handled page by page, as by Linux md.
//!
//! A job is about a range of pages. New data are cut where the pages of other jobs at the stripe begin
//! and end, so that each part is either wholly within those of another job, which it joins or waits
//! for, or has nothing to do with it.

use crate::ids::ArrayId;
use crate::layout::Extent;
use crate::path::Path;
use crate::raid::jobs::{Stripes, Work};
use raidlab_io::IoId;
use raidlab_kernel::Time;

/// New data that would be cut at more places stay in one piece, and wait for all in their way: writes
/// that lie across each other at random would be cut to pages.
const MOST: usize = 10;

/// Lists that are used again and again.
#[derive(Debug, Default)]
pub(super) struct Cutter {
    /// New data of a stripe.
    extents: Vec<Extent>,
    /// Where they are cut.
    cuts: Vec<u32>,
}

/// Writes a range (start, end) of an array below `parent`.
pub(super) fn write(
    stripes: &mut Stripes,
    path: &mut Path,
    parent: IoId,
    array: ArrayId,
    (mut offset, end): (u64, u64),
    now: Time,
) {
    let mut cutter = std::mem::take(&mut stripes.cutter);
    while offset < end {
        let geometry = stripes.volume(array).geometry();
        let stripe = geometry.piece(offset, 1).stripe;
        cutter.extents.clear();
        while offset < end {
            let piece = geometry.piece(offset, end - offset);
            if piece.stripe != stripe {
                break;
            }
            cutter.extents.push(piece.extent());
            offset += u64::from(piece.end - piece.start);
        }
        cutter.cut(stripes, array, stripe);
        for range in cutter.cuts.windows(2) {
            let within = |extent: &Extent| Extent {
                column: extent.column,
                start: extent.start.max(range[0]),
                end: extent.end.min(range[1]),
            };
            let parts = cutter.extents.iter().map(within);
            let mut job = None;
            for part in parts.filter(|part| part.start < part.end) {
                let new = || stripes.new_job(path, parent, array, stripe, Work::Write, now);
                let job = *job.get_or_insert_with(new);
                stripes.take_new_data(path, job, parent, array, part);
            }
            if let Some(job) = job {
                stripes.begin(path, job, now);
            }
        }
    }
    stripes.cutter = cutter;
}

impl Cutter {
    /// Finds out where the extents of a stripe are cut, their ends included.
    fn cut(&mut self, stripes: &Stripes, array: ArrayId, stripe: u64) {
        let (volume, cuts) = (stripes.volume(array), &mut self.cuts);
        cuts.clear();
        for extent in &self.extents {
            cuts.extend([extent.start, extent.end]);
        }
        let (start, end) = cuts
            .iter()
            .fold((u32::MAX, 0), |(a, b), &cut| (a.min(cut), b.max(cut)));
        if self.extents.len() != 2 || self.extents[0].start <= self.extents[1].end {
            // All of it is about neighbouring pages.
            cuts.clear();
            cuts.extend([start, end]);
        }
        let key = volume.lock_key(array, stripe, 0);
        stripes
            .locks
            .cuts(&stripes.jobs, volume, key, (start, end), cuts);
        cuts.sort_unstable();
        cuts.dedup();
        if cuts.len() > MOST {
            cuts.clear();
            cuts.extend([start, end]);
        }
    }
}
