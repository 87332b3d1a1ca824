//! A range of bytes.

/// Bytes in a row, of an array or of a drive: where they begin and how many they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByteRange {
    /// The first byte.
    pub offset: u64,
    /// How many they are.
    pub bytes: u64,
}

impl ByteRange {
    /// `bytes` bytes from `offset` on.
    #[inline]
    pub const fn new(offset: u64, bytes: u64) -> ByteRange {
        ByteRange { offset, bytes }
    }

    /// From `start` up to and without `end`; empty if that lies before it.
    #[inline]
    pub const fn between(start: u64, end: u64) -> ByteRange {
        ByteRange::new(start, end.saturating_sub(start))
    }

    /// The byte behind the last one.
    #[inline]
    pub const fn end(self) -> u64 {
        self.offset + self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::ByteRange;

    #[test]
    fn a_range_ends_behind_its_last_byte() {
        // 4 KiB from 8 KiB on: bytes 8192 to 12287.
        let range = ByteRange::new(8192, 4096);
        assert_eq!(range.end(), 12_288);
        assert_eq!(ByteRange::between(8192, 12_288), range);
        assert_eq!(ByteRange::between(8192, 4096), ByteRange::new(8192, 0));
    }
}
