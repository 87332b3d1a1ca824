//! Spares and slips: from a logical index in a zone to a physical one.
//!
//! A slipped sector is passed over, and everything behind it moves up by one, into the spares
//! that lie at the end of its track, range or zone. Each scheme is one of those that drives
//! were found to use (DIXtrac, Schindler and Ganger 1999).

use super::params::{GeometryParams, Sparing, ZoneParams};
use crate::check::Check;

/// A zone's slips under its sparing scheme.
#[derive(Debug)]
pub(super) struct Slips {
    scheme: Sparing,
    slips: Vec<u64>,
    cylinders: u32,
    range_cylinders: u32,
    sectors_per_track: u32,
    heads: u32,
    spares: u64,
}

impl Slips {
    pub fn new(
        geometry: &GeometryParams,
        zone: &ZoneParams,
        cylinders: u32,
        key: &str,
        check: &mut Check,
    ) -> Slips {
        let tracks = u64::from(cylinders) * u64::from(geometry.heads);
        let raw = match geometry.sparing {
            Sparing::Track => tracks,
            _ => tracks * u64::from(zone.sectors_per_track),
        };
        let ascending = zone.slips.windows(2).all(|pair| pair[0] < pair[1]);
        check.that(
            ascending && zone.slips.last().is_none_or(|&last| last < raw),
            &format!("{key}.slips"),
            format!("{} slips", zone.slips.len()),
            &format!("ascending, each below {raw}"),
        );
        check.that(
            geometry.sparing != Sparing::TrackEnd || zone.slips.is_empty(),
            &format!("{key}.slips"),
            format!("{} slips", zone.slips.len()),
            "none with sparing = track_end",
        );
        check.that(
            geometry.sparing != Sparing::SlipOnly || zone.spares == 0,
            &format!("{key}.spares"),
            zone.spares,
            "0 with sparing = slip_only",
        );
        let unit = match geometry.sparing {
            Sparing::TrackEnd => u64::from(zone.sectors_per_track),
            Sparing::Range => {
                let range = u64::from(geometry.range_cylinders) * u64::from(geometry.heads);
                range * u64::from(zone.sectors_per_track)
            }
            _ => u64::MAX,
        };
        check.that(
            zone.spares < unit,
            &format!("{key}.spares"),
            zone.spares,
            &format!("fewer than the {unit} sectors that each lot of spares is taken from"),
        );
        if geometry.sparing == Sparing::Range {
            check_ranges(&zone.slips, zone.spares, unit, raw, key, check);
        }
        Slips {
            scheme: geometry.sparing,
            slips: zone.slips.clone(),
            cylinders,
            range_cylinders: geometry.range_cylinders.max(1),
            sectors_per_track: zone.sectors_per_track,
            heads: geometry.heads,
            spares: zone.spares,
        }
    }

    pub fn len(&self) -> usize {
        self.slips.len()
    }

    /// Sectors of the zone that hold no data; saturates.
    pub fn lost(&self, spares: u64) -> u64 {
        let tracks = u64::from(self.cylinders) * u64::from(self.heads);
        match self.scheme {
            Sparing::Track => spares.saturating_mul(u64::from(self.sectors_per_track)),
            Sparing::TrackEnd => spares.saturating_mul(tracks),
            Sparing::SlipOnly => self.slips.len() as u64,
            Sparing::Range => {
                spares.saturating_mul(u64::from(self.cylinders / self.range_cylinders))
            }
            Sparing::Zone => spares,
        }
    }

    /// Physical index of a logical one (both from the zone's first sector on), and an upper
    /// bound of how many follow without a gap, without regard to the end of the track.
    #[inline]
    pub fn physical(&self, sectors_per_track: u32, heads: u32, index: u64) -> (u64, u64) {
        let per_track = u64::from(sectors_per_track);
        match self.scheme {
            Sparing::Zone => {
                if self.slips.is_empty() {
                    return (index, u64::MAX);
                }
                walk(&self.slips, 0, index)
            }
            Sparing::Track => {
                let (track, sector) = (index / per_track, index % per_track);
                let (track, _) = walk(&self.slips, 0, track);
                (track * per_track + sector, per_track - sector)
            }
            Sparing::TrackEnd => {
                let usable = per_track - self.spares;
                let (track, sector) = (index / usable, index % usable);
                (track * per_track + sector, usable - sector)
            }
            Sparing::SlipOnly => {
                let per_cylinder = per_track * u64::from(heads);
                let start = index / per_cylinder * per_cylinder;
                let inside = index - start;
                let (first, slips) = self.within(start, per_cylinder);
                let (moved, run) = walk(slips, start, inside);
                let physical = start + first as u64 + moved;
                (physical, run.min(per_cylinder - inside))
            }
            Sparing::Range => {
                let whole = per_track * u64::from(heads) * u64::from(self.range_cylinders);
                let usable = whole - self.spares;
                // What is left of the zone behind its whole ranges has no spares.
                let ranges = u64::from(self.cylinders / self.range_cylinders);
                let range = (index / usable).min(ranges);
                let (start, inside) = (range * whole, index - range * usable);
                let (_, slips) = self.within(start, whole);
                let (moved, run) = walk(slips, start, inside);
                let spared = range < ranges;
                let run = if spared {
                    run.min(usable - inside)
                } else {
                    run
                };
                (start + moved, run)
            }
        }
    }

    /// How many slips lie before `start`, and those of the `size` sectors from there on.
    #[inline]
    fn within(&self, start: u64, size: u64) -> (usize, &[u64]) {
        let first = self.slips.partition_point(|&slip| slip < start);
        let rest = &self.slips[first..];
        let inside = rest.partition_point(|&slip| slip - start < size);
        (first, &rest[..inside])
    }
}

/// Moves `index` past each of the slips, counted from `start`: one up for every slip at or before
/// where it has got to. Also says how far the next slip is.
///
/// Slips ascend, so `slip - its number` never falls and the last one that counts is found by
/// bisection.
#[inline]
fn walk(slips: &[u64], start: u64, index: u64) -> (u64, u64) {
    let (mut low, mut high) = (0, slips.len());
    while low < high {
        let middle = low + (high - low) / 2;
        if slips[middle] - start - middle as u64 <= index {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let moved = index + low as u64;
    let run = slips.get(low).map_or(u64::MAX, |slip| slip - start - moved);
    (moved, run)
}

/// No range may slip more sectors than it has spares; what is left at the end of the zone after
/// the last whole range has none.
fn check_ranges(slips: &[u64], spares: u64, unit: u64, raw: u64, key: &str, check: &mut Check) {
    let mut rest = slips;
    while let Some(&first) = rest.first() {
        let range = first / unit;
        let inside = rest.partition_point(|&slip| slip / unit == range);
        let whole = (range + 1) * unit <= raw;
        let spares = if whole { spares } else { 0 };
        check.that(
            inside as u64 <= spares,
            &format!("{key}.slips"),
            format!("{inside} slips in range {range}"),
            &format!("at most the range's {spares} spares"),
        );
        rest = &rest[inside.max(1)..];
    }
}
