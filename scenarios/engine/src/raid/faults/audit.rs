//! The audit at the end of a run: what can still be read, and whether parity fits the data.

use crate::ids::ArrayId;
use crate::integrity::DataReport;
use crate::layout::Token;
use crate::path::IoPath;
use crate::raid::Raid;
use crate::raid::faults::content::Content;
use raidlab_io::ByteRange;
use raidlab_models::SECTOR;
use std::collections::BTreeSet;

impl Raid {
    /// The figures of data integrity, if the run followed the data.
    pub(crate) fn data_report(&mut self, path: &mut IoPath) -> Option<DataReport> {
        let mut report = path.integrity.as_ref()?.report;
        let mut lacking = BTreeSet::new();
        for array in path.arrays.ids() {
            if self.stripes.state().volumes().get(array).is_none() {
                continue;
            }
            let (mut stripes, mut apart) = (Vec::new(), BTreeSet::new());
            let written: Vec<u64> = path.integrity.as_ref()?.written(array).collect();
            for offset in written {
                if Content::new(path, &self.stripes).is_locked((array, offset)) {
                    continue;
                }
                let stripe = self
                    .stripes
                    .state()
                    .volume(array)
                    .geometry()
                    .piece(ByteRange::new(offset, SECTOR))
                    .stripe;
                if stripes.last() != Some(&stripe) {
                    stripes.push(stripe);
                }
                let on_ssd_cache = self.stripes.state().redirects().on_ssd_cache(array, offset);
                let on_ssd_cache =
                    on_ssd_cache.filter(|&at| !Content::new(path, &self.stripes).is_locked(at));
                for (at, offset) in on_ssd_cache.into_iter().chain([(array, offset)]) {
                    if Content::new(path, &self.stripes).copies_differ(at, offset) {
                        apart.insert((
                            at,
                            self.stripes
                                .state()
                                .volume(at)
                                .geometry()
                                .piece(ByteRange::new(offset, SECTOR))
                                .stripe,
                        ));
                    }
                }
                let found = self.readable(path, array, offset);
                let integrity = path.integrity.as_ref()?;
                if !found.is_some_and(|found| integrity.is_right(array, offset, found)) {
                    let mut acknowledged = integrity.acknowledged(array, offset).peekable();
                    report.lost_sectors += u64::from(acknowledged.peek().is_some());
                    lacking.extend(acknowledged);
                }
            }
            stripes.sort_unstable();
            stripes.dedup();
            report.corrupt_stripes += apart.len() as u64;
            for stripe in stripes {
                report.corrupt_stripes +=
                    u64::from(!Content::new(path, &self.stripes).parity_fits(array, stripe));
            }
        }
        let integrity = path.integrity.as_ref()?;
        (report.lost_writes, report.lost_in_drive_caches) = integrity.count_lost(&lacking);
        Some(report)
    }

    /// What a read of a sector would get now; None if it would be refused.
    pub(crate) fn readable(
        &mut self,
        path: &mut IoPath,
        array: ArrayId,
        offset: u64,
    ) -> Option<Token> {
        if self.stripes.state().volume(array).is_offline() {
            return None;
        }
        let memories = self.cache.memories_mut();
        if memories.has(&self.stripes, array, offset) {
            return Some(path.integrity.as_ref()?.cached(array, offset));
        }
        Content::new(path, &self.stripes)
            .stored(array, offset)
            .tokens
            .first()
            .copied()
    }
}
