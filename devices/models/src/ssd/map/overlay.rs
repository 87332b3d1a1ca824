//! What has changed of a large table that a formula gives.
//!
//! A table of a number for each unit of a drive takes gigabytes, and writes to random units touch
//! all its pages long before they have changed a tenth of it. So a page of the table is used only
//! where many changes stand side by side. Scattered changes go to a hash table until a sixteenth of
//! all has changed, or until the changes crowd on few pages. A change there takes 7 to 14 bytes, and
//! memory exceeds the table's by a half at most.

use crate::ssd::map::scattered::Scattered;
use prefetch_index::prefetch_index;
use raidlab_kernel::Bits;
use serde::{Deserialize, Serialize, Serializer};

/// No change.
pub(crate) const UNCHANGED: u32 = 0;

/// Places up to which all pages are used from the start: 16 MiB.
const SMALL: usize = 1 << 22;
/// All pages are used once one place in this many has changed and is in the hash table.
const SCATTERED_SHARE: usize = 16;
/// Places of a page: 4 KiB.
const PAGE_SHIFT: u32 = 10;
/// Changes to a page, on average, from which on it is used. With fewer a new page was measured to
/// take more time than it saves in look-ups.
const CROWDED: usize = 32;

/// Numbers by place, [`UNCHANGED`] where none was set.
#[derive(Debug)]
pub(crate) struct Overlay {
    /// An operating system provides its pages as they are touched.
    numbers: Vec<u32>,
    /// Pages of `numbers` that are used.
    used: Bits,
    /// What was set outside of those pages; none if all are used.
    scattered: Option<Scattered>,
}

/// What has changed, by place.
#[derive(Deserialize, Serialize)]
pub(crate) struct Changes {
    places: usize,
    numbers: Vec<(u32, u32)>,
}

impl Serialize for Overlay {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Changes {
            places: self.numbers.len(),
            numbers: self.changes(),
        }
        .serialize(serializer)
    }
}

impl Changes {
    /// The table of `places` places, whose numbers are at most `most`; none if it is another one.
    pub(crate) fn restore(self, places: usize, most: u32) -> Option<Overlay> {
        let fits = |&(place, number): &(u32, u32)| {
            (place as usize) < places && number != UNCHANGED && number <= most
        };
        if self.places != places || !self.numbers.iter().all(fits) {
            return None;
        }
        let mut overlay = Overlay::new(places, most);
        for (place, number) in self.numbers {
            overlay.set(place, number);
        }
        Some(overlay)
    }
}

impl Overlay {
    /// Nothing has changed. Numbers are at most `most`.
    pub(crate) fn new(places: usize, most: u32) -> Overlay {
        Overlay {
            numbers: vec![UNCHANGED; places],
            used: Bits::new((places >> PAGE_SHIFT) + 1),
            scattered: (places > SMALL).then(|| Scattered::new(places, most)),
        }
    }

    /// Places and their numbers, as far as they have changed, in the order of the places.
    pub(crate) fn changes(&self) -> Vec<(u32, u32)> {
        let in_pages = (0..)
            .zip(&self.numbers)
            .filter(|&(place, _)| self.is_in_page(place))
            .map(|(place, &number)| (place, number));
        let hidden = |&(place, _): &(u32, u32)| {
            self.used.get(place >> PAGE_SHIFT) && self.numbers[place as usize] != UNCHANGED
        };
        let scattered = self.scattered.iter().flat_map(Scattered::entries);
        let mut found: Vec<(u32, u32)> = in_pages
            .filter(|&(_, number)| number != UNCHANGED)
            .chain(scattered.filter(|entry| !hidden(entry)))
            .collect();
        found.sort_unstable();
        found
    }

    #[inline]
    fn is_in_page(&self, place: u32) -> bool {
        self.scattered.is_none() || self.used.get(place >> PAGE_SHIFT)
    }

    #[inline]
    pub(crate) fn get(&self, place: u32) -> u32 {
        if self.is_in_page(place) {
            let number = self.numbers[place as usize];
            if number != UNCHANGED {
                return number;
            }
        }
        let scattered = self.scattered.as_ref();
        scattered.map_or(UNCHANGED, |hash| hash.get(place))
    }

    /// Prefetches the number of a place. A caller that needs many then waits for all of them
    /// together, or not at all.
    #[inline]
    pub(crate) fn prefetch(&self, place: u32) {
        match &self.scattered {
            Some(hash) if !self.used.get(place >> PAGE_SHIFT) => hash.prefetch(place),
            _ => prefetch_index(&self.numbers, place as usize),
        }
    }

