//! An array as the controller sees it: its places, and which of its drives can be used.

use crate::ids::{
    ArrayId, ColumnId, CopyId, DriveId, LinkId, LockKey, MemberId, ParityId, RowId, SpareId,
    StripeId, TaskId,
};
use crate::layout::{Extent, Layout, Place, Ranges, Role, Run, Unit};
use crate::path::IoPath;
use crate::plan::BitmapPlan;
use crate::raid::bitmap::Bitmap;
use crate::raid::host_stripes::HostStripes;
use crate::raid::member::{Member, State};
use crate::raid::places::Places;
use crate::state::drive::Drive;
use raidlab_io::ByteRange;
use raidlab_kernel::{Table, Time};
use raidlab_models::{GroupId, SECTOR, StripeThread};

/// An array whose data pass through memory.
#[derive(Debug)]
pub(crate) struct Volume {
    geometry: Layout,
    places: Places,
    /// The controller's link to the host, if the requests' data cross it by themselves.
    host_link: Option<LinkId>,
    /// How the host handles its stripes, if it is an array in the host.
    host: HostStripes,
    /// The write-intent bitmap of an array in the host.
    bitmap: Option<Bitmap>,
    /// True if a controller's cache serves it.
    cached: bool,
    /// The number of the task in the background whose jobs count, if there is one.
    task: Option<TaskId>,
    /// True if more is lost than the level can bear.
    offline: bool,
}

impl Volume {
    pub fn new(geometry: Layout, drives: &[DriveId], host_link: Option<LinkId>) -> Volume {
        Volume {
            geometry,
            places: Places::new(drives),
            host_link,
            host: HostStripes::none(),
            bitmap: None,
            cached: false,
            task: None,
            offline: false,
        }
    }

    /// Where its data, parity and copies lie.
    #[inline]
    pub fn geometry(&self) -> &Layout {
        &self.geometry
    }

    /// Bytes of data in a stripe.
    pub fn stripe_bytes(&self) -> u64 {
        u64::from(self.geometry.columns()) * self.geometry.unit()
    }

    /// These bytes and the rest of the stripe unit in which they end.
    pub fn to_end_of_unit(&self, range: ByteRange) -> ByteRange {
        let end = range.end().next_multiple_of(self.geometry.unit());
        ByteRange::between(range.offset, end.min(self.geometry.capacity()))
    }

    /// Its places, and the drives that stand there.
    #[inline]
    pub fn places(&self) -> &Places {
        &self.places
    }

    #[inline]
    pub fn places_mut(&mut self) -> &mut Places {
        &mut self.places
    }

    /// The drive at a place: the one that stands there, or the one that has the distributed spare space
    /// there that has taken over.
    #[inline]
    pub fn drive_at(&self, place: Place) -> DriveId {
        let member = self.places.of(place.member);
        match member.spare() {
            None => member.drive(),
            Some(spare) => self.drive_of_spare(spare, place),
        }
    }

    #[cold]
    fn drive_of_spare(&self, spare: SpareId, place: Place) -> DriveId {
        let row = RowId::new(place.offset / self.geometry.unit());
        let member = self.geometry.spare_at(spare, row).unwrap_or(place.member);
        self.places.of(member).drive()
    }

    /// The number of distributed spare space that nobody uses, if there is one.
    pub fn free_spare(&self) -> Option<SpareId> {
        let taken = |spare: &SpareId| {
            self.places
                .all()
                .iter()
                .any(|it| it.spare() == Some(*spare))
        };
        SpareId::new(0)
            .row(self.geometry.spread_spares())
            .find(|spare| !taken(spare))
    }

    /// The controller's link to the host, if the requests' data cross it by themselves.
    #[inline]
    pub fn host_link(&self) -> Option<LinkId> {
        self.host_link
    }

    /// How the host handles its stripes, if it is an array in the host.
    #[inline]
    pub fn host(&self) -> &HostStripes {
        &self.host
    }

    pub fn host_mut(&mut self) -> &mut HostStripes {
        &mut self.host
    }

    /// The host handles its stripes.
    pub fn set_host(&mut self, thread: StripeThread, stripe_cache: u32) {
        self.host = HostStripes::new(thread, stripe_cache, self.geometry.parities() > 0);
    }

    /// The write-intent bitmap of an array in the host.
    #[inline]
    pub fn bitmap(&self) -> Option<&Bitmap> {
        self.bitmap.as_ref()
    }

