//! Layouts by hand, and that whatever is accepted is one to one.

use super::super::params::{GeometryParams, HeadOrder, Sparing, ZoneParams};
use super::*;
use crate::Fault;
use proptest::prelude::*;

fn zone(first: u32, last: u32, sectors_per_track: u32) -> ZoneParams {
    ZoneParams {
        first_cylinder: first,
        last_cylinder: last,
        sectors_per_track,
        offset_sectors: 0,
        empty_sectors: 0,
        track_skew_sectors: 0,
        cylinder_skew_sectors: 0,
        spares: 0,
        slips: Vec::new(),
        defects: Vec::new(),
    }
}

fn layout(heads: u32, sparing: Sparing, zones: Vec<ZoneParams>) -> GeometryParams {
    GeometryParams {
        heads,
        head_order: HeadOrder::Cylinder,
        sparing,
        range_cylinders: 0,
        zones,
    }
}

fn build(params: &GeometryParams) -> Result<Geometry, Vec<Fault>> {
    let mut check = Check(Vec::new());
    Geometry::new(params, &mut check).ok_or(check.0)
}

fn chs(geometry: &Geometry, lbn: u64) -> (u32, u32, u32) {
    let place = geometry.place(lbn);
    (
        place.cylinder.number(),
        u32::from(place.head.number()),
        place.sector,
    )
}

#[test]
fn sectors_fill_tracks_then_heads_then_cylinders_then_zones() {
    let params = layout(2, Sparing::Zone, vec![zone(0, 1, 10), zone(5, 5, 8)]);
    let geometry = build(&params).unwrap();
    assert_eq!((geometry.sectors(), geometry.cylinders()), (56, 6));
    for (lbn, expected) in [
        (0, (0, 0, 0)),
        (9, (0, 0, 9)),
        (10, (0, 1, 0)),
        (20, (1, 0, 0)),
        (39, (1, 1, 9)),
        (40, (5, 0, 0)),
        (55, (5, 1, 7)),
    ] {
        assert_eq!(chs(&geometry, lbn), expected, "sector {lbn}");
    }
    assert_eq!(geometry.place(13).run, 7);
}

#[test]
fn skews_shift_tracks_and_cylinders() {
    let mut only = zone(0, 9, 100);
    (only.offset_sectors, only.track_skew_sectors) = (7, 20);
    only.cylinder_skew_sectors = 30;
    let geometry = build(&layout(3, Sparing::Zone, vec![only])).unwrap();
    let sectors = |lbn| f64::from(geometry.place(lbn).angle) / 4_294_967_296.0 * 100.0;
    // Head 2 of cylinder 4, sector 5: 7 + (2 + 2 * 4) * 20 + 4 * 30 + 5 = 332.
    let lbn = 4 * 300 + 2 * 100 + 5;
    assert!((sectors(lbn) - 32.0).abs() < 1e-6, "{}", sectors(lbn));
    assert!((sectors(0) - 7.0).abs() < 1e-6);
}

#[test]
fn serpentine_order_keeps_the_head_across_cylinders_but_not_the_angle_rule() {
    let mut only = zone(10, 12, 10);
    only.track_skew_sectors = 3;
    let mut params = layout(4, Sparing::Zone, vec![only]);
    let plain = build(&params).unwrap();
    params.head_order = HeadOrder::Serpentine;
    let geometry = build(&params).unwrap();
    assert_eq!(chs(&geometry, 39), (10, 3, 9));
    assert_eq!(chs(&geometry, 40), (11, 3, 0));
    assert_eq!(chs(&geometry, 79), (11, 0, 9));
    assert_eq!(chs(&geometry, 80), (12, 0, 0));
    // Angles follow the order, not the head.
    assert_eq!(geometry.place(47).angle, plain.place(47).angle);
}

#[test]
fn spare_tracks_are_slipped_as_tracks() {
    // Tracks 0..6 of 4 sectors; track 2 is bad, one spare track.
    let mut only = zone(0, 2, 4);
    (only.spares, only.slips) = (1, vec![2]);
    let geometry = build(&layout(2, Sparing::Track, vec![only])).unwrap();
    assert_eq!(geometry.sectors(), 20);
    assert_eq!(chs(&geometry, 7), (0, 1, 3));
    assert_eq!(chs(&geometry, 8), (1, 1, 0));
    assert_eq!(chs(&geometry, 19), (2, 1, 3));
}