    /// Many of `count` places from `first` on are about to be set.
    #[inline]
    pub(crate) fn expect(&mut self, first: u32, count: u32) {
        for page in first >> PAGE_SHIFT..(first + count).div_ceil(1 << PAGE_SHIFT) {
            self.used.set(page);
        }
    }

    /// Sets the number of a place, which is not [`UNCHANGED`].
    #[inline]
    pub(crate) fn set(&mut self, place: u32, number: u32) {
        debug_assert_ne!(number, UNCHANGED);
        if self.is_in_page(place) {
            self.numbers[place as usize] = number;
        } else {
            self.set_scattered(place, number);
        }
    }

    #[inline(never)]
    fn set_scattered(&mut self, place: u32, number: u32) {
        while let Some(hash) = &mut self.scattered {
            if hash.set(place, number) {
                return;
            }
            self.grow();
        }
        self.numbers[place as usize] = number;
    }

    #[cold]
    fn grow(&mut self) {
        let Some(hash) = &mut self.scattered else {
            return;
        };
        let places = self.numbers.len();
        let is_small = hash.len() * SCATTERED_SHARE < places && hash.bytes() < 2 * places;
        if is_small && !is_crowded(hash, places) {
            return hash.grow();
        }
        for (place, number) in hash.entries() {
            let newer = &mut self.numbers[place as usize];
            if *newer == UNCHANGED {
                *newer = number;
            }
        }
        self.scattered = None;
    }
}

/// True if the keys crowd on few pages of a table of `places` places.
fn is_crowded(hash: &Scattered, places: usize) -> bool {
    let most = (hash.len() / CROWDED).min(SMALL >> PAGE_SHIFT);
    let mut seen = Bits::new((places >> PAGE_SHIFT) + 1);
    let mut pages = 0;
    hash.entries().all(|(key, _)| {
        let page = key >> PAGE_SHIFT;
        pages += usize::from(!seen.get(page));
        seen.set(page);
        pages <= most
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    /// More than those of which all pages are used from the start.
    const PLACES: u32 = SMALL as u32 + 1_000_000;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn remembers_what_was_set(
            changes in prop::collection::vec((0u32..PLACES, 1u32.., any::<bool>()), 1..3000),
            stride in 1u32..100,
        ) {
            let mut overlay = Overlay::new(PLACES as usize, u32::MAX);
            let mut expected = HashMap::new();
            for (place, number, together) in changes {
                // Neighbours as well, so that lines overflow into each other.
                for place in (place..(place + 12 * stride).min(PLACES)).step_by(stride as usize) {
                    if together {
                        overlay.expect(place, 1);
                    }
                    overlay.set(place, number);
                    expected.insert(place, number);
                }
            }
            for (&place, &number) in &expected {
                prop_assert_eq!(overlay.get(place), number);
                let next = (place + 1) % PLACES;
                let other = expected.get(&next).copied().unwrap_or(UNCHANGED);
                prop_assert_eq!(overlay.get(next), other);
            }
            let mut all: Vec<(u32, u32)> = expected.into_iter().collect();
            all.sort_unstable();
            prop_assert_eq!(overlay.changes(), all);
        }
    }

    /// Random places of a given number of pages, far apart.
    fn changed_at_random(pages: u32) -> Overlay {
        let mut overlay = Overlay::new(40_000_000, u32::MAX);
        let mut draws = raidlab_kernel::Stream::new(1, "test", "places");
        for number in 1..=10_000 {
            let page = draws.below(u64::from(pages)) as u32 * (30_000 / pages);
            overlay.set(page << PAGE_SHIFT | draws.below(1000) as u32, number);
        }
        overlay
    }

    #[test]
    fn becomes_a_plain_table_when_changes_crowd_on_few_pages() {
        assert!(changed_at_random(100).scattered.is_none());
        assert!(changed_at_random(400).scattered.is_some());
    }

    #[test]
    fn becomes_a_plain_table_when_a_sixteenth_has_changed() {
        let places = 5_000_000;
        let mut overlay = Overlay::new(places, places as u32);
        let half = places as u32 / 2;
        for place in 0..half {
            overlay.set(place * 2, place + 1);
            if place == 1000 {
                // A newer number than that in the hash table.
                overlay.expect(6, 1);
                overlay.set(6, 77);
            }
        }
        assert!(overlay.scattered.is_none());
        for place in 0..half {
            let expected = if place == 3 { 77 } else { place + 1 };
            assert_eq!(
                (overlay.get(place * 2), overlay.get(place * 2 + 1)),
                (expected, UNCHANGED)
            );
        }
    }
}
