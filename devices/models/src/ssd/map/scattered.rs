//! Numbers by key, for keys that are few and scattered: a hash table in the order of its hashes.
//!
//! A key goes to the place that is its hash's share of the table, or behind it. Entries stand in
//! the order of their hashes; so a search ends at the first larger one, and the table grows by one
//! reading in order. Where an entry stands says its hash but for the low bits; those alone are
//! kept. An entry takes 5 to 8 bytes, fewer the larger the table is for its range of keys. A key's
//! hash is a permutation, so the hash is the key.

use prefetch_index::prefetch_index;

/// The table grows when this number of its places is used, of [`PARTS`].
const FULL: usize = 12;
const PARTS: usize = 16;
/// It grows by its number of places divided by this.
const GROWTH: usize = 3;
/// Places at first.
const FIRST: usize = 1 << 13;
/// Entries may stand so far behind their place, at least, or they are made a byte wider.
const REACH_AT_LEAST: u64 = 256;
/// And no farther than this.
const REACH_AT_MOST: u64 = 4096;
/// Keys that differ in these bits alone stand beside each other.
const TOGETHER: u32 = 3;
/// Odd numbers: a product with one, modulo a power of two, is a permutation.
const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9];
const INVERSES: [u64; 2] = [inverse(FACTORS[0]), inverse(FACTORS[1])];

/// The number whose product with an odd one is 1, modulo 2^64: Newton's method doubles its bits.
pub(super) const fn inverse(odd: u64) -> u64 {
    let mut found = odd;
    let mut bits = 3;
    while bits < u64::BITS {
        found = found.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(found)));
        bits *= 2;
    }
    found
}

/// Numbers by key; 0 where none was set.
#[derive(Debug)]
pub(super) struct Scattered {
    /// Entries, lowest byte first, 0 where there is none. An entry has the low bits of the hash
    /// above the number.
    bytes: Vec<u8>,
    shape: Shape,
    used: usize,
}

/// How entries lie in a table.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// Bits of a key, and of its hash.
    key_bits: u32,
    number_bits: u32,
    /// Bytes of an entry.
    width: usize,
    /// Places among which hashes are shared out. More follow for entries behind the last one.
    places: usize,
    /// Places that an entry may stand behind its own.
    reach: usize,
    /// Hashes of a place, by 2^32, rounded down.
    step: u64,
}

impl Shape {
    fn new(key_bits: u32, number_bits: u32, places: usize) -> Shape {
        let all = |width: u32| {
            // The low bits of hashes differ within twice the reach of a place.
            let hashes = 1u128 << (8 * width - number_bits - 1);
            ((hashes * places as u128) >> key_bits) as u64
        };
        let narrowest = (number_bits + 8) / 8;
        let width = (narrowest..8).find(|&width| all(width) > REACH_AT_LEAST + 2);
        let width = width.unwrap_or(8);
        Shape {
            key_bits,
            number_bits,
            width: width as usize,
            places,
            reach: (all(width).saturating_sub(2)).clamp(1, REACH_AT_MOST) as usize,
            step: ((1u128 << (key_bits + 32)) / places as u128) as u64,
        }
    }

    /// Bits of the hash that an entry has.
    #[inline]
    fn tag_bits(&self) -> u32 {
        8 * self.width as u32 - self.number_bits
    }

    /// The place that a hash has unless others have it.
    #[inline]
    fn place(&self, hash: u64) -> usize {
        ((hash * self.places as u64) >> self.key_bits) as usize
    }

    /// A permutation of the keys, in whose upper bits each bit of a key has a part.
    #[inline]
    fn hash_of(&self, key: u32) -> u64 {
        let bits = self.key_bits - TOGETHER;
        let mut group = u64::from(key >> TOGETHER);
        for factor in FACTORS {
            group ^= group >> bits.div_ceil(2);
            group = group.wrapping_mul(factor) & ((1 << bits) - 1);
        }
        group << TOGETHER | u64::from(key & ((1 << TOGETHER) - 1))
    }

    /// The key with this hash.
    fn key_of(&self, hash: u64) -> u32 {
        let bits = self.key_bits - TOGETHER;
        let mut group = hash >> TOGETHER;
        for factor in INVERSES.into_iter().rev() {
            group = group.wrapping_mul(factor) & ((1 << bits) - 1);
            group ^= group >> bits.div_ceil(2);
        }
        (group << TOGETHER | hash & ((1 << TOGETHER) - 1)) as u32
    }

    /// An entry, in the lower bits.
    #[inline]
    fn entry(&self, hash: u64, number: u32) -> u64 {
        let above = 64 - 8 * self.width;
        (hash << self.number_bits | u64::from(number)) << above >> above
    }

    /// Memory of a table.
    fn bytes(&self) -> usize {
        (self.places + self.reach + 1) * self.width + 8
    }
}

