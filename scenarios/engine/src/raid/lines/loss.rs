//! What an SSD cache loses: the lines of a slot that cannot be read any more, or all of them.
//!
//! A clean line is on the array as well and is read there. A dirty one is nowhere else: it is lost
//! as a whole, since dirty state is tracked per line. What lies beneath it on the array is older,
//! so reads of it are refused until it is written over. Only what the controller's memory has of it
//! is not: that goes to the array.

use crate::ids::{ArrayId, ControllerId};
use crate::integrity::{Integrity, LostFrom, OnDrives};
use crate::path::IoPath;
use crate::raid::lines::Lines;
use crate::state::log::EventKind;
use raidlab_io::ByteRange;
use raidlab_kernel::Time;
use raidlab_models::{SECTOR, SlotId};

impl Lines<'_> {
    /// The slot where an offset of an array can be read or written: none if the line is not on the
    /// SSD cache, or no drive of the SSD cache gives it any more.
    pub(crate) fn readable_slot(
        &mut self,
        path: &mut IoPath,
        array: ArrayId,
        offset: u64,
        now: Time,
    ) -> Option<SlotId> {
        let redirect = self.stripes.state().redirect(array)?;
        let slot = redirect.map().slot(redirect.line_at(offset))?;
        if path.can_fail && !self.is_readable(array, slot) {
            self.give_up_unreadable(path, array, slot, now);
            return None;
        }
        Some(slot)
    }

    /// Whether a drive of the SSD cache can give what a slot holds.
    fn is_readable(&self, array: ArrayId, slot: SlotId) -> bool {
        let volumes = self.stripes.state().volumes();
        self.stripes
            .state()
            .redirects()
            .is_readable(volumes, array, slot)
    }

    /// If a slot cannot be read any more, its line leaves the SSD cache.
    pub(crate) fn give_up_unreadable(
        &mut self,
        path: &mut IoPath,
        array: ArrayId,
        slot: SlotId,
        now: Time,
    ) {
        if !path.can_fail || self.is_readable(array, slot) {
            return;
        }
        let Some(redirect) = self.stripes.state_mut().redirect_mut(array) else {
            return;
        };
        let range = redirect.range(slot);
        if redirect.lose(slot) && !self.memories.save(self.stripes, path, array, range, now) {
            self.count_lost(path, array, range);
            log_lost(path, array, 1, now);
        }
    }

    /// An array is offline: if it is an SSD cache, all its content is lost to the array above it.
    /// Gives the controller that has to destage then.
    pub(crate) fn ssd_cache_fails(
        &mut self,
        path: &mut IoPath,
        fast: ArrayId,
        now: Time,
    ) -> Option<ControllerId> {
        let array = self.stripes.state().redirects().above(fast)?;
        let saved = self.stripes.state_mut().lines_in_memory(path, array);
        let redirect = self.stripes.state_mut().redirect_mut(array)?;
        let dirty = redirect.fail();
        let mut lost = 0;
        for (slot, range) in dirty {
            if !saved.contains(&slot) && !self.memories.save(self.stripes, path, array, range, now)
            {
                self.count_lost(path, array, range);
                lost += 1;
            }
        }
        log_lost(path, array, lost, now);
        let controller = path.arrays[array].controller;
        controller.filter(|_| now >= path.off_until)
    }

    /// Counts the acknowledged writes that a range of an array has lost; what the controller's
    /// memory has newer data of is not.
    pub(crate) fn count_lost(
        &mut self,
        path: &mut IoPath,
        array: ArrayId,
        ByteRange { offset, bytes }: ByteRange,
    ) {
        for sector in (offset..offset + bytes).step_by(SECTOR as usize) {
            let known = |integrity: &Integrity| integrity.is_written(array, sector);
            if path.integrity.as_ref().is_some_and(known)
                && !self.memories.is_dirty(self.stripes, array, sector)
            {
                if let Some(integrity) = &mut path.integrity {
                    integrity.lose(array, sector, &OnDrives::default(), LostFrom::Cache);
                }
            }
        }
    }
}

fn log_lost(path: &mut IoPath, array: ArrayId, lines: u64, now: Time) {
    let name = path.arrays[array].name.clone();
    let what = format!("array {name}: {lines} dirty lines of its tier are lost");
    path.log.note(now, EventKind::LinesLost, name, what);
}
