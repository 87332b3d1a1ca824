//! The drives' own volatile caches when the power fails: what they had told to be written and
//! had not written yet is gone, whatever the controller's backup keeps.

use crate::drive::DrivePort;
use crate::layout::Role;
use crate::system::System;
use raidlab_kernel::Time;
use raidlab_models::SECTOR;
use std::collections::BTreeSet;

impl System {
    /// Every drive's volatile cache loses its content; gives the sectors whose older content is
    /// back, by drive.
    pub(super) fn cut_drives(&mut self, now: Time) -> Vec<(u32, Vec<u64>)> {
        let mut older = Vec::new();
        for drive in 0..self.drives.len() as u32 {
            if let Some(fate) = &mut self.raid.fate {
                let sectors = fate.cut_drive(drive, now);
                if !sectors.is_empty() {
                    older.push((drive, sectors));
                }
            }
            let mut port = DrivePort {
                drive,
                calendar: &mut self.calendar,
                ios: &mut self.ios,
                fate: None,
            };
            self.drives[drive as usize].device.power_cut(&mut port);
        }
        older
    }

    /// Counts the acknowledged writes that are lost because drives have older content than they
    /// had told.
    pub(super) fn judge_drives(&mut self, older: &[(u32, Vec<u64>)]) {
        let mut places = BTreeSet::new();
        for (drive, sectors) in older {
            self.begin_copies_again(*drive, sectors[0] * SECTOR);
            if let Some((array, member)) = self.member_of(*drive) {
                for sector in sectors {
                    self.touched_by(array, member, sector * SECTOR, &mut places);
                }
            }
        }
        for (array, offset) in places {
            let cached = self.is_dirty_in_cache(array, offset);
            let known = self
                .raid
                .fate
                .as_ref()
                .is_some_and(|f| f.knows(array, offset));
            // What the tier has newer data of does not matter here.
            let dirty = self.is_dirty_on_tier(array, offset);
            if known && !cached && !dirty {
                let held = self.on_drives(array, offset);
                if let Some(fate) = &mut self.raid.fate {
                    fate.lose(array, offset, &held, true);
                }
            }
        }
    }

    /// The array's sectors whose content a drive's sector decides: its own, and with parity those
    /// of the lost units that are computed from it.
    fn touched_by(&self, array: u32, member: u32, offset: u64, places: &mut BTreeSet<(u32, u64)>) {
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
            self.sector_of(volume, place, within).is_none()
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
        let Some(cached) = self.raid.cached(array) else {
            return false;
        };
        let mut lines = cached.caching.lines(offset, SECTOR);
        lines.any(|(key, sectors)| cached.store.cache.is_dirty_at(key, sectors))
    }
}
