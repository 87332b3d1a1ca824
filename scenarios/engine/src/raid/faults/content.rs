//! What drives hold of the data, for claims about losses.

use crate::ids::{ArrayId, ColumnId, CopyId, DriveId, MemberId, ParityId, RowId, StripeId};
use crate::integrity::OnDrives;
use crate::layout::{Place, Role, Token, galois};
use crate::path::IoPath;
use crate::raid::jobs::Stripes;
use crate::raid::volume::Volume;
use raidlab_io::ByteRange;
use raidlab_models::SECTOR;
use std::collections::BTreeSet;

/// What drives hold, as it lies there now.
#[derive(Clone, Copy)]
pub(super) struct Content<'a> {
    path: &'a IoPath,
    stripes: &'a Stripes,
}

impl<'a> Content<'a> {
    pub(super) fn new(path: &'a IoPath, stripes: &'a Stripes) -> Content<'a> {
        Content { path, stripes }
    }

    /// Whether a sector's copies that can be read hold different content.
    pub(super) fn copies_differ(&self, array: ArrayId, offset: u64) -> bool {
        if self.stripes.state().volume(array).geometry().copies() == 1 {
            return false;
        }
        let content = self.on_drives(array, offset).tokens;
        content.iter().any(|token| *token != content[0])
    }

    /// Whether a job is at work on a sector's stripe.
    pub(super) fn is_locked(&self, (array, offset): (ArrayId, u64)) -> bool {
        let volume = self.stripes.state().volume(array);
        let piece = volume.geometry().piece(ByteRange::new(offset, SECTOR));
        let key = volume.lock_key(array, piece.stripe, piece.column);
        self.stripes.is_locked(key)
    }

    /// What lies beneath the controller's memory: every living copy on the SSD cache, if that has the
    /// sector's line, then, if that is no newer, on the array's own drives.
    pub(super) fn stored(&self, array: ArrayId, offset: u64) -> OnDrives {
        if self
            .stripes
            .state()
            .redirects()
            .is_lost(array, ByteRange::new(offset, SECTOR))
        {
            return OnDrives::default();
        }
        let on_ssd_cache = self.stripes.state().redirects().on_ssd_cache(array, offset);
        let above = on_ssd_cache.map(|(fast, at)| self.on_drives(fast, at));
        if self.stripes.state().redirects().is_dirty(array, offset) {
            return above.unwrap_or_default();
        }
        let mut content = self.on_drives(array, offset);
        content
            .tokens
            .splice(0..0, above.unwrap_or_default().tokens);
        content
    }

    /// What the drives hold of a sector: every living copy, or what parity gives.
    pub(super) fn on_drives(&self, array: ArrayId, offset: u64) -> OnDrives {
        let (volume, Some(integrity)) = (self.stripes.state().volume(array), &self.path.integrity)
        else {
            return OnDrives::default();
        };
        let piece = volume.geometry().piece(ByteRange::new(offset, SECTOR));
        let within = u64::from(piece.start);
        let copies = CopyId::first(volume.geometry().copies())
            .map(|copy| volume.geometry().data(piece.stripe, piece.column, copy))
            .filter_map(|place| self.sector_of(volume, place, within));
        let content: Vec<Token> = copies
            .map(|(drive, at)| integrity.drives.content(drive, at))
            .collect();
        if !content.is_empty() || volume.geometry().parities() == 0 {
            return OnDrives {
                tokens: content,
                computed: false,
            };
        }
        let mut data = self.units(array, piece.stripe, within, true);
        let parity = self.units(array, piece.stripe, within, false);
        let parity = [0, 1].map(|which| parity.get(which).copied().flatten());
        let whole = galois::recover(&mut data, parity);
        let found = data[piece.column.index()].filter(|_| whole);
        OnDrives {
            tokens: found.into_iter().collect(),
            computed: true,
        }
    }

    /// The living tokens of a stripe's data or parity units at a sector.
    pub(super) fn units(
        &self,
        array: ArrayId,
        stripe: StripeId,
        within: u64,
        data: bool,
    ) -> Vec<Option<Token>> {
        let volume = self.stripes.state().volume(array);
        let geometry = volume.geometry();
        let (columns, parities) = (geometry.columns(), geometry.parities());
        let roles: Vec<Role> = match data {
            true => ColumnId::first(columns).map(Role::Data).collect(),
            false => ParityId::first(parities).map(Role::Parity).collect(),
        };
        let content = |role| {
            let place = volume.place(stripe, role);
            let (drive, at) = self.sector_of(volume, place, within)?;
            Some(self.path.integrity.as_ref()?.drives.content(drive, at))
        };
        roles.into_iter().map(content).collect()
    }

    /// The drive and the offset on it of a sector of a unit, if a read would get it, whether or not anybody
    /// has tried.
    pub(super) fn sector_of(
        &self,
        volume: &Volume,
        place: Place,
        within: u64,
    ) -> Option<(DriveId, u64)> {
        let drive = volume.drive_at(place);
        let at = place.offset + within;
        let unreadable = &self.path.drives[drive].health.unreadable;
        (volume.places().stands(place) && !unreadable.touches(ByteRange::new(at, SECTOR)))
            .then_some((drive, at))
    }

    /// Whether a stripe's parity fits its data, as far as all of them can be read.
    pub(super) fn parity_fits(&self, array: ArrayId, stripe: StripeId) -> bool {
        let geometry = self.stripes.state().volume(array).geometry();
        let mut sectors = (0..geometry.unit()).step_by(SECTOR as usize);
        geometry.parities() == 0
            || sectors.all(|within| {
                let data = self.units(array, stripe, within, true);
                let parity = self.units(array, stripe, within, false);
                let all = |units: Vec<Option<Token>>| units.into_iter().collect::<Option<Vec<_>>>();
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

    /// The array's sectors whose content a drive's sector decides: its own, and with parity those
    /// of the lost units that are computed from it.
    pub(super) fn touched_by(
        &self,
        array: ArrayId,
        member: MemberId,
        offset: u64,
        places: &mut BTreeSet<(ArrayId, u64)>,
    ) {
        let volume = self.stripes.state().volume(array);
        let unit = volume.geometry().unit();
        let (row, within) = (RowId::new(offset / unit), offset % unit);
        if row.number() >= volume.geometry().rows() && volume.geometry().is_redundant() {
            return;
        }
        let Some((stripe, role)) = volume.geometry().unit_at(member, row) else {
            return;
        };
        let lost = |column: &ColumnId| {
            let place = volume.place(stripe, Role::Data(*column));
            self.sector_of(volume, place, within).is_none()
        };
        let columns = ColumnId::first(volume.geometry().columns()).filter(lost);
        let own = match role {
            Role::Data(column) => Some(column),
            Role::Parity(_) | Role::Copy(..) => None,
        };
        for column in columns.chain(own) {
            places.insert((array, volume.geometry().offset(stripe, column) + within));
        }
    }
}