    #[inline]
    pub fn bitmap_mut(&mut self) -> Option<&mut Bitmap> {
        self.bitmap.as_mut()
    }

    /// It has a bitmap.
    pub fn set_bitmap(&mut self, plan: BitmapPlan) {
        let regions = Bitmap::regions(plan, &self.geometry);
        self.bitmap = Some(Bitmap::new(plan, regions));
    }

    /// Whether a controller's cache serves it.
    #[inline]
    pub fn is_cached(&self) -> bool {
        self.cached
    }

    /// A controller's cache serves it.
    pub fn set_cached(&mut self) {
        self.cached = true;
    }

    /// The number of the task in the background whose jobs count, if there is one.
    pub fn task(&self) -> Option<TaskId> {
        self.task
    }

    pub fn set_task(&mut self, task: Option<TaskId>) {
        self.task = task;
    }

    /// True if more is lost than the level can bear, and nothing is served any more.
    #[inline]
    pub fn is_offline(&self) -> bool {
        self.offline
    }

    /// Nothing is served any more.
    pub fn go_offline(&mut self) {
        self.offline = true;
    }

    /// The drives that take what is written from a place on, each with how much of it: a member as far
    /// as it can be written, and the drive to which it is being copied as far as it has come.
    #[inline]
    pub fn takers(&self, unit: Place, start: u32, bytes: u64) -> [Option<(DriveId, u64)>; 2] {
        let member = self.places.of(unit.member);
        let end = self.places.stands_up_to(unit.member);
        let offset = unit.offset + u64::from(start);
        let part = |(drive, upto): (DriveId, u64)| {
            let bytes = bytes.min(upto.saturating_sub(offset));
            (bytes > 0).then_some((drive, bytes))
        };
        let copied = member.copy().map(|(drive, upto)| (drive, upto.min(end)));
        [part((self.drive_at(unit), end)), copied.and_then(part)]
    }

    /// How many bytes of a run can be read from a copy, of which the first unit can be.
    #[inline]
    pub fn readable(&self, run: &Run, copy: CopyId) -> u64 {
        if self.places.changes() == 0 {
            return run.bytes;
        }
        let gives = |stripe, extent: Extent| {
            self.places
                .stands(self.geometry.data(stripe, run.column, copy))
                && self.is_sound(stripe, extent)
        };
        let extents = run.extents(self.geometry.unit());
        let readable = extents.take_while(|&(stripe, e)| stripe == run.stripe || gives(stripe, e));
        readable.map(|(_, e)| u64::from(e.end - e.start)).sum()
    }

    /// Of the copies that give a run's first unit the one that serves a read: its number, drive and
    /// offset there.
    pub(crate) fn living_copy(
        &self,
        path: &IoPath,
        array: ArrayId,
        run: &Run,
        now: Time,
    ) -> Option<(CopyId, DriveId, u64)> {
        let start = u64::from(run.start);
        let gives = |unit: Unit| {
            let first = run.first(self.geometry().unit());
            unit.is_readable(first.start, first.end)
        };
        let copies = CopyId::first(self.geometry().copies())
            .map(|copy| (copy, self.geometry().data(run.stripe, run.column, copy)))
            .filter(|&(_, place)| {
                self.places.changes() == 0 || self.places.unit(place).is_some_and(gives)
            })
            .map(|(copy, place)| {
                let drive = self.drive_at(place);
                (copy, drive, place.offset + start)
            });
        if self.geometry().copies() == 1 {
            return copies.into_iter().next();
        }
        let choice = path.arrays[array].choice;
        let places = copies.clone().map(|(_, drive, offset)| (drive, offset));
        let best = choice.copy(&path.drives, places, now)?;
        copies.into_iter().nth(best.index())
    }

    /// Whether no drive has sectors in a part of a unit that are known to be unreadable.
    pub fn is_sound(&self, stripe: StripeId, Extent { column, start, end }: Extent) -> bool {
        let whole = |copy| {
            let unit = self.places.unit(self.geometry.data(stripe, column, copy));
            unit.is_none_or(|unit| unit.is_readable(start, end))
        };
        CopyId::first(self.geometry.copies()).all(whole)
    }

