//! The drives' own volatile caches when the power fails: what they had acknowledged and
//! had not written yet is gone, whatever the controller's backup preserves.

use crate::ids::DriveId;
use crate::integrity::LostFrom;
use crate::path::IoPath;
use crate::raid::Raid;
use crate::raid::faults::content::Content;
use raidlab_models::SECTOR;
use std::collections::BTreeSet;

impl Raid {
    /// Counts the acknowledged writes that are lost because drives have older content than they
    /// acknowledged.
    pub(crate) fn count_losses_of_drives(
        &mut self,
        path: &mut IoPath,
        older: &[(DriveId, Vec<u64>)],
    ) {
        let mut places = BTreeSet::new();
        for (drive, sectors) in older {
            let Raid {
                stripes,
                background,
                ..
            } = self;
            background.begin_copies_again(stripes, *drive, sectors[0] * SECTOR);
            if let Some((array, member)) = stripes.state().volumes().member_of(*drive) {
                for sector in sectors {
                    Content::new(path, &self.stripes).touched_by(
                        array,
                        member,
                        sector * SECTOR,
                        &mut places,
                    );
                }
            }
        }
        for (array, offset) in places {
            let cached = self.memories().is_dirty(&self.stripes, array, offset);
            let written = path
                .integrity
                .as_ref()
                .is_some_and(|f| f.is_written(array, offset));
            // What the SSD cache has newer data of does not matter here.
            let dirty = self.stripes.state().redirects().is_dirty(array, offset);
            if written && !cached && !dirty {
                let content = Content::new(path, &self.stripes).on_drives(array, offset);
                if let Some(integrity) = &mut path.integrity {
                    integrity.lose(array, offset, &content, LostFrom::DriveCache);
                }
            }
        }
    }
}
