//! What the tables of a disk take, from its parameters: all are made at the start.

use super::Hdd;
use super::buffer::Buffer;
use super::link_front::LinkFront;
use super::params::{HddParams, InterfaceParams, SECTOR_BYTES};
use super::scheduler::Queue;
use super::scsi_bus::ScsiFront;
use super::shingled::ShingledFront;
use super::write_cache::WriteCache;
use raidlab_io::IoId;

impl HddParams {
    /// Bytes of one disk of this model, without what all disks of the model share.
    pub fn table_bytes(&self) -> u64 {
        let (depth, front) = match (&self.interface, self.shingled) {
            (InterfaceParams::Link(link), Some(_)) => {
                (link.queue_depth, size_of::<ShingledFront>())
            }
            (InterfaceParams::Link(link), None) => (link.queue_depth, size_of::<LinkFront>()),
            (InterfaceParams::ScsiBus(bus), _) => (bus.queue_depth, size_of::<ScsiFront>()),
        };
        let fixed = (size_of::<Hdd>() + front) as u64;
        // Behind the queue: lists of commands that wait for a flush or for room.
        let lists = 4 * size_of::<IoId>() as u64 * u64::from(depth);
        let cache = self.write_cache.as_ref().map(WriteCache::table_bytes);
        let media = self.shingled.map(|shingled| {
            let bands = self.bytes().div_ceil(shingled.band_bytes.max(SECTOR_BYTES));
            ShingledFront::table_bytes(&shingled, bands)
        });
        let tables = [
            Queue::table_bytes(depth),
            Buffer::table_bytes(&self.buffer),
            cache.unwrap_or(0),
            media.unwrap_or(0),
        ];
        tables.into_iter().fold(fixed + lists, u64::saturating_add)
    }

    /// Bytes of its sectors.
    fn bytes(&self) -> u64 {
        let zones = self.geometry.zones.iter().map(|zone| {
            let cylinders = u64::from(zone.last_cylinder.saturating_sub(zone.first_cylinder)) + 1;
            let tracks = cylinders * u64::from(self.geometry.heads);
            tracks.saturating_mul(u64::from(zone.sectors_per_track))
        });
        let sectors = zones.fold(0, u64::saturating_add);
        sectors.saturating_mul(SECTOR_BYTES)
    }
}
