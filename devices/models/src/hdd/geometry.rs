//! Logical sector -> cylinder, head, sector and angle: zones, skews, spares, slips, defects.
//!
//! Zones hold consecutive ranges of logical sectors. Inside a zone a sector's logical index is
//! moved past slipped sectors and spares to its physical index, which then divides into
//! cylinder, head and sector. The angle of a sector's start is
//! `(offset + (h + (S-1)c) track_skew + c cylinder_skew + s) / T` revolutions, with `c`, `h`, `s`
//! counted inside the zone, `S` heads and `T` sectors a track. See docs/explanation/hard-disk.md.

use super::ids::{CylinderId, HeadId, ZoneId, ZoneSector};
use super::params::{GeometryParams, HeadOrder, Sparing, ZoneParams};
use super::slips::Slips;
use crate::check::Check;
use raidlab_kernel::Table;

/// Where an access begins: what a positioning estimate needs of a sector.
#[derive(Clone, Copy, Debug, Default)]
pub struct Target {
    /// Cylinder.
    pub cylinder: CylinderId,
    /// Angle of the sector's start, 2^32 a revolution.
    pub angle: u32,
    /// Head.
    pub head: HeadId,
}

/// Where a logical sector lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The logical sector.
    pub lbn: u64,
    /// Cylinder.
    pub cylinder: CylinderId,
    /// Head.
    pub head: HeadId,
    /// Zone.
    pub zone: ZoneId,
    /// Sector on its track.
    pub sector: u32,
    /// Angle of the sector's start.
    pub angle: u32,
    /// Logical sectors from here on that follow each other on this track without a gap.
    pub run: u32,
}

impl Place {
    /// What a positioning estimate needs of it.
    pub fn target(&self) -> Target {
        Target {
            cylinder: self.cylinder,
            angle: self.angle,
            head: self.head,
        }
    }

    /// True if both lie on one track.
    pub fn same_track(&self, other: &Place) -> bool {
        self.cylinder == other.cylinder && self.head == other.head
    }
}

/// Cylinders with equally many sectors on each track.
#[derive(Debug)]
struct Zone {
    first_lbn: u64,
    end_lbn: u64,
    first_cylinder: CylinderId,
    cylinders: u32,
    sectors_per_track: u32,
    offset: u32,
    empty: u64,
    track_skew: u32,
    cylinder_skew: u32,
    /// 2^64 over the sectors of a track.
    angle_per_sector: u64,
    slips: Slips,
    /// (bad, replacement), ascending.
    defects: Vec<(ZoneSector, ZoneSector)>,
}

/// Where all sectors of a drive lie.
#[derive(Debug)]
pub struct Geometry {
    heads: u32,
    serpentine: bool,
    zones: Table<ZoneId, Zone>,
    /// First zone to try, by the high bits of the logical sector.
    first_zone: Vec<ZoneId>,
    shift: u32,
    sectors: u64,
}

const CHUNKS: u64 = 256;

impl Geometry {
    /// The geometry, or nothing if `check` now holds faults that make it impossible.
    pub(super) fn new(params: &GeometryParams, check: &mut Check) -> Option<Geometry> {
        let faults = check.0.len();
        check.within(GeometryParams::HEADS, "geometry.heads", params.heads);
        check.that(
            !params.zones.is_empty(),
            "geometry.zones",
            "[]",
            "one zone or more",
        );
        check.that(
            (params.sparing == Sparing::Range) == (params.range_cylinders > 0),
            "geometry.range_cylinders",
            params.range_cylinders,
            "1 or more for sparing = range, 0 for any other",
        );
        if check.0.len() > faults {
            return None;
        }
        let mut zones = Table::default();
        let (mut lbn, mut cylinder) = (0, 0);
        for (index, zone) in params.zones.iter().enumerate() {
            let key = format!("geometry.zones.{index}");
            check.that(
                zone.first_cylinder >= cylinder,
                &format!("{key}.first_cylinder"),
                zone.first_cylinder,
                &format!("{cylinder} or more: beyond the zone before"),
            );
            cylinder = zone.last_cylinder.saturating_add(1);
            if let Some(zone) = Zone::new(params, zone, lbn, &key, check) {
                lbn = zone.end_lbn;
                zones.push(zone);
            }
        }
        if check.0.len() > faults {
            return None;
        }
        let shift = (0..64).find(|shift| (lbn >> shift) < CHUNKS).unwrap_or(63);
        let first_zone = (0..=(lbn >> shift))
            .map(|chunk| {
                let below = |zone: &Zone| zone.end_lbn <= chunk << shift;
                ZoneId::new(zones.as_slice().partition_point(below) as u32)
            })
            .collect();
        Some(Geometry {
            heads: params.heads,
            serpentine: params.head_order == HeadOrder::Serpentine,
            zones,
            first_zone,
            shift,
            sectors: lbn,
        })
    }

