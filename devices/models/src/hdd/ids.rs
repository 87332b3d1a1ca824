//! What the parts of a disk are numbered by: a type for each kind.

use raidlab_kernel::ids;

ids! {
    /// A cylinder.
    CylinderId;
    /// A head, and so a track of a cylinder.
    HeadId: u16;
    /// Cylinders with equally many sectors on each track.
    ZoneId;
    /// Tracks of a shingled disk that are written in order only.
    BandId;
    /// A sector of a zone by its place there, spares and bad ones counted.
    ZoneSector: u64;
    /// A sector of a shingled disk by its place on the medium, the media cache's first.
    MediumSector: u64;
    /// A sector of a media cache's log, as if the log had no end.
    LogSector: u64;
    /// A record of a media cache.
    RecordId;
    /// A segment of the buffer for reads.
    SegmentId;
    /// A slot of the write cache, which has a run of sectors.
    CacheSlot: u16;
}
