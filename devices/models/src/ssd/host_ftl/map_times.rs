//! Look-up and insert times of a map in the host's memory.
//!
//! Both hold for a map of all of the NAND. A smaller map is cached better by the host's CPU, so the
//! times are less in proportion to the share that is mapped.

use crate::ssd::firmware::params::FirmwareParams;
use raidlab_kernel::Nanos;

/// Firmware times with the share `mapped` of the NAND in the map.
pub(super) fn at_share(params: &FirmwareParams, mapped: f64) -> FirmwareParams {
    let of_map = |whole: Nanos| Nanos((whole.0 as f64 * mapped) as u64);
    let lookup = of_map(params.lookup_unit_ns);
    let mut times = *params;
    times.write_unit_ns += lookup;
    times.fetch_unit_ns += of_map(params.insert_unit_ns);
    // A driver that works when the data have come looks up where they belong then.
    if times.finish_unit_ns > Nanos::ZERO {
        times.finish_unit_ns += lookup;
    } else {
        times.read_unit_ns += lookup;
    }
    times
}