    /// Logical sectors in all.
    pub fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Cylinders from the first to the last that is used.
    pub fn cylinders(&self) -> u32 {
        let last = self.zones.iter().next_back();
        last.map_or(0, |zone| zone.first_cylinder.plus(zone.cylinders).number())
    }

    /// Its zones.
    pub fn zones(&self) -> impl Iterator<Item = ZoneId> + use<> {
        self.zones.ids()
    }

    /// Sectors on each track of a zone.
    pub fn sectors_per_track(&self, zone: ZoneId) -> u32 {
        self.zones[zone].sectors_per_track
    }

    /// Where a logical sector lies; the sector must exist.
    #[inline]
    pub fn place(&self, lbn: u64) -> Place {
        debug_assert!(lbn < self.sectors, "sector {lbn} of {}", self.sectors);
        let mut index = self.first_zone[(lbn >> self.shift) as usize];
        while lbn >= self.zones[index].end_lbn {
            index = index.plus(1);
        }
        let zone = &self.zones[index];
        let (physical, run) = zone.physical(self.heads, lbn);
        let physical = physical.number();
        let per_track = u64::from(zone.sectors_per_track);
        let per_cylinder = per_track * u64::from(self.heads);
        let cylinder = (physical / per_cylinder) as u32;
        let inside = (physical % per_cylinder) as u32;
        let order = inside / zone.sectors_per_track;
        let sector = inside % zone.sectors_per_track;
        let flipped = self.serpentine && cylinder % 2 == 1;
        Place {
            lbn,
            cylinder: zone.first_cylinder.plus(cylinder),
            head: HeadId::new(if flipped {
                self.heads - 1 - order
            } else {
                order
            } as u16),
            zone: index,
            sector,
            angle: zone.angle(self.heads, cylinder, order, sector),
            run: run.min(u64::from(zone.sectors_per_track - sector)) as u32,
        }
    }
}

impl Zone {
    fn new(
        geometry: &GeometryParams,
        zone: &ZoneParams,
        first_lbn: u64,
        key: &str,
        check: &mut Check,
    ) -> Option<Zone> {
        let faults = check.0.len();
        check.that(
            zone.last_cylinder >= zone.first_cylinder
                && ZoneParams::CYLINDERS.hold(zone.last_cylinder),
            &format!("{key}.last_cylinder"),
            zone.last_cylinder,
            "first_cylinder or more, below 16777216",
        );
        check.within(
            ZoneParams::SECTORS_PER_TRACK,
            &format!("{key}.sectors_per_track"),
            zone.sectors_per_track,
        );
        if check.0.len() > faults {
            return None;
        }
        let cylinders = zone.last_cylinder - zone.first_cylinder + 1;
        let per_track = u64::from(zone.sectors_per_track);
        let tracks = u64::from(cylinders) * u64::from(geometry.heads);
        let raw = tracks * per_track;
        let slips = Slips::new(geometry, zone, cylinders, key, check);
        let lost = slips.lost(zone.spares).checked_add(zone.empty_sectors);
        let sectors = lost.and_then(|lost| raw.checked_sub(lost)).unwrap_or(0);
        check.that(
            sectors > 0,
            &format!("{key}.spares"),
            zone.spares,
            &format!("spares, slips and empty sectors must leave some of the zone's {raw} sectors"),
        );
        let defects = zone.defects.iter();
        let mut defects: Vec<_> = defects
            .filter(|(bad, replacement)| bad != replacement)
            .map(|&(bad, replacement)| (ZoneSector::new(bad), ZoneSector::new(replacement)))
            .collect();
        defects.sort_unstable();
        for &(bad, replacement) in &defects {
            check.that(
                bad.number().max(replacement.number()) < raw,
                &format!("{key}.defects"),
                format!("({bad}, {replacement})"),
                &format!("sectors of the zone, below {raw}"),
            );
        }
        if check.0.len() > faults {
            return None;
        }
        let zone = Zone {
            first_lbn,
            end_lbn: first_lbn + sectors,
            first_cylinder: CylinderId::new(zone.first_cylinder),
            cylinders,
            sectors_per_track: zone.sectors_per_track,
            offset: zone.offset_sectors,
            empty: zone.empty_sectors,
            track_skew: zone.track_skew_sectors,
            cylinder_skew: zone.cylinder_skew_sectors,
            angle_per_sector: ((1u128 << 64) / u128::from(per_track)).min(u128::from(u64::MAX))
                as u64,
            slips,
            defects,
        };
        zone.check_layout(geometry.heads, raw, key, check);
        (check.0.len() == faults).then_some(zone)
    }

