//! Map pages in memory, of a drive that has memory for a part of its map.
//!
//! The map itself is in NAND, in pages of many entries; the pages used last are in memory. A
//! command whose map page is not there waits for a read of it. A changed page is programmed when it
//! leaves memory. Garbage collection changes the map as well: pages that are not in memory are read
//! and changed. The clock algorithm finds the page that leaves: the first that was not used since
//! the hand passed it.
//!
//! Sources: A. Gupta, Y. Kim, B. Urgaonkar, "DFTL: a flash translation layer employing demand-based
//! selective caching of page-level address mappings" (2009); the clock: F. J. Corbato, "A paging
//! experiment with the Multics system" (1968).

use crate::fault::Fault;
use crate::ssd::ids::{CachePlace, MapPage, UnitId};
use raidlab_kernel::{Divider, Table, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The map cache in the plan.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize, PartialEq)]
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
    pub(crate) fn faults(&self, set_bytes: u32) -> Vec<Fault> {
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

/// Where the pages of a map are that are not in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MapPages {
    /// In NAND: the drive has been written.
    InNand,
    /// Nowhere: the drive is new.
    Unwritten,
}

/// A map page in memory.
#[derive(Clone, Copy, Debug)]
struct Place {
    page: MapPage,
    /// Used since the hand passed.
    used: bool,
    /// Not as in NAND.
    changed: bool,
    /// When it is there.
    ready: Time,
}

/// What a look-up does with a map page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// It reads entries.
    Read,
    /// It changes entries.
    Change,
}

/// What a look-up in a map page costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    /// True if the page has to be read from NAND.
    pub(crate) read: bool,
    /// True if another, which was changed, has to be programmed to make room.
    pub(crate) program: bool,
    /// When the page is there, unless it has to be read.
    pub(crate) ready: Time,
}

/// The map pages of one drive.
#[derive(Debug)]
pub(crate) struct MapCache {
    entries: Divider,
    places: Table<CachePlace, Place>,
    capacity: usize,
    /// The place of each map page, [`CachePlace::NONE`] if it is not in memory.
    place_of: Table<MapPage, CachePlace>,
    /// False for a map page that was never written to NAND: nothing is to be read.
    in_nand: Table<MapPage, bool>,
    hand: CachePlace,
    pub(crate) looks: u64,
    pub(crate) misses: u64,
    pub(crate) programs: u64,
}

impl MapCache {
    /// An empty cache of the map of `units`, whose pages are in NAND or were never written.
    pub(crate) fn new(params: &MapCacheParams, units: u32, pages_are: MapPages) -> MapCache {
        let entries = params.page_bytes / params.entry_bytes;
        let pages = units.div_ceil(entries) as usize;
        let fit = (params.bytes / u64::from(params.page_bytes)).min(pages as u64);
        MapCache {
            entries: Divider::new(entries),
            places: Vec::with_capacity(fit as usize).into(),
            capacity: fit as usize,
            place_of: vec![CachePlace::NONE; pages].into(),
            in_nand: vec![pages_are == MapPages::InNand; pages].into(),
            hand: CachePlace::new(0),
            looks: 0,
            misses: 0,
            programs: 0,
        }
    }

    /// The memory as a load before the run has left it: full of the pages of `count` units from
    /// `first` on, evenly chosen where not all fit.
    pub(crate) fn preload(&mut self, first: UnitId, count: u32, used: Use) {
        let (from, to) = self.pages(first, count);
        let pages = u64::from(to.since(from)) + 1;
        let fit = pages.min((self.capacity - self.places.len()) as u64);
        for nth in 0..fit {
            let page = from.plus((nth * pages / fit) as u32);
            if self.place_of[page] == CachePlace::NONE {
                self.look(page, used);
            }
        }
        self.looks = 0;
        self.misses = 0;
    }

    /// The map pages of `count` units from `first` on: (first, last).
    #[inline]
    pub(crate) fn pages(&self, first: UnitId, count: u32) -> (MapPage, MapPage) {
        let first = first.number();
        let last = (first + count.max(1) - 1).min(self.units() - 1);
        let page = |unit| MapPage::new(self.entries.quotient(unit));
        (page(first), page(last))
    }

    fn units(&self) -> u32 {
        (self.place_of.len() as u64 * u64::from(self.entries.get())).min(u64::from(u32::MAX)) as u32
    }

    /// Looks into a map page. It is in memory from then on.
    pub(crate) fn look(&mut self, page: MapPage, used: Use) -> Look {
        self.looks += 1;
        let place = self.place_of[page];
        if place != CachePlace::NONE {
            let place = &mut self.places[place];
            place.used = true;
            place.changed |= used == Use::Change;
            return Look {
                read: false,
                program: false,
                ready: place.ready,
            };
        }
        let read = self.in_nand[page];
        self.misses += u64::from(read);
        let (at, program) = self.make_room();
        self.place_of[page] = at;
        self.places[at] = Place {
            page,
            used: true,
            changed: used == Use::Change,
            ready: Time::ZERO,
        };
        Look {
            read,
            program,
            ready: Time::ZERO,
        }
    }

    /// A map page that is being read is in memory at `ready`.
    pub(crate) fn comes(&mut self, page: MapPage, ready: Time) {
        let place = self.place_of[page];
        self.places[place].ready = ready;
    }

