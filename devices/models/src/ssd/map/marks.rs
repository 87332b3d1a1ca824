//! A mark for each slot: which slots of rewritten blocks are valid, and which of the layout's are
//! no longer.
//!
//! Writes to random units invalidate slots all over the drive, so a bit for each slot has all its
//! pages touched by a few hundred thousand of them: 300 MB of a drive of 7.68 TB. Blocks that are
//! rewritten have their marks side by side, in bits. Marks of the layout's blocks are scattered: on
//! large drives they stand in a hash table, 32 slots an entry, until that takes a quarter of the
//! memory that bits would.

use crate::ssd::ids::NandSlot;
use crate::ssd::map::scattered::Scattered;
use raidlab_kernel::Bits;

/// Slots up to which all marks are bits: 32 MiB of them.
pub(crate) const ALL_BITS: u64 = 1 << 28;
/// The hash table takes at most the memory of bits divided by this.
const PART_OF_BITS: usize = 4;
/// Slots of an entry, as a power of two.
const ENTRY_SHIFT: u32 = 5;
const ENTRY_SLOTS: u32 = 1 << ENTRY_SHIFT;

/// Marks by slot.
#[derive(Debug)]
pub(crate) struct Marks {
    /// Of rewritten blocks: the slot holds valid data. Of the layout's blocks: it no longer does,
    /// unless that is in `scattered`.
    bits: Bits,
    /// Bytes of the bits.
    size: usize,
    /// Slots of the layout's blocks that no longer hold what the layout says. Entries of blocks that
    /// were rewritten since mean nothing.
    scattered: Option<Scattered>,
}

impl From<Bits> for Marks {
    /// All marks as bits.
    fn from(bits: Bits) -> Marks {
        Marks {
            bits,
            size: 0,
            scattered: None,
        }
    }
}

impl Marks {
    /// No slot is marked.
    pub(super) fn new(slots: usize) -> Marks {
        Marks::with(slots, slots as u64 > ALL_BITS)
    }

    fn with(slots: usize, is_large: bool) -> Marks {
        Marks {
            bits: Bits::new(slots),
            size: slots / 8,
            scattered: is_large.then(|| Scattered::new((slots >> ENTRY_SHIFT) + 1, u32::MAX)),
        }
    }

    /// True if a slot of the layout's no longer holds what the layout says.
    #[inline]
    pub(super) fn is_gone(&self, slot: NandSlot) -> bool {
        match &self.scattered {
            None => self.bits.get(slot.number()),
            Some(hash) => {
                let slot = slot.number();
                hash.get(slot >> ENTRY_SHIFT) >> (slot % ENTRY_SLOTS) & 1 == 1
            }
        }
    }

    /// As [`Marks::is_gone`] of `count` slots from `first` on, at most 64; the first is the lowest.
    #[inline]
    pub(super) fn gone(&self, first: NandSlot, count: u32) -> u64 {
        let first = first.number();
        let Some(hash) = &self.scattered else {
            return self.bits.window(first, count);
        };
        let mut found = 0;
        for entry in first >> ENTRY_SHIFT..(first + count).div_ceil(ENTRY_SLOTS) {
            let bits = u64::from(hash.get(entry));
            let start = entry << ENTRY_SHIFT;
            found |= match start.checked_sub(first) {
                Some(ahead) => bits << ahead,
                None => bits >> (first - start),
            };
        }
        found & (u64::MAX >> (64 - count))
    }

    /// Notes that slots of the layout's, those of `which` from `first` on, hold nothing any more;
    /// false if there are too many such slots: then all marks are to be bits.
    #[inline]
    #[must_use]
    pub(super) fn note(&mut self, first: NandSlot, which: u64) -> bool {
        if self.scattered.is_some() {
            return self.note_scattered(first, which);
        }
        self.bits.invert(first.number(), which);
        true
    }

    #[inline(never)]
    fn note_scattered(&mut self, first: NandSlot, which: u64) -> bool {
        let Some(hash) = &mut self.scattered else {
            return true;
        };
        let first = first.number();
        let shifted = u128::from(which) << (first % ENTRY_SLOTS);
        for at in 0..u128::BITS / ENTRY_SLOTS {
            let new = (shifted >> (at * ENTRY_SLOTS)) as u32;
            if new == 0 {
                continue;
            }
            let entry = (first >> ENTRY_SHIFT) + at;
            let all = hash.get(entry) | new;
            while !hash.set(entry, all) {
                if PART_OF_BITS * hash.bytes() > self.size {
                    return false;
                }
                hash.grow();
            }
        }
        true
    }

