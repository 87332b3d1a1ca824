//! Requests beyond the device, and traces laid out over it anew.

use crate::fields::SECTOR;
use schemars::JsonSchema;
use serde::Deserialize;

/// What becomes of requests that end beyond the device.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Beyond {
    /// They are an error.
    #[default]
    Refuse,
    /// Their offsets are taken modulo the device's size.
    Wrap,
    /// They are left out.
    Skip,
    /// All addresses are spread over the device, or drawn together, by pieces of 1 MiB.
    Scale,
}

/// What keeps its order inside when addresses are scaled.
const PIECE: u64 = 1 << 20;

/// Where a trace of `extent` bytes lies on a device of `capacity` bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
    pub capacity: u64,
    pub extent: u64,
    pub beyond: Beyond,
}

impl Placement {
    /// The offset on the device; none if the request is left out.
    ///
    /// `bytes` is at most the capacity, if there is one.
    pub(crate) fn place(&self, offset: u64, bytes: u64) -> Option<u64> {
        if self.capacity == 0 {
            return Some(offset);
        }
        if self.beyond == Beyond::Scale {
            return Some(self.scaled(offset, bytes));
        }
        if !self.is_beyond(offset, bytes) {
            return Some(offset);
        }
        match self.beyond {
            Beyond::Wrap => {
                let places = self.capacity - bytes + 1;
                // On sectors, as every drive wants them.
                Some(offset % places / SECTOR * SECTOR)
            }
            _ => None,
        }
    }

    pub(crate) fn is_beyond(&self, offset: u64, bytes: u64) -> bool {
        self.capacity > 0 && offset.saturating_add(bytes) > self.capacity
    }

    fn scaled(&self, offset: u64, bytes: u64) -> u64 {
        let (pieces, places) = (self.extent.div_ceil(PIECE).max(1), self.capacity / PIECE);
        let piece = u128::from(offset / PIECE) * u128::from(places) / u128::from(pieces);
        let wanted = piece as u64 * PIECE + offset % PIECE;
        wanted.min((self.capacity - bytes) / SECTOR * SECTOR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placement(beyond: Beyond) -> Placement {
        Placement {
            capacity: 4 * PIECE,
            extent: 8 * PIECE,
            beyond,
        }
    }

    #[test]
    fn by_hand() {
        let wrap = placement(Beyond::Wrap);
        assert_eq!(wrap.place(512, 4096), Some(512));
        // 5 MiB modulo the 4 MiB - 4095 places: 1 MiB and 4095, down to a sector.
        assert_eq!(wrap.place(5 * PIECE, 4096), Some(PIECE + 3584));
        assert_eq!(placement(Beyond::Skip).place(5 * PIECE, 4096), None);
        let scale = placement(Beyond::Scale);
        assert_eq!(scale.place(5 * PIECE + 512, 4096), Some(2 * PIECE + 512));
        assert_eq!(scale.place(8 * PIECE - 512, 512), Some(4 * PIECE - 512));
    }

    proptest::proptest! {
        #[test]
        fn what_is_placed_lies_on_the_device(
            offset in 0u64..1 << 60, bytes in 1u64..1 << 22, capacity in 1u64..1 << 40,
            extent in 1u64..1 << 60,
        ) {
            for beyond in [Beyond::Wrap, Beyond::Skip, Beyond::Scale] {
                let capacity = capacity.max(bytes);
                let on = Placement { capacity, extent: extent.max(offset + bytes), beyond };
                if let Some(at) = on.place(offset, bytes) {
                    proptest::prop_assert!(at + bytes <= capacity);
                }
            }
        }
    }
}