    /// The last sector must still lie inside the zone, and a defect's replacement must not be in use
    /// as a logical sector.
    fn check_layout(&self, heads: u32, raw: u64, key: &str, check: &mut Check) {
        let last = self.physical(heads, self.end_lbn - 1).0;
        check.that(
            last.number() < raw,
            &format!("{key}.slips"),
            format!("{} slips", self.slips.len()),
            "no more than the zone's spares make up for",
        );
        for &(bad, replacement) in &self.defects {
            let taken = self.contains(heads, replacement) && !self.is_bad(replacement);
            let twice = self.defects.iter().filter(|d| d.1 == replacement).count() > 1;
            check.that(
                !taken && !twice,
                &format!("{key}.defects"),
                format!("({bad}, {replacement})"),
                "a replacement that holds no sector yet: a spare",
            );
        }
    }

    fn is_bad(&self, physical: ZoneSector) -> bool {
        self.defects.iter().any(|defect| defect.0 == physical)
    }

    /// True if a logical sector lies at this place, without regard to defects.
    fn contains(&self, heads: u32, physical: ZoneSector) -> bool {
        let (mut low, mut high) = (self.first_lbn, self.end_lbn);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.undefected(heads, middle).0 {
                found if found == physical => return true,
                found if found < physical => low = middle + 1,
                _ => high = middle,
            }
        }
        false
    }

    /// The place in the zone before defects are remapped, and the sectors from there on
    /// that neither a slip nor a spare interrupts.
    #[inline]
    fn undefected(&self, heads: u32, lbn: u64) -> (ZoneSector, u64) {
        let index = lbn - self.first_lbn + self.empty;
        let (physical, run) = self.slips.physical(self.sectors_per_track, heads, index);
        (ZoneSector::new(physical), run.min(self.end_lbn - lbn))
    }

    /// The place in the zone, and an upper bound of the uninterrupted run from there on.
    #[inline]
    fn physical(&self, heads: u32, lbn: u64) -> (ZoneSector, u64) {
        let (physical, run) = self.undefected(heads, lbn);
        if self.defects.is_empty() {
            return (physical, run);
        }
        let next = self.defects.partition_point(|defect| defect.0 < physical);
        match self.defects.get(next) {
            Some(&(bad, replacement)) if bad == physical => (replacement, 1),
            Some(&(bad, _)) => (physical, run.min(bad.since(physical))),
            None => (physical, run),
        }
    }

    /// Angle of a sector's start, from the order of its head in the cylinder.
    #[inline]
    fn angle(&self, heads: u32, cylinder: u32, order: u32, sector: u32) -> u32 {
        let tracks = u64::from(order) + u64::from(heads - 1) * u64::from(cylinder);
        let sectors = u64::from(self.offset)
            + tracks * u64::from(self.track_skew)
            + u64::from(cylinder) * u64::from(self.cylinder_skew)
            + u64::from(sector);
        // Multiples of 2^64 / T wrap as revolutions do; the rounding of the factor stays below 2^-32
        // of a revolution for every drive that `check` accepts.
        (sectors
            .wrapping_mul(self.angle_per_sector)
            .wrapping_add(1 << 31)
            >> 32) as u32
    }
}

#[cfg(test)]
mod tests;
