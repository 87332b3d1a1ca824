//! How many rows of a task in the background are in progress at once.

use crate::plan::{ArrayPlan, DeclusteredPlan, Plan};
use raidlab_models::DeviceParams;

/// Bytes of a member in progress at once while the host wants nothing. Without an arm: half a MiB
/// read side by side, as much as such controllers write to a drive at once (assumed), and 2 MiB in
/// all, as the resync window of Linux md (`RESYNC_WINDOW` in drivers/md/raid1.c). With one: what
/// passes under a head in a revolution or more, so that no drive is left without a command while
/// another one comes to the same row; platters stand at any angle to each other (assumed).
const STREAM: [u64; 2] = [512 << 10, 2 << 20];
const MOST: [u64; 2] = [2 << 20, 16 << 20];
/// Bytes of a member that begin side by side while the host wants the drives: enough that an
/// arm moves there and back for a small part of the time (assumed).
const SLICE: [u64; 2] = [512 << 10, 16 << 20];
/// Bytes of data in progress for each drive of a declustered array, whose rebuild goes from all of
/// its drives to all of them (OpenZFS: `zfs_rebuild_vdev_limit`).
const SPREAD: u64 = 64 << 20;
/// Rows of a stream at least, however large they are (assumed).
const LEAST_ROWS: u64 = 4;
/// Smaller units count as this large: a drive's queue of commands is finite (assumed).
const LEAST_UNIT: u64 = 16 << 10;

/// How many rows of a task are in progress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    /// That begin side by side, and follow each other, while the host wants nothing.
    pub(super) stream: u64,
    /// That begin side by side while it wants the drives.
    pub(super) slice: u64,
    /// In progress at most: read, or waiting to be written in their order.
    pub most: u64,
}

impl Rows {
    /// For a stripe unit, on drives with arms or without.
    pub fn of(unit: u64, arms: bool) -> Rows {
        let unit = unit.max(LEAST_UNIT);
        let rows = |bytes: [u64; 2]| (bytes[usize::from(arms)] / unit).max(LEAST_ROWS);
        let (stream, slice) = (rows(STREAM), rows(SLICE));
        Rows {
            stream,
            slice,
            most: rows(MOST).max(4 * stream).max(slice),
        }
    }

    /// For a declustered array: enough that all of its drives have work.
    fn spread(array: &ArrayPlan, plan: DeclusteredPlan) -> Rows {
        let unit = array.stripe_unit_bytes.max(LEAST_UNIT);
        let (drives, width) = (array.drives.len() as u64, u64::from(plan.width));
        let columns = width.saturating_sub(u64::from(array.level.parities()));
        let rows = |bytes: u64, of: u64| (bytes * drives / of.max(1) / unit).max(LEAST_ROWS);
        let stream = rows(SPREAD, columns);
        Rows {
            stream,
            slice: rows(SLICE[1], width),
            most: 4 * stream,
        }
    }

    /// For an array of a plan.
    pub fn of_array(plan: &Plan, array: &ArrayPlan) -> Rows {
        if let Some(spread) = array.declustered {
            return Rows::spread(array, spread);
        }
        let has_arm = |&drive: &u32| {
            let device = plan.drives[drive as usize].device;
            matches!(plan.devices[device as usize], DeviceParams::Hdd(_))
        };
        Rows::of(array.stripe_unit_bytes, array.drives.iter().any(has_arm))
    }
}
