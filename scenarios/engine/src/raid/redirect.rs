//! Where a line of an array lies now: on its own drives or in a slot of its SSD cache.

use crate::ids::{ArrayId, ColumnId, StripeId};
use crate::layout::{Extent, Ranges};
use crate::raid::volume::Volumes;
use raidlab_io::ByteRange;
use raidlab_kernel::{Divider, Table};
use raidlab_models::{ArrayLine, GroupId, ReferenceCounts, SlotId, SsdCache};

/// Where the slots of an SSD cache lie on its SSDs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotLayout {
    /// The array of the SSDs.
    pub array: ArrayId,
    /// Bytes of a line.
    pub line: Divider,
    /// Lines in a stripe of the SSDs.
    pub columns: u64,
    /// Bytes of a unit of the array, if a line has several.
    pub unit: Option<u64>,
}

/// What an SSD cache does with new data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NewData {
    /// They go to the SSDs.
    ToSsds,
    /// They go to the SSDs, those of a whole line also where it has no slot yet.
    ToNewSlots,
    /// They go to the array and to the SSDs.
    ToBoth,
    /// They bypass them.
    Bypass,
}

impl NewData {
    /// What new data for a line change of the cache's map, of requests that move none.
    pub(crate) fn imagine(self, map: &mut SsdCache, line: ArrayLine) {
        match self {
            NewData::ToSsds => {
                map.write(line);
            }
            NewData::ToNewSlots => {
                if map.write(line).is_none() {
                    map.write_new(line);
                }
            }
            NewData::ToBoth => {
                map.write_through(line);
            }
            NewData::Bypass => map.written_around(line),
        }
    }
}

/// The lines of an array that its SSD cache holds, and what that has lost.
#[derive(Debug)]
pub(crate) struct Redirect {
    map: SsdCache,
    slots: SlotLayout,
    new_data: NewData,
    /// Lines that requests write while they bypass the controller's memory.
    bypassing: ReferenceCounts<ArrayLine>,
    /// What was dirty on SSDs that cannot be read any more, and has not been written since.
    lost: Ranges,
    /// True if the SSDs have failed: the array goes on without.
    failed: bool,
}

impl Redirect {
    pub fn new(map: SsdCache, slots: SlotLayout, new_data: NewData) -> Redirect {
        Redirect {
            map,
            slots,
            new_data,
            bypassing: ReferenceCounts::with_capacity(64),
            lost: Ranges::default(),
            failed: false,
        }
    }

    /// Bytes of a line.
    pub fn line_bytes(&self) -> u64 {
        u64::from(self.slots.line.get())
    }

    /// The lines of a range.
    pub fn lines(&self, range: ByteRange) -> impl Iterator<Item = ArrayLine> + use<> {
        ArrayLine::all_of(range, self.slots.line)
    }

    /// The line of an offset of the array.
    #[inline]
    pub fn line_at(&self, offset: u64) -> ArrayLine {
        ArrayLine::of(offset, self.slots.line)
    }

    /// Which line is in which slot.
    pub fn map(&self) -> &SsdCache {
        &self.map
    }

    /// Which line is in which slot, to change it.
    pub fn map_mut(&mut self) -> &mut SsdCache {
        &mut self.map
    }

    /// The array of the SSDs.
    pub fn array(&self) -> ArrayId {
        self.slots.array
    }

    /// True if new data go to the SSDs.
    pub fn writes_back(&self) -> bool {
        matches!(self.new_data, NewData::ToSsds | NewData::ToNewSlots)
    }

    /// True if new data go to the array and to the SSDs.
    pub fn writes_through(&self) -> bool {
        self.new_data == NewData::ToBoth
    }

    /// True if the SSDs have failed: the array goes on without.
    pub fn has_failed(&self) -> bool {
        self.failed
    }

    /// Whether a request writes a line while it bypasses the controller's memory.
    pub fn is_bypassed(&self, line: ArrayLine) -> bool {
        self.bypassing.contains(line)
    }

    /// Whether a range of the array has sectors whose newest version was lost with
    /// the SSDs.
    pub fn is_lost(&self, range: ByteRange) -> bool {
        self.lost.touches(range)
    }

