//! What the parts of a drive are numbered by: a type for each kind.

use raidlab_kernel::ids;

ids! {
    /// A die of the drive.
    DieId;
    /// A channel, which some of the dies share.
    ChannelId;
    /// An erase block, over all planes of a die; numbered die by die.
    BlockId;
    /// A page set, one page of every plane; numbered block by block over the whole drive.
    SetId;
    /// A page set by its number in its block, which decides what its operations take.
    SetInBlock;
}