    /// Whether any drive has sectors in a stripe or, without parity, in the units of extents that are known
    /// to be unreadable.
    pub fn is_unsound(&self, stripe: StripeId, extents: &[Extent]) -> bool {
        let end = self.geometry.unit() as u32;
        let whole = |column| Extent {
            column,
            start: 0,
            end,
        };
        let whole_parity = |which| {
            let unit = self.unit_of(stripe, Role::Parity(which));
            unit.is_none_or(|unit| unit.is_readable(0, end))
        };
        if self.places.changes() == 0 {
            return false;
        }
        let parities = self.geometry.parities();
        let sound = if parities == 0 {
            extents
                .iter()
                .all(|e| self.is_sound(stripe, whole(e.column)))
        } else {
            ColumnId::first(self.geometry.columns())
                .all(|column| self.is_sound(stripe, whole(column)))
                && ParityId::first(parities).all(whole_parity)
        };
        !sound
    }

    /// Whether each sector of a part of a unit can be read from one copy or another.
    pub fn is_given(&self, stripe: StripeId, Extent { column, start, end }: Extent) -> bool {
        let mut at = start;
        while at < end {
            let copies = CopyId::first(self.geometry.copies())
                .filter_map(|copy| self.places.unit(self.geometry.data(stripe, column, copy)))
                .map(|unit| unit.stretch(at));
            let Some((_, upto)) = copies.filter(|(given, _)| *given).max_by_key(|s| s.1) else {
                return false;
            };
            at = upto;
        }
        true
    }

    /// Whether new data of a part of a unit can be read back: from a copy, or through parity, which
    /// was not made in the `lost` ranges.
    pub fn keeps(&self, stripe: StripeId, extent: Extent, lost: &[(u32, u32)]) -> bool {
        let geometry = &self.geometry;
        let copies =
            CopyId::first(geometry.copies()).map(|copy| geometry.data(stripe, extent.column, copy));
        if copies.into_iter().any(|place| self.places.stands(place)) {
            return true;
        }
        let stands = |role: &Role| self.places.stands(self.place(stripe, *role));
        let data = ColumnId::first(geometry.columns()).map(Role::Data);
        let parity = ParityId::first(geometry.parities()).map(Role::Parity);
        geometry.parities() > 0
            && data.filter(|role| !stands(role)).count() <= parity.filter(stands).count()
            && lost
                .iter()
                .all(|&(from, to)| to <= extent.start || extent.end <= from)
    }

    /// What the drive of a unit's first copy gives of it; nothing if it does not stand there.
    #[inline]
    pub fn unit_of(&self, stripe: StripeId, role: Role) -> Option<Unit<'_>> {
        if self.places.changes() == 0 {
            return Some(Unit::WHOLE);
        }
        self.places.unit(self.place(stripe, role))
    }

    /// True if more drives are lost than the level can bear: nothing is served then, so that
    /// nothing wrong is.
    pub fn has_lost_too_much(&self) -> bool {
        let lost = |member: MemberId| self.places.of(member).state() != State::Good;
        !self.geometry.survives(lost)
    }

    /// The place of a unit's first copy.
    #[inline]
    pub fn place(&self, stripe: StripeId, role: Role) -> Place {
        self.geometry.place(stripe, role)
    }

    /// The number of what goes to the drives together: the stripe where parity ties its units
    /// together, else the unit.
    #[inline]
    pub fn group(&self, stripe: StripeId, column: ColumnId) -> GroupId {
        GroupId::new(if self.geometry.parities() > 0 {
            stripe.number()
        } else {
            stripe.number() * u64::from(self.geometry.columns()) + u64::from(column.number())
        })
    }

    /// The group of a byte.
    pub fn group_at(&self, offset: u64) -> GroupId {
        let piece = self.geometry.piece(ByteRange::new(offset, 1));
        self.group(piece.stripe, piece.column)
    }

    /// Number of groups, and sectors of one.
    pub fn groups(&self) -> (u64, u32) {
        let unit = (self.geometry.unit() / SECTOR) as u32;
        let (stripes, columns) = (self.geometry.stripes(), self.geometry.columns());
        if self.geometry.parities() > 0 {
            (stripes, unit * columns)
        } else {
            (stripes * u64::from(columns), unit)
        }
    }

    /// What a lock covers: the whole stripe where parity ties its units together, else a unit.
    #[inline]
    pub fn lock_key(&self, array: ArrayId, stripe: StripeId, column: ColumnId) -> LockKey {
        LockKey::new(u64::from(array.number()) << 48 | self.group(stripe, column).number())
    }
}

