//! What the parts of a disk are numbered by: a type for each kind.

use raidlab_kernel::ids;

ids! {
    /// Cylinders with equally many sectors on each track.
    ZoneId;
    /// Tracks of a shingled disk that are written in order only.
    BandId;
    /// A record of a media cache.
    RecordId;
}
