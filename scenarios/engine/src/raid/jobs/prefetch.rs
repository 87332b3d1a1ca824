//! Memory that drives will need, asked for before their commands come.

use crate::ids::StripeId;
use crate::layout::{Role, Transfer};
use crate::path::IoPath;
use crate::raid::volume::Volume;
use raidlab_io::ByteRange;

/// Asks for the memory that the drives will need when these transfers come to them.
pub(super) fn prefetch_transfers(
    path: &IoPath,
    volume: &Volume,
    stripe: StripeId,
    transfers: &[Transfer],
) {
    if !volume.is_cached() {
        return;
    }
    for &Transfer { role, start, end } in transfers {
        prefetch_transfer(path, volume, stripe, role, (start, end));
    }
}

/// Asks for the memory that a drive will need of its map for a part of a unit.
#[inline]
pub(crate) fn prefetch_transfer(
    path: &IoPath,
    volume: &Volume,
    stripe: StripeId,
    role: Role,
    (start, end): (u32, u32),
) {
    let place = volume.place(stripe, role);
    let drive = volume.drive_at(place);
    let device = &path.drives[drive].device;
    device.prefetch_tables(ByteRange::new(
        place.offset + u64::from(start),
        u64::from(end - start),
    ));
}
