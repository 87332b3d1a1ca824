//! Bins of consecutive sectors, in which the runs of the write cache hang.

use super::geometry::Geometry;
use super::ids::CylinderId;
use super::params::WriteCacheParams;

/// Bins of consecutive sectors, shared by all drives of a model.
#[derive(Debug)]
pub struct Bins {
    /// A sector's bin is its number shifted right by this number of bits.
    pub shift: u32,
    /// First cylinder of each bin, and one beyond the last.
    pub first_cylinder: Box<[CylinderId]>,
}

impl Bins {
    /// How many there are at most: about four for each run that can wait.
    pub fn wanted(params: &WriteCacheParams) -> u64 {
        u64::from(params.extents.saturating_mul(4)).clamp(64, 8192)
    }

    /// About four bins for each run that can wait.
    pub fn new(params: &WriteCacheParams, geometry: &Geometry) -> Bins {
        let wanted = Bins::wanted(params);
        let sectors = geometry.sectors();
        let shift = (0..64)
            .find(|shift| (sectors >> shift) < wanted)
            .unwrap_or(63);
        let count = (sectors >> shift) + 1;
        let cylinder = |bin: u64| match bin << shift {
            first if first < sectors => geometry.place(first).cylinder,
            _ => CylinderId::new(geometry.cylinders()),
        };
        Bins {
            shift,
            first_cylinder: (0..=count).map(cylinder).collect(),
        }
    }

    /// Number of bins.
    pub fn count(&self) -> usize {
        self.first_cylinder.len() - 1
    }
}
