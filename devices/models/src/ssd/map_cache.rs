//! The map in part: map pages that a drive keeps in memory, and what the others cost.
//!
//! A drive with less memory than its map takes keeps the map itself in NAND, in pages of many
//! entries, and the pages used last in memory. A command whose map page is not there waits for a
//! read of it; a page that was changed is programmed again when it has to leave. What garbage
//! collection moves changes the map as well: pages that are not in memory are read and changed.
//! The page to leave is found by the clock algorithm: the first that was not used since the hand
//! went by last.
//!
//! Sources: A. Gupta, Y. Kim, B. Urgaonkar, "DFTL: a flash translation layer employing demand-based
//! selective caching of page-level address mappings" (2009); the clock: F. J. Corbato, "A paging
//! experiment with the Multics system" (1968).

use super::mapping::NONE;
use crate::Fault;
use raidlab_kernel::{Divider, Time};
use serde::{Deserialize, Serialize};

/// The map cache in the plan.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct MapCacheParams {
    /// Memory for map pages.
    pub bytes: u64,
    /// Bytes of a map page: what one miss reads.
    pub page_bytes: u32,
    /// Bytes of the map for a mapping unit.
    pub entry_bytes: u32,
}

impl MapCacheParams {
    pub(super) fn faults(&self, set_bytes: u32) -> Vec<Fault> {
        let mut faults = Vec::new();
        let mut need = |holds: bool, key: &str, value: u64, allowed: String| {
            if !holds {
                faults.push(Fault::new(format!("map_cache.{key}"), value, allowed));
            }
        };
        let page = u64::from(self.page_bytes);
        let entries = 1..=self.page_bytes;
        need(
            (512..=set_bytes).contains(&self.page_bytes),
            "page_bytes",
            page,
            format!("512 to {set_bytes}, a page of every plane"),
        );
        need(
            entries.contains(&self.entry_bytes),
            "entry_bytes",
            u64::from(self.entry_bytes),
            "1 up to a map page".into(),
        );
        need(
            self.bytes >= 4 * page,
            "bytes",
            self.bytes,
            format!("{} or more: four map pages", 4 * page),
        );
        faults
    }
}

/// A map page in memory.
#[derive(Clone, Copy, Debug)]
struct Place {
    page: u32,
    /// Used since the hand went by.
    used: bool,
    /// Not as in NAND.
    changed: bool,
    /// When it is there.
    ready: Time,
}

/// What a look at a map page costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    /// True if the page has to be read from NAND.
    pub(super) read: bool,
    /// True if another, which was changed, has to be programmed to make room.
    pub(super) program: bool,
    /// When the page is there, unless it has to be read.
    pub(super) ready: Time,
}

/// The map pages of one drive.
#[derive(Debug)]
pub(super) struct MapCache {
    entries: Divider,
    places: Vec<Place>,
    capacity: usize,
    /// The place of each map page, [`NONE`] if it is not in memory.
    place_of: Vec<u32>,
    /// False for a map page that was never written to NAND: nothing is to be read.
    in_nand: Vec<bool>,
    hand: usize,
    pub(super) looks: u64,
    pub(super) misses: u64,
    pub(super) programs: u64,
}

impl MapCache {
    /// An empty cache of the map of `units`; `used` if the drive has a past, so that its map pages
    /// are in NAND.
    pub(super) fn new(params: &MapCacheParams, units: u32, used: bool) -> MapCache {
        let entries = params.page_bytes / params.entry_bytes;
        let pages = units.div_ceil(entries) as usize;
        let fit = (params.bytes / u64::from(params.page_bytes)).min(pages as u64);
        MapCache {
            entries: Divider::new(entries),
            places: Vec::with_capacity(fit as usize),
            capacity: fit as usize,
            place_of: vec![NONE; pages],
            in_nand: vec![used; pages],
            hand: 0,
            looks: 0,
            misses: 0,
            programs: 0,
        }
    }

    /// The memory as the past has left it: full of the pages of `count` units from `first` on, evenly
    /// chosen where not all fit, which are not as in NAND if `changed`.
    pub(super) fn remember(&mut self, first: u32, count: u32, changed: bool) {
        let (from, to) = self.pages(first, count);
        let pages = u64::from(to - from) + 1;
        let held = pages.min((self.capacity - self.places.len()) as u64);
        for nth in 0..held {
            let page = from + (nth * pages / held) as u32;
            if self.place_of[page as usize] == NONE {
                self.look(page, changed);
            }
        }
        self.looks = 0;
        self.misses = 0;
    }

    /// The map pages of `count` units from `first` on: (first, last).
    #[inline]
    pub(super) fn pages(&self, first: u32, count: u32) -> (u32, u32) {
        let last = (first + count.max(1) - 1).min(self.units() - 1);
        (self.entries.quotient(first), self.entries.quotient(last))
    }

    fn units(&self) -> u32 {
        (self.place_of.len() as u64 * u64::from(self.entries.get())).min(u64::from(u32::MAX)) as u32
    }