#[test]
fn spares_at_each_tracks_end_are_skipped() {
    let mut only = zone(0, 1, 10);
    only.spares = 2;
    let geometry = build(&layout(2, Sparing::TrackEnd, vec![only])).unwrap();
    assert_eq!(geometry.sectors(), 32);
    assert_eq!(chs(&geometry, 7), (0, 0, 7));
    assert_eq!(chs(&geometry, 8), (0, 1, 0));
    assert_eq!(geometry.place(6).run, 2);
    assert_eq!(chs(&geometry, 31), (1, 1, 7));
}

#[test]
fn slips_alone_carry_into_later_cylinders() {
    // Cylinders of 10 sectors; sectors 3 and 12 (sector 2 of cylinder 1) are bad.
    let mut only = zone(0, 3, 5);
    only.slips = vec![3, 12];
    let geometry = build(&layout(2, Sparing::SlipOnly, vec![only])).unwrap();
    assert_eq!(geometry.sectors(), 38);
    assert_eq!(chs(&geometry, 2), (0, 0, 2));
    assert_eq!(geometry.place(2).run, 1);
    assert_eq!(chs(&geometry, 3), (0, 0, 4));
    // The last of cylinder 0's ten has moved on to cylinder 1.
    assert_eq!(chs(&geometry, 9), (1, 0, 0));
    // Index 10: cylinder 1, none of its own slips before sector 0, one from cylinder 0.
    assert_eq!(chs(&geometry, 10), (1, 0, 1));
    // Index 12 is sector 2 of cylinder 1, at its slip: two moved by then.
    assert_eq!(chs(&geometry, 12), (1, 0, 4));
    assert_eq!(chs(&geometry, 37), (3, 1, 4));
}

#[test]
fn spares_of_a_range_lie_at_its_end_and_its_slips_stay_inside() {
    // Ranges of 2 cylinders of 8 sectors, 3 spares each; the last range is half a one.
    let mut only = zone(0, 4, 4);
    (only.spares, only.slips) = (3, vec![2, 17]);
    let mut params = layout(2, Sparing::Range, vec![only]);
    params.range_cylinders = 2;
    let geometry = build(&params).unwrap();
    assert_eq!(geometry.sectors(), 40 - 2 * 3);
    assert_eq!(chs(&geometry, 1), (0, 0, 1));
    assert_eq!(chs(&geometry, 2), (0, 0, 3));
    // The 13th sector opens the second range: sector 16, and 17 is slipped.
    assert_eq!(chs(&geometry, 12), (1, 1, 1));
    assert_eq!(chs(&geometry, 13), (2, 0, 0));
    assert_eq!(chs(&geometry, 14), (2, 0, 2));
    // No spares in the half range: it starts at logical 26 and is full.
    assert_eq!(chs(&geometry, 26), (4, 0, 0));
    assert_eq!(chs(&geometry, 33), (4, 1, 3));
}

#[test]
fn what_is_left_behind_the_ranges_may_be_larger_than_what_they_hold() {
    let mut only = zone(0, 4, 4);
    only.spares = 7;
    let mut params = layout(2, Sparing::Range, vec![only]);
    params.range_cylinders = 3;
    let geometry = build(&params).unwrap();
    // A range of 24 sectors holds 17; the two cylinders behind it hold all of their 16.
    assert_eq!(geometry.sectors(), 40 - 7);
    assert_eq!(chs(&geometry, 16), (2, 0, 0));
    assert_eq!(chs(&geometry, 17), (3, 0, 0));
    assert_eq!(chs(&geometry, 32), (4, 1, 3));
    // Half a range of its own: spares of a range that is not there take nothing from it.
    let mut short = zone(0, 1, 4);
    short.spares = 9;
    let mut params = layout(2, Sparing::Range, vec![short]);
    params.range_cylinders = 3;
    let geometry = build(&params).unwrap();
    assert_eq!(geometry.sectors(), 16);
    assert_eq!(chs(&geometry, 15), (1, 1, 3));
}

#[test]
fn slips_of_a_zone_move_all_that_follows() {
    let mut only = zone(0, 1, 10);
    (only.spares, only.slips, only.empty_sectors) = (2, vec![5, 6], 3);
    let geometry = build(&layout(1, Sparing::Zone, vec![only])).unwrap();
    assert_eq!(geometry.sectors(), 15);
    assert_eq!(chs(&geometry, 0), (0, 0, 3));
    assert_eq!(geometry.place(0).run, 2);
    assert_eq!(chs(&geometry, 2), (0, 0, 7));
    assert_eq!(chs(&geometry, 14), (1, 0, 9));
}

