//! What all drives of one entry in the plan share: tables and settings, built once.

use super::geometry::Geometry;
use super::outlook::Plans;
use super::params::{
    BufferParams, HddParams, InterfaceParams, SECTOR_BYTES, SchedulerParams, WriteCacheParams,
};
use super::rotation::Rotation;
use super::seek::Seek;
use super::write_cache::Bins;

/// Tables and settings of a drive model.
#[derive(Debug)]
pub struct Model {
    pub geometry: Geometry,
    pub seek: Seek,
    /// Movements that a choice counts on.
    pub plans: Plans,
    pub rotation: Rotation,
    /// Nanoseconds a sector, times 2^20, by zone.
    pub sector_time: Box<[u64]>,
    /// Sectors that the drive offers.
    pub sectors: u64,
    pub buffer: BufferParams,
    pub write_cache: Option<WriteCacheParams>,
    pub scheduler: SchedulerParams,
    pub interface: InterfaceParams,
    /// Bins of the write cache, if there is one.
    pub bins: Option<Bins>,
    pub initial_turn: Option<f64>,
}

impl Model {
    pub fn new(params: &HddParams, geometry: Geometry, seek: Seek) -> Model {
        let rotation = Rotation::new(params.rpm);
        let sector_time = (0..geometry.zones() as u32)
            .map(|zone| rotation.sector_time(geometry.sectors_per_track(zone)))
            .collect();
        Model {
            sectors: match params.capacity_bytes {
                0 => geometry.sectors(),
                bytes => bytes / SECTOR_BYTES,
            },
            bins: params
                .write_cache
                .as_ref()
                .map(|cache| Bins::new(cache, &geometry)),
            plans: Plans::new(&seek, geometry.cylinders()),
            geometry,
            seek,
            rotation,
            sector_time,
            buffer: params.buffer.clone(),
            write_cache: params.write_cache.clone(),
            scheduler: params.scheduler,
            interface: params.interface.clone(),
            initial_turn: params.initial_turn,
        }
    }
}
