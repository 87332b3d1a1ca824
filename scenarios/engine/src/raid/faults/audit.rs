//! The audit at the end of a run: what can still be read, and whether parity fits the data.

use crate::integrity::{DataReport, OnDrives};
use crate::layout::{Place, Role, galois};
use crate::path::Path;
use crate::raid::Stripes;
use crate::raid::volume::Volume;
use raidlab_models::{Found, SECTOR};
use std::collections::BTreeSet;

impl Stripes {
    /// The figures of data integrity, if the run followed the data.
    pub(crate) fn data_report(&mut self, path: &mut Path) -> Option<DataReport> {
        let mut report = path.integrity.as_ref()?.report;
        let mut lacking = BTreeSet::new();
        for array in 0..path.arrays.len() as u32 {
            if self.volumes[array as usize].is_none() {
                continue;
            }
            let (mut stripes, mut apart) = (Vec::new(), BTreeSet::new());
            let written: Vec<u64> = path.integrity.as_ref()?.written(array).collect();
            for offset in written {
                if self.is_locked((array, offset)) {
                    continue;
                }
                let stripe = self.volume(array).geometry.piece(offset, SECTOR).stripe;
                if stripes.last() != Some(&stripe) {
                    stripes.push(stripe);
                }
                let on_ssd_cache = self.on_ssd_cache(array, offset);
                let on_ssd_cache = on_ssd_cache.filter(|&at| !self.is_locked(at));
                for (at, offset) in on_ssd_cache.into_iter().chain([(array, offset)]) {
                    if self.copies_differ(path, at, offset) {
                        apart.insert((at, self.volume(at).geometry.piece(offset, SECTOR).stripe));
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
                report.corrupt_stripes += u64::from(!self.parity_fits(path, array, stripe));
            }
        }
        let integrity = path.integrity.as_ref()?;
        (report.lost_writes, report.lost_in_drive_caches) = integrity.count_lost(&lacking);
        Some(report)
    }

    /// Whether a sector's copies that can be read hold different content.
    fn copies_differ(&self, path: &Path, array: u32, offset: u64) -> bool {
        if self.volume(array).geometry.copies() == 1 {
            return false;
        }
        let content = self.on_drives(path, array, offset).tokens;
        content.iter().any(|token| *token != content[0])
    }

    /// Whether a job is at work on a sector's stripe.
    fn is_locked(&self, (array, offset): (u32, u64)) -> bool {
        let volume = self.volume(array);
        let piece = volume.geometry.piece(offset, SECTOR);
        let key = volume.lock_key(array, piece.stripe, piece.column);
        self.locks.get(key).is_some()
    }

    /// What a read of a sector would get now; None if it would be refused.
    pub(crate) fn readable(&mut self, path: &mut Path, array: u32, offset: u64) -> Option<u64> {
        if self.volume(array).offline {
            return None;
        }
        if let Some(cached) = self.cached_mut(array) {
            let mut lines = cached.caching.lines(offset, SECTOR);
            let cache = &mut cached.memory.cache;
            if lines.any(|(key, sectors)| cache.find(key, sectors) == Found::All) {
                return Some(path.integrity.as_ref()?.cached(array, offset));
            }
        }
        self.stored(path, array, offset).tokens.first().copied()
    }

    /// What lies beneath the controller's memory: every living copy on the SSD cache, if that has the
    /// sector's line, then, if that is no newer, on the array's own drives.
    pub(crate) fn stored(&self, path: &Path, array: u32, offset: u64) -> OnDrives {
        if self.is_lost(array, (offset, SECTOR)) {
            return OnDrives::default();
        }
        let on_ssd_cache = self.on_ssd_cache(array, offset);
        let above = on_ssd_cache.map(|(fast, at)| self.on_drives(path, fast, at));
        if self.is_dirty_on_ssd_cache(array, offset) {
            return above.unwrap_or_default();
        }
        let mut content = self.on_drives(path, array, offset);
        content
            .tokens
            .splice(0..0, above.unwrap_or_default().tokens);
        content
    }

    /// What the drives hold of a sector: every living copy, or what parity gives.
    pub(crate) fn on_drives(&self, path: &Path, array: u32, offset: u64) -> OnDrives {
        let (volume, Some(integrity)) = (self.volume(array), &path.integrity) else {
            return OnDrives::default();
        };
        let piece = volume.geometry.piece(offset, SECTOR);
        let within = u64::from(piece.start);
        let copies = (0..volume.geometry.copies())
            .map(|copy| volume.geometry.data(piece.stripe, piece.column, copy))
            .filter_map(|place| self.sector_of(path, volume, place, within));
        let content: Vec<u64> = copies
            .map(|(drive, at)| integrity.content(drive, at))
            .collect();
        if !content.is_empty() || volume.geometry.parities() == 0 {
            return OnDrives {
                tokens: content,
                computed: false,
            };
        }
        let mut data = self.units(path, array, piece.stripe, within, true);
        let parity = self.units(path, array, piece.stripe, within, false);
        let parity = [0, 1].map(|which| parity.get(which).copied().flatten());
        let whole = galois::recover(&mut data, parity);
        let found = data[piece.column as usize].filter(|_| whole);
        OnDrives {
            tokens: found.into_iter().collect(),
            computed: true,
        }
    }

    /// The living tokens of a stripe's data or parity units at a sector.
    pub(crate) fn units(
        &self,
        path: &Path,
        array: u32,
        stripe: u64,
        within: u64,
        data: bool,
    ) -> Vec<Option<u64>> {
        let volume = self.volume(array);
        let geometry = &volume.geometry;
        let roles = if data {
            (0..geometry.columns()).map(Role::Data).collect::<Vec<_>>()
        } else {
            (0..geometry.parities()).map(Role::Parity).collect()
        };
        let content = |role| {
            let place = volume.place(stripe, role);
            let (drive, at) = self.sector_of(path, volume, place, within)?;
            Some(path.integrity.as_ref()?.content(drive, at))
        };
        roles.into_iter().map(content).collect()
    }

    /// The drive and the offset on it of a sector of a unit, if a read would get it, whether or not anybody
    /// has tried.
    pub(crate) fn sector_of(
        &self,
        path: &Path,
        volume: &Volume,
        place: Place,
        within: u64,
    ) -> Option<(u32, u64)> {
        let drive = volume.members[place.member as usize].drive;
        let at = place.offset + within;
        let unreadable = &path.drives[drive as usize].health.unreadable;
        (volume.stands(place) && !unreadable.touches(at, at + SECTOR)).then_some((drive, at))
    }

    /// Whether a stripe's parity fits its data, as far as all of them can be read.
    fn parity_fits(&self, path: &Path, array: u32, stripe: u64) -> bool {
        let geometry = &self.volume(array).geometry;
        let mut sectors = (0..geometry.unit()).step_by(SECTOR as usize);
        geometry.parities() == 0
            || sectors.all(|within| {
                let data = self.units(path, array, stripe, within, true);
                let parity = self.units(path, array, stripe, within, false);
                let all = |units: Vec<Option<u64>>| units.into_iter().collect::<Option<Vec<_>>>();
                let (Some(data), Some(parity)) = (all(data), all(parity)) else {
                    return true;
                };
                let made = galois::parities(data.into_iter());
                parity
                    .iter()
                    .zip(made)
                    .all(|(content, made)| *content == made)
            })
    }
}