    /// Whether anything of the array is.
    pub fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// A slot cannot be read any more: its line leaves, and is lost if it is dirty; true then. A line
    /// being written back may be saved by that, and leaves when it is over.
    pub fn lose(&mut self, slot: SlotId) -> bool {
        if self.map.is_dirty(slot) {
            let lost = self.range(slot);
            self.lost.insert(lost);
        }
        self.map.drop_line(slot) == Some(true)
    }

    /// The SSDs have failed. Gives the slots that are lost, with their ranges of the array.
    pub fn fail(&mut self) -> Vec<(SlotId, ByteRange)> {
        let slots = self.map.dirty_slots();
        let dirty: Vec<_> = slots.map(|slot| (slot, self.range(slot))).collect();
        for &(_, lost) in &dirty {
            self.lost.insert(lost);
        }
        self.map.clear();
        self.failed = true;
        dirty
    }

    /// A range of the array has been written: it is lost no more.
    pub fn made_good(&mut self, range: ByteRange) {
        self.lost.cut(range);
    }
}

/// Where a slot of an SSD cache lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotPlace {
    pub slot: SlotId,
    /// The array of the SSDs.
    pub array: ArrayId,
    /// Its stripe and column.
    pub stripe: StripeId,
    pub column: ColumnId,
    unit: Option<u64>,
}

impl SlotPlace {
    /// Where bytes of a group of the array lie in the line's one unit.
    pub fn extent(&self, of: Extent) -> Extent {
        let before = self.unit.map_or(0, |unit| of.column.number() * unit as u32);
        Extent {
            column: self.column,
            start: before + of.start,
            end: before + of.end,
        }
    }
}

impl Redirect {
    /// The line that is a group of the array's.
    pub fn line_of(group: GroupId) -> ArrayLine {
        ArrayLine::new(group.number() as u32)
    }

    /// Whether new data for a group would go to the SSDs now.
    pub fn would_take(&self, group: GroupId) -> bool {
        self.writes_back() && self.map.slot(Redirect::line_of(group)).is_some()
    }

    /// New data for a line, of all of it if it is `whole`: where on the SSDs they go, if they do.
    /// The slot is pinned.
    pub(crate) fn takes(&mut self, line: ArrayLine, whole: bool) -> Option<SlotId> {
        let slot = match self.new_data {
            NewData::ToSsds => self.map.write(line),
            NewData::ToNewSlots => {
                let there = self.map.write(line);
                match (there, whole) {
                    (None, true) => self.map.write_new(line),
                    _ => there,
                }
            }
            NewData::ToBoth => self.map.write_through(line),
            NewData::Bypass => None,
        };
        match slot {
            Some(slot) => self.map.pin(slot),
            None => self.map.written_around(line),
        }
        slot
    }

    /// Where a slot lies.
    pub(crate) fn place(&self, slot: SlotId) -> SlotPlace {
        SlotPlace {
            slot,
            array: self.slots.array,
            stripe: StripeId::new(u64::from(slot.number()) / self.slots.columns),
            column: ColumnId::new((u64::from(slot.number()) % self.slots.columns) as u32),
            unit: self.slots.unit,
        }
    }

    /// Where on the SSD cache an offset of the array lies in its line's slot.
    pub(crate) fn at(&self, slot: SlotId, offset: u64) -> u64 {
        let line = self.line_bytes();
        u64::from(slot.number()) * line + offset % line
    }

    /// The range of the array that a slot holds.
    pub(crate) fn range(&self, slot: SlotId) -> ByteRange {
        self.map.line(slot).range(self.line_bytes())
    }
}

/// The SSD caches of all arrays.
#[derive(Debug)]
pub(crate) struct Redirects {
    of_array: Table<ArrayId, Option<Redirect>>,
    /// For each array: the one whose SSD cache it is.
    above: Table<ArrayId, Option<ArrayId>>,
}

impl Redirects {
    pub fn new(of_array: Vec<Option<Redirect>>) -> Redirects {
        let of_array: Table<ArrayId, _> = of_array.into();
        let mut above: Table<ArrayId, _> = vec![None; of_array.len()].into();
        for (array, redirect) in of_array.entries() {
            if let Some(redirect) = redirect {
                above[redirect.array()] = Some(array);
            }
        }
        Redirects { of_array, above }
    }

    /// The SSD cache of an array, if it has one.
    #[inline]
    pub fn get(&self, array: ArrayId) -> Option<&Redirect> {
        self.of_array[array].as_ref()
    }