    /// Looks at a map page, and changes it if `changes`; it is in memory from then on.
    pub(super) fn look(&mut self, page: u32, changes: bool) -> Look {
        self.looks += 1;
        let known = self.place_of[page as usize];
        if known != NONE {
            let place = &mut self.places[known as usize];
            place.used = true;
            place.changed |= changes;
            return Look {
                read: false,
                program: false,
                ready: place.ready,
            };
        }
        let read = self.in_nand[page as usize];
        self.misses += u64::from(read);
        let (at, program) = self.make_room();
        self.place_of[page as usize] = at as u32;
        self.places[at] = Place {
            page,
            used: true,
            changed: changes,
            ready: Time::ZERO,
        };
        Look {
            read,
            program,
            ready: Time::ZERO,
        }
    }

    /// The map page that was read last time it was looked at is there at `ready`.
    pub(super) fn comes(&mut self, page: u32, ready: Time) {
        let place = self.place_of[page as usize];
        self.places[place as usize].ready = ready;
    }

    /// A place for one more page, and whether the page that had it must be programmed.
    fn make_room(&mut self) -> (usize, bool) {
        let empty = Place {
            page: NONE,
            used: false,
            changed: false,
            ready: Time::ZERO,
        };
        if self.places.len() < self.capacity {
            self.places.push(empty);
            return (self.places.len() - 1, false);
        }
        while self.places[self.hand].used {
            self.places[self.hand].used = false;
            self.hand = (self.hand + 1) % self.capacity;
        }
        let at = self.hand;
        self.hand = (self.hand + 1) % self.capacity;
        let leaves = self.places[at];
        self.place_of[leaves.page as usize] = NONE;
        if leaves.changed {
            self.programs += 1;
            self.in_nand[leaves.page as usize] = true;
        }
        (at, leaves.changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use raidlab_kernel::Stream;
    use std::collections::HashSet;

    /// Pages of 1024 entries of 4 bytes.
    fn cache(pages: u64, units: u32, used: bool) -> MapCache {
        let params = MapCacheParams {
            bytes: pages * 4096,
            page_bytes: 4096,
            entry_bytes: 4,
        };
        MapCache::new(&params, units, used)
    }

    /// A page that was used since the hand went by stays; the next that was not leaves.
    #[test]
    fn the_clock_spares_what_was_used() {
        let mut cache = cache(2, 8192, true);
        let mut read = |page| cache.look(page, false).read;
        assert!(read(0) && read(1) && !read(0));
        // Both are marked as used: the hand goes round once and takes the first.
        assert!(read(2));
        assert!(!read(1) && read(0));
    }

    #[test]
    fn a_changed_page_is_programmed_when_it_leaves_and_a_new_one_is_not_read() {
        let mut cache = cache(2, 8192, false);
        assert!(!cache.look(0, true).read);
        assert!(!cache.look(1, false).read);
        let third = cache.look(2, false);
        assert!(third.program && !third.read);
        // What was programmed is read when it is wanted again.
        let again = cache.look(0, false);
        assert!(again.read && !again.program);
        assert_eq!((cache.programs, cache.misses), (1, 1));
    }

    #[test]
    fn the_past_leaves_memory_full_of_what_it_wrote() {
        let mut cache = cache(100, 1000 * 1024, true);
        cache.remember(0, 20 * 1024, true);
        cache.remember(0, 1000 * 1024, false);
        let held: Vec<u32> = cache.places.iter().map(|place| place.page).collect();
        // What lies in both areas is there once.
        assert_eq!(held.len(), 98);
        assert_eq!(held[..20], (0..20).collect::<Vec<u32>>());
        assert!(held[20..].iter().any(|&page| page > 980));
        assert_eq!((cache.looks, cache.misses), (0, 0));
        assert!(cache.places[..20].iter().all(|place| place.changed));
    }

    /// Uniform over all pages each look misses with the share of the map that is not in memory.
    #[test]
    fn uniform_looks_miss_by_what_is_not_in_memory() {
        for held in [100, 400, 900] {
            let mut cache = cache(held, 1000 * 1024, true);
            let mut draws = Stream::new(1, "test", "looks");
            for round in 0..2 {
                if round == 1 {
                    (cache.looks, cache.misses) = (0, 0);
                }
                for _ in 0..200_000 {
                    let (page, _) = cache.pages(draws.below(1000 * 1024) as u32, 1);
                    cache.look(page, false);
                }
            }
            let missed = cache.misses as f64 / cache.looks as f64;
            let expected = 1.0 - held as f64 / 1000.0;
            assert!((missed - expected).abs() < 0.005, "{held}: {missed}");
        }
    }

    proptest! {
        /// Whatever is looked at: no more pages in memory than fit, each found where it is said to
        /// be, and every change is in memory or was programmed.
        #[test]
        fn pages_are_where_they_are_said_to_be(
            held in 4u64..20,
            looks in prop::collection::vec((0u32..40, any::<bool>()), 1..400),
        ) {
            let mut cache = cache(held, 40 * 1024, false);
            let mut changed = HashSet::new();
            for (page, changes) in looks {
                let before = cache.programs;
                let look = cache.look(page, changes);
                prop_assert_eq!(look.program, cache.programs > before);
                if changes {
                    changed.insert(page);
                }
                prop_assert!(cache.places.len() as u64 <= held);
                for (at, place) in cache.places.iter().enumerate() {
                    prop_assert_eq!(cache.place_of[place.page as usize], at as u32);
                }
                for &page in &changed {
                    let kept = cache.place_of[page as usize];
                    let in_memory = kept != NONE && cache.places[kept as usize].changed;
                    prop_assert!(in_memory || cache.in_nand[page as usize]);
                }
            }
        }
    }
}
