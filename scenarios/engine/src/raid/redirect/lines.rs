//! Reads and writes of an array with a tier: each line from or to where it is.

use crate::layout::Extent;
use crate::path::Path;
use crate::path::agenda::Call;
use crate::raid::Raid;
use crate::raid::jobs::SlotRange;
use crate::raid::jobs::Work;
use crate::raid::redirect::Redirect;
use raidlab_kernel::{IoId, Op, Time};

/// Where a slot of a tier lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TierPlace {
    pub slot: u32,
    /// The array of the SSDs.
    pub array: u32,
    /// Its stripe and column.
    pub stripe: u64,
    pub column: u32,
    unit: Option<u64>,
}

impl TierPlace {
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
        self.write_back && self.tier.slot(line).is_some()
    }

    /// New data for a line: where on the SSDs they go, if they do. The slot is pinned.
    pub(crate) fn takes(&mut self, line: u64) -> Option<u32> {
        let slot = if self.write_back {
            self.tier.write(line)
        } else {
            None
        };
        match slot {
            Some(slot) => self.tier.pin(slot),
            None => self.tier.written_around(line),
        }
        slot
    }

    /// Where a slot lies.
    pub(crate) fn place(&self, slot: u32) -> TierPlace {
        TierPlace {
            slot,
            array: self.array,
            stripe: u64::from(slot) / self.columns,
            column: (u64::from(slot) % self.columns) as u32,
            unit: self.unit,
        }
    }

    /// Where on the tier an offset of the array lies in its line's slot.
    pub(crate) fn at(&self, slot: u32, offset: u64) -> u64 {
        let line = self.line_bytes();
        u64::from(slot) * line + offset % line
    }

    /// The range of the array (offset, bytes) that a slot holds.
    pub(crate) fn range(&self, slot: u32) -> (u64, u64) {
        let bytes = self.line_bytes();
        (self.tier.line(slot) * bytes, bytes)
    }
}

impl Raid {
    /// What leaves the controller's cache for a line goes to the tier, if that has the line and
    /// takes writes; else what it has of the line is out of date. The slot is pinned.
    pub(crate) fn tier_takes(
        &mut self,
        path: &mut Path,
        array: u32,
        line: u64,
        now: Time,
    ) -> Option<TierPlace> {
        let bytes = self.tiers[array as usize].as_ref()?.line_bytes();
        // A line that cannot be read any more leaves first.
        self.readable_slot(path, array, line * bytes, now);
        let tier = self.tiers[array as usize].as_mut()?;
        let slot = tier.takes(line)?;
        Some(tier.place(slot))
    }

    /// A request begins to write a range past the controller's cache. Until it is done nothing of
    /// it is copied to the tier: the copy could be older, or miss it.
    pub(crate) fn past_begins(&mut self, array: u32, (offset, bytes): (u64, u64)) {
        if let Some(tier) = self.tiers[array as usize].as_mut() {
            for line in tier.lines(offset, bytes) {
                tier.past.acquire(line);
            }
        }
    }

    /// A request has written a range past the controller's cache.
    pub(crate) fn past_ends(&mut self, array: u32, (offset, bytes): (u64, u64)) {
        if let Some(tier) = self.tiers[array as usize].as_mut() {
            for line in tier.lines(offset, bytes) {
                tier.past.release(line);
            }
        }
    }

    /// The array and the offset by which the host knows what lies at an offset of an array: of a
    /// tier those of the line that the slot holds.
    pub(crate) fn origin(&self, array: u32, offset: u64) -> (u32, u64) {
        let above = self.tier_of[array as usize];
        let tier = above.and_then(|above| self.tiers[above as usize].as_ref());
        match (above, tier) {
            (Some(above), Some(tier)) => {
                let slot = (offset / tier.line_bytes()) as u32;
                (above, tier.range(slot).0 + offset % tier.line_bytes())
            }
            _ => (array, offset),
        }
    }

