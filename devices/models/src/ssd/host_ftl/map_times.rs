//! Look-up and insert times of a map in the host's memory.
//!
//! The map is a tree of extents: data that the host wrote together are one extent, and a unit that
//! collection has moved is one of its own. Both times are those of a moved unit; a unit that is
//! still in the host's extent costs nothing beside the command's own times.

use crate::ssd::firmware::params::FirmwareParams;
use raidlab_kernel::Nanos;

/// Firmware times where collection has moved the share `moved` of the units.
pub(super) fn at_share(params: &FirmwareParams, moved: f64) -> FirmwareParams {
    let of_moved = |unit: Nanos| Nanos((unit.0 as f64 * moved) as u64);
    let lookup = of_moved(params.lookup_unit_ns);
    let mut times = *params;
    times.write_unit_ns += lookup;
    times.fetch_unit_ns += of_moved(params.insert_unit_ns);
    // A driver that works when the data have come looks up where they belong then.
    if times.finish_unit_ns > Nanos::ZERO {
        times.finish_unit_ns += lookup;
    } else {
        times.read_unit_ns += lookup;
    }
    times
}
