//! What the parts of a controller's cache are numbered by: a type for each kind.

use raidlab_kernel::ids;

ids! {
    /// A line of the cache: the caller's number of what it holds.
    LineKey: u64;
    /// A line of the cache, by its place in memory.
    LineSlot;
    /// Where dirty data of one array wait, or of one SSD cache.
    SpaceId;
    /// What goes to the drives together: a stripe or, without parity, a unit; counted in its space.
    GroupId: u64;
    /// A group with dirty lines, by its place in memory.
    GroupSlot;
}