impl Scattered {
    /// Nothing is set. Keys are below `keys`, numbers at most `most`.
    pub(super) fn new(keys: usize, most: u32) -> Scattered {
        let key_bits = keys.max(2).next_power_of_two().trailing_zeros();
        let number_bits = u32::BITS - most.max(1).leading_zeros();
        Scattered::shaped(Shape::new(key_bits.max(2 * TOGETHER), number_bits, FIRST))
    }

    fn shaped(shape: Shape) -> Scattered {
        Scattered {
            bytes: vec![0; shape.bytes()],
            shape,
            used: 0,
        }
    }

    /// Keys that have a number.
    pub(super) fn len(&self) -> usize {
        self.used
    }

    /// Memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The entry at a place, in the upper bits; what lies behind it is shifted out.
    #[inline]
    fn load(&self, place: usize) -> u64 {
        let at = place * self.shape.width;
        let word = self.bytes[at..].first_chunk().copied();
        u64::from_le_bytes(word.unwrap_or_default()) << (64 - 8 * self.shape.width)
    }

    #[inline]
    fn store(&mut self, place: usize, hash: u64, number: u32) {
        let entry = self.shape.entry(hash, number);
        let above = 64 - 8 * self.shape.width;
        if let Some(word) = self.bytes[place * self.shape.width..].first_chunk_mut() {
            let behind = u64::from_le_bytes(*word) & !(u64::MAX >> above);
            *word = (behind | entry).to_le_bytes();
        }
    }

    /// As `store`, behind all other entries. Memory is not read before it is written: the first
    /// read of a new page would be a page fault more, and one that stops other threads.
    #[inline]
    fn store_last(&mut self, place: usize, hash: u64, number: u32) {
        let entry = self.shape.entry(hash, number);
        if let Some(word) = self.bytes[place * self.shape.width..].first_chunk_mut() {
            *word = entry.to_le_bytes();
        }
    }

    /// The place of a hash's entry, or else the one where it would go.
    #[inline]
    fn find(&self, hash: u64) -> Result<usize, usize> {
        let below = 64 - self.shape.tag_bits();
        let wanted = hash << below;
        let mut place = self.shape.place(hash);
        loop {
            let entry = self.load(place);
            // Entries near this place differ by less than half of what their bits of the hash hold.
            let ahead = entry.wrapping_sub(wanted) as i64;
            if entry == 0 || ahead >= 1 << below {
                return Err(place);
            }
            if ahead >= 0 {
                return Ok(place);
            }
            place += 1;
        }
    }

    #[inline]
    fn number(&self, place: usize) -> u32 {
        let low = self.load(place) >> (64 - 8 * self.shape.width);
        (low & ((1 << self.shape.number_bits) - 1)) as u32
    }

    /// The number of a key.
    #[inline]
    pub(super) fn get(&self, key: u32) -> u32 {
        self.find(self.shape.hash_of(key))
            .map_or(0, |place| self.number(place))
    }

    /// Prefetches the entry of a key.
    #[inline]
    pub(super) fn prefetch(&self, key: u32) {
        let place = self.shape.place(self.shape.hash_of(key));
        let at = place * self.shape.width;
        prefetch_index(&self.bytes, at);
        // Few entries stand farther behind their place.
        prefetch_index(&self.bytes, at + 64);
    }

    /// Sets a key's number, which is not 0; false if the table has to grow first.
    #[inline]
    #[must_use]
    pub(super) fn set(&mut self, key: u32, number: u32) -> bool {
        let hash = self.shape.hash_of(key);
        match self.find(hash) {
            Ok(place) => self.store(place, hash, number),
            Err(place) => return self.insert(place, hash, number),
        }
        true
    }

    /// Makes room at `place`, where a hash would go; false if there is none.
    #[inline]
    fn insert(&mut self, place: usize, hash: u64, number: u32) -> bool {
        let mut end = place;
        while self.load(end) != 0 {
            end += 1;
        }
        // Each of these that moves has a place of its own at or behind that of this hash.
        let far = end - self.shape.place(hash) > self.shape.reach;
        if far || self.used * PARTS >= self.shape.places * FULL {
            return false;
        }
        let width = self.shape.width;
        self.bytes
            .copy_within(place * width..end * width, (place + 1) * width);
        self.store(place, hash, number);
        self.used += 1;
        true
    }

    /// Hashes and their numbers, in the order of the hashes.
    fn hashes(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        let Shape {
            places,
            reach,
            step,
            number_bits,
            ..
        } = self.shape;
        let (tag_bits, above) = (self.shape.tag_bits(), 64 - 8 * self.shape.width);
        let (tags, numbers) = ((1 << tag_bits) - 1, (1 << number_bits) - 1);
        (0..places + reach).filter_map(move |place| {
            let entry = self.load(place);
            if entry == 0 {
                return None;
            }
            // The least hash that an entry at this place can have.
            let least = (place.saturating_sub(reach) as u64 * step) >> 32;
            let hash = least + ((entry >> (64 - tag_bits)).wrapping_sub(least) & tags);
            Some((hash, (entry >> above & numbers) as u32))
        })
    }