/// The volumes of all arrays whose data pass through memory or can be lost.
#[derive(Debug)]
pub(crate) struct Volumes {
    of_array: Table<ArrayId, Option<Volume>>,
}

impl Volumes {
    pub fn new(of_array: Vec<Option<Volume>>) -> Volumes {
        let of_array = of_array.into();
        Volumes { of_array }
    }

    /// True if no array's data do.
    pub fn is_empty(&self) -> bool {
        self.of_array.iter().all(Option::is_none)
    }

    /// All arrays.
    pub fn arrays(&self) -> impl Iterator<Item = ArrayId> + use<> {
        self.of_array.ids()
    }

    #[inline]
    pub fn get(&self, array: ArrayId) -> Option<&Volume> {
        self.of_array[array].as_ref()
    }

    #[inline]
    pub fn get_mut(&mut self, array: ArrayId) -> Option<&mut Volume> {
        self.of_array[array].as_mut()
    }

    /// By array: its volume, if it has one.
    pub fn iter(&self) -> impl Iterator<Item = Option<&Volume>> {
        self.of_array.iter().map(Option::as_ref)
    }

    /// As `iter`, mutable.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = Option<&mut Volume>> {
        self.of_array.iter_mut().map(Option::as_mut)
    }

    /// Queues whose length is reported are counted anew.
    pub fn restart(&mut self, at: Time) {
        for bitmap in self.iter_mut().flatten().filter_map(Volume::bitmap_mut) {
            bitmap.restart(at);
        }
    }

    /// The volume of an array whose data pass through memory.
    #[inline]
    pub fn of(&self, array: ArrayId) -> &Volume {
        self.get(array)
            .expect("the array's data pass through memory")
    }

    #[inline]
    pub fn of_mut(&mut self, array: ArrayId) -> &mut Volume {
        self.get_mut(array)
            .expect("the array's data pass through memory")
    }

    /// Sectors of a drive have been written: they can be read again.
    pub fn rewritten(
        &mut self,
        drives: &mut Table<DriveId, Drive>,
        drive: DriveId,
        range: ByteRange,
    ) {
        drives[drive].health.unreadable.cut(range);
        if let Some(known) = self.known_unreadable(drive) {
            known.cut(range);
        }
    }

    /// Parts of what a drive has from `offset` on are not what should be there: they are made unreadable
    /// (a *puncture*), so that nobody takes them for data.
    pub fn puncture(
        &mut self,
        drives: &mut Table<DriveId, Drive>,
        drive: DriveId,
        offset: u64,
        parts: &[(u32, u32)],
    ) {
        for &(start, end) in parts {
            let range = ByteRange::between(offset + u64::from(start), offset + u64::from(end));
            let unreadable = &mut drives[drive].health.unreadable;
            unreadable.insert(range);
            if let Some(known) = self.known_unreadable(drive) {
                known.insert(range);
            }
        }
    }

    /// What is known to be unreadable of a drive that stands in an array.
    fn known_unreadable(&mut self, drive: DriveId) -> Option<&mut Ranges> {
        let (array, member) = self.member_of(drive)?;
        let volume = self.get_mut(array)?;
        Some(volume.places.of_mut(member).unreadable_mut())
    }

    /// The array that a drive stands in, and its place there.
    pub fn member_of(&self, drive: DriveId) -> Option<(ArrayId, MemberId)> {
        for (array, volume) in self.of_array.entries() {
            let stands = |m: &Member| m.drive() == drive && m.spare().is_none();
            let member = volume
                .as_ref()
                .and_then(|it| it.places.all().position(stands));
            if let Some(member) = member {
                return Some((array, member));
            }
        }
        None
    }

    /// A command has met unreadable sectors: they are known, as far as they have not been written since.
    pub fn meet_unreadable(
        &mut self,
        drives: &mut Table<DriveId, Drive>,
        drive: DriveId,
        range: ByteRange,
    ) {
        let Some((array, member)) = self.member_of(drive) else {
            return;
        };
        let met = drives[drive].health.unreadable.within(range);
        if let Some(volume) = self.get_mut(array) {
            volume.places.count_change();
            let known = volume.places.of_mut(member).unreadable_mut();
            met.into_iter().for_each(|range| known.insert(range));
        }
    }
}