    /// Which of `count` slots of a rewritten block, at most 64, from `first` on hold valid data.
    #[inline]
    pub(super) fn valid(&self, first: NandSlot, count: u32) -> u64 {
        self.bits.window(first.number(), count)
    }

    /// Slots of a rewritten block hold valid data from now on.
    #[inline]
    pub(super) fn put(&mut self, first: NandSlot, count: u32) {
        self.bits.set_range(first.number(), count);
    }

    /// The slots of a rewritten block in `which` from `first` on, which do, hold nothing any more.
    #[inline]
    pub(super) fn take(&mut self, first: NandSlot, which: u64) {
        self.bits.invert(first.number(), which);
    }

    /// A block of the layout's becomes a rewritten one without valid data.
    #[inline]
    pub(super) fn begin(&mut self, first: NandSlot, count: u32) {
        // The bits of such a block are clear where its marks are scattered.
        if self.scattered.is_none() {
            self.bits.clear_range(first.number(), count);
        }
    }

    /// Asks for a slot's mark ahead.
    #[inline]
    pub(super) fn touch(&self, slot: NandSlot) {
        match &self.scattered {
            None => self.bits.touch(slot.number()),
            Some(hash) => hash.prefetch(slot.number() >> ENTRY_SHIFT),
        }
    }

    /// All marks as bits; `is_laid` says whether a slot is the layout's.
    pub(super) fn all(&self, is_laid: impl Fn(NandSlot) -> bool) -> Bits {
        let mut bits = self.bits.clone();
        for (entry, marked) in self.scattered.iter().flat_map(Scattered::entries) {
            let slots = (0..ENTRY_SLOTS).filter(|at| marked >> at & 1 == 1);
            slots
                .map(|at| entry << ENTRY_SHIFT | at)
                .filter(|&slot| is_laid(NandSlot::new(slot)))
                .for_each(|slot| bits.set(slot));
        }
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Slots of a block: no multiple of those of an entry.
    const BLOCK: u32 = 1000;
    const BLOCKS: u32 = 50;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn scattered_marks_are_those_that_bits_are(
            noted in prop::collection::vec((0..BLOCKS, 0..BLOCK - 64, any::<u64>()), 1..200),
            rewritten in prop::collection::btree_set(0..BLOCKS, 0..20),
        ) {
            let slots = (BLOCK * BLOCKS) as usize;
            let (mut scattered, mut plain) = (Marks::with(slots, true), Marks::with(slots, false));
            // A quarter of these bits is less than a table has at first.
            scattered.size = usize::MAX / 8;
            for &(block, at, which) in &noted {
                let first = NandSlot::new(block * BLOCK + at);
                let new = which & !plain.gone(first, 64);
                prop_assert!(plain.note(first, new));
                prop_assert!(scattered.note(first, new));
            }
            for &block in &rewritten {
                let first = NandSlot::new(block * BLOCK);
                for marks in [&mut scattered, &mut plain] {
                    marks.begin(first, BLOCK);
                    marks.put(first.plus(5), 100);
                    marks.take(first.plus(60), 0b101);
                }
            }
            for block in 0..BLOCKS {
                for first in (block * BLOCK..(block + 1) * BLOCK - 64).step_by(37) {
                    let first = NandSlot::new(first);
                    if rewritten.contains(&block) {
                        prop_assert_eq!(scattered.valid(first, 64), plain.valid(first, 64));
                    } else {
                        prop_assert_eq!(scattered.gone(first, 61), plain.gone(first, 61));
                        prop_assert_eq!(scattered.is_gone(first), plain.is_gone(first));
                    }
                }
            }
            let all = scattered.all(|slot| !rewritten.contains(&(slot.number() / BLOCK)));
            for slot in 0..BLOCK * BLOCKS {
                prop_assert_eq!(all.get(slot), plain.bits.get(slot));
            }
        }
    }

    #[test]
    fn scattered_marks_take_a_quarter_of_what_bits_do_at_most() {
        let mut marks = Marks::with(1 << 26, true);
        let mut draws = raidlab_kernel::Stream::new(1, "test", "slots");
        let mut noted = 0;
        while marks.note(NandSlot::new(draws.below(1 << 26) as u32), 1) {
            noted += 1;
        }
        // It grows by a third up to 2 MiB, so it ends between 2 and 2.8 MB of entries of 6 bytes, of
        // which three in four are used: 262,000 to 350,000; a tenth of the slots share an entry.
        assert!((262_000..390_000).contains(&noted), "{noted}");
        let bytes = marks.scattered.map_or(0, |hash| hash.bytes());
        assert!((1 << 20..3 << 20).contains(&bytes), "{bytes}");
    }
}