    /// All keys and their numbers, in no order.
    pub(super) fn entries(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.hashes()
            .map(|(hash, number)| (self.shape.key_of(hash), number))
    }

    /// Makes the table larger.
    pub(super) fn grow(&mut self) {
        let Shape {
            key_bits,
            number_bits,
            mut places,
            ..
        } = self.shape;
        loop {
            places += places / GROWTH;
            if let Some(larger) = self.copied(Shape::new(key_bits, number_bits, places)) {
                *self = larger;
                return;
            }
        }
    }

    /// All entries in a table of this shape; none if one would stand too far from its place.
    fn copied(&self, shape: Shape) -> Option<Scattered> {
        let mut copy = Scattered::shaped(shape);
        let mut next = 0;
        for (hash, number) in self.hashes() {
            let own = shape.place(hash);
            next = next.max(own);
            if next - own > shape.reach {
                return None;
            }
            copy.store_last(next, hash, number);
            next += 1;
        }
        copy.used = self.used;
        Some(copy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn set(table: &mut Scattered, key: u32, number: u32) {
        while !table.set(key, number) {
            table.grow();
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn remembers_what_was_set(
            bits in 6u32..=32,
            most_bits in 1u32..=32,
            draws in prop::collection::vec((any::<u32>(), 1u32.., 1u32..40), 1..1000),
        ) {
            let keys = 1usize << bits;
            let most = (1u64 << most_bits) as u32;
            let most = most.wrapping_sub(1);
            let mut table = Scattered::new(keys, most);
            let mut expected = HashMap::new();
            for (first, number, run) in draws {
                for key in first..first.saturating_add(run) {
                    let key = (u64::from(key) % keys as u64) as u32;
                    let number = number % most.max(2) + u32::from(number % most.max(2) == 0);
                    set(&mut table, key, number);
                    expected.insert(key, number);
                }
            }
            for (&key, &number) in &expected {
                prop_assert_eq!(table.get(key), number);
                let next = ((u64::from(key) + 1) % keys as u64) as u32;
                prop_assert_eq!(table.get(next), expected.get(&next).copied().unwrap_or(0));
            }
            let mut entries: Vec<_> = table.entries().collect();
            entries.sort_unstable();
            let mut all: Vec<_> = expected.into_iter().collect();
            all.sort_unstable();
            prop_assert_eq!(table.len(), all.len());
            prop_assert_eq!(entries, all);
        }
    }

    /// Bytes for each entry that is used: its own by the share of places that may be used, and a
    /// third more behind a growth; besides, the places behind the last one.
    fn bounds(shape: &Shape) -> std::ops::Range<f64> {
        let full = shape.width as f64 * 16.0 / 12.0;
        let behind = 1.0 + (shape.reach as f64 + 3.0) / shape.places as f64;
        0.999 * full..1.001 * full * behind * 4.0 / 3.0
    }

    /// The table after `writes` writes to random runs of keys, and its bytes for each key.
    fn density(keys: u32, writes: u32, run: u32) -> (Shape, f64) {
        let mut table = Scattered::new(keys as usize, keys + keys / 4);
        let mut draws = raidlab_kernel::Stream::new(1, "test", "keys");
        for _ in 0..writes {
            let first = draws.below(u64::from(keys - run)) as u32;
            (first..first + run).for_each(|key| set(&mut table, key, key + 1));
        }
        (table.shape, table.bytes() as f64 / table.len() as f64)
    }

    #[test]
    fn many_scattered_units_of_a_large_drive_take_eight_to_eleven_bytes_each() {
        for run in [1, 3, 8] {
            for writes in [300_000, 625_000] {
                let (shape, each) = density(195_000_000, writes / run, run);
                assert_eq!(shape.width, 6);
                assert!(bounds(&shape).contains(&each), "{each} bytes");
                assert!((7.9..11.0).contains(&each), "{each} bytes");
            }
        }
    }

    #[test]
    fn keys_in_even_steps_crowd_nowhere() {
        for step in [1, 3, 64, 1 << 10, 12_345, 1 << 16, 999_983] {
            let mut table = Scattered::new(195_000_000, 240_000_000);
            for number in 0..195_000_000u32.div_ceil(step).min(50_000) {
                set(&mut table, number * step, number + 1);
            }
            let each = table.bytes() as f64 / table.len() as f64;
            let most = bounds(&table.shape).end;
            assert!(each < most || table.len() < 10_000, "{step}: {each} bytes");
        }
    }
}
