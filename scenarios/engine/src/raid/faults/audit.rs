//! The audit at the end of a run: what can still be read, and whether parity fits the data.

use crate::ids::ArrayId;
use crate::integrity::DataReport;
use crate::path::Path;
use crate::raid::Raid;
use crate::raid::faults::content::Content;
use raidlab_models::SECTOR;
use std::collections::BTreeSet;

impl Raid {
    /// What drives hold now.
    pub(super) fn content<'a>(&'a self, path: &'a Path) -> Content<'a> {
        let stripes = &self.stripes;
        Content { path, stripes }
    }

    /// The figures of data integrity, if the run followed the data.
    pub(crate) fn data_report(&mut self, path: &mut Path) -> Option<DataReport> {
        let mut report = path.integrity.as_ref()?.report;
        let mut lacking = BTreeSet::new();
        for array in path.arrays.ids() {
            if self.stripes.volumes().get(array).is_none() {
                continue;
            }
            let (mut stripes, mut apart) = (Vec::new(), BTreeSet::new());
            let written: Vec<u64> = path.integrity.as_ref()?.written(array).collect();
            for offset in written {
                if self.content(path).is_locked((array, offset)) {
                    continue;
                }
                let stripe = self
                    .stripes
                    .volume(array)
                    .geometry()
                    .piece(offset, SECTOR)
                    .stripe;
                if stripes.last() != Some(&stripe) {
                    stripes.push(stripe);
                }
                let on_ssd_cache = self.stripes.redirects().on_ssd_cache(array, offset);
                let on_ssd_cache = on_ssd_cache.filter(|&at| !self.content(path).is_locked(at));
                for (at, offset) in on_ssd_cache.into_iter().chain([(array, offset)]) {
                    if self.content(path).copies_differ(at, offset) {
                        apart.insert((
                            at,
                            self.stripes
                                .volume(at)
                                .geometry()
                                .piece(offset, SECTOR)
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
                report.corrupt_stripes += u64::from(!self.content(path).parity_fits(array, stripe));
            }
        }
        let integrity = path.integrity.as_ref()?;
        (report.lost_writes, report.lost_in_drive_caches) = integrity.count_lost(&lacking);
        Some(report)
    }

    /// What a read of a sector would get now; None if it would be refused.
    pub(crate) fn readable(&mut self, path: &mut Path, array: ArrayId, offset: u64) -> Option<u64> {
        if self.stripes.volume(array).is_offline() {
            return None;
        }
        let memories = self.cache.memories_mut();
        if memories.has(&self.stripes, array, offset) {
            return Some(path.integrity.as_ref()?.cached(array, offset));
        }
        self.content(path)
            .stored(array, offset)
            .tokens
            .first()
            .copied()
    }
}
