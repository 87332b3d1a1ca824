//! Drives of which a slice is mapped.

use super::*;

/// Of two slices of 8 MiB the same bytes of both are one unit: a read of the second finds what was
/// written to the first, and capacity and life are the whole drive's.
#[test]
fn addresses_of_all_slices_share_the_units_of_one() {
    let mut params = params();
    params.slices = 2;
    let slice = params.capacity_bytes;
    let mut ssd = drive(&params);
    assert_eq!(ssd.params.addressable_bytes(), 2 * slice);
    assert_eq!(
        ssd.units(ByteRange::new(slice + 4096, 8192)),
        (UnitId::new(1), 2)
    );
    assert_eq!(
        ssd.units(ByteRange::new(2 * slice - 4096, 4096)).0,
        UnitId::new((slice / 4096 - 1) as u32)
    );
    let mut bench = Bench::new();
    bench.submit(&mut ssd, Op::Write, slice, 16384, 0);
    bench.submit(&mut ssd, Op::Trim, slice, 16384, 0);
    bench.run(&mut ssd, Time::NEVER);
    assert_eq!(ssd.store.check(), Ok(()));
    assert_eq!(ssd.written().host_units, 4);
}
