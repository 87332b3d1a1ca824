//! What has changed of a large table that a formula gives.
//!
//! A table of a number for each unit of a drive takes gigabytes, and writes to random units touch
//! all its pages long before they have changed a tenth of it. So changes are kept in a hash table
//! (linear probing; neighbouring units share a cache line) until they are so many that the plain
//! table is the smaller one. It doubles as it grows: what an I/O costs does not depend on how many
//! were before, and memory never exceeds the plain table's by more than a quarter.

use serde::{Deserialize, Serialize, Serializer};

/// No change is known.
pub(super) const UNCHANGED: u32 = 0;

/// Units up to which the plain table is used from the start: 16 MiB.
const PLAIN_UNITS: usize = 1 << 22;
/// The plain table takes over when one unit in this many has changed.
const PLAIN_SHARE: usize = 16;
/// Units beside each other in one line of 64 bytes.
const LINE_SHIFT: u32 = 3;
const FIRST_LINES: usize = 1 << 10;

/// Numbers by unit, [`UNCHANGED`] where none was set.
#[derive(Debug, Deserialize)]
#[serde(from = "Changes")]
pub(super) struct Overlay {
    units: usize,
    table: Table,
}

#[derive(Debug)]
enum Table {
    Plain(Vec<u32>),
    Hash(Hash),
}

#[derive(Debug)]
struct Hash {
    /// Unit in the low, number in the high half; 0 for an empty place, as no number is 0.
    places: Vec<u64>,
    /// A line's hash is shifted down by this.
    shift: u32,
    used: usize,
}

/// What has changed, by unit.
#[derive(Deserialize, Serialize)]
struct Changes {
    units: u32,
    numbers: Vec<(u32, u32)>,
}

impl Serialize for Overlay {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Changes {
            units: self.units(),
            numbers: self.changes(),
        }
        .serialize(serializer)
    }
}

impl From<Changes> for Overlay {
    fn from(changes: Changes) -> Overlay {
        let mut overlay = Overlay::new(changes.units);
        for (unit, number) in changes.numbers {
            overlay.set(unit, number);
        }
        overlay
    }
}

impl Overlay {
    /// Units and their numbers, as far as they have changed, in the order of the units.
    pub(super) fn changes(&self) -> Vec<(u32, u32)> {
        match &self.table {
            Table::Plain(numbers) => (0..)
                .zip(numbers.iter().copied())
                .filter(|&(_, number)| number != UNCHANGED)
                .collect(),
            Table::Hash(hash) => {
                let used = hash.places.iter().filter(|&&place| place != 0);
                let mut found: Vec<(u32, u32)> = used
                    .map(|&place| (place as u32, (place >> 32) as u32))
                    .collect();
                found.sort_unstable();
                found
            }
        }
    }

    /// Nothing has changed.
    pub(super) fn new(units: u32) -> Overlay {
        let units = units as usize;
        let table = if units <= PLAIN_UNITS {
            Table::Plain(vec![UNCHANGED; units])
        } else {
            Table::Hash(Hash::new(FIRST_LINES))
        };
        Overlay { units, table }
    }

    /// Number of units.
    pub(super) fn units(&self) -> u32 {
        self.units as u32
    }

    #[inline]
    pub(super) fn get(&self, unit: u32) -> u32 {
        match &self.table {
            Table::Plain(numbers) => numbers[unit as usize],
            Table::Hash(hash) => (hash.places[hash.find(unit)] >> 32) as u32,
        }
    }

    /// Loads what is known of a unit into the processor's cache: a caller that will need many
    /// units waits for all of them together instead of for one after the other.
    #[inline]
    pub(super) fn touch(&self, unit: u32) {
        std::hint::black_box(match &self.table {
            Table::Plain(numbers) => u64::from(numbers[unit as usize]),
            Table::Hash(hash) => hash.places[hash.first(unit)],
        });
    }

    /// Sets the number of a unit, which is not [`UNCHANGED`].
    #[inline]
    pub(super) fn set(&mut self, unit: u32, number: u32) {
        debug_assert_ne!(number, UNCHANGED);
        match &mut self.table {
            Table::Plain(numbers) => numbers[unit as usize] = number,
            Table::Hash(hash) => {
                if hash.set(unit, number) {
                    self.grow();
                }
            }
        }
    }

    #[cold]
    fn grow(&mut self) {
        let Table::Hash(hash) = &mut self.table else {
            return;
        };
        if hash.used * PLAIN_SHARE < self.units {
            return hash.double();
        }
        let mut numbers = vec![UNCHANGED; self.units];
        for &place in hash.places.iter().filter(|&&place| place != 0) {
            numbers[place as u32 as usize] = (place >> 32) as u32;
        }
        self.table = Table::Plain(numbers);
    }
}

impl Hash {
    fn new(lines: usize) -> Hash {
        Hash {
            places: vec![0; lines << LINE_SHIFT],
            shift: 64 - lines.ilog2(),
            used: 0,
        }
    }

    /// The place that a unit has unless another unit has it.
    #[inline]
    fn first(&self, unit: u32) -> usize {
        let line = u64::from(unit >> LINE_SHIFT).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift;
        let within = unit as usize & ((1 << LINE_SHIFT) - 1);
        ((line as usize) << LINE_SHIFT) + within
    }

    /// The place of a unit, or the empty one where it would go.
    #[inline]
    fn find(&self, unit: u32) -> usize {
        let mask = self.places.len() - 1;
        let mut place = self.first(unit);
        while self.places[place] != 0 && self.places[place] as u32 != unit {
            place = (place + 1) & mask;
        }
        place
    }

    /// Sets a unit's number; true if the table is full enough to grow.
    #[inline]
    fn set(&mut self, unit: u32, number: u32) -> bool {
        let place = self.find(unit);
        self.used += usize::from(self.places[place] == 0);
        self.places[place] = u64::from(number) << 32 | u64::from(unit);
        2 * self.used >= self.places.len()
    }

    fn double(&mut self) {
        let mut larger = Hash::new((2 * self.places.len()) >> LINE_SHIFT);
        for &place in self.places.iter().filter(|&&place| place != 0) {
            larger.set(place as u32, (place >> 32) as u32);
        }
        *self = larger;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn remembers_what_was_set(
            changes in prop::collection::vec((0u32..40_000_000, 1u32..), 1..3000),
            stride in 1u32..100,
        ) {
            let mut overlay = Overlay::new(40_000_000);
            let mut expected = HashMap::new();
            for (unit, number) in changes {
                // Neighbours as well, so that lines overflow into each other.
                for unit in (unit..(unit + 12 * stride).min(40_000_000)).step_by(stride as usize) {
                    overlay.set(unit, number);
                    expected.insert(unit, number);
                }
            }
            for (&unit, &number) in &expected {
                prop_assert_eq!(overlay.get(unit), number);
                let next = (unit + 1) % 40_000_000;
                let other = expected.get(&next).copied().unwrap_or(UNCHANGED);
                prop_assert_eq!(overlay.get(next), other);
            }
        }
    }

    #[test]
    fn becomes_a_plain_table_when_a_sixteenth_has_changed() {
        let units = 5_000_000;
        let mut overlay = Overlay::new(units);
        for unit in 0..units / 2 {
            overlay.set(unit * 2, unit + 1);
        }
        assert!(matches!(overlay.table, Table::Plain(_)));
        for unit in 0..units / 2 {
            assert_eq!(
                (overlay.get(unit * 2), overlay.get(unit * 2 + 1)),
                (unit + 1, UNCHANGED)
            );
        }
    }
}
