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
    /// The place of a mapping unit in NAND; numbered page set by page set over the whole drive.
    NandSlot;
    /// A mapping unit, in the order of the host's addresses.
    UnitId;
    /// Where data lie in the order of addresses, by the unit whose place it would be.
    LogPlace;
    /// A mapping unit by the number that the map's tables have for it.
    HomeId;
    /// A tile: a part of the drive that begins as the simulated one ended.
    TileId;
    /// A mapping unit of a tile.
    TileUnit;
    /// A mapping unit of a tile by the number that tables have for it.
    TileHome;
    /// A page of the map, where NAND has them.
    MapPage;
    /// The place of a page of the map in memory.
    CachePlace;
}
