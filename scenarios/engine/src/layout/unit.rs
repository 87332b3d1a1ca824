//! What can be read of a stripe unit.

use crate::layout::ranges::Ranges;
use raidlab_io::ByteRange;

/// What can be read of a unit: all but the sectors that are known to be unreadable.
#[derive(Clone, Copy, Debug)]
pub struct Unit<'a> {
    /// The drive's unreadable sectors, and where the unit begins there; none if there are none.
    unreadable: Option<(&'a Ranges, u64)>,
}

impl<'a> Unit<'a> {
    /// All of it.
    pub const WHOLE: Unit<'static> = Unit { unreadable: None };

    /// A unit that begins at `offset` of a drive with these unreadable sectors.
    #[inline]
    pub(crate) fn new(unreadable: &'a Ranges, offset: u64) -> Unit<'a> {
        let some = !unreadable.is_empty();
        Unit {
            unreadable: some.then_some((unreadable, offset)),
        }
    }

    /// Whether all of a range can be read.
    #[inline]
    pub fn is_readable(&self, start: u32, end: u32) -> bool {
        self.unreadable.is_none_or(|(ranges, offset)| {
            !ranges.touches(ByteRange::between(
                offset + u64::from(start),
                offset + u64::from(end),
            ))
        })
    }

    /// Whether a byte can be read, and up to where at least the same holds for the next ones.
    pub fn stretch(&self, at: u32) -> (bool, u32) {
        let Some((ranges, offset)) = self.unreadable else {
            return (true, u32::MAX);
        };
        let (bad, end) = ranges.stretch(offset + u64::from(at));
        (!bad, u32::try_from(end - offset).unwrap_or(u32::MAX))
    }
}