    fn after(&self, place: CachePlace) -> CachePlace {
        CachePlace::new((place.number() + 1) % self.capacity as u32)
    }

    /// A place for one more page, and whether the page that had it must be programmed.
    fn make_room(&mut self) -> (CachePlace, bool) {
        let empty = Place {
            page: MapPage::NONE,
            used: false,
            changed: false,
            ready: Time::ZERO,
        };
        if self.places.len() < self.capacity {
            return (self.places.push(empty), false);
        }
        while self.places[self.hand].used {
            self.places[self.hand].used = false;
            self.hand = self.after(self.hand);
        }
        let at = self.hand;
        self.hand = self.after(self.hand);
        let leaves = self.places[at];
        self.place_of[leaves.page] = CachePlace::NONE;
        if leaves.changed {
            self.programs += 1;
            self.in_nand[leaves.page] = true;
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
    fn cache(pages: u64, units: u32, pages_are: MapPages) -> MapCache {
        let params = MapCacheParams {
            bytes: pages * 4096,
            page_bytes: 4096,
            entry_bytes: 4,
        };
        MapCache::new(&params, units, pages_are)
    }

    /// A page that was used since the hand passed stays; the next that was not leaves.
    #[test]
    fn the_clock_spares_what_was_used() {
        let mut cache = cache(2, 8192, MapPages::InNand);
        let mut read = |page| cache.look(MapPage::new(page), Use::Read).read;
        assert!(read(0) && read(1) && !read(0));
        // Both are marked as used: the hand goes round once and takes the first.
        assert!(read(2));
        assert!(!read(1) && read(0));
    }

    #[test]
    fn a_changed_page_is_programmed_when_it_leaves_and_a_new_one_is_not_read() {
        let mut cache = cache(2, 8192, MapPages::Unwritten);
        assert!(!cache.look(MapPage::new(0), Use::Change).read);
        assert!(!cache.look(MapPage::new(1), Use::Read).read);
        let third = cache.look(MapPage::new(2), Use::Read);
        assert!(third.program && !third.read);
        // What was programmed is read when it is wanted again.
        let again = cache.look(MapPage::new(0), Use::Read);
        assert!(again.read && !again.program);
        assert_eq!((cache.programs, cache.misses), (1, 1));
    }

    #[test]
    fn a_load_before_the_run_leaves_memory_full_of_what_it_wrote() {
        let mut cache = cache(100, 1000 * 1024, MapPages::InNand);
        cache.preload(UnitId::new(0), 20 * 1024, Use::Change);
        cache.preload(UnitId::new(0), 1000 * 1024, Use::Read);
        let pages: Vec<u32> = cache
            .places
            .iter()
            .map(|place| place.page.number())
            .collect();
        // What lies in both areas is there once.
        assert_eq!(pages.len(), 98);
        assert_eq!(pages[..20], (0..20).collect::<Vec<u32>>());
        assert!(pages[20..].iter().any(|&page| page > 980));
        assert_eq!((cache.looks, cache.misses), (0, 0));
        assert!(cache.places.iter().take(20).all(|place| place.changed));
    }

    /// Uniform over all pages each look misses with the share of the map that is not in memory.
    #[test]
    fn uniform_looks_miss_by_what_is_not_in_memory() {
        for fit in [100, 400, 900] {
            let mut cache = cache(fit, 1000 * 1024, MapPages::InNand);
            let mut draws = Stream::new(1, "test", "looks");
            for round in 0..2 {
                if round == 1 {
                    (cache.looks, cache.misses) = (0, 0);
                }
                for _ in 0..200_000 {
                    let (page, _) = cache.pages(UnitId::new(draws.below(1000 * 1024) as u32), 1);
                    cache.look(page, Use::Read);
                }
            }
            let missed = cache.misses as f64 / cache.looks as f64;
            let expected = 1.0 - fit as f64 / 1000.0;
            assert!((missed - expected).abs() < 0.005, "{fit}: {missed}");
        }
    }

    proptest! {
        /// Whatever is looked at: no more pages in memory than fit, each found where it is said to
        /// be, and every change is in memory or was programmed.
        #[test]
        fn pages_are_where_they_are_said_to_be(
            fit in 4u64..20,
            looks in prop::collection::vec((0u32..40, any::<bool>()), 1..400),
        ) {
            let mut cache = cache(fit, 40 * 1024, MapPages::Unwritten);
            let mut changed = HashSet::new();
            for (page, changes) in looks {
                let page = MapPage::new(page);
                let before = cache.programs;
                let used = if changes { Use::Change } else { Use::Read };
                let look = cache.look(page, used);
                prop_assert_eq!(look.program, cache.programs > before);
                if changes {
                    changed.insert(page);
                }
                prop_assert!(cache.places.len() as u64 <= fit);
                for (at, place) in cache.places.entries() {
                    prop_assert_eq!(cache.place_of[place.page], at);
                }
                for &page in &changed {
                    let place = cache.place_of[page];
                    let in_memory = place != CachePlace::NONE && cache.places[place].changed;
                    prop_assert!(in_memory || cache.in_nand[page]);
                }
            }
        }
    }
}
