//! A run of sectors.

use super::params::SECTOR_BYTES;
use raidlab_io::ByteRange;

/// Sectors in a row, from `lbn` to before `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SectorRange {
    /// The first one.
    pub lbn: u64,
    /// The one behind the last one.
    pub end: u64,
}

impl SectorRange {
    /// From `lbn` to before `end`.
    #[inline]
    pub const fn new(lbn: u64, end: u64) -> SectorRange {
        SectorRange { lbn, end }
    }

    /// As many as `sectors` from `lbn` on.
    #[inline]
    pub const fn long(lbn: u64, sectors: u64) -> SectorRange {
        SectorRange::new(lbn, lbn + sectors)
    }

    /// Those that bytes lie in, wholly or in part.
    #[inline]
    pub const fn around(bytes: ByteRange) -> SectorRange {
        let end = bytes.end().div_ceil(SECTOR_BYTES);
        SectorRange::new(bytes.offset / SECTOR_BYTES, end)
    }

    /// How many they are.
    #[inline]
    pub const fn sectors(self) -> u64 {
        self.end - self.lbn
    }

    /// Their bytes.
    #[inline]
    pub const fn bytes(self) -> ByteRange {
        ByteRange::between(self.lbn * SECTOR_BYTES, self.end * SECTOR_BYTES)
    }

    /// True if there is none.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.lbn >= self.end
    }

    /// True if all of another range are among them.
    #[inline]
    pub const fn cover(self, other: SectorRange) -> bool {
        self.lbn <= other.lbn && other.end <= self.end
    }

    /// True if any of another range is among them.
    #[inline]
    pub const fn touch(self, other: SectorRange) -> bool {
        self.lbn < other.end && other.lbn < self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes 700 to 1599 lie in sectors 1, 2 and 3 of 512 bytes.
    #[test]
    fn sectors_around_bytes_have_all_of_them() {
        let sectors = SectorRange::around(ByteRange::new(700, 900));
        assert_eq!(sectors, SectorRange::new(1, 4));
        assert_eq!((sectors.sectors(), sectors.is_empty()), (3, false));
        assert_eq!(sectors.bytes(), ByteRange::new(512, 1536));
        assert!(SectorRange::around(ByteRange::new(512, 0)).is_empty());
    }

    #[test]
    fn neighbours_do_not_touch() {
        let range = SectorRange::long(10, 5);
        assert!(range.cover(SectorRange::new(12, 15)) && !range.cover(SectorRange::new(12, 16)));
        assert!(range.touch(SectorRange::new(14, 20)) && !range.touch(SectorRange::new(15, 20)));
    }
}