    /// Where on the tier a sector of an array lies, if it does: array and offset.
    pub(crate) fn on_tier(&self, array: u32, offset: u64) -> Option<(u32, u64)> {
        let tier = self.tiers[array as usize].as_ref()?;
        let slot = tier.tier.slot(offset / tier.line_bytes())?;
        Some((tier.array, tier.at(slot, offset)))
    }

    /// Whether the tier has a newer version of a sector's line than the array.
    pub(crate) fn is_dirty_on_tier(&self, array: u32, offset: u64) -> bool {
        let tier = self.tiers[array as usize].as_ref();
        tier.is_some_and(|tier| {
            let slot = tier.tier.slot(offset / tier.line_bytes());
            slot.is_some_and(|slot| tier.tier.is_dirty(slot))
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
        // What is not on the tier goes on in one piece, across lines.
        let mut past = offset;
        path.hold(parent);
        while at < end {
            let slot = self.readable_slot(path, array, at, now);
            let Some(tier) = self.tiers[array as usize].as_mut() else {
                break;
            };
            let (line, within) = (at / tier.line_bytes(), at % tier.line_bytes());
            let piece = (tier.line_bytes() - within).min(end - at);
            let slot = match op {
                Op::Write => tier.takes(line),
                _ => slot,
            };
            if let Some(slot) = slot {
                if past < at {
                    self.go_past(path, parent, op, array, (past, at - past), now);
                }
                past = at + piece;
                if op == Op::Write {
                    self.write_slot(path, parent, array, slot, (at, piece), now);
                } else {
                    self.fetch_piece(path, parent, array, slot, (at, piece), now);
                }
            }
            at += piece;
        }
        if past < end {
            self.go_past(path, parent, op, array, (past, end - past), now);
        }
        self.let_go(path, parent, now);
    }

    /// Reads or writes a range of the array's own drives below `parent`; what was lost with the
    /// tier is refused.
    pub(crate) fn go_past(
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
            self.move_array(path, parent, op, array, offset, bytes, now);
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
        let Some(tier) = self.tiers[array as usize].as_ref() else {
            return;
        };
        let (place, within) = (tier.place(slot), (offset % tier.line_bytes()) as u32);
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

    /// A write of a slot is over. If the tier has failed meanwhile, the host's data go on to the
    /// array: true then.
    pub(crate) fn slot_written(
        &mut self,
        path: &mut Path,
        index: u32,
        at: SlotRange,
        now: Time,
    ) -> bool {
        let job = &self.jobs[index];
        let Some(array) = self.tier_of[job.array as usize] else {
            return false;
        };
        let tier = self.tiers[array as usize].as_ref();
        if !tier.is_some_and(|tier| tier.gone) {
            self.unpin_slot(array, at.slot);
            return false;
        }
        let mark = path.agenda.mark();
        self.unlock(path, index, now);
        if path.agenda.rose(mark) {
            path.agenda.below(mark, Call::SlotGone(index));
        } else {
            self.slot_gone(path, index, now);
        }
        true
    }

    /// A job that has given its lock away, and whose slot is gone, writes to the array instead.
    pub(crate) fn slot_gone(&mut self, path: &mut Path, index: u32, now: Time) {
        if let Some(integrity) = &mut path.integrity {
            integrity.end_job(index);
        }
        let job = &mut self.jobs[index];
        let Some(array) = self.tier_of[job.array as usize] else {
            return;
        };
        let Work::WriteSlot(at) = job.work else {
            return;
        };
        let record = job.io;
        (job.work, job.array) = (Work::Bypass, array);
        self.go_past(path, record, Op::Write, array, at.range, now);
    }

    /// A destage to a slot of the SSD cache `fast` is over.
    pub(crate) fn slot_destaged(&mut self, fast: u32, slot: u32) {
        if let Some(array) = self.tier_of[fast as usize] {
            self.unpin_slot(array, slot);
        }
    }
}
