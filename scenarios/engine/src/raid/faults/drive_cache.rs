//! The drives' own volatile caches when the power fails: what they had acknowledged and
//! had not written yet is gone, whatever the controller's backup preserves.

use crate::integrity::LostFrom;
use crate::layout::Role;
use crate::path::Path;
use crate::raid::{Raid, Stripes};
use raidlab_models::SECTOR;
use std::collections::BTreeSet;

impl Raid {
    /// Counts the acknowledged writes that are lost because drives have older content than they
    /// acknowledged.
    pub(crate) fn count_losses_of_drives(&mut self, path: &mut Path, older: &[(u32, Vec<u64>)]) {
        let mut places = BTreeSet::new();
        for (drive, sectors) in older {
            let Raid {
                stripes,
                background,
            } = self;
            background.begin_copies_again(stripes, *drive, sectors[0] * SECTOR);
            if let Some((array, member)) = stripes.member_of(*drive) {
                for sector in sectors {
                    stripes.touched_by(path, array, member, sector * SECTOR, &mut places);
                }
            }
        }
        for (array, offset) in places {
            let cached = self.stripes.is_dirty_in_cache(array, offset);
            let written = path
                .integrity
                .as_ref()
                .is_some_and(|f| f.is_written(array, offset));
            // What the SSD cache has newer data of does not matter here.
            let dirty = self.stripes.is_dirty_on_ssd_cache(array, offset);
            if written && !cached && !dirty {
                let content = self.stripes.on_drives(path, array, offset);
                if let Some(integrity) = &mut path.integrity {
                    integrity.lose(array, offset, &content, LostFrom::DriveCache);
                }
            }
        }
    }
}

impl Stripes {
    /// The array's sectors whose content a drive's sector decides: its own, and with parity those
    /// of the lost units that are computed from it.
    fn touched_by(
        &self,
        path: &Path,
        array: u32,
        member: u32,
        offset: u64,
        places: &mut BTreeSet<(u32, u64)>,
    ) {
        let volume = self.volume(array);
        let unit = volume.geometry.unit();
        let (row, within) = (offset / unit, offset % unit);
        if row >= volume.geometry.rows() && volume.geometry.is_redundant() {
            return;
        }
        let Some((stripe, role)) = volume.geometry.unit_at(member, row) else {
            return;
        };
        let lost = |column: &u32| {
            let place = volume.place(stripe, Role::Data(*column));
            self.sector_of(path, volume, place, within).is_none()
        };
        let columns = (0..volume.geometry.columns()).filter(lost);
        let own = match role {
            Role::Data(column) => Some(column),
            Role::Parity(_) | Role::Copy(..) => None,
        };
        for column in columns.chain(own) {
            places.insert((array, volume.geometry.offset(stripe, column) + within));
        }
    }

    pub(crate) fn is_dirty_in_cache(&self, array: u32, offset: u64) -> bool {
        let Some(cached) = self.cached(array) else {
            return false;
        };
        let mut lines = cached.caching.lines(offset, SECTOR);
        lines.any(|(key, sectors)| cached.memory.cache.is_dirty_at(key, sectors))
    }
}