#[test]
fn a_defect_is_replaced_by_a_spare() {
    let mut only = zone(0, 0, 10);
    (only.spares, only.defects) = (2, vec![(4, 9), (2, 2)]);
    let geometry = build(&layout(1, Sparing::Zone, vec![only.clone()])).unwrap();
    assert_eq!(chs(&geometry, 2), (0, 0, 2));
    assert_eq!(geometry.place(2).run, 2);
    assert_eq!((chs(&geometry, 4), geometry.place(4).run), ((0, 0, 9), 1));
    assert_eq!((chs(&geometry, 5), geometry.place(5).run), ((0, 0, 5), 3));
    only.defects = vec![(4, 7)];
    let faults = build(&layout(1, Sparing::Zone, vec![only])).unwrap_err();
    assert_eq!(faults[0].key, "geometry.zones.0.defects");
}

#[test]
fn every_fault_is_named() {
    let mut bad = zone(5, 3, 0);
    bad.spares = 1;
    let mut full = zone(2, 2, 10);
    full.spares = 20;
    let faults = build(&layout(2, Sparing::Zone, vec![bad, full])).unwrap_err();
    let keys: Vec<&str> = faults.iter().map(|fault| fault.key.as_str()).collect();
    assert_eq!(
        keys,
        [
            "geometry.zones.0.last_cylinder",
            "geometry.zones.0.sectors_per_track",
            "geometry.zones.1.first_cylinder",
            "geometry.zones.1.spares",
        ]
    );
}

fn sparings() -> impl Strategy<Value = Sparing> {
    prop_oneof![
        Just(Sparing::Track),
        Just(Sparing::TrackEnd),
        Just(Sparing::SlipOnly),
        Just(Sparing::Range),
        Just(Sparing::Zone),
    ]
}

prop_compose! {
    fn any_zone()(
        gap in 0u32..3,
        cylinders in 1u32..9,
        sectors_per_track in 1u32..20,
        offset in 0u32..40,
        empty in 0u64..6,
        skews in (0u32..30, 0u32..30),
        spares in 0u64..6,
        mut slips in prop::collection::vec(0u64..200, 0..5),
    ) -> (u32, ZoneParams) {
        slips.sort_unstable();
        slips.dedup();
        let mut zone = zone(0, cylinders - 1, sectors_per_track);
        (zone.offset_sectors, zone.empty_sectors) = (offset, empty);
        (zone.track_skew_sectors, zone.cylinder_skew_sectors) = skews;
        (zone.spares, zone.slips) = (spares, slips);
        (gap, zone)
    }
}

proptest! {
    /// Whatever is accepted maps every logical sector to a place of its own, and a run is
    /// what single look-ups say it is.
    #[test]
    fn accepted_layouts_are_one_to_one(
        heads in 1u32..5,
        serpentine: bool,
        sparing in sparings(),
        range in 1u32..4,
        zones in prop::collection::vec(any_zone(), 1..4),
    ) {
        let mut params = layout(heads, sparing, Vec::new());
        params.range_cylinders = if sparing == Sparing::Range { range } else { 0 };
        if serpentine {
            params.head_order = HeadOrder::Serpentine;
        }
        let mut cylinder = 0;
        for (gap, mut zone) in zones {
            let last = zone.last_cylinder;
            zone.first_cylinder = cylinder + gap;
            zone.last_cylinder = zone.first_cylinder + last;
            cylinder = zone.last_cylinder + 1;
            params.zones.push(zone);
        }
        if let Ok(geometry) = build(&params) {
            let mut seen = std::collections::HashSet::new();
            let mut expected = None;
            for lbn in 0..geometry.sectors() {
                let place = geometry.place(lbn);
                let (cylinder, head, _) = chs(&geometry, lbn);
                prop_assert!(cylinder < geometry.cylinders());
                prop_assert!(head < heads);
                prop_assert!(place.sector < geometry.sectors_per_track(place.zone));
                prop_assert!(place.run >= 1);
                let spot = (place.cylinder, place.head, place.sector);
                prop_assert!(seen.insert(spot), "{lbn} shares {spot:?}");
                if let Some((spot_expected, left)) = expected {
                    prop_assert_eq!(spot, spot_expected);
                    prop_assert!(place.run >= left);
                }
                expected = (place.run > 1)
                    .then_some(((spot.0, spot.1, spot.2 + 1), place.run - 1));
            }
        }
    }
}
