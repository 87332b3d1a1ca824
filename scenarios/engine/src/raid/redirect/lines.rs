//! Reads and writes of an array with an SSD cache: each line from or to where it is.

use crate::layout::Extent;
use crate::path::Path;
use crate::path::agenda::Call;
use crate::raid::Stripes;
use crate::raid::jobs::SlotRange;
use crate::raid::jobs::Work;
use crate::raid::redirect::Redirect;
use raidlab_kernel::{IoId, Op, Time};

/// Where a slot of an SSD cache lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotPlace {
    pub slot: u32,
    /// The array of the SSDs.
    pub array: u32,
    /// Its stripe and column.
    pub stripe: u64,
    pub column: u32,
    unit: Option<u64>,
}

impl SlotPlace {
    /// Where bytes of a group of the array lie in the line's one unit.
    pub fn extent(&self, of: Extent) -> Extent {
        let before = self.unit.map_or(0, |unit| of.column * unit as u32);
        Extent {
            column: self.column,
            start: before + of.start,
            end: before + of.end,
        }
    }
}

impl Redirect {
    /// Whether new data for a line would go to the SSDs now.
    pub fn would_take(&self, line: u64) -> bool {
        self.write_back && self.map.slot(line).is_some()
    }

    /// New data for a line: where on the SSDs they go, if they do. The slot is pinned.
    pub(crate) fn takes(&mut self, line: u64) -> Option<u32> {
        let slot = if self.write_back {
            self.map.write(line)
        } else {
            None
        };
        match slot {
            Some(slot) => self.map.pin(slot),
            None => self.map.written_around(line),
        }
        slot
    }

    /// Where a slot lies.
    pub(crate) fn place(&self, slot: u32) -> SlotPlace {
        SlotPlace {
            slot,
            array: self.array,
            stripe: u64::from(slot) / self.columns,
            column: (u64::from(slot) % self.columns) as u32,
            unit: self.unit,
        }
    }

    /// Where on the SSD cache an offset of the array lies in its line's slot.
    pub(crate) fn at(&self, slot: u32, offset: u64) -> u64 {
        let line = self.line_bytes();
        u64::from(slot) * line + offset % line
    }

    /// The range of the array (offset, bytes) that a slot holds.
    pub(crate) fn range(&self, slot: u32) -> (u64, u64) {
        let bytes = self.line_bytes();
        (self.map.line(slot) * bytes, bytes)
    }
}

impl Stripes {
    /// What leaves the controller's cache for a line goes to the SSD cache, if that has the line and
    /// takes writes; else what it has of the line is out of date. The slot is pinned.
    pub(crate) fn redirect_write(
        &mut self,
        path: &mut Path,
        array: u32,
        line: u64,
        now: Time,
    ) -> Option<SlotPlace> {
        let bytes = self.redirects[array as usize].as_ref()?.line_bytes();
        // A line that cannot be read any more leaves first.
        self.readable_slot(path, array, line * bytes, now);
        let redirect = self.redirects[array as usize].as_mut()?;
        let slot = redirect.takes(line)?;
        Some(redirect.place(slot))
    }

    /// A request begins to write a range that bypasses the controller's cache. Until it is done
    /// nothing of it is copied to the SSD cache: the copy could be older, or miss it.
    pub(crate) fn bypass_begins(&mut self, array: u32, (offset, bytes): (u64, u64)) {
        if let Some(redirect) = self.redirects[array as usize].as_mut() {
            for line in redirect.lines(offset, bytes) {
                redirect.bypassing.acquire(line);
            }
        }
    }

    /// A request has written a range that bypasses the controller's cache.
    pub(crate) fn bypass_ends(&mut self, array: u32, (offset, bytes): (u64, u64)) {
        if let Some(redirect) = self.redirects[array as usize].as_mut() {
            for line in redirect.lines(offset, bytes) {
                redirect.bypassing.release(line);
            }
        }
    }

    /// The array and the offset by which the host knows what lies at an offset of an array: of a
    /// SSD cache those of the line that the slot holds.
    pub(crate) fn origin(&self, array: u32, offset: u64) -> (u32, u64) {
        let above = self.ssd_cache_of[array as usize];
        let redirect = above.and_then(|above| self.redirects[above as usize].as_ref());
        match (above, redirect) {
            (Some(above), Some(redirect)) => {
                let slot = (offset / redirect.line_bytes()) as u32;
                (
                    above,
                    redirect.range(slot).0 + offset % redirect.line_bytes(),
                )
            }
            _ => (array, offset),
        }
    }

    /// Where on the SSD cache a sector of an array lies, if it does: array and offset.
    pub(crate) fn on_ssd_cache(&self, array: u32, offset: u64) -> Option<(u32, u64)> {
        let redirect = self.redirects[array as usize].as_ref()?;
        let slot = redirect.map.slot(offset / redirect.line_bytes())?;
        Some((redirect.array, redirect.at(slot, offset)))
    }

