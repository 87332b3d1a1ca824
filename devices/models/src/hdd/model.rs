//! What all drives of one entry in the plan share: tables and settings, built once.

use super::geometry::Geometry;
use super::ids::{MediumSector, ZoneId};
use super::media_op::MediaOp;
use super::params::{
    BufferParams, HddParams, InterfaceParams, SECTOR_BYTES, SchedulerParams, ShingledParams,
    WriteCacheParams,
};
use super::rotation::sector_time;
use super::seek::{Head, Seek};
use super::seek_bounds::SeekBounds;
use super::write_bins::Bins;
use crate::check::Check;
use crate::{ArmPowerParams, Fault};
use raidlab_kernel::{Nanos, Table};
use serde::Deserialize;
use std::sync::{Arc, OnceLock};

/// A hard disk in the plan: its parameters, and the tables that its drives share.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub struct HddModel {
    /// What the plan says.
    pub params: HddParams,
    /// Built with the first drive.
    #[serde(skip)]
    built: OnceLock<Arc<Model>>,
}

impl HddModel {
    /// The shared tables.
    ///
    /// # Errors
    /// Names every parameter that is out of its range.
    pub(super) fn model(&self) -> Result<Arc<Model>, Vec<Fault>> {
        if let Some(model) = self.built.get() {
            return Ok(Arc::clone(model));
        }
        let model = Arc::new(Model::new(&self.params)?);
        Ok(Arc::clone(self.built.get_or_init(|| model)))
    }
}

/// Tables and settings of a drive model.
#[derive(Debug)]
pub struct Model {
    pub geometry: Geometry,
    pub seek: Seek,
    /// Longest movements, for the choice by position.
    pub seek_bounds: SeekBounds,
    /// Revolutions a minute, nominally.
    pub rpm: f64,
    /// Most by which a drive's speed differs from it, as part of it.
    pub speed_tolerance: f64,
    /// Nanoseconds a sector at the nominal speed, times 2^20, by zone.
    pub sector_time: Table<ZoneId, u64>,
    /// Sectors that the drive offers.
    pub sectors: u64,
    /// Of them in a sector of the medium.
    pub physical_sectors: u64,
    pub buffer: BufferParams,
    pub write_cache: Option<WriteCacheParams>,
    pub scheduler: SchedulerParams,
    /// The next command is chosen when the one before it begins.
    pub plans_ahead: bool,
    /// A command that has waited for longer goes next.
    pub age_limit: Nanos,
    /// Sectors that count as one place, where a stream is: what a segment holds.
    pub neighbourhood: u64,
    /// Time after which the head leaves a place for older commands: that of the positioning at another
    /// place and back, so that a stream keeps half of its rate at least.
    pub longest_stay: Nanos,
    pub interface: InterfaceParams,
    /// Bins of the write cache, if there is one.
    pub bins: Option<Bins>,
    /// Part of a revolution that has passed the head at time zero.
    pub initial_angle: Option<f64>,
    /// What it draws.
    pub power: Option<ArmPowerParams>,
    /// Bands of tracks that overlap.
    pub shingled: Option<ShingledParams>,
    /// Sectors before the first logical one: what the media cache of a shingled disk takes.
    pub first_band: u64,
}

impl Model {
    fn new(params: &HddParams) -> Result<Model, Vec<Fault>> {
        let mut check = Check(Vec::new());
        params.check(&mut check);
        let geometry = Geometry::new(&params.geometry, &mut check);
        let cylinders = geometry.as_ref().map_or(1, Geometry::cylinders);
        let seek = Seek::new(&params.seek, cylinders, &mut check);
        if let Some(geometry) = &geometry {
            let log = params.shingled.map_or(0, |it| it.media_cache_bytes);
            let most = (geometry.sectors() * SECTOR_BYTES).saturating_sub(log);
            check.that(
                most > 0,
                "shingled.media_cache_bytes",
                log,
                "less than the geometry holds",
            );
            check.that(
                params.capacity_bytes <= most && params.capacity_bytes % SECTOR_BYTES == 0,
                "capacity_bytes",
                params.capacity_bytes,
                &format!("a multiple of {SECTOR_BYTES}, at most {most}: what the geometry holds"),
            );
        }
        match (geometry, seek) {
            (Some(geometry), Some(seek)) if check.0.is_empty() => {
                Ok(Model::with(params, geometry, seek))
            }
            _ => Err(check.0),
        }
    }

    /// True if the write cache survives a loss of power.
    pub fn keeps_writes(&self) -> bool {
        let cache = self.write_cache.as_ref();
        cache.is_some_and(|cache| cache.persistent)
    }

    /// Where a logical sector of a shingled disk lies, if it is at home.
    pub fn home(&self, lbn: u64) -> MediumSector {
        MediumSector::new(lbn + self.first_band)
    }

    /// Mean time to position the arm `cylinders` cylinders away, and back.
    pub fn there_and_back(&self, cylinders: u32) -> Nanos {
        there_and_back(&self.seek, self.rpm, cylinders)
    }

    fn with(params: &HddParams, geometry: Geometry, seek: Seek) -> Model {
        let sector_times = geometry
            .zones()
            .map(|zone| sector_time(params.rpm, geometry.sectors_per_track(zone)))
            .collect();
        let first_band = (params.shingled.as_ref()).map_or(0, ShingledParams::cache_sectors);
        Model {
            sectors: match params.capacity_bytes {
                0 => geometry.sectors() - first_band,
                bytes => bytes / SECTOR_BYTES,
            },
            bins: params
                .write_cache
                .as_ref()
                .map(|cache| Bins::new(cache, &geometry)),
            physical_sectors: u64::from(params.physical_sectors),
            longest_stay: there_and_back(&seek, params.rpm, geometry.cylinders() / 3),
            seek_bounds: SeekBounds::new(&seek, geometry.cylinders()),
            geometry,
            seek,
            rpm: params.rpm,
            speed_tolerance: params.speed_tolerance,
            sector_time: sector_times,
            buffer: params.buffer.clone(),
            write_cache: params.write_cache.clone(),
            scheduler: params.scheduler,
            plans_ahead: params.plans_ahead,
            age_limit: params.age_limit_ns,
            neighbourhood: u64::from(params.buffer.segment_sectors),
            interface: params.interface.clone(),
            initial_angle: params.initial_angle,
            power: params.power,
            shingled: params.shingled,
            first_band,
        }
    }
}

/// Time to position the arm `cylinders` away, and back: a seek and half a revolution, twice.
fn there_and_back(seek: &Seek, rpm: f64, cylinders: u32) -> Nanos {
    let half_revolution = Nanos((30e9 / rpm).round() as u64);
    let away = seek.time(cylinders, Head::Other, MediaOp::Read) + half_revolution;
    away + away
}