    /// As `get`, mutable.
    #[inline]
    pub fn get_mut(&mut self, array: ArrayId) -> Option<&mut Redirect> {
        self.of_array[array].as_mut()
    }

    /// By array: its SSD cache, if it has one.
    pub fn iter(&self) -> impl Iterator<Item = Option<&Redirect>> {
        self.of_array.iter().map(Option::as_ref)
    }

    /// The array whose SSD cache an array is.
    pub fn above(&self, array: ArrayId) -> Option<ArrayId> {
        self.above[array]
    }

    /// A request begins to write a range that bypasses the controller's cache. Until it is done
    /// nothing of it is copied to the SSD cache: the copy could be older, or miss it.
    pub fn bypass_begins(&mut self, array: ArrayId, range: ByteRange) {
        if let Some(redirect) = self.get_mut(array) {
            for line in redirect.lines(range) {
                redirect.bypassing.acquire(line);
            }
        }
    }

    /// A request has written a range that bypasses the controller's cache.
    pub fn bypass_ends(&mut self, array: ArrayId, range: ByteRange) {
        if let Some(redirect) = self.get_mut(array) {
            for line in redirect.lines(range) {
                redirect.bypassing.release(line);
            }
        }
    }

    /// The array and the offset by which the host knows what lies at an offset of an array: of a
    /// SSD cache those of the line that the slot holds.
    pub fn origin(&self, array: ArrayId, offset: u64) -> (ArrayId, u64) {
        let above = self.above(array);
        let redirect = above.and_then(|above| self.get(above));
        match (above, redirect) {
            (Some(above), Some(redirect)) => {
                let slot = SlotId::new((offset / redirect.line_bytes()) as u32);
                let within = offset % redirect.line_bytes();
                (above, redirect.range(slot).offset + within)
            }
            _ => (array, offset),
        }
    }

    /// Where on the SSD cache a sector of an array lies, if it does: array and offset.
    pub fn on_ssd_cache(&self, array: ArrayId, offset: u64) -> Option<(ArrayId, u64)> {
        let redirect = self.get(array)?;
        let slot = redirect.map.slot(redirect.line_at(offset))?;
        Some((redirect.array(), redirect.at(slot, offset)))
    }

    /// Whether the SSD cache has a newer version of a sector's line than the array.
    pub fn is_dirty(&self, array: ArrayId, offset: u64) -> bool {
        self.get(array).is_some_and(|redirect| {
            let slot = redirect.map.slot(redirect.line_at(offset));
            slot.is_some_and(|slot| redirect.map.is_dirty(slot))
        })
    }

    /// Whether new data go to an array and to its SSD cache.
    pub fn writes_through(&self, array: ArrayId) -> bool {
        self.get(array).is_some_and(Redirect::writes_through)
    }

    /// Whether a range of an array has sectors whose newest version was lost with its SSD cache.
    pub fn is_lost(&self, array: ArrayId, range: ByteRange) -> bool {
        self.get(array)
            .is_some_and(|redirect| redirect.is_lost(range))
    }

    /// Whether a drive of the SSD cache can give what a slot holds.
    pub fn is_readable(&self, volumes: &Volumes, array: ArrayId, slot: SlotId) -> bool {
        let Some(redirect) = self.get(array) else {
            return false;
        };
        let (volume, place) = (volumes.of(redirect.array()), redirect.place(slot));
        let extent = Extent {
            column: place.column,
            start: 0,
            end: redirect.line_bytes() as u32,
        };
        volume.places().changes() == 0 || volume.is_given(place.stripe, extent)
    }

    /// Somebody reads a slot: its line stays on the SSD cache.
    pub fn pin(&mut self, array: ArrayId, slot: SlotId) {
        if let Some(redirect) = self.get_mut(array) {
            redirect.map.pin(slot);
        }
    }

    /// Nobody reads or writes a slot any more for one of those who did.
    pub fn unpin(&mut self, array: ArrayId, slot: SlotId) {
        let redirect = self.get_mut(array);
        if let Some(redirect) = redirect.filter(|redirect| !redirect.failed) {
            redirect.map.unpin(slot);
        }
    }

    /// The power fails: copies end with it, see `SsdCache::power_fails`.
    pub fn power_fails(&mut self) {
        for redirect in self.of_array.iter_mut().flatten() {
            redirect.map.power_fails();
            redirect.bypassing.clear();
        }
    }
}