    /// Whether the SSD cache has a newer version of a sector's line than the array.
    pub(crate) fn is_dirty_on_ssd_cache(&self, array: u32, offset: u64) -> bool {
        let redirect = self.redirects[array as usize].as_ref();
        redirect.is_some_and(|redirect| {
            let slot = redirect.map.slot(offset / redirect.line_bytes());
            slot.is_some_and(|slot| redirect.map.is_dirty(slot))
        })
    }

    /// Reads or writes a range of an array below `parent`, each line where it is.
    pub(crate) fn go_by_line(
        &mut self,
        path: &mut Path,
        parent: IoId,
        op: Op,
        array: u32,
        (offset, bytes): (u64, u64),
        now: Time,
    ) {
        let (mut at, end) = (offset, offset + bytes);
        // What is not on the SSD cache goes on in one piece, across lines.
        let mut rest = offset;
        path.hold(parent);
        while at < end {
            let slot = self.readable_slot(path, array, at, now);
            let Some(redirect) = self.redirects[array as usize].as_mut() else {
                break;
            };
            let (line, within) = (at / redirect.line_bytes(), at % redirect.line_bytes());
            let piece = (redirect.line_bytes() - within).min(end - at);
            let slot = match op {
                Op::Write => redirect.takes(line),
                _ => slot,
            };
            if let Some(slot) = slot {
                if rest < at {
                    self.bypass_cache(path, parent, op, array, (rest, at - rest), now);
                }
                rest = at + piece;
                if op == Op::Write {
                    self.write_slot(path, parent, array, slot, (at, piece), now);
                } else {
                    self.fetch_piece(path, parent, array, slot, (at, piece), now);
                }
            }
            at += piece;
        }
        if rest < end {
            self.bypass_cache(path, parent, op, array, (rest, end - rest), now);
        }
        self.let_go(path, parent, now);
    }

    /// Reads or writes a range of the array's own drives below `parent`; what was lost with the
    /// SSD cache is refused.
    pub(crate) fn bypass_cache(
        &mut self,
        path: &mut Path,
        parent: IoId,
        op: Op,
        array: u32,
        (offset, bytes): (u64, u64),
        now: Time,
    ) {
        path.hold(parent);
        if op == Op::Read && self.is_lost(array, (offset, bytes)) {
            self.refuse(path, parent, bytes);
        } else {
            self.move_array(path, parent, op, array, (offset, bytes), now);
        }
        self.let_go(path, parent, now);
    }

    /// Writes a piece (offset, bytes) of a line to the line's slot, which is pinned.
    fn write_slot(
        &mut self,
        path: &mut Path,
        parent: IoId,
        array: u32,
        slot: u32,
        (offset, bytes): (u64, u64),
        now: Time,
    ) {
        let Some(redirect) = self.redirects[array as usize].as_ref() else {
            return;
        };
        let (place, within) = (
            redirect.place(slot),
            (offset % redirect.line_bytes()) as u32,
        );
        let range = (offset, bytes);
        let work = Work::WriteSlot(SlotRange { slot, range });
        let job = self.new_job(path, parent, place.array, place.stripe, work, now);
        let extent = Extent {
            column: place.column,
            start: within,
            end: within + bytes as u32,
        };
        self.jobs[job].extents.push(extent);
        self.follow_new_data(path, job, parent, (array, offset), extent);
        self.begin(path, job, now);
    }

    /// A write of a slot is over. If the SSD cache has failed meanwhile, the host's data go on to the
    /// array: true then.
    pub(crate) fn slot_written(
        &mut self,
        path: &mut Path,
        index: u32,
        at: SlotRange,
        now: Time,
    ) -> bool {
        let job = &self.jobs[index];
        let Some(array) = self.ssd_cache_of[job.array as usize] else {
            return false;
        };
        let redirect = self.redirects[array as usize].as_ref();
        if !redirect.is_some_and(|redirect| redirect.failed) {
            self.unpin_slot(array, at.slot);
            return false;
        }
        let mark = path.agenda.mark();
        self.unlock(path, index, now);
        if path.agenda.rose(mark) {
            path.agenda.below(mark, Call::SlotFailed(index));
        } else {
            self.write_without_slot(path, index, now);
        }
        true
    }

    /// A job that has given its lock away, and whose slot is gone, writes to the array instead.
    pub(crate) fn write_without_slot(&mut self, path: &mut Path, index: u32, now: Time) {
        if let Some(integrity) = &mut path.integrity {
            integrity.end_job(index);
        }
        let job = &mut self.jobs[index];
        let Some(array) = self.ssd_cache_of[job.array as usize] else {
            return;
        };
        let Work::WriteSlot(at) = job.work else {
            return;
        };
        let record = job.io;
        (job.work, job.array) = (Work::Bypass, array);
        self.bypass_cache(path, record, Op::Write, array, at.range, now);
    }

    /// A destage to a slot of the SSD cache `fast` is over.
    pub(crate) fn slot_destaged(&mut self, fast: u32, slot: u32) {
        if let Some(array) = self.ssd_cache_of[fast as usize] {
            self.unpin_slot(array, slot);
        }
    }
}
